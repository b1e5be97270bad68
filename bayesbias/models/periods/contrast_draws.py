"""The gaps of one contrast by period, of words like these, these words, groups and single words."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayesbias.estimates.freedom import student_scales
from bayesbias.models.periods.gap_draws import GapEstimate, ListDeviations, draw_gaps
from bayesbias.models.periods.panel import mean_weights
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.models.periods.word_variation import ProtectedWords, draw_word_variation


@dataclass(frozen=True, eq=False)
class OverallGaps:
    """Plain gaps of all words (periods,), groups weighing the same, and draws of their errors (draws, periods).

    `errors` are those of attribute words as if their covariance were known: it has `freedom` degrees of freedom, and
    `quantiles` (draws,) are those of the error of the scale. `word_errors` are those of the choice of protected words.
    """

    plain: np.ndarray
    errors: np.ndarray
    freedom: float
    quantiles: np.ndarray
    word_errors: np.ndarray

    @property
    def scales(self) -> np.ndarray:
        """Scales of the errors, shape (draws, 1)."""
        return student_scales(self.quantiles, np.array([self.freedom]))

    @cached_property
    def draws(self) -> np.ndarray:
        """Draws of the gaps, shape (draws, periods)."""
        return np.asarray(self.plain + self.errors * self.scales + self.word_errors)


@dataclass(frozen=True, eq=False)
class ContrastDraws:
    """Plain gaps by period and their draws, chain after chain.

    `estimate` has the gaps of these words, not shrunk. `population` and `these_words` are the gaps of all words;
    `groups` has the shape (draws, periods, groups), `words` (draws, periods, words). `plain_groups` (periods, groups)
    are differences of averages; `group_places` are the positions of groups in the sample.
    """

    estimate: GapEstimate
    population: OverallGaps
    these_words: OverallGaps
    groups: np.ndarray
    words: np.ndarray
    plain_groups: np.ndarray
    group_places: np.ndarray

    @property
    def plain_words(self) -> np.ndarray:
        """Differences of averages of each word, shape (periods, words)."""
        return self.estimate.gaps

    @property
    def word_places(self) -> np.ndarray:
        """Positions of the words in the sample."""
        return self.estimate.places

    @property
    def plain(self) -> np.ndarray:
        """Plain gaps of all words, groups weighing the same, shape (periods,)."""
        return self.these_words.plain

    def overall(self, scope: str) -> OverallGaps:
        """Return the gaps of all words in a scope."""
        return self.population if scope == "population" else self.these_words


def draw_contrast(
    sample: PeriodSample,
    lists: list[ListDeviations],
    times: np.ndarray,
    contrast: tuple[int, int | None],
    *,
    draws: int,
    chains: int,
    seed: int,
) -> ContrastDraws:
    """Return draws of the gaps between two connections, given as positions in `sample.connections`.

    If the second is None, the gaps are the mean distances to the first.

    The gaps of these words are the plain gaps, with the error of the attribute words. Single words are shrunk towards
    their group as far as its words agree. The gap of words like these is the mean of these words plus Normal(0, d_g S_g
    / J_g) for each group, with S_g from `draw_word_variation` and the design effect d_g: given the vectors of these
    words, attribute words say no more about others.
    """
    estimate = draw_gaps(sample, lists, *contrast, draws=draws, seed=seed)
    places = estimate.places
    group_places, group_of = np.unique(sample.group_of[places], return_inverse=True)
    to_group = np.eye(len(group_places))[group_of]
    to_group /= to_group.sum(axis=0)
    group_draws, plain_groups = estimate.draws @ to_group, estimate.gaps @ to_group
    present = sample.protected_present[places]
    effects = sample.group_effects[group_places]
    variation = draw_word_variation(
        estimate.gaps - plain_groups[:, group_of],
        ProtectedWords(present, group_of, effects),
        estimate.sampling,
        times,
        draws=draws,
        chains=chains,
        seed=seed,
    )
    errors = (estimate.errors @ to_group).mean(axis=2)
    these_words = OverallGaps(
        plain_groups.mean(axis=1), errors, estimate.overall_freedom, estimate.quantiles, np.zeros_like(errors)
    )
    rng = np.random.default_rng([seed, 1001])
    roots = _roots(variation.covariance) * np.sqrt(effects)[:, None, None]
    word_errors = np.zeros_like(errors)
    for group in range(len(group_places)):
        of_group = present[group_of == group]
        if of_group.all():
            noise = (roots[:, group] @ rng.standard_normal((draws, len(times), 1)))[..., 0] / np.sqrt(len(of_group))
        else:
            words = rng.standard_normal((draws, len(of_group), len(times))) @ np.swapaxes(roots[:, group], 1, 2)
            noise = np.einsum("tis,dis->dt", mean_weights(of_group), words, optimize=True)
        word_errors += noise / len(group_places)
    return ContrastDraws(
        estimate=estimate,
        population=replace(these_words, word_errors=word_errors),
        these_words=these_words,
        groups=group_draws,
        words=group_draws[:, :, group_of] + variation.deviations,
        plain_groups=plain_groups,
        group_places=group_places,
    )


def _roots(covariances: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])
