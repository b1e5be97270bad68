"""Distance tables as codes and numbers, with each word stored once."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.base.checks import shown
from bayesbias.tables.measures import COSINE_DISTANCE, Measure

WORD_COLUMNS = ("protected_word", "protected_group", "attribute_word", "attribute_group")
PAIR_COLUMNS = (*WORD_COLUMNS, "connection")
# Types of columns of words in pandas: texts, and numbers such as years.
_WORDS_MAY_BE = ("string", "integer", "floating", "mixed-integer", "mixed-integer-float", "boolean", "empty")
# Rows in memory at a time.
_BLOCK = 2**18
# Largest number of pairs that are counted in a bitmap instead of by sorting.
_LARGEST_BITMAP = 50_000_000


@dataclass(frozen=True, eq=False)
class WordCodes:
    """A column of words as codes.

    - `codes` (array of int, shape (rows,)): positions in `words`; -1 where a word is missing.
    - `words` (array of str objects): distinct words; some may have no rows.
    """

    codes: np.ndarray
    words: np.ndarray

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of rows of each word."""
        return count_codes(self.codes, len(self.words))

    def by_appearance(self) -> "WordCodes":
        """Return the same rows with only the words that occur, in order of appearance."""
        used = np.flatnonzero(self.counts)
        first = np.full(len(self.words), len(self.codes), dtype=np.int64)
        for rows in blocks(len(self.codes)):
            part = self.codes[rows]
            first_in_part = np.full(len(self.words), len(self.codes), dtype=np.int64)
            # Written backwards, so that the first row of a word is written last.
            first_in_part[part[::-1]] = np.arange(rows.stop, rows.start, -1) - 1
            np.minimum(first, first_in_part, out=first)
            if first[used].max() < len(self.codes):
                break
        order = used[np.argsort(first[used])]
        position = np.zeros(len(self.words), dtype=np.int64)
        position[order] = np.arange(len(order))
        return WordCodes(relabel(self.codes, position, code_type(len(order))), self.words[order])


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A distance table as codes and numbers.

    - `words` (dict of WordCodes): of each word column and of `connection`.
    - `distance` (array of float64, shape (rows,)): the numbers of `measure`.
    - `similarity` (array of float64, shape (rows,), or None): None is 1 - `distance`.
    """

    words: dict[str, WordCodes]
    distance: np.ndarray
    similarity: np.ndarray | None = None
    measure: Measure = COSINE_DISTANCE

    def hash(self) -> str:
        """Return the hash of the rows: for each word column its sorted words and their positions, then the numbers."""
        digest = hashlib.sha256(b"bayesbias table 2")
        for column in PAIR_COLUMNS:
            coded = self.words[column]
            used = np.flatnonzero(coded.counts)
            order = used[np.argsort(coded.words[used])]
            encoded = [word.encode("utf-8", "surrogatepass") for word in coded.words[order]]
            digest.update(json.dumps([len(self.distance), *map(len, encoded)]).encode() + b"".join(encoded))
            # One place more, for the code -1 of a missing word.
            position = np.full(len(coded.words) + 1, len(order), dtype="<u2" if len(order) < 2**16 else "<u4")
            position[order] = np.arange(len(order))
            for rows in blocks(len(coded.codes)):
                digest.update(position[coded.codes[rows]].tobytes())
        for rows in blocks(len(self.distance)):
            digest.update(self.distance[rows].astype("<f8", copy=False).tobytes())
        if self.measure.column != COSINE_DISTANCE.column:
            digest.update(json.dumps(self.measure.record()).encode())
            return digest.hexdigest()[:16]
        for rows in blocks(len(self.distance)):
            part = 1.0 - self.distance[rows] if self.similarity is None else self.similarity[rows]
            digest.update(part.astype("<f8", copy=False).tobytes())
        return digest.hexdigest()[:16]

    def repeated_pairs(self) -> int:
        """Return the number of rows that repeat a pair of an earlier row."""
        protected, attribute = self.words["protected_word"], self.words["attribute_word"]
        rows, size = len(self.distance), len(protected.words) * len(attribute.words)
        if size <= min(_LARGEST_BITMAP, 10 * rows + 1_000_000):
            present = np.zeros(size, dtype=bool)
            for block in blocks(rows):
                present[self._pairs(block)] = True
            return rows - int(np.count_nonzero(present))
        pairs = np.concatenate([self._pairs(block) for block in blocks(rows)])
        pairs.sort()
        return int(np.count_nonzero(pairs[1:] == pairs[:-1]))

    def _pairs(self, rows: slice) -> np.ndarray:
        protected, attribute = self.words["protected_word"], self.words["attribute_word"]
        pairs: np.ndarray = protected.codes[rows].astype(np.int64) * len(attribute.words) + attribute.codes[rows]
        return pairs

    def example(self, row: int) -> str:
        """Return the words of a row, for a message."""
        protected, attribute = (self.words[name] for name in ("protected_word", "attribute_word"))
        return f"{protected.words[protected.codes[row]]!r} with {attribute.words[attribute.codes[row]]!r}"


def code_words(column: pd.Series) -> WordCodes:
    """Return a column of words as codes; categories are not spelled out row by row."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.array.codes, column.cat.categories  # column.cat.codes is a copy
    else:
        # Hashes of Python's texts are random; those of Arrow's texts, and of numbers, can be chosen, and a search then
        # takes quadratic time.
        if not isinstance(column.dtype, pd.StringDtype) and pd.api.types.infer_dtype(column, skipna=True) != "string":
            column = column.map(str, na_action="ignore")
        codes, values = pd.factorize(column.astype(object))
    words = np.array([str(value) for value in values], dtype=object)
    distinct = list(dict.fromkeys(words))
    if len(distinct) < len(words):  # such as the numbers 1 and the text "1"
        place = {word: position for position, word in enumerate(distinct)}
        position = np.array([*(place[word] for word in words), -1])
        codes, words = relabel(codes, position, np.dtype(np.int64)), np.array(distinct, dtype=object)
    return WordCodes(codes, words)


