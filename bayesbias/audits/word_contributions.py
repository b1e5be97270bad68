"""What each word contributes to the error of a number, so that embeddings with the same words are compared in pairs.

Words are samples of their lists. The number T of a study changes to T_w without the word w, and the jackknife (Efron
and Stein 1981; Arvesen 1969 for several samples) has

    c_w = sqrt((n - 1) / n) (mean of T_v over the list - T_w),

with n the words of the list, whose sum of squares is the variance of T over such lists of independent words. Words that
depend on each other count as what they are worth: c_w times `error_factor`. Two embeddings with the contributions c and
c' of the same words have a difference with the variance sum_w (c_w - c'_w)^2: what they share cancels, and all of it if
they are equal.

The sum over both sides has the noise of single pairs twice: the contribution of a protected word has that of its pairs,
and so has that of an attribute word. Pairs have h_ij = (dT / dy_ij) r_ij, with r the numbers of a list and a group
without the means of their words, and sum_ij h_ij h'_ij is the covariance that is counted twice (`without_pairs`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import COLLINEAR, ROUNDING, Floats
from bayesbias.errors import FitError
from bayesbias.models.data import SIDES, ModelData
from bayesbias.models.fits import fitted_rows
from bayesbias.models.multivariate.attribute_sample import attribute_sample, has_both
from bayesbias.reports.measures.measure_posterior import fitted_study, observed_pairs

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.metrics.similarities import SimilarityMeasure

ROLES = ("protected", "attribute")
WORD_TEXTS = ("measure", "role", "list", "word")
WORD_COLUMNS = (*WORD_TEXTS, "contribution", "effect")
PAIR_COLUMNS = (*ROLES, "contribution")


@dataclass(frozen=True, eq=False)
class WordContributions:
    """What the words of a study contribute to the error of a number in one embedding.

    - `words`: a row per word and list: `role` (of `ROLES`), `list`, `word`, its `contribution`, and the design `effect`
      of its list: n dependent words are worth n over it independent ones.
    - `pairs`: a row per pair: the positions in `words` of its `protected` and its `attribute` word, and `contribution`,
      the noise of the pair; None if that is not known.
    - `own_error`: standard deviation of the error that no other embedding shares: rounding, and the choice of
      contexts.
    """

    words: "pd.DataFrame"
    own_error: float
    pairs: "pd.DataFrame | None" = None


@dataclass(frozen=True, eq=False)
class ListedWords:
    """Words of the lists of one side of a study.

    - `words` (words,); `list_of` (words,): position of the list of each in `lists`.
    - `effects` (lists,): design effects of the lists.
    """

    words: np.ndarray
    list_of: np.ndarray
    lists: tuple[str, ...]
    effects: np.ndarray


def jackknife(
    number: Callable[[np.ndarray, np.ndarray], float], protected: ListedWords, attributes: ListedWords
) -> list[dict[str, Any]]:
    """Return the contribution of each word to the error of a number, a row per word; none if its error is unknown.

    - `number`: function of the positions of the protected words, and of the attribute words, that are left.

    A protected group of one word is taken as it is. An attribute list of one word has no error, and so has a number
    that does not exist without one of the words.

    >>> values = np.array([[1.0, 2.0, 6.0]])
    >>> one = ListedWords(np.array(["p"]), np.zeros(1, int), ("P",), np.ones(1))
    >>> three = ListedWords(np.array(["a", "b", "c"]), np.zeros(3, int), ("A",), np.ones(3))
    >>> rows = jackknife(lambda some, others: values[np.ix_(some, others)].mean(), one, three)
    >>> bool(np.isclose(sum(row["contribution"] ** 2 for row in rows), values.var(ddof=1) / 3))
    True
    """
    every = np.arange(len(protected.words)), np.arange(len(attributes.words))
    rows: list[dict[str, Any]] = []
    for side, (role, listed) in enumerate(zip(ROLES, (protected, attributes), strict=True)):
        for place, name in enumerate(listed.lists):
            members = np.flatnonzero(listed.list_of == place)
            count = len(members)
            if count < 2:
                if side and count:
                    return []
                continue
            without = np.empty(count)
            for position, word in enumerate(members):
                left = [*every]
                left[side] = np.delete(left[side], word)
                without[position] = number(*left)
            if not np.isfinite(without).all():
                return []
            changes = (without.mean() - without) * np.sqrt((count - 1) / count)
            of_list = {"role": role, "list": name, "effect": float(listed.effects[place])}
            rows += [
                {**of_list, "word": str(word), "contribution": float(value)}
                for word, value in zip(listed.words[members], changes, strict=True)
            ]
    return rows


def single_sd(blocks: Iterable[Floats]) -> float:
    """Return the standard deviation of numbers (protected words, attribute words) without the means of their words.

    Attribute words without a number beside each protected word of a block are left out. NaN if no block has two words
    on both sides.

    >>> round(single_sd([np.array([[1.0, 2.0], [3.0, 6.0]])]), 9)
    1.0
    """
    squares, freedom, largest = 0.0, 0, 0.0
    for block in blocks:
        numbers = block[:, np.isfinite(block).all(axis=0)]
        if numbers.size and (free := (numbers.shape[0] - 1) * (numbers.shape[1] - 1)) > 0:
            single = _single(numbers)
            squares, freedom = squares + float((single**2).sum()), freedom + free
            largest = max(largest, float(np.abs(numbers).max()))
    spread = float(np.sqrt(squares / freedom)) if freedom else 0.0
    return spread if spread > ROUNDING * largest else float("nan")


def _single(numbers: Floats) -> Floats:
    """Return numbers (protected words, attribute words) without the means of their words."""
    return np.asarray(numbers - numbers.mean(axis=0) - numbers.mean(axis=1, keepdims=True) + numbers.mean())


@dataclass(frozen=True, eq=False)
class StandardisedContrast:
    """The standardised contrast of a study as a function of its words.

    - `protected`, `attributes`: words that are compared, which are the rows and columns of `numbers`.
    - `weights` (protected words, lists): weights of the lists in the contrast of each word.
    - `is_own` (protected words, lists): whether a list is associated or different for a word, and no control.
    """

    numbers: Floats
    protected: ListedWords
    attributes: ListedWords
    weights: Floats
    is_own: np.ndarray

    @classmethod
    def of_rows(cls, rows: ModelData) -> "StandardisedContrast":
        """Return the contrast of the first two connections of a table; raise `FitError` if it repeats pairs."""
        sample = attribute_sample(rows)
        compared = has_both(sample, 0, 1)
        by_connection = sample.connection_weights[compared]
        sides = [place for place, name in enumerate(rows.connections) if name in SIDES]
        weights = by_connection[:, 0] - by_connection[:, 1]
        used = np.isin(sample.list_of, np.flatnonzero(weights.any(axis=0)))
        groups = tuple(np.unique(rows.protected_groups).tolist())
        return cls(
            sample.distances[used][:, compared].T,
            ListedWords(rows.protected_words[compared], sample.group_of[compared], groups, sample.group_effects),
            ListedWords(rows.attribute_words[used], sample.list_of[used], sample.lists, sample.list_effects),
            weights,
            by_connection[:, sides].any(axis=1),
        )

    def parts(self, protected: np.ndarray, attributes: np.ndarray) -> tuple[float, float]:
        """Return the contrast of words at some positions, and the standard deviation of their single pairs."""
        group_of, contrast, blocks = self.protected.list_of[protected], np.zeros(len(protected)), []
        lists = self.attributes.list_of[attributes]
        for place in np.unique(lists):
            numbers = self.numbers[np.ix_(protected, attributes[lists == place])]
            measured = np.isfinite(numbers)
            means = np.where(measured, numbers, 0.0).sum(axis=1) / measured.sum(axis=1).clip(1)
            contrast += self.weights[protected, place] * means
            with_list = self.is_own[protected, place]
            blocks += [numbers[with_list & (group_of == group)] for group in np.unique(group_of[with_list])]
        groups = [contrast[group_of == group].mean() for group in np.unique(group_of)]
        return float(np.mean(groups)), single_sd(blocks)

    @property
    def _own_pairs(self) -> int:
        """Number of pairs of which the deviation is."""
        return int(self.is_own[:, self.attributes.list_of].sum())

    def pairs(self, words: "Rows") -> "pd.DataFrame":
        """Return what the noise of single pairs contributes to the contrast over its deviation, a row per pair.

        `words` are the `contributions`, in which the columns `protected` and `attribute` are positions.
        """
        import pandas as pd

        row_of = {(row["role"], row["list"], row["word"]): place for place, row in enumerate(words)}
        every = np.arange(len(self.protected.words)), np.arange(len(self.attributes.words))
        contrast, sd = self.parts(*every)
        sizes = np.bincount(self.protected.list_of)
        groups, count = len(np.unique(self.protected.list_of)), self._own_pairs
        frames = [pd.DataFrame(columns=list(PAIR_COLUMNS), dtype=float)]
        for group, place in product(np.unique(self.protected.list_of), np.unique(self.attributes.list_of)):
            some, others = (
                np.flatnonzero(side.list_of == number)
                for side, number in ((self.protected, group), (self.attributes, place))
            )
            others = others[np.isfinite(self.numbers[np.ix_(some, others)]).all(axis=0)]
            numbers = self.numbers[np.ix_(some, others)]
            free = (numbers.shape[0] - 1) * (numbers.shape[1] - 1)
            if free < 1:
                continue
            single = _single(numbers) * np.sqrt(numbers.size / free)
            slope = self.weights[some, place][:, None] / (sizes[group] * groups * len(others))
            noise = slope * single / sd
            if self.is_own[some[0], place]:  # they also enter the deviation
                noise -= contrast / sd * (np.square(single / sd) - 1) / (2 * count)
            rows, columns = (
                [row_of[role, side.lists[number], str(word)] for word in side.words[members]]
                for role, side, number, members in zip(
                    ROLES, (self.protected, self.attributes), (group, place), (some, others), strict=True
                )
            )
            cells = np.repeat(rows, len(columns)), np.tile(columns, len(rows)), noise.ravel()
            frames.append(pd.DataFrame(dict(zip(PAIR_COLUMNS, map(np.asarray, cells), strict=True)), dtype=float))
        return pd.concat(frames[1:] or frames, ignore_index=True)

    def contributions(self) -> list[dict[str, Any]]:
        """Return what words contribute to the error of the contrast over its deviation, a row per word."""
        return jackknife(lambda *left: np.divide(*self.parts(*left)), self.protected, self.attributes)


def without_pairs(parts: Floats, pairs: Floats) -> Floats:
    """Return contributions of words (words, embeddings) without the noise of their pairs (pairs, embeddings).

    With A the contributions and H those of pairs, those that are returned have A' A - H' H for their products, as far
    as that is a covariance, and keep the directions of the words.

    >>> without_pairs(np.array([[3.0], [4.0]]), np.array([[4.0]])).round(9).tolist()
    [[1.8], [2.4]]
    """
    left, sizes, right = np.linalg.svd(parts, full_matrices=False)
    used = sizes > COLLINEAR * sizes.max(initial=0.0)
    left, sizes, right = left[:, used], sizes[used], right[used]
    noise = pairs @ right.T / sizes
    values, vectors = np.linalg.eigh(np.eye(len(sizes)) - noise.T @ noise)
    roots = vectors * np.sqrt(values.clip(0)) @ vectors.T
    return np.asarray(left @ roots * sizes @ right)


type Rows = list[dict[str, Any]]


def contrast_contributions(rows: ModelData) -> tuple[Rows, "pd.DataFrame | None"]:
    """Return what words and pairs contribute to a table's standardised contrast; nothing if it repeats pairs."""
    try:
        contrast = StandardisedContrast.of_rows(rows)
    except FitError:  # rows that repeat a pair are no sample of words
        return [], None
    words = contrast.contributions()
    return words, contrast.pairs(words) if words else None


