"""Atomic outputs: files and folders that are written whole or not at all.

An output is made in a workshop, a hidden folder beside it, and put in place at the end: by one rename, or by one
exchange of two folders if a folder is replaced. A workshop is locked while its run lives, so that another run with the
same output fails early; the next run clears what a killed run left. If a folder cannot be exchanged (it is a mount
point or the current folder, it holds folders, or the system has no such call), its files are replaced one by one, after
a journal is written, which the next run completes if this one is killed.
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
# Workshops that this run holds: an output inside an output needs no second lock.
_held: ContextVar[tuple[Path, ...]] = ContextVar("held", default=())
# Outputs that were put in place, with their inode numbers.
_placed: dict[Path, int] = {}


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if a file can be written there, or to the target if it is a link; raise `OutputError` if not."""
    path = check_path(path)
    target = _followed(path)
    with _our_errors(path):
        if target.is_dir():
            raise OutputError(f"Cannot write {path}: it is a folder. Give the name of a file.")
        if target.exists():
            if not target.is_file():
                raise OutputError(f"Cannot write {path}: it is a device or a pipe. Give the name of an ordinary file.")
            if not overwrite:
                raise OutputError(
                    f"{path} exists. Give another name, or allow overwriting (overwrite=True, or --overwrite)."
                )
        _check_parent(path, target)
        return path


def check_folder(folder: str | os.PathLike[str], *, overwrite: bool = False, beside: Collection[str] = ()) -> Path:
    """Return `folder` if results can be written there; raise `OutputError` if not.

    `beside` names files that it may hold already, such as those of an unfinished run.
    """
    folder = check_path(folder, "folder")
    target = _followed(folder)
    with _our_errors(folder):
        if target.exists() and not target.is_dir():
            raise OutputError(f"Cannot write results to {folder}: it is a file. Give a folder.")
        if not overwrite and any(path.name not in beside for path in _content(target)):
            raise OutputError(f"{folder} exists and is not empty. Give another folder, or --overwrite.")
        if target.is_dir():
            check_writable(target)
        else:
            _check_parent(folder, target)
        return folder


def _check_parent(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise OutputError(f"Cannot write {path}: the folder {target.parent} does not exist. Create it first.")
    check_writable(target.parent)


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be created in a folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"Cannot write in {folder}: {error.strerror or error}. Choose another folder.") from error


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of an output, so that other runs that would write it fail before they begin."""
    target = _followed(Path(path))
    with _our_errors(target), _workshop(target, _place(target)):
        yield


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; on success the new file replaces `path`, on an error it is removed.

    A reader of `path` sees either the old file or the whole new one.
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
    """Yield a folder to write to; on success it replaces `folder` as a whole.

    Parameters
    ----------
    folder
        A new or empty folder, or, with `overwrite`, any folder.
    names
        Patterns of all files that such an output may have: matching files of an earlier run are removed, others kept.
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
        replaced = [path for path in _content(target) if any(fnmatch(path.name, name) for name in names)]
        for path in new.iterdir():
            _keep_mode(target / path.name, path)
        if folders := [path.name for path in replaced if _is_folder(path)]:
            raise OutputError(f"Cannot write {folder}: it holds a folder {name_some(folders)}. Give another folder.")
        others = [path for path in _content(target) if path not in replaced]
        if place == target or any(map(_is_folder, others)):  # folders may be mounted or large: they stay in place
            _replace_files(workshop, target, replaced)
        elif not target.exists():
            _placed[target] = new.stat().st_ino
            new.rename(target)
        else:
            _exchange_folder(workshop, target, replaced, others)


def clear_workshops(folder: Path) -> None:
    """Remove the workshops of killed runs from a folder."""
    for path in folder.iterdir():
        if _is_workshop(path):
            with suppress(OutputError), _locked(path, folder):  # another run may hold it
                shutil.rmtree(path, ignore_errors=True)


def written() -> list[Path]:
    """Return the outputs of this process that still exist."""
    return [path for path, number in _placed.items() if path.exists() and path.stat().st_ino == number]


# --- workshops --------------------------------------------------------------------------------------------


@contextmanager
def _workshop(target: Path, inside: Path) -> Iterator[Path]:
    """Yield an empty, locked, hidden folder in `inside`, which is removed at the end."""
    folder = inside / f".{target.name[:40]}-{sha256(os.fsencode(target.name)).hexdigest()[:8]}{_ENDING}"
    if folder in _held.get():
        try:
            yield folder
        finally:
            _settle(folder, target)
        return
    if target.is_dir() and (other := target / folder.name) != folder and other.is_dir():
        with _locked(other, target):  # of a killed run whose current folder this was
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
    """Create a folder if necessary and hold its lock, which the system releases when the process dies."""
    if folder.is_symlink():
        raise OutputError(f"Cannot write {target}: {folder} is a link that this package did not make. Remove it.")
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
        except ImportError:  # Windows: without locks
            yield
            return
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # another run ended between the two calls
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same(folder, handle):
                yield
                return
        except BlockingIOError as error:
            raise OutputError(f"Another run is writing {target}. Wait for it to end, or give another name.") from error
        finally:
            os.close(handle)


