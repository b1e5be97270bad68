"""Parameters of the multivariate model drawn from their priors, and attribute words drawn given the parameters."""

from collections.abc import Mapping

import numpy as np

from bayesbias.models.data import ModelData, attribute_lists
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis


def draw_word_effects(
    data: ModelData, spec: ModelSpec, scales: Mapping[str, np.ndarray], *, rng: np.random.Generator, given: bool
) -> dict[str, np.ndarray]:
    """Draw S, the words' effects and Sigma, given the scales of a model: one draw of each.

    `effect_sd` in `scales` is kept where it is `given`; else S is drawn from Huang and Wand's prior with its sds, and
    replaces it. Correlations of the effects come from their prior in both cases.
    """
    from scipy.stats import invwishart

    basis, words = effects_basis(data.connections), len(data.protected_words)
    freedom, scale = spec.priors["effect_sd"].parameters.values()
    auxiliary = 1 / rng.gamma(0.5, scale**2, len(basis))
    drawn = invwishart.rvs(freedom + len(basis) - 1, 2 * freedom * np.diag(1 / auxiliary), random_state=rng)
    between = np.atleast_2d(drawn)
    sds = np.sqrt(np.diag(between))
    if given:
        between = between / np.outer(sds, sds) * np.outer(scales["effect_sd"], scales["effect_sd"])
        sds = scales["effect_sd"]
    effects = rng.standard_normal((words, len(basis))) @ root_of(between).T
    groups = np.unique(data.protected_groups, return_inverse=True)[1]
    same = (groups[:, None] == groups) & (1 < groups.max() + 1 < words)
    target = (
        scales["attribute_sd"] ** 2 + scales["group_attribute_sd"] ** 2 * same + scales["sigma"] ** 2 * np.eye(words)
    )
    strength = words * float(scales["target_weight"])
    standard = np.atleast_2d(invwishart.rvs(words + 1 + strength, strength * np.eye(words), random_state=rng))
    root = root_of(target)
    residual = root @ standard @ root.T
    word_covariance = basis @ between @ basis.T
    return {
        "effect_sd": sds,
        "word_mean": scales["connection_mean"] + effects @ basis.T,
        "word_sd": np.sqrt(np.diag(word_covariance)),
        "word_covariance": word_covariance,
        "residual_covariance": residual,
    }


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return a root R of a covariance matrix R R', which may be singular: a given sd may be 0.

    >>> root_of(np.diag([4.0, 0.0])).round(6)
    array([[0., 2.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def list_scales(data: ModelData, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the scale of each attribute word's list, that of the last kind of list being 1."""
    scales = np.append(parameters.get("list_scale", np.zeros(0)), 1.0)
    return np.asarray(scales[attribute_lists(data)])


def draw_vectors(
    data: ModelData, spec: ModelSpec, parameters: Mapping[str, np.ndarray], *, rng: np.random.Generator
) -> np.ndarray:
    """Draw what sets each row of `data` apart from its mean: one vector for each attribute word."""
    attributes = len(data.attribute_words)
    root = root_of(parameters["residual_covariance"])
    scale = list_scales(data, parameters)
    if spec.switches["likelihood"] == "student_t":
        nu = float(parameters["nu"])
        scale = scale / np.sqrt(rng.chisquare(nu, attributes) / nu)
    vectors = scale[:, None] * (rng.standard_normal((attributes, len(root))) @ root.T)
    return np.asarray(vectors[data.attribute, data.protected])
