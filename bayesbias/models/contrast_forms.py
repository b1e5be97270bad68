"""Contrasts as linear forms of a multivariate model's location, whose conditional moments the sampler keeps."""

from dataclasses import dataclass

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.word_effects import effects_basis

# With more protected words the forms of single words would take longer than the sweeps.
MOST_WORDS = 60
CONDITIONAL = ("conditional_mean", "conditional_sd")
"""Moments of each form given all else, at each draw: names in a fit's `sample_stats`."""


@dataclass(frozen=True, eq=False)
class ContrastForm:
    """A contrast of the first connection with another one.

    `other` is the other connection; `level` is ``"population"`` or ``"protected_fixed"`` (all words), or
    ``"protected_group"`` or ``"word"``, with the `name` of the group or word. `weights`, of shape (C + J C,), are those
    of (mu, u_1, ..., u_J).
    """

    other: str
    level: str
    name: str
    weights: np.ndarray


def form_weights(data: ModelData) -> np.ndarray:
    """Return the weights of `contrast_forms`, shape (forms, size of the location); no form where there is no contrast.

    >>> from bayesbias.models.data import model_data
    >>> form_weights(model_data(table)).shape
    (60, 68)
    """
    size = len(data.connections) * (1 + len(data.protected_words))
    return np.array([form.weights for form in contrast_forms(data)]).reshape(-1, size)


def contrast_forms(data: ModelData) -> list[ContrastForm]:
    """Return the contrasts of a table whose conditional moments are kept, in their order in a fit.

    >>> from bayesbias.models.data import model_data
    >>> forms = contrast_forms(model_data(table))
    >>> len(forms), forms[1].other, forms[1].level
    (60, 'different', 'protected_fixed')
    """
    size, words, basis = len(data.connections), len(data.protected_words), effects_basis(data.connections)
    groups = dict.fromkeys(data.protected_groups.tolist())
    chosen = [("population", "", np.zeros(words)), ("protected_fixed", "", np.ones(words))]
    chosen += [("protected_group", str(group), (data.protected_groups == group).astype(float)) for group in groups]
    if words <= MOST_WORDS:
        chosen += [("word", str(word), np.eye(words)[at]) for at, word in enumerate(data.protected_words)]
    found = []
    for at, other in enumerate(data.connections[1:], start=1):
        for level, name, of in chosen:
            weights = np.zeros(size * (1 + words))
            weights[0], weights[at] = 1.0, -1.0
            weights[size:] = np.outer(of / max(of.sum(), 1), basis[0] - basis[at]).ravel()
            found.append(ContrastForm(other, level, name, weights))
    return found
