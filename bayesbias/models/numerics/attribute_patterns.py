"""Sufficient statistics of a table for the crossed models; attribute words with the same rows share them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias.models.data import ModelData, attribute_lists
from bayesbias.models.spec import ModelSpec

# With more patterns, as from rows missing at random, collapsing gains nothing.
MOST_PATTERNS = 60


@dataclass(frozen=True, eq=False)
class AttributePatterns:
    """A table's sufficient statistics for the crossed models. Distances are counted from the prior mean m0.

    A cell is protected word * connections + connection. `rows` and `mean` (cells,) are number and mean of its rows,
    `within` (connections,) the sum of squares around the cell means. Attribute words with the same rows in every cell
    form a pattern: `pattern` (attributes,) is that of each, `usage` (cells, patterns) the rows of one attribute word,
    `members` (patterns,) the number of attribute words, `list_of` (patterns,) the position of its attribute_sd.
    `residual` (attributes, connections) is each attribute word's sum of distances minus cell means, by connection.
    """

    words: int
    connections: int
    rows: np.ndarray
    mean: np.ndarray
    within: np.ndarray
    usage: np.ndarray
    members: np.ndarray
    pattern: np.ndarray
    list_of: np.ndarray
    residual: np.ndarray

    @cached_property
    def connection(self) -> np.ndarray:
        """Connection of each cell."""
        return np.tile(np.arange(self.connections), self.words)

    @cached_property
    def is_connection(self) -> np.ndarray:
        """1.0 where a cell has a connection, 0.0 elsewhere: shape (cells, connections)."""
        return np.asarray(np.eye(self.connections)[self.connection])

    @cached_property
    def totals(self) -> np.ndarray:
        """Rows of each connection."""
        return np.asarray(self.rows @ self.is_connection)

    @cached_property
    def usage_by_connection(self) -> np.ndarray:
        """Rows of one attribute of each pattern: shape (patterns, connections)."""
        return np.asarray(self.usage.T @ self.is_connection)

    @cached_property
    def usage_pairs(self) -> np.ndarray:
        """Products of the usage of two patterns: shape (cells, patterns * patterns)."""
        return np.asarray(np.einsum("cp,cq->cpq", self.usage, self.usage).reshape(len(self.usage), -1))

    @cached_property
    def usage_cells(self) -> np.ndarray:
        """Usage, split by connection: shape (cells, patterns * connections)."""
        return np.asarray(np.einsum("cp,cg->cpg", self.usage, self.is_connection).reshape(len(self.usage), -1))

    @cached_property
    def residual_sum(self) -> np.ndarray:
        """Sum of `residual` over a pattern's attributes: shape (patterns, connections)."""
        total = np.zeros((len(self.members), self.connections))
        np.add.at(total, self.pattern, self.residual)
        return total

    @cached_property
    def residual_products(self) -> np.ndarray:
        """Sum of outer products of `residual`: shape (patterns, connections, connections)."""
        total = np.zeros((len(self.members), self.connections, self.connections))
        np.add.at(total, self.pattern, self.residual[:, :, None] * self.residual[:, None, :])
        return total


def find_patterns(data: ModelData, spec: ModelSpec) -> AttributePatterns:
    """Return the sufficient statistics of a table for the crossed models."""
    words, connections = len(data.protected_words), len(data.connections)
    cells, attributes = words * connections, len(data.attribute_words)
    cell = data.protected.astype(np.int64) * connections + data.connection
    distance = data.distance - spec.priors["connection_mean"].parameters["mu"]
    rows = np.bincount(cell, minlength=cells)
    mean = np.bincount(cell, distance, cells) / np.maximum(rows, 1)
    residual = distance - mean[cell]
    by_attribute = data.attribute.astype(np.int64) * connections + data.connection
    per_list = spec.switches["attribute_effects"] == "per_list"
    lists = attribute_lists(data) if per_list else np.zeros(attributes, dtype=np.int64)

    # Attribute words with the same cells have the same sum of random 64-bit numbers, one per cell; others do not.
    rng = np.random.default_rng(20261120)
    keys = np.zeros((3, attributes), dtype=np.uint64)
    keys[2] = lists
    for key in keys[:2]:
        np.add.at(key, data.attribute, rng.integers(0, 2**63, cells, dtype=np.uint64)[cell])
    _, first, pattern = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    pattern = pattern.reshape(-1)
    usage = np.zeros((cells, len(first)))
    if len(first) <= MOST_PATTERNS:
        of_first = np.isin(data.attribute, first)
        np.add.at(usage, (cell[of_first], pattern[data.attribute[of_first]]), 1.0)
    return AttributePatterns(
        words=words,
        connections=connections,
        rows=rows.astype(float),
        mean=mean,
        within=np.bincount(data.connection, residual * residual, connections),
        usage=usage,
        members=np.bincount(pattern, minlength=len(first)).astype(float),
        pattern=pattern,
        list_of=lists[first],
        residual=np.bincount(by_attribute, residual, attributes * connections).reshape(attributes, connections),
    )
