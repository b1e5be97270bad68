"""Sub-lists of a list: all of them, some drawn at random, and those that differ in one word."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from bayesbias.base.arrays import Integers
from bayesbias.base.checks import check_count
from bayesbias.errors import MeasureError

# Pairs of sub-lists that take seconds, and calls of a function that take about a minute.
MOST_PAIRS = 10_000_000
MOST_CALLS = 1_000_000
# Up to so many sub-lists are listed to draw from; of more, draws hardly ever repeat.
_MOST_LISTED = 200_000


def all_subsets(words: int, size: int) -> Integers:
    """Return the places of all sub-lists of a size, of shape (sub-lists, size), in lexicographic order.

    >>> all_subsets(3, 2)
    array([[0, 1],
           [0, 2],
           [1, 2]])
    """
    flat = np.fromiter((at for row in combinations(range(words), size) for at in row), dtype=np.intp)
    return flat.reshape(-1, size)


def draw_subsets(words: int, size: int, samples: int | None, rng: np.random.Generator) -> Integers:
    """Return `samples` different sub-lists of a size at random, or all where there are no more, in order.

    `words` is the length of the list, `size` that of a sub-list; `samples` None is all.

    >>> draw_subsets(30, 15, 4, np.random.default_rng(0)).shape
    (4, 15)
    """
    possible = comb(words, size)
    if samples is None or samples >= possible:
        return all_subsets(words, size)
    if possible <= _MOST_LISTED:
        return all_subsets(words, size)[np.sort(rng.choice(possible, samples, replace=False))]
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < samples:
        order = rng.random((samples - len(drawn), words)).argsort(axis=1)[:, :size]
        drawn |= set(map(tuple, np.sort(order, axis=1).tolist()))
    return np.array(sorted(drawn), dtype=np.intp)


def one_word_changed(subset: Integers, words: int) -> Integers:
    """Return the sub-lists that have all words of a sub-list but one, and another one in its place.

    >>> one_word_changed(np.array([0, 2]), 4)
    array([[1, 2],
           [2, 3],
           [0, 1],
           [0, 3]])
    """
    others = np.setdiff1d(np.arange(words), subset)
    changed = np.repeat(subset[np.newaxis], len(subset) * len(others), axis=0)
    rows = np.arange(len(changed))
    changed[rows, rows // len(others)] = np.tile(others, len(subset))
    return np.sort(changed, axis=1)


def raise_if_too_many(pairs: int, words: int, *, looped: bool) -> None:
    """Raise if there are more pairs of sub-lists than can be compared in reasonable time.

    `words` is the length of the list, for the message; `looped` says whether a function is called for each pair.

    >>> raise_if_too_many(63_205_303_218_876, 25, looped=False)
    Traceback (most recent call last):
    ...
    bayesbias.errors.MeasureError: 25 words have sub-lists that make 63,205,303,218,876 pairs, more than 10,000,000...
    """
    most = MOST_CALLS if looped else MOST_PAIRS
    if pairs > most:
        raise MeasureError(
            f"{words} words have sub-lists that make {pairs:,} pairs, more than {most:,}. Draw some of them "
            "(samples=1000, random_seed=...), or choose fewer sizes (sizes=[...])."
        )


def checked_samples(samples: int | None) -> int | None:
    """Return how many sub-lists of a size to draw, or None for all; raise `ArgumentError` for less than one.

    >>> checked_samples(1000)
    1000
    """
    return None if samples is None else check_count("samples", samples)


def checked_sizes(sizes: Sequence[int] | None, most: int) -> tuple[int, ...]:
    """Return the sizes of sub-lists, by default 1 to `most`; raise `MeasureError` for one beyond.

    >>> checked_sizes(None, 3)
    (1, 2, 3)
    """
    if sizes is not None and not np.iterable(sizes):
        raise MeasureError(f"sizes={sizes!r}: give a list of sizes, such as [2, 3].")
    chosen = dict.fromkeys(range(1, most + 1) if sizes is None else (check_count("sizes", size) for size in sizes))
    if not chosen or max(chosen) > most:
        raise MeasureError(f"sizes={sizes!r}: give at least one; the lists have sub-lists of 1 to {most} words here.")
    return tuple(chosen)


def named(words: Sequence[str], places: Integers) -> tuple[str, ...]:
    """Return the words at some places.

    >>> named(("he", "him", "his"), np.array([0, 2]))
    ('he', 'his')
    """
    return tuple(words[at] for at in places)
