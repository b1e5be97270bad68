"""The PyMC model that a spec describes."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_flag
from bayesbias.base.machine import has_home, same_environment
from bayesbias.errors import FitError
from bayesbias.models.coordinates import coordinates
from bayesbias.models.data import ModelData, attribute_lists, compared_part, model_data
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.models.units import in_unit
from bayesbias.tables.schema import FrameLike, as_frame

if TYPE_CHECKING:
    import pymc as pm


def pymc_model(
    table: FrameLike,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    *,
    priors: Mapping[str, Any] | None = None,
    likelihood: bool = True,
) -> "pm.Model":
    """Return the PyMC model that `fit` samples with NUTS, to be drawn, changed and sampled; `as_fit` takes its draws.

    Parameters
    ----------
    table
        A distance table (`distance_table`, `read_table`).
    model
        A name of `list_models`, the path of a TOML file, or a `ModelSpec`.
    priors
        Priors that replace the model's own, such as ``{"connection_mean": "Normal(1, 0.2)"}``.
    likelihood
        Whether the model has its observed variable `cosine_distance`. Without it, add one of your own, such as
        ``pm.StudentT("cosine_distance", nu, model["pair_mean"], sd, observed=model["distance"], dims="pair")``.

    Returns
    -------
    pymc.Model
        The model, with words, connections and pairs as coordinates. Its data are `distance`, in units of cosine
        distance, and the positions `protected_index`, `connection_index` and `attribute_index` of each pair's words;
        `pair_mean` is the mean of each pair. In the multivariate model the
        covariances are integrated out, and words like these are drawn after sampling.

    Raises
    ------
    TableError, ModelError, FitError
        If the table, the model or the priors cannot be used, or `likelihood` is False for the multivariate model.

    See Also
    --------
    as_fit : A fit from draws of this model, or of one that was changed.

    Examples
    --------
    >>> model = bb.pymc_model(table, "hierarchical")
    >>> [variable.name for variable in model.free_RVs]
    ['connection_mean', 'word_sd', 'word_offset', 'sigma']
    >>> model.named_vars_to_dims["pair_mean"], model["pair_mean"].eval().shape
    (('pair',), (2832,))
    """
    table = as_frame(table)
    data = model_data(table)
    spec = in_unit(load_model(model, priors=priors), data.scale)
    check_flag("likelihood", likelihood)
    if spec.multivariate and not likelihood:
        raise FitError(
            f"The likelihood of the model {spec.name!r} cannot be replaced: the covariances of attribute words are "
            "integrated out of it. Change a model of rows, such as 'crossed'."
        )
    return build_model(data if spec.multivariate else compared_part(data), spec, likelihood=likelihood)


@same_environment()
def build_model(data: ModelData, spec: ModelSpec, *, likelihood: bool = True) -> "pm.Model":
    """Return the PyMC model of `spec` for `data`.

    For a row with protected word i, connection g and attribute word j, and all switches on::

        cosine_distance ~ Normal(word_mean[i, g] + attribute_effect[j], sigma[g])
        word_mean[i, g] = connection_mean[g] + word_sd[g] * word_offset[i, g],      word_offset ~ Normal(0, 1)
        attribute_effect[j] = attribute_sd[list of j] * attribute_offset[j],   attribute_offset ~ Normal(0, 1)

    The second line is the paper's ``word_mean ~ Normal(connection_mean, word_sd)`` (Dobrzeniecka and Urbaniak,
    "Bayesian method"), written non-centred: with few rows per word, samplers cannot pass the funnel of the centred
    form. Without pooling, the prior of `connection_mean` is that of each word mean, and `connection_mean` is the
    average of the words that have rows. For the multivariate model, see `add_multivariate`.

    Dims are `protected_word` and `connection`; `attribute_word` with attribute effects, and `attribute_list` if each
    list has its own attribute_sd; and `pair`.
    """
    if not has_home():  # PyTensor compiles into ~/.pytensor, and runs what is there
        raise FitError("PyMC needs a home folder of this user's own. Set HOME to one that others cannot write to.")
    import pymc as pm

    from bayesbias.models.multivariate.pymc_density import add_multivariate

    with pm.Model(coords={**coordinates(data, spec), "pair": np.arange(len(data.distance))}) as model:
        if spec.multivariate:
            add_multivariate(data, spec)
        else:
            _add_rows(data, spec, likelihood=likelihood)
    return model


def _add_rows(data: ModelData, spec: ModelSpec, *, likelihood: bool) -> None:
    """Add the variables of a model of rows to the PyMC model of this context."""
    import pymc as pm

    switches, priors = spec.switches, spec.priors
    cells = ("protected_word", "connection")
    if switches["pooling"] == "partial":
        connection_mean = priors["connection_mean"].variable("connection_mean", dims="connection")
        word_sd = priors["word_sd"].variable("word_sd", dims="connection")
        offset = pm.Normal("word_offset", 0, 1, dims=cells)
        word_mean = pm.Deterministic("word_mean", connection_mean + word_sd * offset, dims=cells)
    else:
        word_mean = priors["connection_mean"].variable("word_mean", dims=cells)
        has_rows = (data.pair_counts > 0).astype(float)
        pm.Deterministic(
            "connection_mean", (word_mean * (has_rows / has_rows.sum(axis=0))).sum(axis=0), dims="connection"
        )
    # Wide indices give the same compiled code for any length of the table.
    protected, connection, attribute = (
        pm.Data(f"{side}_index", getattr(data, side).astype(np.int64), dims="pair")
        for side in ("protected", "connection", "attribute")
    )
    distance = pm.Data("distance", data.distance, dims="pair")
    expected = word_mean[protected, connection]
    if switches["attribute_effects"] != "none":
        expected = expected + _attribute_effect(data, spec)[attribute]
    sigma = priors["sigma"].variable("sigma", dims="connection")
    pair_mean = pm.Deterministic("pair_mean", expected, dims="pair")
    if likelihood:
        pm.Normal(data.measure.column, pair_mean, sigma[connection], observed=distance, dims="pair")


def _attribute_effect(data: ModelData, spec: ModelSpec) -> Any:
    import pymc as pm

    per_list = spec.switches["attribute_effects"] == "per_list"
    attribute_sd = spec.priors["attribute_sd"].variable("attribute_sd", dims="attribute_list" if per_list else None)
    if per_list:
        attribute_sd = attribute_sd[attribute_lists(data)]
    offset = pm.Normal("attribute_offset", 0, 1, dims="attribute_word")
    return pm.Deterministic("attribute_effect", attribute_sd * offset, dims="attribute_word")
