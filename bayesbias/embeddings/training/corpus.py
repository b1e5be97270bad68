"""Corpora: texts of any source, read once into numbers of words; and the types of training functions."""

import os
import re
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import compiled
from bayesbias.base.checks import check_type, normalized
from bayesbias.base.files.inputs import corpus_files, is_folder, printable
from bayesbias.base.machine import Allowance, check_memory
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import check_word_list
from bayesbias.errors import EmbeddingError, InputFileError

type CorpusLike = str | os.PathLike[str] | Iterable[Sequence[str]]
"""A corpus: a text file (gzipped or not), a folder of them without links out of it, or lists of words."""

type Advance = Callable[[float], None]
"""Called with the number of words processed since the last call."""
type Trainer = Callable[[int, Advance], dict[str, NDArray[np.float32]]]
"""Trains with a seed, and returns arrays of shape (words, dimensions), including ``vectors``."""

DOCUMENT_END = -1
_BYTES_A_TOKEN = 4
_BYTES_A_PLACE = 8  # in a list
# Distinct words are in a dictionary with their numbers, in a tuple, and thrice as texts while they are hashed.
_TEXTS_A_WORD, _BYTES_A_WORD = 3, 150
_RARE = -2  # a word without a vector, while documents are drawn
_RESAMPLING = 0xD0C5  # separates the draws of documents from those of a training with the same seed
# Pairs of places in memory at once, 12 bytes each.
PAIRS_AT_ONCE = 1 << 25


def tokenize(text: str) -> list[str]:
    """Return the words of `text` in lower case, without numbers and punctuation except inner hyphens and apostrophes.

    Words are in Unicode's normal form NFC; a mark on a letter, such as a vowel sign, belongs to its word.

    >>> tokenize("The short-term rate was 3.5 %, she said.")
    ['the', 'short-term', 'rate', 'was', 'she', 'said']
    """
    text = text.lower()
    if text.isascii():
        return _token("").findall(text)
    # A capital I with a dot becomes two characters in lower case.
    text = normalized(text).replace("i\u0307", "i")
    return _token("".join(sorted(_marks() & set(text)))).findall(text)


@cache
def _marks() -> frozenset[str]:
    """Return the characters that belong to the letter before them, and joiners within words, as in Persian."""
    marks = (sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign) in ("Mn", "Mc"))
    return frozenset([*marks, "\u200c", "\u200d"])


