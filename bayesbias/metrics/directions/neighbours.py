"""Exact nearest neighbours by cosine similarity, in blocks that bound the memory."""

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.machine import available_cores, threadpool_limits
from bayesbias.base.number_text import counted
from bayesbias.base.progress import with_progress
from bayesbias.errors import MeasureError

_ROWS = 1000
# Approximate megabytes of similarities held at a time over all cores, at least those of one target per core. Choosing
# from them takes a quarter more; float32 copies of the vectors and the result come on top.
_BLOCK_MB = 100.0


def nearest_neighbours(
    targets: ArrayLike,
    vocabulary: ArrayLike,
    k: int = 100,
    *,
    target_rows: ArrayLike | None = None,
    progress: bool = True,
) -> Integers:
    """Return the rows of the k vectors of a vocabulary with the largest cosine similarity to each target.

    Parameters
    ----------
    targets, vocabulary
        Nonzero vectors of any length, of shapes (targets, dimensions) and (words, dimensions).
    k
        Number of neighbours, from 1 to the number of words.
    target_rows
        Row of each target in `vocabulary`, which is not its own neighbour, or -1 if it has none. None: all -1.
    progress
        Whether to show a progress bar.

    Returns
    -------
    array
        Rows of `vocabulary`, of shape (targets, k), in ascending order for each target, not by similarity.

    Raises
    ------
    MeasureError
        If there are fewer than k words to choose from, or a vector is zero or not finite.

    Notes
    -----
    The matrix product is taken in float32, which can confuse only words within its rounding error of the k-th largest
    similarity. These are compared again in float64; among words that are equally similar in float64, those that come
    first in the vocabulary are taken. So the result does not depend on the block size.

    References
    ----------
    Hila Gonen and Yoav Goldberg (2019). Lipstick on a pig: debiasing methods cover up systematic gender biases in
    word embeddings but do not remove them. NAACL-HLT 2019, 609-614: the k nearest neighbours of a word.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]
    >>> nearest_neighbours(vectors, vectors, k=2, target_rows=range(4))
    array([[1, 2],
           [0, 2],
           [0, 1],
           [1, 2]])
    """
    queries, words = np.asarray(targets), np.asarray(vocabulary)
    unit_queries, unit_words = _unit32(queries, "target"), _unit32(words, "vocabulary")
    rows = np.full(len(queries), -1) if target_rows is None else np.asarray(target_rows, dtype=np.int64)
    if queries.shape[1] != words.shape[1] or rows.shape != (len(queries),):
        raise MeasureError(
            f"The targets have the shape {queries.shape}, the vocabulary {words.shape}, target_rows {rows.shape}. "
            "Give vectors of the same dimensions, and one row for each target."
        )
    choices = len(words) - bool((rows >= 0).any())
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= choices:
        raise MeasureError(
            f"k={k!r}, but there are {choices:,} words to choose neighbours from, not counting the word itself. "
            f"Give a whole number from 1 to {choices:,}, or a larger vocabulary."
        )
    # The error of a dot product of unit vectors is at most about (dimensions + 4) roundings; two products are compared.
    slack = np.float32(2 * (words.shape[1] + 4) * 2.0**-24)
    workers = available_cores()
    size = min(max(1, int(_BLOCK_MB * 1e6 / (4 * len(words) * workers))), -(-len(queries) // workers))
    neighbours = np.empty((len(queries), k), dtype=np.int64)
    buffers: SimpleQueue[tuple[Floats, NDArray[np.bool_]]] = SimpleQueue()
    for _ in range(workers):
        buffers.put((np.empty((size, len(words)), dtype=np.float32), np.empty((size, len(words)), dtype=bool)))

    def search(start: int) -> None:
        block = slice(start, start + size)
        buffer = buffers.get()
        similarity, reached = buffer[0][: len(queries[block])], buffer[1][: len(queries[block])]
        np.matmul(unit_queries[block], unit_words.T, out=similarity)
        excluded = np.flatnonzero(rows[block] >= 0)
        similarity[excluded, rows[block][excluded]] = -np.inf
        bound = _lower_bound(similarity, k) - slack
        hits = np.flatnonzero(np.greater_equal(similarity, bound[:, None], out=reached))
        neighbours[block] = _largest(similarity, hits, k, slack, queries[block], words)
        buffers.put(buffer)

    # One core per block: a product could use all cores, but the choice among similarities could not.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
        starts = range(0, len(queries), size)
        steps = with_progress(starts, f"Neighbours of {counted(len(queries), 'word')}", progress=progress)
        for _ in zip(steps, pool.map(search, starts), strict=True):
            pass
    return neighbours


def _largest(similarity: Floats, hits: Integers, k: int, slack: np.float32, queries: Floats, words: Floats) -> Integers:
    """Return the columns of the k largest similarities of each row, which are among `hits`, in ascending order.

    Similarities within the rounding error of float32 are compared in float64; of equal ones, the first columns are
    taken.
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
        # In blocks: if many words are equally similar, their vectors would not all fit into memory.
        step = max(1, similarity.nbytes // (32 * words.shape[1]))
        for start in range(0, len(close), step):
            part = close[start : start + step]
            exact[start : start + step] = _cosine(queries[row[part]], words[column[part]])
        close = close[np.lexsort((column[close], -exact, row[close]))]
        rank = np.arange(len(close)) - np.searchsorted(row[close], row[close])
        keep[close] = rank < k - sure[row[close]]
    return column[keep].reshape(len(similarity), k)


def _kth_largest(row: Integers, value: Floats, count: int, k: int) -> Floats:
    """Return the k-th largest value of each row; values are listed row after row."""
    start = np.searchsorted(row, np.arange(count))
    width = int(np.diff(start, append=len(row)).max())
    table = np.full((count, width), -np.inf, dtype=np.float32)
    table[row, np.arange(len(row)) - start[row]] = value
    kth: Floats = np.partition(table, width - k, axis=1)[:, width - k]
    return kth


def _lower_bound(similarity: Floats, k: int) -> Floats:
    """Return a bound for each row that at least k of its values reach, and few more.

    Columns are divided into groups; the bound is the k-th largest of the groups' maxima.
    """
    count = similarity.shape[1]
    groups = min(count, max(50 * k, 1000))
    whole = count - count % groups
    largest = similarity[:, :whole].reshape(len(similarity), -1, groups).max(axis=1)
    leading = largest[:, : count - whole]
    np.maximum(leading, similarity[:, whole:], out=leading)
    bound: Floats = np.partition(largest, groups - k, axis=1)[:, groups - k]
    return bound


def _cosine(first: Floats, second: Floats) -> Floats:
    """Return the cosine similarity of each row of one array with the same row of another, in float64."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    similarity: Floats = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return similarity


def _unit32(vectors: NDArray[Any], what: str) -> Floats:
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "iuf":
        raise MeasureError(
            f"The {what} vectors are of the shape {vectors.shape} and type {vectors.dtype}. Give numbers: (words, "
            "dimensions)."
        )
    unit = np.empty(vectors.shape, dtype=np.float32)
    for start in range(0, len(vectors), _ROWS):
        rows = vectors[start : start + _ROWS].astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        usable = np.isfinite(lengths) & (lengths > 0)
        if not usable.all():
            raise MeasureError(
                f"The {what} vector in row {start + int(np.argmin(usable))} is zero or not finite, so it has no "
                "direction. Leave it out."
            )
        unit[start : start + _ROWS] = rows / lengths[:, None]
    return unit
