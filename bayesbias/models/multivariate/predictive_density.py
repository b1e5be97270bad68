"""Predictive densities of the multivariate model, of whole attribute words and of pairs given their other pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from bayesbias.base.number_text import counted
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.models.data import ModelData, list_kind, subset
from bayesbias.models.likelihood import Densities, PairGrid, log_mean
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import (
    DISTANCE_ERROR,
    Coordinates,
    ListStatistics,
    coordinates_of,
    hyperparameter_points,
    lean_log_density,
    list_statistics,
    regression_log_density,
)
from bayesbias.models.multivariate.posterior_draws import MOST_COVARIANCE_NUMBERS
from bayesbias.models.multivariate.prior_draws import root_of
from bayesbias.models.numerics.proposals import pareto_weights

if TYPE_CHECKING:
    import xarray as xr

# Points of hyperparameters that are weighted: an average over them, with all else integrated out, has little error.
_POINTS = 500
# Numbers in an array of residuals of several attribute words.
_TOGETHER = 20_000_000


@dataclass(frozen=True, eq=False)
class VectorDensities(Densities):
    """Log densities of a table under every draw of a multivariate posterior.

    `sample` holds the attribute words of `data`, `list_mean` (protected words, lists, draws) the means of their lists,
    and `covariance` (lists, draws, protected words, protected words) theirs around the means. With `nu` (draws,),
    degrees of freedom, their vectors are Student t. `sigma` are the sds of single distances around their mean by
    connection, averaged over words, for callers that need one number.
    """

    sample: AttributeSample = None  # type: ignore[assignment]
    list_mean: np.ndarray = None  # type: ignore[assignment]
    covariance: np.ndarray = None  # type: ignore[assignment]
    nu: np.ndarray | None = None

    def means(
        self, protected: np.ndarray, attribute: np.ndarray, connection: np.ndarray, draws: Any = slice(None)
    ) -> np.ndarray:
        """Return the mean distances of pairs, shape (..., draws): those of the list of each attribute word."""
        del connection
        return np.asarray(self.list_mean[..., draws][protected, self.sample.list_of[attribute]])

    def of_words(self, first: int, last: int) -> np.ndarray:
        """Return log p(all rows of an attribute word), as in the posterior, shape (last - first, draws).

        There, the distances are known to within DISTANCE_ERROR.
        """
        log_density = np.empty((last - first, self.draws))
        for place, words, places, rows in self._patterns(first, last):
            lower = np.linalg.cholesky(self.covariance[place][:, places[:, None], places])
            half = np.linalg.inv(lower)
            error = DISTANCE_ERROR**2 * np.square(half).sum(axis=(1, 2))
            determinant = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
            size = len(places)
            for word, product in zip(words, self._products(half, rows), strict=True):
                square = np.square(product).sum(axis=1) + error
                if self.nu is None:
                    log_density[word - first] = -determinant - 0.5 * (size * np.log(2 * np.pi) + square)
                else:
                    gammas = gammaln((self.nu + size) / 2) - gammaln(self.nu / 2) - 0.5 * size * np.log(self.nu * np.pi)
                    tail = (self.nu + size) / 2 * np.log1p(square / self.nu)
                    log_density[word - first] = gammas - determinant - tail
        return log_density

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
        for place, _, places, rows in self._patterns(0, len(self.data.attribute_words)):
            precision = np.linalg.inv(self.covariance[place][:, places[:, None], places])
            alone = np.diagonal(precision, axis1=1, axis2=2).T
            for of_word, product in zip(rows, self._products(precision, rows), strict=True):
                pull = product.T
                mean[of_word] = self.data.distance[of_word, None] - pull / alone
                spread = 1 / np.sqrt(alone)
                if self.nu is not None:
                    others = (self._residual(of_word) * pull).sum(axis=0) - pull**2 / alone
                    spread = spread * np.sqrt((self.nu + others) / (self.nu + len(places) - 1))
                scale[of_word] = spread
        return mean, scale

    def _products(self, matrices: np.ndarray, rows: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield the product of a matrix of each draw and each word's residuals, shape (draws, words), word by word."""
        together = max(1, _TOGETHER // (len(matrices[0]) * self.draws))
        for first in range(0, len(rows), together):
            residual = np.stack([self._residual(of_word) for of_word in rows[first : first + together]])
            # One product a draw for many words: (draws, words, words) @ (draws, words, attribute words).
            yield from np.moveaxis(matrices @ np.moveaxis(residual, 2, 0).swapaxes(1, 2), 2, 0)

    def _patterns(self, first: int, last: int) -> Iterator[tuple[int, list[int], np.ndarray, list[np.ndarray]]]:
        """Yield attribute words of a list with the same pairs: list, words, protected words, and the rows of each."""
        order, bounds = self._by_word
        patterns: dict[tuple[int, bytes], tuple[int, list[int], np.ndarray, list[np.ndarray]]] = {}
        for word in range(first, last):
            rows = order[bounds[word] : bounds[word + 1]]
            places = self.data.protected[rows].astype(np.int64)
            sort = np.argsort(places)
            place = int(self.sample.list_of[word])
            _, words, _, of_words = patterns.setdefault((place, places[sort].tobytes()), (place, [], places[sort], []))
            words.append(word)
            of_words.append(rows[sort])
        yield from patterns.values()

    def replicate(self, draws: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return distances of the same pairs to new attribute words of the same lists, shape (draws, rows)."""
        data = self.data
        words, attributes = np.arange(len(data.protected_words)), np.arange(len(data.attribute_words))
        pairs = PairGrid(words, attributes, np.zeros((len(words), len(attributes))))
        grid = self._noise(pairs, np.eye(len(attributes)), draws, rng)
        mean = self.means(data.protected[rows], data.attribute[rows], data.connection[rows], draws).T
        return np.asarray(mean + grid[:, data.protected[rows], data.attribute[rows]])

    def noise(self, pairs: PairGrid, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the deviations of new attribute words of the same lists from their means, as `Densities.noise`.

        New words of a list depend on each other as its words do: their deviations correlate as far as links say.
        """
        dependence = self.sample.attribute_links.correlations(self.sample.list_of)
        return self._noise(pairs, dependence[np.ix_(pairs.attribute, pairs.attribute)], draws, rng)

    def _noise(
        self, pairs: PairGrid, dependence: np.ndarray, draws: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return deviations that correlate between attribute words as in `dependence` (attributes, attributes)."""
        noise = rng.standard_normal((len(draws), len(pairs.protected), len(pairs.attribute)))
        list_of = self.sample.list_of[pairs.attribute]
        for place in np.unique(list_of):
            lower = np.linalg.cholesky(self.covariance[place][draws][:, pairs.protected[:, None], pairs.protected])
            members = np.flatnonzero(list_of == place)
            noise[:, :, members] = lower @ noise[:, :, members] @ root_of(dependence[np.ix_(members, members)]).T
        if self.nu is not None:
            nu = self.nu[draws, None]
            noise /= np.sqrt(rng.chisquare(np.broadcast_to(nu, (len(draws), len(list_of)))) / nu)[:, None]
        return noise


def vector_densities(posterior: "xr.Dataset", data: ModelData) -> VectorDensities:
    """Return the densities of `data`, rows of a multivariate fit or of a part of it, under the draws of the fit.

    Raises `NotEnoughMemoryError` if the fit has too many protected words to keep the covariance of their distances.
    """
    posterior = posterior.stack(sample=("chain", "draw"), create_index=False)
    if "residual_covariance" not in posterior:
        sizes = posterior.sizes
        raise NotEnoughMemoryError(
            f"This fit has {counted(sizes['protected_word'], 'protected word')} and "
            f"{counted(sizes['attribute_group'], 'list')}, and no covariance of their distances was kept, which is "
            "needed to predict single pairs: lists times squared protected words may be at most "
            f"{MOST_COVARIANCE_NUMBERS:,}, and the sampler must be the package's own. "
            "Fit fewer words, or the model 'crossed_per_list'."
        )
    sample, words = attribute_sample(data), list(data.protected_words)
    labels = {"protected_word": words, "other_protected_word": words}
    labels |= {"connection": list(data.connections), "attribute_group": list(sample.lists)}
    drawn = {}
    for name in ("word_mean", "list_mean", "residual_covariance", "nu"):
        if name in posterior:
            values = posterior[name]
            values = values.reindex({dim: labels[dim] for dim in map(str, values.dims) if dim in labels})
            drawn[name] = values.transpose("sample", ...).to_numpy()
    return vector_densities_of(drawn, data, sample)


def vector_densities_of(drawn: Mapping[str, np.ndarray], data: ModelData, sample: AttributeSample) -> VectorDensities:
    """Return the densities of `data` under draws of the sampler, of shape (draws, ...), by name."""
    covariance = np.ascontiguousarray(np.moveaxis(drawn["residual_covariance"], 1, 0))
    spread, kind_of = np.sqrt(np.diagonal(covariance, axis1=2, axis2=3).mean(axis=2)), sample.list_kind
    return VectorDensities(
        data=data,
        word_mean=np.ascontiguousarray(np.moveaxis(drawn["word_mean"], 0, -1)),
        sigma=np.stack(
            [spread[kind_of == sample.kinds.index(list_kind(name))].mean(axis=0) for name in data.connections]
        ),
        nu=drawn.get("nu"),
        sample=sample,
        list_mean=np.ascontiguousarray(drawn["list_mean"].T),
        covariance=covariance,
    )


@dataclass(frozen=True, eq=False)
class LeftOutWords:
    """The words of a whole table with Normal attribute words, and draws of its hyperparameters.

    Given the hyperparameters, p(word | all other words) is the ratio of two marginal likelihoods
    (`marginal_likelihood.py`), and the posterior without the word is that with it, weighted by another ratio. Means and
    covariances are integrated out of both, so that the weights of hyperparameters are good where those of all
    parameters are not.
    """

    data: ModelData
    sample: AttributeSample
    axes: Coordinates
    points: list[np.ndarray]

    def log_density(self, word: int) -> tuple[float, float]:
        """Return log p(rows of an attribute word | all other rows), and the k-hat of the weights behind it.

        Both are NaN if the word is the only one of its list.
        """
        if (self.sample.list_of == self.sample.list_of[word]).sum() == 1:
            return np.nan, np.nan
        reduced = attribute_sample(subset(self.data, self.data.attribute != word))
        shares = np.insert(reduced.word_shares, word, 0.0)
        place = self.sample.list_of[word]
        kind = int(self.sample.list_kind[place])
        without = self._statistics(shares)
        shares[word] = 1.0
        beside = self._statistics(shares)
        of_others = self._log_marginal(without, kind)
        of_word = self._log_marginal(beside, kind) - of_others
        # The constants of one more word: of its coordinates, and of the mean of its list.
        of_word -= 0.5 * len(self.data.protected_words) * np.log(np.pi)
        of_word -= 0.5 * self.axes.free * np.log(beside.weight[0, place] / without.weight[0, place])
        weights, khat = pareto_weights(of_others - self._whole[kind])
        with np.errstate(divide="ignore"):
            return float(log_mean(np.log(weights) + of_word) + np.log(len(weights))), khat

    @cached_property
    def _whole(self) -> list[np.ndarray]:
        """Log marginal likelihood of the words of each kind, as they were fitted."""
        stats = self._statistics(self.sample.word_shares)
        return [self._log_marginal(stats, kind) for kind in range(len(self.sample.kinds))]

    def _statistics(self, shares: np.ndarray) -> ListStatistics:
        weights = np.ones((1, len(shares)))
        return list_statistics(self.sample, self.sample.distances[None], weights, self.axes, shares)

    def _log_marginal(self, stats: ListStatistics, kind: int) -> np.ndarray:
        """Return log p(coordinates of a kind of words, and contrasts of all | points), shape (points,)."""
        value = lean_log_density(self.points[kind], kind, stats, self.axes)
        if self.axes.contrasts:
            value = value + regression_log_density(self.points[-1], stats, self.axes)
        return value


def left_out_words(fit: "xr.DataTree", data: ModelData) -> LeftOutWords | None:
    """Return the words of a multivariate fit; None for another model, with lost pairs, and if words are Student t."""
    posterior = fit["posterior"].to_dataset()
    if "list_mean" not in posterior or "nu" in posterior:
        return None
    sample = attribute_sample(data)
    if np.isnan(sample.distances).any():
        return None
    words = len(data.protected_words)
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    drawn = posterior.stack(sample=("chain", "draw"), create_index=False)
    step = max(1, drawn.sizes["sample"] // _POINTS)
    named = {
        str(name): values.transpose("sample", ...).to_numpy()[::step]
        for name, values in drawn.data_vars.items()
        if "protected_word" not in values.dims
    }
    return LeftOutWords(data, sample, axes, hyperparameter_points(named, sample, axes))