def no_words(table: pd.DataFrame) -> list[str]:
    """Return a fault for each column of words or connections with values other than text and numbers, such as bytes."""
    faults = []
    for name in (*WORD_COLUMNS, "connection"):
        if name not in table or isinstance(table[name].dtype, pd.StringDtype):
            continue
        column = table[name]
        values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
        if pd.api.types.infer_dtype(values, skipna=True) not in _WORDS_MAY_BE:
            other = next((value for value in values if not isinstance(value, str)), "")
            faults.append(f"{name!r} holds {shown(other)}, a {type(other).__name__} and no text; make it one")
    return faults


def words_as_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose words that are numbers are texts: numbers can be chosen so that pandas is very slow."""
    numbers = [name for name in (*WORD_COLUMNS, "connection") if name in table and table[name].dtype.kind in "biuf"]
    return table.assign(**{name: table[name].map(str, na_action="ignore") for name in numbers})


def to_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, with NaN for other values."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number of hundreds of digits
        return pd.to_numeric(column.map(str), errors="coerce")


def blocks(rows: int) -> Iterator[slice]:
    """Yield slices of rows, which bound the memory of computations."""
    for start in range(0, rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, rows))


def count_codes(codes: np.ndarray, size: int) -> np.ndarray:
    """Return the number of occurrences of each code; negative codes are not counted."""
    counts = np.zeros(size + 1, dtype=np.int64)
    for rows in blocks(len(codes)):
        counts += np.bincount(codes[rows].astype(np.int64) + 1, minlength=size + 1)
    return counts[1:]


def relabel(codes: np.ndarray, position: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return ``position[codes]`` in a data type."""
    position, relabelled = position.astype(dtype), np.empty(len(codes), dtype)
    for rows in blocks(len(codes)):
        relabelled[rows] = position[codes[rows]]
    return relabelled


def code_type(size: int) -> np.dtype:
    """Return the integer type of codes below `size`, at least 16 bits wide."""
    return np.dtype(np.int16 if size <= 2**15 else np.int32 if size <= 2**31 else np.int64)
