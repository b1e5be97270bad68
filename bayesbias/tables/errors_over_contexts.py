"""Standard errors of contrasts over contexts or templates, for vectors that are means over them."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding, cosine_effects


def contrast_errors(
    embedding: ContextualEmbedding,
    protected: pd.DataFrame,
    attributes: pd.DataFrame,
    connections: Mapping[tuple[str, str], str],
) -> list[dict[str, Any]]:
    """Return the standard error over contexts of each contrast of mean distances (delta method).

    - `embedding`: vectors with their deviations over contexts.
    - `protected`, `attributes`: frames of `word` and `list`, words of the embedding.
    - `connections`: connection of each pair of a protected and an attribute list.

    Returns
    -------
    list of dict
        For each pair of connections, for all protected words, each group, and each word: `contrast`, `level`, `name`
        (of the group or word), and `sd` in units of cosine distance. Lists and groups weigh the same, as in the column
        `observed` of `bb.contrasts`.

    If all words have the same contexts (templates), their errors move together: the effects of a group of contexts on
    all pairs are summed before squaring. Otherwise only the pairs of one word share its error.
    """
    names = list(dict.fromkeys(connections.values()))
    weights = _pair_weights(protected, attributes, connections, names)
    groups = protected["list"].to_numpy()
    shares = _word_shares(weights, groups)
    has = weights.any(axis=2)
    vectors, deviations = embedding.with_deviations(protected["word"])
    others = embedding.with_deviations(attributes["word"])
    sums = {
        (pair, place): np.zeros(others[1].shape[:2])
        for pair in combinations(range(len(names)), 2)
        for place in [("overall", ""), *(("protected_group", name) for name in protected["list"].unique())]
    }
    variances = dict.fromkeys(sums, 0.0)
    errors: dict[_Key, float] = {}
    for row, (word, group) in enumerate(protected[["word", "list"]].itertuples(index=False)):
        (mine,), (theirs,) = cosine_effects(vectors[[row]], deviations[[row]], *others, paired=embedding.paired)
        for first, second in combinations(range(len(names)), 2):
            if not (has[row, first] and has[row, second]):
                continue
            contrast = (weights[row, first] - weights[row, second])[:, None]
            pair, word_effect, other = (first, second), (contrast * mine).sum(axis=0), contrast * theirs
            if embedding.paired:  # one sum over the attribute words, too
                other = np.broadcast_to((word_effect + other.sum(axis=0)) / len(other), other.shape)
                word_effect = np.zeros_like(word_effect)
            errors[pair, ("word", str(word))] = _sd(word_effect @ word_effect, other, paired=embedding.paired)
            places = ("overall", ""), ("protected_group", str(group))
            for place, share in zip(places, shares[pair][:, row], strict=True):
                sums[pair, place] += share * other
                variances[pair, place] += share**2 * (word_effect @ word_effect)
    for key, total in sums.items():
        if total.any() or variances[key]:
            errors[key] = _sd(variances[key], total, paired=embedding.paired)
    return _records(errors, names)


def template_facts(
    numbers: np.ndarray,
    protected: pd.DataFrame,
    attributes: pd.DataFrame,
    connections: Mapping[tuple[str, str], str],
) -> dict[str, list[dict[str, Any]]]:
    """Return the standard error over templates of each contrast, and the contrast of all words in each template.

    `numbers` (templates, protected words, attribute words) are those of at least two templates, which are a sample: the
    error is the sd of the contrast over templates, divided by the root of their number.

    Returns
    -------
    dict
        `context_errors`, as `contrast_errors` returns them; and `template_contrasts`, for each pair of connections
        `contrast` and its `values`, in the order of the templates.
    """
    names = list(dict.fromkeys(connections.values()))
    weights = _pair_weights(protected, attributes, connections, names)
    groups, has = protected["list"].to_numpy(), weights.any(axis=2)
    means = np.einsum("wca,twa->twc", weights, numbers)
    errors: dict[_Key, float] = {}
    overall = []
    for (first, second), of_pair in _word_shares(weights, groups).items():
        contrasts = means[:, :, first] - means[:, :, second]
        both = has[:, first] & has[:, second]
        of_templates = {("word", word): contrasts[:, row] for row, word in enumerate(protected["word"]) if both[row]}
        for group in dict.fromkeys(groups[both].tolist()):
            of_templates["protected_group", group] = (contrasts * (of_pair[1] * (groups == group))).sum(axis=1)
        if both.any():
            of_templates["overall", ""] = values = (contrasts * of_pair[0]).sum(axis=1)
            overall.append({"contrast": f"{names[first]} - {names[second]}", "values": values.tolist()})
        errors |= {
            ((first, second), (level, str(name))): float(values.std(ddof=1) / np.sqrt(len(values)))
            for (level, name), values in of_templates.items()
        }
    return {"context_errors": _records(errors, names), "template_contrasts": overall}


type _Key = tuple[tuple[int, int], tuple[str, str]]
"""Two connections, and the level and name of a contrast of them."""


def _records(errors: Mapping[_Key, float], names: list[str]) -> list[dict[str, Any]]:
    return [
        {"contrast": f"{names[first]} - {names[second]}", "level": level, "name": name, "sd": float(sd)}
        for ((first, second), (level, name)), sd in errors.items()
    ]


def _word_shares(weights: np.ndarray, groups: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Return the weight of each word in a contrast of two connections, overall and in its group: shape (2, words).

    As in observed differences, a word that lacks one side has no part, and groups weigh the same.
    """
    has = weights.any(axis=2)
    shares = {}
    for first, second in combinations(range(weights.shape[1]), 2):
        both = has[:, first] & has[:, second]
        of_pair = np.zeros((2, len(groups)))
        sizes = np.array([(groups[both] == group).sum() for group in groups])
        of_pair[1, both] = 1 / sizes[both]
        of_pair[0, both] = of_pair[1, both] / len(set(groups[both]))
        shares[first, second] = of_pair
    return shares


def _sd(own_variance: float, effects: np.ndarray, *, paired: bool) -> float:
    """Return the error from the variance of the words themselves and effects of shape (attribute words, groups)."""
    shared = effects.sum(axis=0) if paired else effects
    return float(np.sqrt(own_variance + (shared**2).sum()))


def _pair_weights(
    protected: pd.DataFrame, attributes: pd.DataFrame, connections: Mapping[tuple[str, str], str], names: list[str]
) -> np.ndarray:
    """Return the weight of each attribute word in each protected word's mean of a connection."""
    weights = np.zeros((len(protected), len(names), len(attributes)))
    lists = attributes["list"].to_numpy()
    for row, group in enumerate(protected["list"]):
        for place, name in enumerate(names):
            chosen = [other for other in dict.fromkeys(lists) if connections[group, other] == name]
            for other in chosen:
                members = lists == other
                weights[row, place, members] = 1 / (len(chosen) * members.sum())
    return weights
