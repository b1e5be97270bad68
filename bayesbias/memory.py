"""Memory: how much is free under whatever limit, and an error before work that would need more."""

from contextlib import suppress
from pathlib import Path

from bayesbias.errors import NotEnoughMemoryError

# Where a container's limit stands.
_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def free_memory() -> int:
    """Return the bytes that this process may still take: the least of what machine, container and `ulimit -v` leave."""
    import psutil

    taken = psutil.Process().memory_info()
    free = [psutil.virtual_memory().available]
    for path in _CONTAINER:
        with suppress(OSError, ValueError):  # no such limit, or the word "max"
            free.append(int(Path(path).read_text(encoding="ascii")) - taken.rss)
    with suppress(ImportError):  # Windows
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        if (limit := getrlimit(RLIMIT_AS)[0]) != RLIM_INFINITY:
            free.append(limit - taken.vms)
    return int(max(0, min(free)))


def check_memory(needed: float, what: str, advice: str) -> None:
    """Raise `NotEnoughMemoryError` if `needed` bytes for `what` are not free, with what to do instead.

    >>> check_memory(1e15, "12 words of 3 dimensions", "Take fewer words.")
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotEnoughMemoryError: 12 words of 3 dimensions need about 1,000,000.0 GB, and ... GB are free. ...
    """
    free = free_memory()
    if needed > free:
        raise NotEnoughMemoryError(
            f"{what} need about {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free. {advice}"
        )
