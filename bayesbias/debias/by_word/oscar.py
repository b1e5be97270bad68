"""OSCaR: rotate words in one plane, so that a concept becomes orthogonal to the bias direction."""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords, words_in
from bayesbias.debias.method import FittedMethod, Method
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import MeasureError
from bayesbias.geometry import unit_rows


@dataclass(frozen=True, eq=False, repr=False)
class FittedOSCaR(FittedMethod):
    """The plane in which words are rotated, which keeps their lengths.

    Parameters
    ----------
    sets
        The word lists.
    plane : array, shape (2, dimensions)
        Orthonormal: the bias direction, and the part of the concept's direction that is orthogonal to it.
    angle
        Angle between the two directions before debiasing, in radians.
    """

    _label = "oscar-debiased ({sets.name})"

    sets: DebiasWords
    plane: Floats
    angle: float

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "angle_in_degrees": float(np.degrees(self.angle))}

    @property
    def _dimensions(self) -> int:
        return len(self.plane[0])

    def _moved(self, source: Embedding, rows: Integers) -> Floats:
        vectors = source.vectors[rows]
        before = vectors @ self.plane.T
        moved: Floats = vectors + (rotated(before, self.angle) - before) @ self.plane
        return moved


@dataclass(frozen=True)
class OSCaR(Method[FittedOSCaR]):
    """Orthogonal subspace correction and rectification of Dev et al.

    Raises
    ------
    MeasureError
        In `fit`: if the concept's words have vectors of the same direction, or the concept's direction is the bias
        direction.

    Notes
    -----
    **What it needs.** Definitional sets, and words of a `concept` to be made free of the bias, such as occupations.

    **What it changes.** Every word, only in the plane of the two directions and by a rotation: lengths stay. The bias
    direction stays where it is, the concept's becomes orthogonal to it, words between the two rotate in part. The
    directions are found among vectors of length 1.

    **What it cannot do.** Remove a word's part in the bias direction, unless it came with the concept. One direction
    represents the whole concept, and one the bias.

    References
    ----------
    Dev, Li, Phillips and Srikumar (2021), OSCaR: orthogonal subspace correction and rectification of biases in word
    embeddings, EMNLP 2021, 5034-5050, arXiv:2007.00049, section 3: the angle theta_x. The concept's direction is the
    first principal component of its words, centred; the paper's for gender is he - she, which here one pair gives. The
    published code exchanges the angle between the directions and its complement, so that there the two do not become
    orthogonal.

    Examples
    --------
    >>> vectors = {"he": [1, 0, 1.0], "she": [-1, 0, 1.0], "cook": [1, 1, 0.0], "nurse": [-1, -1, 0.0]}
    >>> words = bb.debias.DebiasWords("gender", [["he", "she"]], concept=["cook", "nurse"])
    >>> bb.debias.OSCaR().fit(vectors, words).transform(vectors)["cook"].round(3) + 0.0
    array([0.   , 1.414, 0.   ])
    """

    name = "oscar"
    needs = ("concept",)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedOSCaR:
        bias = bias_subspace(source, words, components=1).directions[0]
        units = unit_rows(source.stored(words_in(source, words.concept, "the concept")))
        centred = units - units.mean(axis=0)
        if np.abs(centred).max() < ROUNDING:
            raise MeasureError(
                "The words of `concept` have vectors of the same direction. Give words whose vectors differ."
            )
        concept = np.linalg.svd(centred, full_matrices=False)[2][0]
        concept *= -1.0 if bias @ concept < 0 else 1.0
        across = concept - (bias @ concept) * bias
        sine = float(np.linalg.norm(across))
        if sine < ROUNDING:
            raise MeasureError(
                f"The direction of `concept` is the bias direction of {words.name!r}: no rotation makes the two "
                "orthogonal. Give a concept whose words differ in something else too."
            )
        return FittedOSCaR(words, np.stack([bias, across / sine]), float(np.arctan2(sine, bias @ concept)))


def rotated(points: Floats, angle: float) -> Floats:
    """Return points of a plane, each rotated by its own angle.

    - `points` (array, shape (points, 2)): coordinates whose first axis is the bias direction, which stays.
    - `angle`: angle of the direction that becomes orthogonal to it, above 0 and below pi.

    Dev et al. (2021), section 3: theta_x, with theta' the angle of the two directions and theta = pi / 2 - theta'.

    >>> rotated(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.pi / 4).round(3) + 0.0
    array([[ 1.   ,  0.   ],
           [ 0.   ,  1.414],
           [-0.5  ,  0.866]])
    """
    angles = np.arctan2(np.abs(points[:, 1]), points[:, 0])
    # The rotation is whole at the angle of the concept, on its side, and at that of its opposite on the other side.
    whole = np.where(points[:, 1] > 0, angle, np.pi - angle)
    share = np.where(angles < whole, angles / whole, (np.pi - angles) / (np.pi - whole))
    rotation = (np.pi / 2 - angle) * share
    cosine, sine = np.cos(rotation), np.sin(rotation)
    x, y = points[:, 0], points[:, 1]
    return np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=1)
