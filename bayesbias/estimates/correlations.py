"""Correlations of measures over embeddings: Pearson's with its posterior, and that of ranks with its interval."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_number, check_probability
from bayesbias.estimates.intervals import shortest_quantiles

# Even, so that as many grid points are above 0 as below; fine enough for the posterior of `_MOST` pairs.
_GRID = 20_000
_MOST = 100_000

LEAST_EMBEDDINGS = 4
"""Smallest number of embeddings over which measures are correlated."""
RANK_COLUMNS = ("rank_correlation", "rank_correlation_low", "rank_correlation_high")
CORRELATION_COLUMNS = ("correlation", "hdi_low", "hdi_high", "probability_of_direction", *RANK_COLUMNS)


def correlated(first: ArrayLike, second: ArrayLike, *, hdi_prob: float) -> tuple[float, ...]:
    """Return the `CORRELATION_COLUMNS` of two measures, neither of them constant.

    >>> [round(number, 2) for number in correlated([1, 2, 3, 4], [1e300, 2e300, 4e300, 3e300], hdi_prob=0.89)]
    [0.8, -0.11, 0.96, 0.85, 0.8, -0.63, 0.99]
    """
    from scipy.stats import rankdata

    values: Floats = np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
    scaled: Floats = values / np.abs(values).max(
        axis=1, keepdims=True
    )  # squares of huge or tiny numbers are not finite or 0
    r = float(np.clip(np.corrcoef(scaled[0], scaled[1])[0, 1], -1, 1))
    rank_r = float(np.clip(np.corrcoef([rankdata(row) for row in values])[0, 1], -1, 1))
    count = values.shape[1]
    return (
        *(r, *correlation_interval(r, count, hdi_prob=hdi_prob)),
        *(rank_r, *rank_correlation_interval(rank_r, count, hdi_prob=hdi_prob)),
    )


def rank_correlation_interval(r: float, n: int, *, hdi_prob: float = HDI_PROB) -> tuple[float, float]:
    """Return an interval of the rank correlation behind n pairs whose Spearman's correlation is r.

    Parameters
    ----------
    r
        Spearman's correlation of the pairs, from -1 to 1.
    n
        Number of pairs, at least 4.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    tuple of two floats
        The interval's lowest and highest value.

    Raises
    ------
    ArgumentError
        If r or n is out of range.

    Notes
    -----
    arctanh(r) is taken as Normal with variance (1 + r^2 / 2) / (n - 3). An r of 1 or -1 is first moved inwards by a
    step, 6 / (n (n^2 - 1)); the interval is then widened to r, which is the most likely value and lies inside every
    interval that can be defended.

    References
    ----------
    Douglas G. Bonett and Thomas A. Wright (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika 65, 23-28.

    Examples
    --------
    >>> [round(end, 2) for end in rank_correlation_interval(0.667, 16)]
    [0.31, 0.86]
    """
    from scipy.special import ndtri

    check_number("r", r, low=-1, high=1)
    check_count("n", n, least=4, most=_MOST)
    check_probability("hdi_prob", hdi_prob)
    most = 1 - 6 / (n * (n**2 - 1))
    inner = min(max(r, -most), most)
    half = float(ndtri((1 + hdi_prob) / 2)) * np.sqrt((1 + inner**2 / 2) / (n - 3))
    low, high = float(np.tanh(np.arctanh(inner) - half)), float(np.tanh(np.arctanh(inner) + half))
    return min(low, r), max(high, r)


def correlation_interval(r: float, n: int, *, hdi_prob: float = HDI_PROB) -> tuple[float, float, float]:
    """Return the posterior interval of the correlation behind n pairs of Normal numbers whose sample correlation is r.

    Parameters
    ----------
    r
        Pearson's correlation of the pairs, from -1 to 1.
    n
        Number of pairs, 3 to 100,000.
    hdi_prob
        Probability inside the highest density interval.

    Returns
    -------
    tuple of three floats
        The interval's lowest and highest value, and the posterior probability that the correlation
        has the sign of r (0.5 to 1).

    Raises
    ------
    ArgumentError
        If r or n is out of range.

    Notes
    -----
    Under a uniform prior on rho, the posterior is proportional to Hotelling's density of r,

        (1 - rho^2)^((n - 1) / 2) (1 - rho r)^(3/2 - n) 2F1(1/2, 1/2; n - 1/2; (1 + rho r) / 2)

    evaluated on a grid of rho.

    **Numbers that are not Normal.** Of pairs with the heavy tails of Student's t with 3 degrees of freedom, 89 %
    intervals hold the correlation in 73 % of cases for n = 16 and in 66 to 70 % for n = 26: more pairs do not help. The
    interval of the rank correlation (`rank_correlation_interval`) holds its own in 85 to 89 % and 86 %; of Normal pairs
    they hold 87 to 90 % and 89 to 91 % (Monte Carlo error 1 %). Measures of debiased embeddings mostly have such tails,
    so where the two intervals differ, believe that of the ranks.

    References
    ----------
    Harold Hotelling (1953). New light on the correlation coefficient and its transforms. Journal of the Royal
    Statistical Society B 15, 193-232, equation 25.

    Examples
    --------
    Dawkins (2021) found r = 0.667 between a measure of vectors and one of a model that uses them, over 16 embeddings:

    >>> low, high, direction = bb.estimates.correlation_interval(0.667, 16)
    >>> round(low, 2), round(high, 2), round(direction, 3)
    (0.34, 0.84, 0.996)
    """
    check_number("r", r, low=-1, high=1)
    check_count("n", n, least=3, most=_MOST)
    check_probability("hdi_prob", hdi_prob)
    nodes, mass = _posterior(r, n)
    below = np.cumsum(mass) - mass / 2
    low, high = shortest_quantiles(partial(np.interp, xp=below, fp=nodes), hdi_prob)
    above = min(float(mass[nodes > 0].sum()), 1.0)
    return low, high, max(above, 1 - above)


def _posterior(r: float, n: int) -> tuple[Floats, Floats]:
    """Return grid points from -1 to 1, denser towards the ends, with their masses."""
    from scipy.special import hyp2f1

    angles = (np.arange(_GRID) + 0.5) / _GRID * np.pi
    rho = -np.cos(angles)
    log_density = (
        (n - 1) / 2 * np.log1p(-(rho**2))
        + (1.5 - n) * np.log1p(-rho * r)
        + np.log(hyp2f1(0.5, 0.5, n - 0.5, (1 + rho * r) / 2))
    )
    mass = np.exp(log_density - log_density.max()) * np.sin(angles)
    return rho, mass / mass.sum()
