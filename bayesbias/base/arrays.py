"""Types of NumPy arrays for signatures, and compilation of loops over arrays."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

# Below this, a difference of unit vectors is rounding: that of float32 reaches 3e-7.
ROUNDING = 1e-6


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
