"""Free memory under all limits, and an error before work that needs more, or as soon as a count exceeds it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bayesbias.errors import NotEnoughMemoryError

# Linux: the control groups of this process, and the files with their memory limits (versions 2 and 1).
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = {
    "": (Path("/sys/fs/cgroup"), "memory.max"),
    "memory": (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
}


def free_memory() -> int:
    """Return the bytes that this process may still allocate under the limits of machine, container, job and shell."""
    import psutil

    usage = psutil.Process().memory_info()
    free = [psutil.virtual_memory().available, *(limit - usage.rss for limit in _group_limits())]
    with suppress(ImportError):  # Windows
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        if (limit := getrlimit(RLIMIT_AS)[0]) != RLIM_INFINITY:
            free.append(limit - usage.vms)
    return int(max(0, min(free)))


def _group_limits() -> Iterator[int]:
    """Yield the memory limits of the control groups of this process and of their parents."""
    lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines() if _OWN_GROUPS.is_file() else []
    for _, kind, path in (line.split(":", 2) for line in lines):
        if kind in _GROUPS:
            top, name = _GROUPS[kind]
            group = top / path.strip("/")
            for folder in (group, *group.parents):
                with suppress(OSError, ValueError):  # no file, or the word "max"
                    yield int((folder / name).read_text(encoding="ascii"))


def check_memory(needed: float, what: str, advice: str) -> None:
    """Raise `NotEnoughMemoryError`, which ends with `advice`, if `needed` bytes for `what` are not free.

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


class Allowance:
    """The free memory for a content whose size is unknown until it is read, such as that of a compressed file.

    >>> rows = Allowance("news.txt.gz: its rows", "Read fewer.")
    >>> rows.take(1e15)
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotEnoughMemoryError: news.txt.gz: its rows need 1,000,000.0 GB or more, and ... GB are free. ...
    """

    def __init__(self, what: str, advice: str) -> None:
        self.what, self.advice = what, advice
        self.free, self.taken = free_memory(), 0.0

    def take(self, size: float) -> None:
        """Count `size` more bytes; raise `NotEnoughMemoryError` if all that were counted are more than were free."""
        self.taken += size
        if self.taken > self.free:
            raise NotEnoughMemoryError(
                f"{self.what} need {self.taken / 1e9:,.1f} GB or more, and {self.free / 1e9:,.1f} GB are free. "
                f"{self.advice}"
            )
