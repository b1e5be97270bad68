r"""The prior of P(b given a) for pairs of words of which at least one evokes the other, estimated from the norms.

Under a Dirichlet prior of a cue's responses, each P(b given a) has a Beta prior. Counts of responses contradict it:
they fall like a power of n (Zipf's law), while a Beta density can fall no faster than 1 / p. The prior used here is a
double Pareto distribution (Reed and Jorgensen 2004), whose density in u = log p is

    exp(-d (u - c)) for u > c,    exp(u - c) for u < c,    times (1 - p)^t:

a power law above exp(c), and uniform in p below it, where counts carry no information. c, d and t maximise the
likelihood of the counts, given that at least one direction of each pair is listed; without that condition, all pairs
that nobody has listed would have to be included.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bayesbias.asymmetry.sources.log_ratios import LOWEST, log_likelihood
from bayesbias.base.arrays import Floats, Integers

LEAST_PAIRS = 200
"""Smallest number of pairs of cues from which the prior is estimated; below it, the prior is `USUAL`."""
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
        Number of pairs of cues that it was estimated from; 0 for `USUAL`.
    """

    centre: float
    decay: float
    end: float
    pairs: int = 0

    def log_density(self, logs: Floats) -> Floats:
        """Return the log density of log probabilities, up to a constant."""
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
"""The prior for norms with few pairs: the one estimated from the norms of South Florida."""


def estimate_prior(counts: Integers, participants: Integers, least_count: int) -> PowerLawPrior:
    """Return the prior of pairs of cues, given counts and participants of both directions, of shape (pairs, 2).

    >>> estimate_prior(np.array([[3, 0]]), np.array([[100, 100]]), 1) == USUAL
    True
    """
    if len(counts) < LEAST_PAIRS:
        return USUAL
    logs = -(np.arange(-LOWEST, step=_STEP) + _STEP / 2)[::-1]
    cells, times = np.unique(np.stack([counts, participants], axis=-1).reshape(-1, 2), axis=0, return_counts=True)
    likelihood = np.exp(log_likelihood(logs, cells[:, 0], cells[:, 1], least_count))
    people, place = np.unique(participants, return_inverse=True)
    # Unlisted responses have a count below `least_count`.
    unlisted = np.exp(log_likelihood(logs, np.zeros_like(people), people, least_count))
    both, pairs = np.unique(place.reshape(-1, 2), axis=0, return_counts=True)

    def loss(parameters: Floats) -> float:
        prior = _prior_of(parameters)
        mass = prior.weights(logs)
        hidden = unlisted @ mass
        seen = 1 - hidden[both[:, 0]] * hidden[both[:, 1]]
        return -float(times @ np.log(likelihood @ mass) - pairs @ np.log(np.maximum(seen, 1e-300)))

    start = np.array([np.log(USUAL.centre), np.log(USUAL.decay), np.log(USUAL.end)])
    optimum = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3 * len(counts) ** 0.5})
    prior = _prior_of(optimum.x)
    return PowerLawPrior(prior.centre, prior.decay, prior.end, len(counts))


def _prior_of(parameters: Floats) -> PowerLawPrior:
    """Return the prior with these logarithms of its parameters, which are clipped to the range of the grid."""
    centre, decay, end = np.exp(np.clip(parameters, [-12, -4, -4], [-1, 3, 4]))
    return PowerLawPrior(float(centre), float(decay), float(end))
