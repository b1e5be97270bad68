"""Sentences as rows of a matrix of word vectors: words, how they are looked up, and those that the vectors lack."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_text, shown
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import LostWordsError, LostWordsWarning, MeasureError, name_some, warn_user

RANDOM_VECTORS = 100
"""Vectors that words without one share."""
NULL = 0
"""The row of the empty word that each sentence begins with, which words without a counterpart can be aligned with."""
FIRST = 1 + RANDOM_VECTORS
"""The first row of a word that the embedding has."""
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
    """The vectors of the words that a model has met, as rows of one matrix.

    Row 0 is the empty word; then come the random vectors of words that the embedding lacks, then words of the
    embedding. All have the length 1.

    Parameters
    ----------
    embedding
        Where vectors of new words are found; None where only those words are known that a file held.
    origin
        How messages call it.
    forms
        Words of the embedding, from row `FIRST` on.
    matrix : array, shape (rows, dimensions), float32
    words
        The rows of each word that was met: more than one where it was taken apart.
    told
        Lost words of which the user was warned.
    """

    embedding: Embedding | None
    origin: str
    forms: list[str]
    matrix: Floats
    words: dict[str, tuple[int, ...]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, embedding: Embedding) -> "WordVectors":
        """Return the vectors of no word yet."""
        rng = np.random.default_rng(0)  # the same for all models: seeds of a training do not change its words
        drawn = rng.standard_normal((FIRST, embedding.dimensions))
        return cls(embedding, f"The embedding {embedding.name!r}", [], unit_vectors(drawn))

    @property
    def lost(self) -> tuple[str, ...]:
        """Words met of which some part has no vector."""
        return tuple(word for word in self.words if self._is_lost(word))

    def learn(self, sentences: Iterable[str], what: str) -> None:
        """Look up the words of sentences; warn of those that are lost, each word once.

        Raises
        ------
        LostWordsError
            If no word is found, or new words would need the embedding, which is not here.
        """
        counts: dict[str, int] = {}
        for sentence in sentences:
            for word in words_of(sentence):
                counts[word] = counts.get(word, 0) + 1
        new = [word for word in counts if word not in self.words]
        if new and self.embedding is None:
            raise LostWordsError(
                f"{self.origin} holds no vectors of {len(new):,} words of {what}: {name_some(new)}. It holds those of "
                "the words that the model had met when it was saved. Give the embedding that it was trained with: "
                "bb.nli.load(path, embedding=...)."
            )
        self.look_up(new)
        if counts and not any(row >= FIRST for word in counts for row in self.words[word]):
            raise LostWordsError(
                f"{self.origin} has none of the words of {what} ({name_some(counts)}). Is it of another language?"
            )
        lost = [word for word in counts if self._is_lost(word)]
        if set(lost) - self.told:
            self.told.update(lost)
            often = sorted(lost, key=lambda word: -counts[word])
            share = sum(counts[word] for word in lost) / sum(counts.values())
            warn_user(
                f"{self.origin} lacks {len(lost):,} of the {len(counts):,} words of {what}, {share:.1%} of all words "
                f"of its sentences: {name_some(often)}. Each gets one of {RANDOM_VECTORS} random vectors, so that a "
                "model sees where it is repeated, and not what it means. lost_words of the model lists them. Take an "
                "embedding that has them, or another case rule (case).",
                LostWordsWarning,
            )

    def look_up(self, words: Iterable[str]) -> None:
        """Add the rows of words that were not met before."""
        new = [word for word in dict.fromkeys(words) if word not in self.words]
        if self.embedding is None or not new:
            return
        match = self.embedding.match
        # Most words of a sentence stand in lower case in vectors, and the first is a capital by its place alone.
        lower_first = self.embedding.case_text == "exact"
        form_of = (lambda word: match(word.lower()) or match(word)) if lower_first else match
        pieces = {word: _pieces(word, form_of) for word in new}
        known = {form: FIRST + at for at, form in enumerate(self.forms)}
        if found := sorted({form for each in pieces.values() for _, form in each if form is not None} - set(known)):
            known |= {form: FIRST + len(self.forms) + at for at, form in enumerate(found)}
            self.forms += found
            self.matrix = np.concatenate([self.matrix, unit_vectors(self.embedding.stored(found))])
        for word, each in pieces.items():
            self.words[word] = tuple(known[form] if form is not None else _random_row(part) for part, form in each)

    def _is_lost(self, word: str) -> bool:
        return any(row < FIRST for row in self.words[word])

    def rows(self, sentence: str) -> NDArray[np.int64]:
        """Return the rows of a sentence whose words were met, the empty word first."""
        found = [row for word in words_of(sentence) for row in self.words[word]]
        if not 0 < len(found) <= MOST_WORDS:
            what = "no word" if not found else f"{len(found):,} words, and at most {MOST_WORDS:,} are taken"
            raise MeasureError(f"The sentence {sentence[:60]!r} has {what}. Leave it out, or split it.")
        return np.array([NULL, *found])


def _pieces(word: str, look_up: Callable[[str], str | None]) -> list[tuple[str, str | None]]:
    """Return a word with its form, or, of one that has none, its parts: is + n't, well + known.

    >>> _pieces("well-known", {"well": "well"}.get)
    [('well', 'well'), ('known', None)]
    """
    form = look_up(word)
    if form is None and (parts := _PARTS.fullmatch(word)):
        return [piece for part in parts.groups() if part for piece in _pieces(part, look_up)]
    return [(word, form)]


def _random_row(word: str) -> int:
    """Return the row of the random vector of a word that has none: the same on every machine, in upper and lower case.

    >>> _random_row("Slicing") == _random_row("slicing")
    True
    """
    return 1 + int.from_bytes(sha256(word.lower().encode()).digest()[:4], "little") % RANDOM_VECTORS


def unit_vectors(vectors: Floats) -> Floats:
    """Return vectors of length 1, float32."""
    found: Floats = (vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)).astype(np.float32)
    return found


def checked_sentences(name: str, sentences: Iterable[str]) -> list[str]:
    """Return sentences as a list; raise `MeasureError` if one is no text."""
    if isinstance(sentences, str):
        raise MeasureError(f"{name} is one text. Give a list of texts.")
    if not isinstance(sentences, Iterable):
        raise MeasureError(f"{name} is {shown(sentences)}. Give a list of texts.")
    found = list(sentences)
    for at, each in enumerate(found):
        if not is_text(each):
            raise MeasureError(f"{name}, number {at}, is {each!r:.60}, and no text.")
        if not each.strip():
            raise MeasureError(f"{name}, number {at}, is empty. Leave it out.")
    return found
