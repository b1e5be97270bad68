"""Draws of contrasts by period: multivariate t around the observed contrasts, jointly for all words and periods.

One attribute word is one vector, of its distances to all protected words in all periods. The mean of a list of n words
has the covariance of the list's vectors over n, with n - 1 degrees of freedom. The covariance has a rank of n - 1 at
most, and needs no inverse: a draw adds the words' deviations with random weights. Words that depend on each other count
as what they are worth: with the design effect d the covariance is d (n - 1) / (n - d) times as large, and has n / d - 1
degrees of freedom. Contrasts, which add up means of several
lists, have the degrees of freedom of Welch (1947), from variances that are pooled over words and periods. So contrasts,
changes and slopes have nearly the interval of the plain paired analysis of their words, however many periods there are.
Independent t's for each list would be the posterior with flat priors (Behrens 1929, Fisher 1935); their sums are wider,
and contain the truth too often.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.base.number_text import counted
from bayesbias.errors import TableError, name_some
from bayesbias.estimates.dependence import FEWEST_EFFECTIVE, LinkedWords, error_factor
from bayesbias.estimates.intervals import student_scales, welch_freedom
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    design_effects,
    has_both,
    known_links,
)
from bayesbias.models.periods.panel import (
    ProtectedWords,
    draw_word_variation,
    fill_words,
    is_connected,
    mean_weights,
    sole_links,
)
from bayesbias.tables.measures import KEY, measure_of
from bayesbias.tables.schema import ATTRS_KEY, table_facts
from bayesbias.tables.word_worths import recorded_links

_PAIR = ["protected_word", "attribute_word"]
# Student's t of a list's mean needs two words.
FEWEST_WORDS = 2


@dataclass(frozen=True, eq=False)
class PeriodSample:
    """Distances of the same words in several periods.

    `distances` (periods, attribute words, protected words) are filled where a protected word lacks a period, as
    `fill_words` does, and NaN where an attribute word lacks it. `protected_present` (protected words, periods) and
    `attribute_present` (attribute words, periods) are the words that periods have. `list_of` (attribute words,) and
    `group_of` (protected words,) are positions in `lists` and `groups`; `connection_weights` (protected words,
    connections, lists) are the weights of lists in a word's mean distance for a connection; `compared`
    (protected words,) is whether a word's group is in contrasts. `list_effects` (lists,) and `group_effects` (groups,)
    are design effects, means over the periods: n dependent words are worth n over their effect independent ones.
    `protected_links` are the links between protected words by period. Distances are in the unit of cosine distances;
    `unit` is what a step of 1 is in the unit of the tables.
    """

    periods: tuple[str, ...]
    distances: np.ndarray
    protected_present: np.ndarray
    attribute_present: np.ndarray
    protected_words: tuple[str, ...]
    attribute_words: tuple[str, ...]
    group_of: np.ndarray
    groups: tuple[str, ...]
    list_of: np.ndarray
    lists: tuple[str, ...]
    connections: tuple[str, ...]
    connection_weights: np.ndarray
    compared: np.ndarray
    list_effects: np.ndarray = None  # type: ignore[assignment]
    group_effects: np.ndarray = None  # type: ignore[assignment]
    protected_links: tuple[LinkedWords, ...] = ()
    unit: float = 1.0

    def __post_init__(self) -> None:
        for name, lists in (("list_effects", self.lists), ("group_effects", self.groups)):
            if getattr(self, name) is None:  # words are independent
                object.__setattr__(self, name, np.ones(len(lists)))
        if not self.protected_links:
            object.__setattr__(self, "protected_links", (LinkedWords.none(len(self.group_of)),) * len(self.periods))


def period_sample(tables: Mapping[str, pd.DataFrame]) -> PeriodSample:
    """Return valid tables of one measure by period as one sample; the connections of a pair are the same in all.

    Raises `TableError` if a period has a word but not all of its pairs, or too few words in common with others.
    """
    every = pd.concat(tables.values(), ignore_index=True)
    union = every.drop_duplicates(_PAIR, ignore_index=True)
    union.attrs = {ATTRS_KEY: {KEY: measure_of(table_facts(next(iter(tables.values())))).record()}}
    data = model_data(union)
    sample = attribute_sample(data)
    rows = {"protected_word": data.protected_words.tolist(), "attribute_word": data.attribute_words.tolist()}
    distances = np.stack([_matrix(table, rows, data) for table in tables.values()])
    attribute_present, protected_present = (np.isfinite(distances).any(axis=axis).T for axis in (2, 1))
    periods = tuple(tables)
    whole = protected_present.T[:, None] & attribute_present.T[:, :, None]
    for period, lost in zip(periods, whole & ~np.isfinite(distances), strict=True):
        if lost.any():
            attribute, word = np.argwhere(lost)[0]
            raise TableError(
                f"The table of {period!r} has {int(lost.sum()):,} words without some of their pairs, the first is "
                f"{rows['protected_word'][word]!r} with {rows['attribute_word'][attribute]!r}. A period may lack whole "
                "words, but not single pairs: leave out one of the two words."
            )
    groups = tuple(str(name) for name in np.unique(data.protected_groups))
    for names, member_of, present, what, fewest in (
        (groups, sample.group_of, protected_present, "protected group", 1),
        (sample.lists, sample.list_of, attribute_present, "attribute list", FEWEST_WORDS),
    ):
        for place, name in enumerate(names):
            _check_members(f"{what} {name!r}", present[member_of == place], periods, fewest)
    for place, name in enumerate(sample.lists):
        members = np.flatnonzero(sample.list_of == place)
        if (links := sole_links(attribute_present[members])).size:
            raise TableError(
                f"Of the attribute list {name!r}, {rows['attribute_word'][members[links[0]]]!r} alone links some "
                f"periods ({name_some(periods)}) with the others, and a change that rests on one word has no error. "
                "Leave out the periods that have few of its words, or choose words that several periods have."
            )
    filled = distances.copy()
    for group in range(len(groups)):
        members = sample.group_of == group
        filled[:, :, members] = fill_words(distances[:, :, members])
    dependence = [_dependence(*period, data, sample) for period in zip(tables.values(), distances, strict=True)]
    list_effects, group_effects, protected_links = zip(*dependence, strict=True)
    return PeriodSample(
        periods=periods,
        distances=filled,
        protected_present=protected_present,
        attribute_present=attribute_present,
        protected_words=tuple(rows["protected_word"]),
        attribute_words=tuple(rows["attribute_word"]),
        group_of=sample.group_of,
        groups=groups,
        list_of=sample.list_of,
        lists=sample.lists,
        connections=data.connections,
        connection_weights=sample.connection_weights,
        compared=sample.compared,
        list_effects=np.mean(list_effects, axis=0),
        group_effects=np.mean(group_effects, axis=0),
        protected_links=protected_links,
        unit=data.scale.unit,
    )


def _dependence(
    table: pd.DataFrame, distances: np.ndarray, data: ModelData, sample: AttributeSample
) -> tuple[np.ndarray, np.ndarray, LinkedWords]:
    """Return the design effects of lists and of groups, and the links of protected words, of the words of a period.

    They come from the table's record; without one, from its distances (attribute words, protected words).
    """
    facts, present = table_facts(table), np.isfinite(distances)
    words, attributes = np.flatnonzero(present.any(axis=0)), np.flatnonzero(present.any(axis=1))
    values, list_of, group_of = distances[np.ix_(attributes, words)], sample.list_of[attributes], sample.group_of[words]
    lists = data.attribute_words if data.attribute_groups is None else data.attribute_groups
    of_lists = recorded_links(facts, "attribute", data.attribute_words, lists)
    of_words = recorded_links(facts, "protected", data.protected_words, data.protected_groups)
    kind_of = sample.list_kind[list_of]
    of_lists = known_links(of_lists and of_lists.keep(attributes), values, list_of, kind_of)
    of_words = known_links(of_words and of_words.keep(words), values[kind_of == kind_of.min()].T, group_of)
    effects = design_effects(of_lists, list_of), design_effects(of_words, group_of)
    return *effects, of_words.placed(words, len(sample.group_of))


def _matrix(table: pd.DataFrame, rows: Mapping[str, list[str]], data: ModelData) -> np.ndarray:
    """Return the distances of a table, shape (attribute words, protected words), NaN for pairs that it lacks.

    Numbers of another measure are on the scale of `data`.
    """
    matrix = np.full((len(rows["attribute_word"]), len(rows["protected_word"])), np.nan)
    places = [
        pd.Index(rows[name]).get_indexer(pd.Index(table[name].astype(str)))
        for name in ("attribute_word", "protected_word")
    ]
    matrix[places[0], places[1]] = data.scale.to_distances(table[data.measure.column].to_numpy())
    return matrix


def _check_members(what: str, present: np.ndarray, periods: tuple[str, ...], fewest: int) -> None:
    """Raise `TableError` if a list has too few words in a period, or no words that link it with the others."""
    counts = present.sum(axis=0)
    if (short := np.flatnonzero(counts < fewest)).size:
        names = name_some([periods[place] for place in short])
        raise TableError(
            f"The {what} has {counts[short[0]]} of {counted(len(present), 'word')} in {names}, "
            f"and at least {fewest} {'is' if fewest == 1 else 'are'} needed in each. Choose words that all of them "
            "have, or leave out what lacks them."
        )
    if not is_connected(present):
        first = present[:, 0]
        raise TableError(
            f"No word of the {what} links {periods[0]!r} with all other periods ({counted(int(first.sum()), 'word')} "
            f"in {periods[0]!r}): changes come from words that both periods have. Choose words that several periods "
            "have."
        )


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
class WordContrasts:
    """Observed contrasts of words by period, and draws of them.

    `observed` (periods, words) are those of the words at `places`, which have both connections. `errors` (draws,
    periods, words) are draws of their errors as if their covariance was known. It is not: `freedom` (words,) are its
    degrees of freedom, `overall_freedom` those of contrasts of all groups, and `quantiles` (draws,) those of the error
    of the scale. `sampling` (periods, periods) is the covariance, over samples of attribute words, of a word's
    contrasts as deviations from those of its group.
    """

    places: np.ndarray
    observed: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    overall_freedom: float
    quantiles: np.ndarray
    sampling: np.ndarray

    @cached_property
    def draws(self) -> np.ndarray:
        """Draws of the contrasts (draws, periods, words), each multivariate t."""
        return np.asarray(self.observed + self.errors * student_scales(self.quantiles, self.freedom)[:, None])


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


def draw_word_contrasts(
    sample: PeriodSample, lists: list[ListDeviations], baseline: int, other: int | None, *, draws: int, seed: int
) -> WordContrasts:
    """Return draws of the contrasts of words between two connections, given as positions in `sample.connections`.

    Without `other`, the contrast is the mean distance itself. The draws of a list have their own generator: other
    contrasts of the same list share them. The words of a group share their degrees of freedom, and so do all periods:
    those of Welch for single contrasts are less stable, since they follow from the variances of few words.
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
    observed, errors = np.zeros((periods, words)), np.zeros((draws, periods, words))
    sampling, variances = np.zeros((periods, periods)), np.zeros((len(lists), len(groups)))
    for place, of_list in enumerate(lists):
        sign = signs[:, place]
        if not sign.any():
            continue
        rng = np.random.default_rng([seed, place])
        count = len(of_list.parts)
        parts = of_list.parts[:, :, places] * (sign * np.sqrt(count / max(count - 1, 1)))
        observed += of_list.mean[:, places] * sign
        errors += (rng.standard_normal((draws, count)) @ parts.reshape(count, -1)).reshape(draws, periods, words)
        variances[place] = np.square(parts).sum(axis=(0, 1)) @ member
        within = parts - parts @ to_group
        sampling += np.einsum("atj,asj->ts", within, within) / max(words - len(groups), 1)
    of_lists = np.array([[of_list.freedom] for of_list in lists])
    overall = (variances / member.sum(axis=0)).sum(axis=1, keepdims=True)
    return WordContrasts(
        places=places,
        observed=observed,
        errors=errors,
        freedom=welch_freedom(variances, of_lists)[group_of],
        overall_freedom=welch_freedom(overall, of_lists).item(),
        quantiles=np.random.default_rng([seed, len(lists)]).random(draws),
        sampling=sampling,
    )


