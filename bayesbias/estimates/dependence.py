"""How many independent words a list is worth: synonyms and forms of one word are no independent sample.

Given the vectors a_j of a list of n words and the covariance C of the vectors of its vocabulary, the residuals
u_j = a_j - mean have the correlations

    R_jl = u_j' M u_l / sqrt(u_j' M u_j  u_l' M u_l),    M = C^(1/2),

between the cosines of the residuals (M = I) and the correlations of the words' distances to the vocabulary (M = C),
in which a few directions can hide the others. Independent words have R = -1 / (n - 1) on average, which
S = (R + c) / (1 + c) with c = 1 / (n - 1) takes to 0. Pairs with S above a quantile of that of random words are links.
What linked words share beyond chance is dependence:

    d = 1 + max(0, mean_j sum_l sqrt(S_jl) [linked] - (n - 1) e),    n / d words,

with e the mean of sqrt(S) [linked] over pairs of random words. The root stands for what counts in a contrast: where a
list leans much, the words of a cluster lean alike, more than S says of all directions together. Clusters also move the
mean of their list, which makes S too small: c follows from n / d words, until it settles. The mean of a list has the
variance d sigma^2 / n, and the sum of squares around it n - d times sigma^2 (Kish 1965 for the design effect d;
Satterthwaite 1946 for the freedom n / d - 1). `validation/dependent_words` has the trial of this.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.machine import check_memory

QUANTILE = 0.96
# Chance links that a word of a long list may have on average: more would hide the others.
_CHANCE_LINKS = 10
FEWEST_EFFECTIVE = 1.5
"""A list of several words is worth at least so many: fewer have no spread."""
LEAST_FREEDOM = FEWEST_EFFECTIVE - 1
"""Two words have at least this much freedom, or a group of dependent words would have no likelihood."""
_STEPS = 6
_BYTES_A_PAIR = 40  # of two words of a list, in either order
_ALWAYS_FIT = 64  # words: asking for the free memory takes longer than the correlations of short lists


@dataclass(frozen=True, eq=False)
class ChanceCorrelations:
    """Correlations of pairs of words that have nothing to do with each other, in increasing order."""

    values: Floats

    @classmethod
    def from_pairs(cls, correlations: Floats) -> "ChanceCorrelations":
        """Return the chance correlations of an array of pairs, of any shape."""
        return cls(np.sort(correlations, axis=None))

    def level(self, words: int) -> tuple[float, float]:
        """Return the correlation above which words of a list of this length are linked, and e, the chance share.

        >>> [round(value, 4) for value in ChanceCorrelations.from_pairs(np.linspace(-1, 1, 2001)).level(8)]
        [0.92, 0.0392]
        """
        quantile = max(QUANTILE, 1 - _CHANCE_LINKS / words)
        if quantile not in self._levels:
            threshold = float(np.quantile(self.values, quantile))
            above = self.values[np.searchsorted(self.values, threshold, side="right") :]
            self._levels[quantile] = threshold, float(np.sqrt(above.clip(0)).sum() / len(self.values))
        return self._levels[quantile]

    @cached_property
    def _levels(self) -> dict[float, tuple[float, float]]:
        """Levels by quantile: a study of thousands of lists asks for few of them."""
        return {}


def check_room_for_pairs(words: int) -> None:
    """Raise `NotEnoughMemoryError` if the correlations of so many words do not fit into the free memory."""
    if words <= _ALWAYS_FIT:
        return
    what = f"The correlations of {words:,} words with each other"
    check_memory(_BYTES_A_PAIR * words**2, what, "Take shorter lists, or allow more memory.")


def residual_correlations(vectors: Floats, metric: Floats | None = None) -> Floats:
    """Return the correlations R of rows around their mean, shape (rows, rows); `metric` is M (None: the identity).

    A row that equals the mean has the correlation 0 with the others.

    >>> residual_correlations(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])).round(2)[0].tolist()
    [1.0, 0.0, -0.71]
    """
    check_room_for_pairs(len(vectors))
    residuals = vectors - vectors.mean(axis=0)
    products = residuals @ (residuals if metric is None else residuals @ metric).T
    lengths = np.sqrt(np.maximum(np.diag(products), 0.0))
    usable = lengths > 1e-9 * max(float(lengths.max(initial=0.0)), np.finfo(float).tiny)
    scale = np.where(usable, lengths, np.inf)
    correlations: Floats = products / scale[:, None] / scale
    return correlations


@dataclass(frozen=True, eq=False)
class LinkedWords:
    """Linked pairs of words, and what chance links.

    `pairs` (pairs, 2) are positions of words, each pair once; `strengths` (pairs,) the roots of their S; `chance`
    (words,) is e of each word's list.
    """

    pairs: np.ndarray
    strengths: Floats
    chance: Floats

    @classmethod
    def none(cls, words: int) -> "LinkedWords":
        """Return no links among so many words: they are independent."""
        return cls(np.empty((0, 2), dtype=np.intp), np.empty(0), np.zeros(words))

    def keep(self, places: np.ndarray) -> "LinkedWords":
        """Return the links among some words, whose positions are those in `places`."""
        position = np.full(len(self.chance), -1)
        position[places] = np.arange(len(places))
        pairs = position[self.pairs]
        whole = (pairs >= 0).all(axis=1)
        return LinkedWords(pairs[whole], self.strengths[whole], self.chance[places])

    def placed(self, places: np.ndarray, words: int) -> "LinkedWords":
        """Return the links as those of some words, at positions `places`, among `words` words."""
        chance = np.zeros(words)
        chance[places] = self.chance
        return LinkedWords(places[self.pairs], self.strengths, chance)

    def correlations(self, list_of: np.ndarray) -> Floats:
        """Return the correlations of all words beyond chance, shape (words, words), with d as their mean row sum.

        `list_of` (words,) is the list of each word. Strengths are smaller in proportion to what chance links.

        >>> links = LinkedWords(np.array([[0, 1]]), np.array([0.6]), np.full(4, 0.05))
        >>> links.correlations(np.zeros(4)).round(2)[0].tolist(), links.design_effect(np.arange(4))
        ([1.0, 0.3, 0.0, 0.0], 1.15)
        """
        check_room_for_pairs(len(self.chance))
        correlations: Floats = np.eye(len(self.chance))
        first, second = self.pairs.T
        correlations[first, second] = correlations[second, first] = self.strengths
        for name in np.unique(list_of):
            members = np.flatnonzero(list_of == name)
            block = np.ix_(members, members)
            shared = correlations[block].sum() / len(members) - 1
            share = (self.design_effect(members) - 1) / shared if shared > 0 else 0.0
            correlations[block] = share * correlations[block] + (1 - share) * np.eye(len(members))
        return correlations

    def design_effect(self, members: np.ndarray) -> float:
        """Return d of the list of the words at some positions.

        >>> links = LinkedWords(np.array([[0, 1]]), np.array([0.6]), np.zeros(4))
        >>> links.design_effect(np.arange(4)), links.design_effect(np.array([1, 2, 3]))
        (1.3, 1.0)
        """
        words = len(members)
        inside = np.isin(self.pairs, members).all(axis=1)
        shared = 2 * float(self.strengths[inside].sum()) / max(words, 1)
        return _effect(shared - (words - 1) * float(self.chance[members].mean()), words)


def linked_words(correlations: Floats, chance: ChanceCorrelations) -> LinkedWords:
    """Return the links of one list, given its correlations R, shape (words, words).

    >>> twins = np.array([[1.0, 0.9, -0.6, -0.6], [0.9, 1.0, -0.6, -0.6], [-0.6, -0.6, 1, -0.2], [-0.6, -0.6, -0.2, 1]])
    >>> links = linked_words(twins, ChanceCorrelations.from_pairs(np.linspace(-0.5, 0.5, 1001)))
    >>> links.pairs.tolist(), round(links.design_effect(np.arange(4)), 2)
    ([[0, 1]], 1.4)
    """
    words = len(correlations)
    if words < 3:  # two words have the correlation -1 whatever they are
        return LinkedWords.none(words)
    threshold, chance_share = chance.level(words)
    first, second = np.triu_indices(words, 1)
    values = correlations[first, second]
    shift = 1 / (words - 1)
    linked = (values + shift) / (1 + shift) > threshold
    first, second, values = first[linked], second[linked], values[linked]
    effect = 1.0
    for _ in range(_STEPS):
        shift = 1 / (max(words / effect, FEWEST_EFFECTIVE) - 1)
        strengths = np.sqrt(np.maximum((values + shift) / (1 + shift), 0.0))
        effect = _effect(2 * float(strengths.sum()) / words - (words - 1) * chance_share, words)
    return LinkedWords(np.column_stack([first, second]), strengths, np.full(words, chance_share))


def _effect(shared: float, words: int) -> float:
    return float(min(1 + max(0.0, shared), max(1.0, words / FEWEST_EFFECTIVE)))


def error_factor(words: float, effect: float) -> float:
    """Return how many times larger the standard error of a mean over dependent words, or pairs, is.

    >>> round(error_factor(8, 2.0), 3)
    1.528
    """
    return float(np.sqrt(effect * (words - 1) / (words - effect)))


def clusters(links: LinkedWords, least: float) -> list[list[int]]:
    """Return the clusters of words that links of at least this strength join, of two words and more, the largest first.

    >>> links = LinkedWords(np.array([[0, 1], [2, 3], [3, 4]]), np.array([0.9, 0.8, 0.2]), np.zeros(5))
    >>> clusters(links, 0.5)
    [[0, 1], [2, 3]]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    words, strong = len(links.chance), links.strengths >= least
    if not strong.any():
        return []
    first, second = links.pairs[strong].T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(words, words))
    cluster_of = connected_components(graph, directed=False)[1]
    members = [np.flatnonzero(cluster_of == cluster).tolist() for cluster in np.unique(cluster_of)]
    return sorted((places for places in members if len(places) > 1), key=len, reverse=True)
