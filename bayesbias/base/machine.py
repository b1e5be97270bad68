"""The machine and the session: cores, memory, threads, interrupts, the terminal, and which extras are installed."""

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISVTX, S_IWOTH
from types import FrameType
from typing import Any, TextIO

from bayesbias.base.number_text import visible
from bayesbias.errors import BayesBiasError, MeasureError, NotEnoughMemoryError, OutputError, library_reason

__all__ = [
    "ThreadpoolController",
    "threadpool_limits",
]


_single_core = ContextVar("single core", default=False)
# Packages that are installed under another name than their modules have.
_PACKAGES = {"dask": "Dask", "docx": "python-docx", "distributed": "Dask", "sklearn": "scikit-learn"}
_GENSIM = "It needs Python < 3.14: on 3.12 and 3.13, bayesbias installs it"
# Extras that bring PyTorch.
_LARGE = ("contextual", "encoders", "nli")
_PRIVATE = 0o700  # mode of a new temporary folder
# Where PyTorch and Triton keep code that they compiled, and run it again. By default it is a folder with a name that
# others can guess, in the shared temporary folder. Both are read when code is compiled, so they stay set.
_COMPILED = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


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


def has_home() -> bool:
    """Return whether this user has a home folder, one that others may not write to.

    Without one, `~` is a folder of that name in the current folder. Where all may write, and in a folder of another
    user, others can put settings and compiled code, which libraries run.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises RuntimeError
    if not home.is_absolute():
        return False
    place = next(folder for folder in (home, *home.parents) if os.path.exists(folder))  # noqa: PTH110 - never raises
    if os.name != "posix":
        return True
    status = place.stat()
    is_of_another = os.geteuid() != 0 and status.st_uid not in (0, os.geteuid())  # containers lend root a home
    return not (S_ISDIR(status.st_mode) and (status.st_mode & S_IWOTH or is_of_another))


@cache
def private_folder() -> str:
    """Return a new folder of this user alone, the same for the whole process, at whose end it is removed.

    Raises `OutputError` if others could put another folder in its place, from which libraries would run code.
    """
    folder, process = tempfile.mkdtemp(prefix="bayesbias-"), os.getpid()
    if S_IMODE(os.stat(folder).st_mode) == _PRIVATE:  # the file system has permissions  # noqa: PTH116 - a text
        for place in Path(folder).resolve().parents:
            if place.stat().st_mode & (S_IWOTH | S_ISVTX) == S_IWOTH:
                os.rmdir(folder)  # noqa: PTH106 - a text
                raise OutputError(
                    f"Temporary files are not safe in {tempfile.gettempdir()}: all may write to {place}, and rename "
                    f"what others have there. Set TMPDIR to a folder of your own, or use chmod +t {place}."
                )

    @atexit.register
    def remove() -> None:
        if os.getpid() == process:  # a copy of this process (fork) ends before it
            shutil.rmtree(folder, ignore_errors=True)

    return folder


@contextmanager
def private_temporaries() -> Iterator[None]:
    """Let libraries, and compilers that they start, put temporary files into `private_folder` meanwhile.

    PyTensor names programs after a file in the shared folder, where others can put a link in their place.
    """
    before, tempfile.tempdir = (tempfile.tempdir, os.environ.get("TMPDIR")), private_folder()
    os.environ["TMPDIR"] = tempfile.tempdir
    try:
        yield
    finally:
        tempfile.tempdir, variable = before
        del os.environ["TMPDIR"]
        if variable is not None:
            os.environ["TMPDIR"] = variable


def compile_in_private() -> None:
    """Let PyTorch keep compiled code in `private_folder`, unless the user named a folder."""
    for name in _COMPILED:
        if name not in os.environ:
            os.environ[name] = os.path.join(private_folder(), name.lower())  # noqa: PTH118 - a text


def require(
    module: str, extra: str | None, purpose: str, *, error: type[BayesBiasError] = MeasureError, advice: str = ""
) -> Any:
    """Return a module of an optional dependency.

    - `module`: name of the module, such as ``"sklearn.svm"``.
    - `extra`: name of the extra of this package that installs it; None for gensim, which Python 3.14 lacks.
    - `purpose`: what needs the module: the subject of the error's first sentence, in the singular.
    - `advice`: sentences about what to do instead, at the end of the error.

    Raises `BayesBiasError` of class `error`, if the module is not installed or cannot be imported.

    >>> require("not_installed.core", "cluster", "RNSB")
    Traceback (most recent call last):
        ...
    bayesbias.errors.MeasureError: RNSB needs not_installed, which is not installed. Install it with: pip install
    'bayesbias[cluster]'.
    """
    if extra in _LARGE:
        compile_in_private()
    try:
        with held_interrupts(), same_environment():  # a module that an interrupt stops may say that it is broken
            return import_module(module)
    except ImportError as fault:
        name = module.partition(".")[0]
        missing = isinstance(fault, ModuleNotFoundError)
        state = "is not installed" if missing else f"cannot be imported ({library_reason(fault)[:-1]})"
        remedy = f"Install it with: pip install 'bayesbias[{extra}]'" if extra else _GENSIM
        size = " (5 GB with PyTorch for GPUs; its smaller build for CPUs will do)" if extra in _LARGE else ""
        raise error(
            f"{purpose} needs {_PACKAGES.get(name, name)}, which {state}. {remedy}{size}.{advice and f' {advice}'}"
        ) from fault


INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a command that was stopped by Ctrl-C, or by SIGTERM or the end of its terminal."""

ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a command as an error does: with its cleanup. Windows lacks SIGHUP, which the terminal sends."""
_STOPS = (signal.SIGINT, *ENDS)


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Keep an interrupt (Ctrl-C, SIGTERM, SIGHUP) until the end; processes that are started inside get none.

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


def open_closed_streams() -> None:
    """Let standard streams that the caller closed lead nowhere; the first files to be opened would take their place."""
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= 2:
        os.set_inheritable(handle, True)
        handle = os.open(os.devnull, os.O_RDWR)
    os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end


def ignore_interrupts() -> None:
    """Make this process, one that another started, ignore Ctrl-C, and end by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


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

    >>> check_memory(1e15, "12 words", "Take fewer words.")
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotEnoughMemoryError: 12 words would need about 1,000,000.0 GB, and ... GB are free. ...
    """
    free = free_memory()
    if needed > free:
        raise NotEnoughMemoryError(
            f"{what} would need about {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free. {advice}"
        )


class Allowance:
    """The free memory for a content whose size is unknown until it is read, such as that of a compressed file.

    >>> rows = Allowance("a.gz: its rows", "Read fewer.")
    >>> rows.take(1e15)
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotEnoughMemoryError: a.gz: its rows would need 1,000,000.0 GB or more, and ... GB are free. ...
    """

    def __init__(self, what: str, advice: str) -> None:
        self.what, self.advice = what, advice
        self.free, self.taken = free_memory(), 0.0

    def take(self, size: float) -> None:
        """Count `size` more bytes; raise `NotEnoughMemoryError` if all that were counted are more than were free."""
        self.taken += size
        if self.taken > self.free:
            raise NotEnoughMemoryError(
                f"{self.what} would need {self.taken / 1e9:,.1f} GB or more, and {self.free / 1e9:,.1f} GB are free. "
                f"{self.advice}"
            )


def show(text: object, file: TextIO | None = None) -> None:
    """Print a text with its control characters visible; readers of a pipe see it at once."""
    print(visible(text), file=file or sys.stdout, flush=True)


with same_environment():
    from threadpoolctl import ThreadpoolController, threadpool_limits
