"""The score of four word lists under any similarity of two lists, from its four components."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.similarities import Similarities, Statistics

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


def score(components: ArrayLike) -> Floats:
    """Return the test score of four similarities, (A:C + B:D) - (B:C + A:D).

    `components` has shape (..., 4), in the order of `COMPONENTS`. Kindel (2023), equation WEAT(A, B, C, D); for any
    similarity of two lists, caption of Table 1.

    >>> round(float(score([0.131, 0.035, 0.028, 0.072])), 3)  # his WEAT 10
    0.052
    """
    a_c, a_d, b_d, b_c = np.moveaxis(np.asarray(components, dtype=np.float64), -1, 0)
    total: Floats = (a_c + b_d) - (b_c + a_d)
    return total


def score_statistics(components: Sequence[Floats]) -> Statistics:
    """Return the score of four components, each of shape (...), and the components by name."""
    return {"score": score(np.stack(components, axis=-1)), **dict(zip(COMPONENTS, components, strict=True))}


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
    return MeasureResult(
        measure=measure,
        statistics={name: float(value) for name, value in score_statistics(components).items()},
        scores=score_frame(np.concatenate([a_c - a_d, b_c - b_d]), **embedded_lists.labels(lists.protected, "group")),
        conventions=f"{named}; score = (A:C + B:D) - (B:C + A:D); {conventions}",
        **embedded_lists.names(lists.study),
    )
