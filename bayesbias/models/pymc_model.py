"""The PyMC model that a spec describes."""

from typing import TYPE_CHECKING

from bayesbias.models.data import ModelData
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pymc as pm

# What a sampler needs but no reader wants: left out of the posterior.
AUXILIARY = ("word_offset",)


def build_model(data: ModelData, spec: ModelSpec) -> "pm.Model":
    """Return the PyMC model of `spec` for `data`.

    For a row with protected word i and connection g (Dobrzeniecka and Urbaniak, "Bayesian method")::

        cosine_distance ~ Normal(word_mean[i, g], sigma[g])
        word_mean[i, g] = group_mean[g] + word_sd[g] * word_offset[i, g],   word_offset ~ Normal(0, 1)

    The last line is the paper's ``word_mean ~ Normal(group_mean, word_sd)``, written non-centred: with few
    rows a word the centred form has a funnel that samplers do not pass.

    Parameters
    ----------
    data
        The rows.
    spec
        Switches and priors.

    Returns
    -------
    pymc.Model
        With dims `protected_word` and `connection`.
    """
    import pymc as pm

    coords = {"protected_word": data.protected_words, "connection": list(data.connections)}
    with pm.Model(coords=coords) as model:
        group_mean = spec.priors["group_mean"].variable("group_mean", dims="connection")
        word_sd = spec.priors["word_sd"].variable("word_sd", dims="connection")
        sigma = spec.priors["sigma"].variable("sigma", dims="connection")
        offset = pm.Normal("word_offset", 0, 1, dims=("protected_word", "connection"))
        word_mean = pm.Deterministic("word_mean", group_mean + word_sd * offset, dims=("protected_word", "connection"))
        pm.Normal(
            "cosine_distance",
            word_mean[data.protected, data.connection],
            sigma[data.connection],
            observed=data.distance,
        )
    return model
