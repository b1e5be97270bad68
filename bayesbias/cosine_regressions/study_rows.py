"""Rows of a regression's design from the four lists of a study."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Statement
from bayesbias.cosine_regressions.designs import (
    Design,
    binary_design,
    bivariate_design,
    centroid_design,
    overlapping_bivariate_centroid_design,
    overlapping_design,
)
from bayesbias.cosine_regressions.linear_model import WordEffects
from bayesbias.cosine_regressions.vector_pairs import centroid_weights
from bayesbias.errors import MeasureError


class ListVectors(NamedTuple):
    """Names, words and vectors of the lists X, Y, A, B."""

    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    vectors: tuple[Floats, ...]


class StudyRows(NamedTuple):
    """A design and the words of its rows."""

    design: Design
    first: list[str]
    second: list[str]
    sides: tuple[str, str] | None  # descriptions of sides 0 and 1 of the comparison
    effects: dict[str, WordEffects]
    notes: tuple[Statement, ...] = ()


def _crossed(
    lists: ListVectors, blocks: Sequence[tuple[int, int, int]], sides: tuple[str, str], build: Callable[..., Design]
) -> StudyRows:
    """Return a design of all pairs of some lists, each block given as (first list, second list, side)."""
    rows = [
        (one, i, other, j, side)
        for one, other, side in blocks
        for i in range(len(lists.words[one]))
        for j in range(len(lists.words[other]))
    ]
    first, second = [lists.words[one][i] for one, i, *_ in rows], [lists.words[other][j] for *_, other, j, _ in rows]
    design = build(
        np.stack([lists.vectors[one][i] for one, i, *_ in rows]),
        np.stack([lists.vectors[other][j] for *_, other, j, _ in rows]),
        np.array([side for *_, side in rows]),
    )
    effects = {"target_word": WordEffects(first), "attribute_word": WordEffects(second)}
    return StudyRows(design, first, second, sides, effects)


def _binary(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.names
    return _crossed(lists, [(0, 2, 1), (1, 3, 0)], (f"{y} with {b}", f"{x} with {a}"), binary_design)


def _overlapping(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.names
    sides = (f"{x} with {b}, {y} with {a}", f"{x} with {a}, {y} with {b}")
    built = _crossed(lists, [(0, 2, 1), (1, 3, 1), (0, 3, 0), (1, 2, 0)], sides, overlapping_design)
    assert built.design.side is not None
    # Every word is on both sides, and words vary in the difference of the sides.
    contrast = built.design.side - 0.5
    by_side = {f"{name}_by_side": effect._replace(by=contrast) for name, effect in built.effects.items()}
    return built._replace(effects=built.effects | by_side)


def _centroid(lists: ListVectors) -> StudyRows:
    (x, y, a, b), words, vectors = lists
    design = centroid_design([vectors[3], vectors[2]], [vectors[1], vectors[0]])
    ends = [f"centroid of {b}"] * len(words[1]) + [f"centroid of {a}"] * len(words[0])
    collinear = (
        "The comparison and the lengths of the two centroids are collinear: "
        f"{design.constrained[1]} cannot separate one from the other."
    )
    notes = (_isotropy(lists), Statement("collinear terms", collinear))
    return StudyRows(design, [*words[1], *words[0]], ends, (f"{y} with {b}", f"{x} with {a}"), {}, notes)


def _bivariate(lists: ListVectors) -> StudyRows:
    _matched(lists, (0, 1), (2, 3))
    words, vectors = lists.words, lists.vectors
    i, j = (index.ravel() for index in np.indices((len(words[0]), len(words[2]))))
    design = bivariate_design(vectors[0][i], vectors[2][j], vectors[1][i], vectors[3][j])
    return StudyRows(
        design, [words[0][word] for word in i], [words[2][word] for word in j], None,
        {"target_words": WordEffects(i), "attribute_words": WordEffects(j)}, (_BY_POSITION,),
    )  # fmt: skip


def _bivariate_centroid(lists: ListVectors) -> StudyRows:
    _matched(lists, (0, 1))
    x, y, a, b = lists.vectors
    design = bivariate_design(np.broadcast_to(a.sum(axis=0), x.shape), x, np.broadcast_to(b.sum(axis=0), y.shape), y)
    ends = [f"centroid of {lists.names[2]}"] * len(x)
    return StudyRows(design, list(lists.words[0]), ends, None, {}, (_BY_POSITION, _isotropy(lists)))


def _overlapping_bivariate_centroid(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.vectors
    design = overlapping_bivariate_centroid_design(a.sum(axis=0), b.sum(axis=0), np.concatenate([x, y]))
    words = [*lists.words[0], *lists.words[1]]
    collinear = (
        "Both cosines share the word, whose length cancels from LNW/LNW_R: gamma_5 cannot be distinguished from "
        "gamma_1, nor gamma_7 from gamma_2, so that the slope cannot be interpreted on its own."
    )
    notes = (Statement("collinear terms", collinear), _isotropy(lists))
    return StudyRows(design, words, [f"centroid of {lists.names[2]}"] * len(words), None, {}, notes)


DESIGNS: dict[str, Callable[[ListVectors], StudyRows]] = {
    "binary": _binary,
    "overlapping": _overlapping,
    "centroid": _centroid,
    "bivariate": _bivariate,
    "bivariate_centroid": _bivariate_centroid,
    "overlapping_bivariate_centroid": _overlapping_bivariate_centroid,
}

_BY_POSITION = Statement(
    "matching", "Words of both lists are matched by position: another order of a list gives another result."
)


def _matched(lists: ListVectors, *which: tuple[int, int]) -> None:
    """Raise `MeasureError` unless lists that are matched by position have the same length."""
    for one, other in which:
        if len(lists.words[one]) != len(lists.words[other]):
            raise MeasureError(
                f"{lists.names[one]!r} has {len(lists.words[one])} words and {lists.names[other]!r} has "
                f"{len(lists.words[other])}, but the design matches them by position. Give lists of the same length."
            )


def _isotropy(lists: ListVectors) -> Statement:
    """Return the statement of the mean weight psi of the words in each centroid."""
    means = {lists.names[which]: float(centroid_weights(lists.vectors[which]).mean()) for which in (2, 3)}
    weights = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    return Statement(
        "centroid weights",
        "Mean weight psi of the components (1 if a centroid's cosine equals the mean of its words' cosines; below 1 it "
        f"overstates that mean): {weights}.",
        means,
    )
