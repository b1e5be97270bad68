"""Files that are read: what travels with the package, and what users give."""

import os
from pathlib import Path

from bayesbias.errors import InputFileError, did_you_mean

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
