"""Cores: how many the work at hand may use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_one = ContextVar("one core", default=False)


def available_cores() -> int:
    """Return how many threads are of use here: one for each core, or one in all where others have the other cores."""
    return 1 if _one.get() else os.cpu_count() or 1


@contextmanager
def one_core() -> Iterator[None]:
    """Take one core for what is done inside, since other workers have the others.

    >>> with one_core():
    ...     available_cores()
    1
    """
    token = _one.set(True)
    try:
        yield
    finally:
        _one.reset(token)
