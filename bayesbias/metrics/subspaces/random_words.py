"""Words drawn at random from a vocabulary to replace given words."""

from collections.abc import Sequence

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.machine.memory import check_memory
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user

MATCHES = ("rank", "norm")
"""Properties in which drawn words may match those that they replace: the row in the embedding (the frequency rank in
files ordered by frequency, as word2vec, GloVe and fastText write them), or the length of the vector."""

_BLOCK = 10_000


def vocabulary_rows(embedding: Embedding, vocabulary: Sequence[str] | None, without: Sequence[str]) -> Integers:
    """Return the rows of the words to draw from (None: all), in the embedding's order, and warn of words that it lacks.

    >>> vectors = bb.Embedding(words=("a", "b", "c"), vectors=np.eye(3))
    >>> vocabulary_rows(vectors, None, without=["b"])
    array([0, 2])
    """
    if isinstance(vocabulary, str):
        raise MeasureError(f"vocabulary={vocabulary!r}: give a list of words, or None for all.")
    if vocabulary is None:
        rows: Integers = np.arange(len(embedding))
    else:
        lookup = embedding.lookup(vocabulary)
        if lookup.lost:
            warn_user(
                f"The embedding {embedding.name!r} lacks {len(lookup.lost):,} of the {len(vocabulary):,} words of the "
                f"vocabulary ({name_some(lookup.lost)}). Words are drawn from the others.",
                LostWordsWarning,
            )
        rows = np.unique(word_rows(embedding, list(lookup.matches)))
    return np.setdiff1d(rows, word_rows(embedding, without))


def word_rows(embedding: Embedding, words: Sequence[str]) -> Integers:
    """Return the rows of words that an embedding has."""
    row_of = dict.fromkeys(embedding.match(word) for word in words)
    row_of |= {word: row for row, word in enumerate(embedding.words) if word in row_of}
    return np.array([row_of[embedding.match(word)] for word in words], dtype=np.intp)


def replacements(
    embedding: Embedding, rows: Integers, vocabulary: Integers, match: str | None, window: int
) -> Integers:
    """Return the rows of `vocabulary` that may replace each of `rows`, of shape (words to replace, candidates).

    If `match` is None, they are all of the vocabulary; if it is a name in `MATCHES`, the `window` nearest in rank or
    norm. If there are fewer candidates than words to replace, a `MeasureError` is raised.

    >>> vectors = bb.Embedding(words=tuple("abcdef"), vectors=np.eye(6))
    >>> replacements(vectors, np.array([0, 4]), np.array([1, 2, 3, 5]), "rank", 2)
    array([[1, 2],
           [3, 5]])
    """
    if len(vocabulary) < len(rows):
        raise MeasureError(
            f"{len(rows)} words are to be drawn, but the vocabulary has only {len(vocabulary):,} besides those of the "
            "lists. Give an embedding or a vocabulary with more words."
        )
    if match is None:
        return np.broadcast_to(vocabulary, (len(rows), len(vocabulary)))
    if match not in MATCHES:
        raise MeasureError(f"match={match!r}{did_you_mean(str(match), MATCHES)}: give None, {' or '.join(MATCHES)}.")
    if not (isinstance(window, int | np.integer) and len(rows) <= window <= len(vocabulary)):
        raise MeasureError(
            f"window={window!r}: {len(rows)} words are drawn, each from the window of the nearest words in {match}. "
            f"Give a whole number from {len(rows)} to {len(vocabulary):,}, the size of the vocabulary."
        )
    by_rank = match == "rank"
    key = vocabulary.astype(np.float64) if by_rank else _norms(embedding, vocabulary)
    order = np.argsort(key, kind="stable")
    candidates = []
    for value in rows.astype(np.float64) if by_rank else _norms(embedding, rows):
        insertion = int(np.searchsorted(key, value, sorter=order))
        near = order[max(0, insertion - window) : insertion + window]
        candidates.append(vocabulary[near[np.argsort(np.abs(key[near] - value), kind="stable")[:window]]])
    return np.array(candidates)


def draw_rows(candidates: Integers, samples: int, rng: np.random.Generator) -> Integers:
    """Return draws of one candidate for each position, in turn, from those that the draw does not hold yet.

    If all positions have the same candidates, this is drawing without replacement. `candidates` has shape
    (positions, candidates), with at least as many candidates as positions; the result has shape (samples, positions).

    >>> np.sort(draw_rows(np.array([[5, 6], [5, 6]]), 2, np.random.default_rng(0)))
    array([[5, 6],
           [5, 6]])
    """
    words = samples * len(candidates)
    check_memory(2 * 8 * words, f"{samples:,} draws of {len(candidates):,} words", "Take fewer samples.")
    rows = np.empty((samples, len(candidates)), dtype=np.intp)
    for position, choices in enumerate(candidates):
        undrawn = np.arange(samples)
        while len(undrawn):
            rows[undrawn, position] = choices[rng.integers(len(choices), size=len(undrawn))]
            undrawn = undrawn[(rows[undrawn, :position] == rows[undrawn, position, np.newaxis]).any(axis=1)]
    return rows


def _norms(embedding: Embedding, rows: Integers) -> Floats:
    # In blocks, since the vectors may take most of the memory.
    blocks = (embedding.vectors[rows[start : start + _BLOCK]] for start in range(0, len(rows), _BLOCK))
    squares = [np.einsum("ij,ij->i", block, block, dtype=np.float64) for block in blocks]
    norms: Floats = np.sqrt(np.concatenate(squares))
    return norms
