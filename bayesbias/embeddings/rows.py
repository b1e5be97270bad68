"""Rows that readers return, their words and their memory; vectors in memory as rows."""

from collections.abc import KeysView, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import LEAST_SQUARE
from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import file_size, input_file
from bayesbias.base.machine import Allowance, check_memory
from bayesbias.embeddings.embedding import QUANTISED, Embedding, Vectors, as_vectors, check_rows, check_word_list
from bayesbias.embeddings.vocabulary_sample import WantedWithSample
from bayesbias.errors import EmbeddingError, InputFileError, LostWordsWarning, name_some, warn_user, worded

# Far above any real embedding, and low enough that a wrong header cannot claim much memory.
MOST_DIMENSIONS = 100_000

# A Python string, and its entries in a list and two dictionaries.
BYTES_A_WORD = 250
# Largest compression factor of gzip.
_MOST_PACKED = 1032
_FEW, _MOST_NAMED = 8, 5
# Toy vectors, written by hand, may have any numbers.
_FEWEST_ROWS, _FEWEST_DIMENSIONS, _CHECKED_ROWS, _FEWEST_QUANTISED, _LEAST_RANGE = 8, 6, 500, 16, 16
_NEARLY_ALL = 0.99
_MOST_COLUMNS = 2  # that are no dimensions

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


