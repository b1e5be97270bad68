"""Posteriors of log asymmetry ratios, by quadrature over log probabilities: no draws; arrays in, arrays out.

n of N people answer a with b: the likelihood of u = log P(b given a) is binomial, and its posterior stands on an even
grid of u for any prior. The posterior of a log ratio, the difference of two, is the cross-correlation of two rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.special import gammaln, logsumexp, ndtr, ndtri

from bayesbias.base.arrays import Floats

LOWEST = -16.0
"""The least log probability of the grid: 1 in 9 million."""
_FINEST, _COARSEST = 0.002, 0.02
_BLOCK = 1024  # pairs that are held at once
_TAILS = 45  # shares of what an interval leaves out that may lie below it


def grid(participants: int) -> Floats:
    """Return log probabilities from `LOWEST` to 0, close enough for the counts of so many people.

    >>> len(grid(150)), round(float(grid(150)[-1]), 2)
    (800, -0.01)
    """
    step = float(np.clip(0.25 / np.sqrt(participants), _FINEST, _COARSEST))
    points = int(np.ceil(-LOWEST / step))
    values: Floats = (np.arange(points) - points + 0.5) * (-LOWEST / points)
    return values


def log_likelihood(
    logs: Floats, counts: NDArray[np.integer], participants: NDArray[np.integer], least_count: int
) -> Floats:
    """Return log P(count given u), of shape (counts, grid); a count below `least_count` is one that is not listed.

    >>> u = np.log(np.array([0.1, 0.5]))
    >>> np.exp(log_likelihood(u, np.array([0, 2]), np.array([2, 2]), 2)).round(2)
    array([[0.99, 0.75],
           [0.01, 0.25]])
    """
    others = np.log(-np.expm1(logs))

    def of_one(n: Floats, people: Floats) -> Floats:
        ways = gammaln(people + 1) - gammaln(n + 1) - gammaln(people - n + 1)
        found: Floats = ways[:, np.newaxis] + np.outer(n, logs) + np.outer(people - n, others)
        return found

    people = participants.astype(np.float64)
    found = of_one(np.minimum(counts, participants).astype(np.float64), people)
    unlisted = counts < least_count
    if least_count > 1 and unlisted.any():
        few = [of_one(np.minimum(float(n), people[unlisted]), people[unlisted]) for n in range(least_count)]
        # Of one person who is asked, counts of 1 and of 2 are the same event.
        few = [row for n, row in enumerate(few) if n <= people[unlisted].min()]
        found[unlisted] = np.minimum(logsumexp(few, axis=0), 0.0)
    return found


@dataclass(frozen=True, eq=False)
class LogProbabilities:
    """Posteriors of log probabilities on a grid; pairs share the rows of those with the same count.

    Parameters
    ----------
    logs : array, shape (grid,)
        u.
    weights : array, shape (rows, grid)
        Each row sums to 1.
    row : array, shape (pairs,)
        The row of each pair.
    """

    logs: Floats
    weights: Floats
    row: NDArray[np.intp]

    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of u for each pair."""
        means = self.weights @ self.logs
        squares = self.weights @ self.logs**2 - means**2
        return means[self.row], np.sqrt(np.maximum(squares, 0.0))[self.row]


def ratio_summary(ahead: LogProbabilities, back: LogProbabilities, hdi_prob: float) -> dict[str, Floats]:
    """Return the shortest intervals of log ratios and the probabilities of their directions (0.5 to 1).

    >>> u = grid(150)
    >>> weights = np.exp(log_likelihood(u, np.array([8, 2]), np.array([100, 100]), 1))
    >>> weights = weights / weights.sum(axis=1, keepdims=True)
    >>> one, other = (LogProbabilities(u, weights, np.array([row])) for row in (0, 1))
    >>> {name: values.round(1).tolist() for name, values in ratio_summary(one, other, 0.89).items()}
    {'hdi_low': [0.2], 'hdi_high': [2.9], 'probability_of_direction': [1.0]}
    """
    points, pairs = len(ahead.logs), len(ahead.row)
    step = ahead.logs[1] - ahead.logs[0]
    size = fft.next_fast_len(2 * points, real=True)
    first, second = (fft.rfft(side.weights.astype(np.float32), size) for side in (ahead, back))
    second = np.conj(second)
    low, high, above = (np.empty(pairs) for _ in range(3))
    lower = np.linspace(0, 1 - hdi_prob, _TAILS)
    shares = np.concatenate([lower, lower + hdi_prob])
    # Differences of -(points - 1) to points - 1 steps, each the middle of its mass.
    edges = (np.arange(2 * points) - points + 0.5) * step
    for start in range(0, pairs, _BLOCK):
        rows = slice(start, start + _BLOCK)
        turned = fft.irfft(first[ahead.row[rows]] * second[back.row[rows]], size)
        mass = np.concatenate([turned[:, size - points + 1 :], turned[:, :points]], axis=1)
        below = np.zeros((len(mass), 2 * points))
        np.cumsum(np.maximum(mass, 0.0), axis=1, out=below[:, 1:])
        below /= below[:, -1:]
        middle = below[:, points - 1 : points + 1].mean(axis=1)
        above[rows] = np.maximum(middle, 1 - middle)
        for at, cumulated in enumerate(below, start=start):
            ends = np.interp(shares, cumulated, edges)
            shortest = (ends[_TAILS:] - ends[:_TAILS]).argmin()
            low[at], high[at] = ends[shortest], ends[_TAILS + shortest]
    return {"hdi_low": low, "hdi_high": high, "probability_of_direction": above}


def normal_summary(means: Floats, sds: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return the interval and probability of direction of Normal posteriors; an sd of 0 is a number without error.

    >>> found = normal_summary(np.array([1.0, -2.0]), np.array([1.0, 0.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in found.items()}
    {'hdi_low': [-0.6, -2.0], 'hdi_high': [2.6, -2.0], 'probability_of_direction': [0.84, 1.0]}
    """
    half = ndtri((1 + hdi_prob) / 2) * sds
    ratio = np.divide(np.abs(means), sds, out=np.where(means == 0, 0.0, np.inf), where=sds > 0)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": ndtr(ratio)}
