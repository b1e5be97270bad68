"""Workshops: hidden folders beside an output, in which one run of one user makes it.

A workshop is locked while its run lives, so that another run with the same output fails early; the next run clears what
a killed run left. Its name can be predicted, so any user can be the first to use it: a folder is a workshop only if it
is of this user, nobody else may write to it, and it carries the mark of a workshop, the sticky bit, unless it is empty.
Nobody else can rename a folder of this user to that name, since `followed` refuses the places where they could.
"""

import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from errno import EACCES, ELOOP, ENOTDIR
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE, S_ISVTX

from bayesbias.base.files.documents import parse_json
from bayesbias.base.files.folders import check_fixed, followed, is_only_ours, keeps_modes, new_file
from bayesbias.errors import OutputError

NEW = "new"
_JOURNAL = "journal.json"
_ENDING = ".bayesbias"
_PRIVATE = 0o700


@dataclass(frozen=True)
class Workshop:
    """A workshop of this run.

    Parameters
    ----------
    path
        The workshop.
    target
        The output.
    """

    path: Path
    target: Path


# Workshops that this run holds: an output inside an output needs no second lock.
_held: ContextVar[tuple[Workshop, ...]] = ContextVar("held", default=())


@contextmanager
def workshop(target: Path, inside: Path) -> Iterator[Workshop]:
    """Yield an empty, locked workshop in the folder `inside`, which is removed at the end."""
    name = f".{target.name[:40]}-{sha256(os.fsencode(target.name)).hexdigest()[:8]}{_ENDING}"
    shop = Workshop(inside / name, target)
    if shop in _held.get():
        try:
            yield shop
        finally:
            _settle(shop)
        return
    if inside != target and (target / name).is_dir():  # of a killed run whose current folder this was
        check_fixed(target)
        with _made(target / name, target):
            _settle(Workshop(target / name, target))
    with _made(shop.path, target):
        _settle(shop)
        token = _held.set((*_held.get(), shop))
        try:
            yield shop
        finally:
            _held.reset(token)
            _settle(shop)


def clear_workshops(folder: Path) -> None:
    """Remove the workshops of killed runs from a folder."""
    for path in followed(folder).iterdir():
        if _is_workshop(path):
            with suppress(OutputError), _made(path, folder):  # another run may hold it
                _clear(path)


def content(folder: Path) -> list[Path]:
    """Return the content of a folder, without workshops."""
    return [path for path in folder.iterdir() if not _is_workshop(path)] if folder.exists() else []


def is_folder(path: Path) -> bool:
    """Return whether there is a folder, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def move_into_place(shop: Workshop, replaced: Collection[Path]) -> None:
    """Replace the files of an output by the new ones, one by one, after writing a journal."""
    draft = shop.path / "draft"
    made = [path.name for path in (shop.path / NEW).iterdir()]
    names = {"of": shop.target.name, "made": made, "old": [path.name for path in replaced]}
    draft.write_text(json.dumps(names), encoding="utf-8")
    draft.replace(shop.path / _JOURNAL)
    _complete(shop)


@contextmanager
def _made(folder: Path, target: Path) -> Iterator[None]:
    """Make a workshop if necessary, and lock it; remove it at the end if it is empty.

    The system releases the lock when the process dies.
    """
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=_PRIVATE | S_ISVTX)
        try:
            import fcntl
        except ImportError:  # Windows: without locks
            with _removed_if_empty(folder):
                yield
            return
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # another run ended between the two calls
            continue
        except OSError as error:
            if error.errno in (ENOTDIR, ELOOP, EACCES):
                raise _foreign(folder, target) from error
            raise
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(folder, handle):
                _check_ours(handle, folder, target)
                with _removed_if_empty(folder):
                    yield
                return
        except BlockingIOError as error:
            raise OutputError(f"Another run is writing {target}. Wait for it to end, or give another name.") from error
        finally:
            os.close(handle)


@contextmanager
def _removed_if_empty(folder: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def _check_ours(handle: int, folder: Path, target: Path) -> None:
    """Raise `OutputError` if an open folder is not a workshop of this user alone; mark it if it is empty."""
    entry, new = os.fstat(handle), new_file(folder.parent)
    is_marked = bool(entry.st_mode & S_ISVTX) or not keeps_modes(new)
    if not is_only_ours(entry, new) or not (is_marked or not os.listdir(handle)):
        raise _foreign(folder, target)
    if not is_marked:
        os.fchmod(handle, S_IMODE(entry.st_mode) | S_ISVTX)


def _foreign(folder: Path, target: Path) -> OutputError:
    return OutputError(
        f"Cannot write {target}: {folder.name}, beside it, is a link, a file, or a folder that was not made for you by "
        "this package. Remove it, or choose another folder."
    )


def _is_still(folder: Path, handle: int) -> bool:
    """Return whether an open folder still exists and was not replaced."""
    try:
        return os.path.samestat(os.fstat(handle), folder.lstat())
    except FileNotFoundError:
        return False


def _settle(shop: Workshop) -> None:
    """Complete a journal that this run or a killed one left, and empty the workshop."""
    if (shop.path / _JOURNAL).is_file() and shop.target.is_dir():
        check_fixed(shop.target)
        _complete(shop)
    _clear(shop.path)


def _complete(shop: Workshop) -> None:
    """Carry out a journal: move all new files to the output, and remove old ones without a successor."""
    journal = shop.path / _JOURNAL
    try:
        names = parse_json(journal.read_text(encoding="utf-8"))
        obsolete = {str(name) for name in names["old"]} - set(names["made"])
        is_sound = names["of"] == shop.target.name
    except (ValueError, TypeError, KeyError):
        is_sound = False
    if not is_sound:
        raise OutputError(f"{journal}, of a run that was stopped, is damaged. Remove {shop.path}.")
    for made in sorted((shop.path / NEW).iterdir()):
        made.replace(shop.target / made.name)
    for path in content(shop.target):
        if path.name in obsolete:
            path.unlink()
    journal.unlink()


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if is_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink()


def _is_workshop(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_ENDING)
