"""Vectors in memory: gensim's objects, a mapping, or words with a matrix."""

from collections.abc import KeysView, Mapping, Set
from typing import Any

import numpy as np

from bayesbias.embeddings.embedding import Embedding, as_vectors, check_words
from bayesbias.embeddings.rows import Rows, Wanted, is_wanted
from bayesbias.errors import EmbeddingError


def from_object(source: object, wanted: Wanted) -> Rows:
    """Return the rows of any object that holds words and vectors.

    Raises
    ------
    EmbeddingError
        If the object is of no known kind, or its words and vectors do not match.
    """
    keyed = from_keyed_vectors(source, wanted)
    if keyed is not None:
        return keyed
    if isinstance(source, Embedding):
        return _wanted_rows(source.words, source.vectors, wanted)
    if isinstance(source, Mapping):
        chosen = {word: source[word] for word in check_words(source) if is_wanted(word, wanted)}
        if source and not chosen:
            return Rows([], np.empty((0, 1), dtype=np.float32), [], "row")
        return _wanted_rows(tuple(chosen), list(chosen.values()), None)
    if isinstance(source, tuple) and len(source) == 2:
        if np.ndim(source[0]) == 2:
            raise EmbeddingError("The pair is (matrix, words). Give (words, matrix), the words first.")
        return _wanted_rows(*source, wanted)
    if hasattr(source, "index") and hasattr(source, "to_numpy"):  # a frame of pandas, a word a row
        return _wanted_rows(tuple(source.index), source.to_numpy(), wanted)
    raise EmbeddingError(
        f"An object of type {type(source).__name__} is no embedding. Give the path of a file, gensim "
        "KeyedVectors, a mapping of words to vectors, a pair (words, matrix), or a frame whose index has the words."
    )


def from_keyed_vectors(source: object, wanted: Wanted) -> Rows | None:
    """Return the rows of gensim KeyedVectors, or of a model that has them as ``.wv``; None for anything else.

    They are recognised by their attributes, because importing gensim takes most of a second.
    """
    vectors: Any = getattr(source, "wv", source)
    index, matrix = getattr(vectors, "key_to_index", None), getattr(vectors, "vectors", None)
    if not isinstance(index, Mapping) or not isinstance(matrix, np.ndarray):
        return None
    # `word in keyed_vectors` is true of every word if vectors are made of n-grams; only the index has real words.
    words = check_words(index)
    rows = np.fromiter(index.values(), dtype=np.intp, count=len(words))
    in_order = len(rows) == len(matrix) and bool((rows == np.arange(len(rows))).all())
    return _wanted_rows(words, matrix if in_order else matrix[rows], wanted)


def _wanted_rows(words: Any, vectors: Any, wanted: Wanted) -> Rows:
    if isinstance(words, Set) and not isinstance(words, Mapping | KeysView):
        raise EmbeddingError("The words of a matrix are a set, which has no order. Give them as a list, row by row.")
    try:
        names = check_words(words)
    except TypeError as error:
        raise EmbeddingError(f"The words cannot be listed: {error}. Give a pair (words, matrix).") from error
    matrix = as_vectors(vectors)
    if len(names) != len(matrix):
        raise EmbeddingError(
            f"There are {len(names)} words but {len(matrix)} vectors. Give one vector per word, in order."
        )
    if wanted is None:
        return Rows(list(names), matrix, list(range(1, len(names) + 1)), "row")
    chosen = [row for row, name in enumerate(names) if is_wanted(name, wanted)]
    return Rows([names[row] for row in chosen], matrix[chosen], [row + 1 for row in chosen], "row")
