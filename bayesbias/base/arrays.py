"""Types of NumPy arrays for signatures, what rounding leaves of equal numbers, and compilation of loops over arrays."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

# Below this, a difference of unit vectors, of cosines or of distances is rounding: that of float32 reaches 3e-7.
ROUNDING = 1e-6
# Below these shares of the largest number, differences of equal float64 numbers, and what is left of a column that
# others determine, are rounding.
CONSTANT, COLLINEAR = 1e-12, 1e-8


def is_constant(values: Floats) -> bool:
    """Return whether numbers are equal up to rounding, in whatever unit.

    >>> is_constant(np.array([0.1 + 0.2, 0.3])), is_constant(np.array([0.3, 0.30001]))
    (True, False)
    """
    return bool(np.ptp(values) <= CONSTANT * np.abs(values).max())


def column_rank(columns: Floats) -> int:
    """Return the number of columns that do not follow from each other, each in whatever unit.

    >>> year = np.array([1950.0, 1960.0, 1970.0]) - 1960
    >>> column_rank(np.column_stack([year, 0.1 * year])), column_rank(np.column_stack([year, 1e14 * year**2]))
    (1, 2)
    """
    units = np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
    return int(np.linalg.matrix_rank(columns / units, rtol=COLLINEAR))


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a function that numba compiles on its first call; its machine code is cached on disk if possible.

    It is compiled without fast-math, so that a cold and a warm cache give the same numbers. `options` are numba's.
    """
    import numba

    if function is None:
        return partial(compiled, **options)
    try:
        return numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # no folder for the cache is writable: every process compiles again
        return numba.njit(nogil=True, **options)(function)
