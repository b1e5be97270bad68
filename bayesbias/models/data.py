"""A distance table as arrays, the form in which every model and sampler takes it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.errors import FitError
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.codes import CodedTable, WordCodes, blocks, code_words, relabel
from bayesbias.tables.schema import code_table, table_facts


@dataclass(frozen=True, eq=False)
class ModelData:
    """The rows of a distance table as codes and numbers.

    Parameters
    ----------
    distance : array of float64, shape (rows,)
        Cosine distances, 0 to 2.
    protected, connection, attribute : arrays of int8 to int64, shape (rows,)
        Positions in `protected_words`, `connections` and `attribute_words`; widen them before arithmetic.
    protected_words, attribute_words : arrays of str
        Distinct words, in the order of the table.
    protected_groups : array of str, shape (protected words,)
        Group of each protected word.
    connections : tuple of str
        Those that the table holds, in the order of the schema.
    table_hash : str
        Hash of the rows.
    attribute_groups : array of str, shape (attribute words,), optional
        List of each attribute word, its lists' names joined by " + " if it has several. None for made-up studies, where
        words with the same connections are a list.
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

    @cached_property
    def pair_counts(self) -> np.ndarray:
        """Number of rows, shape (protected words, connections); not to be changed."""
        shape = len(self.protected_words), len(self.connections)
        counts = np.zeros(shape[0] * shape[1], dtype=np.int64)
        for rows in blocks(len(self.distance)):
            counts += np.bincount(self.cells(rows), minlength=counts.size)
        return counts.reshape(shape)

    def cells(self, rows: slice) -> np.ndarray:
        """Return the cell of some rows: protected word * connections + connection."""
        cells: np.ndarray = self.protected[rows].astype(np.int64) * len(self.connections) + self.connection[rows]
        return cells


def model_data(table: pd.DataFrame) -> ModelData:
    """Return a validated distance table as `ModelData`.

    Raises
    ------
    TableError
        If the table breaks the schema.
    FitError
        If it repeats pairs that were not kept on purpose.
    """
    if not isinstance(table, pd.DataFrame):
        raise FitError(
            f"A distance table is a pandas DataFrame, not {type(table).__name__}. Make one with "
            "bb.distance_table or bb.read_table."
        )
    kept = table_facts(table).get("duplicates", {}).get("policy") == "keep"
    coded = code_table(table)
    repeated = coded.repeated_pairs()
    if repeated and not kept:
        raise FitError(
            f"{repeated:,} of {len(table):,} rows repeat a pair, so the same evidence would count twice. Use "
            "table.drop_duplicates(['protected_word', 'attribute_word']), or read the table with "
            "duplicates='keep' to reproduce a result that counted them."
        )
    _raise_if_all_equal(coded)
    protected, attribute = (coded.words[name].by_appearance() for name in ("protected_word", "attribute_word"))
    present = np.flatnonzero(coded.words["connection"].counts)
    position = np.zeros(len(CONNECTIONS), dtype=np.int64)
    position[present] = np.arange(len(present))
    return ModelData(
        # The user may change the table in place, and the fit keeps these numbers.
        distance=coded.distance.copy(),
        protected=protected.codes,
        connection=relabel(coded.words["connection"].codes, position, np.dtype(np.int8)),
        attribute=attribute.codes,
        protected_words=np.asarray(protected.words, dtype=str),
        protected_groups=_groups_of(protected, coded.words["protected_group"]),
        attribute_words=np.asarray(attribute.words, dtype=str),
        connections=tuple(CONNECTIONS[at] for at in present),
        table_hash=coded.hash(),
        attribute_groups=_lists_of(table, attribute),
    )


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
    """Return the group of each word."""
    group_of = np.zeros(len(words.words), dtype=np.int64)
    for rows in blocks(len(words.codes)):
        group_of[words.codes[rows]] = groups.codes[rows]
    return np.asarray(groups.words[group_of], dtype=str)


# Distances that differ by no more than this are equal but for rounding.
_ROUNDING = 1e-9


def _raise_if_all_equal(table: CodedTable) -> None:
    connection = table.words["connection"]
    for at in np.flatnonzero(connection.counts > 1):
        least, most = np.inf, -np.inf
        for rows in blocks(len(table.distance)):
            distances = table.distance[rows][connection.codes[rows] == at]
            if len(distances):
                least, most = min(least, float(distances.min())), max(most, float(distances.max()))
            if most - least > _ROUNDING:
                break
        else:
            raise FitError(
                f"All {connection.counts[at]:,} distances of the connection {CONNECTIONS[at]!r} are "
                f"{least:g}{'' if most == least else ', but for rounding'}: they do not show how distances vary, so no "
                "model can be fitted. Check how the table was made."
            )


def list_names(data: ModelData) -> tuple[str, ...]:
    """Return the kinds of attribute lists that the rows come from: stereotype, human, neutral."""
    return tuple(dict.fromkeys(list_kind(name) for name in data.connections))


def attribute_lists(data: ModelData) -> np.ndarray:
    """Return the position in `list_names` of each attribute word.

    Raises
    ------
    FitError
        If a word is in lists of two kinds.
    """
    names = list_names(data)
    of_row = np.array([names.index(list_kind(name)) for name in data.connections])[data.connection]
    lists = np.zeros(len(data.attribute_words), dtype=np.int64)
    lists[data.attribute] = of_row
    mixed = np.unique(data.attribute[lists[data.attribute] != of_row])
    if len(mixed):
        raise FitError(
            f"The attribute word {str(data.attribute_words[mixed[0]])!r} is in several lists, so it has no one "
            "attribute_sd. Leave it in one list, or use the model 'crossed'."
        )
    return lists


def list_kind(connection: str) -> str:
    """Return the kind of attribute lists behind a connection.

    >>> list_kind("different"), list_kind("human")
    ('stereotype', 'human')
    """
    return "stereotype" if connection in ("associated", "different") else connection


def subset(data: ModelData, keep: np.ndarray) -> ModelData:
    """Return some rows of a table, at least one, without the words and connections that then have none.

    The same as `model_data` of the reduced table, without its checks; `table_hash` is that of the whole table, followed
    by a hash of `keep`, an array of bool of shape (rows,).
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
    )


def study_data(connection: np.ndarray, protected_groups: np.ndarray, connections: tuple[str, ...]) -> ModelData:
    """Return the pairs of a study of made-up words; its distances, all 0, are to be replaced.

    `connection`, of shape (protected words, attribute words), is the position in `connections` of each pair; -1 for one
    that the study does not have.

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
        protected_words=np.array([f"p{at}" for at in range(words)]),
        protected_groups=protected_groups,
        attribute_words=np.array([f"a{at}" for at in range(attributes)]),
        connections=connections,
        table_hash="simulated",
    )
