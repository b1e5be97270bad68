"""The multivariate model as a PyMC model: to be drawn, simulated from, and sampled by NUTS."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.marginal_likelihood import (
    DISTANCE_ERROR,
    Coordinates,
    completed_distances,
    coordinates_of,
    list_statistics,
)
from bayesbias.models.multivariate.prior_draws import inverse_wishart_roots, root_of
from bayesbias.models.spec import ModelSpec

# Flat priors of the closed form are these here, so that PyMC can draw from them: an information of 1 / 1 beside that of
# the distances, whose means have errors of hundredths.
_WIDE_SD = 1.0
_MIDDLE = 1.0  # of cosine distances


def add_multivariate(data: ModelData, spec: ModelSpec) -> None:
    """Add the variables of the multivariate model to the PyMC model of this context, which has the coordinates.

    The model is that of `marginal_likelihood.py`, in its notation, with the covariances integrated out: Sigma_L of the
    distances to whole groups and E of the contrasts of words within groups leave a matrix t density each. Means of
    lists to whole groups (xi), and the coefficients (alpha, eta, B) of the regression of the contrasts, are variables;
    so are lost pairs. Words like these are drawn after sampling, from the means of these words. `list_group_mean`,
    alpha and lost pairs have Normal priors of sd 1 in place of flat ones.

    The density of `regression` is that of eta and B with E integrated out, and that of `cosine_distance` is the rest of
    the joint density: of all distances given the means and coefficients. Draws of `cosine_distance` have new
    covariances. Both variables are sampled on standardised axes: the geometry of the posterior, to first order.
    """
    sample = attribute_sample(data)
    words = sample.distances.shape[1]
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    density = _JointDensity(data, spec, sample, axes)
    variables = _scales(spec, axes, sample)
    stats, start = density.statistics, density.start
    gone = int(np.isnan(sample.distances).sum())
    if gone:
        variables["missing_distance"] = pm.Normal(
            "missing_distance", _MIDDLE, _WIDE_SD, shape=gone, initval=np.full(gone, data.distance.mean())
        )
    roots = np.sqrt(axes.spreads)
    variables["list_group_mean"] = pm.Normal(
        "list_group_mean",
        _MIDDLE,
        _WIDE_SD,
        shape=(len(sample.lists), len(roots)),
        initval=stats.centre[0] / roots,
        default_transform=_Standardised(stats.centre[0] / roots, *density.group_roots),
    )
    list_mean = variables["list_group_mean"] * roots @ axes.between.T
    if axes.contrasts:
        names = ("sigma", "residual_weight", "list_effect", "slope_sd")
        given = [variables[name] for name in names]
        variables["regression"] = pm.CustomDist(
            "regression",
            start,  # for its shape
            *given,
            logp=density.of_coefficients,
            random=density.draw_coefficients,
            signature=f"(r,p),{','.join(['()'] * len(names))}->(r,p)",
            initval=start,
            default_transform=_Standardised(start, *density.regression_roots),
        )
        slopes = variables["regression"][1 + len(sample.lists) :]
        of_lists = variables["regression"][1 : 1 + len(sample.lists)]
        xi = variables["list_group_mean"] * roots
        list_mean = (
            list_mean + (variables["regression"][:1] + of_lists + (xi - stats.origin[0]) @ slopes) @ axes.within.T
        )
    list_mean = pm.Deterministic("list_mean", list_mean, dims=("attribute_group", "protected_word"))
    list_index = pm.Data("list_index", sample.list_of[data.attribute], dims="pair")
    protected = pm.Data("protected_index", data.protected.astype(np.int64), dims="pair")
    pm.Deterministic("pair_mean", list_mean[list_index, protected], dims="pair")
    density.names = tuple(variables)
    axes_of = [",".join(f"{name}{axis}" for axis in range(value.ndim)) for name, value in variables.items()]
    pm.CustomDist(
        "cosine_distance",
        np.zeros(len(data.distance)),  # for its shape
        *variables.values(),
        logp=density.of_distances,
        random=density.draw_distances,
        signature=f"(pair),{','.join(f'({names})' for names in axes_of)}->(pair)",
        observed=pm.Data("distance", data.distance, dims="pair"),
        dims="pair",
    )


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
    dims: dict[str, str | None] = {"attribute_sd": "attribute_list", "target_weight": "attribute_list"}
    if axes.free > 1:
        dims["group_attribute_sd"] = "attribute_list"
    if axes.contrasts:
        dims |= dict.fromkeys(("sigma", "residual_weight", "list_effect", "slope_sd"))
        if len(sample.kinds) > 1:
            dims["list_scale"] = "scaled_list"
    scales = {name: spec.priors[name].variable(name, dims=dim) for name, dim in dims.items()}
    if spec.switches["likelihood"] == "student_t":
        nu = spec.priors["nu"].variable("nu")
        scales["attribute_weight"] = pm.Gamma("attribute_weight", nu / 2, nu / 2, dims="attribute_word")
    return scales


class _JointDensity:
    """Densities and draws of the coefficients and of the distances, with the covariances integrated out.

    `names` are those of the variables that the distances are given.
    """

    names: tuple[str, ...] = ()

    def __init__(self, data: ModelData, spec: ModelSpec, sample: AttributeSample, axes: Coordinates) -> None:
        self.data, self.spec, self.sample, self.axes = data, spec, sample, axes
        completed = completed_distances(sample)
        self.statistics = list_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
        lists, free = len(sample.lists), axes.free
        x = completed @ axes.between
        self.design = np.concatenate(
            [np.ones((len(x), 1)), np.eye(lists)[sample.list_of], x - self.statistics.origin[0]], axis=1
        )
        # A ridge of ordinary size: as good as the posterior of the hyperparameters for a choice of axes.
        prior = np.diag([0.0, *np.full(lists, 10.0), *np.full(free, 2.0)])
        weights = sample.word_shares[:, None]
        precision = self.design.T @ (self.design * weights) + prior
        self.start = np.linalg.solve(precision, (self.design * weights).T @ (completed @ axes.within))
        residual = completed @ axes.within - self.design @ self.start
        spread = (residual * weights).T @ residual
        size = max(axes.contrasts, 1)
        shrunk = (spread + np.trace(spread) * np.eye(axes.contrasts) / size) / (2 * weights.sum())
        self.regression_roots = (
            np.linalg.cholesky(np.linalg.inv(precision)),
            np.linalg.cholesky(shrunk + DISTANCE_ERROR**2 * np.eye(axes.contrasts)),
        )
        roots = np.sqrt(axes.spreads)
        scatter = self.statistics.scatter[0].sum(axis=0) / np.outer(roots, roots) / weights.sum()
        self.group_roots = (
            np.diag(1 / np.sqrt(self.statistics.weight[0])),
            np.linalg.cholesky(scatter + DISTANCE_ERROR**2 * np.eye(free)),
        )

    def _coefficient_precision(self, sigma: Any, of_lists: Any, slope_sd: Any) -> Any:
        lists, free = len(self.sample.lists), self.axes.free
        return pt.concatenate([pt.ones(lists) / of_lists, pt.ones(free) * (sigma / slope_sd) ** 2 * self.axes.words])

    def of_coefficients(self, value: Any, _: Any, sigma: Any, strength: Any, of_lists: Any, slope_sd: Any) -> Any:
        """Return the log density of alpha, eta and B, with E integrated out."""
        size, precision = self.axes.contrasts, self._coefficient_precision(sigma, of_lists, slope_sd)
        weight = strength * self.axes.words
        count = len(self.sample.lists) + self.axes.free
        square = _products(value[1:], precision)
        density = _matrix_t(square, weight * sigma**2 * np.eye(size), weight + size + 1, float(count), size)
        wide = -0.5 * (value[0] ** 2).sum() / _WIDE_SD**2
        return density + 0.5 * size * pt.log(precision).sum() + wide

    def of_distances(self, value: Any, _: Any, *parameters: Any) -> Any:
        """Return the log density of all distances given the means and coefficients, with covariances integrated out."""
        given, sample, axes = dict(zip(self.names, parameters, strict=True)), self.sample, self.axes
        distances = self._whole(value, given.get("missing_distance"))
        shares = sample.word_shares
        weight, total = given.get("attribute_weight", pt.ones(len(shares))), pt.zeros(())
        if "attribute_weight" in given:
            total = total + 0.5 * axes.words * (shares * pt.log(weight)).sum()
        xi, x = given["list_group_mean"] * np.sqrt(axes.spreads), distances @ axes.between
        total = total + self._of_groups(given, x - xi[sample.list_of], weight * shares)
        if axes.contrasts:
            design = pt.concatenate([self.design[:, : -axes.free], x - self.statistics.origin[0]], axis=1)
            total = total + self._of_contrasts(given, design, distances @ axes.within, weight * shares)
        return total

    def _whole(self, observed: Any, lost: Any) -> Any:
        """Return the distances of attribute words to protected words, the lost ones as parameters."""
        whole = pt.set_subtensor(
            pt.zeros(self.sample.distances.shape)[self.data.attribute, self.data.protected], observed
        )
        return whole if lost is None else pt.set_subtensor(whole[np.nonzero(np.isnan(self.sample.distances))], lost)

    def _of_groups(self, given: dict[str, Any], residual: Any, weight: Any) -> Any:
        """Return the density of the distances to whole groups given their deviations from the means of their lists."""
        free, sample, axes, total = self.axes.free, self.sample, self.axes, pt.zeros(())
        target = given["attribute_sd"][:, None, None] ** 2 * np.outer(axes.levels, axes.levels)
        if free > 1:
            target = target + given["group_attribute_sd"][:, None, None] ** 2 * np.diag(axes.spreads)
        for place, kind in enumerate(sample.list_kind):
            rows, strength = np.flatnonzero(sample.list_of == place), given["target_weight"][kind]
            square = _products(residual[rows], weight[rows]) + DISTANCE_ERROR**2 * weight[rows].sum() * np.eye(free)
            worth = float(sample.list_worths[place])
            total = total + _matrix_t(square, strength * target[kind], strength + free + 1, worth, free)
        return total

    def _of_contrasts(self, given: dict[str, Any], design: Any, contrasts: Any, weight: Any) -> Any:
        """Return the density of the contrasts of words within groups given their regression."""
        sample, size, coefficients = self.sample, self.axes.contrasts, given["regression"]
        scale = pt.ones(1)
        if "list_scale" in given:
            scale = pt.concatenate([given["list_scale"], scale])
        spread = scale[sample.list_kind[sample.list_of]]
        share = weight / spread**2
        sigma, prior_weight = given["sigma"], given["residual_weight"] * self.axes.words
        precision = self._coefficient_precision(sigma, given["list_effect"], given["slope_sd"])
        prior_scale = prior_weight * sigma**2 * np.eye(size) + _products(coefficients[1:], precision)
        square = _products(contrasts - design @ coefficients, share) + DISTANCE_ERROR**2 * share.sum() * np.eye(size)
        freedom = prior_weight + size + 1 + len(sample.lists) + self.axes.free
        density = _matrix_t(square, prior_scale, freedom, float(sample.list_worths.sum()), size)
        return density - size * (sample.word_shares * pt.log(spread)).sum()

    def draw_coefficients(self, _: Any, *parameters: Any, rng: np.random.Generator, **__: Any) -> np.ndarray:
        """Draw alpha, eta and B from their prior."""
        sigma, strength, of_lists, slope_sd = (float(np.squeeze(value)) for value in parameters)
        lists, free, contrasts, words = len(self.sample.lists), self.axes.free, self.axes.contrasts, self.axes.words
        weight = strength * words
        root = np.sqrt(weight) * sigma * inverse_wishart_roots(weight + contrasts + 1, contrasts, rng)[0]
        sds = np.concatenate([np.full(lists, np.sqrt(of_lists)), np.full(free, slope_sd / sigma / np.sqrt(words))])
        slopes_and_lists = sds[:, None] * rng.standard_normal((lists + free, contrasts)) @ root.T
        return np.concatenate([_WIDE_SD * rng.standard_normal((1, contrasts)), slopes_and_lists])

    def draw_distances(self, _: Any, *parameters: Any, rng: np.random.Generator, **__: Any) -> np.ndarray:
        """Draw the distances of all pairs, with covariances drawn from their distribution given the coefficients."""
        given = {name: np.asarray(value, dtype=float) for name, value in zip(self.names, parameters, strict=True)}
        sample, axes, vectors = self.sample, self.axes, np.zeros((len(self.sample.distances), self.axes.words))
        x = np.empty((len(vectors), axes.free))
        for place, kind in enumerate(sample.list_kind):
            rows, strength = np.flatnonzero(sample.list_of == place), float(given["target_weight"][kind])
            target = given["attribute_sd"][kind] ** 2 * np.outer(axes.levels, axes.levels)
            if axes.free > 1:
                target = target + given["group_attribute_sd"][kind] ** 2 * np.diag(axes.spreads)
            root = root_of(strength * target) @ inverse_wishart_roots(strength + axes.free + 1, axes.free, rng)[0]
            x[rows] = rng.standard_normal((len(rows), axes.free)) @ root.T
        if "attribute_weight" in given:
            x /= np.sqrt(given["attribute_weight"])[:, None]
        x += (given["list_group_mean"] * np.sqrt(axes.spreads))[sample.list_of]
        vectors = x @ axes.between.T
        if axes.contrasts:
            vectors = vectors + self._draw_contrasts(given, x, rng) @ axes.within.T
        return np.asarray(vectors[self.data.attribute, self.data.protected])

    def _draw_contrasts(self, given: dict[str, np.ndarray], x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        sample, size, coefficients, sigma = self.sample, self.axes.contrasts, given["regression"], float(given["sigma"])
        lists, free, weight = len(sample.lists), self.axes.free, float(given["residual_weight"]) * self.axes.words
        precision = np.concatenate(
            [
                np.full(lists, 1 / float(given["list_effect"])),
                np.full(free, (sigma / float(given["slope_sd"])) ** 2 * self.axes.words),
            ]
        )
        prior_scale = weight * sigma**2 * np.eye(size) + (coefficients[1:] * precision[:, None]).T @ coefficients[1:]
        root = np.linalg.cholesky(prior_scale) @ inverse_wishart_roots(weight + size + 1 + lists + free, size, rng)[0]
        spread = np.append(given.get("list_scale", np.zeros(0)), 1.0)[sample.list_kind[sample.list_of]]
        if "attribute_weight" in given:
            spread = spread / np.sqrt(given["attribute_weight"])
        design = np.concatenate([self.design[:, :-free], x - self.statistics.origin[0]], axis=1)
        return np.asarray(design @ coefficients + spread[:, None] * rng.standard_normal((len(x), size)) @ root.T)


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
