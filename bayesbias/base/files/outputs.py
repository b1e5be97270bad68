"""Atomic outputs: files and folders that are written whole or not at all.

An output is made in a workshop beside it, and put in place at the end: by one rename, or by one exchange of two folders
if a folder is replaced. If a folder cannot be exchanged (it is a mount point or the current folder, it holds folders or
files that cannot be linked, it is of another user, or the system has no such call), its files are replaced one by one,
after a journal is written, which the next run completes if this one is killed.
"""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from stat import S_IFMT, S_IMODE, S_ISVTX

from bayesbias.base.checks import check_path
from bayesbias.base.files.folders import check_fixed, check_writable, followed, our_errors
from bayesbias.base.files.workshops import NEW, Workshop, content, is_folder, move_into_place, workshop
from bayesbias.errors import OutputError, name_some

# Outputs that were put in place, with their inode numbers.
_placed: dict[Path, int] = {}


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if a file can be written there, or to the target if it is a link; raise `OutputError` if not."""
    path = check_path(path)
    target = followed(path)
    with our_errors(path):
        if target.is_dir():
            raise OutputError(f"Cannot write {path}: it is a folder. Give the name of a file.")
        if target.exists() and not target.is_file():
            raise OutputError(f"Cannot write {path}: it is a device or a pipe. Give the name of an ordinary file.")
        if os.path.lexists(path) and not overwrite:  # also a link to no file
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
    target = followed(folder)
    with our_errors(folder):
        if target.exists() and not target.is_dir():
            raise OutputError(f"Cannot write results to {folder}: it is a file. Give a folder.")
        if not overwrite and any(path.name not in beside for path in content(target)):
            raise OutputError(f"{folder} exists and is not empty. Give another folder, or --overwrite.")
        if not overwrite and folder.is_symlink() and not target.exists():
            raise OutputError(f"{folder} is a link to no folder. Give another folder, or --overwrite.")
        if target.is_dir():
            check_writable(target)
        else:
            _check_parent(folder, target)
        return folder


def _check_parent(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise OutputError(f"Cannot write {path}: the folder {target.parent} does not exist. Create it first.")
    check_writable(target.parent)


def create_folder(folder: Path) -> None:
    """Create a folder for results if there is none."""
    target = followed(folder)
    with our_errors(folder):
        target.mkdir(exist_ok=True)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of an output, so that other runs that would write it fail before they begin."""
    target = followed(Path(path))
    with our_errors(target), workshop(target, _place(target)):
        yield


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; on success the new file replaces `path`, on an error it is removed.

    A reader of `path` sees either the old file or the whole new one.
    """
    target = followed(check_output(path, overwrite=overwrite))
    with our_errors(target), workshop(target, target.parent) as shop:
        made = shop.path / target.name
        yield made
        _keep_mode(target, made)
        _placed[target] = made.stat().st_ino
        if overwrite:
            made.replace(target)
        else:
            _place_new(made, shop)


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
    target = followed(check_folder(folder, overwrite=overwrite))
    with our_errors(target), workshop(target, place := _place(target)) as shop:
        new = shop.path / NEW
        new.mkdir()
        yield new
        if not os.path.lexists(target):
            _placed[target] = new.stat().st_ino
            new.rename(target)
            return
        check_fixed(target)
        old = content(target)
        if not overwrite and old:
            raise OutputError(f"{folder} was written by another run in the meantime. Give another folder.")
        replaced = [path for path in old if any(fnmatch(path.name, name) for name in names)]
        for path in new.iterdir():
            _keep_mode(target / path.name, path)
        if folders := [path.name for path in replaced if is_folder(path)]:
            raise OutputError(f"Cannot write {folder}: it holds a folder {name_some(folders)}. Give another folder.")
        others = [path for path in old if path not in replaced]
        # Folders may be mounted or large: they stay in place.
        can_exchange = place != target and not any(map(is_folder, others))
        if not (can_exchange and _exchange_folder(shop, replaced, others)):
            for path in new.iterdir():
                _placed[target / path.name] = path.stat().st_ino
            move_into_place(shop, replaced)


def written() -> list[Path]:
    """Return the outputs of this process that still exist."""
    return [path for path, number in _placed.items() if path.exists() and path.stat().st_ino == number]


# --- putting in place -------------------------------------------------------------------------------------


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


def _place_new(made: Path, shop: Workshop) -> None:
    """Put a new file in place; raise `OutputError` if another run was faster."""
    in_the_meantime = f"{shop.target} was written by another run in the meantime. Give another name."
    try:
        os.link(made, shop.target)
    except FileExistsError as error:
        raise OutputError(in_the_meantime) from error
    except OSError as error:  # a file system without links
        if os.path.lexists(shop.target):
            raise OutputError(in_the_meantime) from error
        made.replace(shop.target)


def _exchange_folder(shop: Workshop, replaced: Collection[Path], others: Collection[Path]) -> bool:
    """Exchange a folder for the new one, after linking the `others`, which are not replaced, into the new one.

    Return whether that is possible; if not, nothing is changed.
    """
    new, exchange = shop.path / NEW, _exchanger()
    before, after = shop.target.stat(), new.stat()
    linked: list[Path] = []
    try:
        for other in others:
            os.link(other, new / other.name, follow_symlinks=False)
            linked.append(new / other.name)
        _keep_mode(shop.target, new)
        assert exchange is not None
        exchange(os.fsencode(new), os.fsencode(shop.target))
    except OSError:  # such as a file system without links or exchanges
        for path in linked:
            path.unlink()
        return False
    if not os.path.samestat(new.lstat(), before):
        exchange(os.fsencode(new), os.fsencode(shop.target))
        raise OutputError(f"{shop.target} was replaced in the meantime. Give another folder.")
    _placed[shop.target] = after.st_ino
    # The workshop now holds the old folder: move files that others put there during the exchange.
    replaced_names = {path.name for path in replaced}
    for path in content(new):
        successor = shop.target / path.name
        if path.name not in replaced_names and not (successor.exists() and successor.samefile(path)):
            path.replace(successor)
    return True


def _keep_mode(old: Path, made: Path) -> None:
    """Give a new file or folder the permissions of the one that it replaces, if this is of the same kind and user.

    Others can move files of this user into a folder with the sticky bit: there, it only loses permissions.
    """
    if os.path.lexists(old):
        before, after = old.lstat(), made.stat()
        if before.st_uid == after.st_uid and S_IFMT(before.st_mode) == S_IFMT(after.st_mode):
            most = after.st_mode if old.parent.stat().st_mode & S_ISVTX else before.st_mode
            made.chmod(S_IMODE(before.st_mode & most))


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