def _is_same(folder: Path, handle: int) -> bool:
    """Return whether an open folder still exists and was not replaced."""
    try:
        return os.fstat(handle).st_ino == folder.stat().st_ino
    except FileNotFoundError:
        return False


def _settle(workshop: Path, target: Path) -> None:
    """Complete a journal that this run or a killed one left, and empty the workshop."""
    if (workshop / _JOURNAL).is_file():
        _complete(workshop, target)
    for path in workshop.iterdir():
        _remove(path)


def _place(target: Path) -> Path:
    """Return the folder for a workshop: the parent of `target`, or `target` itself if it cannot be exchanged."""
    if not target.is_dir():
        return target.parent
    try:
        is_current = Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder was removed
        is_current = False
    if is_current or target.is_mount() or _exchanger() is None or not os.access(target.parent, os.W_OK):
        return target
    return target.parent


# --- putting in place -------------------------------------------------------------------------------------


def _place_new(made: Path, target: Path) -> None:
    """Put a new file in place; raise `OutputError` if another run was faster."""
    try:
        os.link(made, target)
    except FileExistsError as error:
        raise OutputError(f"{target} was written by another run in the meantime. Give another name.") from error
    except OSError:  # a file system without links
        made.replace(target)


def _exchange_folder(workshop: Path, target: Path, replaced: Collection[Path], others: Collection[Path]) -> None:
    """Exchange a folder for the new one, after linking the `others`, which are not replaced, into the new one."""
    new, exchange = workshop / _NEW, _exchanger()
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
        for other in others:  # this file system has no exchange
            _remove(new / other.name)
        _replace_files(workshop, target, replaced)
        return
    # The workshop now holds the old folder: move files that others put there during the exchange.
    replaced_names = {path.name for path in replaced}
    for path in _content(new):
        successor = target / path.name
        if path.name not in replaced_names and not (successor.exists() and successor.samefile(path)):
            path.replace(successor)


def _keep_mode(old: Path, made: Path) -> None:
    """Give a new file the permissions of the file that it replaces."""
    if old.is_file() and not old.is_symlink():
        shutil.copymode(old, made)


def _replace_files(workshop: Path, target: Path, replaced: Collection[Path]) -> None:
    """Replace the files of a folder one by one, after writing a journal."""
    new_files = list((workshop / _NEW).iterdir())
    for path in new_files:
        _placed[target / path.name] = path.stat().st_ino
    draft = workshop / "draft"
    names = {"made": [path.name for path in new_files], "old": [path.name for path in replaced]}
    draft.write_text(json.dumps(names), encoding="utf-8")
    draft.replace(workshop / _JOURNAL)
    _complete(workshop, target)


def _complete(workshop: Path, target: Path) -> None:
    """Carry out a journal: move all new files to the folder, and remove old ones without a successor."""
    journal = workshop / _JOURNAL
    try:
        names = json.loads(journal.read_text(encoding="utf-8"))
        obsolete = {str(name) for name in names["old"]} - set(names["made"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise OutputError(f"{journal}, of a run that was stopped, is damaged. Remove {workshop}.") from error
    for made in sorted((workshop / _NEW).iterdir()):
        made.replace(target / made.name)
    for name in obsolete:
        if Path(name).name == name:  # an untrusted journal may name other paths
            (target / name).unlink(missing_ok=True)
    journal.unlink()


def _link(source: Path, copy: Path) -> None:
    """Create a hard link to a file, or a copy if that is not possible."""
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, copy, follow_symlinks=False)


@cache
def _exchanger() -> Callable[[bytes, bytes], None] | None:
    """Return the system's call that exchanges two paths atomically, or None if it has none."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):  # Windows
        return None
    # Linux and macOS: the call, AT_FDCWD, and the flag for an exchange.
    for name, current_folder, flag in (("renameat2", -100, 2), ("renameatx_np", -2, 2)):
        if (function := getattr(library, name, None)) is not None:
            function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
            return partial(_call, function, current_folder, flag)
    return None


def _call(function: Callable[..., int], current_folder: int, flag: int, path: bytes, other_path: bytes) -> None:
    import ctypes

    if function(current_folder, path, current_folder, other_path, flag) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# --- paths ------------------------------------------------------------------------------------------------


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_workshop(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(_ENDING)


def _remove(path: Path) -> None:
    if _is_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink()


def _content(folder: Path) -> list[Path]:
    """Return the content of a folder, without workshops."""
    return [path for path in folder.iterdir() if not _is_workshop(path)] if folder.is_dir() else []


def _followed(path: Path) -> Path:
    """Return the target of a path after following links."""
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
