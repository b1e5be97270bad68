"""Linear projection: every word loses its part in the bias subspace."""

import os
from dataclasses import dataclass

import numpy as np

from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.linear.linear_map import FittedLinearMap, removal
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import EmbeddingLike


@dataclass(frozen=True)
class LinearProjection:
    """Linear projection of Dev and Phillips.

    Parameters
    ----------
    components
        Number of directions to remove. None (default): one fewer than the largest definitional set has words, that
        is 1 for pairs; of the one pair (she, he) it is the direction she - he.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but what is removed.

    **What it changes.** Every word, those of the sets too, loses its part in the subspace: afterwards no word has a
    direct bias, and "she" and "he" are nearly one word.

    **What it cannot do.** Tell words that mean what is removed from words that should not: "grandmother" loses it as
    "nurse" does. Words that leaned the same way remain neighbours (Gonen and Goldberg 2019).

    References
    ----------
    Dev and Phillips (2019), Attenuating bias in word vectors, AISTATS 89, 879-887, arXiv:1901.07656, section 4.1.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]], name="toy")
    >>> debiased = bb.debias.LinearProjection().fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["nurse"] + 0.0
    array([0., 1., 0.])
    """

    components: int | None = None

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> FittedLinearMap:
        """Find the bias subspace; the arguments, errors and warnings are those of `bias_subspace`.

        Parameters
        ----------
        embedding
            Directions are found among its vectors brought to unit length; the map takes vectors as they are.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.
        """
        words = as_debias_words(sets, name=name)
        found = bias_subspace(embedding, words, components=self.components)
        ones = np.ones(len(found.directions))
        return FittedLinearMap(words, "linear", removal(found.directions), found.directions, ones, ())
