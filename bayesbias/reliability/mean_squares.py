"""Reliabilities from mean squares of rows, columns and error, their posterior, and whether rows are too skewed."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.machine import threadpool_limits
from bayesbias.base.number_text import counted, share_text
from bayesbias.base.statements import Statement
from bayesbias.errors import MeasureError

if TYPE_CHECKING:
    import pandas as pd


# Numbers that are processed at once, so that they fit into the cache of a core.
_BLOCK = 2**16

# A mean square below this share of the scores' squares is rounding: relative errors of 1e-13, squared.
_ROUNDING = 1e-26
POINTS = 4096
"""Number of points at which a posterior is evaluated: even over the cube of probabilities, equal for all matrices."""
_MATRICES = 256
FAR = 1.0
"""Excess kurtosis of the rows' means above which the rows of one matrix are called far from Normal."""
COVERAGE = (0.62, 0.89)
"""Lowest and highest coverage of 89 % intervals in simulations that `is_doubted` doubts; in others it is over 0.80."""


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares of matrices of scores, one number per matrix.

    - `rows`, `columns`, `error`: mean squares, of the shape of the matrices' leading axes; exactly 0 if values differ
      only by rounding.
    - `row_kurtosis`: excess kurtosis of the rows' means: 0 for a Normal, positive if a few rows are far out.
    - `spread_ratio`: standard deviation of log(rows / error) by the jackknife over rows, divided by that of Normal
      scores with equal columns, sqrt(2 / (n - 1) + 2 / ((n - 1) (k - 1))): above 1 if rows are heavy-tailed or
      unequally noisy, below 1 if columns have different scales; 1 for two rows.
    - `n`, `k`: numbers of rows and columns of a matrix.
    """

    rows: Floats
    columns: Floats
    error: Floats
    row_kurtosis: Floats
    spread_ratio: Floats
    n: int
    k: int

    def taken(self, chosen: Any) -> "MeanSquares":
        """Return some of the matrices, by an index of the leading axes."""
        statistics = (self.rows, self.columns, self.error, self.row_kurtosis, self.spread_ratio)
        rows, columns, error, kurtosis, spread = (part[chosen] for part in statistics)
        return MeanSquares(rows, columns, error, kurtosis, spread, self.n, self.k)


@dataclass(frozen=True)
class Reliability:
    """A reliability as a function of the expectations of the mean squares.

    It is (q - 1) / (q + c), where q is the ratio of the expectations of rows and error; if columns are a sample too,
    their share is added to both: q = ((n - 1) rows + columns) / ((n - 1) error + columns).

    - `title`: name in messages.
    - `random_columns`: whether columns are a sample of a population of columns.
    - `constant`: (n, k) -> c.
    """

    title: str
    random_columns: bool
    constant: Callable[[int, int], float]

    def ratio(self, rows: Any, columns: Any, error: Any, n: int) -> Any:
        """Return q: infinite without error, NaN if it is not defined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.random_columns:
                return ((n - 1) * rows + columns) / ((n - 1) * error + columns)
            return rows / error

    def value(self, ratio: Any, n: int, k: int) -> Any:
        """Return the reliability from q, in a form that is valid for an infinite ratio."""
        c = self.constant(n, k)
        with np.errstate(divide="ignore"):
            return 1.0 - (1.0 + c) / (ratio + c)

    def observed(self, squares: MeanSquares) -> Floats:
        """Return the point estimate; NaN if it is not defined because rows do not differ."""
        ratio = self.ratio(squares.rows, squares.columns, squares.error, squares.n)
        observed: Floats = np.asarray(self.value(ratio, squares.n, squares.k))
        return np.where(np.isfinite(observed), observed, np.nan)


ICC_2_1 = Reliability("ICC(2,1)", True, lambda n, k: k - 1 - k / n)
ICC_3_1 = Reliability("ICC(3,1)", False, lambda n, k: k - 1)  # noqa: ARG005
CRONBACH_ALPHA = Reliability("Cronbach's alpha", False, lambda n, k: 0.0)  # noqa: ARG005

RELIABILITIES: Mapping[str, Reliability] = {
    "icc_2_1": ICC_2_1,
    "icc_3_1": ICC_3_1,
    "cronbach_alpha": CRONBACH_ALPHA,
}


