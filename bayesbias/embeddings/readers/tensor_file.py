"""Reader of files in the layout of safetensors: arrays by name, read one at a time and by rows, without other packages.

A file has the length of its header in eight bytes, the header as JSON (type, shape and place of each array), and the
numbers. Nothing in it is code.
"""

import os
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.files.inputs import input_file, open_input, parse_json, readable
from bayesbias.base.machine import check_memory
from bayesbias.errors import InputFileError

_LONGEST_HEADER = 100_000_000  # as in the library safetensors
_BYTES_A_HEADER_BYTE = 20
_METADATA = "__metadata__"
_TYPES: "dict[str, np.dtype[Any]]" = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "U8": np.dtype("u1"),
}


@dataclass(frozen=True)
class TensorFile:
    """A file of arrays: `entries` of its header by name; the numbers begin at byte `start`, and there are `size`."""

    path: Path
    entries: dict[str, Any]
    start: int
    size: int

    @property
    def metadata(self) -> dict[str, Any]:
        """What the file says about itself, by name."""
        metadata = self.entries.get(_METADATA)
        return metadata if isinstance(metadata, dict) else {}

    @property
    def names(self) -> list[str]:
        """The names of the arrays, sorted."""
        return sorted(self.entries.keys() - {_METADATA})

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array."""
        return self._place(name)[1]

    def array(self, name: str) -> Floats:
        """Return an array in double precision."""
        dtype, shape, begin = self._place(name)
        check_memory(12 * prod(shape), f"{self.path}: the array {name!r}", "Check whether it is the right file.")
        return self._numbers(dtype, begin, prod(shape)).reshape(shape)

    def row(self, name: str, row: int) -> Floats:
        """Return one row of an array along its first dimension, in double precision."""
        dtype, (rows, *shape), begin = self._place(name)
        if not 0 <= row < rows:
            raise InputFileError(f"{self.path}: the array {name!r} has {rows} rows, and none at {row}.")
        count = prod(shape)
        check_memory(12 * count, f"{self.path}: a row of {name!r}", "Check whether it is the right file.")
        return self._numbers(dtype, begin + row * count * dtype.itemsize, count).reshape(shape)

    def _place(self, name: str) -> "tuple[np.dtype[Any], tuple[int, ...], int]":
        """Return type, shape and first byte of an array; raise `InputFileError` if its entry is not sound."""
        if name not in self.entries:
            raise InputFileError(f"{self.path} has no array {name!r}. Check whether it is the right file.")
        entry = self.entries[name]
        fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
        kind, shape, offsets = (fields.get(field) for field in ("dtype", "shape", "data_offsets"))
        dtype = _TYPES.get(kind) if isinstance(kind, str) else None
        if dtype is None or not _are_counts(shape) or not shape or not _are_counts(offsets) or len(offsets) != 2:
            raise InputFileError(
                f"{self.path}: the array {name!r} is described by {str(entry)[:100]}; its type must be one of "
                f"{', '.join(_TYPES)}, with a shape and two offsets. Download the file again."
            )
        begin, end = offsets
        if end > self.size or end - begin != prod(shape) * dtype.itemsize:
            raise InputFileError(
                f"{self.path}: the array {name!r} of shape {tuple(shape)} does not fit bytes {begin} to {end} of "
                f"{self.size}. The file is damaged or cut short: download it again."
            )
        return dtype, tuple(shape), self.start + begin

    def _numbers(self, dtype: "np.dtype[Any]", begin: int, count: int) -> Floats:
        with readable(self.path), open_input(self.path) as stream:
            stream.seek(begin)
            numbers = np.frombuffer(stream.read(count * dtype.itemsize), dtype=dtype)
        if len(numbers) != count:
            raise InputFileError(f"{self.path} was cut short while it was read. Download it again.")
        return numbers.astype(np.float64)


def _are_counts(values: Any) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**62 for value in values)


def open_tensors(path: Path) -> TensorFile:
    """Return the header of a file of arrays.

    Raises `InputFileError` if there is no such file, or its header is damaged.
    """
    source = input_file(path)
    with readable(source), open_input(source) as stream:
        whole = os.fstat(stream.fileno()).st_size
        length = int.from_bytes(stream.read(8), "little")
        if whole < 8 or length > min(whole - 8, _LONGEST_HEADER):
            raise InputFileError(
                f"{source} is no file of safetensors, or it is cut short: it has {whole:,} bytes, and its header would "
                f"have {length:,}. Download it again."
            )
        check_memory(_BYTES_A_HEADER_BYTE * length, f"{source}: its header", "Check whether it is the right file.")
        header = stream.read(length)
    try:
        entries = parse_json(header.decode())
    except ValueError as error:
        raise InputFileError(f"{source}: its header is no JSON ({error}). Download it again.") from error
    if not isinstance(entries, dict):
        raise InputFileError(f"{source}: its header has no names of arrays. Download it again.")
    return TensorFile(source, entries, 8 + length, whole - 8 - length)
