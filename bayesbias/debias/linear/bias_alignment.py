"""Bias alignment: turn the first words of pairs onto the second ones, and go half of the way with every word."""

import os
from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap
from bayesbias.debias.subspace import bias_subspace, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError


@dataclass(frozen=True)
class BiasAlignment:
    """The bias alignment model (BAM) of Lauscher et al.

    Notes
    -----
    **What it needs.** Definitional pairs, first words of the one side and second words of the other.

    **What it changes.** Every word becomes the mean of itself and of what the rotation makes of it that turns the first
    words nearest to the second ones; the words of a pair move towards each other.

    **What it cannot do.** Take a direction away: with few pairs it hardly changes a word. It moves all words towards
    the second side's frame, so that the order within the pairs matters.

    References
    ----------
    Lauscher, Glavas, Ponzetto and Vulic (2020), A general framework for implicit and explicit debiasing of
    distributional word vector spaces, AAAI 34, 8131-8138, arXiv:1909.06092, section 3, "BAM": W = U V', from the
    singular value decomposition of A' B, and (X + X W) / 2. The published code takes V' in place of U V', which is no
    rotation of the first words onto the second. Fewer pairs than dimensions leave W open outside of their span: there
    it is, here, the rotation that turns vectors least, where it was whatever the decomposition gave.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.0], [0, 1.0], [1, 1.0]], name="toy")
    >>> debiased = bb.debias.BiasAlignment().fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["he"].round(3), debiased.name
    (array([0.5, 0.5]), 'toy, bam-debiased (gender)')
    """

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> FittedLinearMap:
        """Find the rotation.

        Parameters
        ----------
        embedding
            The rotation is found among its vectors brought to unit length; the map takes vectors as they are.
        sets
            Definitional pairs: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If a set is no pair, no pair is left in this embedding, or the words of a pair have the same direction.

        Warns
        -----
        LostWordsWarning
            If pairs are left out because the embedding lacks a word.
        """
        words, embedding = as_debias_words(sets, name=name), whole_embedding(embedding)
        if words.largest > 2:
            raise MeasureError(
                f"Bias alignment takes pairs, but a definitional set of {words.name!r} has {words.largest} words. Give "
                "pairs, first words of the one side and second words of the other."
            )
        pairs = bias_subspace(embedding, words, components=1).sets
        first, second = (unit_rows(embedding.stored([pair[side] for pair in pairs])) for side in (0, 1))
        matrix = (np.eye(embedding.dimensions) + rotation_onto(first, second)) / 2
        none: Floats = np.empty((0, embedding.dimensions))
        return FittedLinearMap(words, "bam", matrix, none, np.empty(0), ())


def rotation_onto(first: Floats, second: Floats) -> Floats:
    """Return the orthogonal W for which ``first @ W`` is nearest to ``second``.

    Of all such matrices it is the one with the largest trace: it turns vectors least where the rows say nothing.

    >>> rotation_onto(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])).round(12) + 0.0
    array([[ 0.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    left, sizes, right = np.linalg.svd(first.T @ second)
    rank = int((sizes > 1e-10 * sizes[0]).sum())
    free_left, free_right = left[:, rank:], right[rank:]
    one, _, other = np.linalg.svd(free_left.T @ free_right.T)
    rotation: Floats = left[:, :rank] @ right[:rank] + free_left @ one @ other @ free_right
    return rotation
