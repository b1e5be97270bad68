"""Arrays of NumPy's ``.npz`` files: type and shape are read from the header, and checked, before the numbers."""

import ast
import math
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.files.archives import open_member, open_zip
from bayesbias.base.files.inputs import open_content, readable
from bayesbias.base.machine import Allowance
from bayesbias.base.number_text import counted
from bayesbias.errors import BayesBiasError, InputFileError

_BLOCK_BYTES = 1 << 22
_PIECE = 1 << 18
_LONGEST_HEADER = 10_000
_BYTES_A_TEXT = 60
_KINDS = {"f": "numbers", "i": "whole numbers", "u": "bytes", "b": "true or false", "U": "texts"}


@dataclass(frozen=True)
class StoredArray:
    """An array of a zip file, opened at its first number; `where` names both in errors."""

    stream: IO[bytes]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    where: str

    def whole(self) -> NDArray[Any]:
        """Return the array."""
        if not math.prod(self.shape) * self.dtype.itemsize:
            return np.empty(self.shape, self.dtype)
        return self._numbers(math.prod(self.shape)).reshape(self.shape, order="F" if self.fortran else "C")

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield the array, which is in C order or has one dimension, in blocks of rows."""
        width = self.dtype.itemsize * math.prod(self.shape[1:])
        rows = max(1, _BLOCK_BYTES // width)
        for first in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - first)
            yield self._numbers(count * math.prod(self.shape[1:])).reshape(count, *self.shape[1:])

    def chosen(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows of a matrix, with one block (or column, in Fortran order) in memory at a time."""
        chosen_rows = np.empty((len(places), self.shape[1]), dtype=self.dtype)
        if self.fortran:
            for dimension in range(self.shape[1]):
                chosen_rows[:, dimension] = self._numbers(self.shape[0])[places]
            return chosen_rows
        first = 0
        for block in self.blocks():
            low, high = np.searchsorted(places, [first, first + len(block)])
            chosen_rows[low:high] = block[places[low:high] - first]
            first += len(block)
        return chosen_rows

    def _numbers(self, count: int) -> NDArray[Any]:
        """Return the next numbers."""
        numbers = np.empty(count, dtype=self.dtype)
        content, first = numbers.view(np.uint8), 0
        while first < len(content):
            piece = self.stream.read(min(_PIECE, len(content) - first))
            if not piece:
                raise EOFError(f"an array ends after {first:,} of {len(content):,} bytes")
            content[first : first + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            first += len(piece)
        letters = content.view(self.dtype.byteorder + "u4") if self.dtype.kind == "U" else content
        if letters.max(initial=0) > sys.maxunicode:
            raise InputFileError(f"{self.where} holds a text with the letter {letters.max():#x}, which Unicode lacks.")
        return numbers


@contextmanager
def open_array(
    archive: zipfile.ZipFile, name: str, path: Path, error: type[BayesBiasError] = InputFileError
) -> Iterator[StoredArray]:
    """Yield an array of a zip file; raise `InputFileError` if it is damaged, and `error` if it holds Python objects."""
    with open_member(archive, f"{name}.npy", path) as stream:
        start = stream.read(12)
        if start[:6] != b"\x93NUMPY" or len(start) < 12:
            raise InputFileError(f"{path}: {name}.npy is no NumPy array. Save it again with np.savez.")
        # Version 1 has a header length of two bytes, later ones of four.
        short = start[6] == 1
        (length,) = struct.unpack("<H", start[8:10]) if short else struct.unpack("<I", start[8:12])
        begin = 10 if short else 12
        if length > _LONGEST_HEADER:
            raise InputFileError(f"{path}: {name}.npy has a header of {length} bytes; it is damaged.")
        header = start[begin:] + stream.read(length - (len(start) - begin))
        try:
            fields = ast.literal_eval(header.decode("latin-1").strip())
            dtype, shape, fortran = (
                np.dtype(fields["descr"]),
                tuple(fields["shape"]),
                bool(fields["fortran_order"]),
            )
        except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as fault:
            raise InputFileError(f"{path}: the header of {name}.npy is damaged ({fault}). Save it again.") from fault
        if dtype.hasobject:
            raise error(
                f"{path}: the array {name!r} holds Python objects, which is a pickle: loading it could run any "
                "code. Save it again as text or numbers, for example "
                f"{name}=np.array({name}, dtype={'str' if name == 'words' else 'np.float32'})."
            )
        sound = all(type(size) is int and size >= 0 for size in shape)
        held = archive.getinfo(f"{name}.npy").file_size - begin - length
        needed = math.prod(shape) * dtype.itemsize if sound else -1
        if needed != held:
            raise InputFileError(
                f"{path}: the array {name!r} should have {needed} bytes but has {held}; it is damaged."
            )
        yield StoredArray(stream, dtype, shape, fortran, f"{path}: the array {name!r}")


def read_arrays(path: Path, expected: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """Return those of some arrays that an .npz file has.

    - `expected`: for each name of an array, its types as NumPy's letters, such as ``"iu"``, and its number of
      dimensions.

    Raises `InputFileError` if the file is damaged, or an array has another type or number of dimensions. Raises
    `NotEnoughMemoryError` if the arrays would take more memory than is free.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.npz")
    ...     np.savez(path, words=["he", "she"], numbers=[1.0, 2.0])
    ...     read_arrays(path, {"words": ("U", 1), "steps": ("U", 1)})
    {'words': array(['he', 'she'], dtype='<U3')}
    """
    with readable(path), open_content(path) as stream:
        return arrays_of(stream, path, expected)


def arrays_of(stream: IO[bytes], path: Path, expected: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """Return arrays of an .npz file, as `read_arrays` does, from its opened content."""
    allowance = Allowance(f"{path}: its arrays", "Check whether it is the right file.")
    arrays = {}
    with open_zip(stream, path) as archive:
        members = set(archive.namelist())
        for name, (kinds, dimensions) in expected.items():
            if f"{name}.npy" not in members:
                continue
            with open_array(archive, name, path) as stored:
                if stored.dtype.kind not in kinds or len(stored.shape) != dimensions:
                    raise InputFileError(
                        f"{path}: the array {name!r} has the type {stored.dtype} and the shape {stored.shape}; it must "
                        f"be {_KINDS[kinds[0]]} of {counted(dimensions, 'dimension')}. Write the file again."
                    )
                count, size = math.prod(stored.shape), stored.dtype.itemsize
                # Texts become those of Python, too.
                allowance.take(count * (2 * size + _BYTES_A_TEXT if stored.dtype.kind == "U" else size))
                arrays[name] = stored.whole()
    return arrays
