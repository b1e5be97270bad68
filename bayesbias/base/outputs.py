"""Outputs: files and folders that are whole or absent, whatever happens while they are made.

An output is made in a workshop, a hidden folder beside it, and put in place at the end: by one rename, or, where a
folder is replaced, by one exchange of two folders. A workshop is locked while its run lives, so that another run which
wants the same output is told; what a killed run left is recognised, and cleared by the next one. Where a folder cannot
be exchanged (a mount point, the folder one stands in, one that holds folders, a system that cannot), its files are
replaced one by one after a journal is written, which the next run completes if this one is killed.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from errno import EINVAL, ENOSYS, ENOTSUP
from fnmatch import fnmatch
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR

from bayesbias.base.checks import check_path
from bayesbias.errors import BayesBiasError, OutputError, name_some

_ENDING = ".bayesbias"
_NEW, _JOURNAL = "new", "journal.json"
# Workshops that this run holds already: an output inside an output needs no second lock.
_held: ContextVar[tuple[Path, ...]] = ContextVar("held", default=())
# What was put in place, with the number that the file system knows it by.
_placed: dict[Path, int] = {}


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if a file can be written there; raise `OutputError` before any work is done if not.

    Where the path is a link, the file that it leads to is meant.
    """
    given = check_path(path)
    target = _followed(given)
    with _our_errors(given):
        if not target.parent.is_dir():
            raise OutputError(f"Cannot write {given}: the folder {target.parent} does not exist. Create it first.")
        if target.is_dir():
            raise OutputError(f"Cannot write {given}: it is a folder. Give the name of a file.")
        if target.exists():
            if not target.is_file():
                raise OutputError(f"Cannot write {given}: it is a device or a pipe. Give the name of an ordinary file.")
            if not overwrite:
                raise OutputError(
                    f"{given} exists. Give another name, or allow overwriting (overwrite=True, or --overwrite)."
                )
        check_writable(target.parent)
        return given


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool = False, beside: Collection[str] = ()) -> Path:
    """Return `folder` if results can be written there; raise `OutputError` before any work is done if not.

    `beside` names what may stand in it already: what an unfinished run left for the next.
    """
    given = check_path(folder, "folder")
    target = _followed(given)
    with _our_errors(given):
        if target.exists() and not target.is_dir():
            raise OutputError(f"Cannot write results to {given}: it is a file. Give a folder.")
        if target.is_dir():
            if any(each.name not in beside for each in _content(target)) and not overwrite:
                raise OutputError(f"{given} exists and is not empty. Give another folder, or --overwrite.")
            check_writable(target)
            return given
        if not target.parent.is_dir():
            raise OutputError(f"Cannot write {given}: the folder {target.parent} does not exist. Create it first.")
        check_writable(target.parent)
        return given


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be made in a folder, found out by making one."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"Cannot write in {folder}: {error.strerror or error}. Choose another folder.") from error


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a file or folder that is to be written, so that other runs are told before they begin."""
    target = _followed(Path(path))
    with _our_errors(target), _workshop(target, _place(target)):
        yield


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; on success the file there replaces `path`, on an error it is removed.

    A reader of `path` sees either the old file or the whole new one, never a part.
    """
    target = _followed(check_output(path, overwrite=overwrite))
    with _our_errors(target), _workshop(target, target.parent) as workshop:
        made = workshop / target.name
        yield made
        _keep_mode(target, made)
        _placed[target] = made.stat().st_ino
        if overwrite:
            made.replace(target)
        else:
            _place_new(made, target)


