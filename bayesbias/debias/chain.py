"""Several methods in sequence."""

from dataclasses import dataclass
from typing import Any

from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.method import FittedMethod, Method, Words
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import ArgumentError


@dataclass(frozen=True, eq=False, repr=False)
class FittedChain(FittedMethod):
    """Fitted methods, applied in sequence, each with the same `target` and `ignore`.

    Parameters
    ----------
    fitted
        The fitted method of each.
    """

    fitted: tuple[Any, ...]

    @property
    def _facts(self) -> Facts:
        return {"methods": [type(method).__name__ for method in self.fitted]}

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        for method in self.fitted:
            source = method.transform(source, target=target, ignore=ignore)
        return source


@dataclass(frozen=True, init=False)
class Chain(Method[FittedChain]):
    """Several methods in sequence: each is fitted to the embedding that the previous one debiased.

    Parameters
    ----------
    methods
        Methods in their order, such as ``GNGloVe(), MISP()``.

    Raises
    ------
    ArgumentError
        If there is no method, or one has no ``fit``.

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
            raise ArgumentError("A chain needs at least one method, such as Chain(GNGloVe(), MISP()).")
        for method in methods:
            if isinstance(method, type) or not callable(getattr(method, "fit", None)):
                raise ArgumentError(
                    f"{method!r} is not a debiasing method. Give some, such as Chain(GNGloVe(), MISP())."
                )
        object.__setattr__(self, "methods", methods)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedChain:
        fitted = [self.methods[0].fit(source, words)]
        for method in self.methods[1:]:
            source = fitted[-1].transform(source)
            fitted.append(method.fit(source, words))
        return FittedChain(tuple(fitted))
