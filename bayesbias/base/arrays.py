"""Names of the kinds of NumPy arrays, for signatures; and loops over arrays, compiled."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function on its first call, and keep the machine code where a folder for it can be written.

    Without fast-math, so that a cold and a warm cache give the same numbers. `options` are numba's.
    """
    import numba

    if function is None:
        return partial(compiled, **options)
    try:
        return numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # neither beside the function's file nor in the home: every process compiles anew
        return numba.njit(nogil=True, **options)(function)
