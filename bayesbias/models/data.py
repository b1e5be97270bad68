"""A distance table as arrays, the input of every model and sampler."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.base.arrays import CONSTANT, ROUNDING
from bayesbias.base.number_text import counted
from bayesbias.errors import FitError
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.models.scales import COSINE, DISTANCE_ERROR, Scale, scale_of
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.codes import CodedTable, WordCodes, blocks, code_words, relabel
from bayesbias.tables.measures import COSINE_DISTANCE, Measure
from bayesbias.tables.schema import code_table, table_facts
from bayesbias.tables.word_worths import recorded_links

SIDES = ("associated", "different")
"""The connections that a group needs to be in contrasts."""
_LEAST_SPREAD = 1e-100  # whose square is above 0


@dataclass(frozen=True, eq=False)
class ModelData:
    """The rows of a distance table as codes and numbers.

    `distance` (rows,) are the numbers of the table's measure, float64, such as cosine distances, 0 to 2. `protected`,
    `connection` and `attribute` (rows,), int8 to int64, are positions in `protected_words`, `connections` and
    `attribute_words`; widen them before arithmetic. Words are in the order of the table, connections in that of the
    schema. `protected_groups` is the group of each protected word, `table_hash` the hash of the rows.
    `attribute_groups` is the list of each attribute word, several names joined by " + "; None for artificial studies,
    where words with the same connections form a list. `covariates` (protected words, covariates) are numbers of the
    protected words, and `covariate_names` their names, of which those of `percent_covariates` are percentages;
    `covariates_source` is their file, then the name of its column of words, empty for the usual one, and the columns
    that were chosen. `protected_links` and `attribute_links` are the words of a list that depend on each other; None if
    the table has no record of them. `scale` leads from numbers of another measure to cosine distances, in whose unit
    the bundled priors are; `measure` is what the numbers measure.
    """

    distance: np.ndarray
    protected: np.ndarray
    connection: np.ndarray
    attribute: np.ndarray
    protected_words: np.ndarray
    protected_groups: np.ndarray
    attribute_words: np.ndarray
    connections: tuple[str, ...]
    table_hash: str
    attribute_groups: np.ndarray | None = None
    covariates: np.ndarray | None = None
    covariate_names: tuple[str, ...] = ()
    percent_covariates: tuple[str, ...] = ()
    covariates_source: tuple[str, ...] = ()
    protected_links: LinkedWords | None = None
    attribute_links: LinkedWords | None = None
    scale: Scale = COSINE
    measure: Measure = COSINE_DISTANCE

    @property
    def distance_error(self) -> float:
        """The error within which the numbers are known, in the unit of the table."""
        return DISTANCE_ERROR * self.scale.unit

    @cached_property
    def pair_counts(self) -> np.ndarray:
        """Number of rows, shape (protected words, connections), read-only."""
        shape = len(self.protected_words), len(self.connections)
        counts = np.zeros(shape[0] * shape[1], dtype=np.int64)
        for rows in blocks(len(self.distance)):
            counts += np.bincount(self.cells(rows), minlength=counts.size)
        return counts.reshape(shape)

    @cached_property
    def compared(self) -> np.ndarray:
        """Whether each protected word is of a group that contrasts average over, shape (protected words,), read-only.

        Its group has both associated and different pairs, or those of the two that the table has. If no group has, all
        groups are compared.
        """
        return compared_words(self.pair_counts > 0, self.protected_groups, self.connections)

    def cells(self, rows: slice) -> np.ndarray:
        """Return the cells of some rows: protected word * connections + connection."""
        cells: np.ndarray = self.protected[rows].astype(np.int64) * len(self.connections) + self.connection[rows]
        return cells


def model_data(table: pd.DataFrame) -> ModelData:
    """Return a validated distance table as `ModelData`.

    Raises a `TableError` if the table breaks the schema, and a `FitError` if it repeats pairs that were not kept on
    purpose.
    """
    if not isinstance(table, pd.DataFrame):
        raise FitError(
            f"A distance table is a pandas DataFrame, not {type(table).__name__}. Make one with "
            "bb.distance_table or bb.read_table."
        )
    facts = table_facts(table)
    duplicates_kept = facts.get("duplicates", {}).get("policy") == "keep"
    coded = code_table(table)
    repeated = coded.repeated_pairs()
    if repeated and not duplicates_kept:
        raise FitError(
            f"Of {counted(len(table), 'row')}, {counted(repeated, 'repeats', 'repeat')} a pair, so that the same "
            "evidence would count twice. Use table.drop_duplicates(['protected_word', 'attribute_word']), or read the "
            "table with "
            "duplicates='keep' to reproduce a result that counted them."
        )
    _raise_if_all_equal(coded)
    protected, attribute = (coded.words[name].by_appearance() for name in ("protected_word", "attribute_word"))
    present = np.flatnonzero(coded.words["connection"].counts)
    position = np.zeros(len(CONNECTIONS), dtype=np.int64)
    position[present] = np.arange(len(present))
    protected_words = np.asarray(protected.words, dtype=str)
    attribute_words, lists_of_words = np.asarray(attribute.words, dtype=str), _lists_of(table, attribute)
    groups_of_words = _groups_of(protected, coded.words["protected_group"])
    return ModelData(
        # A copy: the user may change the table in place, but the fit keeps these numbers.
        distance=coded.distance.copy(),
        protected=protected.codes,
        connection=relabel(coded.words["connection"].codes, position, np.dtype(np.int8)),
        attribute=attribute.codes,
        protected_words=protected_words,
        protected_groups=groups_of_words,
        attribute_words=attribute_words,
        connections=tuple(CONNECTIONS[code] for code in present),
        table_hash=coded.hash(),
        attribute_groups=lists_of_words,
        protected_links=recorded_links(facts, "protected", protected_words, groups_of_words),
        attribute_links=recorded_links(facts, "attribute", attribute_words, lists_of_words),
        scale=COSINE if coded.measure.is_bounded else _scale_of(coded, protected, groups_of_words, attribute),
        measure=coded.measure,
    )


def _scale_of(table: CodedTable, protected: WordCodes, group_of: np.ndarray, attribute: WordCodes) -> Scale:
    groups = np.unique(group_of, return_inverse=True)[1]
    return scale_of(table.distance, groups[protected.codes], attribute.codes)


def _lists_of(table: pd.DataFrame, attribute: WordCodes) -> np.ndarray:
    """Return the name of the list of each attribute word; without lists, connections stand for them."""
    names = code_words(table["attribute_group" if "attribute_group" in table else "connection"]).by_appearance()
    return joined_names(attribute.codes, names.codes, np.asarray(names.words, dtype=str), len(attribute.words))


def joined_names(words: np.ndarray, lists: np.ndarray, names: np.ndarray, count: int) -> np.ndarray:
    """Return the name of the list of each of `count` words, from the word and the list of each row.

    >>> joined_names(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array(["young", "old"]), 2).tolist()
    ['young', 'young + old']
    """
    pairs = np.unique(words.astype(np.int64) * len(names) + lists)
    parts: list[list[str]] = [[] for _ in range(count)]
    for word, name in zip(pairs // len(names), pairs % len(names), strict=True):
        parts[word].append(str(names[name]))
    return np.array([" + ".join(part) for part in parts])


def _groups_of(words: WordCodes, groups: WordCodes) -> np.ndarray:
    group_of = np.zeros(len(words.words), dtype=np.int64)
    for rows in blocks(len(words.codes)):
        group_of[words.codes[rows]] = groups.codes[rows]
    return np.asarray(groups.words[group_of], dtype=str)


def _raise_if_all_equal(table: CodedTable) -> None:
    connection = table.words["connection"]
    rounding = ROUNDING
    if not table.measure.is_bounded:  # numbers in any unit
        rounding = max(_LEAST_SPREAD, CONSTANT * float(np.abs(table.distance).max()))
    for code in np.flatnonzero(connection.counts > 1):
        least, most = np.inf, -np.inf
        for rows in blocks(len(table.distance)):
            distances = table.distance[rows][connection.codes[rows] == code]
            if len(distances):
                least, most = min(least, float(distances.min())), max(most, float(distances.max()))
            if most - least > rounding:
                break
        else:
            raise FitError(
                f"All {connection.counts[code]:,} distances of the connection {CONNECTIONS[code]!r} are "
                f"{least:g}{'' if most == least else ', except for rounding'}: they do not show how distances vary, so "
                "no model can be fitted. Check how the table was made."
            )


def list_kinds(data: ModelData) -> tuple[str, ...]:
    """Return the kinds of attribute lists in the rows: stereotype, human, neutral."""
    return tuple(dict.fromkeys(list_kind(name) for name in data.connections))


def attribute_lists(data: ModelData) -> np.ndarray:
    """Return the position in `list_kinds` of each attribute word.

    Raises a `FitError` if a word is in lists of two kinds.
    """
    names = list_kinds(data)
    of_row = np.array([names.index(list_kind(name)) for name in data.connections])[data.connection]
    lists = np.zeros(len(data.attribute_words), dtype=np.int64)
    lists[data.attribute] = of_row
    mixed = np.unique(data.attribute[lists[data.attribute] != of_row])
    if len(mixed):
        raise FitError(
            f"The attribute word {str(data.attribute_words[mixed[0]])!r} is in several lists, so that it has no single "
            "attribute_sd. Leave it in one list, or use the model 'crossed'."
        )
    return lists


def list_kind(connection: str) -> str:
    """Return the kind of attribute lists of a connection.

    >>> list_kind("different"), list_kind("human")
    ('stereotype', 'human')
    """
    return "stereotype" if connection in ("associated", "different") else connection


def subset(data: ModelData, keep: np.ndarray) -> ModelData:
    """Return some rows of a table, at least one, without the words and connections that have none of them.

    Equal to `model_data` of the reduced table, without its checks; `table_hash` is that of the whole table, followed by
    a hash of `keep`, an array of bool of shape (rows,).
    """
    protected, protected_left = pd.factorize(data.protected[keep])
    attribute, attribute_left = pd.factorize(data.attribute[keep])
    left, connection = np.unique(data.connection[keep], return_inverse=True)
    digest = hashlib.sha256(np.packbits(keep).tobytes()).hexdigest()[:16]
    return ModelData(
        distance=data.distance[keep],
        protected=protected.astype(np.int64),
        connection=connection.astype(np.int64),
        attribute=attribute.astype(np.int64),
        protected_words=data.protected_words[protected_left],
        protected_groups=data.protected_groups[protected_left],
        attribute_words=data.attribute_words[attribute_left],
        connections=tuple(data.connections[place] for place in left),
        table_hash=f"{data.table_hash}-{digest}",
        attribute_groups=None if data.attribute_groups is None else data.attribute_groups[attribute_left],
        covariates=None if data.covariates is None else data.covariates[protected_left],
        covariate_names=data.covariate_names,
        percent_covariates=data.percent_covariates,
        covariates_source=data.covariates_source,
        protected_links=None if data.protected_links is None else data.protected_links.keep(protected_left),
        attribute_links=None if data.attribute_links is None else data.attribute_links.keep(attribute_left),
        scale=data.scale,
        measure=data.measure,
    )


def compared_words(measured: np.ndarray, groups: np.ndarray, connections: Sequence[str]) -> np.ndarray:
    """Return whether each word is compared, as `ModelData.compared`, given which connections it has pairs of.

    `measured` has shape (words, connections), `groups` (words,).
    """
    sides = [place for place, name in enumerate(connections) if name in SIDES]
    names, group_of = np.unique(groups, return_inverse=True)
    of_groups = np.zeros((len(names), len(sides)), dtype=bool)
    np.logical_or.at(of_groups, group_of, measured[:, sides])
    whole = of_groups.all(axis=1)
    return np.asarray((whole if whole.any() else np.ones(len(names), dtype=bool))[group_of])


def compared_part(data: ModelData) -> ModelData:
    """Return the rows of the groups that are compared, as a part of the same table, with its hash.

    Models of rows have one mean for each connection: a group that lacks a side would get the missing one from other
    groups, and move what is estimated for them.
    """
    if data.compared.all():
        return data
    return replace(subset(data, data.compared[data.protected]), table_hash=data.table_hash)


def groups_not_compared(data: ModelData) -> dict[str, str]:
    """Return the side that each group lacks which is in no contrast, as in "no associated list"."""
    return lacking_sides(data.compared, data.pair_counts > 0, data.protected_groups, data.connections)


def lacking_sides(
    compared: np.ndarray, measured: np.ndarray, groups: np.ndarray, connections: tuple[str, ...]
) -> dict[str, str]:
    """Return what each group of words that are not compared lacks.

    `compared` and `groups` have shape (words,), `measured` (words, connections).

    >>> measured = np.array([[True, True], [False, True]])
    >>> lacking_sides(np.array([True, False]), measured, np.array(["jew", "muslim"]), ("associated", "different"))
    {'muslim': 'no associated list'}
    """
    names, group_of = np.unique(groups, return_inverse=True)
    of_groups = np.zeros((len(names), len(connections)), dtype=bool)
    np.logical_or.at(of_groups, group_of, measured)
    has, lacking = dict(zip(names.tolist(), of_groups.tolist(), strict=True)), {}
    for group in dict.fromkeys(groups[~compared].tolist()):
        sides = [name for name, is_there in zip(connections, has[group], strict=True) if name in SIDES and not is_there]
        lacking[str(group)] = f"no {' and no '.join(sides)} list"
    return lacking


def study_data(connection: np.ndarray, protected_groups: np.ndarray, connections: tuple[str, ...]) -> ModelData:
    """Return the pairs of a study of artificial words; its distances, all 0, are to be replaced.

    `connection` (protected words, attribute words) is the position in `connections` of each pair; -1 for a missing one.

    >>> study_data(np.array([[0, 1], [1, -1]]), np.array(["X", "Y"]), ("associated", "different")).attribute
    array([0, 1, 0])
    """
    protected, attribute = np.nonzero(connection >= 0)
    words, attributes = connection.shape
    return ModelData(
        distance=np.zeros(len(protected)),
        protected=protected,
        connection=connection[protected, attribute],
        attribute=attribute,
        protected_words=np.array([f"p{word}" for word in range(words)]),
        protected_groups=protected_groups,
        attribute_words=np.array([f"a{word}" for word in range(attributes)]),
        connections=connections,
        table_hash="simulated",
        protected_links=LinkedWords.none(words),
        attribute_links=LinkedWords.none(attributes),
    )
