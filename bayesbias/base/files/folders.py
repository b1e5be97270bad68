"""Folders that others may write to as well: which links are followed there, and paths that nobody can turn elsewhere.

In a folder that all may write to, any user can put a link in the way of an output, and without the sticky bit also
rename or replace what another user made, at any moment. So a link counts only if it is of this user or of root, and a
folder is opened once: the path of an open folder leads to it, whatever happens to its name.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISLNK, S_ISVTX, S_IWGRP, S_IWOTH

from bayesbias.errors import BayesBiasError, OutputError

_OPEN = Path("/proc/self/fd")  # the files and folders that this process holds open; only Linux has it
_NAMES_ONLY: int = getattr(os, "O_PATH", 0)
_MOST_LINKS = 40
_PRIVATE = 0o600  # mode of a temporary file


def followed(path: Path) -> Path:
    """Return the target of a path after following links.

    Raises
    ------
    OutputError
        If a link leads to itself, or is of another user in a folder that all may write to, or in their folder there.
    """
    try:
        return path.resolve() if os.name == "nt" else _followed(path.absolute())
    except OutputError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"Cannot write {str(path)!r}: {reason}. Give another name.") from error


def _followed(path: Path) -> Path:
    folder, links = _start(path), 0
    names = list(reversed(path.relative_to(folder).parts))
    while names:
        name = names.pop()
        if name == "..":
            folder = folder.parent
            continue
        step = folder / name  # the root if a link leads there
        try:
            is_link = S_ISLNK(step.lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return step.joinpath(*reversed(names))
        if not is_link:
            folder = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OutputError(f"Cannot write {path}: it is a link that leads to itself. Give another name.")
        owner, target = _read_link(step)
        if owner not in (0, os.geteuid()) and (shared := _shared_folder(step)) is not None:
            raise OutputError(
                f"Cannot write {path}: {step} is a link of another user, and all may write to {shared}. Give another "
                "name, or the place itself."
            )
        names += reversed(target.parts)
    return folder


def _shared_folder(link: Path) -> Path | None:
    """Return the folder that let any user put a link there, or a folder of theirs with it; None if there is none."""
    for folder in link.parents:
        entry = folder.stat()
        if entry.st_mode & (S_IWOTH | S_ISVTX):
            return folder
        if entry.st_uid in (0, os.geteuid()):
            break
    return None


def _start(path: Path) -> Path:
    """Return where a path begins: the root, or a folder that this process holds open."""
    return Path(*path.parts[: len(_OPEN.parts) + 1]) if path.is_relative_to(_OPEN) else Path(path.anchor)


def _read_link(link: Path) -> tuple[int, Path]:
    """Return the owner and the target of a link, of the same one even if another user replaces it (Linux)."""
    if not _NAMES_ONLY:
        return link.lstat().st_uid, link.readlink()
    handle = os.open(link, _NAMES_ONLY | os.O_NOFOLLOW)
    try:
        return os.fstat(handle).st_uid, Path(os.readlink("", dir_fd=handle))
    finally:
        os.close(handle)


@contextmanager
def held_open(folder: Path) -> Iterator[Path]:
    """Yield a path that leads to a folder even if others rename or replace it, or a folder above it.

    `folder` has no links: one that another user put there in the meantime is an `OSError`. Systems other than Linux
    have no such paths, and yield the folder itself.
    """
    if not _OPEN.is_dir():
        yield folder
        return
    start = _start(folder)
    handle = os.open(start, _NAMES_ONLY | os.O_DIRECTORY)
    try:
        for name in folder.relative_to(start).parts:
            inner = os.open(name, _NAMES_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield open_path(handle, folder)
    finally:
        os.close(handle)


def open_path(handle: int, folder: Path) -> Path:
    """Return the path of an open folder, or `folder` where the system has no such paths."""
    return _OPEN / str(handle) if _OPEN.is_dir() else folder


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be created in a folder."""
    try:
        new_file(folder)
    except OSError as error:
        raise OutputError(
            f"Cannot write in {_shown(folder)}: {error.strerror or error}. Choose another folder."
        ) from error


def check_unshared(file: Path) -> None:
    """Raise `OutputError` if no file can be created in the folder of a file, or any other user could create one there.

    A file of SQLite needs this: SQLite carries out a journal beside it, whoever wrote that, and removes the file that
    a journal names.
    """
    folder = followed(file).parent
    check_writable(folder)
    with our_errors(file):
        new = new_file(folder)
        if not keeps_modes(new):
            return
        for place in (folder, *folder.parents):
            entry = place.stat()
            # With the sticky bit, nobody can put another folder in the place of one that is in it.
            if entry.st_mode & S_IWOTH and (place == folder or not entry.st_mode & S_ISVTX):
                raise OutputError(f"Cannot write {file}: all may write to {place}. Choose a folder of your own.")
            # Whoever made it can change its mode between this check and the use of the file.
            if entry.st_uid not in (0, new.st_uid) and place.parent.stat().st_mode & S_IWOTH:
                raise OutputError(
                    f"Cannot write {file}: {place} is of another user, and all may write to {place.parent}. Choose a "
                    "folder of your own."
                )


def new_file(folder: Path) -> os.stat_result:
    """Return the status of a private file that is made in a folder and removed: whose it is, and its mode."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno())


def keeps_modes(new: os.stat_result) -> bool:
    """Return whether the file system of a `new_file` knows permissions: some show one mode for all files."""
    return S_IMODE(new.st_mode) == _PRIVATE


def is_only_ours(entry: os.stat_result, new: os.stat_result) -> bool:
    """Return whether an entry is of the user that made the `new_file` beside it, and no other may write to it."""
    return entry.st_uid == new.st_uid and not (keeps_modes(new) and entry.st_mode & (S_IWGRP | S_IWOTH))


def others_write(entry: os.stat_result) -> bool:
    """Return whether a folder is of another user than root and this one, or others may write to it."""
    return entry.st_uid not in (0, os.geteuid()) or bool(entry.st_mode & (S_IWGRP | S_IWOTH))


def is_of_this_user(path: Path) -> bool:
    """Return whether a file or link is of the user that runs this process."""
    return os.name == "nt" or path.lstat().st_uid == os.geteuid()


@contextmanager
def our_errors(target: Path) -> Iterator[None]:
    """Raise errors of the system as `OutputError`."""
    try:
        yield
    except BayesBiasError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {_shown(target)}: {error.strerror or error}.") from error


def _shown(path: Path) -> Path:
    """Return a path for people: that of an open folder is a number."""
    return path.resolve() if path.is_relative_to(_OPEN) else path
