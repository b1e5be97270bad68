"""Reader of NumPy ``.npz`` files with the arrays ``words`` and ``vectors``, in blocks and never as pickles."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import is_text
from bayesbias.base.files.archives import open_zip
from bayesbias.base.files.inputs import open_content
from bayesbias.base.files.stored_arrays import StoredArray, open_array, read_arrays
from bayesbias.base.machine import Allowance
from bayesbias.embeddings.embedding import as_vectors
from bayesbias.embeddings.rows import BYTES_A_WORD, MOST_DIMENSIONS, Rows, Wanted, check_room, is_wanted, row_allowance
from bayesbias.errors import EmbeddingError, did_you_mean, name_some


def read_npz(path: Path, wanted: Wanted) -> Rows:
    """Read the arrays ``words`` (text, one dimension) and ``vectors`` (numbers, words x dimensions).

    Raises `EmbeddingError` if an array is missing, does not match the other, or holds Python objects (a pickle). Raises
    `InputFileError` if the file is no complete zip file.
    """
    with open_content(path) as stream, open_zip(stream, path) as archive:
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
        with (
            open_array(archive, "words", path, EmbeddingError) as words,
            open_array(archive, "vectors", path, EmbeddingError) as vectors,
        ):
            _check_shapes(words, vectors, path)
            # Other types are held in memory until they are converted.
            size = 4 if vectors.dtype == np.float32 else 4 + vectors.dtype.itemsize
            check_room(vectors.shape[0], vectors.shape[1], wanted, path, bytes_a_number=size)
            return _scan(words, vectors, wanted, row_allowance(path), vectors.shape[1] * size + BYTES_A_WORD)


def read_steps(path: Path) -> tuple[str, ...]:
    """Return what was done to the vectors of a file, from its array ``steps``, if it has one.

    Raises `EmbeddingError` if a text is not printable. Raises `InputFileError` if the file is damaged, or the array is
    no list of texts.
    """
    steps = tuple(read_arrays(path, {"steps": ("U", 1)}).get("steps", np.empty(0)).tolist())
    if not all(map(is_text, steps)):
        raise EmbeddingError(f"{path}: 'steps' is no list of texts. Write it again with write_embedding.")
    return steps


def read_sample(path: Path) -> NDArray[Any] | None:
    """Return the array ``vocabulary_sample`` of a file, vectors of random words, or None if it has none.

    Raises `InputFileError` if the file is damaged, or the array is no matrix of numbers.
    """
    sample = read_arrays(path, {"vocabulary_sample": ("f", 2)}).get("vocabulary_sample")
    return None if sample is None else np.asarray(sample, dtype=np.float32)


def _check_shapes(words: StoredArray, vectors: StoredArray, path: Path) -> None:
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


def _scan(words: StoredArray, vectors: StoredArray, wanted: Wanted, allowance: Allowance, bytes_a_row: int) -> Rows:
    chosen_words: list[str] = []
    places: list[int] = []
    first = 0
    # A block has one word at least, and a column all numbers.
    allowance.take(words.dtype.itemsize + (vectors.shape[0] * vectors.dtype.itemsize if vectors.fortran else 0))
    for names in words.blocks():
        numbered = enumerate(names.tolist(), first)
        chosen = {row: word for row, word in numbered if is_wanted(word, wanted, row, words.where)}
        allowance.take(sum(bytes_a_row + len(word) for word in chosen.values()))
        chosen_words += chosen.values()
        places += chosen
        first += len(names)
    matrix = vectors.chosen(np.array(places, dtype=np.intp))
    return Rows(chosen_words, as_vectors(matrix) if len(matrix) else matrix, [place + 1 for place in places], "row")
