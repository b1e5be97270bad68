"""The number of cores that may be used."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_single_core = ContextVar("single core", default=False)


def available_cores() -> int:
    """Return how many threads to use: one for each core, or one inside `one_core`."""
    return 1 if _single_core.get() else os.cpu_count() or 1


@contextmanager
def one_core() -> Iterator[None]:
    """Restrict the code inside to one core, because other workers use the others.

    >>> with one_core():
    ...     available_cores()
    1
    """
    token = _single_core.set(True)
    try:
        yield
    finally:
        _single_core.reset(token)
