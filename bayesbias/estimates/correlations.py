"""Pearson's correlation of measures over embeddings, with its posterior."""

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_number, check_probability

# Even, so that as many grid points are above 0 as below; fine enough for the posterior of `_MOST` pairs.
_GRID = 20_000
_MOST = 100_000

LEAST_EMBEDDINGS = 4
"""Smallest number of embeddings over which measures are correlated."""
CORRELATION_COLUMNS = ("correlation", "hdi_low", "hdi_high", "probability_of_positive")


def correlated(first: ArrayLike, second: ArrayLike, *, hdi_prob: float) -> tuple[float, float, float, float]:
    """Return the `CORRELATION_COLUMNS` of two measures, neither of them constant.

    >>> [round(number, 2) for number in correlated([1, 2, 3, 4], [1e300, 2e300, 4e300, 3e300], hdi_prob=0.89)]
    [0.8, -0.11, 0.96, 0.85]
    """
    values: Floats = np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
    scaled: Floats = values / np.abs(values).max(
        axis=1, keepdims=True
    )  # squares of huge or tiny numbers are not finite or 0
    r = float(np.clip(np.corrcoef(scaled[0], scaled[1])[0, 1], -1, 1))
    return r, *correlation_interval(r, values.shape[1], hdi_prob=hdi_prob)


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
        The interval's lowest and highest value, and the posterior probability that the correlation is above 0.

    Raises
    ------
    ArgumentError
        If r or n is out of range.

    Notes
    -----
    Under a uniform prior on rho, the posterior is proportional to Hotelling's density of r,

        (1 - rho^2)^((n - 1) / 2) (1 - rho r)^(3/2 - n) 2F1(1/2, 1/2; n - 1/2; (1 + rho r) / 2)

    evaluated on a grid of rho.

    References
    ----------
    Harold Hotelling (1953). New light on the correlation coefficient and its transforms. Journal of the Royal
    Statistical Society B 15, 193-232, equation 25.

    Examples
    --------
    Dawkins (2021) found r = 0.667 between a measure of vectors and one of a model that uses them, over 16 embeddings:

    >>> low, high, above = bb.estimates.correlation_interval(0.667, 16)
    >>> round(low, 2), round(high, 2), round(above, 3)
    (0.34, 0.84, 0.996)
    """
    check_number("r", r, low=-1, high=1)
    check_count("n", n, least=3, most=_MOST)
    check_probability("hdi_prob", hdi_prob)
    nodes, log_density, mass = _posterior(r, n)
    highest_first = np.argsort(-log_density)
    inside = highest_first[: int(np.searchsorted(np.cumsum(mass[highest_first]), hdi_prob)) + 1]
    return float(nodes[inside.min()]), float(nodes[inside.max()]), min(float(mass[nodes > 0].sum()), 1.0)


def _posterior(r: float, n: int) -> tuple[Floats, Floats, Floats]:
    """Return grid points from -1 to 1, denser towards the ends, with their log densities and masses."""
    from scipy.special import hyp2f1

    angles = (np.arange(_GRID) + 0.5) / _GRID * np.pi
    rho = -np.cos(angles)
    log_density = (
        (n - 1) / 2 * np.log1p(-(rho**2))
        + (1.5 - n) * np.log1p(-rho * r)
        + np.log(hyp2f1(0.5, 0.5, n - 0.5, (1 + rho * r) / 2))
    )
    mass = np.exp(log_density - log_density.max()) * np.sin(angles)
    return rho, log_density, mass / mass.sum()
