"""Files that are read: what travels with the package, what users give, and checksums of what we wrote."""

import os
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.errors import BayesBiasError, InputFileError, did_you_mean

SEAL = b"\nbayesbias sha256 "
SEAL_SIZE = len(SEAL) + 64
_PACKAGE = Path(__file__).resolve().parent


def bundled(*parts: str) -> Path:
    """Return the path of a file or folder that travels with the package.

    In an installed wheel these live inside the package; in a checkout, at the top of the repository.

    >>> bb.bundled("data", "studies").is_dir()
    True
    """
    inside = _PACKAGE / "_bundled"
    root = inside if inside.is_dir() else _PACKAGE.parent
    return root.joinpath(*(check_path(part) for part in parts))


def input_file(path: str | os.PathLike[str]) -> Path:
    """Return `path` if it is a file that can be read; raise `InputFileError` with a hint if not.

    >>> input_file("no_such_table.csv")
    Traceback (most recent call last):
        ...
    bayesbias.errors.InputFileError: There is no file no_such_table.csv...
    """
    source = check_path(path)
    if source.is_dir():
        raise InputFileError(f"{source} is a folder. Give the name of a file in it.")
    if source.is_symlink() and not source.exists():
        raise InputFileError(f"{source} is a link that leads to no file. Mend the link, or give the file itself.")
    if not source.exists():
        siblings = [entry.name for entry in source.parent.iterdir()] if source.parent.is_dir() else []
        raise InputFileError(f"There is no file {source}{did_you_mean(source.name, siblings)}. Check the path.")
    if not source.is_file():
        # Opening a pipe or a device could wait for ever.
        raise InputFileError(f"{source} is not an ordinary file. Copy its content to one.")
    if not os.access(source, os.R_OK):
        raise InputFileError(f"{source} cannot be read: no permission.")
    return source


def read_toml(path: str | os.PathLike[str], error: type[BayesBiasError]) -> dict[str, Any]:
    """Return the content of a TOML file; raise `InputFileError` if it cannot be read, `error` if it is not TOML."""
    source = input_file(path)
    try:
        return tomllib.loads(source.read_bytes().decode("utf-8-sig"))  # Windows editors put a byte order mark first
    except UnicodeDecodeError as fault:
        raise error(f"{source}: byte {fault.start} is not UTF-8. Save the file as UTF-8.") from fault
    # TOMLDecodeError is a ValueError; so is a number with too many digits. Deep nesting ends in a RecursionError.
    except (ValueError, RecursionError) as fault:
        raise error(f"{source} is not valid TOML: {fault}. Mend this line.") from fault


def sealed(content: bytes, at: int | None = None) -> bytes:
    r"""Return the content of a file with its checksum at a place where other programs do not look: the end, or `at`.

    >>> sealed(b"content")[:24], len(sealed(b"content"))
    (b'content\nbayesbias sha256', 89)
    """
    at = len(content) if at is None else at
    return content[:at] + SEAL + sha256(content).hexdigest().encode() + content[at:]


def check_seal(path: str | os.PathLike[str], content: bytes, at: int | None = None) -> None:
    """Raise `InputFileError` if content has a checksum, at its end or `at`, that is not its own."""
    at = len(content) - SEAL_SIZE if at is None else at
    if at < 0 or not content.startswith(SEAL, at):
        return
    digest = sha256(memoryview(content)[:at])
    digest.update(memoryview(content)[at + SEAL_SIZE :])
    if content[at + len(SEAL) : at + SEAL_SIZE] != digest.hexdigest().encode():
        raise _damaged(path)


def check_sealed_file(path: Path) -> bytes:
    """Return the checksum that a file ends with, empty if it has none; raise `InputFileError` if it is not its own.

    The file is read in pieces: it may be larger than the memory.
    """
    with path.open("rb") as stream:
        size = max(stream.seek(0, os.SEEK_END) - SEAL_SIZE, 0)
        stream.seek(size)
        seal = stream.read()
        if not seal.startswith(SEAL):
            return b""
        stream.seek(0)
        digest = sha256()
        while size:
            piece = stream.read(min(size, 1 << 20))
            digest.update(piece)
            size -= len(piece)
    if seal[len(SEAL) :] != digest.hexdigest().encode():
        raise _damaged(path)
    return seal


def _damaged(path: str | os.PathLike[str]) -> InputFileError:
    return InputFileError(f"{path} is damaged: its content is not that which it was written with. Write it again.")


def printable(name: str) -> str:
    r"""Return the name of a file as a text that can be written: a name need not be UTF-8.

    >>> printable("caf\udce9.csv")
    'caf\\xe9.csv'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")
