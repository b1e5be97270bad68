"""MAC: the mean average cosine distance of Manzini et al. (2019)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import name_some
from bayesbias.metrics.look_up import every_group
from bayesbias.metrics.measure_entry import Measure, below_one, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, Statistics
from bayesbias.studies.study import StudyLike


def mean_distances(*similarities: ArrayLike) -> NDArray[np.floating[Any]]:
    """Return the mean cosine distance of each word to each attribute list, s(t, A_j), of shape (..., words, lists).

    Each argument holds the cosine similarities of the words to one list, of shape (..., words, n_j). The mean of the
    result over words and lists is MAC. Dobrzeniecka and Urbaniak (2024), s(t, A_j); Manzini et al. (2019).

    >>> mean_distances([[0.5, 0.3], [0.1, 0.1]], [[0.2], [0.0]])
    array([[0.6, 0.8],
           [0.9, 1. ]])
    """
    means = [np.mean(np.asarray(values, dtype=np.float64), axis=-1) for values in similarities]
    distances: NDArray[np.floating[Any]] = 1.0 - np.stack(means, axis=-1)
    return distances


def average_distances(similarities: Similarities) -> NDArray[np.floating[Any]]:
    """Return `mean_distances` of all protected words to all attribute lists, of shape (..., words, lists)."""
    return mean_distances(*(similarities.columns_to(name) for name in similarities.attributes))


def mac_statistics(similarities: Similarities) -> Statistics:
    """Return MAC, 1 - MAC, and the means over associated and over different pairs, each of shape (...).

    >>> pairs = Similarities(np.eye(2), {"X": ["x"], "Y": ["y"]}, {"A": ["a"], "B": ["b"]}, frozenset({("X", "A")}))
    >>> {name: float(value) for name, value in mac_statistics(pairs).items()}
    {'mac': 0.5, 'similarity': 0.5, 'mac_associated': 0.0, 'mac_different': 0.666...}
    """
    distances = average_distances(similarities)
    numbers = {"mac": distances.mean(axis=(-2, -1))}
    numbers["similarity"] = 1.0 - numbers["mac"]
    parts: dict[str, list[NDArray[np.floating[Any]]]] = {}
    for group, rows in zip(similarities.protected, similarities.by_group(distances, axis=-2), strict=True):
        for column, name in enumerate(similarities.attributes):
            connection = "associated" if (group, name) in similarities.associated else "different"
            parts.setdefault(connection, []).append(rows[..., column])
    return numbers | {f"mac_{name}": np.concatenate(parts[name], axis=-1).mean(axis=-1) for name in sorted(parts)}


@shared_parameters()
def mac(embedding: EmbeddingLike, study: StudyLike, *, max_lost: float = MAX_LOST) -> MeasureResult:
    """Return the mean average cosine distance of a study's protected words to its attribute lists.

    MAC is the mean of the mean distances of each protected word to each list, so every list counts the same, whatever
    its length. Control words are left out.

    Returns
    -------
    MeasureResult
        `mac` (the headline number, a distance between 0 and 2), `similarity` (1 - MAC), and `mac_associated` and
        `mac_different`, the same mean over associated and over different pairs of word and list, which MAC does not
        distinguish. The scores are the mean distances s(t, A_j) of each protected word to each list.

    Raises
    ------
    MeasureError
        If a list has fewer than two words left.

    References
    ----------
    Thomas Manzini, Yao Chong Lim, Yulia Tsvetkov and Alan W Black (2019). Black is to criminal as Caucasian is to
    police: detecting and removing multiclass bias in word embeddings. NAACL-HLT 2019, 615-621, whose code
    averages distances. Dobrzeniecka and Urbaniak (2024), equations s(t, A_j) and mac(T, A).

    Examples
    --------
    >>> result = mac(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.mac, 4), round(result.mac_associated, 4), len(result.scores)
    (0.7561, 0.7472, 32)
    """
    lists = every_group(study)
    similarities, embedded_lists = Similarities.of_embedding(embedding, lists, max_lost=max_lost)
    sets = list(similarities.attributes)
    return MeasureResult(
        measure="mac",
        statistics={name: float(value) for name, value in mac_statistics(similarities).items()},
        scores=score_frame(
            average_distances(similarities),
            word=np.repeat(similarities.words, len(sets)),
            group=np.repeat(similarities.groups, len(sets)),
            attribute_group=sets * len(similarities.words),
        ),
        question=f"How far are words of {name_some(list(lists.protected))} from {name_some(sets)}?",
        conventions=(
            "mean cosine distance (1 - cosine similarity), each attribute group averaged first; similarity = 1 - MAC"
        ),
        **embedded_lists.names(lists.study),
    )


MAC = Measure(
    "mac", "Mean Average Cosine distance", "mean over words t and attribute groups A_j of mean (1 - cos(t, a))",
    "0 to 2", "protected groups, attribute groups", "Manzini et al. (2019)",
    "a distance, not a similarity; each attribute group counts the same",
    "to ask whether groups differ: it averages associated and different pairs, whose differences cancel; and "
    "1 is not a neutral value",
    mac, sign="large: far from all attributes, associated or not",
    units={
        "mac": "MAC (cosine distance)", "similarity": "1 - MAC (cosine similarity)",
        "mac_associated": "MAC of associated pairs (cosine distance)",
        "mac_different": "MAC of different pairs (cosine distance)",
    },
    of_similarities=SimilarityMeasure(
        every_group, mac_statistics, average_distances, "mean distance s(t, A_j) to an attribute group",
        word_unit="cosine distance",
        caution="MAC averages associated and different pairs alike, so its null is centered on the observed value: MAC "
        "cannot detect an association.",
    ),
    strength=below_one,
)  # fmt: skip
