"""Test statistics of words and connections together, which statistics of single connections cannot replace."""

import numpy as np

from bayesbias.models.data import ModelData

JOINT = "words and connections together"
_SMALL = 1e-12
# Most products of two words' residuals that are held in memory at once.
_BLOCK = 4_000_000


class JointStatistics:
    """Statistics of many tables with the same pairs; `order` is the order of their rows.

    Residuals are distances minus the mean of their protected word and connection. Those of lost pairs are 0, in
    observed and in replicated tables alike.
    """

    def __init__(self, data: ModelData, order: np.ndarray) -> None:
        self._protected, self._attribute = data.protected[order].astype(np.int64), data.attribute[order]
        self._words, self._attributes = len(data.protected_words), len(data.attribute_words)
        self._connections = data.connections
        cell = self._protected * len(data.connections) + data.connection[order]
        self._sort = np.argsort(cell, kind="stable")
        self._cell = cell
        present, self._starts = np.unique(cell[self._sort], return_index=True)
        self._present = present
        self._sizes = np.diff(np.r_[self._starts, len(cell)])
        groups, group_of = np.unique(data.protected_groups, return_inverse=True)
        self._membership = np.eye(len(groups))[group_of] / np.bincount(group_of)

    def __call__(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        """Return each statistic, shape (tables,), of distances of shape (tables, rows)."""
        pieces = min(len(distances), 1 + len(distances) * self._words**2 // _BLOCK)
        parts = [self._of_tables(piece) for piece in np.array_split(distances, pieces)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _of_tables(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        tables, count = len(distances), self._words * len(self._connections)
        means = np.full((tables, count), np.nan)
        means[:, self._present] = np.add.reduceat(distances[:, self._sort], self._starts, axis=1) / self._sizes
        residual = np.zeros((tables, self._attributes, self._words))
        residual[:, self._attribute, self._protected] = distances - means[:, self._cell]
        statistics = self._of_means(means.reshape(tables, self._words, -1))
        effects = residual.mean(axis=2)
        spread = effects.std(axis=1)
        if self._attributes >= 3:
            statistics["outlying attribute word"] = np.abs(effects).max(axis=1) / np.maximum(spread, _SMALL)
        within = residual - effects[:, :, None]
        if self._words >= 3:
            products = within.transpose(0, 2, 1) @ within
            # A matrix times its transpose, in either order, has the same largest eigenvalue.
            smaller = products if self._words <= self._attributes else within @ within.transpose(0, 2, 1)
            statistics["share of a common factor"] = np.linalg.eigvalsh(smaller)[:, -1] / np.maximum(
                np.trace(products, axis1=1, axis2=2), _SMALL
            )
            sds = np.sqrt(np.maximum(np.diagonal(products, axis1=1, axis2=2), _SMALL))
            correlations = products / sds[:, :, None] / sds[:, None, :]
            correlations[:, np.arange(self._words), np.arange(self._words)] = 0.0
            statistics["largest residual correlation"] = correlations.max(axis=(1, 2))
        if 1 < self._membership.shape[1] < self._words:
            statistics["sd of attribute words by group"] = (within @ self._membership).std(axis=(1, 2))
        return statistics

    def _of_means(self, means: np.ndarray) -> dict[str, np.ndarray]:
        """Return the statistics of the means of words by connection, shape (tables, words, connections)."""
        statistics = {}
        if self._connections[:2] == ("associated", "different"):
            measured = ~np.isnan(means[0, :, :2]).any(axis=1)
            first, second = means[:, measured, 0], means[:, measured, 1]
            if measured.sum() >= 2:
                statistics["sd of the words' gaps"] = (first - second).std(axis=1, ddof=1)
            if measured.sum() >= 3:
                first, second = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
                norms = np.sqrt(np.square(first).sum(axis=1) * np.square(second).sum(axis=1))
                statistics["correlation of associated and different means"] = (first * second).sum(axis=1) / np.maximum(
                    norms, _SMALL
                )
        return statistics