def measure_contributions(fitted: "xr.DataTree", function: "SimilarityMeasure") -> list[dict[str, Any]]:
    """Return what words contribute to a measure of the similarities of a fit's table, a row per word."""
    rows = fitted_rows(fitted)
    try:
        sample = attribute_sample(rows)
    except FitError:
        return []
    observed, _ = observed_pairs(fitted, function.lists(fitted_study(fitted), None, None))
    groups = dict(zip(np.unique(rows.protected_groups).tolist(), sample.group_effects, strict=True))
    protected = _listed(observed.protected, groups)
    attributes = _listed(observed.attributes, dict(zip(sample.lists, sample.list_effects, strict=True)))

    def number(some: np.ndarray, others: np.ndarray) -> float:
        left = replace(
            observed,
            values=observed.values[np.ix_(some, others)],
            protected=_left(protected, some),
            attributes=_left(attributes, others),
        )
        return float(next(iter(function.statistics(left).values())))

    return jackknife(number, protected, attributes)


def _listed(lists: Mapping[str, Sequence[str]], effects: Mapping[str, float]) -> ListedWords:
    return ListedWords(
        np.array([word for words in lists.values() for word in words]),
        np.repeat(np.arange(len(lists)), list(map(len, lists.values()))),
        tuple(lists),
        np.array([effects.get(name, 1.0) for name in lists]),
    )


def _left(listed: ListedWords, places: np.ndarray) -> dict[str, list[str]]:
    """Return the words that are left, by list."""
    return {
        name: listed.words[places[listed.list_of[places] == place]].tolist() for place, name in enumerate(listed.lists)
    }
