"""Linear maps of word vectors: the fitted form of all methods that are one matrix, and maps for later vectors."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_path, is_text
from bayesbias.base.files.inputs import input_file
from bayesbias.base.files.outputs import atomic_path, check_output
from bayesbias.base.files.stored_arrays import read_arrays
from bayesbias.base.machine import require
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, Words
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import Embedding, as_vectors
from bayesbias.embeddings.encoders import Encoder
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.embeddings.readers.tensor_file import open_tensors
from bayesbias.errors import ArgumentError, InputFileError, MeasureError, OutputError
from bayesbias.geometry import unit_rows

_ENDINGS = (".npz", ".safetensors")
# What is left of a vector below this part of its length may be rounding of single precision.
_NOTHING = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class VectorMap(Described):
    """A linear map of vectors, from the attribute `map` of a fitted method or from a file.

    Parameters
    ----------
    matrix : array, shape (dimensions, dimensions)
        A vector w, as a row, becomes w M.
    name
        What it does, such as ``"linear-debiased (gender)"``.
    unit_length
        Whether vectors are scaled to length 1 before and after, as by `SoftDebias`.

    Raises
    ------
    ArgumentError
        If the matrix is not square, holds a NaN or an infinity, or the name is no text.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]], name="toy")
    >>> fitted = bb.debias.LinearProjection().fit(embedding, [["he", "she"]], name="gender")
    >>> fitted.map
    VectorMap(name='linear-debiased (gender)', dimensions=3)
    >>> fitted.map.transform([[0.5, 1.0, 2.0]]) + 0.0
    array([[0., 1., 2.]])
    """

    matrix: Floats
    name: str
    unit_length: bool = False

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "fiu" or not matrix.size:
            raise ArgumentError(f"matrix has the shape {matrix.shape}. Give a square array of numbers.")
        matrix = matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)
        object.__setattr__(self, "matrix", matrix)
        if not np.isfinite(matrix).all():
            raise ArgumentError("matrix holds a NaN or an infinity.")
        if not is_text(self.name):
            raise ArgumentError(f"name={self.name!r:.60}: give text.")

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "dimensions": len(self.matrix)}

    def transform(self, vectors: ArrayLike) -> Floats:
        """Return the mapped vectors, of the same shape and number type (float32 at least).

        Parameters
        ----------
        vectors
            Array of shape (vectors, dimensions): what `encode` takes from an encoder.

        Raises
        ------
        MeasureError
            If the number of dimensions is another, or a mapped vector holds a NaN or an infinity.
        """
        rows = as_vectors(vectors)
        if rows.shape[1] != len(self.matrix):
            raise MeasureError(
                f"The map {self.name!r} is of {len(self.matrix)} dimensions, and the vectors have {rows.shape[1]}. "
                "Give vectors of the encoder to which it was fitted."
            )
        before = unit_rows(rows) if self.unit_length else rows
        with np.errstate(over="ignore", invalid="ignore"):
            after = before @ self.matrix.astype(before.dtype)
        if not np.isfinite(after).all():
            raise MeasureError(
                f"The map {self.name!r} makes vectors with a NaN or an infinity. Give finite, smaller vectors, or "
                "another map."
            )
        return np.asarray(unit_rows(after) if self.unit_length else after, dtype=rows.dtype)

    def around(self, encoder: Encoder) -> Callable[[list[str]], Floats]:
        """Return an encoder whose vectors are mapped: a function of texts, for `encode` or a product.

        Parameters
        ----------
        encoder
            A function of a list of texts that returns one vector a text.

        Examples
        --------
        >>> def toy(texts):
        ...     return [[float(len(text)), 1.0] for text in texts]
        >>> flat = bb.debias.VectorMap(np.diag([0.0, 1.0]), "without the length")
        >>> flat.around(toy)(["king", "queen"])
        array([[0., 1.],
               [0., 1.]])
        """

        def mapped(texts: list[str]) -> Floats:
            return self.transform(encoder(texts))

        mapped.__name__ = f"{getattr(encoder, '__name__', None) or getattr(encoder, 'name', 'encoder')}, {self.name}"
        return mapped

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the map to a file, whole or not at all.

        Parameters
        ----------
        path
            File that ends in ``.npz``, or in ``.safetensors`` (writing it needs the extra ``encoders``). Both hold the
            array ``matrix`` (float64), and ``unit_length`` (0 or 1).
        overwrite
            Whether an existing file may be replaced.

        Raises
        ------
        OutputError
            If the ending is another one, or the file exists or cannot be written.
        """
        target = check_path(path)
        if target.suffix not in _ENDINGS:
            raise OutputError(f"{target}: give it one of the endings {', '.join(_ENDINGS)}.")
        check_output(target, overwrite=overwrite)
        arrays = {
            "matrix": np.ascontiguousarray(self.matrix, dtype="<f8"),
            "unit_length": np.array([self.unit_length], dtype=np.uint8),
        }
        with atomic_path(target, overwrite=overwrite) as temporary:
            if target.suffix == ".npz":
                with temporary.open("wb") as stream:
                    np.savez(stream, allow_pickle=False, name=np.asarray(self.name), **arrays)
            else:
                library = require("safetensors.numpy", "encoders", "Writing a .safetensors file")
                temporary.write_bytes(library.save(arrays, metadata={"name": self.name}))
        return target


