"""Reader of NumPy ``.npz`` files with the arrays ``words`` and ``vectors``, in blocks and never as pickles."""

import ast
import lzma
import math
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import is_text
from bayesbias.embeddings.embedding import as_vectors
from bayesbias.embeddings.rows import MOST_DIMENSIONS, Rows, Wanted, check_room, is_wanted, open_bytes
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, did_you_mean, name_some

_BLOCK_BYTES = 1 << 22
_LONGEST_HEADER = 10_000


def read_npz(path: Path, wanted: Wanted) -> Rows:
    """Read the arrays ``words`` (text, one dimension) and ``vectors`` (numbers, words x dimensions).

    Raises
    ------
    EmbeddingError
        If an array is missing, does not match the other, or holds Python objects (a pickle).
    InputFileError
        If the file is no complete zip file.
    """
    with open_bytes(path) as stream, sound_zip(path), zipfile.ZipFile(stream) as archive:
        arrays = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        for needed in ("words", "vectors"):
            if arrays.count(needed) > 1:
                raise EmbeddingError(f"{path} has {arrays.count(needed)} arrays {needed!r}. Save it again with one.")
            if needed not in arrays:
                hint = did_you_mean(needed, arrays)
                raise EmbeddingError(
                    f"{path} has no array {needed!r}{hint}; it has: {name_some(arrays) or 'none'}. Save it "
                    "with np.savez(path, words=words, vectors=vectors)."
                )
        with _member(archive, "words", path) as words, _member(archive, "vectors", path) as vectors:
            _check_shapes(words, vectors, path)
            # Other types are held in memory until they are converted.
            size = 4 if vectors.dtype == np.float32 else 4 + vectors.dtype.itemsize
            check_room(vectors.shape[0], vectors.shape[1], wanted, path, bytes_a_number=size)
            return _scan(words, vectors, wanted)


def read_steps(path: Path) -> tuple[str, ...]:
    """Return what was done to the vectors of a file, from its array ``steps``, if it has one.

    Raises
    ------
    EmbeddingError
        If the array is no list of texts.
    InputFileError
        If the file is damaged.
    """
    with open_bytes(path) as stream, sound_zip(path), np.load(stream) as arrays:
        if "steps" not in arrays:
            return ()
        steps = arrays["steps"]
    if steps.ndim != 1 or steps.dtype.kind != "U" or not all(is_text(step) for step in steps.tolist()):
        raise EmbeddingError(f"{path}: 'steps' is no list of texts. Write it again with write_embedding.")
    return tuple(steps.tolist())


def read_sample(path: Path) -> NDArray[Any] | None:
    """Return the array ``vocabulary_sample`` of a file, vectors of random words, or None if it has none.

    Raises
    ------
    EmbeddingError
        If the array holds no numbers.
    InputFileError
        If the file is damaged.
    """
    with open_bytes(path) as stream, sound_zip(path), np.load(stream) as arrays:
        if "vocabulary_sample" not in arrays:
            return None
        sample = arrays["vocabulary_sample"]
    if sample.ndim != 2 or sample.dtype.kind != "f":
        raise EmbeddingError(f"{path}: 'vocabulary_sample' is no matrix of numbers. Write it with write_embedding.")
    return np.asarray(sample, dtype=np.float32)


@dataclass(frozen=True)
class _Member:
    """An array of the archive, opened at its first number."""

    stream: IO[bytes]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        """Yield the array, which is in C order or has one dimension, in blocks of `rows` rows."""
        width = self.dtype.itemsize * (self.shape[1] if len(self.shape) > 1 else 1)
        for first in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - first)
            block = np.frombuffer(self.stream.read(count * width), dtype=self.dtype)
            yield block.reshape(count, *self.shape[1:])

    def chosen(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows of a matrix, with one block (or column, in Fortran order) in memory at a time."""
        chosen_rows = np.empty((len(places), self.shape[1]), dtype=self.dtype)
        if self.fortran:
            for dimension in range(self.shape[1]):
                column = np.frombuffer(self.stream.read(self.shape[0] * self.dtype.itemsize), dtype=self.dtype)
                chosen_rows[:, dimension] = column[places]
            return chosen_rows
        rows, first = max(1, _BLOCK_BYTES // (self.dtype.itemsize * self.shape[1])), 0
        for block in self.blocks(rows):
            low, high = np.searchsorted(places, [first, first + len(block)])
            chosen_rows[low:high] = block[places[low:high] - first]
            first += len(block)
        return chosen_rows


@contextmanager
def sound_zip(path: Path) -> Iterator[None]:
    """Convert the errors of the zip module on a damaged file into `InputFileError`."""
    try:
        yield
    except BayesBiasError:
        raise
    except (zipfile.BadZipFile, lzma.LZMAError, NotImplementedError, RuntimeError, ValueError, struct.error) as error:
        # RuntimeError is an encrypted file; ValueError an array that starts or ends outside the file.
        raise InputFileError(
            f"{path} is no complete .npz file ({error}). It is damaged, cut short, or in another format. "
            "Download or write it again."
        ) from error


@contextmanager
def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[_Member]:
    with archive.open(f"{name}.npy") as stream:
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
        except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
            raise InputFileError(f"{path}: the header of {name}.npy is damaged ({error}). Save it again.") from error
        if dtype.hasobject:
            raise EmbeddingError(
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
        yield _Member(stream, dtype, shape, fortran)


def _check_shapes(words: _Member, vectors: _Member, path: Path) -> None:
    if words.dtype.kind != "U" or len(words.shape) != 1:
        raise EmbeddingError(
            f"{path}: 'words' has the type {words.dtype} and the shape {words.shape}; it must be text of one dimension."
        )
    if vectors.dtype.kind not in "iuf" or len(vectors.shape) != 2 or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{path}: 'vectors' has the type {vectors.dtype} and the shape {vectors.shape}; it must be "
            "numbers of the shape (words, dimensions)."
        )
    if words.shape[0] != vectors.shape[0] or not words.shape[0] or not words.dtype.itemsize:
        raise EmbeddingError(
            f"{path} has {words.shape[0]} words and {vectors.shape[0]} vectors. It needs one vector per word, "
            "and at least one word."
        )


def _scan(words: _Member, vectors: _Member, wanted: Wanted) -> Rows:
    chosen_words: list[str] = []
    places: list[int] = []
    first = 0
    for names in words.blocks(max(1, _BLOCK_BYTES // words.dtype.itemsize)):
        chosen = [row for row, word in enumerate(names.tolist()) if is_wanted(word, wanted)]
        chosen_words += names[chosen].tolist()
        places += [first + row for row in chosen]
        first += len(names)
    matrix = vectors.chosen(np.array(places, dtype=np.intp))
    return Rows(chosen_words, as_vectors(matrix) if len(matrix) else matrix, [place + 1 for place in places], "row")
