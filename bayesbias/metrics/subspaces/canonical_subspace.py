"""The canonical subspace metric of Kindel (2023): the overlap of the spaces that two word lists span."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_flag
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.geometry import canonical_congruences, canonical_subspace_similarity, rank, row_space, unit_vectors
from bayesbias.metrics.look_up import find_lists, find_two_lists, four_lists
from bayesbias.metrics.measure_entry import FOUR_GROUPS, KINDEL, SCORE, Measure
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.shared_parameters import FOUR_LISTS, shared_parameters
from bayesbias.metrics.subspaces.component_scores import component_lists, component_vectors, score_result
from bayesbias.studies.study import StudyLike


@shared_parameters(FOUR_LISTS)
def canonical_subspace(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    scaled: bool = True,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the canonical subspace score of four word lists, WEAT_CCA.

    A and B are the target groups, C and D the attribute lists.

    Parameters
    ----------
    scaled
        Whether each similarity is divided by the geometric mean of the two ranks, so that it lies between 0 and 1, as
        in Kindel's Table 1. Otherwise it grows with the length of the lists.

    Returns
    -------
    MeasureResult
        `score` (the headline number), (A:C + B:D) - (B:C + A:D); its components `a_c`, `a_d`, `b_d`, `b_c`. The scores
        are each word's similarity to C minus that to D, squared cosines of its angles to the spaces that C and D span;
        the components are not means of these.

    Raises
    ------
    MeasureError
        If the lists are not determined, or one has no word left.

    References
    ----------
    Alexander T. Kindel (2023). Geometrically consistent estimation of multidimensional word associations in text
    corpora: Sim_CCA;k and Table 1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = canonical_subspace(vectors, "weat7")
    >>> round(result.score, 4), round(result.a_c, 4)
    (0.0092, 0.1123)
    """
    check_flag("scaled", scaled)
    lists = four_lists(study, targets, attributes)
    return score_result(
        "canonical_subspace",
        lists,
        find_lists(embedding, lists.by_name, max_lost=max_lost, least=1),
        "sum of squared canonical congruences, uncentred"
        + (", over the geometric mean of the ranks" if scaled else ", not scaled"),
        partial(canonical_subspace_similarity, scaled=scaled),
        word_similarities,
    )


def word_similarities(A: ArrayLike, B: ArrayLike) -> Floats:
    """Return the canonical subspace similarity of each single word of A to the list B, of shape (..., words of A).

    It is the squared cosine of the angle between the word and the space that B spans. A and B have shapes
    (..., words, dimensions). Kindel (2023), Sim_CCA;k of a list of one word and another list.

    >>> word_similarities([[3, 0, 4], [0, 2, 0]], [[1, 0, 0], [1, 1, 0]]).round(12)
    array([0.36, 1.  ])
    """
    inside = unit_vectors(A) @ row_space(B).swapaxes(-1, -2)
    squares: Floats = np.minimum(np.square(inside).sum(axis=-1), 1.0)
    return squares


@shared_parameters()
def subspace_similarity(
    embedding: EmbeddingLike, lists: Mapping[str, Sequence[str]], *, max_lost: float = MAX_LOST
) -> MeasureResult:
    """Return the canonical subspace similarity of two lists of words.

    Parameters
    ----------
    lists
        Two word lists by name.

    Returns
    -------
    MeasureResult
        `similarity` (the headline number), between 0 and the smaller rank; `scaled`, between 0 and 1; `rank_a` and
        `rank_b`; and `congruence_1`, ..., the cosines of the principal angles, largest first. The scores are the
        similarities of each single word of a list (`group`) to the other list (`attribute_group`).

    Raises
    ------
    MeasureError
        If there are not two lists, or one has no word left.

    References
    ----------
    Kindel (2023), Sim_CCA;k and canonical congruences.

    Examples
    --------
    >>> vectors = {"he": [1.0, 0.0, 0.0], "him": [0.0, 1.0, 0.0], "nice": [3.0, 0.0, 4.0]}
    >>> result = subspace_similarity(vectors, {"male": ["he", "him"], "pleasant": ["nice"]})
    >>> round(result.similarity, 12), round(result.congruence_1, 12), int(result.rank_a)
    (0.36, 0.6, 2)
    """
    embedded_lists = find_two_lists(embedding, lists, max_lost=max_lost)
    a, b = embedded_lists.units.values()
    ranks = int(rank(a)), int(rank(b))
    similarity = float(canonical_subspace_similarity(a, b))
    congruences = canonical_congruences(a, b)[: min(ranks)]
    statistics = {
        "similarity": similarity,
        "scaled": float(canonical_subspace_similarity(a, b, scaled=True)),
        "rank_a": float(ranks[0]),
        "rank_b": float(ranks[1]),
    } | {f"congruence_{index}": float(value) for index, value in enumerate(congruences, start=1)}
    return MeasureResult(
        measure="subspace_similarity",
        statistics=statistics,
        scores=score_frame(
            np.concatenate([word_similarities(a, b), word_similarities(b, a)]),
            attribute_group=np.repeat([*lists][::-1], [len(a), len(b)]),
            **embedded_lists.labels(lists, "group"),
        ),
        lost_words=embedded_lists.lost,
        conventions=(
            f"A = {', B = '.join(lists)}; sum of squared canonical congruences, uncentred; "
            "scaled: over the geometric mean of the ranks"
        ),
        study=" and ".join(lists),
        embedding=embedded_lists.source.name,
    )


@shared_parameters(FOUR_LISTS)
def congruences(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> pd.DataFrame:
    """Return the canonical congruences of the four comparisons of an association test.

    Returns
    -------
    DataFrame
        One row per congruence: `component` (such as ``"a_c"``, where A and B are the targets, C and D the attributes),
        `first` and `second` (the lists), `index` (from 1) and `congruence` (cosine of the principal angle, largest
        first), as many as the smaller rank.

    References
    ----------
    Kindel (2023), Figure 3.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> frame = congruences(vectors, "weat7")
    >>> len(frame), list(frame.columns)
    (32, ['component', 'first', 'second', 'index', 'congruence'])
    """
    lists = four_lists(study, targets, attributes)
    vectors = component_vectors(lists, find_lists(embedding, lists.by_name, max_lost=max_lost, least=1))
    rows = []
    for (component, names), pair in zip(component_lists(lists).items(), vectors, strict=True):
        values = canonical_congruences(*pair)[: min(int(rank(vectors_of_list)) for vectors_of_list in pair)]
        rows += [(component, *names, index, float(value)) for index, value in enumerate(values, start=1)]
    return pd.DataFrame(rows, columns=["component", "first", "second", "index", "congruence"])


CANONICAL_SUBSPACE = Measure(
    "canonical_subspace", "canonical subspace score",
    f"{SCORE}, X:Y = trace(P_X P_Y) / sqrt(rank X * rank Y), P the projectors onto the words' spans", "-2 to 2",
    FOUR_GROUPS, f"{KINDEL}, Sim_CCA;k and Table 1", "uncentred; scaled by the ranks (scaled=False: not)",
    "with lists of nearly as many words as the vectors have dimensions: their spans intersect whatever the "
    "words are; compare it with bb.metrics.study_nulls",
    canonical_subspace, sign="positive: A nearer to C and B to D, the associations of the study",
)  # fmt: skip
