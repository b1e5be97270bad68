r"""Means of relations, partially pooled: draws from a Normal model of means with known errors; arrays in, arrays out.

    mean_r ~ Normal(theta_r, v_r),   theta_r ~ Normal(mu, omega^2),   omega ~ HalfNormal(scale),   mu flat.

v_r = s_r^2 / n_r times the design effect of shared words. s_r^2 has the posterior of a variance; of a relation with few
pairs it leans on that of all pairs, as if so many pairs more (`LENT`) had it. mu and theta are integrated out, so that
the draws of omega, and then of the rest, are independent.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats

LENT = 4.0
_GRID = 200
_WIDEST = 3.0  # standard deviations of omega's prior that its grid spans


@dataclass(frozen=True, eq=False)
class Means:
    """Means of relations and what is known of their errors.

    Parameters
    ----------
    values : array, shape (relations,)
        Means over pairs.
    variances : array, shape (relations,)
        Of a mean, shared words heeded.
    freedom : array, shape (relations,)
        Degrees of freedom of these variances.
    """

    values: Floats
    variances: Floats
    freedom: Floats


def draw_pooled(means: Means, draws: int, scale: float, rng: np.random.Generator) -> Floats:
    """Return draws of theta, of shape (draws, relations); of one relation alone there is nothing to pool.

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
    # Denser near 0, where all relations are alike; each point stands for as much more.
    steps = (np.arange(_GRID) + 0.5) / _GRID
    omegas = steps**2 * _WIDEST * scale
    logs = np.empty((draws, _GRID))
    for at, omega in enumerate(omegas):
        weights = 1 / (variances + omega**2)
        total = weights.sum(axis=1)
        centre = (weights @ means.values) / total
        squares = (weights * (means.values - centre[:, np.newaxis]) ** 2).sum(axis=1)
        logs[:, at] = (np.log(weights).sum(axis=1) - np.log(total) - squares) / 2 - (omega / scale) ** 2 / 2
        logs[:, at] += np.log(steps[at])
    shares = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    place = (shares < rng.random((draws, 1)) * shares[:, -1:]).sum(axis=1)
    square = omegas[np.minimum(place, _GRID - 1), np.newaxis] ** 2
    weights = 1 / (variances + square)
    total = weights.sum(axis=1)
    mu = (weights @ means.values) / total + rng.standard_normal(draws) / np.sqrt(total)
    kept = square / (variances + square)
    centres = mu[:, np.newaxis] + kept * (means.values - mu[:, np.newaxis])
    found: Floats = centres + np.sqrt(kept * variances) * rng.standard_normal((draws, relations))
    return found
