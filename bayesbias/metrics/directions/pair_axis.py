"""The axis of pairs of opposite words: a mean over pairs, which are a sample of all pairs that could name it.

All functions take the unit differences of the pairs, of shape (pairs, dimensions). Their mean in all pairs like these,
mu, is the axis. The projection of a unit vector w is w mu, a plain mean over pairs. The squared length of mu is the
mean inner product of *different* pairs, their agreement: the squared length of the mean of a few pairs is larger, by
what single pairs have beside the axis. So the cosine with the axis is w mu / sqrt(agreement).

Pairs such as man/woman and men/women are near-copies, and no two independent pairs. n pairs with the design effect d
(see `bayesbias.estimates.dependence`) are worth n / d: errors are sqrt(d (n - 1) / (n - d)) times as large, with one
degree of freedom less than n / d. What differences of unrelated pairs have in common is that of random pairs of the
vocabulary.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats, unit_rows
from bayesbias.estimates.dependence import (
    ChanceCorrelations,
    LinkedWords,
    clusters,
    error_factor,
    linked_words,
    residual_correlations,
)
from bayesbias.estimates.intervals import welch_freedom

LEAST_PAIRS = 3
"""Smallest number of pairs with an interval for how far they agree."""
MOST_PAIRS = 1000
"""Largest number of pairs of an axis, each of which is compared with each other one."""

_ENUMERATED = 12
# Random pairs that show what chance links, and the correlation of near-copies beside the axis.
_CHANCE_PAIRS, _COPIES = 700, 0.5


class MeanOverPairs(NamedTuple):
    """Values, their standard errors over pairs, and the degrees of freedom of these."""

    values: Floats
    errors: Floats
    freedom: Floats | float

    def interval(self, probability: float) -> tuple[Floats, Floats]:
        """Return the ends of Student's interval, which is the posterior's under a flat prior.

        >>> estimate = MeanOverPairs(np.array([1.0]), np.array([0.5]), 4)
        >>> [end.round(2).tolist() for end in estimate.interval(0.95)]
        [[-0.39], [2.39]]
        """
        from scipy.stats import t

        half = np.asarray(t.ppf((1 + probability) / 2, self.freedom)) * self.errors
        return self.values - half, self.values + half

    def probability_of_direction(self) -> Floats:
        """Return the posterior probability of the sign of each value, 0.5 to 1.

        >>> MeanOverPairs(np.array([0.0, -9.0]), np.array([1.0, 1.0]), 9).probability_of_direction().round(2)
        array([0.5, 1. ])
        """
        from scipy.stats import t

        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.abs(np.where(self.errors > 0, self.values / self.errors, np.inf * np.sign(self.values)))
        probability: Floats = np.asarray(t.cdf(np.where(np.isnan(ratios), 0.0, ratios), self.freedom))
        return probability


@dataclass(frozen=True, eq=False)
class PairAxis:
    """Unit differences of pairs of words, first minus second, and what they say of an axis.

    - `differences`: unit vectors of shape (pairs, dimensions); at least `LEAST_PAIRS`.
    - `links`: pairs that depend on each other; None if all are independent.

    >>> axis = PairAxis.from_vectors([[1.0, 0.2], [1.0, -0.2], [1.0, 0.0]], [[-1.0, 0.0], [-1.0, 0.0], [-1.0, 0.1]])
    >>> axis.agreement().values.round(2), axis.cosines([[3.0, 0.0]]).values.round(2)
    (array([0.99]), array([1.]))
    """

    differences: Floats
    links: LinkedWords | None = None

    @classmethod
    def from_vectors(cls, first: ArrayLike, second: ArrayLike, chance: "ChanceDifferences | None" = None) -> "PairAxis":
        """Return the axis of pairs whose vectors are the rows of two arrays of shape (pairs, dimensions).

        `chance` is what differences of random pairs have in common; without it, all pairs count as independent.
        """
        differences = unit_rows(unit_rows(first) - unit_rows(second))
        return cls(differences, None if chance is None else chance.links(differences))

    def __len__(self) -> int:
        return len(self.differences)

    @cached_property
    def effect(self) -> float:
        """The design effect of the pairs: they are worth their number over it."""
        return 1.0 if self.links is None else self.links.design_effect(np.arange(len(self)))

    @property
    def near_copies(self) -> list[list[int]]:
        """Positions of pairs that are near-copies of each other, in clusters of two and more."""
        return [] if self.links is None or self.effect == 1 else clusters(self.links, _COPIES)

    @cached_property
    def mean(self) -> Floats:
        """The mean difference, of shape (dimensions,)."""
        mean: Floats = self.differences.mean(axis=0)
        return mean

    @cached_property
    def others(self) -> Floats:
        """The mean inner product of each pair's difference with those of the other pairs, of shape (pairs,)."""
        means: Floats = (len(self) * self.differences @ self.mean - 1) / (len(self) - 1)
        return means

    def projections(self, words: ArrayLike) -> MeanOverPairs:
        """Return the mean cosine of each word with the difference of a pair.

        - `words`: vectors of any length, of shape (words, dimensions).
        """
        return mean_estimate(unit_rows(words) @ self.differences.T, self.effect)

    def agreement(self) -> MeanOverPairs:
        """Return the mean cosine between the differences of two pairs, with its jackknife error.

        It is a U-statistic: Arvesen (1969), Jackknifing U-statistics, Annals of Mathematical Statistics 40.
        """
        return _estimate(
            np.atleast_1d(self.others.mean()), self._agreement_influence[np.newaxis], len(self), self.effect
        )

    def sign_test(self, random_seed: int, samples: int = 10_000) -> float:
        """Return the one-sided p-value of the agreement if the order of the words in each pair meant nothing.

        It is the share of orders with an agreement at least as large, which is exact: of all orders for up to 12 pairs,
        so that fewer than five pairs have no p-value below 0.125; else of random ones, with the observed one.
        Near-copies are reversed together.

        - `samples`: number of random orders.

        R. A. Fisher (1935), The design of experiments, section 21: the randomisation test of matched pairs.
        """
        unit_of = np.arange(len(self))
        for copies in self.near_copies:
            unit_of[copies] = copies[0]
        unit_of = np.unique(unit_of, return_inverse=True)[1]
        units = int(unit_of.max()) + 1
        signs: Floats
        if units <= _ENUMERATED:  # the last sign is fixed: reversing every pair changes nothing
            orders = np.arange(2 ** (units - 1))[:, np.newaxis] >> np.arange(units) & 1
            signs = np.where(orders == 0, 1.0, -1.0)
        else:
            signs = np.random.default_rng(random_seed).choice(np.array([-1.0, 1.0]), size=(samples, units))
            signs[0] = 1.0
        sums = np.zeros((units, self.differences.shape[1]))
        np.add.at(sums, unit_of, self.differences)
        lengths = np.square(signs @ sums).sum(axis=1)
        return float((lengths >= lengths[0] * (1 - 1e-12)).mean())

    def pair_agreement(self) -> MeanOverPairs:
        """Return the mean cosine of each pair's difference with that of another pair."""
        cosines = self.differences @ self.differences.T
        apart = ~np.eye(len(self), dtype=bool)
        return mean_estimate(cosines[apart].reshape(len(self), len(self) - 1), self.effect)

    def shares(self) -> Floats:
        """Return the share of each pair in the squared length of the mean difference; they add up to 1."""
        shares: Floats = self.differences @ self.mean / (len(self) * self.mean @ self.mean)
        return shares

    def cosines(self, words: ArrayLike) -> MeanOverPairs:
        """Return the cosine of each word with the axis of all pairs like these.

        Undefined (not a number) if the agreement of the pairs is not positive.
        """
        scores = unit_rows(words) @ self.differences.T
        return self._scaled(scores.mean(axis=1), scores - scores.mean(axis=1, keepdims=True))

    def cosine_with(self, other: "PairAxis") -> MeanOverPairs:
        """Return the cosine between this axis and another, with the errors of both."""
        value = np.atleast_1d(self.mean @ other.mean)
        estimates = []
        for axis, opposite in ((self, other), (other, self)):
            scores = axis.differences @ opposite.mean
            one_side = axis._scaled(value, (scores - scores.mean())[np.newaxis])
            length = opposite.length
            estimates.append(MeanOverPairs(one_side.values / length, one_side.errors / length, one_side.freedom))
        first, second = estimates
        return combined(first.values, [first, second])

    @property
    def length(self) -> float:
        """The length of the axis of all pairs like these; not a number if the agreement is not positive."""
        agreement = float(self.others.mean())
        return agreement**0.5 if agreement > 0 else float("nan")

    @property
    def _agreement_influence(self) -> Floats:
        """The jackknife's influence of each pair on the agreement, of shape (pairs,)."""
        influence: Floats = 2 * (self.others - self.others.mean()) * (len(self) - 1) / (len(self) - 2)
        return influence

    def _scaled(self, values: Floats, influence: Floats) -> MeanOverPairs:
        """Return values over the length of the axis, given the influence of pairs on them, (values, pairs)."""
        length = self.length
        ratios = values / length
        total = influence / length - ratios[:, np.newaxis] * self._agreement_influence / (2 * length**2)
        return _estimate(ratios, total, len(self), self.effect)


