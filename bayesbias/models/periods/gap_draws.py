"""Draws of gaps by period: multivariate t around the plain gaps, jointly for all words and periods.

One attribute word is one vector, of its distances to all protected words in all periods. The mean of a list of n words
has the covariance of the list's vectors over n, with n - 1 degrees of freedom. The covariance has a rank of n - 1 at
most, and needs no inverse: a draw adds the words' deviations with random weights. Words that depend on each other count
as what they are worth: with the design effect d the covariance is d (n - 1) / (n - d) times as large, and has n / d - 1
degrees of freedom. Gaps, which add up means of several
lists, have the degrees of freedom of Welch (1947), from variances that are pooled over words and periods. So gaps,
changes and slopes have nearly the interval of the plain paired analysis of their words, however many periods there are.
Independent t's for each list would be the posterior with flat priors (Behrens 1929, Fisher 1935); their sums are wider,
and contain the truth too often.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias.estimates.dependence import FEWEST_EFFECTIVE, error_factor
from bayesbias.estimates.freedom import student_scales, welch_freedom
from bayesbias.models.multivariate.attribute_sample import has_both
from bayesbias.models.periods.panel import mean_weights
from bayesbias.models.periods.period_sample import PeriodSample


@dataclass(frozen=True, eq=False)
class ListDeviations:
    """The mean of a list, and the contribution of each word to its error.

    `mean` has the shape (periods, protected words), `parts` (attribute words, periods, protected words): the change of
    the mean without each word, which is its deviation over the number of words if periods lack none (the jackknife),
    larger where words depend on each other. `freedom` is the number of words that two periods share on average, as
    independent words, less 1.
    """

    mean: np.ndarray
    parts: np.ndarray
    freedom: float


@dataclass(frozen=True, eq=False)
class GapEstimate:
    """Plain gaps of words by period, and draws of them.

    `gaps` (periods, words) are those of the words at `places`, which have both connections. `errors` (draws, periods,
    words) are draws of their errors as if their covariance was known. It is not: `freedom` (words,) are its degrees of
    freedom, `overall_freedom` those of gaps of all groups, and `quantiles` (draws,) those of the error of the scale.
    `sampling` (periods, periods) is the covariance, over samples of attribute words, of a word's gaps as deviations
    from those of its group.
    """

    places: np.ndarray
    gaps: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    overall_freedom: float
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
        values = np.where(present.T[:, :, None], sample.distances[:, members], 0.0)
        words, count = np.arange(len(present)), len(present)
        mean = _mean(present, values)
        if present.all():
            parts = (np.swapaxes(values, 0, 1) - mean) / count
        else:
            without = [_mean(present[words != word], values[:, words != word]) for word in words]
            parts = (mean - np.stack(without)) * (count - 1) / count
        shared = max(float((present.T.astype(float) @ present).mean()), 2.0)
        effect = min(float(sample.list_effects[place]), max(shared / FEWEST_EFFECTIVE, 1.0))
        parts = parts * error_factor(shared, effect)
        deviations.append(ListDeviations(mean, parts, max(shared / effect - 1, 1.0)))
    return deviations


def _mean(present: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the mean of words by period, shape (periods, protected words)."""
    return np.tensordot(mean_weights(present), values, axes=([1, 2], [1, 0]))


def draw_gaps(
    sample: PeriodSample, lists: list[ListDeviations], baseline: int, other: int | None, *, draws: int, seed: int
) -> GapEstimate:
    """Return draws of the gaps of words between two connections, given as positions in `sample.connections`.

    Without `other`, the gap is the mean distance itself. The draws of a list have their own generator: other contrasts
    of the same list share them. The words of a group share their degrees of freedom, and so do all periods: those of
    Welch for single contrasts are less stable, since they follow from the variances of few words.
    """
    weights = sample.connection_weights
    if other is None:
        places = np.flatnonzero(has_both(sample, baseline, baseline))
        signs = weights[places, baseline]
    else:
        places = np.flatnonzero(has_both(sample, baseline, other))
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
    of_lists = np.array([[of_list.freedom] for of_list in lists])
    overall = (variances / member.sum(axis=0)).sum(axis=1, keepdims=True)
    return GapEstimate(
        places=places,
        gaps=gaps,
        errors=errors,
        freedom=welch_freedom(variances, of_lists)[group_of],
        overall_freedom=welch_freedom(overall, of_lists).item(),
        quantiles=np.random.default_rng([seed, len(lists)]).random(draws),
        sampling=sampling,
    )
