"""Environment variables: those that libraries set when they are imported do not stay."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def same_environment() -> Iterator[None]:
    """Give the environment variables back their values, after libraries that change them when they are imported.

    >>> with same_environment():
    ...     os.environ["SET_BY_A_LIBRARY"] = "1"
    >>> "SET_BY_A_LIBRARY" in os.environ
    False
    """
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})
