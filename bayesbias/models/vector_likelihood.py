"""Predictive densities of the multivariate model: of a whole attribute word, and of a pair given its other pairs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from bayesbias.models.data import ModelData, attribute_lists, list_kind, list_names
from bayesbias.models.likelihood import Densities, PairGrid
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class VectorDensities(Densities):
    """Log densities of a table under every draw of a multivariate posterior.

    `covariance` is Sigma, shape (draws, protected words, protected words); `scale` is that of each attribute word's
    list, shape (attribute words, draws). With `nu` the vectors of attribute words are Student t. `sigma` are the sds of
    single pairs' distances around their mean by connection, averaged over words, for what needs one number.
    """

    covariance: np.ndarray = None  # type: ignore[assignment]
    scale: np.ndarray = None  # type: ignore[assignment]

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return log p(row | other rows of its attribute word, all parameters), shape (rows, draws)."""
        mean, scale = self.predicted(rows)
        return self._log_noise(self.data.distance[rows, None] - mean, scale, self.row_nu)

    def of_words(self, first: int, last: int) -> np.ndarray:
        """Return log p(all rows of an attribute word), as it enters the posterior, shape (last - first, draws).

        So the distances are those known to within DISTANCE_ERROR.
        """
        found = np.empty((last - first, self.draws))
        for words, places, rows in self._patterns(first, last):
            lower = np.linalg.cholesky(self.covariance[:, places[:, None], places])
            half = np.linalg.inv(lower)
            error = DISTANCE_ERROR**2 * np.square(half).sum(axis=(1, 2))
            determinant = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
            size = len(places)
            for word, of_word in zip(words, rows, strict=True):
                rest = self._residual(of_word) / self.scale[word]
                square = np.square(np.einsum("dij,jd->di", half, rest)).sum(axis=1) + error / self.scale[word] ** 2
                constant = -determinant - size * np.log(self.scale[word])
                if self.nu is None:
                    found[word - first] = constant - 0.5 * (size * np.log(2 * np.pi) + square)
                else:
                    gammas = gammaln((self.nu + size) / 2) - gammaln(self.nu / 2) - 0.5 * size * np.log(self.nu * np.pi)
                    found[word - first] = constant + gammas - (self.nu + size) / 2 * np.log1p(square / self.nu)
        return found

    @property
    def row_nu(self) -> np.ndarray | None:
        """Degrees of freedom of a pair given the other pairs of a whole attribute word, shape (draws,)."""
        return None if self.nu is None else self.nu + len(self.data.protected_words) - 1

    def predicted(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and scale of some rows given the other rows of their attribute word, shapes (rows, draws)."""
        mean, scale = self._conditional
        return mean[rows], scale[rows]

    @cached_property
    def _conditional(self) -> tuple[np.ndarray, np.ndarray]:
        shape = len(self.data.distance), self.draws
        mean, scale = np.empty(shape), np.empty(shape)
        for words, places, rows in self._patterns(0, len(self.data.attribute_words)):
            precision = np.linalg.inv(self.covariance[:, places[:, None], places])
            own = np.diagonal(precision, axis1=1, axis2=2).T
            for word, of_word in zip(words, rows, strict=True):
                rest = self._residual(of_word)
                pull = np.einsum("dij,jd->id", precision, rest)
                mean[of_word] = self.data.distance[of_word, None] - pull / own
                spread = self.scale[word] / np.sqrt(own)
                if self.nu is not None:
                    others = (rest * pull).sum(axis=0) / self.scale[word] ** 2 - (pull / self.scale[word]) ** 2 / own
                    spread *= np.sqrt((self.nu + others) / (self.nu + len(places) - 1))
                scale[of_word] = spread
        return mean, scale

    def _patterns(self, first: int, last: int) -> Iterator[tuple[list[int], np.ndarray, list[np.ndarray]]]:
        """Yield attribute words with the same pairs: the words, their protected words, and the rows of each."""
        order, bounds = self._by_word
        found: dict[bytes, tuple[list[int], np.ndarray, list[np.ndarray]]] = {}
        for word in range(first, last):
            rows = order[bounds[word] : bounds[word + 1]]
            places = self.data.protected[rows].astype(np.int64)
            sort = np.argsort(places)
            words, _, of_words = found.setdefault(places[sort].tobytes(), ([], places[sort], []))
            words.append(word)
            of_words.append(rows[sort])
        yield from found.values()

    def replicate(self, draws: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return distances of the same pairs to new attribute words of the same lists, shape (draws, rows)."""
        data = self.data
        words, attributes = np.arange(len(data.protected_words)), np.arange(len(data.attribute_words))
        grid = self.noise(PairGrid(words, attributes, np.zeros((len(words), len(attributes)))), draws, rng)
        mean = self.word_mean[data.protected[rows], data.connection[rows]][:, draws].T
        return np.asarray(mean + grid[:, data.protected[rows], data.attribute[rows]])

    def noise(self, pairs: PairGrid, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what sets new attribute words of the same lists apart from their means, as `Densities.noise`."""
        lower = np.linalg.cholesky(self.covariance[draws][:, pairs.protected[:, None], pairs.protected])
        standard = rng.standard_normal((len(draws), len(pairs.protected), len(pairs.attribute)))
        scale = self.scale[pairs.attribute][:, draws].T
        if self.nu is not None:
            nu = self.nu[draws, None]
            scale = scale / np.sqrt(rng.chisquare(np.broadcast_to(nu, scale.shape)) / nu)
        return np.asarray(lower @ standard * scale[:, None, :])


def vector_densities(fit: "xr.DataTree", data: ModelData) -> VectorDensities:
    """Return the densities of `data`, rows of a multivariate fit or of a part of it, under the draws of the fit."""
    posterior = fit["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
    words, connections = list(data.protected_words), list(data.connections)
    kinds = [name for name in list_names(data) if name in posterior.coords.get("attribute_list", ())]
    wanted: dict[str, dict[str, list[str]]] = {
        "word_mean": {"protected_word": words, "connection": connections},
        "residual_covariance": {"protected_word": words, "other_protected_word": words},
        "list_scale": {"attribute_list": kinds},
        "nu": {},
    }
    drawn = {
        name: posterior[name].reindex(labels).transpose("sample", *labels).to_numpy()
        for name, labels in wanted.items()
        if name in posterior
    }
    return vector_densities_of(drawn, data)


def vector_densities_of(drawn: Mapping[str, np.ndarray], data: ModelData) -> VectorDensities:
    """Return the densities of `data` under draws of the sampler, of shape (draws, ...), by name."""
    covariance, kinds = drawn["residual_covariance"], list_names(data)
    scale = np.ones((len(kinds), len(covariance)))
    if "list_scale" in drawn:
        scale[: drawn["list_scale"].shape[1]] = drawn["list_scale"].T
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2).mean(axis=1))
    return VectorDensities(
        data=data,
        word_mean=np.ascontiguousarray(np.moveaxis(drawn["word_mean"], 0, -1)),
        sigma=np.stack([scale[kinds.index(list_kind(name))] * spread for name in data.connections]),
        nu=drawn.get("nu"),
        covariance=covariance,
        scale=scale[attribute_lists(data)],
    )
