"""Texts of a corpus, their contexts, and the places of words in contexts.

A word is a run of letters, marks and digits, as in models that split texts at punctuation. Each character is looked up
in two tables, which finds millions of words in a second.
"""

import os
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_type, is_text
from bayesbias.base.files.contents import read_lines
from bayesbias.base.files.inputs import printable, text_files
from bayesbias.errors import EmbeddingError, InputFileError

type TextsLike = str | os.PathLike[str] | Iterable[str]
"""Texts of a corpus: a file with one paragraph a line (gzipped or not), a folder of such files (``.txt``,
``.txt.gz``), or an iterable of paragraphs."""

_SENTENCE_ENDS = (". ", "! ", "? ")
BYTES_A_WORD = 6.0  # of English, for progress bars
_LINE_END, _SPACE = ord("\n"), ord(" ")


def read_texts(source: TextsLike) -> Iterator[bytes]:
    """Yield the paragraphs of a corpus as UTF-8, without line ends.

    Raises
    ------
    InputFileError
        If a file cannot be read, or a folder has no text.
    EmbeddingError
        If a given paragraph is no text.
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
    for path in text_files(Path(source)):
        for line in read_lines(path):
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
        sizes = ((3 if file.suffix == ".gz" else 1) * file.stat().st_size for file in text_files(Path(source)))
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

    Raises
    ------
    IndexError
        If a context has fewer words.
    """
    first, starts, ends = word_places(contexts)
    counts = np.diff(np.append(first, len(starts)))
    if (words < 0).any() or (words + length > counts[rows]).any():
        raise IndexError("a context has fewer words")
    place = first[rows] + words
    return np.stack([starts[place], ends[place + length - 1]], axis=1)
