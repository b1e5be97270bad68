"""SemAxis of An, Kwak and Ahn (2018): words along the axis between two attribute lists."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import check_flag
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.associations.mean_vectors import lengths_of_vectors
from bayesbias.metrics.look_up import find_lists, groups_on_two_lists
from bayesbias.metrics.measure_entry import GROUPS_ON_TWO_LISTS, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, group_means, score_frame
from bayesbias.studies.study import StudyLike


def axis_scores(words: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Floats:
    """Return the cosine of each word with the axis, the mean of the positive minus the mean of the negative vectors.

    All arrays have shape (..., words, dimensions); the result has shape (..., words). An, Kwak and Ahn (2018),
    equations 1 and 2.

    >>> axis_scores([[1.0, 0.0], [1.0, 1.0]], [[2.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]).round(4)
    array([1.    , 0.7071])
    """
    w, a, b = (np.asarray(vectors, dtype=np.float64) for vectors in (words, positive, negative))
    axis = a.mean(axis=-2) - b.mean(axis=-2)
    axis_length = np.linalg.norm(axis, axis=-1)
    largest = np.linalg.norm(np.concatenate([a, b], axis=-2), axis=-1).max(axis=-1)
    lengths = axis_length[..., None] * np.linalg.norm(w, axis=-1)
    if not (np.all(axis_length > ROUNDING * largest) and np.all(lengths > 0)):
        raise MeasureError("The two lists have the same mean vector, or a word's vector is zero, so there is no axis.")
    score: Floats = np.clip((w @ axis[..., None])[..., 0] / lengths, -1.0, 1.0)
    return score


@shared_parameters(GROUPS_ON_TWO_LISTS)
def semaxis(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: Sequence[str] | str | None = None,
    attributes: tuple[str, str] | None = None,
    normalize: bool = False,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the SemAxis scores of protected words: their cosines with the axis between two attribute lists.

    The axis points from the second attribute list to the first. Of lists by name, the last two are its ends.

    Parameters
    ----------
    normalize
        Whether vectors of the two ends are scaled to length 1 before they are averaged. An, Kwak and Ahn do not scale.

    Returns
    -------
    MeasureResult
        `mean` (the headline number) over all words, positive towards the first list; `mean_absolute`, the mean of the
        scores' absolute values; for several groups, the mean of each as `mean_of_` followed by its name. The scores
        are those of each word, between -1 and 1.

    Raises
    ------
    MeasureError
        If the lists are not determined or have no word left, or both ends have the same mean vector.

    References
    ----------
    Jisun An, Haewoon Kwak and Yong-Yeol Ahn (2018). SemAxis: a lightweight framework to characterize domain-specific
    word semantics beyond sentiment. ACL 2018, 2450-2461, equations 1 and 2.

    Examples
    --------
    >>> result = semaxis(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.mean_of_math, 4), round(result.mean_of_arts, 4)
    (-0.0679, -0.1583)
    """
    scaled = check_flag("normalize", normalize)
    lists = groups_on_two_lists(study, targets, attributes)
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1)
    positive, negative = lists.attributes
    vectors = embedded_lists.units if scaled else embedded_lists.vectors
    scores = score_frame(
        axis_scores(np.concatenate([vectors[name] for name in lists.protected]), vectors[positive], vectors[negative]),
        **embedded_lists.labels(lists.protected, "group"),
    )
    return MeasureResult(
        measure="semaxis",
        statistics=group_means(scores),
        scores=scores,
        question=f"Where do words of {name_some(list(lists.protected))} lie between {negative} and {positive}?",
        conventions=f"axis from {negative} to {positive}; ends of the axis: {lengths_of_vectors(scaled)}",
        **embedded_lists.names(lists.study),
    )


SEMAXIS = Measure(
    "semaxis", "SemAxis of single words", "cos(w, mean of A - mean of B)", "-1 to 1",
    "protected groups, two attribute groups", "An, Kwak and Ahn (2018), equations 1 and 2",
    "vectors as stored (normalize=False)",
    "to compare a word with 0: words in general do not score 0; compare words with each other", semaxis,
    sign="positive: towards A, the first attribute group",
)  # fmt: skip
