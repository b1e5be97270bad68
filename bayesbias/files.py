"""Files: what travels with the package, and writing that leaves either the whole output or nothing."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayesbias.errors import BayesBiasError, InputFileError, OutputError, did_you_mean

_PACKAGE = Path(__file__).resolve().parent


def bundled(*parts: str) -> Path:
    """Return the path of a file or folder that travels with the package.

    In an installed wheel these live inside the package; in a checkout, at the top of the repository.

    >>> bb.bundled("data", "studies").is_dir()
    True
    """
    inside = _PACKAGE / "_bundled"
    root = inside if inside.is_dir() else _PACKAGE.parent
    return root.joinpath(*parts)


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Return `path` if an output can be written there; raise `OutputError` before any work is done if not."""
    target = Path(path)
    parent = target.parent
    if not parent.is_dir():
        raise OutputError(f"Cannot write {target}: the folder {parent} does not exist. Create it first.")
    if target.is_dir():
        raise OutputError(f"Cannot write {target}: it is a folder. Give the name of a file.")
    if target.exists() and not overwrite:
        raise OutputError(f"{target} exists. Give another name, or allow overwriting (overwrite=True, or --overwrite).")
    check_writable(parent)
    return target


def check_writable(folder: Path) -> None:
    """Raise `OutputError` if no file can be made in a folder, found out by making one."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"Cannot write in {folder}: {error.strerror or error}. Choose another folder.") from error


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it replaces `path`, on an error it is removed.

    A reader of `path` sees either the old file or the whole new one, never a part.
    """
    target = check_output(path, overwrite=overwrite)
    suffix = "".join(target.suffixes) or ".part"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem[:40]}-", suffix=suffix, dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"Cannot write {target}: {error.strerror}.") from error
    temporary = Path(name)
    try:
        yield temporary
        _give_usual_permissions(temporary)
        temporary.replace(target)
    except BayesBiasError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {target}: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _give_usual_permissions(path: Path) -> None:
    """Give a temporary file (0600) the permissions that an ordinary new file would have had."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def input_file(path: str | os.PathLike[str]) -> Path:
    """Return `path` if it is a file that can be read; raise `InputFileError` with a hint if not.

    >>> input_file("no_such_table.csv")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: There is no file no_such_table.csv...
    """
    source = Path(path)
    if source.is_dir():
        raise InputFileError(f"{source} is a folder. Give the name of a file in it.")
    if not source.exists():
        siblings = [entry.name for entry in source.parent.iterdir()] if source.parent.is_dir() else []
        raise InputFileError(f"There is no file {source}{did_you_mean(source.name, siblings)}. Check the path.")
    if not source.is_file():
        # Opening a pipe or a device could wait for ever.
        raise InputFileError(f"{source} is not an ordinary file. Copy its content to one.")
    if not os.access(source, os.R_OK):
        raise InputFileError(f"{source} cannot be read: no permission.")
    return source