def icc_2_1(scores: ArrayLike) -> Floats:
    """Return the intraclass correlation ICC(2,1): agreement of single columns that are a sample of all columns.

    (MSR - MSE) / (MSR + (k - 1) MSE + k / n (MSC - MSE)), of n rows and k columns, with the mean squares of rows,
    columns and error of a two-way analysis of variance.

    Parameters
    ----------
    scores
        Scores of shape (..., rows, columns), with at least two of each. Dask arrays and arrays on disk are read in
        parts.

    Returns
    -------
    array
        Correlations of shape (...), at most 1. Negative if the values of a row agree less than those of different rows.

    Raises
    ------
    MeasureError
        If there are fewer than two rows or columns, a score is not finite, or all scores of a matrix are equal, so that
        the correlation is undefined.

    References
    ----------
    Patrick E. Shrout and Joseph L. Fleiss (1979). Intraclass correlations: uses in assessing rater reliability.
    Psychological Bulletin 86, 420-428. Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word
    embedding gender bias measures. EMNLP 2021, 10012-10034, equation 1.

    Examples
    --------
    The data of Shrout and Fleiss (1979), Table 2: six targets, four judges.

    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> round(float(bb.reliability.icc_2_1(scores)), 2)
    0.29
    """
    return _defined(ICC_2_1, scores)


def icc_3_1(scores: ArrayLike) -> Floats:
    """Return the intraclass correlation ICC(3,1): consistency of single columns that are the only ones of interest.

    (MSR - MSE) / (MSR + (k - 1) MSE), with k columns. Arguments, result, errors and the source are those of `icc_2_1`;
    Du, Fang and Nguyen (2021), equation 2. It is undefined if the rows do not differ in any column.

    Examples
    --------
    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> round(float(bb.reliability.icc_3_1(scores)), 2)
    0.71
    """
    return _defined(ICC_3_1, scores)


def cronbach_alpha(scores: ArrayLike) -> Floats:
    """Return Cronbach's alpha: consistency of the sum of all columns, the items.

    k / (k - 1) (1 - sum of the columns' variances / variance of the rows' sums), which is 1 - MSE / MSR. Arguments and
    errors are those of `icc_2_1`. It is undefined if all rows have the same sum.

    References
    ----------
    Lee J. Cronbach (1951). Coefficient alpha and the internal structure of tests. Psychometrika 16, 297-334. Cyril Hoyt
    (1941). Test reliability estimated by analysis of variance. Psychometrika 6, 153-160: the form by mean squares. Du,
    Fang and Nguyen (2021), equation 3.

    Examples
    --------
    >>> round(float(bb.reliability.cronbach_alpha([[1, 2], [2, 3], [3, 5]])), 3)
    0.947
    """
    return _defined(CRONBACH_ALPHA, scores)


