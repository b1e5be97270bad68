"""Contents of files, packed by gzip, bzip2, xz or zip or not packed.

The memory that they take is counted while they are read: sizes that a packed file declares are never trusted.
"""

import bz2
import gzip
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, BinaryIO, cast

from bayesbias.base.machine.memory import Allowance, check_memory
from bayesbias.errors import BayesBiasError, InputFileError, NotEnoughMemoryError

_PACKINGS: dict[re.Pattern[bytes], Callable[..., Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): bz2.open,  # before a block, or before the end
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}
_LONGEST_SIGNATURE = 10
_NEVER_WAIT: int = getattr(os, "O_NONBLOCK", 0)
_ZIP = b"PK\x03\x04"
# zipfile unpacks pieces of these by their sizes; of others, a small piece may become any size.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PIECE = 1 << 22
# An entry of the directory of a zip file is 46 bytes or more, and an object of Python.
_BYTES_A_DIRECTORY_BYTE = 20
_ADVICE = "Check whether it is the right file, or allow more memory."


def open_input(path: Path) -> BinaryIO:
    """Open a file for reading.

    The opened file itself is checked: whatever the path led to before, another user may have put a pipe there.

    Raises
    ------
    InputFileError
        If it is not an ordinary file: a pipe or a device could block for ever.
    """
    return open(path, "rb", buffering=1 << 20, opener=_open_ordinary)


def _open_ordinary(path: str, flags: int) -> int:
    handle = os.open(path, flags | _NEVER_WAIT)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputFileError(f"{path} is not an ordinary file. Copy its content to one.")
    return handle


@contextmanager
def open_content(path: Path) -> Iterator[BinaryIO]:
    """Yield the content of a file, decompressed if it is packed by gzip, bzip2 or xz."""
    with open_input(path) as file:
        if opener := _unpacker(file):
            with cast(BinaryIO, opener(file, "rb")) as stream:
                yield stream
        else:
            yield file


def is_packed(path: Path) -> bool:
    """Return whether the content of a file is packed by gzip, bzip2 or xz."""
    with open_input(path) as file:
        return _unpacker(file) is not None


def _unpacker(file: BinaryIO) -> Callable[..., Any] | None:
    """Return what unpacks an opened file, None if it is not packed; the file is at its start again."""
    start = file.read(_LONGEST_SIGNATURE)
    file.seek(0)
    return next((opener for signature, opener in _PACKINGS.items() if signature.match(start)), None)


@dataclass(frozen=True)
class MemoryCost:
    """Memory that the content of a file takes, with all that is made of it.

    That is `a_byte` for each byte, such as 1 for itself, 1 as text and 1 as a part of that; and `a_separator` for each
    of the bytes `separators`, which separate values that become objects of their own.
    """

    a_byte: float
    a_separator: float = 0.0
    separators: bytes = b"\n"

    def memory(self, content: bytes) -> float:
        """Return the memory that a content takes."""
        separators = len(content) - len(content.translate(None, self.separators))
        return self.a_byte * len(content) + self.a_separator * separators


LINES = MemoryCost(4, 80)
JSON = MemoryCost(4, 80, b",:[{\n")
TOML = MemoryCost(4, 300, b",=.[{\n")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert errors while a file is read into `InputFileError`, and a lack of memory into `NotEnoughMemoryError`."""
    try:
        yield
    except BayesBiasError:
        raise
    except MemoryError as error:
        raise NotEnoughMemoryError(f"{path} needs more memory than is free. {_ADVICE}") from error
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise InputFileError(f"Cannot read {path}: {error.strerror or error}.") from error  # type: ignore[union-attr]
        raise InputFileError(
            f"{path}: its compressed data are damaged or cut short ({error}). Download or write it again."
        ) from error


def read_content(path: Path, cost: MemoryCost) -> bytes:
    """Return the content of an existing file, unpacked; a zip file must hold one file.

    Raises
    ------
    InputFileError
        If the content is damaged or cut short.
    NotEnoughMemoryError
        If the content would take more memory than is free. Reading stops there.
    """
    check_memory(cost.a_byte * path.stat().st_size, f"{path}: its contents", _ADVICE)
    allowance = Allowance(f"{path}: its contents", _ADVICE)
    content = io.BytesIO()
    with readable(path), open_content(path) as file, _only_member(file, path) as stream:
        while piece := stream.read(_PIECE):
            allowance.take(cost.memory(piece))
            content.write(piece)
    return content.getvalue()


def read_lines(path: Path, *, bytes_a_byte: float = 16) -> Iterator[bytes]:
    """Yield the lines of a file of any size, unpacked, with their ends; only one line at a time must fit into memory.

    Raises
    ------
    InputFileError
        If the content is damaged or cut short.
    NotEnoughMemoryError
        If a line would take more memory than is free, at `bytes_a_byte`.
    """
    with readable(path), open_content(path) as stream:
        while line := stream.readline(_PIECE):
            if len(line) == _PIECE and not line.endswith(b"\n"):
                line = _long_line(line, stream, path, bytes_a_byte)
            yield line


def _long_line(start: bytes, stream: BinaryIO, path: Path, bytes_a_byte: float) -> bytes:
    allowance = Allowance(f"{path}: the words of one line", "Divide the text into lines, or allow more memory.")
    line, piece = io.BytesIO(), start
    while piece:
        allowance.take(bytes_a_byte * len(piece))
        line.write(piece)
        piece = b"" if piece.endswith(b"\n") else stream.readline(_PIECE)
    return line.getvalue()


# --- zip files --------------------------------------------------------------------------------------------


@contextmanager
def open_zip(stream: IO[bytes], path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip file in a stream; raise `InputFileError` if it is damaged, there or in the code inside."""
    try:
        with zipfile.ZipFile(cast(BinaryIO, _Directory(stream, path))) as archive:
            yield archive
    except BayesBiasError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, struct.error) as error:
        # RuntimeError is an encrypted file; ValueError a member that starts or ends outside the file.
        raise InputFileError(
            f"{path} is no complete zip file, such as .npz ({error}). It is damaged, cut short, or in another format. "
            "Download or write it again."
        ) from error


def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    """Return a member of a zip file, opened; raise `InputFileError` if it is packed by a method that is not read."""
    if archive.getinfo(name).compress_type not in _BOUNDED:
        raise InputFileError(f"{path}: {name} is packed by another method than deflate. Pack it again, as usual.")
    return archive.open(name)


class _Directory:
    """The stream of a zip file, whose directory is read in one piece: its memory is checked before."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _PIECE:
            check_memory(_BYTES_A_DIRECTORY_BYTE * size, f"{self._path}: the names of its files", _ADVICE)
        return self._stream.read(size)


@contextmanager
def _only_member(stream: BinaryIO, path: Path) -> Iterator[IO[bytes]]:
    """Yield a stream, or the only member of the zip file that it is."""
    start = stream.read(len(_ZIP))
    stream.seek(0)
    if start != _ZIP:
        yield stream
        return
    with open_zip(stream, path) as archive:
        if len(archive.namelist()) != 1:
            raise InputFileError(f"{path} is a zip file of {len(archive.namelist()):,} files. Unpack it, and give one.")
        with open_member(archive, archive.namelist()[0], path) as member:
            yield member