def read_map(path: str | os.PathLike[str]) -> VectorMap:
    """Return the map that `VectorMap.write` wrote to `path`.

    Raises
    ------
    InputFileError
        If the file cannot be read, or holds no map.

    Examples
    --------
    >>> import tempfile
    >>> half = bb.debias.VectorMap(np.eye(2) / 2, "half")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.debias.read_map(half.write(f"{folder}/half.npz")).transform([[2.0, 4.0]])
    array([[1., 2.]])
    """
    source = input_file(check_path(path))
    arrays, name = _tensors(source) if source.suffix == ".safetensors" else _numpy_arrays(source)
    try:
        return VectorMap(np.asarray(arrays["matrix"]), name, _truth(arrays["unit_length"].item()))
    except (KeyError, ValueError, TypeError) as fault:
        raise InputFileError(f"{source} holds no map of vectors ({fault}). Write it again.") from fault


def _truth(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError("unit_length is neither 0 nor 1")
    return bool(value)


def _numpy_arrays(source: Path) -> tuple[dict[str, Any], str]:
    arrays = read_arrays(source, {"matrix": ("fiu", 2), "unit_length": ("u", 1), "name": ("U", 0)})
    return arrays, str(arrays.get("name", ""))


def _tensors(source: Path) -> tuple[dict[str, Any], str]:
    stored = open_tensors(source)
    name = stored.metadata.get("name", "")
    return {key: stored.array(key) for key in ("matrix", "unit_length")}, name if isinstance(name, str) else ""


def removal(directions: Floats, weights: Floats | float = 1.0) -> Floats:
    """Return the matrix that subtracts from a vector its part in each direction, times a weight.

    - `directions`: orthonormal rows, of shape (components, dimensions).
    - `weights`: one weight for each direction, or one for all; 1 removes the whole part.

    Dawkins (2021), equation 4: ``w - sum_i a_i <g_i, w> g_i``.

    >>> removal(np.array([[1.0, 0.0]]), 0.25)
    array([[0.75, 0.  ],
           [0.  , 1.  ]])
    """
    matrix: Floats = np.eye(directions.shape[1]) - (directions.T * weights) @ directions
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class FittedLinearMap(FittedMethod):
    """A linear map of word vectors, which it does not scale.

    Parameters
    ----------
    sets
        The word lists.
    method
        The method's name in `METHODS`.
    matrix : array, shape (dimensions, dimensions)
        A vector w, as a row, becomes w M.
    directions : array, shape (components, dimensions)
        Orthonormal directions of which the map removes a part; no rows if it is not made of directions.
    weights : array, shape (components,)
        Share of each direction that the map removes, from 0 to 1.
    unchanged
        Words that keep their vectors.
    """

    _label = "{method}-debiased ({sets.name})"

    sets: DebiasWords
    method: str
    matrix: Floats
    directions: Floats
    weights: Floats
    unchanged: tuple[str, ...]

    @property
    def _facts(self) -> Facts:
        return {"method": self.method, "sets": self.sets.name, "weights": [float(weight) for weight in self.weights]}

    @property
    def map(self) -> VectorMap:
        """The map as a function of arrays, for new vectors; it knows no words, and so changes all vectors."""
        return VectorMap(self.matrix, self._label.format(**vars(self)))

    @property
    def _dimensions(self) -> int:
        return len(self.matrix)

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        debiased = super()._debiased(source, target, ignore)
        if not isinstance(source, ContextualEmbedding):
            return debiased
        changed = (debiased.vectors != source.vectors).any(axis=1)
        deviations = source.deviations.copy()
        deviations[changed] = deviations[changed] @ self.matrix.astype(deviations.dtype)
        return replace(
            source, vectors=debiased.vectors, name=debiased.name, steps=debiased.steps, deviations=deviations
        )

    @property
    def _unchanged(self) -> Sequence[str]:
        return self.unchanged

    def _moved(self, source: Embedding, rows: Integers) -> Floats:
        before = source.vectors[rows]
        after: Floats = before @ self.matrix.astype(before.dtype)
        lengths = [np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64) for vectors in (before, after)]
        gone = lengths[1] <= _NOTHING**2 * lengths[0]
        if gone.any():
            word = source.words[rows[int(np.argmax(gone))]]
            raise MeasureError(
                f"Nothing is left of the vector of {word!r}: all of it lies in what {self.method!r} removes for "
                f"{self.sets.name!r}. Put the word into `ignore`, or remove less."
            )
        return after


