"""Measures that average cosine similarities: grand mean, paired and centroid."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats, raise_unless_same_dimensions
from bayesbias.base.checks import check_choice
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.geometry import checked_vectors, unit_vectors
from bayesbias.metrics.associations.weat import associations
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists, find_lists, four_lists
from bayesbias.metrics.measure_entry import (
    ASSOCIATION,
    FOUR_GROUPS,
    FOUR_LISTS,
    KINDEL,
    SCORE,
    Measure,
    shared_parameters,
)
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, Statistics
from bayesbias.studies.study import StudyLike

COMPONENTS = ("a_c", "a_d", "b_d", "b_c")
"""Comparisons of the lists A, B (protected) with C, D (attributes), in the order of Kindel's Table 1."""


def component_lists(lists: StudyLists | Similarities) -> dict[str, tuple[str, str]]:
    """Return the names of the two lists of each of `COMPONENTS`.

    >>> from bayesbias.metrics.look_up import four_lists
    >>> component_lists(four_lists("weat7"))["b_d"]
    ('arts', 'female')
    """
    (a, b), (c, d) = lists.protected, lists.attributes
    return dict(zip(COMPONENTS, ((a, c), (a, d), (b, d), (b, c)), strict=True))


def component_vectors(lists: StudyLists, embedded_lists: EmbeddedLists) -> list[tuple[Floats, Floats]]:
    """Return the stored vectors of the two lists of each of `COMPONENTS`."""
    return [
        (embedded_lists.vectors[first], embedded_lists.vectors[second])
        for first, second in component_lists(lists).values()
    ]


def score_of_components(components: ArrayLike) -> Floats:
    """Return the test score of four similarities, (A:C + B:D) - (B:C + A:D).

    `components` has shape (..., 4), in the order of `COMPONENTS`. Kindel (2023), equation WEAT(A, B, C, D); for any
    similarity of two lists, caption of Table 1.

    >>> round(float(score_of_components([0.131, 0.035, 0.028, 0.072])), 3)  # his WEAT 10
    0.052
    """
    a_c, a_d, b_d, b_c = np.moveaxis(np.asarray(components, dtype=np.float64), -1, 0)
    total: Floats = (a_c + b_d) - (b_c + a_d)
    return total


def score_statistics(components: Sequence[Floats]) -> Statistics:
    """Return the score of four components, each of shape (...), and the components by name."""
    return {
        "score": score_of_components(np.stack(components, axis=-1)),
        **dict(zip(COMPONENTS, components, strict=True)),
    }


def score_result(
    measure: str,
    lists: StudyLists,
    embedded_lists: EmbeddedLists,
    conventions: str,
    similarity: Callable[[Floats, Floats], ArrayLike],
    by_word: Callable[[Floats, Floats], Floats],
) -> MeasureResult:
    """Return the result of scoring four lists by a similarity.

    `similarity` is a function of two lists of vectors that returns a number; `by_word` returns the similarity of each
    word of the first list to the second. The score of a word is its similarity to C minus that to D.
    """
    pairs = component_vectors(lists, embedded_lists)
    components = [np.asarray(similarity(first, second), dtype=np.float64) for first, second in pairs]
    a_c, a_d, b_d, b_c = (by_word(first, second) for first, second in pairs)
    named = ", ".join(f"{letter} = {name}" for letter, name in zip("ABCD", lists.by_name, strict=True))
    statistics = {name: float(value) for name, value in score_statistics(components).items()}
    (a, b), (c, d) = lists.protected, lists.attributes
    side = "nearer to" if next(iter(statistics.values())) > 0 else "farther from"
    return MeasureResult(
        measure=measure,
        statistics=statistics,
        question=f"Do words of {a} lie nearer to {c}, and those of {b} to {d}, than the other way round?",
        meaning=f"words of {a} and {b} lie {side} {c} and {d}, in this order, than the other way round",
        scores=score_frame(np.concatenate([a_c - a_d, b_c - b_d]), **embedded_lists.labels(lists.protected, "group")),
        conventions=f"{named}; score = (A:C + B:D) - (B:C + A:D); {conventions}",
        **embedded_lists.names(lists.study),
    )


Estimator = Literal["grand_mean", "paired", "centroid"]


