"""What debiasing methods share: settings with `fit`, and the fitted method with `transform`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from inspect import cleandoc, getdoc
from textwrap import indent
from typing import Any, ClassVar

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.statements import Described
from bayesbias.debias.debias_words import DebiasWords, DebiasWordsLike, as_debias_words, check_has
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_word_list
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user

_BLOCK = 10_000


def row_blocks(rows: Integers) -> list[Integers]:
    """Return rows in blocks that are small beside a large embedding; no block is empty."""
    return np.array_split(rows, -(-len(rows) // _BLOCK)) if len(rows) else []


def whole_embedding(embedding: EmbeddingLike, *, dimensions: int | None = None) -> Embedding:
    """Return an embedding with all its words; raise `MeasureError` if it has other dimensions than the fitted one."""
    source: Embedding = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    if dimensions not in (None, source.dimensions):
        raise MeasureError(
            f"The method was fitted to vectors of {dimensions} dimensions; those of {source.name!r} have "
            f"{source.dimensions}. Fit it to this embedding."
        )
    return source


def chosen_rows(
    embedding: Embedding, target: Iterable[str] | None, ignore: Iterable[str] | None, unchanged: Iterable[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of bool over rows: whether a row is a target, and whether it is a target not to be ignored.

    Raises `LostWordsError` if the embedding lacks a target word.

    Gives a `LostWordsWarning` if it lacks a word of `ignore`. If `ignore` is None, `unchanged` takes its place without
    a warning.
    """
    if isinstance(target, str) or isinstance(ignore, str):
        raise MeasureError("`target` and `ignore` are lists of words, not a string. Write ['nurse'], for example.")
    row_of_word = {word: row for row, word in enumerate(embedding.words)}
    targets = np.ones(len(embedding), dtype=bool)
    if target is not None:
        target = check_word_list(target)
        embedding.matrix(target)  # names all absent words, with a hint
        targets[:] = False
        targets[[row_of_word[form] for form in embedding.lookup(target).matches.values()]] = True
    ignored = embedding.lookup(unchanged if ignore is None else check_word_list(ignore))
    if ignored.lost and ignore is not None:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(ignored.lost)} of the words to ignore "
            f"({name_some(ignored.lost)}).",
            LostWordsWarning,
        )
    chosen = targets.copy()
    chosen[[row_of_word[form] for form in ignored.matches.values()]] = False
    return targets, chosen


type Words = Sequence[str] | None


class Method[Fitted](ABC):
    """A debiasing method; its settings are the fields of a frozen dataclass.

    The Notes of its docstring have three parts: **What it needs.**, **What it changes.** and **What it cannot do.**
    """

    name: ClassVar[str] = ""
    """Name of the method in `METHODS`; empty: it is not there."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Fields of `DebiasWords` that the method needs besides `definitional`."""

    def fit(self, embedding: EmbeddingLike, sets: DebiasWordsLike, *, name: str | None = None) -> Fitted:
        """Return the method fitted to an embedding.

        Parameters
        ----------
        embedding
            An embedding with all its words.
        sets
            Word lists: a name of `list_debias_words`, the path of a TOML file, `DebiasWords`, or a list of
            definitional sets such as ``[["he", "she"], ["man", "woman"]]``.
        name
            Name of the bias; part of the debiased embedding's name. Default: that of `sets`.

        Returns
        -------
        object
            The fitted method, whose ``transform(embedding)`` returns the debiased embedding.

        Raises
        ------
        MeasureError
            If the word lists are not usable, or they or the embedding lack what the method needs.

        Warns
        -----
        LostWordsWarning
            If the embedding lacks words of the lists.
        """
        return self._fit(*self._inputs(embedding, sets, name))

    def _inputs(
        self, embedding: EmbeddingLike, sets: DebiasWordsLike, name: str | None
    ) -> tuple[Embedding, DebiasWords]:
        words = as_debias_words(sets, name=name)
        for field in self.needs:
            check_has(words, field, type(self).__name__)
        return whole_embedding(embedding), words

    @abstractmethod
    def _fit(self, source: Embedding, words: DebiasWords) -> Fitted:
        """Return the fitted method; `words` has all lists of `needs`."""


class FittedMethod(Described):
    """A fitted debiasing method.

    A subclass defines `_moved`, which debiases a block of rows, or `_debiased` if rows depend on each other.
    """

    _label: ClassVar[str]
    """What the debiased embedding's name says of the method; fields of the fitted method stand in braces."""

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return the debiased embedding; the given one is not changed.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to change. None (default): all.
        ignore
            Words that keep their vectors. None (default): those that the method leaves unchanged.

        Returns
        -------
        Embedding
            The same words, number type and case rule; unchanged words have exactly the same numbers. Its name says
            what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs from that of the fitted embedding, or nothing is left of a vector.

        Warns
        -----
        LostWordsWarning
            If the embedding lacks words of `ignore`.
        """
        source = whole_embedding(embedding, dimensions=self._dimensions)
        return self._debiased(source, as_list(target), as_list(ignore))

    def _debiased(self, source: Embedding, target: Words, ignore: Words) -> Embedding:
        _, chosen = chosen_rows(source, target, ignore, self._unchanged)
        vectors = source.vectors.copy()
        for rows in row_blocks(np.flatnonzero(chosen)):
            vectors[rows] = self._moved(source, rows)
        return self._with_vectors(source, vectors)

    def _with_vectors(self, source: Embedding, vectors: Floats) -> Embedding:
        return with_vectors(source, vectors, self._label.format(**vars(self)))

    @property
    def _dimensions(self) -> int | None:
        """Dimensions of the fitted vectors; None: not checked."""
        return None

    @property
    def _unchanged(self) -> Sequence[str]:
        """Words that keep their vectors if `ignore` is None."""
        return ()

    def _moved(self, source: Embedding, rows: Integers) -> Floats:
        raise NotImplementedError


def with_vectors(source: Embedding, vectors: Floats, label: str) -> Embedding:
    """Return an embedding of the same words with other vectors, and a label after its name."""
    steps, sample = (*source.steps, label), source.vocabulary_sample
    return Embedding(
        source.words,
        vectors,
        name=f"{source.name}, {label}",
        case=source.case,
        steps=steps,
        # Some methods remove dimensions.
        vocabulary_sample=sample if sample is not None and sample.shape[1] == vectors.shape[1] else None,
    )


def as_list(words: Iterable[str] | None) -> Words:
    """Return words as a list that can be read twice; a string, which is an error, stays one."""
    return words if words is None or isinstance(words, str) else list(words)


def documented_like[**P, R](
    shared: Callable[..., Any], **parameters: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that gives an override the docstring of what it overrides, with parameters of its own.

    >>> documented = documented_like(Method.fit, neutral="Words to turn away.")(lambda: None).__doc__
    >>> print(documented[documented.index("Default") : documented.index("Returns")].strip())
    Default: that of `sets`.
    neutral
        Words to turn away.
    """
    before, heading, after = (getdoc(shared) or "").partition("\n\nReturns\n")
    additions = "".join(f"\n{name}\n{indent(cleandoc(text), '    ')}" for name, text in parameters.items())

    def documented(override: Callable[P, R]) -> Callable[P, R]:
        override.__doc__ = f"{before}{additions}{heading}{after}"
        return override

    return documented
