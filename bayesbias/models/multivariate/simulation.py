"""Draws of the multivariate model's parameters from their priors, and of attribute words given the parameters."""

from collections.abc import Mapping

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.list_model import coordinates_of
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis

# Means are drawn from this: their prior in the model is flat.
MEAN_PRIOR = Prior("Normal", {"mu": 1.0, "sigma": 0.3})


def draw_means_and_covariances(
    data: ModelData, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw the words' effects and the covariances of attribute words, given all else: one draw of each.

    Correlations of the effects come from their prior. Lists with the same connection to a word have the same mean.
    """
    from scipy.stats import invwishart

    sample, basis = attribute_sample(data), effects_basis(data.connections)
    between = np.atleast_2d(invwishart.rvs(len(basis) + 1, np.eye(len(basis)), random_state=rng))
    sds = np.sqrt(np.diag(between))
    between = between / np.outer(sds, sds) * np.outer(parameters["effect_sd"], parameters["effect_sd"])
    effects = rng.standard_normal((len(data.protected_words), len(basis))) @ root_of(between).T
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
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    free, size, levels = axes.free, axes.contrasts, axes.levels
    image, residual = axes.between, np.zeros((words, words))
    if size:
        strength = words * float(parameters["residual_weight"])
        standard = _inverse_wishart(strength + size + 1, strength * np.eye(size), rng)
        slopes = parameters["slope_sd"] / np.sqrt(words) * root_of(standard) @ rng.standard_normal((size, free))
        image = image + axes.within @ slopes
        residual = parameters["sigma"] ** 2 * axes.within @ standard @ axes.within.T
    scales = np.append(parameters.get("list_scale", np.zeros(0)), 1.0)
    covariances = np.empty((lists, words, words))
    for place, kind in enumerate(sample.list_kind):
        target = parameters["attribute_sd"][kind] ** 2 * np.outer(levels, levels)
        if free > 1:
            target = target + parameters["group_attribute_sd"][kind] ** 2 * np.diag(axes.spreads)
        weight = float(parameters["target_weight"][kind])
        lean = _inverse_wishart(weight + free + 1, weight * target, rng)
        covariances[place] = image @ lean @ image.T + scales[kind] ** 2 * residual
    return covariances


def _inverse_wishart(freedom: float, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a covariance with a scale that may be singular: an sd may be 0."""
    from scipy.stats import invwishart

    root = root_of(scale)
    standard = np.atleast_2d(invwishart.rvs(freedom, np.eye(len(scale)), random_state=rng))
    return np.asarray(root @ standard @ root.T)


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return a root R of a covariance matrix R R', which may be singular: an sd may be 0.

    >>> root_of(np.diag([4.0, 0.0])).round(6)
    array([[0., 2.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


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
    roots = np.stack([root_of(covariance) for covariance in parameters["residual_covariance"]])
    of_word = roots[sample.list_of]
    vectors = (of_word @ rng.standard_normal((attributes, roots.shape[1], 1)))[..., 0]
    if spec.switches["likelihood"] == "student_t":
        nu = float(parameters["nu"])
        vectors /= np.sqrt(rng.chisquare(nu, attributes) / nu)[:, None]
    return np.asarray(vectors[data.attribute, data.protected])
