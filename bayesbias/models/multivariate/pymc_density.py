"""The multivariate model as a PyMC model, which NUTS can sample to check the package's own sampler."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from bayesbias.base.machine import has_home
from bayesbias.errors import FitError

if not has_home():  # PyTensor would compile into ./~/.pytensor, and run what is there
    raise FitError("PyMC needs a home folder, and this user has none. Set HOME to a folder of your own.")

import pymc as pm
import pytensor.tensor as pt

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample, effects_basis
from bayesbias.models.multivariate.list_model import (
    DISTANCE_ERROR,
    Coordinates,
    completed_distances,
    coordinates_of,
    list_statistics,
    standard_roots,
)
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec


def add_multivariate(data: ModelData, spec: ModelSpec) -> None:
    """Add the variables of the multivariate model to the PyMC model of this context, which has the coordinates.

    The model is that of `list_model.py`, in its notation, with the covariances integrated out: Sigma_L of the
    distances to whole groups and E of the contrasts of words within groups leave a matrix t density each. Means of
    lists to whole groups (xi), and the coefficients (alpha, eta, B) of the regression of the contrasts, are variables;
    so are lost pairs. Words like these are drawn after sampling, from the means of these words.
    """
    sample, priors = attribute_sample(data), spec.priors
    words = sample.distances.shape[1]
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    distances = _distances(data, sample)
    weight, shares = pt.ones(len(sample.distances)), sample.word_shares
    if spec.switches["likelihood"] == "student_t":
        nu = priors["nu"].variable("nu")
        weight = pm.Gamma("attribute_weight", nu / 2, nu / 2, dims="attribute_word")
        pm.Potential("weights", 0.5 * words * (shares * pt.log(weight)).sum())
    # Coordinates of the attribute words around a constant, as the closed form has them.
    completed = completed_distances(sample)
    stats = list_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
    origin, roots = stats.origin[0], np.sqrt(axes.spreads)
    group_mean = pm.Flat("list_group_mean", shape=(len(sample.lists), len(roots)), initval=stats.centre[0] / roots)
    xi, x = group_mean * roots, distances @ axes.between
    list_mean = xi @ axes.between.T
    _add_means_of_groups(sample, spec, axes, x - xi[sample.list_of], weight * shares)
    if axes.contrasts:
        design = pt.concatenate(
            [np.ones((len(completed), 1)), np.eye(len(sample.lists))[sample.list_of], x - origin], axis=1
        )
        regression = _add_regression(sample, spec, axes, design, distances @ axes.within, weight * shares)
        of_lists, slopes = regression[1 : 1 + len(sample.lists)], regression[1 + len(sample.lists) :]
        list_mean = list_mean + (regression[:1] + of_lists + (xi - origin) @ slopes) @ axes.within.T
    pm.Deterministic("list_mean", list_mean, dims=("attribute_group", "protected_word"))


def _add_means_of_groups(
    sample: AttributeSample, spec: ModelSpec, axes: Coordinates, residual: Any, weight: Any
) -> None:
    """Add the density of the distances to whole groups given their deviations from the means of their lists."""
    free, priors = axes.free, spec.priors
    attribute_sd = priors["attribute_sd"].variable("attribute_sd", dims="attribute_list")
    target = attribute_sd[:, None, None] ** 2 * np.outer(axes.levels, axes.levels)
    if free > 1:
        group_sd = priors["group_attribute_sd"].variable("group_attribute_sd", dims="attribute_list")
        target = target + group_sd[:, None, None] ** 2 * np.diag(axes.spreads)
    strength = priors["target_weight"].variable("target_weight", dims="attribute_list")
    for place, (name, kind) in enumerate(zip(sample.lists, sample.list_kind, strict=True)):
        rows = np.flatnonzero(sample.list_of == place)
        square = _products(residual[rows], weight[rows]) + DISTANCE_ERROR**2 * weight[rows].sum() * np.eye(free)
        scale = strength[kind] * target[kind]
        density = _matrix_t(square, scale, strength[kind] + free + 1, float(sample.list_worths[place]), free)
        pm.Potential(f"distances of the list {name} to groups", density + pt.zeros(()))


def _add_regression(
    sample: AttributeSample, spec: ModelSpec, axes: Coordinates, design: Any, contrasts: Any, weight: Any
) -> Any:
    """Add the regression of the contrasts of words within groups, and return its coefficients (alpha, eta, B)."""
    priors, kinds = spec.priors, len(sample.kinds)
    lists, free, words, size = len(sample.lists), axes.free, axes.words, axes.contrasts
    sigma, strength, of_lists, slope_sd = (
        priors[name].variable(name) for name in ("sigma", "residual_weight", "list_effect", "slope_sd")
    )
    scale = pt.ones(1)
    if kinds > 1:
        scale = pt.concatenate([priors["list_scale"].variable("list_scale", dims="scaled_list"), scale])
    spread = scale[sample.list_kind[sample.list_of]]
    coefficients = pm.Flat("regression", shape=(1 + lists + free, size), initval=np.zeros((1 + lists + free, size)))
    share = weight / spread**2
    precision = pt.concatenate([pt.ones(lists) / of_lists, pt.ones(free) * (sigma / slope_sd) ** 2 * words])
    square = _products(contrasts - design @ coefficients, share) + _products(coefficients[1:], precision)
    square = square + DISTANCE_ERROR**2 * share.sum() * np.eye(size)
    prior_weight, count = strength * words, float(sample.list_worths.sum()) + lists + free
    density = _matrix_t(square, prior_weight * sigma**2 * np.eye(size), prior_weight + size + 1, count, size)
    pm.Potential(
        "distances within groups",
        density + 0.5 * size * pt.log(precision).sum() - size * (sample.word_shares * pt.log(spread)).sum(),
    )
    return coefficients


def _distances(data: ModelData, sample: AttributeSample) -> Any:
    """Return the distances of attribute words to protected words, the lost ones as parameters."""
    observed = pm.Data("distance", data.distance)
    whole = pt.set_subtensor(pt.zeros(sample.distances.shape)[data.attribute, data.protected], observed)
    gone = np.nonzero(np.isnan(sample.distances))
    if len(gone[0]):
        lost = pm.Flat("missing_distance", shape=len(gone[0]), initval=np.full(len(gone[0]), data.distance.mean()))
        whole = pt.set_subtensor(whole[gone], lost)
    return whole


def _products(rows: Any, weights: Any) -> Any:
    """Return the weighted sum of the outer products of rows."""
    return (rows * weights[:, None]).T @ rows


def _matrix_t(square: Any, scale: Any, freedom: Any, count: float, size: int) -> Any:
    """Return the log density of rows with their inverse-Wishart covariance integrated out, up to a constant."""
    places = np.arange(size)

    def log_determinant(matrix: Any) -> Any:
        return 2 * pt.log(pt.diag(pt.linalg.cholesky(matrix))).sum()

    gammas = (pt.gammaln((freedom + count - places) / 2) - pt.gammaln((freedom - places) / 2)).sum()
    whole = 0.5 * freedom * log_determinant(scale) - 0.5 * (freedom + count) * log_determinant(scale + square)
    return whole + gammas


# Means are drawn from this: their prior in the model is flat.
MEAN_PRIOR = Prior("Normal", {"mu": 1.0, "sigma": 0.3})


def draw_means_and_covariances(
    data: ModelData, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw the words' effects and the covariances of attribute words, given all else: one draw of each.

    Correlations of the effects come from their prior. Lists with the same connection to a word have the same mean.
    """
    sample, basis = attribute_sample(data), effects_basis(data.connections)
    root = _standard_roots(len(basis) + 1, len(basis), rng)[0]
    root = parameters["effect_sd"][:, None] * root / np.linalg.norm(root, axis=1, keepdims=True)
    between = root @ root.T
    effects = rng.standard_normal((len(data.protected_words), len(basis))) @ root.T
    word_covariance, word_mean = basis @ between @ basis.T, parameters["connection_mean"] + effects @ basis.T
    share = sample.connection_weights > 0
    return {
        "word_mean": word_mean,
        "word_sd": np.sqrt(np.diag(word_covariance)),
        "word_covariance": word_covariance,
        "list_mean": np.einsum("jc,jcl->lj", word_mean, share),
        "residual_covariance": draw_covariances(sample, parameters, rng),
    }


