"""Hard debiasing: take the bias subspace out of neutral words, and make definitional words equally near to them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words, check_disjoint, spelled, spelled_sets_in
from bayesbias.debias.subspace import (
    ROUNDING,
    Subspace,
    bias_subspace,
    chosen_rows,
    row_blocks,
    unit_rows,
    whole_embedding,
)
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, name_some


@dataclass(frozen=True)
class HardDebias:
    """Hard debiasing of Bolukbasi et al. (pairs) and Manzini et al. (sets of any size).

    Parameters
    ----------
    components
        Number of directions to remove. None (default): one fewer than the largest definitional set has words, that
        is 1 for pairs and 2 for sets of three.

    Notes
    -----
    **What it needs.** Definitional sets of words that differ in nothing but what is removed, words that mean what is
    removed (such as "beard"), and the whole vocabulary.

    **What it changes.** Every other word loses its part in the subspace and gets length 1; the words of each set to
    equalize become equally near to all words that were neutralized.

    **What it cannot do.** Take bias away. It takes one subspace away: words that leaned the same way remain neighbours,
    from which the gender of a word can be read again (Gonen and Goldberg 2019). A gap between words that were equalized
    closes by construction, whatever it meant.

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

    components: int | None = None

    def fit(
        self,
        embedding: EmbeddingLike,
        sets: str | os.PathLike[str] | DebiasWords | Sets,
        *,
        equalize: Sets | None = None,
        name: str | None = None,
    ) -> "FittedHardDebias":
        """Find the bias subspace.

        Parameters
        ----------
        embedding
            Its vectors are brought to unit length first, and not centred.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        equalize
            Sets to equalize. None (default): those of `sets`, or the definitional sets if it has none of its own. An
            empty list equalizes none.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If the sets are not usable, none is left in this embedding, or a word is in two sets to equalize.

        Warns
        -----
        LostWordsWarning
            If sets are left out because the embedding lacks a word.
        """
        words = as_debias_words(sets, equalize=equalize, name=name)
        check_disjoint(words.equalize or ())
        return FittedHardDebias(words, bias_subspace(embedding, words, components=self.components))


@dataclass(frozen=True, eq=False, repr=False)
class FittedHardDebias(Described):
    """A bias subspace, ready to be removed.

    Parameters
    ----------
    sets
        The words.
    subspace
        The directions that `transform` removes.
    """

    sets: DebiasWords
    subspace: Subspace

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "components": len(self.subspace.directions)}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding without the bias subspace; the given one is not touched.

        Neutralized words become ``(w - w_B) / norm(w - w_B)``, with w_B their projection on the subspace; then each
        set E to equalize, of mean mu, becomes ``nu + sqrt(1 - norm(nu)^2) (w_B - mu_B) / norm(w_B - mu_B)`` with
        ``nu = mu - mu_B``, so that all its words are equally near to every neutralized word.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to change. None (default): all. A set is equalized if all its words are targets.
        ignore
            Words that are not neutralized because they mean what is removed; sets to equalize are equalized all the
            same, as by Bolukbasi et al. None (default): the specific words of the sets. Here and in the sets to
            equalize, "man" stands for "Man" and "MAN" too, where the embedding has them.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Changed vectors have unit length, the others are the very
            same numbers. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs, nothing is left of a word that is to be neutralized, or the words of
            a set to equalize do not differ in the subspace.

        Warns
        -----
        LostWordsWarning
            If sets are not equalized because the embedding lacks a word in every spelling, or words to ignore are
            absent.
        """
        directions = self.subspace.directions
        embedding = whole_embedding(embedding, dimensions=directions.shape[1])
        given = ignore if ignore is None or isinstance(ignore, str) else list(ignore)
        targets, neutral = chosen_rows(embedding, target, given, self.sets.specific)
        place = {word: row for row, word in enumerate(embedding.words)}
        equalized = [
            np.array([place[word] for word in words]) for words in spelled_sets_in(embedding, self.sets.equalize or ())
        ]
        # Nor is a word neutral whose set lost another one.
        in_sets = [word for words in self.sets.equalize or () for word in words]
        spared = self.sets.specific if given is None else given
        kept = [*embedding.lookup(in_sets).found.values(), *spelled([*in_sets, *spared])]
        neutral[[place[word] for word in kept if word in place]] = False
        vectors = embedding.vectors.copy()
        for rows in row_blocks(np.flatnonzero(neutral)):
            vectors[rows] = self._neutralized(embedding, rows)
        for rows in equalized:
            if targets[rows].all():
                vectors[rows] = self._equalized(embedding, rows)
        name = f"{embedding.name}, hard-debiased ({self.sets.name})"
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)

    def _neutralized(self, embedding: Embedding, rows: np.ndarray) -> np.ndarray:
        directions = self.subspace.directions
        units = unit_rows(embedding.vectors[rows])
        left = units - units @ directions.T @ directions
        length = np.linalg.norm(left, axis=1, keepdims=True)
        if len(rows) and length.min() < ROUNDING:
            word = embedding.words[rows[int(np.argmin(length))]]
            raise MeasureError(
                f"The vector of {word!r} lies wholly in the bias subspace of {self.sets.name!r}: nothing would be left "
                "of it. Put the word into `ignore` or into a set to equalize."
            )
        left /= length
        # Once more, because the division magnifies what rounding left of the subspace.
        neutral: np.ndarray = left - left @ directions.T @ directions
        return neutral

    def _equalized(self, embedding: Embedding, rows: np.ndarray) -> np.ndarray:
        directions = self.subspace.directions
        units = unit_rows(embedding.vectors[rows])
        mean = units.mean(axis=0)
        common = mean - mean @ directions.T @ directions
        own = (units - mean) @ directions.T
        length = np.linalg.norm(own, axis=1, keepdims=True)
        if length.min() < ROUNDING:
            words = [embedding.words[row] for row in rows]
            raise MeasureError(
                f"In the set to equalize {name_some(map(repr, words))}, {words[int(np.argmin(length))]!r} does "
                "not differ from the set's mean along the bias subspace, so it cannot be moved apart. Leave the set "
                "out of `equalize`."
            )
        scale = np.sqrt(max(0.0, 1 - float(common @ common)))
        equal: np.ndarray = common + scale * (own / length) @ directions
        return equal
