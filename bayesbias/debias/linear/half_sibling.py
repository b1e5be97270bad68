"""Half-sibling regression: each word loses what words of biased meaning predict of it."""

from dataclasses import dataclass
from math import inf

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_number
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.linear.linear_map import FittedLinearMap, linear_map
from bayesbias.debias.method import Method
from bayesbias.debias.subspace import without_differences
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import MeasureError


@dataclass(frozen=True)
class HalfSibling(Method[FittedLinearMap]):
    """Half-sibling regression of Yang and Feng.

    Parameters
    ----------
    penalty
        Penalty of the ridge regression, alpha in the source, which uses 60 for vectors that are not scaled. The
        shorter the vectors, the less the same penalty removes: for vectors of length 1, 60 leaves nearly everything.

    Raises
    ------
    ArgumentError
        If `penalty` is not a finite number above 0.
    MeasureError
        In `fit`: if the embedding has fewer than two of the words, or the words of each definitional set have the same
        vector.

    Notes
    -----
    **What it needs.** Words whose meaning includes the bias: `definitional`, `specific` and `sides` together. The more
    of them the vectors have, the more is removed.

    **What it changes.** Every other word loses the part that a ridge regression predicts from those words.

    **What it cannot do.** Distinguish the bias from whatever else those words have in common: that they denote people,
    are frequent, or are about the family.

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

    name = "half_sibling"

    penalty: float = 60.0

    def __post_init__(self) -> None:
        check_number("penalty", self.penalty, low=0, high=inf, above=True)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        biased = tuple(dict.fromkeys(word for side in (words.non_neutral, *words.sides) for word in side))
        present = list(dict.fromkeys(source.lookup(biased).matches.values()))
        if len(present) < 2:
            raise MeasureError(
                f"The embedding {source.name!r} has {len(present)} of the {len(biased)} words whose meaning includes "
                f"{words.name!r}. Give `specific` or `sides` words that it has."
            )
        if without_differences(source, words):
            raise MeasureError(
                f"In {source.name!r} the words of each definitional set of {words.name!r} have the same vector. Give "
                "sets whose words differ, or vectors that were not debiased."
            )
        matrix = ridge_residual(source.stored(present).astype(np.float64), float(self.penalty))
        return linear_map(words, "half_sibling", matrix, biased)


def ridge_residual(rows: Floats, penalty: float) -> Floats:
    """Return the matrix that maps a vector to its residual in a ridge regression on the rows.

    It uses the rows' singular values, as squares of very long rows cannot be inverted; those due to rounding are 0.

    >>> ridge_residual(np.array([[1.0, 0.0]]), 1.0)
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    sizes[sizes <= max(rows.shape) * np.finfo(float).eps * sizes[0]] = 0
    predicted = (sizes / np.hypot(sizes, np.sqrt(penalty))) ** 2
    matrix: Floats = np.eye(rows.shape[1]) - (axes.T * predicted) @ axes
    return matrix
