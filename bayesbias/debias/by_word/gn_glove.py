"""GN-GloVe's neutral part: vectors without the component that holds gender."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias.base.checks import check_count
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.subspace import chosen_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError


@dataclass(frozen=True)
class GNGloVe:
    """The neutral part of vectors that Zhao et al.'s GN-GloVe was trained to: all components but the last.

    Parameters
    ----------
    components
        How many components at the end hold what is removed, 1 in the source.

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1.

    Notes
    -----
    **What it needs.** Vectors that GN-GloVe trained: no other vectors have gender in their last component. No words.
    Look at that component of a few definitional pairs: GN-GloVe drives the words of each apart there, all pairs the
    same way. Here vectors are refused if it is the same for all words, or for both words of every pair that you give.

    **What it changes.** Every word loses its last component, w_g; the others, w_a, stay as they are.

    **What it cannot do.** Debias other vectors: there it only drops an arbitrary component. Nor is the rest without
    gender: clustering and classifiers find it again (Gonen and Goldberg 2019).

    References
    ----------
    Zhao, Zhou, Li, Wang and Chang (2018), Learning gender-neutral word embeddings, EMNLP 2018, 4847-4853, section 3.
    Dawkins (2021), section 3.1: GN-GloVe(w_a).

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she"), [[1, 0.2, 1], [-1, 0.2, -1]], name="toy")
    >>> bb.debias.GNGloVe().fit(embedding, [["he", "she"]]).transform(embedding)["he"]
    array([1. , 0.2])
    """

    components: int = 1

    def __post_init__(self) -> None:
        check_count("components", self.components)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedGNGloVe":
        """Check that something will be left of the vectors, and something be gone; nothing is learnt.

        Parameters
        ----------
        embedding
            Vectors that GN-GloVe trained.
        sets, name
            As for the other methods; no word is needed.

        Raises
        ------
        MeasureError
            If the vectors have no more components than are to be dropped, or these hold nothing of what is removed:
            they are the same for all words, or for the words of each definitional set.
        """
        found = whole_embedding(embedding)
        if found.dimensions <= self.components:
            raise MeasureError(
                f"The vectors of {found.name!r} have {found.dimensions} components, so none would be left without the "
                f"last {self.components}. Give vectors that GN-GloVe trained."
            )
        words = as_debias_words(sets, name=name)
        forms = [list(found.lookup(each).found.values()) for each in words.definitional]
        whole = [found.stored(each) for each in forms if len(each) > 1]
        for lists, what in (([found.vectors], "all words"), (whole, f"the words of each set of {words.name!r}")):
            if lists and not any(np.ptp(rows[:, -self.components :], axis=0).any() for rows in lists):
                raise MeasureError(
                    f"What is to be dropped of {found.name!r} is the same for {what}, so it holds nothing of what is "
                    "removed. Give vectors that GN-GloVe trained."
                )
        return FittedGNGloVe(words, self.components, found.dimensions)


@dataclass(frozen=True, eq=False, repr=False)
class FittedGNGloVe(Described):
    """The number of components to drop.

    Parameters
    ----------
    sets
        The words.
    components
        How many components are dropped.
    dimensions
        How many there are before.
    """

    sets: DebiasWords
    components: int
    dimensions: int

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "components": self.components, "dimensions": self.dimensions}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding without the last components; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target, ignore
            Checked, as in other methods; but all words lose the components, or they would no longer be comparable.

        Returns
        -------
        Embedding
            The same words, number type and case rule, in fewer dimensions.

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
        embedding = whole_embedding(embedding, dimensions=self.dimensions)
        chosen_rows(embedding, target, ignore)
        vectors = np.ascontiguousarray(embedding.vectors[:, : -self.components])
        dropped = "component" if self.components == 1 else f"{self.components} components"
        name = f"{embedding.name}, without its last {dropped}"
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)
