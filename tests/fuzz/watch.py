"""Which files a reader opens outside of the folder that it was given: an audit hook for Python, Linux for libraries.

The hook does not see what libraries in C open. They know no files but those that an input names, and inputs name those
of a private folder, which Linux watches.
"""

import ctypes
import os
import site
import struct
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

import bayesbias
from tests.embeddings.encoders.opened_files import opened_paths

PRIVATE = Path("of-nobody")  # beside the given folder, in the current one
SECRET = np.linspace(0, 1, 80).tobytes()
_EVENTS = 0x1 | 0x2 | 0x20 | 0xC0 | 0x100 | 0x200 | 0x400  # read, written, opened, moved, created, removed
_EVENT = struct.Struct("iIII")
# The system's own folders have no secrets, and modules that are imported late come from those of Python.
_OF_PYTHON = {sys.prefix, sys.base_prefix, *site.getsitepackages(), *sysconfig.get_paths().values()}
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/shm")
_OF_ALL = [
    Path(place).resolve() for place in (*_OF_PYTHON, Path(bayesbias.__file__).parents[1], "/proc", "/sys", *_DEVICES)
]
_LIMITS = ("memory.max", "memory.limit_in_bytes")  # of groups of processes


@dataclass(frozen=True)
class Place:
    """A folder of one run, the current one; what is read lies in `given`, and nobody may touch `PRIVATE`."""

    folder: Path
    events: int | None

    @property
    def given(self) -> Path:
        """The folder that readers are given."""
        return self.folder / "given"

    @contextmanager
    def watched(self) -> Iterator[set[str]]:
        """Yield what is opened outside of the given folder, which is known at the end."""
        self._happened()  # while the input was made
        outside: set[str] = set()
        with opened_paths() as paths:
            yield outside
        outside |= {str(path) for path in paths if not self._may_open(Path(os.path.realpath(path)))}
        outside |= self._happened()

    def _may_open(self, path: Path) -> bool:
        if path.is_relative_to(self.folder):
            return not path.is_relative_to(self.folder / PRIVATE)
        return path.is_dir() or path.name in _LIMITS or any(path.is_relative_to(place) for place in _OF_ALL)

    def _happened(self) -> set[str]:
        """Return the names of private files that anything touched since this was asked last.

        That the folder itself was listed does not count: any process of the machine may do so, and it opens no file.
        """
        names: set[str] = set()
        try:
            while self.events is not None and (content := os.read(self.events, 1 << 16)):
                while content:
                    *_, length = _EVENT.unpack_from(content)
                    name = content[_EVENT.size : _EVENT.size + length].rstrip(b"\0")
                    names |= {f"{PRIVATE}/{os.fsdecode(name)}"} if name else set()
                    content = content[_EVENT.size + length :]
        except BlockingIOError:
            pass
        return names


@contextmanager
def new_place() -> Iterator[Place]:
    """Yield a new place of a run, in which this process works until the end."""
    with tempfile.TemporaryDirectory() as name:
        folder, before, temporary = Path(name).resolve(), Path.cwd(), tempfile.tempdir
        folder.chmod(0o755)  # two users work in it
        (folder / "given").mkdir()
        _write_private(folder / PRIVATE)
        os.chdir(folder)
        tempfile.tempdir = name
        events = _listen(folder / PRIVATE)
        try:
            yield Place(folder, events)
        finally:
            tempfile.tempdir = temporary
            os.chdir(before)
            if events is not None:
                os.close(events)


def _write_private(folder: Path) -> None:
    folder.mkdir()
    for name in ("key", "private", "config.json", "model.safetensors", "weights"):
        (folder / name).write_bytes(SECRET)
    with h5py.File(folder / "other.h5", "w") as file:
        file["numbers"] = np.frombuffer(SECRET).reshape(4, 20)
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")


def _listen(folder: Path) -> int | None:
    """Return a file of events in a folder, which never waits; None where the system is not Linux."""
    if not sys.platform.startswith("linux"):
        return None
    system = ctypes.CDLL(None, use_errno=True)
    events: int = system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if events < 0 or system.inotify_add_watch(events, os.fsencode(folder), _EVENTS) < 0:
        raise OSError(ctypes.get_errno(), f"cannot watch {folder}")
    return events
