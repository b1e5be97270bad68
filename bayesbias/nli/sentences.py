"""Sentences as rows of a matrix of word vectors: splitting into words, look-up, and words that the vectors lack."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_text, shown
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import LostWordsError, LostWordsWarning, MeasureError, name_some, warn_user

RANDOM_VECTORS = 100
"""Number of random vectors that words without a vector share."""
NULL = 0
"""Row of the empty word at the start of each sentence, to which words without a counterpart can be aligned."""
FIRST = 1 + RANDOM_VECTORS
"""First row of a word of the embedding."""
MOST_WORDS = 1000
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_PARTS = re.compile(r"(.+?)(n't|'\w+)|(.+?)-(.+)")


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence: letters and digits, with hyphens and apostrophes inside.

    >>> words_of("A man isn't mixing 2 well-known drinks.")
    ['A', 'man', "isn't", 'mixing', '2', 'well-known', 'drinks']
    """
    return _WORD.findall(sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


@dataclass(eq=False)
class WordVectors:
    """Vectors of the words that a model has met, as rows of one matrix.

    Row 0 is the empty word, followed by the random vectors of words that the embedding lacks, then by words of the
    embedding. All have length 1.

    - `embedding`: source of vectors of new words; None if only the words of a file are available.
    - `origin`: name of the source in messages.
    - `forms`: words of the embedding, from row `FIRST` on.
    - `matrix` (array, shape (rows, dimensions), float32): vectors.
    - `words`: rows of each word that was met: several if the word was split into parts.
    - `warned`: lost words of which the user has been warned.
    """

    embedding: Embedding | None
    origin: str
    forms: list[str]
    matrix: Floats
    words: dict[str, tuple[int, ...]] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)

    @classmethod
    def from_embedding(cls, embedding: Embedding) -> "WordVectors":
        """Return an instance without words."""
        rng = np.random.default_rng(0)  # the same for all models, whatever the seed of their training
        drawn = rng.standard_normal((FIRST, embedding.dimensions))
        return cls(embedding, f"The embedding {embedding.name!r}", [], unit_word_vectors(drawn))

    @property
    def lost(self) -> tuple[str, ...]:
        """Words met so far that have no vector, or a part without one."""
        return tuple(word for word in self.words if self._is_lost(word))

    def learn(self, sentences: Iterable[str], what: str) -> None:
        """Look up the words of sentences; warn of lost words, once per word.

        Raises `LostWordsError` if no word has a vector, or there are new words but no embedding.
        """
        counts: dict[str, int] = {}
        for sentence in sentences:
            for word in words_of(sentence):
                counts[word] = counts.get(word, 0) + 1
        new = [word for word in counts if word not in self.words]
        if new and self.embedding is None:
            raise LostWordsError(
                f"{self.origin} has no vectors of {counted(len(new), 'word')} of {what}: {name_some(new)}. It has "
                "only words that the model had met when it was saved. Give the embedding of its training: "
                "bb.nli.load(path, embedding=...)."
            )
        self.look_up(new)
        if counts and not any(row >= FIRST for word in counts for row in self.words[word]):
            raise LostWordsError(
                f"{self.origin} has none of the words of {what} ({name_some(counts)}). Use an embedding of the same "
                "language."
            )
        lost = [word for word in counts if self._is_lost(word)]
        if set(lost) - self.warned:
            self.warned.update(lost)
            often = sorted(lost, key=lambda word: -counts[word])
            share = sum(counts[word] for word in lost) / sum(counts.values())
            warn_user(
                f"{self.origin} lacks {len(lost):,} of the {counted(len(counts), 'word')} of {what}, {share:.1%} of "
                f"their running text: {name_some(often)}. Each gets one of {RANDOM_VECTORS} random vectors: the model "
                "sees where it is repeated, but not what it means. All are listed in lost_words of the model. Use an "
                "embedding that has them, or another case rule (case).",
                LostWordsWarning,
            )

    def look_up(self, words: Iterable[str]) -> None:
        """Add the rows of words not met before."""
        new = [word for word in dict.fromkeys(words) if word not in self.words]
        if self.embedding is None or not new:
            return
        match = self.embedding.match
        # Lower case first, since the first word of a sentence has a capital whatever the word is.
        lower_first = self.embedding.case_text == "exact"
        form_of = (lambda word: match(word.lower()) or match(word)) if lower_first else match
        pieces = {word: _pieces(word, form_of) for word in new}
        row_of = {form: FIRST + number for number, form in enumerate(self.forms)}
        if new_forms := sorted(
            {form for pieces_of_word in pieces.values() for _, form in pieces_of_word if form is not None} - set(row_of)
        ):
            row_of |= {form: FIRST + len(self.forms) + number for number, form in enumerate(new_forms)}
            self.forms += new_forms
            self.matrix = np.concatenate([self.matrix, unit_word_vectors(self.embedding.stored(new_forms))])
        for word, pieces_of_word in pieces.items():
            self.words[word] = tuple(
                row_of[form] if form is not None else _random_row(part) for part, form in pieces_of_word
            )

    def _is_lost(self, word: str) -> bool:
        return any(row < FIRST for row in self.words[word])

    def rows(self, sentence: str) -> NDArray[np.int64]:
        """Return the rows of a sentence whose words have been looked up, the empty word first."""
        word_rows = [row for word in words_of(sentence) for row in self.words[word]]
        if not 0 < len(word_rows) <= MOST_WORDS:
            count = f"{len(word_rows):,} words; the limit is {MOST_WORDS:,}" if word_rows else "no word"
            raise MeasureError(f"The sentence {sentence[:60]!r} has {count}. Leave it out, or split it.")
        return np.array([NULL, *word_rows])


def _pieces(word: str, look_up: Callable[[str], str | None]) -> list[tuple[str, str | None]]:
    """Return a word with its form, or, if it has none, its parts with theirs: is + n't, well + known.

    >>> _pieces("well-known", {"well": "well"}.get)
    [('well', 'well'), ('known', None)]
    """
    pieces: list[tuple[str, str | None]] = []
    left = [word]  # parts that are still to be looked up, the first one last
    while left:
        part = left.pop()
        form = look_up(part)
        # More parts than a sentence may have words are not divided further: the sentence will be refused.
        if form is None and len(pieces) + len(left) <= MOST_WORDS and (parts := _PARTS.fullmatch(part)):
            left += [inner for inner in reversed(parts.groups()) if inner]
        else:
            pieces.append((part, form))
    return pieces


def _random_row(word: str) -> int:
    """Return the row of a random vector for a word, the same on every machine and in upper and lower case.

    >>> _random_row("Slicing") == _random_row("slicing")
    True
    """
    return 1 + int.from_bytes(sha256(word.lower().encode()).digest()[:4], "little") % RANDOM_VECTORS


def unit_word_vectors(vectors: Floats) -> Floats:
    """Return vectors of length 1, float32."""
    scaled: Floats = (vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)).astype(np.float32)
    return scaled


def checked_sentences(name: str, sentences: Iterable[str]) -> list[str]:
    """Return sentences as a list; raise `MeasureError` if one is not text or is empty."""
    if isinstance(sentences, str):
        raise MeasureError(f"{name} is a single text. Give a list of texts.")
    if not isinstance(sentences, Iterable):
        raise MeasureError(f"{name} is {shown(sentences)}. Give a list of texts.")
    texts = list(sentences)
    for number, text in enumerate(texts):
        if not is_text(text):
            raise MeasureError(f"{name}, number {number}, is {text!r:.60}, which is not text.")
        if not text.strip():
            raise MeasureError(f"{name}, number {number}, is empty. Leave it out.")
    return texts
