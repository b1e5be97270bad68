"""The former prior of one direction of a pair, for comparison: independent of the other direction."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bayesbias.asymmetry.log_ratios import log_likelihood


@dataclass(frozen=True)
class FormerPrior:
    """A power law above a centre; below it the density of p is flat. Both directions are independent."""

    centre: float
    decay: float
    end: float

    def levels(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the prior masses, at one level."""
        away = logs - np.log(self.centre)
        density = np.where(away > 0, -self.decay * away, away) + self.end * np.log(-np.expm1(logs))
        mass = np.exp(density - density.max())
        return mass[np.newaxis] / mass.sum(), np.ones(1)


def former_prior(counts: np.ndarray, participants: int, least_count: int) -> FormerPrior:
    """Return the former prior, estimated given that at least one direction of each pair is listed."""
    logs = -(np.arange(16, step=0.1) + 0.05)[::-1]
    values, times = np.unique(counts, return_counts=True)
    likelihood = np.exp(log_likelihood(logs, values, np.full(len(values), participants), least_count))
    unlisted = np.exp(log_likelihood(logs, np.zeros(1, int), np.array([participants]), least_count))[0]

    def prior(parameters: np.ndarray) -> FormerPrior:
        return FormerPrior(*np.exp(np.clip(parameters, [-12, -4, -4], [-1, 3, 4])))

    def loss(parameters: np.ndarray) -> float:
        mass = prior(parameters).levels(logs)[0][0]
        return -float(times @ np.log(likelihood @ mass) - len(counts) * np.log(1 - (unlisted @ mass) ** 2))

    return prior(minimize(loss, np.log([0.00225, 0.59, 0.88]), method="Nelder-Mead").x)
