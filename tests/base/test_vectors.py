"""Lists of vectors: which are refused, and unit vectors against triangles of whole numbers."""

import numpy as np
import pytest

from bayesbias.base.vectors import (
    checked_rows,
    checked_vectors,
    raise_unless_same_dimensions,
    unit_rows,
    unit_vectors,
)
from bayesbias.errors import MeasureError


def test_unit_vectors_keep_the_direction() -> None:
    """Sides 3, 4, 5 and 8, 15, 17; the length of a vector is without effect."""
    rows = [[3.0, 4.0], [-8.0, 15.0], [3e100, 4e100]]
    expected = [[3 / 5, 4 / 5], [-8 / 17, 15 / 17], [3 / 5, 4 / 5]]
    np.testing.assert_allclose(unit_rows(rows), expected, rtol=1e-15)
    np.testing.assert_allclose(unit_vectors([rows, rows[::-1]]), [expected, expected[::-1]], rtol=1e-15)


@pytest.mark.parametrize(
    ("vectors", "fact"),
    [
        ([1.0, 2.0], r"\(2,\)"),
        (np.empty((0, 3)), r"\(0, 3\)"),
        ([[1.0, 0.0], [0.0, 0.0]], "Vector 1 .* zero"),
        ([[1e-150, 0.0]], "Vector 0 .* zero"),
        ([[1.0, 0.0], [1.0, 0.0], [np.nan, 1.0]], "Vector 2 .* NaN"),
        ([[1e200, 1.0]], "Vector 0 .* too large"),
        ([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [np.inf, 1.0]]], r"Vector 1 of list \(1,\) .* infinity"),
    ],
)
def test_a_vector_without_direction_is_named_by_its_place(vectors: object, fact: str) -> None:
    for function in (checked_vectors, unit_vectors, unit_rows):
        with pytest.raises(MeasureError, match=fact):
            function(vectors)  # type: ignore[arg-type]


def test_stacks_are_no_single_list_and_lists_share_their_dimensions() -> None:
    stack = np.ones((2, 3, 4))
    assert checked_vectors(stack).shape == (2, 3, 4)
    for function in (checked_rows, unit_rows):
        with pytest.raises(MeasureError, match=r"\(2, 3, 4\)"):
            function(stack)
    raise_unless_same_dimensions(np.ones((2, 4)), stack)
    with pytest.raises(MeasureError, match="4 and 5 dimensions"):
        raise_unless_same_dimensions(stack, np.ones((3, 5)))
