"""Differences of plain averages, without a model, and why the estimates of models differ from them."""

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.spec import ModelSpec


def plain_means(rows: ModelData) -> np.ndarray:
    """Return the average distance of each word for each connection, shape (protected words, connections).

    All attribute lists have the same weight. A word without pairs of a connection has NaN.

    >>> from bayesbias.models.data import model_data
    >>> plain_means(model_data(table)).round(3)[0].tolist()
    [0.943, 0.9, 0.936, 0.933]
    """
    word_lists = np.zeros(len(rows.attribute_words)) if rows.attribute_groups is None else rows.attribute_groups
    names, list_of = np.unique(word_lists, return_inverse=True)
    shape = len(rows.protected_words), len(rows.connections), len(names)
    cells = np.ravel_multi_index(
        (rows.protected.astype(np.int64), rows.connection.astype(np.int64), list_of[rows.attribute]), shape
    )
    counts, totals = (np.bincount(cells, weights, np.prod(shape)).reshape(shape) for weights in (None, rows.distance))
    list_means, present = totals / np.maximum(counts, 1), counts > 0
    means = list_means.sum(axis=2) / np.maximum(present.sum(axis=2), 1)
    return np.where(present.any(axis=2), means, np.nan)


def group_weights(groups: np.ndarray) -> np.ndarray:
    """Return the weight of each word in a mean over protected groups with equal weights.

    >>> group_weights(np.array(["young", "old", "old"]))
    array([0.5 , 0.25, 0.25])
    """
    names, group_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(1 / (len(names) * sizes[group_of]))


def plain_difference(baseline: np.ndarray, other: np.ndarray, groups: np.ndarray) -> float:
    """Return the mean over groups of the differences of words that have both sides; NaN if no word has.

    >>> plain_difference(np.array([1.0, 0.9, 0.7]), np.array([0.9, 0.8, np.nan]), np.array(["young", "old", "old"]))
    0.1
    """
    gaps = baseline - other
    finite = np.isfinite(gaps)
    return round(float(group_weights(groups[finite]) @ gaps[finite]), 15) if finite.any() else float("nan")


def reason_apart(rows: ModelData, spec: ModelSpec) -> str:
    """Return why contrasts of all words can differ from plain differences, for rows that a model was fitted to."""
    reasons = []
    if len(rows.distance) < len(rows.protected_words) * len(rows.attribute_words):
        reasons.append("pairs that were lost are estimated from the others")
    if spec.switches["likelihood"] == "student_t":
        reasons.append("outlying distances count less")
    if spec.switches["pooling"] == "none":
        reasons.append("the prior of the means counts where pairs are few")
    elif not spec.multivariate:
        reasons.append("words are pooled, each with the same weight whatever its group")
    return " and ".join(reasons) or "words with pairs of one side only count, which the plain difference leaves out"


def reason_pulled(spec: ModelSpec) -> str:
    """Return where a model pulls the estimates of single words."""
    if spec.switches["pooling"] == "none":
        return "The prior of the means moves them."
    if spec.multivariate:
        return (
            "The model pulls single words toward the others of their group, as far as the attribute words show that "
            "they agree."
        )
    return "The model pulls single words toward the mean of all words of a connection."
