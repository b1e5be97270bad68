r"""The prior of both probabilities of a pair of words of which at least one evokes the other, estimated from norms.

Under a Dirichlet prior of a cue's responses, each P(b given a) has a Beta prior. Counts of responses contradict it:
they fall like a power of n (Zipf's law), while a Beta density can fall no faster than 1 / p. The prior used here is a
double Pareto distribution (Reed and Jorgensen 2004), whose density in u = log p is

    exp(-d (u - c)) for u > c,    exp((u - c) / 2) for u < c,    times (1 - p)^t:

a power law above exp(c); below it, where counts carry no information, the density of p is that of Jeffreys' prior.

The two directions of a pair depend on each other: the more often b is the answer to a, the more often a is that to b.
How strongly differs between norms, and between the pairs of one of them. Each pair therefore has one of the dependences
`DEPENDENCES`, correlations of a Gaussian copula. Given a dependence, both directions are independent once the pair's
level, a Normal variable, is given; the prior is a mixture over levels. Each dependence has a share of at least
`LEAST_SHARE`, so that intervals do not rely on a single one.

c, d, t and the shares maximise the likelihood of the counts, given that at least one direction of each pair is listed;
without that condition, all pairs that nobody has listed would have to be included.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri, softmax

from bayesbias.asymmetry.sources.log_ratios import LOWEST, log_likelihood
from bayesbias.base.arrays import Floats, Integers

LEAST_PAIRS = 200
"""Smallest number of pairs of cues from which the prior is estimated; below it, the prior is `USUAL`."""
DEPENDENCES = (0.0, 0.5, 0.8, 0.95)
"""Correlations of both directions of a pair, on the scale of Normal quantiles."""
LEAST_SHARE = 0.03
"""Smallest share of each dependence."""
_BELOW = 0.5  # slope of the log density of log p below the centre
_STEP = 0.1
_FARTHEST = 4.2  # levels, in standard deviations
_SMOOTH = 1.4  # spacing of levels, in standard deviations of a direction given the level
_MERGED = 0.1  # numbers of participants that differ by less, in logarithms, are alike in the estimate
_RIDGE = 1e-4  # of the log shares, per pair
# Strong dependence with a low centre, and weak dependence with a high centre, resemble each other.
_STARTS = ((-10.0, -0.6, 0.0, 0.0, 1.0, 2.0), (-6.0, -0.6, 0.0, 3.0, 0.0, 0.0))


@dataclass(frozen=True)
class PowerLawPrior:
    """The prior of P(b given a) and P(a given b).

    Parameters
    ----------
    centre
        exp(c), a probability.
    decay
        d.
    end
        t.
    shares
        Share of pairs with each of the dependences, `DEPENDENCES`.
    pairs
        Number of pairs of cues that it was estimated from; 0 for `USUAL`.
    """

    centre: float
    decay: float
    end: float
    shares: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    pairs: int = 0

    @property
    def dependence(self) -> float:
        """Mean dependence of the two directions of a pair."""
        return float(np.dot(self.shares, DEPENDENCES))

    def log_density(self, logs: Floats) -> Floats:
        """Return the log density of log probabilities of one direction, up to a constant."""
        away = logs - np.log(self.centre)
        density: Floats = np.where(away > 0, -self.decay * away, _BELOW * away) + self.end * np.log(-np.expm1(logs))
        return density

    def weights(self, logs: Floats) -> Floats:
        """Return the prior mass of one direction at the points of a grid."""
        density = self.log_density(logs)
        mass = np.exp(density - density.max())
        share: Floats = mass / mass.sum()
        return share

    def levels(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return the prior mass of one direction given each level, of shape (levels, grid), and the levels' shares.

        >>> masses, shares = USUAL.levels(np.linspace(-16, -0.1, 160))
        >>> bool(np.allclose(shares @ masses, USUAL.weights(np.linspace(-16, -0.1, 160)), atol=1e-4))
        True
        """
        mass = self.weights(logs)
        below = np.concatenate([[0.0], np.cumsum(mass)])
        above = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
        ends = np.where(below < 0.5, ndtri(below), -ndtri(above))
        return np.concatenate([_levels(ends, dependence) for dependence, _ in self._used]), self.level_shares

    @property
    def level_shares(self) -> Floats:
        """Prior shares of the levels."""
        return np.concatenate([share * _level_shares(dependence) for dependence, share in self._used])

    @property
    def _used(self) -> list[tuple[float, float]]:
        return [(dependence, share) for dependence, share in zip(DEPENDENCES, self.shares, strict=True) if share > 0]


