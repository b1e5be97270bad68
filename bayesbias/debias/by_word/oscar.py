"""OSCaR: turn words in one plane, so that a concept becomes orthogonal to what is removed."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words, needed, words_in
from bayesbias.debias.linear.linear_map import debiased_name
from bayesbias.debias.subspace import ROUNDING, bias_subspace, chosen_rows, row_blocks, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError


@dataclass(frozen=True)
class OSCaR:
    """Orthogonal subspace correction and rectification of Dev et al.

    Notes
    -----
    **What it needs.** Definitional sets, and words of a `concept` that is to be free of what is removed, such as
    occupations.

    **What it changes.** Every word, only in the plane of the two directions and by a turn: lengths stay. The direction
    that is removed stays where it is, the concept's becomes orthogonal to it, words between the two turn in part.

    **What it cannot do.** Do more than that: a word's part along the removed direction stays, unless it came with the
    concept. One direction stands for the whole concept, and one for what is removed.

    References
    ----------
    Dev, Li, Phillips and Srikumar (2021), OSCaR: orthogonal subspace correction and rectification of biases in word
    embeddings, EMNLP 2021, 5034-5050, arXiv:2007.00049, section 3: the angle theta_x. The concept's direction is the
    first principal component of its words, centred; the paper's for gender is he - she, which here one pair gives. The
    published code takes the angle between the directions and its complement the other way round from the paper, so that
    there the two do not become orthogonal.

    Examples
    --------
    >>> vectors = {"he": [1, 0, 1.0], "she": [-1, 0, 1.0], "cook": [1, 1, 0.0], "nurse": [-1, -1, 0.0]}
    >>> words = bb.debias.DebiasWords("gender", [["he", "she"]], concept=["cook", "nurse"])
    >>> bb.debias.OSCaR().fit(vectors, words).transform(vectors)["cook"].round(3) + 0.0
    array([0.   , 1.414, 0.   ])
    """

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedOSCaR":
        """Find the two directions.

        Parameters
        ----------
        embedding
            Directions are found among its vectors brought to unit length; words are turned as they are.
        sets
            Words with a `concept`: a name of `list_debias_words`, a path, or `DebiasWords`.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If there is no concept, the embedding has fewer than two of its words, they have the same direction, or the
            concept's direction is that of what is removed.

        Warns
        -----
        LostWordsWarning
            If the embedding lacks words.
        """
        words, embedding = as_debias_words(sets, name=name), whole_embedding(embedding)
        asked: Sequence[str] = [str(word) for word in needed(words, "concept", "OSCaR")]
        first = bias_subspace(embedding, words, components=1).directions[0]
        rows = unit_rows(embedding.stored(words_in(embedding, asked, "the concept")))
        rows = rows - rows.mean(axis=0)
        if np.abs(rows).max() < ROUNDING:
            raise MeasureError("The concept's words have vectors of the same direction. Give words that differ.")
        concept = np.linalg.svd(rows, full_matrices=False)[2][0]
        concept *= -1.0 if first @ concept < 0 else 1.0
        across = concept - (first @ concept) * first
        sine = float(np.linalg.norm(across))
        if sine < ROUNDING:
            raise MeasureError(
                f"The direction of the concept is that of {words.name!r} itself: no turn makes the two orthogonal. "
                "Give a concept whose words differ in something else too."
            )
        return FittedOSCaR(words, np.stack([first, across / sine]), float(np.arctan2(sine, first @ concept)))


@dataclass(frozen=True, eq=False, repr=False)
class FittedOSCaR(Described):
    """The plane of two directions, ready to be turned in.

    Parameters
    ----------
    sets
        The words.
    plane : array, shape (2, dimensions)
        Orthonormal: the direction that is removed, and the part of the concept's that is orthogonal to it.
    angle
        Between the two directions before, in radians.
    """

    sets: DebiasWords
    plane: Floats
    angle: float

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "angle_in_degrees": float(np.degrees(self.angle))}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding of turned words; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to turn. None (default): all.
        ignore
            Words that are not turned. None (default): none.

        Returns
        -------
        Embedding
            The same words, lengths, number type and case rule. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs.

        Warns
        -----
        LostWordsWarning
            If words to ignore are absent.
        """
        embedding = whole_embedding(embedding, dimensions=self.plane.shape[1])
        _, chosen = chosen_rows(embedding, target, ignore)
        vectors = embedding.vectors.copy()
        for rows in row_blocks(np.flatnonzero(chosen)):
            before = embedding.vectors[rows] @ self.plane.T
            vectors[rows] += (turned(before, self.angle) - before) @ self.plane
        name = debiased_name(embedding, "oscar", self.sets)
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)


def turned(points: Floats, angle: float) -> Floats:
    """Return points of a plane, each turned by its own angle.

    Parameters
    ----------
    points : array, shape (points, 2)
        In coordinates whose first axis is the direction that stays.
    angle
        Of the direction that is to become orthogonal to it, above 0 and below pi.

    References
    ----------
    Dev et al. (2021), section 3: theta_x, with theta' the angle of the two directions and theta = pi / 2 - theta'.

    >>> turned(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.pi / 4).round(3) + 0.0
    array([[ 1.   ,  0.   ],
           [ 0.   ,  1.414],
           [-0.5  ,  0.866]])
    """
    own = np.arctan2(np.abs(points[:, 1]), points[:, 0])
    # On the side of the concept the full turn is at its own angle; on the other side at that of its opposite.
    full = np.where(points[:, 1] > 0, angle, np.pi - angle)
    part = np.where(own < full, own / full, (np.pi - own) / (np.pi - full))
    turn = (np.pi / 2 - angle) * part
    cosine, sine = np.cos(turn), np.sin(turn)
    x, y = points[:, 0], points[:, 1]
    return np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=1)
