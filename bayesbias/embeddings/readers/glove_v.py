"""Reader of the files of GloVe-V (Vallebueno, Handan-Nader, Manning and Ho 2024) in their published layout.

A folder has `vocab.txt` (a word and its frequency a line), `vectors.safetensors` (the array `center_vectors`), and the
covariances in chunks, `approxchunk_0.safetensors` and `completechunk_0.safetensors` and so on, with `chunk_map.txt`
(word, row of the vocabulary, chunk, and row of the chunk, with tabs). Earlier versions have one file of each kind,
`ApproximationVariances.safetensors` and `CompleteVariances.safetensors`. The layout is that of the authors' program,
https://github.com/reglab/glove-v.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import LINES, is_folder, read_utf8
from bayesbias.base.machine import check_memory
from bayesbias.embeddings.readers.tensor_file import TensorFile, open_tensors
from bayesbias.embeddings.rows import MOST_DIMENSIONS
from bayesbias.errors import EmbeddingError, InputFileError

_VECTORS = "center_vectors"
_COMPLETE = "variances"
_CHUNKS = {True: "approxchunk", False: "completechunk"}
_SINGLE_FILES = {True: "ApproximationVariances.safetensors", False: "CompleteVariances.safetensors"}
# Single precision, and the rounding of a decomposition.
_ASYMMETRY = 1e-3


class GloveVFolder:
    """A folder of GloVe-V: `words` by row, `dimensions`, and the vector and covariance of each row."""

    def __init__(self, folder: Path, *, approximate: bool) -> None:
        self.folder, self.approximate = check_path(folder), approximate
        if not is_folder(self.folder):
            raise InputFileError(f"{folder} is no folder. Give that of vocab.txt and vectors.safetensors.")
        self.words = _read_vocabulary(self.folder / "vocab.txt")
        self._vectors = open_tensors(self.folder / "vectors.safetensors")
        shape = self._vectors.shape(_VECTORS)
        if len(shape) != 2 or shape[0] != len(self.words) or not 1 <= shape[1] <= MOST_DIMENSIONS:
            raise EmbeddingError(
                f"{self._vectors.path} has vectors of shape {shape}, but vocab.txt has {len(self.words):,} words. "
                "The files must belong together: download them again."
            )
        self.dimensions = shape[1]
        single = self.folder / _SINGLE_FILES[approximate]
        self._single = open_tensors(single) if single.exists() else None
        self._chunk_of: dict[int, tuple[int, int]] = {}
        if self._single is None:
            self._chunk_of = _read_chunk_map(self.folder / "chunk_map.txt", self.words, approximate=approximate)
        self._chunks: dict[int, TensorFile] = {}

    def vector(self, row: int) -> Floats:
        """Return the vector of a row."""
        vector = self._vectors.row(_VECTORS, row)
        if not np.isfinite(vector).all():
            raise EmbeddingError(f"{self._vectors.path}: the vector of {self.words[row]!r} has a NaN or an infinity.")
        return vector

    def covariance(self, row: int) -> Floats | None:
        """Return the covariance of the vector of a row, or None if the files have none."""
        if self._single is not None:
            stored, place = self._single, row
        elif row in self._chunk_of:
            number, place = self._chunk_of[row]
            if number not in self._chunks:
                self._chunks[number] = open_tensors(self.folder / f"{_CHUNKS[self.approximate]}_{number}.safetensors")
            stored = self._chunks[number]
        else:
            return None
        covariance = _approximation(stored, row) if self.approximate else stored.row(_COMPLETE, place)
        return None if covariance is None else self._checked(covariance, stored, row)

    def _checked(self, covariance: Floats, stored: TensorFile, row: int) -> Floats:
        shape, size = covariance.shape, self.dimensions
        fault = f"has the shape {shape} in {size} dimensions" if shape != (size, size) else ""
        if not fault and not np.isfinite(covariance).all():
            fault = "has a NaN or an infinity"
        if not fault and np.abs(covariance - covariance.T).max() > _ASYMMETRY * np.abs(covariance).max():
            fault = "is not symmetric"
        if not fault and (np.diagonal(covariance) < 0).any():
            fault = "has a variance below 0"
        if fault:
            raise EmbeddingError(f"{stored.path}: the covariance of {self.words[row]!r} {fault}. Download it again.")
        return np.asarray((covariance + covariance.T) / 2)


def _approximation(stored: TensorFile, row: int) -> Floats | None:
    """Return an approximate covariance: a diagonal, a singular value decomposition of low rank, or a whole one."""
    if f"diag_{row}" in stored:
        diagonal = stored.array(f"diag_{row}")
        check_memory(8 * diagonal.size**2, f"{stored.path}: a covariance", "Check whether it is the right file.")
        return np.diag(diagonal) if diagonal.ndim == 1 else diagonal
    if f"U_{row}" in stored:
        left, values, right = (stored.array(f"{part}_{row}") for part in ("U", "s", "Vt"))
        rank = values.size
        if values.ndim != 1 or left.ndim != 2 or right.ndim != 2 or not left.shape[1] == rank == right.shape[0]:
            shapes = ", ".join(str(part.shape) for part in (left, values, right))
            raise EmbeddingError(f"{stored.path}: U_{row}, s_{row} and Vt_{row} have the shapes {shapes}.")
        check_memory(8 * left.shape[0] * right.shape[1], f"{stored.path}: a covariance", "Download it again.")
        return np.asarray(left * values @ right)
    return stored.array(f"complete_{row}") if f"complete_{row}" in stored else None


def _lines(path: Path) -> Iterable[tuple[int, str]]:
    lines = read_utf8(path, LINES).split("\n")
    return ((number, line.rstrip("\r")) for number, line in enumerate(lines, start=1) if line.strip())


def _read_vocabulary(path: Path) -> list[str]:
    words = [line.split(" ", 1)[0] for _, line in _lines(path)]
    [(commonest, count)] = Counter(words).most_common(1) or [("", 0)]
    if count > 1:
        raise EmbeddingError(f"{path} has the word {commonest!r} more than once, so its rows are not known.")
    return words


def _read_chunk_map(path: Path, words: list[str], *, approximate: bool) -> dict[int, tuple[int, int]]:
    """Return the chunk of each row of the vocabulary, and the row of the chunk."""
    if not path.exists():
        raise InputFileError(
            f"{path.parent} has neither chunk_map.txt nor {_SINGLE_FILES[approximate]}. Download them, or read the "
            f"other kind of covariances with approximate={not approximate}."
        )
    chunk_of = {}
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) != 4 or not all(field.isascii() and field.isdigit() for field in fields[1:]):
            raise InputFileError(f"{path}, line {number}: {line[:60]!r} is no word with three numbers after tabs.")
        row, chunk, place = (int(field[:18]) for field in fields[1:])
        if row >= len(words) or words[row] != fields[0]:
            raise EmbeddingError(f"{path}, line {number}: {fields[0]!r} is not the word in row {row} of vocab.txt.")
        chunk_of[row] = (chunk, place)
    return chunk_of
