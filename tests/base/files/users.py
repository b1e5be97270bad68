"""Two ordinary users of one machine: one writes outputs, and a stranger attacks."""

import os
import signal
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bayesbias.errors import BayesBiasError

USER, STRANGER = 1234, 65534
needs_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can act as two users")


def as_user(user: int, work: Callable[..., object], *arguments: object) -> str:
    """Return the text of what `work` returns as another user, in a process of its own, or of an error of ours."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _become(user)
        try:
            text = str(work(*arguments))
        except BayesBiasError as error:
            text = f"{type(error).__name__}: {error}"
        except BaseException as error:  # noqa: BLE001 - shown by the test
            text = f"unexpected {error!r}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            return stream.read().decode()
    except BaseException:  # such as a limit of time
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.waitpid(child, 0)


@contextmanager
def meanwhile(user: int, work: Callable[..., object], *arguments: object) -> Iterator[None]:
    """Repeat `work` as another user, whatever errors it has, until the end of the block."""
    child = os.fork()
    if child == 0:
        _become(user)
        while True:
            with suppress(OSError):
                work(*arguments)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@contextmanager
def shared_folder(mode: int) -> Iterator[tuple[Path, Path]]:
    """Yield a folder of this mode, and a private folder of the user who writes; both users can reach them."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        shared, home = place / "shared", place / "home"
        shared.mkdir()
        shared.chmod(mode)
        home.mkdir(mode=0o700)
        os.chown(home, USER, USER)
        yield shared, home


def give_to_stranger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a link another user's; where only root can, make this process another user's in its own eyes."""
    if os.geteuid() == 0:
        os.lchown(path, STRANGER, STRANGER)
    else:
        user = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: user)


def hostile_journal(base: Path, victim: Path) -> Path:
    """Write a journal beside a file of SQLite that names a file to be removed: that of a change of several files."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    page = 4096
    header = magic + struct.pack(">5I", 0, 7, base.stat().st_size // page, 512, page)
    names = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    journal = base.with_name(f"{base.name}-journal")
    journal.write_bytes(header.ljust(512, b"\0") + names)
    return journal


def _become(user: int) -> None:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    os.umask(0o022)
