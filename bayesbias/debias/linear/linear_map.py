"""Linear maps of word vectors: the fitted form of all methods that are one matrix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.linear.vector_map import VectorMap
from bayesbias.debias.method import FittedMethod, Words
from bayesbias.embeddings.contextual.spread import ContextualEmbedding
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import MeasureError

# What is left of a vector below this part of its length may be rounding of single precision.
_NOTHING = 1e-5


def removal(directions: Floats, weights: Floats | float = 1.0) -> Floats:
    """Return the matrix that subtracts from a vector its part in each direction, times a weight.

    Parameters
    ----------
    directions
        Orthonormal rows, of shape (components, dimensions).
    weights
        One weight for each direction, or one for all; 1 removes the whole part.

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
