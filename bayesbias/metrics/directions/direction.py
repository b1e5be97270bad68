"""The gender direction of Bolukbasi et al. (2016), and other directions in which pairs of words differ."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike, unit_rows
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.look_up import as_embedding, checked_pairs
from bayesbias.metrics.shared_parameters import shared_parameters

GENDER_PAIRS = (
    ("woman", "man"), ("girl", "boy"), ("she", "he"), ("mother", "father"), ("daughter", "son"),
    ("gal", "guy"), ("female", "male"), ("her", "his"), ("herself", "himself"), ("Mary", "John"),
)  # fmt: skip
"""The ten definitional pairs of Bolukbasi et al. (2016)."""


@dataclass(frozen=True, eq=False, repr=False)
class Direction(Described):
    """Direction in which pairs of words differ.

    Parameters
    ----------
    vector
        Unit vector of shape (dimensions,) that points from the second words of the pairs to the first.
    explained
        Shares of the pairs' squared differences along this and each further principal direction, largest first.
    pairs
        Pairs that determine the direction.
    lost_words
        Words of other pairs that the embedding lacks.
    """

    vector: Floats = field(repr=False)
    explained: Floats
    pairs: tuple[tuple[str, str], ...]
    lost_words: tuple[str, ...]

    @property
    def _facts(self) -> Facts:
        return {
            "dimensions": len(self.vector),
            "explained": float(self.explained[0]),
            "pairs": self.pairs,
            "lost_words": self.lost_words,
        }


@shared_parameters()
def gender_direction(embedding: EmbeddingLike, pairs: Sequence[tuple[str, str]] = GENDER_PAIRS) -> Direction:
    """Return the direction in which the words of pairs differ most.

    It is the first right singular vector of the stacked differences between the unit vectors of each pair, uncentred.
    Up to the sign, this is the first component of the published code, which subtracts each pair's mean from both of
    its words and runs a PCA: the mean of those rows is already zero.

    Parameters
    ----------
    pairs
        Pairs of words. Default: the ten of Bolukbasi et al. A pair of which the embedding lacks a word is left out.

    Raises
    ------
    MeasureError
        If there is no pair left, the words of a pair have the same vector, or no direction stands out.

    References
    ----------
    Tolga Bolukbasi, Kai-Wei Chang, James Zou, Venkatesh Saligrama and Adam Kalai (2016). Man is to computer
    programmer as woman is to homemaker? Debiasing word embeddings. NIPS 29, section 5.1.

    Examples
    --------
    >>> vectors = {"she": [1.0, 1.0, 0.0], "he": [-1.0, 1.0, 0.0], "her": [2.0, 0.0, 1.0], "his": [-2.0, 0.0, 1.0]}
    >>> direction = gender_direction(vectors, [("she", "he"), ("her", "his")])
    >>> np.abs(direction.vector).round(3), direction.explained.round(3)
    (array([1., 0., 0.]), array([1., 0.]))
    """
    pairs = checked_pairs(pairs)
    source = as_embedding(embedding, (word for pair in pairs for word in pair))
    lost = source.lookup(word for pair in pairs for word in pair).lost
    available_pairs = tuple(pair for pair in pairs if not set(pair) & set(lost))
    if not available_pairs:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost)}, so no pair is left. Give pairs of words that it "
            f"has, or change the case rule, which is {source.case_text!r}."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost)}: the direction uses {len(available_pairs)} of the "
            f"{counted(len(pairs), 'pair')}.",
            LostWordsWarning,
        )
    differences = unit_rows(source, [a for a, _ in available_pairs]) - unit_rows(
        source, [b for _, b in available_pairs]
    )
    for pair, length in zip(available_pairs, np.linalg.norm(differences, axis=1), strict=True):
        if length < ROUNDING:
            raise MeasureError(f"The words of the pair {pair[0]!r}, {pair[1]!r} have the same direction. Leave it out.")
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    if len(sizes) > 1 and sizes[0] - sizes[1] < 1e-9 * sizes[0]:
        raise MeasureError(
            f"The pairs {name_some(available_pairs)} differ equally in two directions, so none is the main one. Add "
            "pairs."
        )
    vector = directions[0]
    if (differences @ vector).sum() < 0:
        vector = -vector
    return Direction(vector=vector, explained=sizes**2 / (sizes**2).sum(), pairs=available_pairs, lost_words=lost)


def as_direction(direction: ArrayLike, dimensions: int) -> Floats:
    """Return a direction given as an array, or raise `MeasureError` if it is not one of so many dimensions."""
    try:
        vector = np.asarray(direction, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"direction={direction!r}: give a vector of {dimensions} numbers.") from error
    if vector.shape != (dimensions,) or not np.isfinite(vector).all() or not vector.any():
        raise MeasureError(
            f"The direction has the shape {vector.shape}. Give a vector of {dimensions} finite numbers, not all zero."
        )
    return vector
