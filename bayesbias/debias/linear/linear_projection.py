"""Linear projection: every word loses its part in the bias subspace."""

from dataclasses import dataclass

from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.linear.linear_map import FittedLinearMap, projection
from bayesbias.debias.method import Method
from bayesbias.debias.subspace import bias_subspace
from bayesbias.embeddings.embedding import Embedding


@dataclass(frozen=True)
class LinearProjection(Method[FittedLinearMap]):
    """Linear projection of Dev and Phillips.

    Parameters
    ----------
    components
        Number of directions to remove. None (default): one fewer than the largest definitional set has words, so 1 for
        pairs; for the one pair (she, he) it is the direction she - he.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but the bias.

    **What it changes.** Every word, definitional words too, loses its part in the bias subspace, which is found among
    vectors of length 1. Afterwards no word has a direct bias, and "she" and "he" are nearly the same word.

    **What it cannot do.** Distinguish words whose meaning includes the bias from words that should be free of it:
    "grandmother" loses it as "nurse" does. Words that leaned the same way remain neighbours (Gonen and Goldberg 2019).

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

    name = "linear"

    components: int | None = None

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedLinearMap:
        return projection(words, "linear", bias_subspace(source, words, components=self.components).directions)
