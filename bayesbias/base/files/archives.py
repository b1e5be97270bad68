"""Files inside zip and tar archives, read in place: nothing is unpacked to the disk, and nothing without end."""

import io
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from bayesbias.errors import BayesBiasError, InputFileError

# zipfile unpacks pieces of these by their sizes; of others, a small piece may become any size.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Bytes of the names of files and what stands beside them. A packed archive of 200 kB may hold 100 MB of these, which
# take tarfile half a minute.
_MOST_NAMES = 1 << 22
# A few kilobytes may become any number of equal rows, which take hours to read. Vectors and texts become several times
# as large; counts of words, of which one in a thousand is not zero, 400 times (a test packs them), and by bzip2 more:
# those have to be unpacked first.
_MOST_TIMES, _LEAST_UNPACKED = 500, 1 << 25
_UNPACK = "Unpack it with `tar -xf`, and give the file inside."


class _Archive:
    """The stream of an archive; what is read of it is counted until `names_end`."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._left: int | None = _MOST_NAMES
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        if self._left is None:
            return self._stream.read(size)
        content = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise InputFileError(
                f"{self._path} is an archive whose names of files take more than {_MOST_NAMES:,} bytes. Unpack it, and "
                "give the file inside."
            )
        return content

    def names_end(self) -> None:
        self._left = None


class _Unpacked(io.RawIOBase):
    """What is unpacked of some packed bytes; an error where it becomes far more than these explain."""

    def __init__(self, stream: IO[bytes], packed: int, path: Path) -> None:
        self._stream, self._path = stream, path
        self._most = max(_LEAST_UNPACKED, _MOST_TIMES * packed)
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable  # type: ignore[method-assign]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = cast(io.BufferedIOBase, self._stream).readinto(buffer)
        if self._stream.tell() > self._most:
            raise InputFileError(
                f"{self._path} becomes more than {_MOST_TIMES} times as large when it is unpacked, as few vectors or "
                "texts do. Unpack it first, and look at it."
            )
        return count


def unpacked(stream: IO[bytes], packed: int, path: Path) -> BinaryIO:
    """Return a stream that unpacks `packed` bytes, limited to what these explain."""
    return cast(BinaryIO, io.BufferedReader(_Unpacked(stream, packed, path), 1 << 16))


@contextmanager
def open_zip(stream: IO[bytes], path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip file in a stream; raise `InputFileError` if it is damaged, there or in the code inside."""
    names = _Archive(stream, path)
    try:
        with zipfile.ZipFile(cast(BinaryIO, names)) as archive:
            names.names_end()
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


@contextmanager
def open_tar(stream: IO[bytes], path: Path) -> Iterator[dict[str, BinaryIO]]:
    """Yield the ordinary files of a tar archive by name, opened; links, devices and files with holes are left out.

    Raises `InputFileError` if the archive is damaged or cut short, there or in the code inside.
    """
    names = _Archive(stream, path)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, names), mode="r:") as archive:
            files = [entry for entry in archive if entry.isreg() and not entry.issparse()]
            names.names_end()
            yield {entry.name: cast(BinaryIO, archive.extractfile(entry)) for entry in files}
    except BayesBiasError:
        raise
    except (tarfile.TarError, RecursionError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno != EINVAL:
            raise
        # RecursionError: names of names of names; ValueError: numbers that are none; EINVAL: a place outside the file.
        raise InputFileError(f"{path} is a tar archive that is damaged or cut short ({error}). {_UNPACK}") from error
