"""The family of measures that average cosine similarities: grand mean, paired and centroid."""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.geometry import checked_vectors, raise_unless_same_dimensions, unit_vectors
from bayesbias.metrics.look_up import FoundLists, StudyLists, find_lists, four_lists
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.similarities import Similarities, Statistics
from bayesbias.metrics.subspaces.component_scores import component_lists, score_result, score_statistics
from bayesbias.studies.study import StudyLike

Estimator = Literal["grand_mean", "paired", "centroid"]


def word_cosines(A: ArrayLike, B: ArrayLike, estimator: Estimator = "grand_mean") -> Floats:
    """Return the part of each word of A in an estimator: its mean over words is the estimate.

    Parameters
    ----------
    A, B
        Vectors of shapes (..., words of A, dimensions) and (..., words of B, dimensions).
    estimator
        ``"grand_mean"``: the word's mean cosine similarity to B; ``"paired"``: that to the word of B at the same
        place, so that the order counts; ``"centroid"``: that to the centroid of B, the mean of its vectors as they are
        stored, among which long ones weigh more.

    Returns
    -------
    array
        Of shape (..., words of A).

    Raises
    ------
    MeasureError
        If lists to be paired differ in length, or the centroid is zero.

    References
    ----------
    Kindel (2023), mean cosine similarity, equation Sim*(I, J); supplement, "Varieties of WEAT-like measurement
    models", the estimators WEAT_0(A, B), paired WEAT_1(A, B) and WEAT_k(A, B) with the centroid C(B), and "Centroid
    cosine similarity regression", equation cos(Omega, X).

    Examples
    --------
    >>> word_cosines([[1, 0], [0, 2]], [[3, 4], [0, 1]], "paired").round(12)
    array([0.6, 1. ])
    """
    check_choice("estimator", estimator, ("grand_mean", "paired", "centroid"))
    units_a, units_b = unit_vectors(A), unit_vectors(B)
    raise_unless_same_dimensions(units_a, units_b)
    if estimator == "paired":
        _raise_unless_as_many(units_a.shape[-2], units_b.shape[-2])
        paired: Floats = (units_a * units_b).sum(axis=-1)
        return paired
    towards = units_b.mean(axis=-2) if estimator == "grand_mean" else unit_centroid(B)
    cosines: Floats = (units_a @ towards[..., np.newaxis])[..., 0]
    return cosines


def unit_centroid(vectors: ArrayLike) -> Floats:
    """Return the mean of lists of vectors as they are stored, scaled to length 1, of shape (..., dimensions).

    Raises
    ------
    MeasureError
        If the vectors of a list cancel out.

    Examples
    --------
    >>> unit_centroid([[6.0, 0.0], [0.0, 8.0]])
    array([0.6, 0.8])
    """
    array = checked_vectors(vectors)
    mean = array.mean(axis=-2)
    longest = np.sqrt(np.square(array).sum(axis=-1)).max(axis=-1)
    length = np.sqrt(np.square(mean).sum(axis=-1))
    if np.any(length <= 1e-12 * longest):
        raise MeasureError("The vectors of a list cancel out: its centroid is zero and has no direction.")
    centroid: Floats = mean / length[..., np.newaxis]
    return centroid


def weat_score_statistics(similarities: Similarities, *, estimator: str = "grand_mean") -> Statistics:
    """Return the score of two groups and two attribute lists and its components, each of shape (...).

    The centroid is no function of the similarities, as it depends on the lengths of the vectors.

    >>> here = Similarities(np.eye(2), {"X": ["x"], "Y": ["y"]}, {"A": ["a"], "B": ["b"]})
    >>> float(weat_score_statistics(here)["score"])
    2.0
    """
    check_choice("estimator", estimator, ("grand_mean", "paired"))
    components = []
    for first, second in component_lists(similarities).values():
        block = similarities.of(first, second)
        if estimator == "grand_mean":
            components.append(block.mean(axis=(-2, -1)))
            continue
        _raise_unless_as_many(*block.shape[-2:])
        components.append(np.diagonal(block, axis1=-2, axis2=-1).mean(axis=-1))
    return score_statistics(components)


def weat_score(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    estimator: Estimator = "grand_mean",
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Score four word lists by mean cosine similarity: how much nearer A to C, and B to D, than the other way around.

    Parameters
    ----------
    embedding, study, targets, attributes, max_lost
        See `bayesbias.metrics`: A and B are the protected groups, C and D the attribute lists.
    estimator
        ``"grand_mean"`` (WEAT_0): all pairs, the difference of means of `weat`. ``"paired"`` (WEAT_1): words at the
        same place only. ``"centroid"`` (WEAT_k): each word of A and B with the centroid of C or D.

    Returns
    -------
    MeasureResult
        `score` (the headline number), between -4 and 4; its components `a_c`, `a_d`, `b_d`, `b_c`. The scores of words
        are their parts in them: that towards C minus that towards D. The score is their mean over A minus that over B.

    Raises
    ------
    MeasureError
        If the lists are not determined or empty, or cannot be paired.

    References
    ----------
    Kindel (2023), equation WEAT(A, B, C, D), and supplement, "Varieties of WEAT-like measurement models".

    Examples
    --------
    >>> result = weat_score(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.score, 4), round(result.a_c, 4)
    (0.0353, 0.2113)
    """
    check_choice("estimator", estimator, ("grand_mean", "paired", "centroid"))
    lists = four_lists(study, targets, attributes)
    found = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1)
    if estimator == "paired":
        _raise_unless_paired(lists, found)
    return score_result(
        "weat_score",
        lists,
        found,
        f"mean cosine similarity, estimator {estimator}",
        lambda first, second: word_cosines(first, second, estimator).mean(),
        partial(word_cosines, estimator=estimator),
    )


def _raise_unless_as_many(first: int, second: int) -> None:
    if first != second:
        raise MeasureError(
            f"The lists have {first} and {second} words, so they cannot be paired. Give lists of the same length, or "
            "use the grand mean."
        )


def _raise_unless_paired(lists: StudyLists, found: FoundLists) -> None:
    """Refuse lists of different lengths, and lists that lost words: the others have moved up beside wrong partners."""
    given = {name: len(words) for name, words in lists.by_name.items()}
    if len(set(given.values())) > 1:
        lengths = ", ".join(f"{name!r} {count}" for name, count in given.items())
        raise MeasureError(
            f"The lists differ in length ({lengths} words), so they cannot be paired. Give lists of the same length, "
            "or use estimator='grand_mean'."
        )
    left = {name: len(words) for name, words in found.words.items()}
    short = [f"{name!r} kept {left[name]} of {count}" for name, count in given.items() if left[name] != count]
    if short:
        raise MeasureError(
            f"{'; '.join(short)} words, so the others stand beside wrong partners. Leave out the words at the same "
            "places of all four lists, or use estimator='grand_mean'."
        )
