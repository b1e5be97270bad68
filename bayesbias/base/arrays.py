"""Arrays: types for signatures, what rounding leaves of equal numbers, compiled loops, and lists of vectors."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.machine import has_home
from bayesbias.errors import MeasureError

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

# Below this, a difference of unit vectors, of cosines or of distances is rounding: that of float32 reaches 3e-7.
ROUNDING = 1e-6
# Below these shares of the largest number, differences of equal float64 numbers, and what is left of a column that
# others determine, are rounding.
CONSTANT, COLLINEAR = 1e-12, 1e-8
LEAST_SQUARE = 1e-290
"""Smallest squared length of a vector; below it, squares of float64 numbers lose digits."""


def is_constant(values: Floats) -> bool:
    """Return whether numbers are equal up to rounding, in whatever unit.

    >>> is_constant(np.array([0.1 + 0.2, 0.3])), is_constant(np.array([0.3, 0.30001]))
    (True, False)
    """
    with np.errstate(over="ignore"):  # of numbers that a check of their size refuses
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

    It is compiled without fast-math, so that a cold and a warm cache give the same numbers. `options` are numba's. A
    cache that is relative to the current folder is not used: it may be another user's, and its files run code.
    """
    import numba

    if function is None:
        return partial(compiled, **options)
    folder = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    is_absolute = os.path.isabs(folder) if folder else has_home()  # noqa: PTH117 - a text
    try:
        return numba.njit(nogil=True, cache=is_absolute, **options)(function)
    except RuntimeError:  # no folder for the cache is writable: every process compiles again
        return numba.njit(nogil=True, **options)(function)


def checked_vectors(vectors: ArrayLike) -> Floats:
    """Return lists of vectors as float64; each vector must have a direction.

    Parameters
    ----------
    vectors
        Of shape (..., words, dimensions).

    Raises
    ------
    MeasureError
        If they are not lists of vectors, or a vector is zero or holds a NaN or an infinity.

    Examples
    --------
    >>> checked_vectors([[1, 0], [3, 4]]).dtype
    dtype('float64')
    """
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim < 2 or 0 in array.shape:
        raise MeasureError(f"The vectors have the shape {array.shape}. Give (words, dimensions), at least one of each.")
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("...i,...i->...", array, array)
    usable = np.isfinite(squares) & (squares >= LEAST_SQUARE)
    if not usable.all():
        place = tuple(int(position) for position in np.argwhere(~usable)[0])
        where = f"{place[-1]}" + (f" of list {place[:-1]}" if len(place) > 1 else "")
        fault = "is zero or too short (its squared length underflows)"
        if not squares[place] < LEAST_SQUARE:
            fault = "holds a NaN, an infinity or a number too large to square"
        raise MeasureError(f"Vector {where} (counted from 0) {fault}, so it has no direction. Leave its word out.")
    return array


def checked_rows(vectors: ArrayLike) -> Floats:
    """Return `vectors`, of shape (words, dimensions), as float64, with the errors of `checked_vectors`."""
    array = checked_vectors(vectors)
    if array.ndim != 2:
        raise MeasureError(f"A list has the shape {array.shape}. Give (words, dimensions).")
    return array


def unit_rows(vectors: ArrayLike) -> Floats:
    """Return `vectors`, of shape (words, dimensions), scaled to length 1, with the errors of `checked_vectors`.

    >>> unit_rows([[3, 4]])
    array([[0.6, 0.8]])
    """
    rows = checked_rows(vectors)
    units: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units


def unit_vectors(vectors: ArrayLike) -> Floats:
    """Return `vectors`, of shape (..., words, dimensions), scaled to length 1; rounding differs from `unit_rows`.

    >>> unit_vectors([[3, 4]])
    array([[0.6, 0.8]])
    """
    array = checked_vectors(vectors)
    units: Floats = array / np.sqrt(np.einsum("...i,...i->...", array, array))[..., np.newaxis]
    return units


def raise_unless_same_dimensions(a: Floats, b: Floats) -> None:
    """Raise `MeasureError` if the vectors of two lists differ in dimensions."""
    if a.shape[-1] != b.shape[-1]:
        raise MeasureError(
            f"The vectors have {a.shape[-1]} and {b.shape[-1]} dimensions. Take both lists from the same embedding."
        )
