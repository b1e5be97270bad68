"""How loops are compiled; what is compiled is tested where it stands."""

import numpy as np
import pytest
from numba.core import caching

from bayesbias.base.arrays import column_rank, compiled, is_constant


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
