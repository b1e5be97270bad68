"""Half-sibling regression: take away of each word what words that mean what is removed predict of it."""

import os
from dataclasses import dataclass
from math import inf

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_number
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap
from bayesbias.debias.subspace import whole_embedding
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError


@dataclass(frozen=True)
class HalfSibling:
    """Half-sibling regression of Yang and Feng.

    Parameters
    ----------
    penalty
        Of the ridge regression, alpha in the source, which uses 60 for vectors that are not scaled. The shorter the
        vectors, the less the same penalty takes away: of vectors of length 1, 60 leaves nearly everything.

    Raises
    ------
    ArgumentError
        If `penalty` is not a finite number above 0.

    Notes
    -----
    **What it needs.** Words that mean what is removed: the definitional ones, `specific` and `sides` of the words,
    together; the more of them the vectors have, the more is taken away.

    **What it changes.** Every other word w loses the part that a ridge regression predicts from those words.

    **What it cannot do.** Tell what is removed from whatever else those words have in common: that they are of people,
    frequent, or of the family, goes with it.

    References
    ----------
    Yang and Feng (2020), A causal inference method for reducing gender bias in word embedding relations, AAAI 34,
    9434-9441, arXiv:1911.10787, algorithm 1: V_N - V_D (V_D' V_D + alpha 1)^-1 V_D' V_N. Here it is the equal
    ``alpha (alpha 1 + V_D V_D')^-1 V_N``, one matrix for all words.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.0], [-1, 0.0], [1, 1.0]], name="toy")
    >>> debiased = bb.debias.HalfSibling(penalty=2.0).fit(embedding, [["he", "she"]]).transform(embedding)
    >>> debiased["nurse"], debiased["she"]
    (array([0.5, 1. ]), array([-1.,  0.]))
    """

    penalty: float = 60.0

    def __post_init__(self) -> None:
        check_number("penalty", self.penalty, low=0, high=inf, above=True)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> FittedLinearMap:
        """Find the map.

        Parameters
        ----------
        embedding
            Its vectors are taken as they are.
        sets
            The words: a name of `list_debias_words`, a path, `DebiasWords`, or a list of definitional sets.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If the embedding has fewer than two of the words, or those of each definitional set have the same vector.
        """
        words, embedding = as_debias_words(sets, name=name), whole_embedding(embedding)
        lists = (*words.definitional, words.specific, *words.sides)
        asked = tuple(dict.fromkeys(word for each in lists for word in each))
        found = list(dict.fromkeys(embedding.lookup(asked).found.values()))
        if len(found) < 2:
            raise MeasureError(
                f"The embedding {embedding.name!r} has {len(found)} of the {len(asked)} words that mean "
                f"{words.name!r}. Give `specific` or `sides` words that it has."
            )
        sets_found = [list(embedding.lookup(each).found.values()) for each in words.definitional]
        whole = [embedding.stored(each) for each in sets_found if len(each) > 1]
        if whole and not any(np.ptp(rows, axis=0).any() for rows in whole):
            raise MeasureError(
                f"In {embedding.name!r} the words of each definitional set of {words.name!r} have the same vector, so "
                "they do not mean what is removed any more. Give sets whose words differ, or vectors before debiasing."
            )
        matrix = ridge_residual(embedding.stored(found).astype(np.float64), float(self.penalty))
        none: Floats = np.empty((0, embedding.dimensions))
        return FittedLinearMap(words, "half_sibling", matrix, none, np.empty(0), asked)


def ridge_residual(rows: Floats, penalty: float) -> Floats:
    """Return the matrix that leaves of a vector what a ridge regression on the rows does not predict.

    By the rows' singular values, as squares of very long rows cannot be inverted; what rounding leaves is 0.

    >>> ridge_residual(np.array([[1.0, 0.0]]), 1.0)
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    sizes[sizes <= max(rows.shape) * np.finfo(float).eps * sizes[0]] = 0
    predicted = (sizes / np.hypot(sizes, np.sqrt(penalty))) ** 2
    matrix: Floats = np.eye(rows.shape[1]) - (axes.T * predicted) @ axes
    return matrix
