"""Folders that others may write to as well: where an output is refused, and which links are followed.

An output is made only where no other user can rename, replace or remove what this user has, so that a path leads to the
same place from its check to the end: all may write to no folder above it unless that has the sticky bit, and what is of
another user in such a folder is not used. Others can still move files of this user there, such as links: no link in a
folder with the sticky bit is followed.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISVTX, S_IWGRP, S_IWOTH

from bayesbias.errors import BayesBiasError, OutputError

_MOST_LINKS = 40
_PRIVATE = 0o600  # mode of a temporary file


def followed(path: Path) -> Path:
    """Return the target of a path after following links.

    Raises
    ------
    OutputError
        If a link leads to itself or is in a folder with the sticky bit, or other users could turn the path elsewhere.
    """
    try:
        return path.resolve() if os.name == "nt" else _followed(path.absolute())
    except OutputError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"Cannot write {str(path)!r}: {reason}. Give another name.") from error


def _followed(path: Path) -> Path:
    folder, links = Path(path.anchor), 0
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
            check_fixed(folder)
            return step.joinpath(*reversed(names))
        if not is_link:
            folder = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OutputError(f"Cannot write {path}: it is a link that leads to itself. Give another name.")
        check_fixed(folder)
        if folder.lstat().st_mode & S_ISVTX:
            raise OutputError(
                f"Cannot write {path}: {step} is a link, and others may put links into {folder}. Give the place itself."
            )
        names += reversed(step.readlink().parts)
    check_fixed(folder)
    return folder


def check_fixed(path: Path) -> None:
    """Raise `OutputError` if a path has links, or another user could put something else in its place or above it.

    From the root on, each folder that passes keeps what this user and root have in it, so that the next one stays.
    """
    if os.name == "nt":
        return
    all_write = False
    for place in reversed((path, *path.parents)):
        entry = place.lstat()
        if S_ISLNK(entry.st_mode):
            raise OutputError(f"Cannot write {path}: {place} became a link in the meantime. Give another name.")
        if all_write and entry.st_uid not in (0, os.geteuid()):
            raise OutputError(
                f"Cannot write {path}: {place} is of another user, and all may write to {place.parent}. Choose a "
                "folder of your own."
            )
        all_write = _all_write(place, entry)
        if all_write and not entry.st_mode & S_ISVTX:
            raise OutputError(
                f"Cannot write {path}: all may write to {place}, and rename what others have there. Choose a folder of "
                f"your own, or give this one the sticky bit (chmod +t {place})."
            )


def _all_write(place: Path, entry: os.stat_result) -> bool:
    """Return whether all may write to a folder: a mode says so truly only where a new file keeps its own."""
    if not (S_ISDIR(entry.st_mode) and entry.st_mode & S_IWOTH):
        return False
    try:
        return bool(entry.st_mode & S_ISVTX) or keeps_modes(new_file(place))
    except PermissionError:  # not even this user may, such as at the top of a drive of Windows
        return False


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be created in a folder."""
    try:
        new_file(folder)
    except OSError as error:
        raise OutputError(f"Cannot write in {folder}: {error.strerror or error}. Choose another folder.") from error


def check_unshared(file: Path) -> None:
    """Raise `OutputError` if no file can be created in the folder of a file, or any other user could create one there.

    A file of SQLite needs this: SQLite carries out a journal beside it, whoever wrote that, and removes the file that
    a journal names.
    """
    folder = followed(file).parent
    check_writable(folder)
    with our_errors(file):
        if _all_write(folder, folder.stat()):
            raise OutputError(f"Cannot write {file}: all may write to {folder}. Choose a folder of your own.")


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
        raise OutputError(f"Cannot write {target}: {error.strerror or error}.") from error
