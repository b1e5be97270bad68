"""The bias subspace: the few directions in which the words of definitional sets differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats, Integers, checked_rows, raise_unless_same_dimensions
from bayesbias.base.checks import check_count, check_flag
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, DebiasWordsLike, as_debias_words, check_has, sets_in, spelled
from bayesbias.debias.method import whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.names import names_in
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import RANK_TOLERANCE, unit_rows, weighted_directions


@dataclass(frozen=True, eq=False, repr=False)
class Subspace(Described):
    """Orthonormal directions in which definitional sets, or two lists of names, differ.

    Parameters
    ----------
    directions : array, shape (components, dimensions)
        Orthonormal rows. Along each, the first words of the sets lie on average on the positive side.
    explained : array, shape (components,)
        Share of the sets' variance along each direction.
    sets : tuple
        The sets that were used, without those that lost a word. For names: the lists.
    """

    directions: Floats
    explained: Floats
    sets: tuple[tuple[str, ...], ...]

    @property
    def _facts(self) -> Facts:
        return {
            "components": len(self.directions),
            "dimensions": self.directions.shape[1],
            "explained": float(self.explained.sum()),
            "sets": self.sets,
        }


def bias_subspace(embedding: EmbeddingLike, sets: DebiasWordsLike, *, components: int | None = None) -> Subspace:
    """Return the bias subspace of definitional sets.

    Parameters
    ----------
    embedding
        An embedding whose vectors are scaled to length 1 first.
    sets
        Word lists with definitional sets, or what `fit` of a method takes; each set is centred on its mean, and all
        sets have the same weight.
    components
        Number of directions. None (default): one fewer than the largest set has words (1 for pairs).

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1.
    MeasureError
        If no set is left, a set's words all have the same direction, or the sets span fewer directions.

    Warns
    -----
    LostWordsWarning
        If sets are left out because the embedding lacks a word.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama and Kalai (2016), arXiv:1607.06520, section 5, step 1: the first rows of the SVD
    of C = sum_i sum_{w in D_i} (w - mu_i)^T (w - mu_i) / abs(D_i). Manzini, Lim, Tsvetkov and Black (2019),
    arXiv:1904.04047, section 2, for sets of more than two words.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]])
    >>> bias_subspace(embedding, bb.debias.DebiasWords("gender", [["he", "she"]])).directions + 0.0
    array([[1., 0., 0.]])
    """
    embedding, sets = whole_embedding(embedding), as_debias_words(sets)
    count = sets.largest_set_size - 1 if components is None else check_count("components", components)
    complete = sets_in(embedding, sets.definitional)
    if not complete:
        raise MeasureError(
            f"The embedding {embedding.name!r} lacks a word of every definitional set of {sets.name!r}. Give sets of "
            "words that it has, or load it with these words and a case rule that finds them."
        )
    rows, firsts = [], []
    for words in complete:
        vectors = unit_rows(embedding.stored(words))
        centered = vectors - vectors.mean(axis=0)
        if np.abs(centered).max() < ROUNDING:
            raise MeasureError(
                f"The words {name_some(map(repr, words))} have vectors of the same direction, so they do not define "
                "a bias direction. Leave this set out, or check the embedding."
            )
        rows.append(centered / np.sqrt(len(words)))
        firsts.append(centered[0])
    _, scales, directions = np.linalg.svd(np.concatenate(rows), full_matrices=False)
    rank = int((scales > ROUNDING * scales[0]).sum())
    if count > rank:
        raise MeasureError(
            f"components={count}, but the {len(complete)} definitional sets that the embedding has differ in only "
            f"{counted(rank, 'direction')}. Give more sets, or fewer components."
        )
    explained = scales**2 / (scales**2).sum()
    directions = directions[:count]
    sign = np.where(np.sum(firsts, axis=0) @ directions.T < 0, -1.0, 1.0)
    return Subspace(directions * sign[:, None], explained[:count], complete)


def name_subspace(
    embedding: EmbeddingLike,
    sets: DebiasWordsLike,
    *,
    components: int = 4,
    centred: bool = False,
) -> Subspace:
    """Return the directions in which lists of names differ most, with their shares of the squared differences.

    Parameters
    ----------
    embedding
        An embedding whose vectors are not scaled, as in the source's formula and in `bb.metrics.midb`.
    sets
        Word lists (also by name or file) with two or more lists of `names`, one for each group, looked up by
        `bb.embeddings.names_in`.
    components
        Number of directions.
    centred
        Whether the mean difference of two lists is subtracted first; see `bb.geometry.weighted_directions`.

    Raises
    ------
    MeasureError
        If there are no lists of names, the embedding has fewer than two names of a list, or the names'
        differences span fewer directions.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks names.

    References
    ----------
    Dawkins (2021), Marked attribute bias in natural language inference, section 4.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> name_subspace(vectors, words, components=2).explained.round(3)
    array([0.956, 0.044])
    """
    embedding, sets = whole_embedding(embedding), as_debias_words(sets)
    check_has(sets, "names", "A subspace of names")
    stored_names = [tuple(dict.fromkeys(lookup.matches.values())) for lookup in names_in(embedding, sets.names)]
    lists = [embedding.stored(names).astype(np.float64) for names in stored_names]
    directions, weights = weighted_directions_of_lists(lists, components, centred=centred)
    return Subspace(directions, weights, tuple(stored_names))


def weighted_directions_of_lists(
    lists: Sequence[ArrayLike], components: int = 4, *, centred: bool = False
) -> tuple[Floats, Floats]:
    """Return the directions in which two or more lists of vectors differ most, and their weights.

    The directions are the first principal components of the differences between vectors of two different lists; all
    pairs of lists have the same weight. For two lists this is `weighted_directions`, which describes the rest.

    - `lists`: of shapes (words of a list, dimensions).
    - `components`, `centred`: as for `weighted_directions`.

    >>> lists = [[[1.0, 0.1], [1.0, -0.1]], [[-1.0, 0.1], [-1.0, -0.1]], [[0.0, 0.1], [0.0, -0.1]]]
    >>> directions, weights = weighted_directions_of_lists(lists, components=2)
    >>> np.abs(directions).round(12), weights.round(3)
    (array([[1., 0.],
           [0., 1.]]), array([0.99, 0.01]))
    """
    if len(lists) == 2:
        return weighted_directions(lists[0], lists[1], components, centred=centred)
    count, keep_mean = check_count("components", components), not check_flag("centred", centred)
    rows = [checked_rows(vectors) for vectors in lists]
    for other in rows[1:]:
        raise_unless_same_dimensions(rows[0], other)
    pairs = list(combinations(range(len(rows)), 2))
    # A list's covariance enters once for each pair that the list is in.
    share = np.sqrt((len(rows) - 1) / len(pairs))
    within = [(vectors - vectors.mean(axis=0)) * share / np.sqrt(len(vectors)) for vectors in rows]
    means = [vectors.mean(axis=0) for vectors in rows]
    differences = [(means[i] - means[j]) / np.sqrt(len(pairs)) for i, j in pairs]
    stacked = np.vstack([*within, *differences] if keep_mean else within)
    _, sizes, directions = np.linalg.svd(stacked, full_matrices=False)
    longest = max(np.abs(vectors).max() for vectors in rows)
    span = int((sizes > RANK_TOLERANCE * max(sizes[0], 1e-6 * longest)).sum())
    if count > span:
        raise MeasureError(
            f"The differences span {span} dimensions, but components={count}. Give more words, or fewer components."
        )
    directions = directions[:count]
    largest = directions[range(count), np.abs(directions).argmax(axis=1)]
    weights: Floats = sizes[:count] ** 2 / (sizes**2).sum()
    return directions * np.where(largest < 0, -1.0, 1.0)[:, np.newaxis], weights


def neutral_word_bias(
    embedding: Embedding, sets: DebiasWords, *, classes: int, words: int, least: int
) -> tuple[Integers, Floats, int]:
    """Return the rows of all neutral words, their projections on the first bias direction, and the size of a class.

    - `embedding`, `sets`: as in `bias_subspace`; specific and definitional words are not neutral, in any spelling.
    - `classes`: number of classes of equal size into which words are taken.
    - `words`: largest size of a class.
    - `least`: smallest size of a class.

    Raises `MeasureError` if a class would be smaller than `least`, or there is no bias direction.
    """
    others = set(spelled(sets.non_neutral))
    rows = np.array([row for row, word in enumerate(embedding.words) if word not in others], dtype=int)
    count = min(words, len(rows) // classes)
    if count < least:
        raise MeasureError(
            f"The embedding {embedding.name!r} has {len(rows)} words besides those of {sets.name!r}, so with "
            f"words={words} each of {classes} classes has {count}; {least} are needed. Load more of its words, or "
            "raise `words`."
        )
    direction = bias_subspace(embedding, sets, components=1).directions[0]
    return rows, unit_rows(embedding.vectors[rows]) @ direction, count


def without_differences(embedding: Embedding, sets: DebiasWords, columns: slice = slice(None)) -> bool:
    """Return whether the words of each definitional set have the same vectors; False if no set has two words."""
    words_found = [list(embedding.lookup(words).matches.values()) for words in sets.definitional]
    rows = [embedding.stored(words)[:, columns] for words in words_found if len(words) > 1]
    return bool(rows) and not any(np.ptp(vectors, axis=0).any() for vectors in rows)
