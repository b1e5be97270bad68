"""Log densities of rows and of whole attribute words under a posterior, and their PSIS cross-validation.

Given the word means m and the scales, the rows y of one attribute word j are jointly Normal once its effect
b_j ~ N(0, omega) is integrated out: covariance diag(sigma^2) + omega^2 11'. With w = 1 / sigma^2 and r = y - m,
Sherman and Morrison give

    log p(y_j) = sum log N(r | 0, sigma) - 1/2 log(1 + omega^2 sum w) + 1/2 (sum w r)^2 omega^2 / (1 + omega^2 sum w)

Since b_j is integrated out, one over this density is the weight that turns draws given all rows into draws given the
rows of all other attribute words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesbias.models.data import ModelData
from bayesbias.models.numerics.proposals import smoothed_tail, tail_size

# Numbers in an array that stays in a core's cache.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class PairGrid:
    """Pairs of some words, as positions in the fitted rows: words (words,), connections (words, attributes)."""

    protected: np.ndarray
    attribute: np.ndarray
    connection: np.ndarray


@dataclass(frozen=True, eq=False)
class Densities:
    """Log densities of the rows of a table under every draw of a posterior.

    Shapes: `word_mean` (protected words, connections, draws), `sigma` (connections, draws), `attribute_sd` (attribute
    words, draws), that of each word's list, None for a model without attribute effects; `attribute_effect` the same,
    needed by `of_rows` only.
    """

    data: ModelData
    word_mean: np.ndarray
    sigma: np.ndarray
    attribute_sd: np.ndarray | None = None
    attribute_effect: np.ndarray | None = None

    @property
    def draws(self) -> int:
        """Number of draws."""
        return int(self.word_mean.shape[-1])

    @cached_property
    def _rows_by_word(self) -> list[np.ndarray]:
        """Rows of each attribute word."""
        order = np.argsort(self.data.attribute, kind="stable")
        bounds = np.searchsorted(self.data.attribute[order], np.arange(1, len(self.data.attribute_words)))
        return np.split(order, bounds)

    def means(
        self, protected: np.ndarray, attribute: np.ndarray, connection: np.ndarray, draws: Any = slice(None)
    ) -> np.ndarray:
        """Return the mean distances of pairs, shape (..., draws), without the attribute words' effects."""
        del attribute  # needed by models with means of lists
        return np.asarray(self.word_mean[..., draws][protected, connection])

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the log density of rows as in `predicted`, shape (rows, draws)."""
        mean, scale = self.predicted(rows)
        return log_noise(self.data.distance[rows, None] - mean, scale, self.row_nu)

    @property
    def row_nu(self) -> np.ndarray | None:
        """Degrees of freedom of a row, shape (draws,), for a Student t likelihood."""
        return None

    def predicted(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and scale of some rows given all parameters, each of shape (rows, draws)."""
        mean = self.means(self.data.protected[rows], self.data.attribute[rows], self.data.connection[rows])
        if self.attribute_effect is not None:
            mean += self.attribute_effect[self.data.attribute[rows]]
        return mean, self.sigma[self.data.connection[rows]]

    def replicate(self, draws: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return new distances of some rows, shape (draws, rows)."""
        data, shape = self.data, (len(draws), len(rows))
        protected, connection = data.protected[rows], data.connection[rows]
        distances = rng.standard_normal(shape)
        for row, draw in zip(distances, draws, strict=True):
            row *= self.sigma[connection, draw]
            row += self.word_mean[protected, connection, draw]
            if self.attribute_effect is not None:
                row += self.attribute_effect[data.attribute[rows], draw]
        return distances

    def noise(self, pairs: PairGrid, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return noise of pairs, shape (draws, words, attributes), without the attribute words' effects."""
        noise = rng.standard_normal((len(draws), *pairs.connection.shape))
        noise *= np.moveaxis(self.sigma[:, draws][pairs.connection], -1, 0)
        return noise

    def of_words(self, words: Sequence[int]) -> np.ndarray:
        """Return log p(all rows of an attribute word | its effect integrated out), shape (words, draws)."""
        rows_of = [self._rows_by_word[word] for word in words]
        rows, starts = np.concatenate(rows_of), np.cumsum([0, *map(len, rows_of[:-1])])
        residual, sigma = self._residual(rows), self.sigma[self.data.connection[rows]]
        total = np.asarray(np.add.reduceat(log_noise(residual, sigma), starts))
        if self.attribute_sd is None:
            return total
        omega = self.attribute_sd[words]
        weight = 1 / sigma**2
        inflation = 1 + omega**2 * np.add.reduceat(weight, starts)
        pull = np.add.reduceat(weight * residual, starts) * omega
        return np.asarray(total - 0.5 * np.log(inflation) + 0.5 * pull**2 / inflation)

    def of_block(self, words: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of some attribute words, `of_rows` of these, and `of_words`."""
        rows = np.concatenate([self._rows_by_word[word] for word in words])
        return rows, self.of_rows(rows), self.of_words(words)

    def blocks(self) -> Iterator[list[int]]:
        """Yield all attribute words in blocks whose rows fit in a cache."""
        yield from self._blocks_of(range(len(self.data.attribute_words)), len(self.data.distance))

    def row_blocks(self, chosen: np.ndarray) -> list[np.ndarray]:
        """Return chosen rows, a mask, in blocks of whole attribute words."""
        parts = (np.concatenate([self._rows_by_word[word] for word in words]) for words in self.blocks())
        return [rows[chosen[rows]] for rows in parts if chosen[rows].any()]

    def _blocks_of(self, words: Sequence[int], rows: int) -> Iterator[list[int]]:
        """Yield words, which have so many rows, in blocks."""
        size = max(1, len(words) * _BLOCK // (rows * self.draws))
        yield from (list(words[first : first + size]) for first in range(0, len(words), size))

    def _residual(self, rows: np.ndarray) -> np.ndarray:
        data = self.data
        mean = self.means(data.protected[rows], data.attribute[rows], data.connection[rows])
        return np.asarray(data.distance[rows, None] - mean)


def log_noise(residual: np.ndarray, sigma: np.ndarray, nu: np.ndarray | None = None) -> np.ndarray:
    """Return the log density of noise with a scale, Normal or Student t."""
    square = np.square(residual / sigma)
    if nu is None:
        return np.asarray(-0.5 * np.log(2 * np.pi) - np.log(sigma) - 0.5 * square)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(constant - np.log(sigma) - (nu + 1) / 2 * np.log1p(square / nu))


def psis_loo(log_density: np.ndarray, *, relative_efficiency: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the log predictive density of each omitted part, and the Pareto k-hat of its weights.

    Equal to ArviZ's ``loo``, but computed for all parts at once, which is several times as fast. `log_density` (parts,
    draws) is that of each part given all parts; `relative_efficiency` is effective sample size over number of draws.

    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation; `pareto_smoothed` has the sources of the
    weights.
    """
    parts, draws = log_density.shape
    elpd, khat, size = np.empty(parts), np.empty(parts), tail_size(draws, relative_efficiency)
    for piece in np.array_split(np.arange(parts), max(1, parts * draws // _BLOCK)):
        # The largest weights are those of the smallest densities.
        ordered = np.partition(log_density[piece], size, axis=1)
        tail, others = np.sort(ordered[:, :size], axis=1)[:, ::-1], ordered[:, size:]
        least = ordered.min(axis=1, keepdims=True)
        log_weight, khat[piece] = smoothed_tail(least - tail, least - others[:, :1])
        # Beyond the tail, the product of density and weight is the smallest density.
        products = np.concatenate([least + np.log(draws - size), log_weight + tail], axis=1)
        elpd[piece] = _log_sum(products) - _log_sum(np.concatenate([least - others, log_weight], axis=1))
    return elpd, khat


def log_mean(log_density: np.ndarray) -> np.ndarray:
    """Return the log of the mean density over draws, the last axis."""
    return np.asarray(_log_sum(log_density) - np.log(log_density.shape[-1]))


def _log_sum(values: np.ndarray) -> np.ndarray:
    top = values.max(axis=-1, keepdims=True)
    shifted = values - top
    return np.asarray(np.log(np.exp(shifted, out=shifted).sum(axis=-1)) + top[..., 0])
