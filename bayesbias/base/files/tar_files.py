"""One file of a tar archive, read in place: nothing is unpacked to the disk."""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO, cast

from bayesbias.base.machine import check_memory
from bayesbias.errors import InputFileError

_MOST_FILES = 1000
_PIECE = 1 << 20
_COPIES = 4  # of a name that is read as text
_UNPACK = "Unpack it with `tar -xf`, and give the file inside."


class _Pieces:
    """The stream of an archive; names may be of any length, so that the memory for long ones is checked before."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        if size > _PIECE:
            check_memory(_COPIES * size, f"{self._path}: the names of its files", _UNPACK)
        return self._stream.read(size)


@contextmanager
def open_tar(stream: BinaryIO, path: Path) -> Iterator[dict[str, BinaryIO]]:
    """Yield the ordinary files of an archive by name, opened; links, devices and files with holes are left out.

    Raises `InputFileError` if the archive is damaged or cut short, or has more than a thousand entries.
    """
    try:
        with tarfile.open(fileobj=cast(BinaryIO, _Pieces(stream, path)), mode="r:") as archive:
            entries = list(islice(archive, _MOST_FILES + 1))
            if len(entries) > _MOST_FILES:
                raise InputFileError(f"{path} is a tar archive of more than {_MOST_FILES:,} files. {_UNPACK}")
            files = [entry for entry in entries if entry.isreg() and not entry.issparse()]
            yield {entry.name: cast(BinaryIO, archive.extractfile(entry)) for entry in files}
    except (tarfile.TarError, ValueError) as error:  # ValueError: numbers that are none
        raise InputFileError(f"{path} is a tar archive that is damaged or cut short ({error}). {_UNPACK}") from error
