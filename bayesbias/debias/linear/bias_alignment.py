"""Bias alignment: rotate the first words of pairs onto the second ones, half of the way, and all words with them."""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.number_text import counted
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.linear.linear_map import FittedLinearMap, linear_map
from bayesbias.debias.method import Method
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import MeasureError
from bayesbias.geometry import unit_rows


@dataclass(frozen=True)
class BiasAlignment(Method[FittedLinearMap]):
    """The bias alignment model (BAM) of Lauscher et al.

    Raises
    ------
    MeasureError
        In `fit`: if definitional sets differ in size, or the words of a set have the same direction.

    Notes
    -----
    **What it needs.** Definitional sets in which the first words are of one group, the second ones of another, and so
    on: pairs, or sets of three for three groups.

    **What it changes.** Every word becomes the mean of itself and its image under the rotation that brings the first
    words nearest to the second ones; the words of a pair move towards each other. The rotation is found among vectors
    of length 1. With more groups a word becomes the mean of itself and its images under the rotations from the first
    group to each other one, which is not in the source.

    **What it cannot do.** Remove a direction: with few pairs it hardly changes a word. It moves all words towards the
    other groups, so the order within sets matters.

    References
    ----------
    Lauscher, Glavas, Ponzetto and Vulic (2020), A general framework for implicit and explicit debiasing of
    distributional word vector spaces, AAAI 34, 8131-8138, arXiv:1909.06092, section 3, "BAM": W = U V', from the
    singular value decomposition of A' B, and (X + X W) / 2. The published code takes V' in place of U V', which is not
    a rotation of the first words onto the second. Fewer pairs than dimensions leave W undetermined outside their span;
    here it is the rotation that turns vectors least there, in the code whatever the decomposition returns.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.0], [0, 1.0], [1, 1.0]], name="toy")
    >>> debiased = bb.debias.BiasAlignment().fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["he"].round(3), debiased.name
    (array([0.5, 0.5]), 'toy, bam-debiased (gender)')
    """

    name = "bam"

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        sets = bias_subspace(source, words, components=1).sets
        groups = words.largest_set_size
        if short := [listed for listed in sets if len(listed) < groups]:
            raise MeasureError(
                f"Bias alignment takes sets with a word of each group, but of {words.name!r} {short[0]} has "
                f"{counted(len(short[0]), 'word')} and another set {groups}. Give sets of one size, with their words "
                "in the order of the groups."
            )
        first, *others = (unit_rows(source.stored([listed[group] for listed in sets])) for group in range(groups))
        images = [rotation_onto(first, other) for other in others]
        return linear_map(words, "bam", (np.eye(source.dimensions) + sum(images)) / groups)


def rotation_onto(first: Floats, second: Floats) -> Floats:
    """Return the orthogonal W for which ``first @ W`` is nearest to ``second``.

    Of all such matrices it is the one with the largest trace: it turns vectors least outside the span of the rows.

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