def word_cosines(A: ArrayLike, B: ArrayLike, estimator: Estimator = "grand_mean") -> Floats:
    """Return the cosine similarity of each word of A to B; the mean over words is the estimate.

    - `A`, `B`: vectors of shapes (..., words of A, dimensions) and (..., words of B, dimensions).
    - `estimator`: ``"grand_mean"``: mean similarity to the words of B; ``"paired"``: similarity to the word of B at the
      same position, so that the order counts; ``"centroid"``: similarity to the centroid of B, the mean of its vectors
      as stored, in which long vectors weigh more.

    Returns
    -------
    array
        Similarities of shape (..., words of A).

    Raises `MeasureError` if lists to be paired differ in length, or the centroid is zero.

    Kindel (2023), mean cosine similarity, equation Sim*(I, J); supplement, "Varieties of WEAT-like measurement
    models", the estimators WEAT_0(A, B), paired WEAT_1(A, B) and WEAT_k(A, B) with the centroid C(B), and "Centroid
    cosine similarity regression", equation cos(Omega, X).

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
    """Return the mean of vectors as stored, scaled to length 1, of shape (..., dimensions).

    Raises `MeasureError` if the vectors of a list cancel out.

    >>> unit_centroid([[6.0, 0.0], [0.0, 8.0]])
    array([0.6, 0.8])
    """
    array = checked_vectors(vectors)
    mean = array.mean(axis=-2)
    longest = np.sqrt(np.square(array).sum(axis=-1)).max(axis=-1)
    length = np.sqrt(np.square(mean).sum(axis=-1))
    if np.any(length <= 1e-12 * longest):
        raise MeasureError("The vectors of a list cancel out, so its centroid is zero and has no direction.")
    centroid: Floats = mean / length[..., np.newaxis]
    return centroid


def weat_score_statistics(similarities: Similarities, *, estimator: str = "grand_mean") -> Statistics:
    """Return the score of two groups and two attribute lists and its components, each of shape (...).

    ``"centroid"`` is not available: it depends on the lengths of the vectors.

    >>> pairs = Similarities(np.eye(2), {"X": ["x"], "Y": ["y"]}, {"A": ["a"], "B": ["b"]})
    >>> float(weat_score_statistics(pairs)["score"])
    2.0
    """
    check_choice("estimator", estimator, ("grand_mean", "paired"))
    components = []
    for first, second in component_lists(similarities).values():
        block = similarities.block(first, second)
        if estimator == "grand_mean":
            components.append(block.mean(axis=(-2, -1)))
            continue
        _raise_unless_as_many(*block.shape[-2:])
        components.append(np.diagonal(block, axis1=-2, axis2=-1).mean(axis=-1))
    return score_statistics(components)


@shared_parameters(FOUR_LISTS)
def weat_score(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    estimator: Estimator = "grand_mean",
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Return the mean-cosine score of four word lists, (A:C + B:D) - (B:C + A:D).

    A and B are the target groups, C and D the attribute lists; A:C is the mean cosine similarity of A to C.

    Parameters
    ----------
    estimator
        ``"grand_mean"`` (WEAT_0): all pairs, the difference of means of `weat`. ``"paired"`` (WEAT_1): only words at
        the same position. ``"centroid"`` (WEAT_k): each word of A and B with the centroid of C or D.

    Returns
    -------
    MeasureResult
        `score` (the headline number), between -4 and 4; its components `a_c`, `a_d`, `b_d`, `b_c`. The scores are each
        word's similarity to C minus that to D; their mean over A minus that over B is the score.

    Raises
    ------
    MeasureError
        If the lists are not determined or have no word left, or cannot be paired.

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
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1)
    if estimator == "paired":
        _raise_unless_paired(lists, embedded_lists)
    return score_result(
        "weat_score",
        lists,
        embedded_lists,
        f"mean cosine similarity, estimator {estimator}",
        lambda first, second: word_cosines(first, second, estimator).mean(),
        partial(word_cosines, estimator=estimator),
    )


def _raise_unless_as_many(first: int, second: int) -> None:
    if first != second:
        raise MeasureError(
            f"The lists have {first} and {second} words, so they cannot be paired. Give lists of the same length, or "
            "use estimator='grand_mean'."
        )


def _raise_unless_paired(lists: StudyLists, embedded_lists: EmbeddedLists) -> None:
    """Raise `MeasureError` if lists differ in length, or lost words, which shifts the others to wrong partners."""
    full_lengths = {name: len(words) for name, words in lists.by_name.items()}
    if len(set(full_lengths.values())) > 1:
        lengths = ", ".join(f"{name!r} {count}" for name, count in full_lengths.items())
        raise MeasureError(
            f"The lists differ in length ({lengths} words), so they cannot be paired. Give lists of the same length, "
            "or use estimator='grand_mean'."
        )
    available_counts = {name: len(words) for name, words in embedded_lists.words.items()}
    shortened = [
        f"{name!r} kept {available_counts[name]} of {count}"
        for name, count in full_lengths.items()
        if available_counts[name] != count
    ]
    if shortened:
        raise MeasureError(
            f"{'; '.join(shortened)} words, so the others would be paired with wrong partners. Leave out the words at "
            "the same positions of all four lists, or use estimator='grand_mean'."
        )


WEAT_SCORE = Measure(
    "weat_score", "mean-cosine score (WEAT_0, WEAT_1, WEAT_k)", f"{SCORE}, X:Y the mean cosine of X and Y",
    "-4 to 4", FOUR_GROUPS, f"{KINDEL}, equation WEAT(A, B, C, D) and supplement, WEAT_0, WEAT_1, WEAT_k",
    "all pairs (grand_mean); 'paired' by place, 'centroid' of the vectors as stored. A posterior only without "
    "the centroid",
    "to say whether it exceeds chance: it has no test; weat has one, and bb.measure_posterior gives an "
    "interval",
    weat_score, sign="positive: A nearer to C and B to D, the associations of the study",
    units={"score": "score (cosine similarity)"},
    of_similarities=SimilarityMeasure(four_lists, weat_score_statistics, associations, ASSOCIATION),
)  # fmt: skip
