"""Workshops: hidden folders beside an output, in which one run of one user makes it.

A workshop is locked while its run lives, so that another run with the same output fails early; the next run clears what
a killed run left. Its name can be predicted, so any user can be the first to use it: a folder is a workshop only if it
is of this user, nobody else may write to it, and it carries the mark of a workshop, the sticky bit, unless it is empty.
The last keeps another user from renaming any folder of this user to the name of a workshop, to have it cleared.
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
from bayesbias.base.files.folders import followed, held_open, is_only_ours, keeps_modes, new_file, open_path
from bayesbias.errors import OutputError

NEW = "new"
_JOURNAL = "journal.json"
_ENDING = ".bayesbias"
_PRIVATE = 0o700


@dataclass(frozen=True)
class Workshop:
    """A workshop of this run: paths of open folders, which lead to the same place whatever other users do.

    Parameters
    ----------
    path
        The workshop.
    output
        The output, in an open folder.
    target
        Path of the output for people.
    name
        Path of the workshop for people.
    """

    path: Path
    output: Path
    target: Path
    name: Path


# Workshops that this run holds: an output inside an output needs no second lock.
_held: ContextVar[tuple[Workshop, ...]] = ContextVar("held", default=())


@contextmanager
def workshop(target: Path, inside: Path) -> Iterator[Workshop]:
    """Yield an empty, locked workshop in the folder `inside`, which is removed at the end."""
    name = inside / f".{target.name[:40]}-{sha256(os.fsencode(target.name)).hexdigest()[:8]}{_ENDING}"
    if (before := next((shop for shop in _held.get() if shop.name == name), None)) is not None:
        try:
            yield before
        finally:
            _settle(before)
        return
    with held_open(inside) as place:
        output = place if inside == target else place / target.name
        if inside != target and (output / name.name).is_dir():  # of a killed run whose current folder this was
            with held_open(output) as folder, _made(folder / name.name, target) as path:
                _settle(Workshop(path, folder, target, target / name.name))
        with _made(place / name.name, target) as path:
            shop = Workshop(path, output, target, name)
            _settle(shop)
            token = _held.set((*_held.get(), shop))
            try:
                yield shop
            finally:
                _held.reset(token)
                _settle(shop)


def clear_workshops(folder: Path) -> None:
    """Remove the workshops of killed runs from a folder."""
    with held_open(followed(folder)) as place:
        for path in place.iterdir():
            if _is_workshop(path):
                with suppress(OutputError), _made(path, folder) as left:  # another run may hold it
                    _clear(left)


def content(folder: Path) -> list[Path]:
    """Return the content of a folder, without workshops."""
    return [path for path in folder.iterdir() if not _is_workshop(path)] if folder.is_dir() else []


def is_folder(path: Path) -> bool:
    """Return whether there is a folder, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def move_into_place(shop: Workshop, folder: Path, replaced: Collection[Path]) -> None:
    """Replace the files of a folder by the new ones, one by one, after writing a journal."""
    draft = shop.path / "draft"
    made = [path.name for path in (shop.path / NEW).iterdir()]
    names = {"of": shop.target.name, "made": made, "old": [path.name for path in replaced]}
    draft.write_text(json.dumps(names), encoding="utf-8")
    draft.replace(shop.path / _JOURNAL)
    _complete(shop, folder)


@contextmanager
def _made(folder: Path, target: Path) -> Iterator[Path]:
    """Yield the path of a workshop, made if necessary and locked, which is removed at the end if it is empty.

    The system releases the lock when the process dies.
    """
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=_PRIVATE | S_ISVTX)
        try:
            import fcntl
        except ImportError:  # Windows: without locks
            with _removed_if_empty(folder):
                yield folder
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
                    yield open_path(handle, folder)
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
    if (shop.path / _JOURNAL).is_file() and shop.output.is_dir():
        with held_open(shop.output) as folder:
            _complete(shop, folder)
    _clear(shop.path)


def _complete(shop: Workshop, folder: Path) -> None:
    """Carry out a journal: move all new files to the folder, and remove old ones without a successor."""
    journal = shop.path / _JOURNAL
    try:
        names = parse_json(journal.read_text(encoding="utf-8"))
        obsolete = {str(name) for name in names["old"]} - set(names["made"])
        is_sound = names["of"] == shop.target.name
    except (ValueError, TypeError, KeyError):
        is_sound = False
    if not is_sound:
        raise OutputError(f"{shop.name / _JOURNAL}, of a run that was stopped, is damaged. Remove {shop.name}.")
    for made in sorted((shop.path / NEW).iterdir()):
        made.replace(folder / made.name)
    for path in content(folder):
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
