"""Interrupts that wait until a few steps are done which must not be cut in two."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a command that was stopped by Ctrl-C or by SIGTERM."""

_STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Keep an interrupt (Ctrl-C, SIGTERM) that comes inside until the end; processes that are started inside get none.

    A terminal sends Ctrl-C to the processes of a program too, which are to be ended by the program alone. Only in the
    main thread, the one that Python interrupts.

    >>> with held_interrupts():
    ...     "an import, or a process that starts"
    'an import, or a process that starts'
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def record(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what Python calls a handler with
        received.append(number)

    handlers = {number: signal.getsignal(number) for number in _STOPS}
    changed = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in changed:
        signal.signal(number, record)
    try:
        with _blocked():
            yield
    finally:
        for number, handler in changed.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def _blocked() -> Iterator[None]:
    """Block the signals in this thread: what it starts inherits that."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Make this process, one that another started, ignore Ctrl-C, and end by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
