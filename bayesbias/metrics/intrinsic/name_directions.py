"""The directions in which two lists of names differ, and their spread over the choice of names."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_type
from bayesbias.base.machine import threadpool_limits
from bayesbias.embeddings.embedding import Embedding, Lookup
from bayesbias.embeddings.names import names_in
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.geometry import unit_rows, weighted_directions
from bayesbias.metrics.look_up import checked_words

type NameLists = tuple[Sequence[str], Sequence[str]]

NAME_DRAWS = 1000
"""Number of draws of names' weights; the error of an interval's ends is about a fifteenth of its half-width."""


@dataclass(frozen=True, eq=False)
class FoundNames:
    """Names of two lists that an embedding has.

    - `lists`: the lists as given.
    - `lookups`: which names the embedding has, and in which spelling.
    """

    lists: tuple[tuple[str, ...], tuple[str, ...]]
    lookups: tuple[Lookup, ...]

    @property
    def stored(self) -> tuple[tuple[str, ...], ...]:
        """The spellings of the names of each list in the embedding, each once."""
        return tuple(tuple(dict.fromkeys(lookup.matches.values())) for lookup in self.lookups)

    @property
    def counts(self) -> str:
        """How many names of each list the embedding has, as text."""
        counts = [f"{len(names)} of {len(listed)}" for names, listed in zip(self.stored, self.lists, strict=True)]
        return " and ".join(counts)

    def vectors(self, source: Embedding, *, scaled: bool) -> tuple[Floats, Floats]:
        """Return the vectors of both lists, as stored or of length 1."""
        first, second = (
            unit_rows(rows) if scaled else rows.astype(np.float64) for rows in map(source.stored, self.stored)
        )
        return first, second


def find_names(source: Embedding, names: NameLists) -> FoundNames:
    """Return the names of two lists that an embedding has, by `names_in`.

    Raises `MeasureError` if there are not two lists of names, one is in both, or the embedding has fewer than two of a
    list.

    Gives a `LostWordsWarning` if the embedding lacks names.
    """
    lists = check_type("names", names, (tuple, list), "two lists of names")
    if len(lists) != 2:
        raise MeasureError(f"names holds {len(lists)} lists. Give 2, such as female and male first names.")
    first, second = (checked_words("A list of names", listed) for listed in lists)
    if shared := set(first) & set(second):
        raise MeasureError(f"{min(shared)!r} is in both lists of names. Keep it in one.")
    return FoundNames((first, second), names_in(source, (first, second)))


def midb_directions(source: Embedding, names: NameLists, components: int) -> tuple[Floats, Floats, str]:
    """Return MIDB's directions and weights, from names of length 1, and what a score's conventions say of them.

    >>> vectors = bb.Embedding(("Amy", "Lisa", "John", "Paul"), [[3, 1], [3, -1], [-1, 0.2], [-1, -0.2]])
    >>> directions, weights, text = midb_directions(vectors, (["Amy", "Lisa"], ["John", "Paul"]), 1)
    >>> directions.round(3) + 0.0, weights.round(3), text
    (array([[1., 0.]]), array([0.964]), '1 components of the differences of 2 of 2 and 2 of 2 names, of length 1')
    """
    available_names = find_names(source, names)
    directions, weights = weighted_directions(*available_names.vectors(source, scaled=True), components)
    text = f"{components} components of the differences of {available_names.counts} names, of length 1"
    return directions, weights, text


def weighted_direction(source: Embedding, names: NameLists, components: int) -> tuple[Floats, str]:
    """Return sum_i a_i g_i scaled to length 1, along which a word's MIDB lies, and the text of `midb_directions`."""
    directions, weights, text = midb_directions(source, names, components)
    direction = weights @ directions
    unit: Floats = direction / np.linalg.norm(direction)
    return unit, f"sum of {text}"


def find_forms(source: Embedding, names: NameLists) -> set[str]:
    """Return the spellings of names in an embedding, without a second warning of those that it lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        return {name for stored in find_names(source, names).stored for name in stored}


def drawn_weighted_directions(
    first: Floats, second: Floats, weights: tuple[Floats, Floats], components: int, *, centred: bool = False
) -> Floats:
    """Return sum_i a_i g_i of `bayesbias.geometry.weighted_directions` for each draw of the names' weights.

    - `first`, `second`: vectors of names, of shapes (first names, dimensions) and (second names, dimensions).
    - `weights`: weights of the first and of the second names, of shapes (draws, first names) and (draws, second names).
      A name with a weight of 2 counts as two.
    - `components`, `centred`: arguments of `weighted_directions`.

    Returns
    -------
    array
        Sums of directions, of shape (draws, dimensions).

    >>> names = np.array([[2.0, 1.0], [2.0, -1.0]]), np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> directions, shares = bb.geometry.weighted_directions(*names, components=2)
    >>> drawn = drawn_weighted_directions(*names, (np.ones((1, 2)), np.ones((1, 2))), 1)
    >>> np.allclose(drawn, shares[:1] @ directions[:1])
    True
    """
    from scipy.linalg import eigh

    axes = np.linalg.svd(np.vstack([first, second]), full_matrices=False)[2]
    lists = [rows @ axes.T for rows in (first, second)]
    count = len(axes)
    weighted = np.empty((len(weights[0]), first.shape[1]))
    with threadpool_limits(1, "blas"):  # the matrices are so small that threads would cost more than they gain
        for draw, (first_weights, second_weights) in enumerate(zip(*weights, strict=True)):
            shares = [name_weights / name_weights.sum() for name_weights in (first_weights, second_weights)]
            means = [share @ rows for share, rows in zip(shares, lists, strict=True)]
            difference = means[0] - means[1]
            within = [
                (rows - mean) * np.sqrt(share)[:, np.newaxis]
                for rows, mean, share in zip(lists, means, shares, strict=True)
            ]
            stacked = np.vstack([*within, difference * (not centred)])
            squares = stacked.T @ stacked
            sizes, eigenvectors = eigh(squares, subset_by_index=[count - components, count - 1])
            directions = eigenvectors.T @ axes
            largest = directions[range(components), np.abs(directions).argmax(axis=1)]
            sides = largest if centred else directions @ (difference @ axes)
            weighted[draw] = (np.where(sides < 0, -1.0, 1.0) * sizes / np.trace(squares)) @ directions
    return weighted
