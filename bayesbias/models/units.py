"""Models whose priors are in the unit of a table."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.priors import Prior
from bayesbias.models.scales import COSINE, MEANS, Scale
from bayesbias.models.spec import NO_UNIT, ModelSpec, list_models, load_model


def in_unit(spec: ModelSpec, scale: Scale) -> ModelSpec:
    """Return a model whose bundled priors are in the unit of a table; priors that a user changed stay as they are.

    Raises a `ModelError` if a prior leaves nothing that a sampler can use.
    """
    written = spec
    if scale != COSINE:
        bundled = load_model(spec.name).priors if spec.name in list_models() else {}
        written = _with_priors(spec, scale, lambda name, prior: bundled.get(name) == prior)
    model_in_distances(written, scale).check_reach(written)
    return written


def model_in_distances(spec: ModelSpec, scale: Scale) -> ModelSpec:
    """Return a model whose priors, all in the unit of a table, are in the unit of cosine distances."""
    return spec if scale == COSINE else _with_priors(spec, scale.inverse, lambda *_: True)


def rows_in_distances(data: ModelData) -> ModelData:
    """Return the rows of a table with numbers in the unit of cosine distances."""
    return (
        data if data.scale == COSINE else replace(data, distance=data.scale.to_distances(data.distance), scale=COSINE)
    )


def _with_priors(spec: ModelSpec, scale: Scale, wanted: Callable[[str, Prior], bool]) -> ModelSpec:
    priors = {
        name: scaled_prior(prior, scale, is_mean=name in MEANS)
        if wanted(name, prior) and name not in NO_UNIT
        else prior
        for name, prior in spec.priors.items()
    }
    return replace(spec, priors=priors)


def scaled_prior(prior: Prior, scale: Scale, *, is_mean: bool) -> Prior:
    """Return the prior of a number in the unit of a table, from that of one in the unit of cosine distances.

    >>> str(scaled_prior(Prior("HalfStudentT", {"nu": 2, "sigma": 0.1}), Scale(8, 20), is_mean=False))
    'HalfStudentT(nu=2, sigma=2)'
    >>> str(scaled_prior(Prior("Normal", {"mu": 1, "sigma": 0.3}), Scale(8, 20), is_mean=True))
    'Normal(mu=8, sigma=6)'
    """
    values, unit = dict(prior.parameters), scale.unit
    if prior.distribution == "LogNormal":
        values["mu"] += float(np.log(unit))
        return Prior(prior.distribution, values)
    power = {"sigma": 1, "mu": 1, "rate": -1, "beta": 1 if prior.distribution == "InverseGamma" else -1}
    values = {name: value * unit ** power.get(name, 0) for name, value in values.items()}
    if is_mean and "mu" in values:
        values["mu"] = float(scale.from_distances(np.asarray(prior.parameters["mu"])))
    return Prior(prior.distribution, values)
