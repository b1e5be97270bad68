r"""The prior of P(b given a) for pairs of words of which at least one evokes the other, estimated from the norms.

Under a Dirichlet prior of a cue's responses each P(b given a) has a Beta prior. Counts of responses refuse it: they
fall like a power of n, as Zipf's law has it, and a Beta density can fall no faster than 1 / p. The prior here is a
double Pareto distribution (Reed and Jorgensen 2004), whose density in u = log p is

    exp(-d (u - c)) for u > c,    exp(u - c) for u < c,    times (1 - p)^t:

a power law above exp(c), and even in p below it, where counts cannot say more. c, d and t are those that make the
counts most probable, given that a pair is one of which at least one direction is listed: without that condition the
pairs that nobody has thought of would have to be counted.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bayesbias.asymmetry.sources.log_ratios import LOWEST, log_likelihood
from bayesbias.base.arrays import Floats, Integers

LEAST_PAIRS = 200
"""Pairs of cues, below which the prior is `USUAL` and not estimated."""
_STEP = 0.1


@dataclass(frozen=True)
class PowerLawPrior:
    """The prior of P(b given a).

    Parameters
    ----------
    centre
        exp(c), a probability.
    decay
        d.
    end
        t.
    pairs
        How many pairs of cues it was estimated from; 0: it is `USUAL`.
    """

    centre: float
    decay: float
    end: float
    pairs: int = 0

    def log_density(self, logs: Floats) -> Floats:
        """Return the log density of log probabilities, but for a constant."""
        away = logs - np.log(self.centre)
        density: Floats = np.where(away > 0, -self.decay * away, away) + self.end * np.log(-np.expm1(logs))
        return density

    def weights(self, logs: Floats) -> Floats:
        """Return the prior mass at the points of a grid."""
        density = self.log_density(logs)
        mass = np.exp(density - density.max())
        share: Floats = mass / mass.sum()
        return share


USUAL = PowerLawPrior(centre=0.00225, decay=0.59, end=0.88)
"""The prior for norms of few pairs: that of the norms of South Florida."""


def estimate_prior(counts: Integers, participants: Integers, least_count: int) -> PowerLawPrior:
    """Return the prior of pairs of cues: counts and participants of shape (pairs, 2), in both directions.

    >>> estimate_prior(np.array([[3, 0]]), np.array([[100, 100]]), 1) == USUAL
    True
    """
    if len(counts) < LEAST_PAIRS:
        return USUAL
    logs = -(np.arange(-LOWEST, step=_STEP) + _STEP / 2)[::-1]
    cells, times = np.unique(np.stack([counts, participants], axis=-1).reshape(-1, 2), axis=0, return_counts=True)
    likelihood = np.exp(log_likelihood(logs, cells[:, 0], cells[:, 1], least_count))
    people, place = np.unique(participants, return_inverse=True)
    # Zero people out of `people` answer so: what is not listed.
    unlisted = np.exp(log_likelihood(logs, np.zeros_like(people), people, least_count))
    both, pairs = np.unique(place.reshape(-1, 2), axis=0, return_counts=True)

    def loss(parameters: Floats) -> float:
        prior = _prior_of(parameters)
        mass = prior.weights(logs)
        hidden = unlisted @ mass
        seen = 1 - hidden[both[:, 0]] * hidden[both[:, 1]]
        return -float(times @ np.log(likelihood @ mass) - pairs @ np.log(np.maximum(seen, 1e-300)))

    start = np.array([np.log(USUAL.centre), np.log(USUAL.decay), np.log(USUAL.end)])
    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3 * len(counts) ** 0.5})
    prior = _prior_of(found.x)
    return PowerLawPrior(prior.centre, prior.decay, prior.end, len(counts))


def _prior_of(parameters: Floats) -> PowerLawPrior:
    """Return the prior of unbounded parameters, kept where a grid can hold it."""
    centre, decay, end = np.exp(np.clip(parameters, [-12, -4, -4], [-1, 3, 4]))
    return PowerLawPrior(float(centre), float(decay), float(end))
