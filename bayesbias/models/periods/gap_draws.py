"""Draws of gaps by period: multivariate t around the plain gaps, jointly for all words and periods.

One attribute word is one vector, of its distances to all protected words in all periods. The mean of a list of n words
has the covariance of the list's vectors over n, with n - 1 degrees of freedom. The covariance has a rank of n - 1 at
most, and needs no inverse: a draw adds the words' deviations with random weights. Gaps, which add up means of several
lists, have the degrees of freedom of Welch (1947). So every gap, change and slope has the interval of the plain paired
analysis of its own words, however many periods there are. Independent t's for each list would be the posterior with
flat priors (Behrens 1929, Fisher 1935); their sums are wider, and contain the truth too often.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias.estimates.freedom import student_scales, welch_freedom
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.panel import mean_weights
from bayesbias.models.periods.period_sample import PeriodSample


@dataclass(frozen=True, eq=False)
class ListDeviations:
    """The mean of a list, and the contribution of each word to its error.

    `mean` has the shape (periods, protected words), `parts` (attribute words, periods, protected words): the deviations
    of the words, over their number. `freedom` is the number of words that a period has on average, less 1.
    """

    mean: np.ndarray
    parts: np.ndarray
    freedom: float


@dataclass(frozen=True, eq=False)
class GapEstimate:
    """Plain gaps of words by period, and draws of them.

    `gaps` (periods, words) are those of the words at `places`, which have both connections. `errors` (draws, periods,
    words) are draws of their errors as if their covariance was known. It is not: `freedom` (words,) are its degrees of
    freedom, and `quantiles` (draws,) those of the error of its scale. `sampling` (periods, periods) is the covariance,
    over samples of attribute words, of a word's gaps as deviations from those of its group.
    """

    places: np.ndarray
    gaps: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    quantiles: np.ndarray
    sampling: np.ndarray

    @cached_property
    def draws(self) -> np.ndarray:
        """Draws of the gaps (draws, periods, words), each multivariate t."""
        return np.asarray(self.gaps + self.errors * student_scales(self.quantiles, self.freedom)[:, None])


def list_deviations(sample: PeriodSample) -> list[ListDeviations]:
    """Return the mean and the deviations of each list."""
    deviations = []
    for place in range(len(sample.lists)):
        members = sample.list_of == place
        present = sample.attribute_present[members]
        weights = mean_weights(present)
        values = np.where(present.T[:, :, None], sample.distances[:, members], 0.0)
        mean = np.einsum("tas,saj->tj", weights, values, optimize=True)
        residual = np.where(present.T[:, :, None], values - mean[:, None], 0.0)
        parts = np.einsum("tas,saj->atj", weights, residual, optimize=True)
        deviations.append(ListDeviations(mean, parts, float(present.sum(axis=0).mean()) - 1))
    return deviations


def draw_gaps(
    sample: PeriodSample, lists: list[ListDeviations], baseline: int, other: int | None, *, draws: int, seed: int
) -> GapEstimate:
    """Return draws of the gaps of words between two connections, given as positions in `sample.connections`.

    Without `other`, the gap is the mean distance itself. The draws of a list have their own generator: other contrasts
    of the same list share them. The words of a group share their degrees of freedom.
    """
    weights = sample.connection_weights
    if other is None:
        places = np.flatnonzero(weights[:, baseline].any(axis=1))
        signs = weights[places, baseline]
    else:
        places = np.flatnonzero(has_both(weights, baseline, other))
        signs = weights[places, baseline] - weights[places, other]
    groups, group_of = np.unique(sample.group_of[places], return_inverse=True)
    member = np.eye(len(groups))[group_of]
    to_group = member / member.sum(axis=0) @ member.T
    periods, words = len(sample.periods), len(places)
    gaps, errors = np.zeros((periods, words)), np.zeros((draws, periods, words))
    sampling, variances = np.zeros((periods, periods)), np.zeros((len(lists), len(groups)))
    for place, of_list in enumerate(lists):
        sign = signs[:, place]
        if not sign.any():
            continue
        rng = np.random.default_rng([seed, place])
        count = len(of_list.parts)
        parts = of_list.parts[:, :, places] * (sign * np.sqrt(count / max(count - 1, 1)))
        gaps += of_list.mean[:, places] * sign
        errors += (rng.standard_normal((draws, count)) @ parts.reshape(count, -1)).reshape(draws, periods, words)
        variances[place] = np.square(parts).sum(axis=(0, 1)) @ member
        within = parts - parts @ to_group
        sampling += np.einsum("atj,asj->ts", within, within) / max(words - len(groups), 1)
    freedom = welch_freedom(variances, np.array([[of_list.freedom] for of_list in lists]))[group_of]
    quantiles = np.random.default_rng([seed, len(lists)]).random(draws)
    return GapEstimate(places, gaps, errors, freedom, quantiles, sampling)
