"""A linear map of word vectors: what all methods that are one matrix share."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.subspace import chosen_rows, row_blocks, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError

# What is left of a vector below this part of its length may be rounding of single precision.
_NOTHING = 1e-5


def removal(directions: Floats, weights: Floats | float = 1.0) -> Floats:
    """Return the matrix that takes away each direction's part of a vector, times a weight.

    Parameters
    ----------
    directions
        Orthonormal rows, of shape (components, dimensions).
    weights
        One for each direction, or one for all; 1 takes all of it.

    References
    ----------
    Dawkins (2021), equation 4: ``w - sum_i a_i <g_i, w> g_i``.

    >>> removal(np.array([[1.0, 0.0]]), 0.25)
    array([[0.75, 0.  ],
           [0.  , 1.  ]])
    """
    matrix: Floats = np.eye(directions.shape[1]) - (directions.T * weights) @ directions
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class FittedLinearMap(Described):
    """A linear map, ready to be applied.

    Parameters
    ----------
    sets
        The words.
    method
        Its name in `METHODS`.
    matrix : array, shape (dimensions, dimensions)
        A vector w, as a row, becomes w M.
    directions : array, shape (components, dimensions)
        Orthonormal: where the map takes something away; of no rows, if it is not made of directions.
    weights : array, shape (components,)
        How much it takes away of each, from 0 to 1.
    spared
        Words that keep their vectors.
    """

    sets: DebiasWords
    method: str
    matrix: Floats
    directions: Floats
    weights: Floats
    spared: tuple[str, ...]

    @property
    def _facts(self) -> Facts:
        return {"method": self.method, "sets": self.sets.name, "weights": [float(weight) for weight in self.weights]}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding of mapped words; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to map. None (default): all.
        ignore
            Words that are not mapped. None (default): `spared`.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Words that are not mapped keep the very same numbers. Vectors
            are not scaled. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs, or nothing is left of a word.

        Warns
        -----
        LostWordsWarning
            If words to ignore are absent.
        """
        embedding = whole_embedding(embedding, dimensions=len(self.matrix))
        _, chosen = chosen_rows(embedding, target, ignore, self.spared)
        before = embedding.vectors
        vectors, matrix = np.empty_like(before), self.matrix.astype(before.dtype)
        for rows in row_blocks(np.arange(len(before))):
            block = slice(rows[0], rows[-1] + 1)
            np.matmul(before[block], matrix, out=vectors[block])
            self._check_something_left(embedding, vectors[block], rows[0], chosen[block])
        vectors[~chosen] = before[~chosen]
        return Embedding(
            embedding.words, vectors, name=debiased_name(embedding, self.method, self.sets), case=embedding.case
        )

    def _check_something_left(self, embedding: Embedding, after: Floats, start: int, chosen: np.ndarray) -> None:
        before = embedding.vectors[start : start + len(after)]
        left = np.einsum("ij,ij->i", after, after)
        gone = chosen & (left <= _NOTHING**2 * np.einsum("ij,ij->i", before, before))
        if gone.any():
            word = embedding.words[start + int(np.argmax(gone))]
            raise MeasureError(
                f"Nothing is left of the vector of {word!r}: it lies wholly in "
                f"what {self.method!r} takes away of {self.sets.name!r}. Put the word into `ignore`, or take away less."
            )


def debiased_name(embedding: Embedding, method: str, sets: DebiasWords, setting: str = "") -> str:
    """Return the name of what a method made of an embedding.

    >>> debiased_name(bb.Embedding(("a",), [[1.0]], name="toy"), "misp", bb.debias.DebiasWords("gender", [["a", "b"]]))
    'toy, misp-debiased (gender)'
    """
    return f"{embedding.name}, {method}-debiased ({', '.join(filter(None, (sets.name, setting)))})"
