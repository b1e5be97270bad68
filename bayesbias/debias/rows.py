"""Rows of an embedding: the words to change, and blocks of rows."""

from collections.abc import Iterable

import numpy as np

from bayesbias.base.arrays import Integers
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_words
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

    Raises
    ------
    LostWordsError
        If the embedding lacks a target word.

    Warns
    -----
    LostWordsWarning
        If it lacks a word of `ignore`. If `ignore` is None, `unchanged` takes its place without a warning.
    """
    if isinstance(target, str) or isinstance(ignore, str):
        raise MeasureError("`target` and `ignore` are lists of words, not a string. Write ['nurse'], for example.")
    row_of_word = {word: row for row, word in enumerate(embedding.words)}
    targets = np.ones(len(embedding), dtype=bool)
    if target is not None:
        target = check_words(target)
        embedding.matrix(target)  # names all absent words, with a hint
        targets[:] = False
        targets[[row_of_word[form] for form in embedding.lookup(target).matches.values()]] = True
    ignored = embedding.lookup(unchanged if ignore is None else check_words(ignore))
    if ignored.lost and ignore is not None:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(ignored.lost)} of the words to ignore "
            f"({name_some(ignored.lost)}).",
            LostWordsWarning,
        )
    chosen = targets.copy()
    chosen[[row_of_word[form] for form in ignored.matches.values()]] = False
    return targets, chosen
