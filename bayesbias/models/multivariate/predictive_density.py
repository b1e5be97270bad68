"""Predictive densities of the multivariate model, of whole attribute words and of pairs given their other pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from bayesbias.base.number_text import counted
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.models.data import ModelData, list_kind, subset
from bayesbias.models.likelihood import Densities, PairGrid, log_mean, log_noise
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample, without_attribute_words
from bayesbias.models.multivariate.marginal_likelihood import (
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
from bayesbias.models.scales import COSINE

if TYPE_CHECKING:
    import xarray as xr

# Points of hyperparameters that are weighted: an average over them, with all else integrated out, has little error.
_POINTS = 500


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Attribute words of a list with the same pairs.

    `place` is that of their list, `places` (pairs,) are those of the protected words, `rows` those of each word.
    """

    place: int
    places: np.ndarray
    rows: dict[int, np.ndarray]


@dataclass(frozen=True, eq=False)
class _Part:
    """Some attribute words with the same pairs, with residuals r and the precision P of their vectors.

    - members: positions of the words among those in question
    - rows: shape (words, pairs)
    - pull: P r, shape (words, pairs, draws)
    - square: r' P r, shape (words, draws)
    - alone: diagonal of P, shape (pairs, draws)
    - half_determinant: half the log determinant of the covariance, shape (draws,)
    """

    members: list[int]
    rows: np.ndarray
    pull: np.ndarray
    square: np.ndarray
    alone: np.ndarray
    half_determinant: np.ndarray


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

    def of_words(self, words: Sequence[int]) -> np.ndarray:
        """Return log p(all rows of an attribute word), as in the posterior, shape (words, draws).

        There, the distances are known to within their error.
        """
        log_density = np.empty((len(words), self.draws))
        for part in self._parts(words):
            log_density[part.members] = self._of_whole_words(part)
        return log_density

    def of_block(self, words: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of some attribute words, `of_rows` of these, and `of_words`: from the same products."""
        rows, of_rows, of_words = [], [], np.empty((len(words), self.draws))
        for part in self._parts(words):
            rows.append(part.rows.ravel())
            of_words[part.members] = self._of_whole_words(part)
            if self.nu is None:
                density = part.pull
                np.square(density, out=density)
                density *= -0.5 / part.alone
                density += 0.5 * (np.log(part.alone) - np.log(2 * np.pi))
            else:
                density = log_noise(part.pull / part.alone, self._scale(part), self.row_nu)
            of_rows.append(density.reshape(-1, self.draws))
        return np.concatenate(rows), np.concatenate(of_rows), of_words

    @property
    def row_nu(self) -> np.ndarray | None:
        """Degrees of freedom of a pair given the other pairs of a whole attribute word, shape (draws,)."""
        return None if self.nu is None else self.nu + len(self.data.protected_words) - 1

    def predicted(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and scale of some rows given the other rows of their attribute word, shapes (rows, draws)."""
        mean, scale = np.empty((2, len(rows), self.draws))
        order = np.argsort(rows)
        for part in self._parts(np.unique(self.data.attribute[rows]).tolist()):
            of_part = np.isin(part.rows, rows)
            places = order[np.searchsorted(rows[order], part.rows[of_part])]
            mean[places] = (self.data.distance[part.rows][..., None] - part.pull / part.alone)[of_part]
            scale[places] = np.broadcast_to(self._scale(part), part.pull.shape)[of_part]
        return mean, scale

    def blocks(self) -> Iterator[list[int]]:
        """Yield all attribute words in blocks whose rows fit in a cache, those with the same pairs together."""
        for pattern in self._patterns:
            yield from self._blocks_of(list(pattern.rows), len(pattern.rows) * len(pattern.places))

    def _of_whole_words(self, part: "_Part") -> np.ndarray:
        size, square = part.rows.shape[1], part.square + self.data.distance_error**2 * part.alone.sum(axis=0)
        if self.nu is None:
            return np.asarray(-part.half_determinant - 0.5 * (size * np.log(2 * np.pi) + square))
        gammas = gammaln((self.nu + size) / 2) - gammaln(self.nu / 2) - 0.5 * size * np.log(self.nu * np.pi)
        return np.asarray(gammas - part.half_determinant - (self.nu + size) / 2 * np.log1p(square / self.nu))

    def _scale(self, part: "_Part") -> np.ndarray:
        """Return the scale of pairs given the others of their word, shape (pairs, draws) or (words, pairs, draws)."""
        spread = 1 / np.sqrt(part.alone)
        if self.nu is None:
            return np.asarray(spread)
        others = part.square[:, None] - part.pull**2 / part.alone
        return np.asarray(spread * np.sqrt((self.nu + others) / (self.nu + part.rows.shape[1] - 1)))

    def _parts(self, words: Sequence[int]) -> Iterator["_Part"]:
        """Yield attribute words of a list with the same pairs."""
        of_patterns: dict[int, list[int]] = {}
        for member, word in enumerate(words):
            of_patterns.setdefault(self._pattern_of[word], []).append(member)
        for number, members in of_patterns.items():
            pattern = self._patterns[number]
            rows = np.stack([pattern.rows[words[member]] for member in members])
            precision, half_determinant = self._precision(number)
            # One product a draw for many words: (draws, pairs, pairs) @ (draws, pairs, words).
            mean = self._means_by_draw[:, pattern.place, pattern.places, None]
            residual = self.data.distance[rows].T - mean
            pull = precision @ residual
            yield _Part(
                members=members,
                rows=rows,
                pull=np.ascontiguousarray(pull.T),
                square=np.einsum("dpw,dpw->wd", residual, pull),
                alone=np.ascontiguousarray(np.diagonal(precision, axis1=1, axis2=2).T),
                half_determinant=half_determinant,
            )

    @cached_property
    def _means_by_draw(self) -> np.ndarray:
        """Means of lists, shape (draws, lists, protected words)."""
        return np.ascontiguousarray(self.list_mean.T)

    @cached_property
    def _precisions(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        return {}

    def _precision(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the precision of a pattern's pairs, and half the log determinant of their covariance, by draw."""
        if number not in self._precisions:
            if len(self._precisions) == len(self.covariance):  # as many as a whole table has are held
                self._precisions.clear()
            pattern = self._patterns[number]
            covariance = self.covariance[pattern.place][:, pattern.places[:, None], pattern.places]
            lower = np.linalg.cholesky(covariance)
            half_determinant = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
            self._precisions[number] = np.linalg.inv(covariance), half_determinant
        return self._precisions[number]

    @cached_property
    def _patterns(self) -> list["_Pattern"]:
        patterns: dict[tuple[int, bytes], _Pattern] = {}
        for word, rows in enumerate(self._rows_by_word):
            places = self.data.protected[rows].astype(np.int64)
            sort = np.argsort(places)
            place = int(self.sample.list_of[word])
            pattern = patterns.setdefault((place, places[sort].tobytes()), _Pattern(place, places[sort], {}))
            pattern.rows[word] = rows[sort]
        return list(patterns.values())

    @cached_property
    def _pattern_of(self) -> dict[int, int]:
        return {word: number for number, pattern in enumerate(self._patterns) for word in pattern.rows}

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
        of_words, lists = posterior.sizes["protected_word"], posterior.sizes["attribute_group"]
        reason = "The file of a covariate effect does not keep it, nor does another sampler than the package's own."
        advice = "Fit the table again (with its covariates: `bayesbias fit TABLE --covariates FILE`)"
        if lists * of_words**2 > MOST_COVARIANCE_NUMBERS:
            reason = (
                f"It is kept up to {MOST_COVARIANCE_NUMBERS:,} numbers, lists times squared protected words; here, "
                f"{counted(lists, 'list')} and {counted(of_words, 'word')} make {lists * of_words**2:,}."
            )
            advice = "Fit fewer words"
        raise NotEnoughMemoryError(
            "This fit has no covariance of its distances, which is needed to predict single pairs. "
            f"{reason} {advice}, or the model 'crossed_per_list'."
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
        shares = np.insert(self._without(word).word_shares, word, 0.0)
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

    def _without(self, word: int) -> AttributeSample:
        """Return the sample without a word; if links are not recorded, they depend on the words."""
        keep = np.arange(len(self.data.attribute_words)) != word
        recorded = self.data.attribute_links is not None
        reduced = without_attribute_words(self.sample, keep) if recorded else None
        return reduced or attribute_sample(subset(self.data, self.data.attribute != word))

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
    """Return the words of a multivariate fit; None for another model, with lost pairs, and if words are Student t.

    Their densities are those of numbers in the unit of cosine distances, in which the error of numbers is known.
    """
    posterior = data.scale.inverse.dataset(fit["posterior"].to_dataset())
    data = replace(data, distance=data.scale.to_distances(data.distance), scale=COSINE)
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
