"""How often words stand near each other, counted in bounded memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import compiled

# Pairs of places that are held at once; each takes 12 bytes.
PAIRS_AT_ONCE = 1 << 25


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """The lower triangle of a symmetric matrix, for some of its rows.

    `first` is the first row; row ``first + k`` has its entries at ``starts[k]:starts[k + 1]`` of `columns` (at most the
    row, in the order in which they were met) and `values` (sums of 1 / distance; twice that on the diagonal).
    """

    first: int
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]


def count_cooccurrences(
    stream: NDArray[np.int32], words: int, window: int, pairs_at_once: int = PAIRS_AT_ONCE
) -> list[Cooccurrences]:
    """Count pairs of words, both ways, at most `window` words apart in one document, each as 1 / distance.

    Pennington, Socher and Manning (2014), section 4.2. A pair is kept in the row of the rarer of its words, since
    those rows are short: rows are counted a part at a time, and only their pairs are held.

    Parameters
    ----------
    stream
        int32: words from 0, most frequent first; negative numbers end a document.
    words
        Number of words.
    window
        Largest distance.
    pairs_at_once
        Pairs held at once, but for a row that has more.
    """
    found: list[Cooccurrences] = []
    ends, first = np.cumsum(pairs_by_row(stream, words, window)), 0
    while first < words:
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + pairs_at_once, side="right")))
        starts = np.concatenate([[0], ends[first:last] - before])
        found.append(Cooccurrences(first, *_of_rows(stream, first, starts, window)))
        first = last
    return found


@compiled
def pairs_by_row(stream, words, window):
    """Return how many pairs each row has: those of a word with words at least as frequent."""
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
        size = merged[row]  # of what is merged, which takes the place of what has been read
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