def _levels(ends: Floats, dependence: float) -> Floats:
    """Return masses between ends of cells, Normal quantiles, given each level."""
    quantiles = (ends - np.sqrt(dependence) * _level_places(dependence)[:, np.newaxis]) / np.sqrt(1 - dependence)
    below, above = ndtr(quantiles), ndtr(-quantiles)
    # Differences of the smaller tail keep their precision.
    masses: Floats = np.where(quantiles[:, :-1] > 0, above[:, :-1] - above[:, 1:], below[:, 1:] - below[:, :-1])
    return masses


def _level_places(dependence: float) -> Floats:
    """Return the levels at which the two directions are independent, in standard deviations."""
    spacing = min(_SMOOTH * np.sqrt(1 / dependence - 1), 1.0) if dependence else 2 * _FARTHEST
    half = int(np.ceil(_FARTHEST / spacing)) if dependence else 0
    places: Floats = spacing * np.arange(-half, half + 1)
    return places


def _level_shares(dependence: float) -> Floats:
    shares: Floats = np.exp(-(_level_places(dependence) ** 2) / 2)
    return shares / shares.sum()


USUAL = PowerLawPrior(centre=6.14e-6, decay=0.573, end=0.863, shares=(0.080, 0.190, 0.651, 0.079))
"""The prior for norms with few pairs: the one estimated from the norms of South Florida."""


def estimate_prior(counts: Integers, participants: Integers, least_count: int) -> PowerLawPrior:
    """Return the prior of pairs of cues, given counts and participants of both directions, of shape (pairs, 2).

    >>> estimate_prior(np.array([[3, 0]]), np.array([[100, 100]]), 1) == USUAL
    True
    """
    if len(counts) < LEAST_PAIRS:
        return USUAL
    logs = -(np.arange(-LOWEST, step=_STEP) + _STEP / 2)[::-1]
    people = np.maximum(_merged(participants), counts)
    cells, place = np.unique(np.stack([counts, people], axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    pairs, times = np.unique(np.sort(place.reshape(-1, 2), axis=1), axis=0, return_counts=True)
    likelihood = np.exp(log_likelihood(logs, cells[:, 0], cells[:, 1], least_count))
    sizes, size_place = np.unique(people, return_inverse=True)
    # Unlisted responses have a count below `least_count`.
    unlisted = np.exp(log_likelihood(logs, np.zeros_like(sizes), sizes, least_count))
    both, hidden_times = np.unique(np.sort(size_place.reshape(-1, 2), axis=1), axis=0, return_counts=True)

    @lru_cache(maxsize=8)  # differences along the shares leave the masses as they are
    def by_level(*of_direction: float) -> tuple[Floats, Floats]:
        """Return the likelihoods of listed and of unlisted pairs given each level."""
        masses, _ = _prior_of(np.append(of_direction, np.zeros(len(DEPENDENCES) - 1))).levels(logs)
        of_cells, hidden = likelihood @ masses.T, unlisted @ masses.T
        return of_cells[pairs[:, 0]] * of_cells[pairs[:, 1]], hidden[both[:, 0]] * hidden[both[:, 1]]

    def loss(parameters: Floats) -> float:
        shares = _prior_of(parameters).level_shares
        together, unseen = (part @ shares for part in by_level(*parameters[:3].tolist()))
        seen = 1 - unseen
        log_likelihoods = times @ np.log(np.maximum(together, 1e-300))
        log_likelihoods -= hidden_times @ np.log(np.maximum(seen, 1e-300))
        return -float(log_likelihoods) / len(counts) + _RIDGE * float(parameters[3:] @ parameters[3:])

    bounds = [(-12, -1), (-4, 3), (-4, 4), *[(-8, 8)] * (len(DEPENDENCES) - 1)]
    optima = [
        minimize(loss, np.array(start), method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}) for start in _STARTS
    ]
    return _prior_of(min(optima, key=lambda optimum: float(optimum.fun)).x, len(counts))


def _merged(participants: Integers) -> Integers:
    """Return numbers of participants, those that are alike replaced by their mean: few different ones remain."""
    groups = np.round(np.log(participants) / _MERGED).astype(np.int64)
    distinct, place = np.unique(groups, return_inverse=True)
    place = place.reshape(-1)
    means = np.bincount(place, participants.reshape(-1), len(distinct)) / np.bincount(place, minlength=len(distinct))
    merged: Integers = np.round(means).astype(np.int64)[place].reshape(participants.shape)
    return merged


def _prior_of(parameters: Floats, pairs: int = 0) -> PowerLawPrior:
    """Return the prior with these logarithms of its parameters, and of its shares relative to that of the last."""
    centre, decay, end = np.exp(parameters[:3])
    count = len(DEPENDENCES)
    shares = LEAST_SHARE + (1 - count * LEAST_SHARE) * softmax(np.append(parameters[3:], 0.0))
    return PowerLawPrior(float(centre), float(decay), float(end), tuple(shares.tolist()), pairs)