def mean_squares(scores: ArrayLike) -> MeanSquares:
    """Return the mean squares of matrices of shape (..., rows, columns), which are read in small parts."""
    array: Any = scores if hasattr(scores, "ndim") and hasattr(scores, "dtype") else _as_array(scores)
    if array.ndim < 2 or array.dtype.kind not in "biuf":
        raise MeasureError(
            f"The scores have the shape {array.shape} and the type {array.dtype}. Give numbers: (..., rows, columns)."
        )
    *leading, n, k = array.shape
    if n < 2 or k < 2:
        raise MeasureError(
            f"The scores have {counted(n, 'row')} and {counted(k, 'column')}. A reliability needs at least two of each."
        )
    if 0 in leading:
        raise MeasureError(f"The scores have the shape {array.shape}, which holds no matrix. Give at least one.")
    stack = array if leading else array[None]
    *outer, last, _, _ = stack.shape
    statistics = np.empty((5, *outer, last))
    size = max(1, _BLOCK // (n * k))
    for place in np.ndindex(*outer):
        part = stack[place]
        for start in range(0, last, size):
            block = np.asarray(part[start : start + size], dtype=np.float64)
            statistics[(slice(None), *place, slice(start, start + size))] = _block_statistics(
                np.ascontiguousarray(block)
            )
    rows, columns, error, kurtosis, spread = statistics if leading else statistics[:, 0]
    return MeanSquares(rows, columns, error, kurtosis, spread, n, k)


def _block_statistics(scores: Floats) -> Floats:
    """Return mean squares of rows, columns and error, kurtosis and `spread_ratio` of matrices with one leading axis."""
    _, n, k = scores.shape
    mean = scores.mean(axis=(1, 2))
    if not np.isfinite(mean).all():
        raise MeasureError("The scores hold a NaN or an infinity. Leave out the words that have no score.")
    centred = scores - mean[:, None, None]
    row, column = centred.mean(axis=2), centred.mean(axis=1)
    centred -= row[:, :, None]
    centred -= column[:, None, :]
    of_rows = k * np.einsum("br,br->b", row, row)
    of_columns = n * np.einsum("bc,bc->b", column, column)
    errors = np.einsum("brc,brc->br", centred, centred)
    of_error = errors.sum(axis=1)
    noise = _ROUNDING * (mean**2 + (of_rows + of_columns + of_error) / (n * k))
    squares = np.stack([of_rows / (n - 1), of_columns / (k - 1), of_error / ((n - 1) * (k - 1))])
    squares[squares <= noise] = 0.0
    fourth = np.einsum("br,br->b", row**2, row**2)
    varies = squares[0] > 0
    kurtosis = np.where(varies, n * fourth / np.where(varies, of_rows / k, 1.0) ** 2 - 3.0, 0.0)
    spread = np.where(varies & (squares[2] > 0), _spread_ratio(k * row**2, errors, k), 1.0)
    return np.concatenate([squares, kurtosis[None], spread[None]])


def _spread_ratio(rows: Floats, errors: Floats, k: int) -> Floats:
    """Return the jackknife's sd of log(rows / error) over that of Normal scores, from the sums of squares of each row.

    Without a row, a sum of squares S is S - n / (n - 1) times the row's part, at least S / 2n. The variance is raised
    by 1 / n: that of few rows is estimated too low. If one row holds nearly all of both sums, leaving it out changes
    both alike: then the spread is at least that of Normal scores with as few rows.
    """
    n = rows.shape[1]
    if n < 3:
        return np.ones(len(rows))
    logs, weights = np.zeros(rows.shape), np.zeros(rows.shape)
    for sign, part in ((1.0, rows), (-1.0, errors)):
        share = part / np.maximum(part.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights += share / 2
        logs += sign * np.log(np.maximum(1.0 - n / (n - 1) * share, 0.5 / n))
    variance = (n - 1) * (1 + 1 / n) * logs.var(axis=1)
    normal = 2 / (n - 1) + 2 / ((n - 1) * (k - 1))
    effective_rows = 1 / np.maximum((weights**2).sum(axis=1), 1 / n)
    few = effective_rows < 1.05 * (n / (n - 1)) ** 2  # with equality but for 1.05, one row differs from all others
    return np.asarray(np.sqrt(np.maximum(variance / normal, np.where(few, n / effective_rows, 0.0))))


def _defined(reliability: Reliability, scores: ArrayLike) -> Floats:
    estimates = reliability.observed(mean_squares(scores))
    if undefined := int(np.isnan(estimates).sum()):
        raise MeasureError(
            f"{reliability.title} is undefined for {undefined:,} of the {estimates.size:,} matrices of scores: "
            "their rows do not differ (constant scores). Leave them out."
        )
    return estimates


def _as_array(scores: ArrayLike) -> Floats:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError("The scores are not numbers. Give numbers of shape (..., rows, columns).") from error


def reliability_posterior(squares: MeanSquares, reliability: Reliability, *, hdi_prob: float) -> dict[str, Floats]:
    """Return `mean`, `sd`, `hdi_low` and `hdi_high` of the posterior of a reliability, each of one axis.

    The model of a matrix of n rows and k columns is y_ij = mu + r_i + c_j + e_ij, all Normal. Its sums of squares are
    sufficient: SS_s / tau_s is chi-square with d_s degrees of freedom, where

    - tau_rows = var(e) + k var(r), with d = n - 1,
    - tau_columns = var(e) + n var(c), with d = k - 1,
    - tau_error = var(e), with d = (n - 1)(k - 1).

    A reliability is a function of these three (`Reliability`).

    **Prior.** p(mu, tau) proportional to 1 / (tau_rows tau_columns^(3/2) tau_error), all tau > 0, so that the posterior
    of each tau is SS / chi-square, independently, with n - 1, k (one more than d) and (n - 1)(k - 1) degrees of
    freedom. For rows and error this is the prior of George E. P. Box and George C. Tiao (1973, Bayesian inference in
    statistical analysis, section 5.2) and Bruce M. Hill (1965, Journal of the American Statistical Association 60,
    806-825); the exponent of 3/2 for the columns is Jeffreys' general rule for their k means, N(mu, tau_columns / n),
    with the unknown mu counted. This matters because seeds are few: at two or three seeds, 89 % intervals of ICC(2,1)
    cover 85 to 96 % with the exponent 1, and 89 to 91 % with 3/2 (`validation/reliability`).

    **Spread.** Real scores are not like this: rules have scales of their own (the standard deviations of DB/WA, RIPA
    and NBM are about as 1 : 4 : 8), and base pairs are heavy-tailed. Then log(SS_rows / SS_error) varies by less, or by
    more, than in the model. Each row is an independent draw whatever its distribution, so that the jackknife over rows
    estimates that variance (Rupert G. Miller, 1974, The jackknife: a review, Biometrika 61, 1-15). The logarithms of SS
    / tau of rows and error are multiplied by `MeanSquares.spread_ratio`: the posterior has the model's form and the
    spread of these rows. `validation/reliability` has the coverage under the model, beside it, and for populations of
    real words.

    **Covariances, not variances.** tau_rows < tau_error is allowed: then the covariance of two columns (John A. Nelder,
    1954, Biometrika 41, 544-548) and the reliability are negative, as the point estimate may be. If that were
    forbidden, the interval would never contain a reliability of 0, and its coverage would be lower where seeds hardly
    differ.

    **Interval.** Highest posterior density on the scale of Fisher's z of an intraclass correlation, log q, and mapped
    back. On this scale the posteriors of ICC(3,1) and alpha differ only in location and spread, and at a `spread_ratio`
    of 1 the interval is the shortest form of the F interval (McGraw and Wong 1996; Feldt 1965). On the scale of the
    correlation itself, 89 % intervals of ICC(2,1) cover 87 to 90 % under the model.

    `squares` has one leading axis, and only matrices whose reliability is defined. The computation is deterministic.
    Cronbach's alpha has no posterior sd in very small matrices, and in smaller ones no mean: `sd` is NaN then, and
    `mean` the median.
    """
    summaries = np.empty((4, len(squares.rows)))

    def summarise(start: int) -> None:
        part = slice(start, start + _MATRICES)
        summaries[:, part] = _block_summaries(squares.taken(part), reliability, hdi_prob)

    # Blocks in parallel, each on one core.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(summarise, range(0, len(squares.rows), _MATRICES)))
    return dict(zip(("mean", "sd", "hdi_low", "hdi_high"), summaries, strict=True))


def _block_summaries(squares: MeanSquares, reliability: Reliability, hdi_prob: float) -> Floats:
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


LEAST_MATRICES, LEAST_ROWS = 20, 8
"""Numbers of matrices and rows from which their shape is judged."""


def far_share(row_kurtosis: "pd.Series") -> float:
    """Return the share of matrices whose rows are far from Normal.

    One matrix alone cannot tell: intervals are too narrow where the extreme rows of a population are missing from the
    sample. Many matrices can, since some of them have such rows.

    >>> far_share(pd.Series([0.2, 1.5, -0.3, 3.0]))
    0.5
    """
    return float((row_kurtosis > FAR).mean())


def is_doubted(share: float, rows: int) -> bool:
    """Return whether intervals are doubted for a share of matrices with rows far from Normal.

    Normal rows have a share of at most 0.04 with 8 rows, and of at most 0.08 with more (`validation/reliability`).

    >>> is_doubted(0.15, rows=8), is_doubted(0.15, rows=23)
    (True, False)
    """
    return share > (0.1 if rows < 12 else 0.2)


def shape_doubts(frame: "pd.DataFrame", keys: Sequence[str], title: str) -> list[Statement]:
    """Return a doubt if the rows are skewed or extreme in too many matrices of a group, such as of one rule.

    `frame` has `row_kurtosis` and `rows`, a row per matrix; groups are those of the columns `keys`.
    """
    if not len(frame):
        return []
    shares: dict[str, float] = {}
    for name, group in frame.groupby(list(keys), sort=False):
        share, rows = far_share(group["row_kurtosis"]), int(group["rows"].min())
        if len(group) >= LEAST_MATRICES and rows >= LEAST_ROWS and is_doubted(share, rows):
            shares[", ".join(map(str, name))] = share
    if not shares:
        return []
    named = "; ".join(f"{name}: {share_text(share)} of the words" for name, share in shares.items())
    text = (
        f"{title}, many words have base pairs whose scores are far from Normal: skewed, or with a few extreme ones "
        f"(excess kurtosis above {FAR:g}). {named}. In simulations of such base pairs, 89% intervals contain the truth "
        f"in {COVERAGE[0]:.0%} to {COVERAGE[1]:.0%} of cases, so they may be too narrow. Score more base pairs."
    )
    return [Statement("far rows", text, {"shares": shares})]
