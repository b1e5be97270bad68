"""A sample of an embedding's vocabulary: how much random words of these vectors resemble each other.

It is drawn while a file is read for other words. A hash of each word serves as its random number, so that the same
vocabulary always gives the same sample, in any order and from any format.
"""

import zlib
from collections.abc import Sequence

import numpy as np

from bayesbias.base.arrays import LEAST_SQUARE
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.errors import EmbeddingError

# Entries of the sample; drawn from the first entries of a file, in most files the most frequent ones. Rare words, whose
# vectors are poor, resemble each other more than the words of studies do by chance.
SAMPLE, FIRST_ENTRIES = 1_200, 20_000
# With fewer words, those of a study may be most of a vocabulary, and are no random words.
FEWEST = 1_000
# So many are drawn, more than are taken: those with the lowest hashes are then the same as in the whole vocabulary.
_DRAWN = SAMPLE + SAMPLE // 8
# Entries that are not lower-case words (names, phrases, numbers) are drawn where fewer than one in so many is one.
_ONE_IN = 10
_HASHES = 2**32


class WantedWithSample(frozenset[str]):
    """Words to keep, which contains a sample of all words that it is asked for, and notes them in `drawn`.

    Of the first i words, all with a hash below `_DRAWN` / i are in the sample, so that the final sample is among them
    however many there will be. After `FIRST_ENTRIES` words it is a plain set again, which costs no time.
    The words until then are its `entries`.
    """

    count: int
    plain_count: int
    drawn: set[str]
    entries: list[str]

    def __new__(cls, words: frozenset[str]) -> "WantedWithSample":
        """Return the words, with an empty sample."""
        wanted = super().__new__(cls, words)
        wanted.count, wanted.plain_count, wanted.drawn, wanted.entries = 0, 0, set(), []
        return wanted

    def __contains__(self, word: object) -> bool:
        self.count += 1
        if self.count >= FIRST_ENTRIES:
            self.settle()
        text = str(word)
        self.entries.append(text)
        plain = is_plain(text)
        self.plain_count += plain
        if plain or self.plain_count * _ONE_IN < self.count:
            among = self.plain_count if plain else self.count - self.plain_count
            if _hash(text) * max(among, _DRAWN) < _DRAWN * _HASHES:
                self.drawn.add(text)
                return True
        return super().__contains__(word)

    def settle(self) -> None:
        """Become a plain set when the sample is complete."""
        self.__class__ = _Settled

    def is_sampled(self, word: str) -> bool:
        """Return whether a word, in normal form, is in the sample of all words that were asked for."""
        among = self.plain_count if is_plain(word) else self.count - self.plain_count
        return word in self.drawn and _hash(word) * max(among, _DRAWN) < _DRAWN * _HASHES

    def only_sampled(self, word: str) -> bool:
        """Return whether a word, in normal form, is here for the sample alone, so that its row may be left out."""
        return word in self.drawn and not frozenset.__contains__(self, word)


class _Settled(WantedWithSample):
    """The words alone, when the sample is complete."""

    __contains__ = frozenset.__contains__


def is_plain(word: str) -> bool:
    """Return whether a word has letters only, all of them lower-case or without case.

    >>> is_plain("king"), is_plain("King"), is_plain("new_york")
    (True, False, False)
    """
    return word.isalpha() and word == word.lower()


def common_words() -> tuple[str, ...]:
    """Return the bundled 1,200 random words among the frequent ones of English, for encoders, which have no vocabulary.

    Examples
    --------
    >>> words = bb.embeddings.common_words()
    >>> len(words), words[:3]
    (1200, ('abbas', 'abbreviated', 'above'))
    """
    return tuple(read_toml(bundled("data", "common_words.toml"), EmbeddingError)["words"])


def sampled_vectors(words: Sequence[str], vectors: np.ndarray) -> np.ndarray | None:
    """Return the vectors of up to `SAMPLE` of some words, shape (words, dimensions); None if they are too few.

    Vectors without a direction are left out.

    >>> sampled_vectors(["king", "queen"], np.eye(2)) is None
    True
    """
    first = np.array([_hash(word) for word in words[:FIRST_ENTRIES]], dtype=np.int64)
    order = np.argsort(first, kind="stable")
    plain = [place for place in order if is_plain(words[place])]
    chosen = (plain if len(plain) >= FEWEST else order)[:SAMPLE]
    if len(chosen) < FEWEST:
        return None
    sample = np.asarray(vectors[chosen])
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", sample, sample, dtype=np.float64)
    usable = np.isfinite(squares) & (squares >= LEAST_SQUARE)
    return sample[usable] if usable.sum() >= FEWEST else None


def checked_sample(sample: np.ndarray, dimensions: int) -> np.ndarray:
    """Return a sample, read-only, or raise `EmbeddingError` if its vectors are not usable with those of the words."""
    array = np.asarray(sample).view()
    if array.ndim != 2 or array.shape[1] != dimensions or array.dtype.kind != "f" or len(array) < FEWEST:
        raise EmbeddingError(
            f"vocabulary_sample has the shape {array.shape} and the type {array.dtype}. Give vectors of at least "
            f"{FEWEST:,} random words of the vocabulary, of {dimensions} dimensions each."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(array, dtype=np.float64).sum(axis=1)
    if not (np.isfinite(squares) & (squares >= LEAST_SQUARE)).all():
        raise EmbeddingError("vocabulary_sample holds vectors that are zero or not finite. Leave them out.")
    array.flags.writeable = False
    return array


def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
