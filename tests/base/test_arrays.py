"""How loops are compiled; what is compiled is tested where it stands."""

import numpy as np
import pytest
from numba.core import caching

from bayesbias.base.arrays import (
    checked_rows,
    checked_vectors,
    column_rank,
    compiled,
    is_constant,
    raise_unless_same_dimensions,
    unit_rows,
    unit_vectors,
)
from bayesbias.errors import MeasureError


def test_where_no_folder_can_be_written_functions_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    @compiled
    def twice(number):
        return 2 * number

    assert twice(3) == 6
    assert twice.signatures


@pytest.mark.parametrize("value", [0.1, 0.7, 1e160, 0.0])
def test_numbers_are_constant_whatever_their_unit(value: float) -> None:
    assert is_constant(np.full(57, value))
    assert is_constant(np.array([0.1 + 0.2, 0.3]))
    assert not is_constant(1e-200 * np.array([1.0, 1.0, 1.001]))


def test_the_rank_of_columns_depends_on_no_unit() -> None:
    columns = np.random.default_rng(1).normal(size=(9, 3))
    units = np.array([1e15, 1.0, 1e-17])
    assert column_rank(columns * units) == 3
    dependent = np.column_stack([columns, columns @ [1.0, -2.0, 0.5]])
    assert column_rank(dependent * np.append(units, 1e9)) == 3
    assert column_rank(np.column_stack([columns, np.zeros(9)])) == 3


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
