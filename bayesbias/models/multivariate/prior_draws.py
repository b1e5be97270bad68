"""Draws of the multivariate model given its hyperparameters, with proper priors in place of flat ones."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample, effects_basis
from bayesbias.models.multivariate.marginal_likelihood import LEAN, Coordinates, coordinates_of, standard_roots
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec

# Means are drawn from this: their prior in the model is flat.
MEAN_PRIOR = Prior("Normal", {"mu": 1.0, "sigma": 0.3})


def draw_means_and_covariances(
    data: ModelData, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw the words' effects and the covariances of attribute words, given all else: for each draw of the parameters.

    The leading axis of all arrays is that of draws. Correlations of the effects come from their prior. Lists with the
    same connection to a word have the same mean.
    """
    sample, basis = attribute_sample(data), effects_basis(data.connections)
    draws, size = len(parameters["connection_mean"]), len(basis)
    root = standard_roots(np.full(draws, size + 1.0), size, rng)
    root = parameters["effect_sd"][:, :, None] * root / np.linalg.norm(root, axis=2, keepdims=True)
    between = root @ np.swapaxes(root, 1, 2)
    effects = rng.standard_normal((draws, len(data.protected_words), size)) @ np.swapaxes(root, 1, 2)
    word_covariance = basis @ between @ basis.T
    word_mean = parameters["connection_mean"][:, None] + effects @ basis.T
    share = sample.connection_weights > 0
    return {
        "word_mean": word_mean,
        "word_sd": np.sqrt(np.diagonal(word_covariance, axis1=1, axis2=2)),
        "word_covariance": word_covariance,
        "list_mean": np.einsum("djc,jcl->dlj", word_mean, share),
        "residual_covariance": draw_covariances(sample, parameters, rng),
    }


def draw_covariances(
    sample: AttributeSample, parameters: Mapping[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Draw the covariance of attribute words of each list, shape (draws, lists, words, words).

    The leading axis of all parameters is that of draws.
    """
    words, lists = sample.distances.shape[1], len(sample.lists)
    axes, draws = word_axes(sample), len(parameters["target_weight"])
    free, size = axes.free, axes.contrasts
    image, residual = np.broadcast_to(axes.between, (draws, words, free)), np.zeros((draws, words, words))
    if size:
        strength = words * parameters["residual_weight"]
        root = np.sqrt(strength)[:, None, None] * standard_roots(strength + size + 1, size, rng)
        slopes = (parameters["slope_sd"] / np.sqrt(words))[:, None, None] * root
        image = image + axes.within @ (slopes @ rng.standard_normal((draws, size, free)))
        of_words = parameters["sigma"][:, None, None] * (axes.within @ root)
        residual = of_words @ np.swapaxes(of_words, 1, 2)
    scales = np.concatenate([parameters.get("list_scale", np.zeros((draws, 0))), np.ones((draws, 1))], axis=1)
    by_kind = {name: np.moveaxis(parameters[name], 0, -1)[..., None, None] for name in LEAN if name in parameters}
    covariances = np.empty((draws, lists, words, words))
    for kind in range(len(sample.kinds)):
        weight, members = parameters["target_weight"][:, kind, None], np.flatnonzero(sample.list_kind == kind)
        root = root_of(weight[..., None] * group_target(by_kind, kind, axes))
        freedom = np.broadcast_to(weight + free + 1, (draws, len(members)))
        roots = image[:, None] @ (root[:, None] @ standard_roots(freedom, free, rng))
        of_kind = scales[:, kind, None, None] ** 2 * residual
        covariances[:, members] = roots @ np.swapaxes(roots, 2, 3) + of_kind[:, None]
    return covariances


def group_target(parameters: Mapping[str, Any], kind: int, axes: Coordinates) -> Any:
    """Return T_k, the target of the covariances of a kind of list, of numbers or of PyTensor's variables."""
    target, of_groups = parameters["attribute_sd"][kind] ** 2 * np.outer(axes.levels, axes.levels), len(axes.sizes) > 1
    scales = [parameters["group_attribute_sd"][kind]] if of_groups else []
    scales += [parameters["covariate_attribute_sd"][kind][place] for place in range(len(axes.lean_scales) - of_groups)]
    for scale, spread in zip(scales, axes.lean_scales, strict=True):
        target = target + scale**2 * np.diag(spread)
    return target


@lru_cache(maxsize=2)
def word_axes(sample: AttributeSample) -> Coordinates:
    """Return the coordinates of the protected words, the same for each of thousands of draws."""
    words = sample.distances.shape[1]
    return coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)


def inverse_wishart_roots(freedom: float, size: int, rng: np.random.Generator, count: int = 1) -> np.ndarray:
    """Draw roots R of inverse-Wishart matrices R R' with the identity as scale, shape (count, size, size)."""
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
    """Return the sd of each row's distance around its mean, shape (..., rows).

    Covariances are those of attribute words by list, shape (..., lists, words, words).
    """
    sample = attribute_sample(data)
    sds = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    return np.asarray(sds[..., sample.list_of[data.attribute], data.protected])


def draw_vectors(
    data: ModelData, spec: ModelSpec, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> np.ndarray:
    """Draw the deviation of each row of `data` from its mean, from one vector for each attribute word."""
    sample, attributes = attribute_sample(data), len(data.attribute_words)
    roots = root_of(parameters["residual_covariance"])
    vectors = rng.standard_normal((attributes, roots.shape[1]))
    for place, root in enumerate(roots):
        vectors[sample.list_of == place] @= root.T
    if spec.switches["likelihood"] == "student_t":
        nu = float(parameters["nu"])
        vectors /= np.sqrt(rng.chisquare(nu, attributes) / nu)[:, None]
    return np.asarray(vectors[data.attribute, data.protected])
