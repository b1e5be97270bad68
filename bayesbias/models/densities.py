"""The densities of a table's rows under the draws of a fit, of any model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.models.coordinates import posterior_with_covariances
from bayesbias.models.data import ModelData, attribute_lists, list_kinds
from bayesbias.models.fit_files import check_unchanged
from bayesbias.models.likelihood import Densities
from bayesbias.models.multivariate.predictive_density import vector_densities

if TYPE_CHECKING:
    import xarray as xr


def densities(fit: "xr.DataTree", data: ModelData, *, effects: bool = True) -> Densities:
    """Return the densities of `data` under the draws of a fit of it, or of a part of it.

    What `data` has and the fit has not, such as a connection that lost its last word, becomes NaN. `effects` is whether
    to keep the attribute effects, which only `Densities.of_rows` needs. A `FitError` says that the user changed the
    model.
    """
    check_unchanged(fit)
    posterior = posterior_with_covariances(fit)
    if "list_mean" in posterior:
        return vector_densities(posterior, data)
    order = {"protected_word": data.protected_words, "connection": list(data.connections)}

    def values(name: str, *dims: str) -> np.ndarray:
        draws = posterior[name].stack(sample=("chain", "draw"), create_index=False)
        wanted: dict[str, Any] = {dim: order[dim] for dim in dims if dim in draws.dims}
        variables = draws.reindex(wanted).transpose(..., "sample")
        return np.ascontiguousarray(variables.transpose(*wanted, "sample").to_numpy())

    attribute_sd = effect = None
    if "attribute_sd" in posterior:
        if "attribute_list" in posterior["attribute_sd"].dims:
            order["attribute_list"] = list(list_kinds(data))
            attribute_sd = values("attribute_sd", "attribute_list")[attribute_lists(data)]
        else:
            sd = values("attribute_sd")
            attribute_sd = np.broadcast_to(sd, (len(data.attribute_words), len(sd)))
        if effects:
            order["attribute_word"] = data.attribute_words
            effect = values("attribute_effect", "attribute_word")
    return Densities(
        data=data,
        word_mean=values("word_mean", "protected_word", "connection"),
        sigma=values("sigma", "connection"),
        attribute_sd=attribute_sd,
        attribute_effect=effect,
    )