@lru_cache(maxsize=1024)
def _token(marks: str) -> re.Pattern[str]:
    """Return the pattern of a word: letters with these marks, joined by hyphens or apostrophes."""
    letters = rf"[^\W\d_]+(?:[{marks}]+[^\W\d_]*)*" if marks else r"[^\W\d_]+"
    return re.compile(rf"{letters}(?:['\u2019-]{letters})*")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as numbers of words.

    - `words`: words that get a vector, most frequent first; equally frequent ones in reverse order of appearance, as in
      gensim.
    - `counts`: number of occurrences of each word, shape (words,).
    - `stream`: int32 array with the place of each word in `words`, or ``len(words)`` for a rare word without a vector;
      `DOCUMENT_END` ends each document.
    - `documents`, `tokens`: numbers of documents with at least one word, and of words, rare ones included.
    - `name`, `sha256`: name of the source, and hash of all words in order.
    """

    words: tuple[str, ...]
    counts: NDArray[np.int64]
    stream: NDArray[np.int32]
    documents: int
    tokens: int
    name: str
    sha256: str

    def facts(self) -> dict[str, Any]:
        """Return the description of the corpus that is stored with vectors trained on it."""
        return {"name": self.name, "sha256": self.sha256, "documents": self.documents, "tokens": self.tokens}


def read_corpus(source: CorpusLike, *, min_count: int) -> Corpus:
    """Return a corpus, read once into 4 bytes per word; words with fewer than `min_count` occurrences get no vector.

    Raises `EmbeddingError` if fewer than two words occur `min_count` times, or a document is not a list of words.
    Raises `InputFileError` if a file cannot be read, is not UTF-8, or a folder has no text.
    """
    numbers_by_word: dict[str, int] = {}
    stream = array("i")
    documents = 0
    allowance = Allowance("The words of the corpus", "Train on a part of it.")
    for place, tokens in enumerate(_documents(source)):
        if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence):
            raise EmbeddingError(
                f"Document {place} of the corpus is of type {type(tokens).__name__}, not a list of words. Split it "
                "into words."
            )
        before = len(numbers_by_word)
        try:
            stream.extend([numbers_by_word.setdefault(token, len(numbers_by_word)) for token in tokens])
        except TypeError as error:
            raise EmbeddingError(
                f"Document {place} of the corpus holds something that is not a word: {error}."
            ) from error
        if tokens:
            documents += 1
            stream.append(DOCUMENT_END)
        new = len(numbers_by_word) - before
        texts = _TEXTS_A_WORD * sum(map(sys.getsizeof, islice(reversed(numbers_by_word), new)))
        allowance.take(_BYTES_A_TOKEN * (len(tokens) + 1) + _BYTES_A_WORD * new + texts)
    words, numbers = check_word_list(numbers_by_word), np.frombuffer(stream, dtype=np.int32)
    content = sha256("\0".join(words).encode())
    content.update(np.ascontiguousarray(numbers, dtype="<i4").data)
    vocabulary, counts, ranks = _ranked(words, numbers, min_count)
    total = len(numbers) - documents
    if len(vocabulary) < 2:
        raise EmbeddingError(
            f"{f'Only the word {vocabulary[0]!r} occurs' if vocabulary else 'No word occurs'} {min_count} times or "
            f"more in the {counted(total, 'word')} of the {documents:,} documents, so there is nothing to train. Give "
            "more text or a smaller min_count."
        )
    check_memory(_BYTES_A_TOKEN * len(numbers), f"{total:,} words of a corpus", "Train on a part of it.")
    return Corpus(vocabulary, counts, ranks[numbers], documents, total, _name(source), content.hexdigest())


def resampled(corpus: Corpus, seed: int) -> Corpus:
    """Return a corpus of as many documents, drawn from those of another with replacement.

    The words with a vector are those of the whole corpus that the drawn documents have, sorted by their counts there.
    The draws do not depend on those of a training with the same seed.

    >>> texts = [["a", "b", "a"], ["b", "c"], ["c", "a"]]
    >>> drawn = resampled(read_corpus(texts, min_count=1), seed=2)
    >>> drawn.words, drawn.counts.tolist(), drawn.documents
    (('a', 'b', 'c'), [5, 2, 1], 3)
    """
    ends = np.flatnonzero(corpus.stream == DOCUMENT_END)
    starts = np.concatenate([[0], ends[:-1] + 1])
    rng = np.random.default_rng([seed, _RESAMPLING])
    chosen = rng.integers(len(ends), size=len(ends))
    lengths = ends[chosen] - starts[chosen] + 1
    check_memory(_BYTES_A_TOKEN * 4 * int(lengths.sum()), "a resampled corpus", "Train on a part of it.")
    before = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts[chosen] - before, lengths)
    numbers = corpus.stream[places]
    numbers[numbers == len(corpus.words)] = _RARE
    is_word = numbers >= 0
    words, counts, ranks = _ranked(corpus.words, numbers[is_word], 1)
    stream = np.full(len(numbers), DOCUMENT_END, dtype=np.int32)
    stream[is_word] = ranks[numbers[is_word]]
    stream[numbers == _RARE] = len(words)
    tokens = int(lengths.sum()) - len(ends)
    return Corpus(words, counts, stream, len(ends), tokens, corpus.name, corpus.sha256)


def check_neighbours(corpus: Corpus, min_count: int) -> None:
    """Raise `EmbeddingError` if no document has two words with a vector: their vectors would stay random."""
    has_vector = (corpus.stream >= 0) & (corpus.stream < len(corpus.words))
    before = np.concatenate([[0], np.cumsum(has_vector)[corpus.stream == DOCUMENT_END]])
    if np.diff(before).max() < 2:
        raise EmbeddingError(
            f"No two of the {counted(len(corpus.words), 'word')} with at least {min_count} occurrences occur in the "
            "same document, so there is nothing to train. Give longer documents or a smaller min_count."
        )


def _ranked(
    words: tuple[str, ...], numbers: NDArray[np.int32], min_count: int
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int32]]:
    """Return the words with a vector, their counts, and the rank of each number, `DOCUMENT_END` last."""
    counts = np.bincount(numbers[numbers >= 0], minlength=len(words))
    order = np.lexsort((-np.arange(len(words)), -counts))
    order = order[counts[order] >= min_count]
    ranks = np.full(len(words) + 1, len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    ranks[-1] = DOCUMENT_END
    return tuple(words[place] for place in order), counts[order].astype(np.int64), ranks


def _name(source: CorpusLike) -> str:
    return printable(Path(source).name) if isinstance(source, str | os.PathLike) else "lists of words"


def _documents(source: CorpusLike) -> Iterator[Sequence[str]]:
    if not isinstance(source, str | os.PathLike):
        yield from check_type("corpus", source, Iterable, "a text file, a folder of them, or lists of words")
        return
    path = Path(source)
    is_one_document_a_line = not is_folder(path)
    for file, lines in corpus_files(path):
        if is_one_document_a_line:
            yield from _tokenized(file, lines)
            return
        document: list[str] = []
        allowance = Allowance(f"{file}: its words", "Divide it into several files, each a document.")
        for line in _tokenized(file, lines):
            allowance.take(sum(map(sys.getsizeof, line)) + _BYTES_A_PLACE * len(line))
            document += line
        yield document


def _tokenized(path: Path, lines: Iterator[bytes]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, 1):
        try:
            yield tokenize(line.decode())
        except EmbeddingError as error:
            raise InputFileError(f"{path}: line {number}: {error}") from error
        except UnicodeDecodeError as error:
            raise InputFileError(
                f"{path}: line {number} is not UTF-8 ({error.reason} at its byte {error.start}). Save the text as "
                "UTF-8, for example with iconv."
            ) from error


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """The lower triangle of a symmetric matrix, for some of its rows.

    `first` is the first row; row ``first + k`` has its entries at ``starts[k]:starts[k + 1]`` of `columns` (at most the
    row number, in order of appearance) and `values` (sums of 1 / distance; twice that on the diagonal).
    """

    first: int
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]


def count_cooccurrences(
    stream: NDArray[np.int32], words: int, window: int, pairs_at_once: int = PAIRS_AT_ONCE
) -> list[Cooccurrences]:
    """Return the co-occurrences of words at most `window` words apart in a document, each counted as 1 / distance.

    Pennington, Socher and Manning (2014), section 4.2. A pair belongs to the row of its rarer word, because such rows
    are short; rows are counted in parts, with only the pairs of one part in memory.

    - `stream`: words as int32 numbers from 0, most frequent first; negative numbers end a document.
    - `window`: largest distance.
    - `pairs_at_once`: pairs in memory at once, unless a single row has more.
    """
    parts: list[Cooccurrences] = []
    ends, first = np.cumsum(pairs_by_row(stream, words, window)), 0
    while first < words:
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + pairs_at_once, side="right")))
        starts = np.concatenate([[0], ends[first:last] - before])
        parts.append(Cooccurrences(first, *_of_rows(stream, first, starts, window)))
        first = last
    return parts


@compiled
def pairs_by_row(stream, words, window):
    """Return the number of pairs in each row: pairs of a word with words that are at least as frequent."""
    counts = np.zeros(words, np.int64)
    for place in range(stream.shape[0]):
        word = stream[place]
        if word < 0:
            continue
        for distance in range(1, min(window, place) + 1):
            other = stream[place - distance]
            if other < 0:
                break
            counts[max(word, other)] += 1
    return counts


@compiled
def _of_rows(stream, first, starts, window):
    """Return starts, columns and values of the rows from `first` whose pairs are at `starts`."""
    rows = starts.shape[0] - 1
    column = np.empty(starts[rows], np.int32)
    distance_of = np.empty(starts[rows], np.int32)
    free = starts[:rows].copy()
    for place in range(stream.shape[0]):
        row = stream[place] - first
        if row < 0 or row >= rows:
            continue
        for distance in range(1, min(window, place) + 1):
            other = stream[place - distance]
            if other < 0:
                break
            if other <= row + first:
                column[free[row]], distance_of[free[row]] = other, distance
                free[row] += 1
        for distance in range(1, min(window, stream.shape[0] - 1 - place) + 1):
            other = stream[place + distance]
            if other < 0:
                break
            if other < row + first:
                column[free[row]], distance_of[free[row]] = other, distance
                free[row] += 1
    sums = np.zeros(first + rows)
    merged = np.zeros(rows + 1, np.int64)
    value = np.empty(starts[rows], np.float32)
    for row in range(rows):
        size = merged[row]  # of the merged entries, which overwrite pairs that were read
        for pair in range(starts[row], starts[row + 1]):
            other = column[pair]
            if sums[other] == 0:
                column[size] = other
                size += 1
            sums[other] += (2.0 if other == row + first else 1.0) / distance_of[pair]
        merged[row + 1] = size
        for entry in range(merged[row], size):
            value[entry] = sums[column[entry]]
            sums[column[entry]] = 0
    size = merged[rows]
    return merged, column[:size].copy(), value[:size].copy()
