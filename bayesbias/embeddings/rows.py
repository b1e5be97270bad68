"""Rows that readers return, their words and their memory; vectors in memory as rows."""

from collections.abc import KeysView, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import input_file
from bayesbias.base.machine import Allowance, check_memory
from bayesbias.embeddings.embedding import Embedding, Vectors, as_vectors, check_rows, check_word_list
from bayesbias.embeddings.vocabulary_sample import WantedWithSample
from bayesbias.errors import EmbeddingError, InputFileError

# Far above any real embedding, and low enough that a wrong header cannot claim much memory.
MOST_DIMENSIONS = 100_000

# A Python string, and its entries in a list and two dictionaries.
BYTES_A_WORD = 250
# Largest compression factor of gzip.
_MOST_PACKED = 1032
_ADVICE = "Read only the words that you need, with words=[...], or allow more memory."

Wanted = frozenset[str] | None
"""Words to keep in normal form (NFC), or None for all."""


def is_wanted(word: str, wanted: Wanted, row: int, source: object = "The vectors") -> bool:
    r"""Return whether the stored word of a row, counted from 0, is to be kept; fast readers do so in their loops.

    >>> is_wanted("a\u0308hre", frozenset(["\u00e4hre"]), 0)
    True
    """
    if wanted is None or word.isascii():
        return wanted is None or word in wanted
    return normalized(word, where=f"{source}, row {row + 1}: ") in wanted


def may_skip(word: str, wanted: Wanted) -> bool:
    """Return whether the row of a stored word may be left out: nobody asked for it, it is one of a sample."""
    return isinstance(wanted, WantedWithSample) and wanted.only_sampled(normalized(word))


def in_sample(word: str, wanted: Wanted) -> bool:
    """Return whether a stored word is in the final sample."""
    return isinstance(wanted, WantedWithSample) and wanted.is_sampled(normalized(word))


@dataclass(frozen=True)
class Rows:
    """Rows of a source, not yet checked.

    `words` has one word a row, possibly with repeats; `vectors` has shape (words, dimensions). `places` are the places
    of the rows, counted in `unit`: ``"line"`` or ``"row"`` (from 1), or ``"byte"`` (from 0).
    """

    words: list[str]
    vectors: Vectors
    places: list[int]
    unit: str

    def where(self, row: int) -> str:
        """Return the place of a row, such as ``"at line 7"``."""
        return f"at {self.unit} {self.places[row]}"


def checked(rows: Rows, source: str) -> tuple[tuple[str, ...], Vectors]:
    """Return words and vectors without repeats.

    Raises `EmbeddingError` if a word is listed twice with different vectors, or a vector is zero or holds a NaN or an
    infinity.
    """
    try:
        check_rows(rows.words, rows.vectors, where=rows.where)
    except EmbeddingError as error:
        raise EmbeddingError(f"{source}: {error}") from error
    first: dict[str, int] = {}
    for row, word in enumerate(rows.words):
        first_row = first.setdefault(word, row)
        if first_row != row and (rows.vectors[first_row] != rows.vectors[row]).any():
            raise EmbeddingError(
                f"{source}: the word {word!r} is listed {rows.where(first_row)} and again {rows.where(row)} with "
                "another vector. Remove one of them, or leave the word out with words=[...]."
            )
    vectors = rows.vectors if len(first) == len(rows.words) else rows.vectors[list(first.values())]
    return tuple(first), vectors


def check_input(path: Path) -> None:
    """Raise `InputFileError` if `path` is not an ordinary file with content."""
    if input_file(path).stat().st_size == 0:
        raise InputFileError(f"{path} is empty. Download or write it again.")


def decode(word: bytes, *, source: str, where: str) -> str:
    """Return a word; raise `EmbeddingError` if its bytes are not UTF-8."""
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise EmbeddingError(
            f"{source}: the word {word[:40]!r} {where} is not UTF-8 ({error.reason}). Save the file in "
            "UTF-8, for example with iconv. If other words look wrong too, the file is damaged or in another format."
        ) from error


def check_header(words: int, dimensions: int, source: str) -> None:
    """Raise `EmbeddingError` if a header's numbers are impossible."""
    if words < 1 or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{source}: its header promises {words} words of {dimensions} dimensions, which cannot be right "
            f"(at least 1 word, 1 to {MOST_DIMENSIONS} dimensions). The file is damaged or in another format."
        )


def check_room(words: int, dimensions: int, wanted: Wanted, path: Path, *, bytes_a_number: int = 4) -> None:
    """Raise `NotEnoughMemoryError` if the wanted words of a file do not fit into the free memory.

    If the header promises more words than the file can hold, the reader reports it later.
    """
    words = min(words, path.stat().st_size * _MOST_PACKED // dimensions, words if wanted is None else len(wanted))
    check_memory(
        words * (dimensions * bytes_a_number + BYTES_A_WORD),
        f"{path}: {words:,} words of {dimensions} dimensions",
        _ADVICE,
    )


def row_allowance(path: Path) -> Allowance:
    """Return the memory for the rows that are kept of a file, to be counted while they are read.

    A header may promise too few of them, or there is none, and a compressed file may hold any number.
    """
    return Allowance(f"{path}: its rows", _ADVICE)


def from_object(source: object, wanted: Wanted) -> Rows:
    """Return the rows of any object that holds words and vectors.

    Raises `EmbeddingError` if the object is of no known kind, or its words and vectors do not match.
    """
    keyed = from_keyed_vectors(source, wanted)
    if keyed is not None:
        return keyed
    if isinstance(source, Embedding):
        return _wanted_rows(source.words, source.vectors, wanted)
    if isinstance(source, Mapping):
        chosen = {
            word: source[word] for row, word in enumerate(check_word_list(source)) if is_wanted(word, wanted, row)
        }
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
    words = check_word_list(index)
    rows = np.fromiter(index.values(), dtype=np.intp, count=len(words))
    in_order = len(rows) == len(matrix) and bool((rows == np.arange(len(rows))).all())
    return _wanted_rows(words, matrix if in_order else matrix[rows], wanted)


def _wanted_rows(words: Any, vectors: Any, wanted: Wanted) -> Rows:
    if isinstance(words, Set) and not isinstance(words, Mapping | KeysView):
        raise EmbeddingError("The words of a matrix are a set, which has no order. Give them as a list, row by row.")
    try:
        names = check_word_list(words)
    except TypeError as error:
        raise EmbeddingError(f"The words cannot be listed: {error}. Give a pair (words, matrix).") from error
    matrix = as_vectors(vectors)
    if len(names) != len(matrix):
        raise EmbeddingError(
            f"There are {len(names)} words but {len(matrix)} vectors. Give one vector per word, in order."
        )
    if wanted is None:
        return Rows(list(names), matrix, list(range(1, len(names) + 1)), "row")
    chosen = [row for row, name in enumerate(names) if is_wanted(name, wanted, row)]
    return Rows([names[row] for row in chosen], matrix[chosen], [row + 1 for row in chosen], "row")
