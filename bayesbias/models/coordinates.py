"""The parameters of posteriors, their dims, and the labels of these."""

import numpy as np

from bayesbias.models.data import ModelData, list_names
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effect_names

# All that a posterior can hold, in the order of reports, and the dims that each has at most.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "connection_mean": ("connection",),
    "word_sd": ("connection",),
    "effect_sd": ("effect",),
    "sigma": ("connection",),
    "attribute_sd": ("attribute_list",),
    "group_attribute_sd": ("attribute_list",),
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
    "residual_covariance": ("attribute_list", "protected_word", "other_protected_word"),
    "attribute_weight": ("attribute_word",),
}


def coordinates(data: ModelData, spec: ModelSpec) -> dict[str, np.ndarray]:
    """Return the labels of each dim that the posterior of a model may have.

    `scaled_list` are the kinds of lists whose scale is estimated, relative to the last kind's.
    """
    connections, kinds = np.asarray(data.connections, dtype=str), np.asarray(list_names(data), dtype=str)
    labels = {
        "protected_word": data.protected_words,
        "connection": connections,
        "attribute_word": data.attribute_words,
        "attribute_list": kinds,
    }
    if spec.multivariate:
        labels |= {
            "other_protected_word": data.protected_words,
            "other_connection": connections,
            "attribute_group": np.asarray(attribute_sample(data).lists, dtype=str),
            "scaled_list": kinds[:-1],
            "effect": np.asarray(effect_names(data.connections), dtype=str),
        }
    return labels
