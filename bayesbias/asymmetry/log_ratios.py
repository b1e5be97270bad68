"""Posteriors of log asymmetry ratios, by quadrature over log probabilities instead of draws; arrays in, arrays out.

If n of N people answer a with b, the likelihood of u = log P(b given a) is binomial, and its posterior for any prior is
evaluated on an even grid of u. Both directions of a pair are independent given its level (`PowerLawPrior`), so the
posterior of a log ratio, the difference of two u, is a mean over levels of cross-correlations of two such rows.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.special import gammaln, logsumexp, ndtr, ndtri

from bayesbias.base.arrays import Floats
from bayesbias.estimates.intervals import shortest_quantiles

LOWEST = -16.0
"""Smallest log probability of the grid: 1 in 9 million."""
_FINEST, _COARSEST = 0.002, 0.02
BLOCK = 512
"""Number of pairs in memory at once."""
_NEGLIGIBLE = 3e-4  # share of a level that does not matter to a posterior
_STARTS = 45  # lower ends of intervals that are compared, by the probability below them


def grid(participants: int) -> Floats:
    """Return log probabilities from `LOWEST` to 0, on a grid that is fine enough for counts of this many people.

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
    """Return log P(count given u), of shape (counts, grid); a count below `least_count` stands for an unlisted one.

    >>> u = np.log(np.array([0.1, 0.5]))
    >>> np.exp(log_likelihood(u, np.array([0, 2]), np.array([2, 2]), 2)).round(2)
    array([[0.99, 0.75],
           [0.01, 0.25]])
    """
    others = np.log(-np.expm1(logs))

    def of_one(n: Floats, people: Floats) -> Floats:
        ways = gammaln(people + 1) - gammaln(n + 1) - gammaln(people - n + 1)
        likelihood: Floats = ways[:, np.newaxis] + np.outer(n, logs) + np.outer(people - n, others)
        return likelihood

    people = participants.astype(np.float64)
    likelihood = of_one(np.minimum(counts, participants).astype(np.float64), people)
    unlisted = counts < least_count
    if least_count > 1 and unlisted.any():
        few = [of_one(np.minimum(float(n), people[unlisted]), people[unlisted]) for n in range(least_count)]
        # With one participant, counts of 1 and of 2 are the same event.
        few = [row for n, row in enumerate(few) if n <= people[unlisted].min()]
        likelihood[unlisted] = np.minimum(logsumexp(few, axis=0), 0.0)
    return likelihood