@dataclass(frozen=True, eq=False)
class OverallContrasts:
    """Observed contrasts of all words (periods,), groups weighing the same, and draws of their errors (draws, periods).

    `errors` are those of attribute words as if their covariance were known: it has `freedom` degrees of freedom, and
    `quantiles` (draws,) are those of the error of the scale. `word_errors` are those of the choice of protected words.
    """

    observed: np.ndarray
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
        """Draws of the contrasts, shape (draws, periods)."""
        return np.asarray(self.observed + self.errors * self.scales + self.word_errors)


@dataclass(frozen=True, eq=False)
class ContrastDraws:
    """Observed contrasts by period and their draws, chain after chain.

    `word_contrasts` are those of single words, not shrunk. `population` and `these_words` are the contrasts of all
    words; `groups` has the shape (draws, periods, groups), `words` (draws, periods, words). `observed_groups` (periods,
    groups) are differences of averages; `group_places` are the positions of groups in the sample.
    """

    word_contrasts: WordContrasts
    population: OverallContrasts
    these_words: OverallContrasts
    groups: np.ndarray
    words: np.ndarray
    observed_groups: np.ndarray
    group_places: np.ndarray

    @property
    def observed_words(self) -> np.ndarray:
        """Differences of averages of each word, shape (periods, words)."""
        return self.word_contrasts.observed

    @property
    def word_places(self) -> np.ndarray:
        """Positions of the words in the sample."""
        return self.word_contrasts.places

    @property
    def observed(self) -> np.ndarray:
        """Observed contrasts of all words, groups weighing the same, shape (periods,)."""
        return self.these_words.observed

    def overall(self, scope: str) -> OverallContrasts:
        """Return the contrasts of all words in a scope."""
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
    """Return draws of the contrasts between two connections, given as positions in `sample.connections`.

    If the second is None, the contrasts are the mean distances to the first.

    The contrasts of these words are the observed contrasts, with the error of the attribute words. Single words are
    shrunk towards their group as far as its words agree. The contrast of words like these is the mean of these words
    plus Normal(0, d_g S_g / J_g) for each group, with S_g from `draw_word_variation` and the design effect d_g: given
    the vectors of these words, attribute words say no more about others.
    """
    estimate = draw_word_contrasts(sample, lists, *contrast, draws=draws, seed=seed)
    places = estimate.places
    group_places, group_of = np.unique(sample.group_of[places], return_inverse=True)
    to_group = np.eye(len(group_places))[group_of]
    to_group /= to_group.sum(axis=0)
    group_draws, observed_groups = estimate.draws @ to_group, estimate.observed @ to_group
    present = sample.protected_present[places]
    effects = sample.group_effects[group_places]
    variation = draw_word_variation(
        estimate.observed - observed_groups[:, group_of],
        ProtectedWords(present, group_of, effects),
        estimate.sampling,
        times,
        draws=draws,
        chains=chains,
        seed=seed,
    )
    errors = (estimate.errors @ to_group).mean(axis=2)
    these_words = OverallContrasts(
        observed_groups.mean(axis=1), errors, estimate.overall_freedom, estimate.quantiles, np.zeros_like(errors)
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
        word_contrasts=estimate,
        population=replace(these_words, word_errors=word_errors),
        these_words=these_words,
        groups=group_draws,
        words=group_draws[:, :, group_of] + variation.deviations,
        observed_groups=observed_groups,
        group_places=group_places,
    )


def _roots(covariances: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])