class KeptRows:
    """Rows that a reader keeps; of a word, the first, and the first that differs from it: all others say no more.

    - `unit`: what places are counted in (see `Rows`).
    """

    def __init__(self, path: Path, dimensions: int, unit: str) -> None:
        self.words: list[str] = []
        self.places: list[int] = []
        self._unit, self._width = unit, 4 * dimensions
        self._take = row_allowance(path).take
        self._data = bytearray()
        self._first: dict[str, int] = {}
        self._differing: set[str] = set()

    def add(self, word: str, place: int, numbers: bytes) -> None:
        """Keep a row of float32 numbers; raise `NotEnoughMemoryError` if all rows take more memory than was free."""
        row = len(self.words)
        first = self._first.setdefault(word, row)
        if first != row:
            start = first * self._width
            if word in self._differing or self._data[start : start + self._width] == numbers:
                return
            self._differing.add(word)
        self._take(self._width + BYTES_A_WORD + len(word))
        self.words.append(word)
        self.places.append(place)
        self._data += numbers

    def rows(self) -> Rows:
        """Return all rows."""
        vectors = np.frombuffer(self._data, dtype="<f4").reshape(len(self.words), self._width // 4)
        return Rows(self.words, vectors, self.places, self._unit)


class SkippedRows:
    """Rows of a file that are left out, because their words are not UTF-8: a warning names them, unless they are many.

    - `limit`: one row in so many may be left out; more are no accident.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.count = 0
        self.first: list[EmbeddingError] = []

    def add(self, fault: EmbeddingError) -> None:
        """Note the fault of a row."""
        self.count += 1
        if len(self.first) < _MOST_NAMED:
            self.first.append(fault)

    def settle(self, row_count: int) -> None:
        """Warn of the rows that are left out; raise the first fault if they are more than one in eight."""
        if self.count * _FEW > row_count:
            raise self.first[0]
        if self.count:
            more = f" (and {self.count - 1:,} more)" if self.count > 1 else ""
            warn_user(f"Left out a row{more}. {self.first[0]}", LostWordsWarning)


def without_junk(rows: Rows, source: str, *, wanted: bool) -> tuple[Rows, dict[str, str]]:
    """Return rows without those that have no usable vector, and the reason for each of their words.

    A warning names them. If more than one row in eight is such a row, and they are not `wanted` by name, the rows are
    returned as they are: the file is then damaged, or something else. Of a word with two vectors, none is used.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", rows.vectors, rows.vectors, dtype=np.float64)
    reasons: dict[str, str] = {}
    for row in map(int, np.flatnonzero(~(np.isfinite(squares) & (squares >= LEAST_SQUARE)))):
        fault = "is zero" if not rows.vectors[row].any() else "has no direction: it is not finite, or too short"
        reasons[rows.words[row]] = f"its vector {rows.where(row)} {fault}"
    first: dict[str, int] = {}
    for row, word in enumerate(rows.words):
        first_row = first.setdefault(word, row)
        if first_row != row and word not in reasons and (rows.vectors[first_row] != rows.vectors[row]).any():
            reasons[word] = f"it has two vectors, {rows.where(first_row)} and {rows.where(row)}"
    if not reasons or (not wanted and len(reasons) * _FEW > len(rows.words)):
        return rows, {}
    keep = [row for row, word in enumerate(rows.words) if word not in reasons]
    named = name_some((f"{word!r} ({reason})" for word, reason in reasons.items()), _MOST_NAMED)
    counted_words = f"{len(reasons):,} word" + "s" * (len(reasons) > 1)
    warn_user(f"{source}: left out {counted_words} without a usable vector: {named}.", LostWordsWarning)
    words, places = [rows.words[row] for row in keep], [rows.places[row] for row in keep]
    return Rows(words, rows.vectors[keep], places, rows.unit), reasons


def column_fault(vectors: Vectors, *, everywhere: bool = True) -> str:
    """Return what is wrong with a matrix whose numbers are not those of a vector a word; empty if nothing is.

    A column of whole numbers among others that are none is a count, an index or the number of a sense; a column that
    carries nearly all of every length is a count, too. Whole numbers of one byte everywhere are quantised vectors.
    Unless `everywhere`, such a column is sought at both ends only: arrays of a language model have a dimension that
    carries much of the length, and no column between them that somebody wrote there.

    >>> column_fault(np.column_stack([np.arange(10), np.random.default_rng(1).normal(size=(10, 8))]))[:44]
    'its dimension 1 holds whole numbers (0, 1, 2'
    """
    rows, dimensions = vectors.shape
    if rows < _FEWEST_ROWS or dimensions < _FEWEST_DIMENSIONS:
        return ""
    sample = np.asarray(vectors[:: rows // _CHECKED_ROWS + 1], dtype=np.float64)
    if not np.isfinite(sample).all():
        sample = sample[np.isfinite(sample).all(axis=1)]
    whole = (sample == np.rint(sample)).all(axis=0) & sample.any(axis=0)
    # The number of a sense may be the same in all rows; other columns of vectors are never whole, but may be mostly 0.
    places = np.flatnonzero(whole & ((sample != 0).mean(axis=0) > 0.5))
    ends = (0, dimensions - 1)
    if 0 < len(places) <= _MOST_COLUMNS < dimensions / 2 and (everywhere or (len(places) == 1 and places[0] in ends)):
        more = "" if len(places) == 1 else f", as dimension {places[1] + 1} does"
        return (
            f"its dimension {places[0] + 1} holds whole numbers ({_first(sample, places[0])}, ...){more}, and no other "
            "does: it is a count, an index or the number of a sense, and no dimension. Remove this column."
        )
    squares = np.square(sample)
    nearly_all = (squares > _NEARLY_ALL * squares.sum(axis=1, keepdims=True)).mean(axis=0) > _NEARLY_ALL
    for place in map(int, np.flatnonzero(nearly_all)):
        if everywhere or place in ends:
            return (
                f"its dimension {place + 1} ({_first(sample, place)}, ...) carries over "
                f"{100 * _NEARLY_ALL:g}% of the squared length of nearly every vector: it is a count or a score, and "
                "no dimension. Remove this column."
            )
    if whole.all() and dimensions >= _FEWEST_QUANTISED and (sample != 0).mean() > 0.2:
        low, high = sample.min(), sample.max()
        bits = len(np.unique(sample)) == 2
        if bits or (low >= -128 and high <= 255 and high - low >= _LEAST_RANGE):
            what = f"{low:g} and {high:g} alone" if bits else f"whole numbers from {low:g} to {high:g}"
            return f"it holds {what}: {QUANTISED}"
    return ""


def _first(sample: np.ndarray, place: int) -> str:
    return ", ".join(f"{number:g}" for number in sample[:3, place])


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
                f"another vector. Remove one of them{worded(', or leave the word out with words=[...]', '')}."
            )
    vectors = rows.vectors if len(first) == len(rows.words) else rows.vectors[list(first.values())]
    return tuple(first), vectors


def check_input(path: Path) -> None:
    """Raise `InputFileError` if `path` is not an ordinary file with content."""
    if file_size(input_file(path)) == 0:
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
    words = min(words, file_size(path) * _MOST_PACKED // dimensions, words if wanted is None else len(wanted))
    check_memory(
        words * (dimensions * bytes_a_number + BYTES_A_WORD),
        f"{path}: {words:,} words of {dimensions} dimensions",
        _advice(),
    )


def _advice() -> str:
    return f"Read only the words that you need{worded(', with words=[...]', '')}, or allow more memory."


def row_allowance(path: Path) -> Allowance:
    """Return the memory for the rows that are kept of a file, to be counted while they are read.

    A header may promise too few of them, or there is none, and a compressed file may hold any number.
    """
    return Allowance(f"{path}: its rows", _advice())


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
