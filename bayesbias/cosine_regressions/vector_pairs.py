"""Pairs of vectors: inner products, lengths, and their local normalization weights.

Units: each side's lengths are divided by their geometric mean over the rows, so that LNW and all inner products are
in units of an average pair's LNW, and all coefficients of a regression in units of a cosine similarity. They do not
change if all vectors of the embedding are multiplied by a number. `VectorPairs.unit` converts back.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.errors import MeasureError
from bayesbias.geometry import checked_rows


@dataclass(frozen=True, eq=False)
class VectorPairs:
    """Pairs of vectors: inner products and lengths, in units of the geometric mean lengths.

    Parameters
    ----------
    inner
        Inner products <A_i, B_i>, of shape (rows,).
    length_a, length_b
        ||A_i|| and ||B_i||, of shape (rows,); the geometric mean of each is 1.
    unit
        The embedding's LNW that is 1 in these units.
    """

    inner: Floats
    length_a: Floats
    length_b: Floats
    unit: float

    @property
    def lnw(self) -> Floats:
        """Local normalization weight LNW_i = ||A_i|| ||B_i||."""
        weight: Floats = self.length_a * self.length_b
        return weight

    @property
    def cosine(self) -> Floats:
        """Cosine similarities."""
        similarity: Floats = self.inner / self.lnw
        return similarity


def pair_up(a: ArrayLike, b: ArrayLike) -> VectorPairs:
    """Return inner products and lengths of vectors, row by row; both sides have shape (rows, dimensions).

    LNW_i is that of Kindel (2023), supplement, "Binary difference-in-cosines".

    >>> pairs = pair_up([[2.0, 0.0], [0.0, 8.0]], [[3.0, 4.0], [3.0, 4.0]])
    >>> round(pairs.unit, 9), pairs.lnw.round(9), pairs.cosine.round(9)
    (20.0, array([0.5, 2. ]), array([0.6, 0.8]))
    """
    first, second = checked_rows(a), checked_rows(b)
    if first.shape != second.shape:
        raise MeasureError(
            f"The two sides of the pairs have shapes {first.shape} and {second.shape}. Give the same number of vectors "
            "and dimensions on both."
        )
    inner = np.einsum("ij,ij->i", first, second)
    lengths = [np.linalg.norm(side, axis=1) for side in (first, second)]
    means = [float(np.exp(np.log(length).mean())) for length in lengths]
    unit = means[0] * means[1]
    return VectorPairs(inner / unit, lengths[0] / means[0], lengths[1] / means[1], unit)


def centroid_weights(vectors: ArrayLike) -> Floats:
    """Return the weights psi_j by which a centroid's cosine departs from the mean cosine of its components.

    ``cos(mean Omega, X) = (1/N) sum_j cos(Omega_j, X) / psi_j``, so that only weights of 1 give the mean cosine. Omega
    has shape (components, dimensions). Kindel (2023), supplement, "Centroid cosines are anisotropically weighted
    estimates of the subspace mean cosine similarity": psi_ij.

    >>> centroid_weights([[2.0, 0.0], [0.0, 1.0]]).round(3)
    array([0.559, 1.118])
    """
    omega = checked_rows(vectors)
    weights: Floats = np.linalg.norm(omega.mean(axis=0)) / np.linalg.norm(omega, axis=1)
    return weights
