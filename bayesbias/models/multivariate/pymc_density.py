"""The multivariate model as a PyMC model: to be drawn, simulated from, and sampled by NUTS."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import (
    Coordinates,
    completed_distances,
    list_statistics,
)
from bayesbias.models.multivariate.prior_draws import group_target, inverse_wishart_roots, root_of, word_axes
from bayesbias.models.spec import ModelSpec, prior_name

# Flat priors of the closed form are these here, so that PyMC can draw from them: an information of 1 / 1 beside that of
# the distances, whose means have errors of hundredths.
_WIDE_SD = 1.0
_MIDDLE = 1.0  # of cosine distances
# The hyperparameters of the residual covariance and of the coefficients.
_OF_RESIDUALS = ("sigma", "residual_weight", "list_effect", "slope_sd")


def add_multivariate(data: ModelData, spec: ModelSpec) -> None:
    """Add the variables of the multivariate model to the PyMC model of this context, which has the coordinates.

    The model is that of `marginal_likelihood.py`, in its notation, with the covariances integrated out: Sigma_L of the
    distances to whole groups and E of the contrasts of words within groups leave a matrix t density each. Means of
    lists to whole groups (xi), and the coefficients (alpha, eta, B) of the regression of the contrasts, are variables;
    so are lost pairs. Words like these are drawn after sampling, from the means of these words. `list_group_mean`,
    alpha and lost pairs have Normal priors of sd 1 (in cosine distance) in place of flat ones.

    The density of `regression` is that of eta and B with E integrated out, and that of `cosine_distance` is the rest of
    the joint density: of all distances given the means and coefficients. Draws of `cosine_distance` have new
    covariances. Both variables are sampled on standardised axes: the geometry of the posterior, to first order.
    """
    sample = attribute_sample(data)
    density = _JointDensity(data, sample)
    axes, origin = density.axes, density.origin
    middle = float(data.scale.from_distances(np.asarray(_MIDDLE)))
    pm.modelcontext(None).add_coords(_axis_labels(data, sample, density))
    variables = _scales(spec, axes, sample)
    if len(density.lost[0]):
        variables["missing_distance"] = pm.Normal(
            "missing_distance",
            middle,
            density.wide_sd,
            dims="lost_pair",
            initval=np.full(density.lost[0].shape, data.distance.mean()),
        )
    roots = np.sqrt(axes.spreads)
    variables["list_group_mean"] = pm.Normal(
        "list_group_mean",
        middle,
        density.wide_sd,
        dims=("attribute_group", "protected_axis"),
        initval=density.centre / roots,
        default_transform=_Standardised(density.centre / roots, *density.group_roots),
    )
    xi = variables["list_group_mean"] * roots
    list_mean = xi @ axes.between.T
    if axes.contrasts:
        variables["regression"] = pm.CustomDist(
            "regression",
            density.start,  # for its shape
            *(variables[name] for name in _OF_RESIDUALS),
            logp=density.of_coefficients,
            random=density.draw_coefficients,
            signature=f"(r,p),{','.join(['()'] * len(_OF_RESIDUALS))}->(r,p)",
            initval=density.start,
            default_transform=_Standardised(density.start, *density.regression_roots),
            dims=("regression_term", "word_contrast"),
        )
        every = np.arange(len(sample.lists))
        list_mean = list_mean + fitted_contrasts(variables["regression"], every, xi - origin) @ axes.within.T
    list_mean = pm.Deterministic("list_mean", list_mean, dims=("attribute_group", "protected_word"))
    list_index = pm.Data("list_index", sample.list_of[data.attribute], dims="pair")
    protected = pm.Data("protected_index", data.protected.astype(np.int64), dims="pair")
    pm.Deterministic("pair_mean", list_mean[list_index, protected], dims="pair")
    axes_of = [",".join(f"{name}{axis}" for axis in range(value.ndim)) for name, value in variables.items()]
    pm.CustomDist(
        data.measure.column,
        np.zeros(len(data.distance)),  # for its shape
        *variables.values(),
        logp=partial(density.of_distances, tuple(variables)),
        random=partial(density.draw_distances, tuple(variables)),
        signature=f"(pair),{','.join(f'({names})' for names in axes_of)}->(pair)",
        observed=pm.Data("distance", data.distance, dims="pair"),
        dims="pair",
    )


def _axis_labels(data: ModelData, sample: AttributeSample, density: "_JointDensity") -> dict[str, list[Any]]:
    """Return labels of the axes of the coefficients: words with the same lists, covariates, lists, and lost pairs."""
    first = np.unique(sample.pattern_of, return_index=True)[1]
    groups = [str(data.protected_groups[word]) for word in first]
    # Words of a group may have different lists: its first word tells its parts apart.
    parts = [
        group if groups.count(group) == 1 else f"{group}: {data.protected_words[word]}"
        for group, word in zip(groups, first, strict=True)
    ]
    protected_axis = [*parts, *(data.covariate_names[place] for place in density.axes.covariates)]
    return {
        "protected_axis": protected_axis,
        "regression_term": ["mean", *sample.lists, *(f"slope on {name}" for name in protected_axis)],
        "word_contrast": list(range(density.axes.contrasts)),
        "lost_pair": [
            f"{data.protected_words[protected]} | {data.attribute_words[attribute]}"
            for attribute, protected in zip(*density.lost, strict=True)
        ],
    }


class _Standardised(Transform):  # type: ignore[misc]  # PyMC has no types
    """A linear transform of a matrix: its posterior is about that of independent standard Normals."""

    name = "standardised"
    ndim_supp = 2

    def __init__(self, centre: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
        """Set the centre, and roots of the covariances of rows and of columns, which are lower triangular."""
        self.centre, self.rows, self.columns = centre, rows, columns
        self.row_inverse, self.column_inverse = np.linalg.inv(rows), np.linalg.inv(columns)

    def forward(self, value: Any, *_: Any) -> Any:
        """Return the standardised values."""
        return self.row_inverse @ (value - self.centre) @ self.column_inverse.T

    def backward(self, value: Any, *_: Any) -> Any:
        """Return the values."""
        return self.centre + self.rows @ value @ self.columns.T

    def log_jac_det(self, value: Any, *_: Any) -> Any:
        """Return the logarithm of the determinant, a constant."""
        size = len(self.columns) * np.linalg.slogdet(self.rows)[1] + len(self.rows) * np.linalg.slogdet(self.columns)[1]
        return pt.zeros(value.shape[:-2]) + size


def _scales(spec: ModelSpec, axes: Coordinates, sample: AttributeSample) -> dict[str, Any]:
    """Add the hyperparameters and return them by name."""
    dims: dict[str, str | tuple[str, ...] | None] = dict.fromkeys(("attribute_sd", "target_weight"), "attribute_list")
    if len(axes.sizes) > 1:
        dims["group_attribute_sd"] = "attribute_list"
    if axes.covariates:
        dims["covariate_attribute_sd"] = ("attribute_list", "covariate")
    if axes.contrasts:
        dims |= dict.fromkeys(_OF_RESIDUALS)
        if len(sample.kinds) > 1:
            dims["list_scale"] = "scaled_list"
    scales = {name: spec.priors[prior_name(name)].variable(name, dims=dim) for name, dim in dims.items()}
    if spec.switches["likelihood"] == "student_t":
        nu = spec.priors["nu"].variable("nu")
        scales["attribute_weight"] = pm.Gamma("attribute_weight", nu / 2, nu / 2, dims="attribute_word")
    return scales


class _JointDensity:
    """Densities and draws of the coefficients and of the distances, with the covariances integrated out."""

    def __init__(self, data: ModelData, sample: AttributeSample) -> None:
        self.data, self.sample, self.axes = data, sample, word_axes(sample)
        self.lost = np.nonzero(np.isnan(sample.distances))
        self.wide_sd = _WIDE_SD * data.scale.unit
        axes, lists, free = self.axes, len(sample.lists), self.axes.free
        # 1 for the lists' coefficients and for the slopes: their precisions are these times numbers.
        self.is_list, self.is_slope = np.repeat([1.0, 0.0], [lists, free]), np.repeat([0.0, 1.0], [lists, free])
        self.scaled = np.eye(len(sample.kinds))[sample.list_kind[sample.list_of]]
        completed = completed_distances(sample)
        # Around these, and along these roots of covariances, the variables are sampled.
        stats = list_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
        self.centre, self.origin = stats.centre[0], stats.origin[0]
        x, c = completed @ axes.between, completed @ axes.within
        design = np.concatenate([np.ones((len(x), 1)), np.eye(lists)[sample.list_of], x - self.origin], axis=1)
        weights = sample.word_shares[:, None]
        # A ridge of ordinary size: as good as the posterior of the hyperparameters for a choice of axes.
        precision = design.T @ (design * weights) + np.diag([0.0, *(10 * self.is_list + 2 * self.is_slope)])
        self.start = np.linalg.solve(precision, (design * weights).T @ c)
        residual = c - design @ self.start
        scatter = (residual * weights).T @ residual
        shrunk = (scatter + np.trace(scatter) * np.eye(axes.contrasts) / max(axes.contrasts, 1)) / (2 * weights.sum())
        self.regression_roots = np.linalg.cholesky(np.linalg.inv(precision)), _root(shrunk, data.distance_error)
        roots = np.sqrt(axes.spreads)
        of_groups = stats.scatter[0].sum(axis=0) / np.outer(roots, roots) / weights.sum()
        self.group_roots = np.diag(1 / np.sqrt(stats.weight[0])), _root(of_groups, data.distance_error)

    def of_coefficients(self, value: Any, _: Any, *scales: Any) -> Any:
        """Return the log density of alpha, eta and B, with E integrated out."""
        prior = self._residual_prior(*scales)
        size, square = self.axes.contrasts, _products(value[1:], prior.precision)
        density = _matrix_t(square, prior.scale, prior.freedom, float(len(self.is_list)), size)
        return density + 0.5 * size * pt.log(prior.precision).sum() - 0.5 * (value[0] ** 2).sum() / self.wide_sd**2

    def draw_coefficients(self, _: Any, *scales: Any, rng: np.random.Generator, **__: Any) -> np.ndarray:
        """Draw alpha, eta and B from their prior."""
        prior = self._residual_prior(*(float(np.squeeze(value)) for value in scales))
        size = self.axes.contrasts
        root = np.sqrt(prior.scale) @ inverse_wishart_roots(prior.freedom, size, rng)[0]
        others = rng.standard_normal((len(self.is_list), size)) / np.sqrt(prior.precision)[:, None] @ root.T
        return np.concatenate([self.wide_sd * rng.standard_normal((1, size)), others])

    def of_distances(self, names: tuple[str, ...], value: Any, _: Any, *parameters: Any) -> Any:
        """Return the log density of all distances given the variables `names`, with covariances integrated out."""
        given, sample, axes = dict(zip(names, parameters, strict=True)), self.sample, self.axes
        shares, observed = sample.word_shares, (self.data.attribute, self.data.protected)
        distances = pt.set_subtensor(pt.zeros(sample.distances.shape)[observed], value)
        if "missing_distance" in given:
            distances = pt.set_subtensor(distances[self.lost], given["missing_distance"])
        weight, total = given.get("attribute_weight", pt.ones(len(shares))), pt.zeros(())
        if "attribute_weight" in given:
            total = total + 0.5 * axes.words * (shares * pt.log(weight)).sum()
        xi, x = given["list_group_mean"] * np.sqrt(axes.spreads), distances @ axes.between
        total = total + self._of_groups(given, x - xi[sample.list_of], weight * shares)
        if axes.contrasts:
            deviation = distances @ axes.within - fitted_contrasts(given["regression"], sample.list_of, x - self.origin)
            total = total + self._of_contrasts(given, deviation, weight * shares)
        return total

    def draw_distances(
        self, names: tuple[str, ...], _: Any, *parameters: Any, rng: np.random.Generator, **__: Any
    ) -> np.ndarray:
        """Draw the distances of all pairs, with covariances drawn from their distribution given the coefficients."""
        given = {name: np.asarray(value, dtype=float) for name, value in zip(names, parameters, strict=True)}
        sample, axes = self.sample, self.axes
        lengths = 1 / np.sqrt(given.get("attribute_weight", np.ones(len(sample.list_of))))[:, None]
        x = (given["list_group_mean"] * np.sqrt(axes.spreads))[sample.list_of]
        for place, kind in enumerate(sample.list_kind):
            rows, strength = np.flatnonzero(sample.list_of == place), float(given["target_weight"][kind])
            roots = inverse_wishart_roots(strength + axes.free + 1, axes.free, rng)[0]
            root = root_of(strength * group_target(given, int(kind), axes)) @ roots
            x[rows] += lengths[rows] * rng.standard_normal((len(rows), axes.free)) @ root.T
        vectors = x @ axes.between.T
        if axes.contrasts:
            prior, size = self._residual_prior(*(float(given[name]) for name in _OF_RESIDUALS)), axes.contrasts
            scale = prior.scale + _products(given["regression"][1:], prior.precision)
            root = np.linalg.cholesky(scale) @ inverse_wishart_roots(prior.freedom + len(self.is_list), size, rng)[0]
            noise = lengths * self._spread(given)[:, None] * rng.standard_normal((len(x), size)) @ root.T
            mean = fitted_contrasts(given["regression"], sample.list_of, x - self.origin)
            vectors = vectors + (mean + noise) @ axes.within.T
        return np.asarray(vectors[self.data.attribute, self.data.protected])

    def _residual_prior(self, sigma: Any, strength: Any, of_lists: Any, slope_sd: Any) -> "_ResidualPrior":
        size, weight = self.axes.contrasts, strength * self.axes.words
        precision = self.is_list / of_lists + self.is_slope * (sigma / slope_sd) ** 2 * self.axes.words
        return _ResidualPrior(weight * sigma**2 * np.eye(size), weight + size + 1, precision)

    def _spread(self, given: Mapping[str, Any]) -> Any:
        """Return the residual sd of each attribute word's kind of list, divided by that of the last kind."""
        last = self.scaled[:, -1]
        return last if "list_scale" not in given else self.scaled[:, :-1] @ given["list_scale"] + last

    def _of_groups(self, given: Mapping[str, Any], residual: Any, weight: Any) -> Any:
        """Return the density of the distances to whole groups given their deviations from the means of their lists."""
        free, sample, total = self.axes.free, self.sample, pt.zeros(())
        for place, kind in enumerate(sample.list_kind):
            rows, strength = np.flatnonzero(sample.list_of == place), given["target_weight"][kind]
            error = self.data.distance_error**2 * weight[rows].sum() * np.eye(free)
            square = _products(residual[rows], weight[rows]) + error
            scale, worth = strength * group_target(given, int(kind), self.axes), float(sample.list_worths[place])
            total = total + _matrix_t(square, scale, strength + free + 1, worth, free)
        return total

    def _of_contrasts(self, given: Mapping[str, Any], deviation: Any, weight: Any) -> Any:
        """Return the density of the contrasts of words within groups given their deviations from the regression."""
        prior, size = self._residual_prior(*(given[name] for name in _OF_RESIDUALS)), self.axes.contrasts
        spread = self._spread(given)
        share = weight / spread**2
        scale = prior.scale + _products(given["regression"][1:], prior.precision)
        square = _products(deviation, share) + self.data.distance_error**2 * share.sum() * np.eye(size)
        freedom = prior.freedom + len(self.is_list)
        density = _matrix_t(square, scale, freedom, float(self.sample.list_worths.sum()), size)
        return density - size * (self.sample.word_shares * pt.log(spread)).sum()