def draw_covariances(
    sample: AttributeSample, parameters: Mapping[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Draw the covariance of attribute words of each list, shape (lists, words, words)."""
    words, lists = sample.distances.shape[1], len(sample.lists)
    axes = _axes(sample)
    free, size, levels = axes.free, axes.contrasts, axes.levels
    image, residual = axes.between, np.zeros((words, words))
    if size:
        strength = words * float(parameters["residual_weight"])
        root = np.sqrt(strength) * _standard_roots(strength + size + 1, size, rng)[0]
        slopes = parameters["slope_sd"] / np.sqrt(words) * root @ rng.standard_normal((size, free))
        image = image + axes.within @ slopes
        residual = parameters["sigma"] ** 2 * (axes.within @ root) @ (axes.within @ root).T
    scales = np.append(parameters.get("list_scale", np.zeros(0)), 1.0)
    covariances = np.empty((lists, words, words))
    for kind in range(len(sample.kinds)):
        target = parameters["attribute_sd"][kind] ** 2 * np.outer(levels, levels)
        if free > 1:
            target = target + parameters["group_attribute_sd"][kind] ** 2 * np.diag(axes.spreads)
        weight, members = float(parameters["target_weight"][kind]), sample.list_kind == kind
        roots = image @ (root_of(weight * target) @ _standard_roots(weight + free + 1, free, rng, members.sum()))
        covariances[members] = roots @ np.swapaxes(roots, 1, 2) + scales[kind] ** 2 * residual
    return covariances


@lru_cache(maxsize=2)
def _axes(sample: AttributeSample) -> Coordinates:
    """Return the coordinates of words, the same for each of thousands of draws."""
    words = sample.distances.shape[1]
    return coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)


def _standard_roots(freedom: float, size: int, rng: np.random.Generator, count: int = 1) -> np.ndarray:
    return np.ascontiguousarray(standard_roots(np.full(count, freedom), size, rng))


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return roots R of covariance matrices R R', which may be singular: an sd may be 0.

    >>> root_of(np.diag([4.0, 0.0])).round(6)
    array([[0., 2.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])


def row_sds(data: ModelData, covariance: np.ndarray) -> np.ndarray:
    """Return the sd of each row's distance around its mean, given the covariance of attribute words by list."""
    sample = attribute_sample(data)
    sds = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return np.asarray(sds[sample.list_of[data.attribute], data.protected])


def draw_vectors(
    data: ModelData, spec: ModelSpec, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> np.ndarray:
    """Draw the deviation of each row of `data` from its mean, from one vector for each attribute word."""
    sample, attributes = attribute_sample(data), len(data.attribute_words)
    roots = root_of(parameters["residual_covariance"])
    of_word = roots[sample.list_of]
    vectors = (of_word @ rng.standard_normal((attributes, roots.shape[1], 1)))[..., 0]
    if spec.switches["likelihood"] == "student_t":
        nu = float(parameters["nu"])
        vectors /= np.sqrt(rng.chisquare(nu, attributes) / nu)[:, None]
    return np.asarray(vectors[data.attribute, data.protected])