@contextmanager
def whole_folder(folder: str | os.PathLike[str], *, names: Collection[str], overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to write to; on success what is there replaces `folder`, whole.

    Parameters
    ----------
    folder
        A new folder, an empty one, or, with `overwrite`, any.
    names
        Patterns of all files that such an output may have: those of an earlier run go, other files stay.
    overwrite
        Whether files of an earlier run may be replaced.
    """
    target = _followed(check_folder(folder, overwrite=overwrite))
    with _our_errors(target), _workshop(target, place := _place(target)) as workshop:
        new = workshop / _NEW
        new.mkdir()
        yield new
        if not overwrite and target.is_dir() and _content(target):
            raise OutputError(f"{folder} was written by another run in the meantime. Give another folder.")
        ours = [each for each in _content(target) if any(fnmatch(each.name, name) for name in names)]
        for each in new.iterdir():
            _keep_mode(target / each.name, each)
        if taken := [each.name for each in ours if each.is_dir() and not each.is_symlink()]:
            raise OutputError(f"Cannot write {folder}: it holds a folder {name_some(taken)}. Give another folder.")
        if place == target:
            _replace_files(workshop, target, ours)
        elif not target.exists():
            _placed[target] = new.stat().st_ino
            new.rename(target)
        else:
            _exchange_folder(workshop, target, ours)


def clear_workshops(folder: Path) -> None:
    """Remove what runs that were killed left in a folder of files: the workshops that nobody holds."""
    for left in folder.iterdir():
        if left.name.startswith(".") and left.name.endswith(_ENDING):
            with suppress(OutputError), _locked(left, folder):  # another run may hold it
                shutil.rmtree(left, ignore_errors=True)


def written() -> list[Path]:
    """Return the outputs that this process put in place and that are still there."""
    return [path for path, number in _placed.items() if path.exists() and path.stat().st_ino == number]


# --- workshops --------------------------------------------------------------------------------------------


@contextmanager
def _workshop(target: Path, inside: Path) -> Iterator[Path]:
    """Yield an empty hidden folder in `inside` that no other run has, and that goes at the end."""
    folder = inside / f".{target.name[:40]}-{sha256(os.fsencode(target.name)).hexdigest()[:8]}{_ENDING}"
    if folder in _held.get():
        try:
            yield folder
        finally:
            _settle(folder, target)
        return
    if target.is_dir() and (other := target / folder.name) != folder and other.is_dir():
        with _locked(other, target):  # a killed run stood in the folder
            _settle(other, target)
            shutil.rmtree(other)
    with _locked(folder, target):
        _settle(folder, target)
        token = _held.set((*_held.get(), folder))
        try:
            yield folder
        finally:
            _held.reset(token)
            _settle(folder, target)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, target: Path) -> Iterator[None]:
    """Make a folder if it is not there, and hold its lock; the system lets go of it when the process dies."""
    if folder.is_symlink():
        raise OutputError(f"Cannot write {target}: {folder} is a link, which no run of ours has made. Remove it.")
    while True:
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError:
            with suppress(FileNotFoundError):  # another run may end, or begin, at any moment
                if not S_ISDIR(folder.stat().st_mode):
                    raise
            continue
        try:
            import fcntl
        except ImportError:  # Windows: no two runs at once are told apart
            yield
            return
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # another run has ended between the two calls
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(folder, handle):
                yield
                return
        except BlockingIOError as error:
            raise OutputError(f"Another run is writing {target}. Wait for it to end, or give another name.") from error
        finally:
            os.close(handle)


def _is_still(folder: Path, handle: int) -> bool:
    """Return whether a folder that was opened is still there, and has not been made anew."""
    try:
        return os.fstat(handle).st_ino == folder.stat().st_ino
    except FileNotFoundError:
        return False


def _settle(workshop: Path, target: Path) -> None:
    """Complete what was begun to be put in place, by a run that was killed or by this one, and clear the rest."""
    if (workshop / _JOURNAL).is_file():
        _complete(workshop, target)
    for left in workshop.iterdir():
        _remove(left)


def _place(target: Path) -> Path:
    """Return where a folder is made: beside it, or inside where it cannot be exchanged for another."""
    if not target.is_dir():
        return target.parent
    try:
        stands_in_it = Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder is gone
        stands_in_it = False
    if stands_in_it or target.is_mount() or _exchanger() is None or not os.access(target.parent, os.W_OK):
        return target
    return target.parent


# --- putting in place -------------------------------------------------------------------------------------


def _place_new(made: Path, target: Path) -> None:
    """Put a file where none is; raise `OutputError` if another run was faster."""
    try:
        os.link(made, target)
    except FileExistsError as error:
        raise OutputError(f"{target} was written by another run in the meantime. Give another name.") from error
    except OSError:  # a file system without links
        made.replace(target)


def _exchange_folder(workshop: Path, target: Path, ours: Collection[Path]) -> None:
    """Exchange a folder for the new one, which is given all other files of the old one first.

    Folders in it, which may be mounted or large, stay where they are: then its files are replaced in turn.
    """
    new, exchange = workshop / _NEW, _exchanger()
    others = [each for each in _content(target) if each not in ours]
    if any(other.is_dir() and not other.is_symlink() for other in others):
        _replace_files(workshop, target, ours)
        return
    for other in others:
        _link(other, new / other.name)
    shutil.copymode(target, new)
    _placed[target] = new.stat().st_ino
    try:
        assert exchange is not None
        exchange(os.fsencode(new), os.fsencode(target))
    except OSError as error:
        if error.errno not in (EINVAL, ENOSYS, ENOTSUP):
            raise
        for other in others:  # a file system that cannot: its files are replaced in turn
            _remove(new / other.name)
        _replace_files(workshop, target, ours)
        return
    _rescue(new, target, {each.name for each in ours})


def _rescue(old: Path, target: Path, ours: Collection[str]) -> None:
    """Move what others put into the old folder while it was exchanged."""
    for left in _content(old):
        there = target / left.name
        if left.name not in ours and not (there.exists() and there.samefile(left)):
            left.replace(there)


def _keep_mode(old: Path, made: Path) -> None:
    """Give a new file the permissions of the one that it replaces."""
    if old.is_file() and not old.is_symlink():
        shutil.copymode(old, made)


def _replace_files(workshop: Path, target: Path, ours: Collection[Path]) -> None:
    """Replace the files of a folder one by one, after a journal of what is to be done."""
    made = list((workshop / _NEW).iterdir())
    for each in made:
        _placed[target / each.name] = each.stat().st_ino
    draft = workshop / "draft"
    names = {"made": [each.name for each in made], "old": [each.name for each in ours]}
    draft.write_text(json.dumps(names), encoding="utf-8")
    draft.replace(workshop / _JOURNAL)
    _complete(workshop, target)


def _complete(workshop: Path, target: Path) -> None:
    """Do what a journal says: move all new files to the folder, and remove the old ones that have no successor."""
    journal = workshop / _JOURNAL
    try:
        names = json.loads(journal.read_text(encoding="utf-8"))
        gone = {str(name) for name in names["old"]} - set(names["made"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise OutputError(f"{journal}, of a run that was stopped, is damaged. Remove {workshop}.") from error
    for made in sorted((workshop / _NEW).iterdir()):
        made.replace(target / made.name)
    for name in gone:
        if Path(name).name == name:  # a journal may come from a stranger
            (target / name).unlink(missing_ok=True)
    journal.unlink()


def _link(source: Path, copy: Path) -> None:
    """Give a file a second name; copy what cannot have one."""
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, copy, follow_symlinks=False)


@cache
def _exchanger() -> Callable[[bytes, bytes], None] | None:
    """Return the system's call that exchanges two names at once, or None where it has none."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):  # Windows
        return None
    # Linux and macOS: the call, the number of the current folder, and that of "exchange".
    for name, here, flag in (("renameat2", -100, 2), ("renameatx_np", -2, 2)):
        if (function := getattr(library, name, None)) is not None:
            function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
            return partial(_called, function, here, flag)
    return None


def _called(function: Callable[..., int], here: int, flag: int, one: bytes, other: bytes) -> None:
    import ctypes

    if function(here, one, here, other, flag) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# --- small things -----------------------------------------------------------------------------------------


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _content(folder: Path) -> list[Path]:
    """Return what a folder holds but for workshops of ours."""
    if not folder.is_dir():
        return []
    return [each for each in folder.iterdir() if not (each.name.startswith(".") and each.name.endswith(_ENDING))]


def _followed(path: Path) -> Path:
    """Return the path that links lead to."""
    try:
        target = path.resolve()
        loop = target.is_symlink()
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"Cannot write {str(path)!r}: {reason}. Give another name.") from error
    if loop:
        raise OutputError(f"Cannot write {path}: it is a link that leads to itself. Give another name.")
    return target


@contextmanager
def _our_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except BayesBiasError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {target}: {error.strerror or error}.") from error