@dataclass(frozen=True)
class _ResidualPrior:
    """Inverse-Wishart prior of E (scale, freedom), and the precisions of eta and B in units of E."""

    scale: Any
    freedom: Any
    precision: Any


def fitted_contrasts(coefficients: Any, list_of: np.ndarray, deviation: Any) -> Any:
    """Return alpha + eta_L + B (x - x0) for rows of lists, of numbers or of PyTensor's variables."""
    lists = int(list_of.max()) + 1
    return coefficients[0] + coefficients[1:][list_of] + deviation @ coefficients[1 + lists :]


def _root(covariance: np.ndarray, error: float) -> np.ndarray:
    return np.linalg.cholesky(covariance + error**2 * np.eye(len(covariance)))


def _products(rows: Any, weights: Any) -> Any:
    return (rows * weights[:, None]).T @ rows


def _matrix_t(square: Any, scale: Any, freedom: Any, count: float, size: int) -> Any:
    """Return the log density of rows with their inverse-Wishart covariance integrated out, up to a constant."""
    places = np.arange(size)

    def log_determinant(matrix: Any) -> Any:
        return 2 * pt.log(pt.diag(pt.linalg.cholesky(matrix))).sum()

    gammas = (pt.gammaln((freedom + count - places) / 2) - pt.gammaln((freedom - places) / 2)).sum()
    whole = 0.5 * freedom * log_determinant(scale) - 0.5 * (freedom + count) * log_determinant(scale + square)
    return whole + gammas
