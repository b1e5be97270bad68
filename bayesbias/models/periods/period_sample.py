"""Distance tables of several periods as one sample: attribute words, protected words and periods."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesbias.base.number_text import counted
from bayesbias.errors import TableError, name_some
from bayesbias.estimates.dependence import Links
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    design_effects,
    known_links,
)
from bayesbias.models.periods.panel import fill_words, is_connected, sole_links
from bayesbias.tables.effective_words import recorded_links
from bayesbias.tables.schema import table_facts

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
    `protected_links` are the links between protected words by period.
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
    protected_links: tuple[Links, ...] = ()

    def __post_init__(self) -> None:
        for name, lists in (("list_effects", self.lists), ("group_effects", self.groups)):
            if getattr(self, name) is None:  # words are independent
                object.__setattr__(self, name, np.ones(len(lists)))
        if not self.protected_links:
            object.__setattr__(self, "protected_links", (Links.none(len(self.group_of)),) * len(self.periods))


def period_sample(tables: Mapping[str, pd.DataFrame]) -> PeriodSample:
    """Return valid distance tables by period as one sample; the connections of a pair are the same in all of them.

    Raises `TableError` if a period has a word but not all of its pairs, or too few words in common with others.
    """
    every = pd.concat(tables.values(), ignore_index=True)
    union = every.drop_duplicates(_PAIR, ignore_index=True)
    union.attrs = {}
    data = model_data(union)
    sample = attribute_sample(data)
    rows = {"protected_word": data.protected_words.tolist(), "attribute_word": data.attribute_words.tolist()}
    distances = np.stack([_matrix(table, rows) for table in tables.values()])
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
    )


def _dependence(
    table: pd.DataFrame, distances: np.ndarray, data: ModelData, sample: AttributeSample
) -> tuple[np.ndarray, np.ndarray, Links]:
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


def _matrix(table: pd.DataFrame, rows: Mapping[str, list[str]]) -> np.ndarray:
    """Return the distances of a table, shape (attribute words, protected words), NaN for pairs that it lacks."""
    matrix = np.full((len(rows["attribute_word"]), len(rows["protected_word"])), np.nan)
    places = [
        pd.Index(rows[name]).get_indexer(pd.Index(table[name].astype(str)))
        for name in ("attribute_word", "protected_word")
    ]
    matrix[places[0], places[1]] = table["cosine_distance"].to_numpy()
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