class LevelPrior(Protocol):
    """A prior of both directions of a pair: a mixture over levels, given which they are independent."""

    def levels(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return the prior mass of one direction given each level, of shape (levels, grid), and the levels' shares."""
        ...


@dataclass(frozen=True, eq=False)
class PairPosteriors:
    """Posteriors of both log probabilities of pairs on a grid; pairs with equal counts share a row.

    - `logs` (array, shape (grid,)): values of u.
    - `likelihood` (array, shape (cells, grid)): likelihood of a count, up to a factor for each cell.
    - `masses` (array, shape (levels, grid)): prior masses of u given each level.
    - `shares` (array, shape (levels,)): prior probability of each level.
    - `cells` (array of int, shape (rows, 2)): cell of each direction of the pairs in a row.
    - `row` (array of int, shape (pairs,)): row of each pair.
    """

    logs: Floats
    likelihood: Floats
    masses: Floats
    shares: Floats
    cells: NDArray[np.intp]
    row: NDArray[np.intp]

    @cached_property
    def _evidence(self) -> Floats:
        """Probability of each cell given each level, up to a factor for each cell."""
        evidence: Floats = self.likelihood @ self.masses.T
        return evidence

    @cached_property
    def _cell_moments(self) -> tuple[Floats, Floats]:
        """Means and variances of u for each cell given each level."""
        evidence = np.maximum(self._evidence, 1e-300)
        means = (self.likelihood * self.logs) @ self.masses.T / evidence
        variances = (self.likelihood * self.logs**2) @ self.masses.T / evidence - means**2
        return means, variances

    def level_shares(self, rows: Any) -> Floats:
        """Return the posterior probability of each level, of shape (rows, levels)."""
        first, second = (self._evidence[self.cells[rows, side]] for side in (0, 1))
        weights = first * second * self.shares
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Return means and sds of both directions, of shape (2, pairs), and sds of log ratios, of shape (pairs,)."""
        means, variances = self._cell_moments
        squares = variances + means**2
        levels = self.level_shares(slice(None))
        sides = [(means[self.cells[:, side]], squares[self.cells[:, side]]) for side in (0, 1)]
        centres = np.stack([(levels * mean).sum(axis=1) for mean, _ in sides])
        spreads = np.stack([(levels * square).sum(axis=1) for _, square in sides]) - centres**2
        (first, first_square), (second, second_square) = sides
        ratio_square = (levels * (first_square + second_square - 2 * first * second)).sum(axis=1)
        ratio_variance = ratio_square - (centres[0] - centres[1]) ** 2
        sds, ratio_sd = (np.sqrt(np.maximum(variance, 0.0)) for variance in (spreads, ratio_variance))
        return centres[:, self.row], sds[:, self.row], ratio_sd[self.row]

    def ratio_summary(self, hdi_prob: float) -> dict[str, Floats]:
        """Return the shortest intervals of log ratios, and the probabilities of their directions (0.5 to 1)."""
        rows = len(self.cells)
        low, high, above = (np.empty(rows) for _ in range(3))
        widths = np.sqrt(np.maximum(self._cell_moments[1], 0.0))[self.cells].max(axis=1).min(axis=1)
        order = np.argsort(widths)  # the smoothest together, since their spectra are short
        for start in range(0, rows, BLOCK):
            block = order[start : start + BLOCK]
            low[block], high[block], above[block] = self._block_summary(block, widths[block[0]], hdi_prob)
        numbers = {"hdi_low": low, "hdi_high": high, "probability_of_direction": above}
        return {name: values[self.row] for name, values in numbers.items()}

    def _block_summary(self, block: NDArray[np.intp], width: float, hdi_prob: float) -> tuple[Floats, Floats, Floats]:
        points = len(self.logs)
        step = self.logs[1] - self.logs[0]
        size = fft.next_fast_len(2 * points, real=True)
        used, place = np.unique(self.cells[block], return_inverse=True)
        sides = place.reshape(-1, 2)
        likelihood = self.likelihood[used].astype(np.float32)
        evidence = np.maximum(self._evidence[used], 1e-300)
        levels = self.level_shares(block)
        # The spectrum of a Normal density of this width is below 1e-5 from here on.
        longest = int(np.ceil(4.8 / (2 * np.pi * max(width, step / 4)) * size * step)) + 8
        spectrum = np.zeros((len(sides), min(longest, size // 2 + 1)), dtype=np.complex64)
        for level, mass in enumerate(self.masses):
            rows = np.flatnonzero(levels[:, level] > _NEGLIGIBLE)
            if len(rows):
                within = np.unique(sides[rows])
                weights = likelihood[within] * (mass / evidence[within, level, np.newaxis]).astype(np.float32)
                spectra = fft.rfft(weights, size)[:, : spectrum.shape[1]]
                ahead, back = np.searchsorted(within, sides[rows]).T
                products = spectra[ahead]
                products *= np.conj(spectra)[back]
                products *= levels[rows, level, np.newaxis].astype(np.float32)
                spectrum[rows] += products
        turned = fft.irfft(spectrum, size)
        differences = np.concatenate([turned[:, size - points + 1 :], turned[:, :points]], axis=1)
        return _intervals(differences, step, hdi_prob)


def _intervals(differences: Floats, step: float, hdi_prob: float) -> tuple[Floats, Floats, Floats]:
    """Return ends of intervals and probabilities of direction, given the masses of log ratios."""
    count = differences.shape[1]
    points = (count + 1) // 2
    below = np.zeros((len(differences), count + 1))
    np.cumsum(np.maximum(differences, 0.0), axis=1, out=below[:, 1:])
    below /= below[:, -1:]
    middle = below[:, points - 1 : points + 1].mean(axis=1)
    # Edges of the cells around differences of -(points - 1) to points - 1 steps.
    edges = (np.arange(count + 1) - points + 0.5) * step
    low, high = np.empty(len(below)), np.empty(len(below))
    for pair, cumulated in enumerate(below):
        quantile = partial(np.interp, xp=cumulated, fp=edges)
        low[pair], high[pair] = shortest_quantiles(quantile, hdi_prob, starts=_STARTS)
    return low, high, np.maximum(middle, 1 - middle)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of both directions of pairs.

    - `counts`, `participants` (arrays of int, shape (pairs, 2)): how many of the participants of a cue gave the
      response, for both directions.
    - `least_count`: smallest count that is listed.
    """

    counts: NDArray[np.integer]
    participants: NDArray[np.integer]
    least_count: int = 1


def pair_posteriors(logs: Floats, pairs: PairCounts, prior: LevelPrior) -> PairPosteriors:
    """Return the posteriors of both log probabilities of pairs.

    >>> from bayesbias.asymmetry.norms_source import USUAL
    >>> posteriors = pair_posteriors(grid(100), PairCounts(np.array([[8, 2]]), np.array([[100, 100]])), USUAL)
    >>> {name: values.round(1).tolist() for name, values in posteriors.ratio_summary(0.89).items()}
    {'hdi_low': [0.2], 'hdi_high': [2.8], 'probability_of_direction': [1.0]}
    """
    both = np.stack([pairs.counts, pairs.participants], axis=-1).reshape(-1, 2)
    cells, place = np.unique(both, axis=0, return_inverse=True)
    rows, row = np.unique(place.reshape(-1, 2), axis=0, return_inverse=True)
    logarithms = log_likelihood(logs, cells[:, 0], cells[:, 1], pairs.least_count)
    likelihood = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return PairPosteriors(logs, likelihood, *prior.levels(logs), rows, row.reshape(-1))


def normal_summary(means: Floats, sds: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return the interval and probability of direction of Normal posteriors; an sd of 0 is a number without error.

    >>> summary = normal_summary(np.array([1.0, -2.0]), np.array([1.0, 0.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in summary.items()}
    {'hdi_low': [-0.6, -2.0], 'hdi_high': [2.6, -2.0], 'probability_of_direction': [0.84, 1.0]}
    """
    half = ndtri((1 + hdi_prob) / 2) * sds
    ratio = np.divide(np.abs(means), sds, out=np.where(means == 0, 0.0, np.inf), where=sds > 0)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": ndtr(ratio)}


"""Number of cues whose projections on the whole vocabulary are in memory at once."""


def log_normalisers(cues: Floats, vocabulary: Floats, temperature: float = 1.0) -> Floats:
    """Return the log of the sum over the vocabulary of exp(<v, c> / (|c| temperature)) for each cue c.

    - `cues` (array, shape (cues, dimensions)): vectors c of any length.
    - `vocabulary` (array, shape (words, dimensions)): vectors v.
    - `temperature`: positive number.

    >>> log_normalisers(np.array([[2.0, 0.0]]), np.array([[1.0, 5.0], [1.0, 7.0]])).round(4)
    array([1.6931])
    """
    normalisers = np.empty(len(cues), dtype=np.float64)
    turned = np.ascontiguousarray(vocabulary.T)
    logits = np.empty((min(BLOCK, len(cues)), len(vocabulary)), dtype=np.result_type(cues, vocabulary))
    for start in range(0, len(cues), BLOCK):
        block = scaled(cues[start : start + BLOCK], temperature).astype(logits.dtype, copy=False)
        part = logits[: len(block)]
        np.matmul(block, turned, out=part)
        highest = part.max(axis=1)
        part -= highest[:, np.newaxis]
        np.exp(part, out=part)
        normalisers[start : start + BLOCK] = np.log(part.sum(axis=1, dtype=np.float64)) + highest
    return normalisers


def scaled(cues: Floats, temperature: float) -> Floats:
    """Return cues scaled to the length 1 / temperature, in the same precision."""
    lengths = np.sqrt(np.einsum("ij,ij->i", cues, cues, dtype=np.float64))
    vectors: Floats = (cues / (lengths * temperature)[:, np.newaxis]).astype(cues.dtype)
    return vectors
