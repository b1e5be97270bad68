"""Tokenised texts as arrays: the ids of their pieces, and the characters at which each piece begins and ends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Integers = NDArray[np.int64]

# Characters of Unicode that are white space; the last entry stands for all later ones, and for the end of a text.
_SPACES = np.array([chr(code).isspace() for code in range(0x3001)] + [False])


@dataclass(frozen=True, eq=False)
class Pieces:
    """Texts as ids of pieces, text after text in one array.

    - `ids`: ids of all pieces.
    - `bounds`: where each text begins in `ids`, and where the last ends: shape (texts + 1,).
    - `characters`: first character of each piece in its text, after leading spaces, and the one after its last: shape
      (pieces, 2). Special pieces have none.
    """

    ids: Integers
    bounds: Integers
    characters: Integers

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> Integers:
        """Number of pieces of each text."""
        return np.diff(self.bounds)

    def take(self, texts: Integers) -> "Pieces":
        """Return some of the texts, in their order."""
        flat, _ = places_of(self.bounds, texts)
        return Pieces(self.ids[flat], bounds_of(self.lengths[texts]), self.characters[flat])

    def spans(self, texts: Integers, characters: Integers) -> Integers:
        """Return the pieces of words: the first, and the one after the last, both 0 where there is none.

        - `texts`: number of the text of each word.
        - `characters`: first character of each word, and the one after its last: shape (words, 2).
        """
        flat, words = places_of(self.bounds, texts)
        firsts, ends = self.characters[flat].T
        starts, stops = characters[words].T
        inside = np.flatnonzero((firsts < stops) & (ends > starts))
        present, places, counts = np.unique(words[inside], return_index=True, return_counts=True)
        spans = np.zeros((len(texts), 2), dtype=np.int64)
        ends_of_words = np.stack([flat[inside[places]], flat[inside[places + counts - 1]] + 1], axis=1)
        spans[present] = ends_of_words - self.bounds[texts[present], None]
        return spans

    def whole_words(self, texts: Integers, characters: Integers) -> tuple[Integers, Integers]:
        """Return which words are exactly one piece, and the place of this piece in its text.

        The arguments are those of `spans`.
        """
        firsts, lasts = self.spans(texts, characters).T
        single = np.flatnonzero(lasts - firsts == 1)
        whole = (self.characters[self.bounds[texts[single]] + firsts[single]] == characters[single]).all(axis=1)
        return single[whole], firsts[single[whole]]


def places_of(bounds: Integers, rows: Integers) -> tuple[Integers, Integers]:
    """Return the places of the numbers of some rows, and for each which of `rows` it is of."""
    counts = np.diff(bounds)[rows]
    owners = np.repeat(np.arange(len(rows)), counts)
    return np.arange(counts.sum()) + (bounds[rows] - bounds_of(counts)[:-1])[owners], owners


def flat_rows(rows: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
    """Return the numbers of rows as one array, and the bounds of the rows in it."""
    bounds = bounds_of(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=bounds[-1]), bounds


def read_pieces(texts: Sequence[str], rows: Sequence[Sequence[int]], offsets: Sequence[Iterable[Any]]) -> Pieces:
    """Return the pieces that a tokenizer gives: ids, and pairs of characters, of which leading spaces are cut."""
    ids, bounds = flat_rows(rows)
    flat = chain.from_iterable(chain.from_iterable(offsets))
    characters = np.fromiter(flat, dtype=np.int64, count=2 * len(ids)).reshape(-1, 2)
    codes = np.frombuffer("".join([*texts, "\0"]).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_space = _SPACES[np.minimum(codes, len(_SPACES) - 1)]
    begins = np.repeat(bounds_of(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))[:-1], np.diff(bounds))
    while (spaced := (characters[:, 0] < characters[:, 1]) & is_space[begins + characters[:, 0]]).any():
        characters[:, 0] += spaced
    return Pieces(ids, bounds, characters)


def bounds_of(counts: Integers) -> Integers:
    """Return where runs of numbers begin that follow each other, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
