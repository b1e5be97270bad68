"""The parameters of posteriors, their dims, and the labels of each dim; draws as a labelled dataset."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.models.data import ModelData, list_kinds
from bayesbias.models.multivariate.attribute_sample import attribute_sample, effect_names
from bayesbias.models.multivariate.posterior_draws import MOST_COVARIANCE_NUMBERS
from bayesbias.models.multivariate.prior_draws import word_axes
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import xarray as xr

# All parameters that a posterior can hold, in the order of reports, and the most dims that each can have.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "connection_mean": ("connection",),
    "word_sd": ("connection",),
    "effect_sd": ("effect",),
    "sigma": ("connection",),
    "attribute_sd": ("attribute_list",),
    "group_attribute_sd": ("attribute_list",),
    "covariate_attribute_sd": ("attribute_list", "covariate"),
    "target_weight": ("attribute_list",),
    "residual_weight": (),
    "list_effect": (),
    "slope_sd": (),
    "list_scale": ("scaled_list",),
    "nu": (),
    "word_mean": ("protected_word", "connection"),
    "list_mean": ("attribute_group", "protected_word"),
    "attribute_effect": ("attribute_word",),
    "word_covariance": ("connection", "other_connection"),
    "residual_covariance": ("attribute_group", "protected_word", "other_protected_word"),
    "attribute_weight": ("attribute_word",),
}


COVARIANCES = "covariances"
"""The group of a fit that holds its largest variable, `residual_covariance`, so that `posterior` is short."""


def posterior_with_covariances(fit: "xr.DataTree") -> "xr.Dataset":
    """Return the posterior of a fit with the covariances of its lists, if it has them."""
    posterior = fit["posterior"].to_dataset()
    return posterior.merge(fit[COVARIANCES].to_dataset(), join="exact") if COVARIANCES in fit.children else posterior


def coordinates(data: ModelData, spec: ModelSpec) -> dict[str, np.ndarray]:
    """Return the labels of each dim that the posterior of a model can have.

    `scaled_list` holds the kinds of lists whose scale is estimated, relative to that of the last kind, `covariate` the
    covariates that differ between words of a group.
    """
    connections, kinds = np.asarray(data.connections, dtype=str), np.asarray(list_kinds(data), dtype=str)
    labels = {
        "protected_word": data.protected_words,
        "connection": connections,
        "attribute_word": data.attribute_words,
        "attribute_list": kinds,
    }
    if spec.multivariate:
        if data.covariates is not None:
            places = list(word_axes(attribute_sample(data)).covariates)
            labels["covariate"] = np.asarray(data.covariate_names, dtype=str)[places]
        labels |= {
            "other_protected_word": data.protected_words,
            "other_connection": connections,
            "attribute_group": np.asarray(attribute_sample(data).lists, dtype=str),
            "scaled_list": kinds[:-1],
            "effect": np.asarray(effect_names(data.connections), dtype=str),
        }
    return labels


def draws_dataset(draws: Mapping[str, np.ndarray], data: ModelData, spec: ModelSpec, chains: int = 1) -> "xr.Dataset":
    """Return draws of parameters, each of shape (chains * draws, ...), with chains, dims and labels."""
    import xarray as xr

    variables = {
        name: (
            ("chain", "draw", *PARAMETERS[name][: values.ndim - 1]),
            values.reshape(chains, len(values) // chains, *values.shape[1:]),
        )
        for name, values in draws.items()
    }
    used = {dim for dims, _ in variables.values() for dim in dims}
    labels = {dim: names for dim, names in coordinates(data, spec).items() if dim in used}
    first = next(iter(variables.values()))[1]
    return xr.Dataset(variables, coords={"chain": np.arange(chains), "draw": np.arange(first.shape[1])} | labels)


def bytes_of_draws(spec: ModelSpec, draws: int, protected: int, connections: int, attributes: int) -> int:
    """Return the bytes that draws of a model need: their own, and three times that during sampling."""
    return 4 * 8 * draws * parameter_count(spec, protected, connections, attributes)


def bytes_of_covariances(draws: int, lists: int, groups: int) -> int:
    """Return the bytes that the covariances of the means of groups need while lists are drawn: four copies of them."""
    return 4 * 8 * draws * lists * groups**2


def parameter_count(spec: ModelSpec, protected: int, connections: int, attributes: int) -> int:
    """Return the number of parameters of a model, for so many words and connections, and one list a connection."""
    numbers = protected * connections + 3 * connections
    if spec.multivariate:
        covariances = connections * protected**2
        drawn = covariances <= MOST_COVARIANCE_NUMBERS
        return numbers + protected * connections + (covariances if drawn else 0)
    return numbers + (attributes if spec.switches["attribute_effects"] != "none" else 0)
