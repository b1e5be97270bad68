r"""Partially pooled means of relations: draws from a Normal model of means with errors; arrays in, arrays out.

    mean_r ~ Normal(theta_r, v_r),   theta_r ~ Normal(mu, omega^2),   omega ~ HalfNormal(scale),   mu flat.

v_r = s_r^2 / n_r times the design effect of shared words. s_r^2 has the posterior of a variance, to which the pooled
variance contributes as `PRIOR_PAIRS` additional pairs. mu and theta are integrated out, so that the draws of omega, and
given these the draws of mu and theta, are independent.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.estimates.grids import draw_nodes
from bayesbias.estimates.intervals import common_mean

PRIOR_PAIRS = 4.0
"""Number of pairs as which the pooled variance counts in the variance of each relation."""
_GRID = 200
_WIDEST = 3.0  # upper end of the grid of omega, in standard deviations of its prior


@dataclass(frozen=True, eq=False)
class Means:
    """Means of relations and their errors.

    Parameters
    ----------
    values : array, shape (relations,)
        Means over pairs.
    variances : array, shape (relations,)
        Variances of the means, including the effect of shared words.
    freedom : array, shape (relations,)
        Degrees of freedom of these variances.
    """

    values: Floats
    variances: Floats
    freedom: Floats


def draw_pooled(means: Means, draws: int, scale: float, rng: np.random.Generator) -> Floats:
    """Return draws of theta, of shape (draws, relations); a single relation is not pooled.

    >>> means = Means(np.array([1.0, -1.0, 0.2]), np.array([0.01, 0.01, 4.0]), np.array([50.0, 50.0, 50.0]))
    >>> found = draw_pooled(means, 4000, 1.0, np.random.default_rng(1))
    >>> found.mean(axis=0).round(1).tolist(), bool(found[:, 2].std() < 2)
    ([1.0, -1.0, 0.1], True)
    """
    relations = len(means.values)
    variances = means.variances * means.freedom / rng.chisquare(means.freedom, (draws, relations))
    if relations == 1:
        drawn: Floats = means.values + np.sqrt(variances) * rng.standard_normal((draws, 1))
        return drawn
    # Denser near 0, where all relations are alike; the weight of a point is its spacing.
    steps = (np.arange(_GRID) + 0.5) / _GRID
    omegas = steps**2 * _WIDEST * scale
    logs = np.empty((draws, _GRID))
    for column, omega in enumerate(omegas):
        logs[:, column] = common_mean(means.values, variances + omega**2)[2] - (omega / scale) ** 2 / 2
        logs[:, column] += np.log(steps[column])
    square = omegas[draw_nodes(logs, rng), np.newaxis] ** 2
    centre, precision, _ = common_mean(means.values, variances + square)
    mu = centre + rng.standard_normal(draws) / np.sqrt(precision)
    shrinkage = square / (variances + square)
    centres = mu[:, np.newaxis] + shrinkage * (means.values - mu[:, np.newaxis])
    theta: Floats = centres + np.sqrt(shrinkage * variances) * rng.standard_normal((draws, relations))
    return theta
