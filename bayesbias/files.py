"""Files that are read: what travels with the package, what users give, and checksums of what we wrote."""

import os
from hashlib import sha256
from pathlib import Path

from bayesbias.errors import InputFileError, did_you_mean

_SEAL = b"\nbayesbias sha256 "
_SEAL_SIZE = len(_SEAL) + 64
_BLOCK = 1 << 22
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


def sealed(content: bytes) -> bytes:
    """Return the content of a file with its checksum behind it, where other programs do not look.

    >>> sealed(b"content")[-20:]
    b'6d3ec9432297b9ec9f73'
    """
    return content + _SEAL + sha256(content).hexdigest().encode()


def check_seal(path: Path) -> None:
    """Raise `InputFileError` if a file has a checksum behind it that is not that of its content."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END) - _SEAL_SIZE
        stream.seek(max(size, 0))
        seal = stream.read()
        if not seal.startswith(_SEAL):
            return
        stream.seek(0)
        digest, left = sha256(), size
        while block := stream.read(min(left, _BLOCK)):
            digest.update(block)
            left -= len(block)
    if seal != _SEAL + digest.hexdigest().encode():
        raise InputFileError(f"{path} is damaged: its content does not have the checksum that it was written with.")
