"""The score of four word lists under any similarity of two lists: the sum of its four components."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.metrics.look_up import FoundLists, StudyLists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.metrics.similarities import Similarities, Statistics

COMPONENTS = ("a_c", "a_d", "b_d", "b_c")
"""The four comparisons of the lists A, B (protected) with C, D (attributes), in the order of Kindel's Table 1."""


def component_lists(lists: StudyLists | Similarities) -> dict[str, tuple[str, str]]:
    """Return the names of the two lists of each of `COMPONENTS`.

    >>> from bayesbias.metrics.look_up import four_lists
    >>> component_lists(four_lists("weat7"))["b_d"]
    ('arts', 'female')
    """
    (a, b), (c, d) = lists.protected, lists.attributes
    return dict(zip(COMPONENTS, ((a, c), (a, d), (b, d), (b, c)), strict=True))


def component_vectors(lists: StudyLists, found: FoundLists) -> list[tuple[Floats, Floats]]:
    """Return the vectors, as stored, of the two lists of each of `COMPONENTS`."""
    return [(found.vectors[first], found.vectors[second]) for first, second in component_lists(lists).values()]


def score(components: ArrayLike) -> Floats:
    """Return the test score of four similarities: (A:C + B:D) - (B:C + A:D).

    `components` has shape (..., 4), in the order of `COMPONENTS`. Kindel (2023), equation WEAT(A, B, C, D), for any
    similarity of two lists: Table 1, caption.

    >>> round(float(score([0.131, 0.035, 0.028, 0.072])), 3)  # his WEAT 10
    0.052
    """
    a_c, a_d, b_d, b_c = np.moveaxis(np.asarray(components, dtype=np.float64), -1, 0)
    total: Floats = (a_c + b_d) - (b_c + a_d)
    return total


def score_statistics(components: Sequence[Floats]) -> Statistics:
    """Return the score of four components, each of shape (...), and the components by their names."""
    return {"score": score(np.stack(components, axis=-1)), **dict(zip(COMPONENTS, components, strict=True))}


def score_result(
    measure: str,
    lists: StudyLists,
    found: FoundLists,
    conventions: str,
    similarity: Callable[[Floats, Floats], ArrayLike],
    by_word: Callable[[Floats, Floats], Floats],
) -> MeasureResult:
    """Return the score of a similarity over four lists.

    `similarity` takes two lists of vectors and returns a number; `by_word` returns the similarity of each word of the
    first to the second. The score of a word is its similarity to C minus that to D.
    """
    pairs = component_vectors(lists, found)
    components = [np.asarray(similarity(first, second), dtype=np.float64) for first, second in pairs]
    a_c, a_d, b_d, b_c = (by_word(first, second) for first, second in pairs)
    named = ", ".join(f"{letter} = {name}" for letter, name in zip("ABCD", lists.by_name, strict=True))
    return MeasureResult(
        measure=measure,
        statistics={name: float(value) for name, value in score_statistics(components).items()},
        scores=score_frame(np.concatenate([a_c - a_d, b_c - b_d]), **found.labels(lists.protected, "group")),
        lost_words=found.lost,
        conventions=f"{named}; score = (A:C + B:D) - (B:C + A:D); {conventions}",
        study=lists.study,
        embedding=found.source.name,
    )
