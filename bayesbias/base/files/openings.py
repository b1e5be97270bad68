"""How a file is opened whose name another user may give to another file at any moment: by handles, and not by names."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from errno import ELOOP, EMLINK, ENOTDIR
from functools import partial
from pathlib import Path

from bayesbias.errors import InputFileError

Opening = Callable[[str, int], int]
"""What returns the handle of a file, from its name and flags, as `os.open` does."""

_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: int = getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_HAS_HANDLES = os.open in os.supports_dir_fd and _NO_LINK != 0
_LINKS = (ELOOP, EMLINK, ENOTDIR)  # errors of systems where a link is not to be followed


@contextmanager
def files_below(folder: Path) -> Iterator[Opening]:
    """Yield what opens files of a folder, and raises `InputFileError` for those to which a link out of it leads."""
    place = folder.resolve()
    if not _HAS_HANDLES:
        yield partial(_open_below, place)
        return
    with ExitStack() as opened:
        try:
            top = _folder_handle(place, None, opened)
        except OSError as error:
            raise InputFileError(f"The folder {folder} cannot be read: {error.strerror}. Check it.") from error
        yield partial(_open_in, place, top)


def opening_of_user(user: int) -> Opening:
    """Return what opens files of a user (their number), and raises `InputFileError` for links and files of others."""
    return partial(_open_of_user, user)


def _open_of_user(user: int, path: str, flags: int) -> int:
    try:
        handle = os.open(path, flags | _NO_LINK)
    except OSError as error:
        if error.errno in _LINKS:
            raise InputFileError(f"{path} is a link, which is not followed. Put the file itself there.") from error
        raise
    if os.fstat(handle).st_uid != user:
        os.close(handle)
        raise InputFileError(f"{path} is a file of another user. Remove it, or copy it.")
    return handle


def _open_in(folder: Path, top: int, path: str, flags: int) -> int:
    """Open a file from the handle of its folder: wherever its links lead now, none is followed any more."""
    place = Path(os.path.realpath(path))
    if folder not in place.parents:
        raise _other_file(path)
    *folders, name = place.relative_to(folder).parts
    try:
        with ExitStack() as opened:
            for part in folders:
                top = _folder_handle(part, top, opened)
            return os.open(name, flags | _NO_LINK, dir_fd=top)
    except OSError as error:
        if error.errno in _LINKS:
            raise _other_file(path) from error
        raise


def _folder_handle(name: str | Path, top: int | None, opened: ExitStack) -> int:
    handle = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=top)
    opened.callback(os.close, handle)
    return handle


def _open_below(folder: Path, path: str, flags: int) -> int:
    """Open a file, and look where its name leads then: all that systems without handles of folders can do."""
    handle, place = os.open(path, flags), Path(path).resolve()
    if not (place.is_relative_to(folder) and os.path.samestat(os.fstat(handle), place.stat())):
        os.close(handle)
        raise _other_file(path)
    return handle


def _other_file(path: str) -> InputFileError:
    return InputFileError(f"{path} became another file in the meantime. Copy the folder first.")
