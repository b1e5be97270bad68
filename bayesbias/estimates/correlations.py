"""How measures go together over embeddings: Pearson's correlation with its posterior."""

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_number, check_probability

# Even, so that as many places are above 0 as below; it resolves the posterior of so many pairs, not of more.
_GRID = 20_000
_MOST = 100_000


def correlation_interval(r: float, n: int, *, hdi_prob: float = HDI_PROB) -> tuple[float, float, float]:
    """Return what n pairs of Normal numbers with the correlation r say of the correlation behind them.

    Parameters
    ----------
    r
        Pearson's correlation of the pairs, between -1 and 1.
    n
        How many pairs, 3 to 100,000.
    hdi_prob
        Probability inside the highest density interval.

    Returns
    -------
    tuple of three floats
        The interval's lowest and highest value, and the posterior probability that the correlation is above 0.

    Raises
    ------
    ArgumentError
        If r or n is no such number.

    Notes
    -----
    With all correlations equally likely before, the posterior is proportional to the density of r that Hotelling gives,

        (1 - rho^2)^((n - 1) / 2) (1 - rho r)^(3/2 - n) 2F1(1/2, 1/2; n - 1/2; (1 + rho r) / 2)

    taken on a grid of rho.

    References
    ----------
    Harold Hotelling (1953). New light on the correlation coefficient and its transforms. Journal of the Royal
    Statistical Society B 15, 193-232, equation 25.

    Examples
    --------
    What r = 0.667 over 16 embeddings shows (Dawkins 2021, of a measure of vectors and one of a model that uses them):

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
    """Return places between -1 and 1, the log density there, and the mass of each: they are nearer towards the ends."""
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
