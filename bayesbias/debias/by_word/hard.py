"""Hard debiasing: remove the bias subspace from neutral words, and equalize definitional words."""

from dataclasses import dataclass
from typing import override

import numpy as np

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import (
    DebiasWords,
    DebiasWordsLike,
    Sets,
    as_debias_words,
    check_disjoint,
    spelled,
    spelled_sets_in,
)
from bayesbias.debias.method import FittedMethod, Method, Words, chosen_rows, documented_like, row_blocks
from bayesbias.debias.subspace import Subspace, bias_subspace
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import unit_rows


@dataclass(frozen=True, eq=False, repr=False)
class FittedHardDebias(FittedMethod):
    """A bias subspace to remove, and sets to equalize.

    Parameters
    ----------
    sets
        The word lists.
    subspace
        The bias subspace, which `transform` removes.

    Notes
    -----
    Neutral words become ``(w - w_B) / norm(w - w_B)``, with w_B their projection on the subspace; then each set E to
    equalize, of mean mu, becomes ``nu + sqrt(1 - norm(nu)^2) (w_B - mu_B) / norm(w_B - mu_B)`` with
    ``nu = mu - mu_B``, so that all its words are equally near to every neutral word. All changed vectors have length 1.

    A set is equalized if all its words are targets, even if they are ignored, as by Bolukbasi et al. Ignored words are
    not neutralized; by default they are the specific words. In `ignore` and in the sets to equalize, "man" stands for
    "Man" and "MAN" too, where the embedding has them. Sets of which it has no spelling whole are left out with a
    `LostWordsWarning`; a `MeasureError` names a set whose words do not differ in the subspace.
    """

    _label = "hard-debiased ({sets.name})"

    sets: DebiasWords
    subspace: Subspace

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "components": len(self.subspace.directions)}

    @property
    def _dimensions(self) -> int:
        return len(self.subspace.directions[0])

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        targets, neutral = chosen_rows(source, target, ignore, self.sets.specific)
        row_of_word = {word: row for row, word in enumerate(source.words)}
        to_equalize = self.sets.equalize or ()
        equalized = [np.array([row_of_word[word] for word in words]) for words in spelled_sets_in(source, to_equalize)]
        # Words of sets that lost another word are not neutral either.
        in_sets = [word for words in to_equalize for word in words]
        ignored = self.sets.specific if ignore is None else ignore
        not_neutral = [*source.lookup(in_sets).matches.values(), *spelled([*in_sets, *ignored])]
        neutral[[row_of_word[word] for word in not_neutral if word in row_of_word]] = False
        vectors = source.vectors.copy()
        for rows in row_blocks(np.flatnonzero(neutral)):
            vectors[rows] = self._neutralized(source, rows)
        for rows in equalized:
            if targets[rows].all():
                vectors[rows] = self._equalized(source, rows)
        return self._with_vectors(source, vectors)

    def _neutralized(self, embedding: Embedding, rows: Integers) -> Floats:
        directions = self.subspace.directions
        units = unit_rows(embedding.vectors[rows])
        left = units - units @ directions.T @ directions
        length = np.linalg.norm(left, axis=1, keepdims=True)
        if length.min() < ROUNDING:
            word = embedding.words[rows[int(np.argmin(length))]]
            raise MeasureError(
                f"The vector of {word!r} lies wholly in the bias subspace of {self.sets.name!r}, so nothing would be "
                "left of it. Put the word into `ignore` or into a set to equalize."
            )
        left /= length
        # Once more, because the division magnifies what rounding left of the subspace.
        neutral: Floats = left - left @ directions.T @ directions
        return neutral

    def _equalized(self, embedding: Embedding, rows: Integers) -> Floats:
        directions = self.subspace.directions
        units = unit_rows(embedding.vectors[rows])
        mean = units.mean(axis=0)
        common = mean - mean @ directions.T @ directions
        along = (units - mean) @ directions.T
        length = np.linalg.norm(along, axis=1, keepdims=True)
        if length.min() < ROUNDING:
            words = [embedding.words[row] for row in rows]
            raise MeasureError(
                f"In the set to equalize {name_some(map(repr, words))}, {words[int(np.argmin(length))]!r} does "
                "not differ from the set's mean along the bias subspace, so it cannot be moved apart. Leave the set "
                "out of `equalize`."
            )
        scale = np.sqrt(max(0.0, 1 - float(common @ common)))
        equal: Floats = common + scale * (along / length) @ directions
        return equal


@dataclass(frozen=True)
class HardDebias(Method[FittedHardDebias]):
    """Hard debiasing of Bolukbasi et al. (pairs) and Manzini et al. (sets of any size).

    Parameters
    ----------
    components
        Number of directions to remove. None (default): one fewer than the largest definitional set has words, so 1 for
        pairs and 2 for sets of three.

    Raises
    ------
    MeasureError
        In `fit`: if a word is in two sets to equalize.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but the bias, words whose meaning includes the
    bias (such as "beard"), and the whole vocabulary.

    **What it changes.** Every other word loses its part in the subspace and is scaled to length 1; the words of each
    set to equalize become equally near to all neutral words. The subspace is found among vectors of length 1 that are
    not centred.

    **What it cannot do.** Remove bias. It removes one subspace: words that leaned the same way remain neighbours, from
    which the gender of a word can be recovered (Gonen and Goldberg 2019). A contrast between words that were equalized
    is 0 by construction, whatever it meant.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama and Kalai (2016), Man is to computer programmer as woman is to homemaker?
    Debiasing word embeddings, arXiv:1607.06520, section 5, "neutralize" and "equalize". Manzini, Lim, Tsvetkov and
    Black (2019), Black is to criminal as Caucasian is to police: detecting and removing multiclass bias in word
    embeddings, arXiv:1904.04047, section 2.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.1, 1], [-0.5, 1, 0]], name="toy")
    >>> fitted = bb.debias.HardDebias().fit(embedding, [["he", "she"]], name="gender")
    >>> debiased = fitted.transform(embedding)
    >>> debiased.name
    'toy, hard-debiased (gender)'
    >>> bool(abs(fitted.subspace.directions @ debiased["nurse"]) < 1e-6)
    True
    """

    name = "hard"

    components: int | None = None

    @override
    @documented_like(
        Method.fit,
        equalize="""Sets to equalize. None (default): those of `sets`, or the definitional sets if it has none. An empty
        list equalizes none.""",
    )
    def fit(
        self,
        embedding: EmbeddingLike,
        sets: DebiasWordsLike,
        *,
        equalize: Sets | None = None,
        name: str | None = None,
    ) -> FittedHardDebias:
        return super().fit(embedding, as_debias_words(sets, equalize=equalize), name=name)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedHardDebias:
        check_disjoint(words.equalize or ())
        return FittedHardDebias(words, bias_subspace(source, words, components=self.components))
