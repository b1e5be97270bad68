"""A distance table as arrays, the form in which every model and sampler takes it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesbias.errors import FitError
from bayesbias.studies import CONNECTIONS
from bayesbias.tables.schema import ATTRS_KEY, table_hash, validate_table


@dataclass(frozen=True, eq=False)
class ModelData:
    """The rows of a distance table as codes and numbers.

    Parameters
    ----------
    distance : array of float64, shape (rows,)
        Cosine distances, 0 to 2.
    protected, connection, attribute : arrays of int64, shape (rows,)
        Positions in `protected_words`, `connections` and `attribute_words`.
    protected_words, attribute_words : arrays of str
        Distinct words, in the order of the table.
    protected_groups : array of str, shape (protected words,)
        Group of each protected word.
    connections : tuple of str
        Those that the table holds, in the order of the schema.
    table_hash : str
        Hash of the rows.
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

    @property
    def pair_counts(self) -> np.ndarray:
        """Number of rows, shape (protected words, connections)."""
        counts = np.zeros((len(self.protected_words), len(self.connections)), dtype=np.int64)
        np.add.at(counts, (self.protected, self.connection), 1)
        return counts


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
    kept = table.attrs.get(ATTRS_KEY, {}).get("duplicates", {}).get("policy") == "keep"
    table = validate_table(table)
    repeated = int(table.duplicated(["protected_word", "attribute_word"]).sum())
    if repeated and not kept:
        raise FitError(
            f"{repeated:,} of {len(table):,} rows repeat a pair, so the same evidence would count twice. Use "
            "table.drop_duplicates(['protected_word', 'attribute_word']), or read the table with "
            "duplicates='keep' to reproduce a result that counted them."
        )
    _raise_if_all_equal(table)
    words = {name: np.asarray(table[name], dtype=str) for name in ("protected_word", "attribute_word")}
    protected, protected_words = pd.factorize(words["protected_word"])
    attribute, attribute_words = pd.factorize(words["attribute_word"])
    first = np.unique(protected, return_index=True)[1]
    present = tuple(name for name in CONNECTIONS if (table["connection"] == name).any())
    position = {CONNECTIONS.index(name): place for place, name in enumerate(present)}
    codes = table["connection"].cat.codes.map(position)
    return ModelData(
        distance=table["cosine_distance"].to_numpy(dtype=np.float64),
        protected=protected.astype(np.int64),
        connection=codes.to_numpy(dtype=np.int64),
        attribute=attribute.astype(np.int64),
        protected_words=protected_words,
        protected_groups=np.asarray(table["protected_group"], dtype=str)[first],
        attribute_words=attribute_words,
        connections=present,
        table_hash=table_hash(table),
    )


def _raise_if_all_equal(table: pd.DataFrame) -> None:
    spread = table.groupby("connection", observed=True)["cosine_distance"].agg(["min", "max", "size"])
    equal = spread[(spread["min"] == spread["max"]) & (spread["size"] > 1)]
    if len(equal):
        raise FitError(
            f"All {equal['size'].iloc[0]:,} distances of the connection {equal.index[0]!r} are "
            f"{equal['min'].iloc[0]:g}: they do not tell how distances vary, so no model can be fitted. Check how "
            "the table was made."
        )


def list_names(data: ModelData) -> tuple[str, ...]:
    """Return the kinds of attribute lists that the rows come from: stereotype, human, neutral."""
    return tuple(dict.fromkeys(_kind(name) for name in data.connections))


def attribute_lists(data: ModelData) -> np.ndarray:
    """Return the position in `list_names` of each attribute word.

    Raises
    ------
    FitError
        If a word stands in lists of two kinds.
    """
    names = list_names(data)
    of_row = np.array([names.index(_kind(name)) for name in data.connections])[data.connection]
    lists = np.zeros(len(data.attribute_words), dtype=np.int64)
    lists[data.attribute] = of_row
    mixed = np.unique(data.attribute[lists[data.attribute] != of_row])
    if len(mixed):
        raise FitError(
            f"The attribute word {data.attribute_words[mixed[0]]!r} stands in several lists, so it has no one "
            "attribute_sd. Leave it in one list, or use the model 'crossed'."
        )
    return lists


def _kind(connection: str) -> str:
    return "stereotype" if connection in ("associated", "different") else connection
