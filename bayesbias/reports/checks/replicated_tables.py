"""Tables replicated from a posterior: their test statistics and histograms."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from bayesbias.base.progress import with_progress
from bayesbias.models.data import ModelData
from bayesbias.models.likelihood import Densities

if TYPE_CHECKING:
    import pandas as pd


JOINT = "words and connections together"
_SMALL = 1e-12
# Most products of two words' residuals that are held in memory at once.
_PRODUCTS_A_BLOCK = 4_000_000
ALL = "all"
STATISTICS = ("mean", "sd", "skewness", "kurtosis", "smallest", "largest", "sd of attribute words")
TAILS = (0.055, 0.945)
_BINS = 40
_NUMBERS_A_BLOCK = 2_000_000
# Most distances that are drawn: large tables are replicated less often.
_MOST_DRAWN = 200_000_000
_FEWEST = 200


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
        pieces = min(len(distances), 1 + len(distances) * self._words**2 // _PRODUCTS_A_BLOCK)
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
                statistics["sd of the words' contrasts"] = (first - second).std(axis=1, ddof=1)
            if measured.sum() >= 3:
                first, second = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
                norms = np.sqrt(np.square(first).sum(axis=1) * np.square(second).sum(axis=1))
                statistics["correlation of associated and different means"] = (first * second).sum(axis=1) / np.maximum(
                    norms, _SMALL
                )
        return statistics


def noise(posterior: Densities, draws: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return noise of the likelihood in units of its scale, shape (draws, count).

    Each column is a shuffled set of evenly spaced quantiles, so quantiles of predictions hardly depend on chance.
    """
    even_levels = (np.arange(len(draws)) + 0.5) / len(draws)
    levels = rng.permuted(np.tile(even_levels[:, None], count), axis=0)
    return np.asarray(ndtri(levels) if posterior.row_nu is None else stdtrit(posterior.row_nu[draws, None], levels))


def replicate(
    posterior: Densities, rng: np.random.Generator, *, progress: bool = False
) -> "tuple[pd.DataFrame, pd.DataFrame, int]":
    """Return test statistics and histograms of observed and replicated distances, and the number of replicates."""
    import pandas as pd

    layout = _Layout(posterior)
    replicates = min(posterior.draws, max(_FEWEST, _MOST_DRAWN // len(posterior.data.distance)))
    observed = layout.statistics(layout.distance[None, :])
    statistic_parts: list[dict[tuple[str, str], np.ndarray]] = []
    counts: list[dict[str, np.ndarray]] = []
    for distances in replicated_distances(posterior, layout.order, replicates, rng, progress=progress):
        statistic_parts.append(layout.statistics(distances))
        counts.append(layout.histograms(distances))
    records = []
    for (connection, statistic), value in observed.items():
        replicated = np.concatenate([part[connection, statistic] for part in statistic_parts])
        # Ties count half: a statistic that is 0 in every table says nothing.
        larger = float((replicated > value[0]).sum() + (replicated == value[0]).sum() / 2)
        low, high = np.quantile(replicated, TAILS)
        records.append(
            {
                "connection": connection,
                "statistic": statistic,
                "observed": value[0],
                "low": low,
                "high": high,
                "p_value": larger / replicates,
                # Sd of a Beta posterior, which is not 0 if no replicate is larger, or all are.
                "p_value_se": np.sqrt((larger + 1) * (replicates - larger + 1) / (replicates + 3)) / (replicates + 2),
            }
        )
    frames = []
    for connection, actual in layout.histograms(layout.distance[None, :]).items():
        density = np.concatenate([part[connection] for part in counts])
        low, high = np.quantile(density, TAILS, axis=0)
        frames.append(
            pd.DataFrame(
                {
                    "connection": connection,
                    "distance": (layout.edges[1:] + layout.edges[:-1]) / 2,
                    "observed": actual[0],
                    "replicated": density.mean(axis=0),
                    "low": low,
                    "high": high,
                }
            )
        )
    return pd.DataFrame(records), pd.concat(frames, ignore_index=True), replicates


def replicated_distances(
    posterior: Densities, order: np.ndarray, replicates: int, rng: np.random.Generator, *, progress: bool = False
) -> Iterator[np.ndarray]:
    """Yield blocks of replicated tables, shape (replicates, rows in the given order), each from a draw of its own."""
    draws = np.linspace(0, posterior.draws - 1, replicates).astype(int)
    blocks = np.array_split(draws, min(replicates, max(1, replicates * len(order) // _NUMBERS_A_BLOCK)))
    for block in with_progress(blocks, "Replicating tables", progress=progress):
        yield posterior.replicate(block, order, rng)


class _Layout:
    """Rows of a table sorted by connection and attribute word, for statistics by connection and over all pairs."""

    def __init__(self, posterior: Densities) -> None:
        data = posterior.data
        self.order = np.lexsort((data.attribute, data.connection))
        self.distance = data.distance[self.order]
        connection, attribute = data.connection[self.order], data.attribute[self.order]
        bounds = np.searchsorted(connection, np.arange(len(data.connections) + 1))
        self.parts = {ALL: slice(0, len(connection))}
        self.starts: dict[str, np.ndarray] = {}
        for place, name in enumerate(data.connections):
            part = slice(bounds[place], bounds[place + 1])
            self.parts[name] = part
            words = attribute[part]
            self.starts[name] = np.flatnonzero(np.r_[True, words[1:] != words[:-1]])
        low, high = self.distance.min(), self.distance.max()
        margin = (high - low) / 4 or 0.1
        self.edges = np.linspace(low - margin, high + margin, _BINS + 1)
        self._joint = JointStatistics(data, self.order)

    def statistics(self, distances: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        """Return each statistic that a part has enough rows for, shape (replicates,)."""
        values_by_name = {}
        for name, part in self.parts.items():
            values = distances[:, part]
            rows = values.shape[1]
            mean = values.mean(axis=1)
            values_by_name[name, "mean"] = mean
            deviation = values - mean[:, None]
            square = deviation**2
            variance = square.mean(axis=1)
            if rows >= 2:
                values_by_name[name, "sd"] = np.sqrt(variance * rows / (rows - 1))
            if rows >= 3:
                values_by_name[name, "skewness"] = np.einsum("ij,ij->i", square, deviation) / rows / variance**1.5
            if rows >= 4:
                values_by_name[name, "kurtosis"] = np.einsum("ij,ij->i", square, square) / rows / variance**2 - 3
            values_by_name[name, "smallest"], values_by_name[name, "largest"] = values.min(axis=1), values.max(axis=1)
            starts = self.starts.get(name, np.empty(0))
            if len(starts) >= 2:
                word_means = np.add.reduceat(values, starts, axis=1) / np.diff(np.r_[starts, rows])
                values_by_name[name, "sd of attribute words"] = word_means.std(axis=1, ddof=1)
        return values_by_name | {(JOINT, name): values for name, values in self._joint(distances).items()}

    def histograms(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        """Return the density in each bin, shape (replicates, bins); distances beyond the edges have no bin."""
        width = self.edges[1] - self.edges[0]
        bins = np.floor((distances - self.edges[0]) / width).clip(-1, _BINS).astype(np.int64) + 1
        bins += np.arange(len(bins))[:, None] * (_BINS + 2)
        densities = {}
        for name, part in self.parts.items():
            part_bins = bins[:, part]
            counts = np.bincount(part_bins.ravel(), minlength=len(bins) * (_BINS + 2)).reshape(len(bins), -1)
            densities[name] = counts[:, 1:-1] / (part_bins.shape[1] * width)
        return densities
