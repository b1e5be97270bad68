"""Nearest neighbours by cosine similarity: exact, in memory that a block size bounds."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.errors import MeasureError

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]


def nearest_neighbours(
    targets: ArrayLike, vocabulary: ArrayLike, k: int = 100, *, own: ArrayLike | None = None, block_mb: float = 100.0
) -> Integers:
    """Return the rows of the k vectors of a vocabulary that are most similar in cosine to each target.

    Parameters
    ----------
    targets, vocabulary
        Vectors of any length but zero, of shapes (targets, dimensions) and (words, dimensions).
    k
        How many neighbours, from 1 to the number of words.
    own
        For each target its row in `vocabulary`, which is no neighbour of it, or -1 if it has none. None: all -1.
    block_mb
        Megabytes of similarities that are held at a time, about; never less than one target's. The
        vocabulary in float32, and the result, come on top.

    Returns
    -------
    array
        Rows of `vocabulary`, of shape (targets, k); each target's are in ascending order, not the nearest first.

    Raises
    ------
    MeasureError
        If there are fewer than k words to choose from, or a vector is zero or not finite.

    Notes
    -----
    The matrix product is taken in float32, which can only mistake one neighbour for another where both are within
    its rounding error of the k-th similarity. Those words are compared again in float64; of words that are equally
    similar in float64, the ones further up in the vocabulary are taken. The block size therefore changes nothing.

    References
    ----------
    Hila Gonen and Yoav Goldberg (2019). Lipstick on a pig: debiasing methods cover up systematic gender biases in
    word embeddings but do not remove them. NAACL-HLT 2019, 609-614: the k nearest neighbours of a word.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]
    >>> nearest_neighbours(vectors, vectors, k=2, own=range(4))
    array([[1, 2],
           [0, 2],
           [0, 1],
           [1, 2]])
    """
    queries, words = _vectors(targets, "target"), _vectors(vocabulary, "vocabulary")
    rows = np.full(len(queries), -1) if own is None else np.asarray(own, dtype=np.int64)
    if queries.shape[1] != words.shape[1] or rows.shape != (len(queries),):
        raise MeasureError(
            f"The targets have the shape {queries.shape}, the vocabulary {words.shape}, the own rows {rows.shape}. "
            "Give vectors of the same dimensions, and one row for each target."
        )
    choices = len(words) - bool((rows >= 0).any())
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= choices:
        raise MeasureError(
            f"k={k!r}, but there are {choices:,} words to choose neighbours from, the word itself left out. "
            "Give a whole number from 1 to that, or a larger vocabulary."
        )
    unit = _unit32(words)
    # A dot product of unit vectors is off by at most about (dimensions + 4) roundings; two are compared.
    slack = np.float32(2 * (words.shape[1] + 4) * 2.0**-24)
    size = max(1, int(block_mb * 1e6 / (4 * len(words))))
    found = np.empty((len(queries), k), dtype=np.int64)
    buffer = np.empty((min(size, len(queries)), len(words)), dtype=np.float32)
    reached = np.empty(buffer.shape, dtype=bool)
    # The product uses every core; so must the choice from it, which NumPy makes on one.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(queries), size):
            count = min(size, len(queries) - start)
            np.matmul(_unit32(queries[start : start + count]), unit.T, out=buffer[:count])
            share = -(-count // (os.cpu_count() or 1))

            def choose(first: int, start: int = start, last: int = count, share: int = share) -> None:
                here = slice(first, min(first + share, last))
                there = slice(start + here.start, start + here.stop)
                similarity = buffer[here]
                mine = np.flatnonzero(rows[there] >= 0)
                similarity[mine, rows[there][mine]] = -np.inf
                bound = _lower_bound(similarity, k) - slack
                hits = np.flatnonzero(np.greater_equal(similarity, bound[:, None], out=reached[here]))
                found[there] = _largest(similarity, hits, k, slack, queries[there], words)

            list(pool.map(choose, range(0, count, share)))
    return found


def _largest(similarity: Floats, hits: Integers, k: int, slack: np.float32, queries: Floats, words: Floats) -> Integers:
    """Return the columns of the k largest of each row, which are among the hits, in ascending order.

    Where float32 leaves in doubt which they are, float64 decides; where that finds them equal, the first columns.
    """
    row, column = np.divmod(hits, len(words))
    value = similarity[row, column]
    excess = value - _kth_largest(row, value, len(similarity), k)[row]
    keep = excess >= -slack
    sure = np.bincount(row[excess > slack], minlength=len(similarity))
    in_doubt = np.bincount(row[keep], minlength=len(similarity)) > k
    close = np.flatnonzero(keep & (excess <= slack) & in_doubt[row])
    if len(close):
        exact = np.empty(len(close))
        # Some at a time: where many words are equally similar, all their vectors would not fit into memory.
        step = max(1, similarity.nbytes // (32 * words.shape[1]))
        for start in range(0, len(close), step):
            part = close[start : start + step]
            exact[start : start + step] = _cosine(queries[row[part]], words[column[part]])
        close = close[np.lexsort((column[close], -exact, row[close]))]
        rank = np.arange(len(close)) - np.searchsorted(row[close], row[close])
        keep[close] = rank < k - sure[row[close]]
    return column[keep].reshape(len(similarity), k)


def _kth_largest(row: Integers, value: Floats, count: int, k: int) -> Floats:
    """Return the k-th largest of each row's values, which come row after row."""
    start = np.searchsorted(row, np.arange(count))
    width = int(np.diff(start, append=len(row)).max())
    table = np.full((count, width), -np.inf, dtype=np.float32)
    table[row, np.arange(len(row)) - start[row]] = value
    kth: Floats = np.partition(table, width - k, axis=1)[:, width - k]
    return kth


def _lower_bound(similarity: Floats, k: int) -> Floats:
    """Return a number for each row that at least k of its values reach, and not many more.

    Columns are dealt into groups; k groups have a maximum as large as the k-th largest maximum.
    """
    count = similarity.shape[1]
    groups = min(count, max(10 * k, 1000))
    whole = count - count % groups
    largest = similarity[:, :whole].reshape(len(similarity), -1, groups).max(axis=1)
    rest = largest[:, : count - whole]
    np.maximum(rest, similarity[:, whole:], out=rest)
    bound: Floats = np.partition(largest, groups - k, axis=1)[:, groups - k]
    return bound


def _cosine(first: Floats, second: Floats) -> Floats:
    """Return the cosine similarity of each row of one array with the same row of another, in float64."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    similarity: Floats = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return similarity


def _unit32(vectors: Floats) -> Floats:
    """Return vectors of length 1 in float32."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    unit: Floats = np.divide(vectors, lengths[:, None], dtype=np.float32, casting="same_kind")
    return unit


def _vectors(values: ArrayLike, what: str) -> Floats:
    array = np.asarray(values)
    array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise MeasureError(f"The {what} vectors have the shape {array.shape}. Give (words, dimensions).")
    squares = np.einsum("ij,ij->i", array, array, dtype=np.float64)
    usable = np.isfinite(squares) & (squares > 0)
    if not usable.all():
        raise MeasureError(
            f"The {what} vector in row {int(np.argmin(usable))} is zero or not finite, so it has no direction. "
            "Leave it out."
        )
    return array
