"""GN-GloVe's neutral part: vectors without the component that holds gender."""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.checks import check_count
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, Words, chosen_rows, with_vectors
from bayesbias.debias.subspace import without_differences
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import MeasureError


@dataclass(frozen=True, eq=False, repr=False)
class FittedGNGloVe(FittedMethod):
    """The number of components to drop, from all words: `target` and `ignore` are only checked.

    Parameters
    ----------
    sets
        The word lists.
    components
        Number of components to drop.
    dimensions
        Number of components of the fitted vectors.
    """

    sets: DebiasWords
    components: int
    dimensions: int

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "components": self.components, "dimensions": self.dimensions}

    @property
    def _dimensions(self) -> int:
        return self.dimensions

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        chosen_rows(source, target, ignore)
        vectors = np.ascontiguousarray(source.vectors[:, : -self.components])
        dropped = "component" if self.components == 1 else f"{self.components} components"
        return with_vectors(source, vectors, f"without its last {dropped}")


@dataclass(frozen=True)
class GNGloVe(Method[FittedGNGloVe]):
    """The neutral part of vectors that were trained by Zhao et al.'s GN-GloVe: all components but the last.

    Parameters
    ----------
    components
        Number of components at the end that hold the bias, 1 in the source.

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1.
    MeasureError
        In `fit`: if the vectors have no other components, or these components are the same for all words, or for the
        words of each definitional set.

    Notes
    -----
    **What it needs.** Vectors that GN-GloVe trained, as `bb.embeddings.train_embeddings` does with the algorithm
    ``"gn_glove"``: no other vectors have gender in their last component. Needs no word lists. Look at that
    component for a few definitional pairs: GN-GloVe drives the words of each apart there, all pairs the same way.
    Vectors are refused if it is the same for all words, or for both words of every pair.

    **What it changes.** Every word loses its last component, w_g; the others, w_a, stay as they are.

    **What it cannot do.** Debias other vectors: it would only drop an arbitrary component. w_a is not free of gender:
    clustering and classifiers find it again (Gonen and Goldberg 2019).

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

    name = "gn_glove"

    components: int = 1

    def __post_init__(self) -> None:
        check_count("components", self.components)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedGNGloVe:
        if source.dimensions <= self.components:
            raise MeasureError(
                f"The vectors of {source.name!r} have {source.dimensions} components, so none would be left without "
                f"the last {self.components}. Give vectors that GN-GloVe trained."
            )
        last = slice(-self.components, None)
        same = ""
        if not np.ptp(source.vectors[:, last], axis=0).any():
            same = "all words"
        elif without_differences(source, words, last):
            same = f"the words of each set of {words.name!r}"
        if same:
            raise MeasureError(
                f"The last {self.components} components of {source.name!r} are the same for {same}, so they hold no "
                "bias. Give vectors that GN-GloVe trained."
            )
        return FittedGNGloVe(words, self.components, source.dimensions)