@dataclass(frozen=True, eq=False)
class ChanceDifferences:
    """What differences of random pairs of a vocabulary have in common.

    `metric` (dimensions, dimensions) is the covariance of its vectors, in which differences correlate.
    """

    metric: Floats
    correlations: ChanceCorrelations

    @classmethod
    def from_reference(cls, reference: Floats) -> "ChanceDifferences":
        """Return it for unit vectors of random words, of shape (words, dimensions), no word in two pairs."""
        deviations = reference - reference.mean(axis=0)
        metric = deviations.T @ deviations / len(reference)
        order = np.random.default_rng(0).permutation(len(reference))[: 2 * _CHANCE_PAIRS]
        half = len(order) // 2
        differences = unit_rows(reference[order[:half]] - reference[order[half : 2 * half]])
        correlations = residual_correlations(differences, metric)[np.triu_indices(half, 1)]
        return cls(metric, ChanceCorrelations.from_pairs(correlations))

    def links(self, differences: Floats) -> LinkedWords:
        """Return the links of unit differences of shape (pairs, dimensions)."""
        return linked_words(residual_correlations(differences, self.metric), self.correlations)


def mean_estimate(scores: Floats, effect: float = 1.0) -> MeanOverPairs:
    """Return the mean of scores of shape (values, pairs) over pairs with a design effect.

    >>> mean_estimate(np.array([[1.0, 2.0, 3.0]])).errors.round(3)  # 1 / sqrt(3)
    array([0.577])
    """
    means = scores.mean(axis=1)
    return _estimate(means, scores - means[:, np.newaxis], scores.shape[1], effect)


def combined(values: Floats, parts: list[MeanOverPairs]) -> MeanOverPairs:
    """Return values whose errors come from independent samples, with Satterthwaite's degrees of freedom.

    >>> error = MeanOverPairs(np.zeros(1), np.ones(1), 4.0)
    >>> combined(np.zeros(1), [error, error])
    MeanOverPairs(values=array([0.]), errors=array([1.41421356]), freedom=array([8.]))
    """
    variances = np.array([part.errors**2 for part in parts])
    freedom = np.array([np.broadcast_to(part.freedom, variances.shape[1:]) for part in parts])
    return MeanOverPairs(values, np.sqrt(variances.sum(axis=0)), welch_freedom(variances, freedom))


def _estimate(values: Floats, influence: Floats, pairs: int, effect: float) -> MeanOverPairs:
    """Return values with the errors that follow from the influence of each pair, of shape (values, pairs)."""
    errors = np.sqrt(np.square(influence).sum(axis=1) / (pairs * (pairs - 1))) * error_factor(pairs, effect)
    return MeanOverPairs(values, errors, pairs / effect - 1)
