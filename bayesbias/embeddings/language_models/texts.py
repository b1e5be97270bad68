"""Texts of a corpus, their contexts, and the places of words in contexts.

A word is a run of letters, marks and digits, as in models that split texts at punctuation. Each character is looked up
in two tables, which finds millions of words in a second.
"""

import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_type, is_text
from bayesbias.base.files.inputs import corpus_files, file_size, printable, text_files
from bayesbias.errors import EmbeddingError, InputFileError

type TextsLike = str | os.PathLike[str] | Iterable[str]
"""Texts of a corpus: a file with one paragraph a line (gzipped or not), a folder of such files (``.txt``,
``.txt.gz``), or an iterable of paragraphs."""

_SENTENCE_ENDS = (". ", "! ", "? ")
BYTES_A_WORD = 6.0  # of English, for progress bars
_LINE_END, _SPACE = ord("\n"), ord(" ")
_WORDS = 1 << 24  # more than a context has, so that context and place make one number


def read_texts(source: TextsLike) -> Iterator[bytes]:
    """Yield the paragraphs of a corpus as UTF-8, without line ends.

    Raises `InputFileError` if a file cannot be read, or a folder has no text. Raises `EmbeddingError` if a given
    paragraph is no text.
    """
    if not isinstance(source, str | os.PathLike):
        wanted = "a text file, a folder of them, or paragraphs"
        if hasattr(source, "columns"):  # a frame would give the names of its columns
            raise EmbeddingError("The corpus is a table. Give the column with the texts: table['text'].")
        for number, text in enumerate(check_type("corpus", source, Iterable, wanted)):
            if not is_text(text):
                raise EmbeddingError(f"Paragraph {number} of the corpus is {text!r:.40}, which is no text. Give texts.")
            yield text.replace("\n", " ").encode()
        return
    for _, lines in corpus_files(Path(source)):
        for line in lines:
            yield line.rstrip(b"\r\n")


def paragraphs(source: TextsLike) -> Iterator[str]:
    """Yield the paragraphs of a corpus as texts; raise `InputFileError` if one is not UTF-8."""
    for number, text in enumerate(read_texts(source), 1):
        yield decoded(text, number, source)


def decoded(text: bytes, number: int, source: TextsLike) -> str:
    """Return a paragraph as text; `number` is its place in the corpus."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"{corpus_name(source)}: line {number} is not UTF-8 ({error.reason} at its byte {error.start}). Save the "
            "text as UTF-8, for example with iconv."
        ) from error


def corpus_hash(paragraphs: Iterable[bytes]) -> str:
    """Return the hash of the paragraphs of a corpus, independent of its place and compression."""
    content = sha256()
    for text in paragraphs:
        content.update(text + b"\n")
    return content.hexdigest()


def corpus_size(source: TextsLike) -> float:
    """Return the approximate number of words of a corpus, for a progress bar."""
    if isinstance(source, str | os.PathLike):
        sizes = ((3 if file.suffix == ".gz" else 1) * file_size(file) for file in text_files(Path(source)))
        return sum(sizes) / BYTES_A_WORD
    return sum(map(len, source)) / BYTES_A_WORD


def corpus_name(source: TextsLike) -> str:
    """Return the name of a corpus in messages."""
    return printable(Path(source).name) if isinstance(source, str | os.PathLike) else "paragraphs"


def cut(text: str, longest: int) -> Iterator[str]:
    """Yield pieces of a paragraph of at most `longest` characters, cut at ends of sentences, or else at spaces.

    >>> list(cut("One dog. Two cats and a horse.", 20))
    ['One dog.', 'Two cats and a', 'horse.']
    """
    start = 0
    while len(text) - start > longest:
        end = max(text.rfind(mark, start, start + longest) for mark in _SENTENCE_ENDS) + 2
        if end <= start + 1:
            end = text.rfind(" ", start, start + longest) + 1
        if end <= start:
            end = start + longest
        if piece := text[start:end].strip():
            yield piece
        start = end
    if piece := text[start:].strip():
        yield piece


@cache
def _tables() -> tuple[NDArray[np.bool_], NDArray[np.uint32]]:
    """Return for every character whether it is part of a word, and its lower case, or a space if it is not."""
    letters = list(map(chr, range(0x110000)))
    inside = np.array([unicodedata.category(letter)[0] in "LMN" for letter in letters])
    lower = np.full(len(letters), _SPACE, dtype=np.uint32)
    for place in np.flatnonzero(inside).tolist():
        small = letters[place].lower()
        lower[place] = ord(small) if len(small) == 1 else place  # one character each, so that places do not change
    return inside, lower


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def word_texts(contexts: list[str]) -> list[str]:
    """Return contexts without line ends in lower case, with spaces for all characters outside words.

    >>> word_texts(["The dog's Café, 1990!"])
    ['the dog s café  1990 ']
    """
    codes = _codes("\n".join(contexts))
    words = _tables()[1][codes]
    words[codes == _LINE_END] = _LINE_END
    return words.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass").split("\n")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case.

    >>> words_of("The dog's T-shirt")
    ['the', 'dog', 's', 't', 'shirt']
    """
    return word_texts([text.replace("\n", " ")])[0].split()


