"""The multivariate model as a PyMC model: what NUTS can sample, for truth's sake."""

from typing import Any

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR, AttributeSample, attribute_sample
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis

# What NUTS needs but no reader wants.
MULTIVARIATE_AUXILIARY = (
    "effect_offset",
    "effect_scale",
    "effect_root_square",
    "effect_root_below",
    "missing_distance",
)


def add_multivariate(data: ModelData, spec: ModelSpec) -> None:
    """Add the variables of the multivariate model to the PyMC model of this context, which has the coordinates.

    The residual covariance Sigma is integrated out, so that the residuals r_j / s_k of all attribute words together
    have a matrix t density (n is their number, R the sum of their outer products, of distances known to within
    DISTANCE_ERROR)::

        |(nu - J - 1) T|^(nu/2) / |(nu - J - 1) T + R|^((nu + n)/2) Gamma_J((nu + n)/2) / Gamma_J(nu/2) prod s_k^-J

    S^-1 = L A A' L' by Bartlett's decomposition, L the diagonal of Huang and Wand's auxiliary scales, and a word's
    effects are (L A)^-T times standard Normal numbers. Lost pairs are parameters with no prior of their own.
    """
    import pymc as pm
    import pytensor.tensor as pt

    sample, priors = attribute_sample(data), spec.priors
    basis = effects_basis(data.connections)
    size, (n, words) = len(basis), sample.distances.shape
    mean = priors["connection_mean"].variable("connection_mean", dims="connection")
    root = _effect_root(spec, size)
    effects = pm.Normal("effect_offset", 0, 1, dims=("protected_word", "effect")) @ pt.linalg.inv(root)
    between = pt.linalg.inv(root @ root.T)
    pm.Deterministic("effect_sd", pt.sqrt(pt.diag(between)), dims="effect")
    covariance = basis @ between @ basis.T
    pm.Deterministic("word_covariance", covariance, dims=("connection", "other_connection"))
    pm.Deterministic("word_sd", pt.sqrt(pt.diag(covariance)), dims="connection")
    word_mean = pm.Deterministic("word_mean", mean + effects @ basis.T, dims=("protected_word", "connection"))
    scales = {name: priors[name].variable(name) for name in ("attribute_sd", "sigma", "target_weight")}
    target = scales["attribute_sd"] ** 2 + scales["sigma"] ** 2 * np.eye(words)
    if sample.has_groups:
        group_sd = priors["group_attribute_sd"].variable("group_attribute_sd")
        target = target + group_sd**2 * (sample.group_of[:, None] == sample.group_of)
    kind = sample.list_kind[sample.list_of]
    spread = np.ones(1)
    if len(sample.kinds) > 1:
        by_list = priors["list_scale"].variable("list_scale", dims="attribute_list")
        spread = pt.concatenate([by_list, np.ones(1)])
    spread = pt.as_tensor(spread)[kind]
    weight = np.ones(n)
    if spec.switches["likelihood"] == "student_t":
        nu = priors["nu"].variable("nu")
        weight = pm.Gamma("attribute_weight", nu / 2, nu / 2, dims="attribute_word")
    place = (sample.list_connection[sample.list_of], np.arange(words))
    share = weight / spread**2
    rest = (_distances(data, sample) - word_mean[place[1], place[0]]) * pt.sqrt(share)[:, None]
    square = rest.T @ rest + DISTANCE_ERROR**2 * share.sum() * np.eye(words)
    pm.Potential("cosine_distance", _matrix_t(square, target, words * scales["target_weight"], n, words))
    pm.Potential("spread", -words * pt.log(spread).sum() + 0.5 * words * pt.log(weight).sum())


def _effect_root(spec: ModelSpec, size: int) -> Any:
    """Return L A, the root of S^-1."""
    import pymc as pm
    import pytensor.tensor as pt

    freedom, scale = spec.priors["effect_sd"].parameters.values()
    auxiliary = pm.InverseGamma("effect_scale", 0.5, 1 / scale**2, dims="effect")
    square = pm.Gamma("effect_root_square", (freedom + size - 1 - np.arange(size)) / 2, 0.5, dims="effect")
    root = pt.diag(pt.sqrt(square))
    if size > 1:
        below = pm.Normal("effect_root_below", 0, 1, shape=size * (size - 1) // 2)
        root = pt.set_subtensor(root[np.tril_indices(size, -1)], below)
    return pt.sqrt(auxiliary / (2 * freedom))[:, None] * root


def _distances(data: ModelData, sample: AttributeSample) -> Any:
    """Return the distances of attribute words to protected words, the lost ones as parameters."""
    import pymc as pm
    import pytensor.tensor as pt

    observed = pm.Data("distance", data.distance)
    whole = pt.set_subtensor(pt.zeros(sample.distances.shape)[data.attribute, data.protected], observed)
    gone = np.nonzero(np.isnan(sample.distances))
    if len(gone[0]):
        lost = pm.Flat("missing_distance", shape=len(gone[0]), initval=np.full(len(gone[0]), data.distance.mean()))
        whole = pt.set_subtensor(whole[gone], lost)
    return whole


def _matrix_t(square: Any, target: Any, strength: Any, n: int, words: int) -> Any:
    """Return the log density of residuals with Sigma integrated out, up to a constant; `square` are their products."""
    import pytensor.tensor as pt

    nu = words + 1 + strength
    places = np.arange(words)

    def log_determinant(matrix: Any) -> Any:
        return 2 * pt.log(pt.diag(pt.linalg.cholesky(matrix))).sum()

    gammas = (pt.gammaln((nu + n - places) / 2) - pt.gammaln((nu - places) / 2)).sum()
    whole = strength * target
    return 0.5 * nu * log_determinant(whole) - 0.5 * (nu + n) * log_determinant(whole + square) + gammas