def linear_map(words: DebiasWords, method: str, matrix: Floats, unchanged: Sequence[str] = ()) -> FittedLinearMap:
    """Return a fitted map that is not made of directions."""
    return FittedLinearMap(words, method, matrix, np.empty((0, len(matrix))), np.empty(0), tuple(unchanged))


def projection(words: DebiasWords, method: str, directions: Floats, weights: Floats | None = None) -> FittedLinearMap:
    """Return a fitted map that removes orthonormal directions, wholly or by weights."""
    weights = np.ones(len(directions)) if weights is None else weights
    return FittedLinearMap(words, method, removal(directions, weights), directions, weights, ())


@dataclass(frozen=True)
class LinearProjection(Method[FittedLinearMap]):
    """Linear projection of Dev and Phillips.

    Parameters
    ----------
    components
        Number of directions to remove. None (default): one fewer than the largest definitional set has words, so 1 for
        pairs; for the one pair (she, he) it is the direction she - he.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but the bias.

    **What it changes.** Every word, definitional words too, loses its part in the bias subspace, which is found among
    vectors of length 1. Afterwards no word has a direct bias, and "she" and "he" are nearly the same word.

    **What it cannot do.** Distinguish words whose meaning includes the bias from words that should be free of it:
    "grandmother" loses it as "nurse" does. Words that leaned the same way remain neighbours (Gonen and Goldberg 2019).

    References
    ----------
    Dev and Phillips (2019), Attenuating bias in word vectors, AISTATS 89, 879-887, arXiv:1901.07656, section 4.1.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]], name="toy")
    >>> debiased = bb.debias.LinearProjection().fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["nurse"] + 0.0
    array([0., 1., 0.])
    """

    name = "linear"

    components: int | None = None

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        return projection(words, "linear", bias_subspace(source, words, components=self.components).directions)
