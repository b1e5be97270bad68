"""Methods one after the other."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words
from bayesbias.debias.subspace import whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ArgumentError


@dataclass(frozen=True, init=False)
class Chain:
    """Methods one after the other: each is fitted to what the one before it made.

    Parameters
    ----------
    methods
        Such as ``GNGloVe(), MISP()``.

    Raises
    ------
    ArgumentError
        If there is none, or one has no ``fit``.

    References
    ----------
    Dawkins (2021), section 5: GN-GloVe(w_a).MISP had the lowest error of the paper.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, -1], [-0.5, 1, 0]], name="toy")
    >>> chain = bb.debias.Chain(bb.debias.GNGloVe(), bb.debias.LinearProjection())
    >>> debiased = chain.fit(embedding, [["he", "she"]], name="gender").transform(embedding)
    >>> debiased["nurse"] + 0.0, debiased.name
    (array([0., 1.]), 'toy, without its last component, linear-debiased (gender)')
    """

    methods: tuple[Any, ...]

    def __init__(self, *methods: Any) -> None:
        if not methods:
            raise ArgumentError("A chain has no method. Give some, such as Chain(GNGloVe(), MISP()).")
        for method in methods:
            if isinstance(method, type) or not callable(getattr(method, "fit", None)):
                raise ArgumentError(f"{method!r} is no debiasing method. Give some, such as Chain(GNGloVe(), MISP()).")
        object.__setattr__(self, "methods", methods)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedChain":
        """Fit each method to what those before it make of the embedding.

        Parameters
        ----------
        embedding
            An embedding with all its words.
        sets
            The words that the methods need.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.
        """
        words, current = as_debias_words(sets, name=name), whole_embedding(embedding)
        fitted = []
        for place, method in enumerate(self.methods, start=1):
            fitted.append(method.fit(current, words))
            if place < len(self.methods):
                current = fitted[-1].transform(current)
        return FittedChain(tuple(fitted))


@dataclass(frozen=True, eq=False, repr=False)
class FittedChain(Described):
    """Fitted methods, ready to be applied one after the other.

    Parameters
    ----------
    fitted
        What each method's ``fit`` returned.
    """

    fitted: tuple[Any, ...]

    @property
    def _facts(self) -> Facts:
        return {"methods": [type(each).__name__ for each in self.fitted]}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding that went through all methods; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target, ignore
            Words to change, and not to change, by each method.
        """
        words, spared = (each if each is None or isinstance(each, str) else list(each) for each in (target, ignore))
        current = whole_embedding(embedding)
        for each in self.fitted:
            current = each.transform(current, target=words, ignore=spared)
        return current
