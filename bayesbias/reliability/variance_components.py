r"""Posterior of a reliability under a model of variance components of rows, columns and error; arrays in, arrays out.

The model of a matrix of n rows and k columns is y_ij = mu + r_i + c_j + e_ij, all Normal. Its sums of squares are
sufficient: SS_s / tau_s is chi-square with d_s degrees of freedom, where

- tau_rows = var(e) + k var(r), with d = n - 1,
- tau_columns = var(e) + n var(c), with d = k - 1,
- tau_error = var(e), with d = (n - 1)(k - 1).

A reliability is a function of these three (`mean_squares.Reliability`).

**Prior.** p(mu, tau) proportional to 1 / (tau_rows tau_columns^(3/2) tau_error), all tau > 0, so that the posterior of
each tau is SS / chi-square, independently, with n - 1, k (one more than d) and (n - 1)(k - 1) degrees of freedom. For
rows and error this is the prior of George E. P. Box and George C. Tiao (1973, Bayesian inference in statistical
analysis, section 5.2) and Bruce M. Hill (1965, Journal of the American Statistical Association 60, 806-825); the
exponent of 3/2 for the columns is Jeffreys' general rule for their k means, N(mu, tau_columns / n), with the unknown mu
counted. This matters because seeds are few: at two or three seeds, 89 % intervals of ICC(2,1) cover 85 to 96 % with the
exponent 1, and 89 to 91 % with 3/2 (`validation/reliability`).

**Spread.** Real scores are not like this: rules have scales of their own (the standard deviations of DB/WA, RIPA and
NBM are about as 1 : 4 : 8), and base pairs are heavy-tailed. Then log(SS_rows / SS_error) varies by less, or by more,
than in the model. Each row is an independent draw whatever its distribution, so that the jackknife over rows estimates
that variance (Rupert G. Miller, 1974, The jackknife: a review, Biometrika 61, 1-15). The logarithms of SS / tau of rows
and error are multiplied by `MeanSquares.spread_ratio`: the posterior has the model's form and the spread of these rows.
`validation/reliability` has the coverage under the model, beside it, and for populations of real words.

**Covariances, not variances.** tau_rows < tau_error is allowed: then the covariance of two columns (John A. Nelder,
1954, Biometrika 41, 544-548) and the reliability are negative, as the point estimate may be. If that were forbidden,
the interval would never contain a reliability of 0, and its coverage would be lower where seeds hardly differ.

**Interval.** Highest posterior density on the scale of Fisher's z of an intraclass correlation, log q, and mapped back.
On this scale the posteriors of ICC(3,1) and alpha differ only in location and spread, and at a `spread_ratio` of 1 the
interval is the shortest form of the F interval (McGraw and Wong 1996; Feldt 1965). On the scale of the correlation
itself, 89 % intervals of ICC(2,1) cover 87 to 90 % under the model.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.machine.threads import threadpool_limits
from bayesbias.reliability.mean_squares import MeanSquares, Reliability

POINTS = 4096
"""Number of points at which a posterior is evaluated: even over the cube of probabilities, equal for all matrices."""

_MATRICES = 256


def posterior(squares: MeanSquares, reliability: Reliability, *, hdi_prob: float) -> dict[str, Floats]:
    """Return `mean`, `sd`, `hdi_low` and `hdi_high` of the posterior of a reliability, each of one axis.

    `squares` has one leading axis, and only matrices whose reliability is defined. The computation is deterministic.
    Cronbach's alpha has no posterior sd in very small matrices, and in smaller ones no mean: `sd` is NaN then, and
    `mean` the median.
    """
    summaries = np.empty((4, len(squares.rows)))

    def summarise(start: int) -> None:
        part = slice(start, start + _MATRICES)
        summaries[:, part] = _of_block(squares.taken(part), reliability, hdi_prob)

    # Blocks in parallel, each on one core.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(summarise, range(0, len(squares.rows), _MATRICES)))
    return dict(zip(("mean", "sd", "hdi_low", "hdi_high"), summaries, strict=True))


def _of_block(squares: MeanSquares, reliability: Reliability, hdi_prob: float) -> Floats:
    n, k, spread = squares.n, squares.k, squares.spread_ratio[:, None]
    if reliability.random_columns:
        rows, columns, error = _log_scales(n, k)
        ratio = reliability.ratio(
            squares.rows[:, None] * np.exp(spread * rows),
            squares.columns[:, None] * np.exp(columns),
            squares.error[:, None] * np.exp(spread * error),
            n,
        )
        ratio.sort(axis=1)
        ends = _shortest(ratio, hdi_prob)
    else:  # on the scale of the interval, one distribution except for location and spread
        logs = _log_ratio_scales(n, k)
        plain = reliability.ratio(squares.rows, squares.columns, squares.error, n)[:, None]
        ratio = plain * np.exp(spread * logs)
        shortest = _shortest(np.exp(logs)[None], hdi_prob)
        ends = tuple(plain[:, 0] * end ** spread[:, 0] for end in shortest)
    values = reliability.value(ratio, n, k)
    mean = values.mean(axis=1)
    values -= mean[:, None]
    sd = np.sqrt(np.einsum("bp,bp->b", values, values) / POINTS)
    if reliability.constant(n, k) == 0:  # unbounded below: moments exist below this order
        order = (n - 1) * (k - 1) / (2 * spread[:, 0])
        mean = np.where(order > 1, mean, np.median(values + mean[:, None], axis=1))
        sd = np.where(order > 2, sd, np.nan)
    return np.stack([mean, sd, *(reliability.value(end, n, k) for end in ends)])


@lru_cache(maxsize=16)
def _log_scales(n: int, k: int) -> tuple[Floats, ...]:
    """Return points of log(tau / mean square) of rows, columns and error: a Sobol sequence at its cells' centres."""
    from scipy.stats import chi2, qmc

    uniforms = qmc.Sobol(3, scramble=False).random(POINTS) + 0.5 / POINTS
    exact, counted = (n - 1, k - 1, (n - 1) * (k - 1)), (n - 1, k, (n - 1) * (k - 1))
    return tuple(np.log(d / chi2.isf(u, with_mean)) for d, with_mean, u in zip(exact, counted, uniforms.T, strict=True))


@lru_cache(maxsize=16)
def _log_ratio_scales(n: int, k: int) -> Floats:
    """Return points of log(tau_rows / tau_error) less that of the mean squares: logarithms of an F distribution."""
    from scipy.stats import f

    points: Floats = np.log(f.ppf((np.arange(POINTS) + 0.5) / POINTS, (n - 1) * (k - 1), n - 1))
    return points


def _shortest(ratio: Floats, prob: float) -> tuple[Floats, ...]:
    """Return the ends of the shortest interval of each row's sorted values on a logarithmic scale.

    Widths are smoothed by a polynomial first, since otherwise the shortest one would be too short by chance.
    """
    size = ratio.shape[1]
    span = min(size - 1, round(prob * size))
    count = size - span
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.log(ratio[:, span:]) - np.log(ratio[:, :count])
    inside = slice(count // 16, count - count // 16)
    place = np.arange(count)[inside]
    powers = np.vander(np.linspace(-1, 1, len(place)), min(7, len(place)))
    # Without any error, or any difference between rows, all values are equal.
    smooth = np.nan_to_num(width[:, inside], nan=0.0, posinf=0.0) @ np.linalg.pinv(powers).T @ powers.T
    low = place[np.argmin(smooth, axis=1)]
    rows = np.arange(len(ratio))
    return ratio[rows, low], ratio[rows, low + span]