def word_places(contexts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each context's first word among all words, and where each word starts and ends (exclusive).

    Characters are counted within a context.

    >>> first, starts, ends = word_places(["A dog", "Two cats"])
    >>> first.tolist(), starts.tolist(), ends.tolist()
    ([0, 2], [0, 2, 0, 4], [1, 5, 3, 8])
    """
    inside = np.concatenate([[False], _tables()[0][_codes("\n".join(contexts))], [False]])
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = changes[::2], changes[1::2]
    begins = np.concatenate([[0], np.cumsum([len(context) + 1 for context in contexts])[:-1]]).astype(np.int64)
    first = np.searchsorted(starts, begins)
    of_context = begins[np.searchsorted(begins, starts, side="right") - 1]
    return first, starts - of_context, ends - of_context


def spans(contexts: list[str], rows: NDArray[Any], words: NDArray[Any], length: NDArray[Any]) -> NDArray[np.int64]:
    """Return where words or phrases start and end (exclusive): an array of shape (words, 2).

    `rows` are their contexts, `words` the places of their first words there, `length` their numbers of words.

    >>> spans(["Two hot dogs"], np.array([0]), np.array([1]), np.array([2]))
    array([[ 4, 12]])

    Raises `IndexError` if a context has fewer words.
    """
    first, starts, ends = word_places(contexts)
    counts = np.diff(np.append(first, len(starts)))
    if (words < 0).any() or (words + length > counts[rows]).any():
        raise IndexError("a context has fewer words")
    place = first[rows] + words
    return np.stack([starts[place], ends[place + length - 1]], axis=1)


Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Occurrences of a word or phrase in the contexts of a corpus, in order.

    `contexts` and `words` have one number for each occurrence: the context, and the place in it of the first of the
    `length` words.
    """

    contexts: Places
    words: Places
    length: int

    def __len__(self) -> int:
        return len(self.contexts)

    @cached_property
    def keys(self) -> Places:
        """Context and place as one number."""
        return self.contexts * _WORDS + self.words

    @cached_property
    def distinct(self) -> Places:
        """The distinct contexts."""
        return np.unique(self.contexts)

    def inside(self, contexts: Places) -> "Occurrences":
        """Return the occurrences in some contexts, whose numbers ascend."""
        inside = _is_in(self.contexts, contexts)
        return Occurrences(self.contexts[inside], self.words[inside], self.length)

    @staticmethod
    def following(parts: "list[Occurrences]") -> "Occurrences":
        """Return the occurrences of successive words; none if there are no words."""
        if not parts:
            return Occurrences(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 1)
        first = parts[0]
        is_phrase = np.ones(len(first), dtype=bool)
        for step, part in enumerate(parts[1:], 1):
            is_phrase &= _is_in(first.keys + step, part.keys)
        return Occurrences(first.contexts[is_phrase], first.words[is_phrase], len(parts))


@dataclass(frozen=True, eq=False)
class Shared:
    """The contexts that hold both words of a pair, with the places of the words where they are nearest."""

    contexts: Places
    cue_words: Places
    response_words: Places

    @staticmethod
    def none() -> "Shared":
        """Return no contexts."""
        return Shared(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def shared_contexts(cue: Occurrences, response: Occurrences) -> Shared:
    """Return the contexts that hold two words, with the places of the words where they are nearest.

    >>> cue = Occurrences(np.array([1, 3, 3]), np.array([0, 2, 9]), 1)
    >>> response = Occurrences(np.array([2, 3]), np.array([4, 7]), 1)
    >>> shared = shared_contexts(cue, response)
    >>> shared.contexts.tolist(), shared.cue_words.tolist(), shared.response_words.tolist()
    ([3], [9], [7])
    """
    contexts = np.intersect1d(cue.distinct, response.distinct, assume_unique=True)
    if not len(contexts):
        return Shared.none()
    cue, response = cue.inside(contexts), response.inside(contexts)
    # For each occurrence of the cue, the occurrences of the response before and after it, if in the same context.
    after = np.searchsorted(response.keys, cue.keys)
    neighbours = np.stack([np.maximum(after - 1, 0), np.minimum(after, len(response) - 1)])
    distances = np.where(
        response.contexts[neighbours] == cue.contexts, abs(response.words[neighbours] - cue.words), _WORDS
    )
    nearer = distances.argmin(axis=0)
    least = np.take_along_axis(distances, nearer[None], axis=0)[0]
    order = np.lexsort((least, cue.contexts))
    first = order[np.searchsorted(cue.contexts[order], contexts)]
    return Shared(contexts, cue.words[first], response.words[neighbours[nearer[first], first]])


def _is_in(values: Places, ascending: Places) -> NDArray[np.bool_]:
    """Return whether each of some numbers is among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    is_in: NDArray[np.bool_] = ascending[place] == values
    return is_in
