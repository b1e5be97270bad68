"""Sub-lists of word lists: their similarities as a lattice, and whether each is most similar to itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, share_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Described, Facts, Statement, StatementList, rows_of
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import condition_number
from bayesbias.metrics.measure_entry import shared_parameters
from bayesbias.metrics.subspaces.similarity_metrics import (
    Metric,
    all_similarities,
    list_vectors,
    metric_name,
    products,
    right_side,
)

# So many pairs of sub-lists take seconds, and so many calls of a function about a minute.
MOST_PAIRS = 10_000_000
MOST_CALLS = 1_000_000
# Up to this number, all sub-lists are listed to draw from them; beyond it, draws hardly ever repeat.
_MOST_LISTED = 200_000
_BLOCK = 512


def all_subsets(words: int, size: int) -> Integers:
    """Return the positions of the words of all sub-lists of a size, of shape (sub-lists, size), in lexicographic order.

    >>> all_subsets(3, 2)
    array([[0, 1],
           [0, 2],
           [1, 2]])
    """
    flat = np.fromiter((position for row in combinations(range(words), size) for position in row), dtype=np.intp)
    return flat.reshape(-1, size)


def draw_subsets(words: int, size: int, samples: int | None, rng: np.random.Generator) -> Integers:
    """Return `samples` different random sub-lists of a size, or all if there are no more or it is None, in order.

    `words` is the length of the list, `size` that of a sub-list.

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
    """Return the sub-lists that differ from a sub-list in one word.

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
    """Raise `MeasureError` if there are more pairs of sub-lists than can be compared in reasonable time.

    `words` is the length of the list, for the message; `looped` says whether a function is called for each pair.

    >>> raise_if_too_many(63_205_303_218_876, 25, looped=False)
    Traceback (most recent call last):
    ...
    bayesbias.errors.MeasureError: 25 words have sub-lists that make 63,205,303,218,876 pairs, more than 10,000,000...
    """
    most = MOST_CALLS if looped else MOST_PAIRS
    if pairs > most:
        raise MeasureError(
            f"{words} words have sub-lists that make {pairs:,} pairs, more than {most:,}. Draw a sample of them "
            "(samples=1000, random_seed=...), or choose fewer sizes (sizes=[...])."
        )


def checked_samples(samples: int | None) -> int | None:
    """Return the number of sub-lists of a size to draw, or None for all; raise `ArgumentError` if it is less than 1.

    >>> checked_samples(1000)
    1000
    """
    return None if samples is None else check_count("samples", samples)


def checked_sizes(sizes: Sequence[int] | None, most: int) -> tuple[int, ...]:
    """Return the sizes of sub-lists, by default 1 to `most`, or raise `MeasureError` if one is larger.

    >>> checked_sizes(None, 3)
    (1, 2, 3)
    """
    if sizes is not None and not np.iterable(sizes):
        raise MeasureError(f"sizes={sizes!r}: give a list of sizes, such as [2, 3].")
    chosen = dict.fromkeys(range(1, most + 1) if sizes is None else (check_count("sizes", size) for size in sizes))
    if not chosen or max(chosen) > most:
        raise MeasureError(f"sizes={sizes!r}: give at least one size, each from 1 to {most} words.")
    return tuple(chosen)


def named(words: Sequence[str], places: Integers) -> tuple[str, ...]:
    """Return the words at given positions.

    >>> named(("he", "him", "his"), np.array([0, 2]))
    ('he', 'his')
    """
    return tuple(words[position] for position in places)


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(Described):
    """Similarities of all sub-lists of one list with those of the same or another list, by size.

    Parameters
    ----------
    metric
        Name of the metric.
    words, other_words
        Words of the two lists, which are the same for a lattice within a list.
    subsets, other_subsets
        Positions of the words of each sub-list, by size, of shape (sub-lists, size).
    similarities
        Similarities by size, of shape (sub-lists of the first list, sub-lists of the other).
    within
        Whether the two lists are the same.
    random_seed
        Seed of the draws, or None if all sub-lists are included.
    """

    metric: str
    words: tuple[str, ...]
    other_words: tuple[str, ...]
    subsets: Mapping[int, Integers]
    other_subsets: Mapping[int, Integers]
    similarities: Mapping[int, Floats]
    within: bool
    random_seed: int | None

    @property
    def _facts(self) -> Facts:
        return {
            "metric": self.metric,
            "words": self.words,
            "other_words": () if self.within else self.other_words,
            "sizes": f"{min(self.similarities)} to {max(self.similarities)}",
            "similarities": sum(cells.size for cells in self.similarities.values()),
        }

    def frame(self, size: int) -> pd.DataFrame:
        """Return the similarities of one size, with rows and columns named after the words of the sub-lists."""
        if size not in self.similarities:
            raise MeasureError(f"The lattice has no size {size}; it has {name_some(self.similarities, 30)}.")
        return pd.DataFrame(
            self.similarities[size],
            index=pd.Index([", ".join(named(self.words, row)) for row in self.subsets[size]]),
            columns=pd.Index([", ".join(named(self.other_words, row)) for row in self.other_subsets[size]]),
        )

    def summary(self) -> pd.DataFrame:
        """Return the number of similarities of each size, and their lowest, mean and highest value.

        Kindel (2023), Figure 2, right.
        """
        return pd.DataFrame(
            [
                {"size": q, "pairs": cells.size, "lowest": cells.min(), "mean": cells.mean(), "highest": cells.max()}
                for q, cells in self.similarities.items()
            ]
        )


@shared_parameters()
def lattice(
    embedding: EmbeddingLike,
    words: Sequence[str],
    other: Sequence[str] | None = None,
    *,
    metric: Metric = "canonical_subspace",
    sizes: Sequence[int] | None = None,
    samples: int | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> Lattice:
    """Return the similarities of all sub-lists of a list with all sub-lists of the same size of it or of another list.

    Parameters
    ----------
    words
        List of words.
    other
        Another list. Default: the same list.
    metric
        Name in `METRICS`, or a function of two arrays of vectors, each of shape (words, dimensions), that returns a
        number.
    sizes
        Sizes of the sub-lists. Default: all from 1 to one less than the number of words, or, between two lists, to the
        length of the shorter one.
    samples
        Number of sub-lists of each size to draw if there are more. None: all.

    Raises
    ------
    MeasureError
        If there are too many pairs of sub-lists, or the metric or a size is unknown.

    References
    ----------
    Kindel (2023), Figure 1 (within a list) and Figure 2 (between two lists). The right panel of Figure 2 shows the mean
    of the squared cosines, ``"mean_squared_cosine"``, which equals the canonical metric for single words.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> study = bb.load_study("weat7")
    >>> between = lattice(vectors, study.attributes["male"], study.attributes["female"])
    >>> between.similarities[4].shape
    (70, 70)
    >>> bool(between.summary()["mean"].is_monotonic_increasing)
    True
    """
    seed = resolve_seed(random_seed)
    samples = checked_samples(samples)
    lists = {"words": words} if other is None else {"words": words, "other": other}
    available_words, vectors = list_vectors(embedding, lists, metric, max_lost)
    first, second = vectors[0], vectors[-1]
    shorter = min(map(len, vectors))
    chosen = checked_sizes(sizes, shorter - 1 if other is None else shorter)
    counts = {
        q: tuple(min(comb(len(part), q), samples or comb(len(part), q)) for part in (first, second)) for q in chosen
    }
    pairs = sum(a * b for a, b in counts.values())
    raise_if_too_many(pairs, max(map(len, vectors)), looped=callable(metric))
    rng = np.random.default_rng(seed)
    rows = {q: draw_subsets(len(first), q, samples, rng) for q in chosen}
    columns = rows if other is None else {q: draw_subsets(len(second), q, samples, rng) for q in chosen}
    sampled = any(counts[q] != (comb(len(first), q), comb(len(second), q)) for q in chosen)
    return Lattice(
        metric=metric_name(metric),
        words=available_words[0],
        other_words=available_words[-1],
        subsets=rows,
        other_subsets=columns,
        similarities={
            q: all_similarities(metric, first[rows[q]], second[columns[q]])
            for q in with_progress(chosen, "Sizes of sub-lists", progress=progress)
        },
        within=other is None,
        random_seed=seed if sampled else None,
    )


@dataclass(frozen=True, eq=False, repr=False)
class SubsetConsistency(Result):
    """Whether each sub-list of a list is most similar to itself, and the share that is, J, for each size.

    Parameters
    ----------
    sizes : pandas.DataFrame
        One row per size: `q`, `k` (the number of words in the list), the number of `subsets` examined out of
        `possible`, and `index`, J: 1 if every sub-list is most similar to itself, less if the metric is inconsistent.
        `index_mcse` is its Monte Carlo standard error: 0 if all sub-lists were examined; for a sample, the standard
        deviation of the share under a uniform prior, which is not 0 even if all are consistent. `condition_number` is
        that of the list.
    subsets : pandas.DataFrame
        One row per sub-list: its `size`, the `subset` (a tuple of words), its similarity to itself
        (`self_similarity`) and to the `nearest` other sub-list of this size (`nearest_similarity`); whether it is
        `consistent` (ties are); and the `condition_number` of its cosine similarities.
    metric
        Name of the metric.
    words
        Words of the list that the embedding has.
    random_seed
        Seed of the draws. None: all sub-lists were examined.
    """

    sizes: pd.DataFrame
    subsets: pd.DataFrame
    metric: str
    words: tuple[str, ...]
    random_seed: int | None

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        sizes = (
            Statement(
                "size",
                f"{counted(row['q'], 'word')}: {share_text(row['index'])} of {counted(row['subsets'], 'sub-list')} "
                f"{'' if row['subsets'] == row['possible'] else 'drawn '}are most similar to themselves.",
                row,
            )
            for row in rows_of(self.sizes)
        )
        least = rows_of(self.sizes.loc[[self.sizes["index"].idxmin()]])[0]
        text = (
            f"At least {share_text(least['index'])} of the sub-lists of each size are most similar to themselves; the "
            f"fewest, of {counted(least['q'], 'word')}."
        )
        return StatementList("", (Statement("answer", text, least),), bulleted=False), StatementList("", tuple(sizes))

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes["q"]))
        return f"SubsetConsistency({counted(len(self.words), 'word')}, metric={self.metric!r}, sizes {sizes})"

    @property
    def contents(self) -> Contents:
        """The share of consistent sub-lists of each size."""
        shown = self.subsets[(self.subsets["size"] > 1) & np.isfinite(self.subsets["condition_number"])]
        caption = "How much nearer each sub-list is to itself than to any other, by its condition number"
        return contents_of(
            self,
            title="Is a list most similar to itself?",
            about=f"{self.metric.replace('_', ' ').capitalize()} of sub-lists of {name_some(self.words)}.",
            captions={"sizes": "Share of sub-lists that are most similar to themselves, the index of inconsistency J"},
            data=("subsets",),
            figures={"consistency": ResultFigure("plot_consistency", caption)} if len(shown) else {},
            headings=_HEADINGS,
        )


_HEADINGS = {
    **{"q": "Words of a sub-list", "k": "Words of the list", "subsets": "Sub-lists", "possible": "Possible"},
    **{"index": "J", "index_mcse": "SE of J", "condition_number": "Condition number", "size": "Size"},
    **{"subset": "Sub-list", "self_similarity": "To itself", "consistent": "Consistent"},
    **{"nearest": "Nearest other", "nearest_similarity": "To the nearest"},
}


@shared_parameters()
def subset_consistency(
    embedding: EmbeddingLike,
    words: Sequence[str],
    metric: Metric = "mean_cosine",
    *,
    sizes: Sequence[int] | None = None,
    samples: int | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> SubsetConsistency:
    """Return whether each sub-list of a list is most similar to itself, and the share that is, J, for each size.

    Parameters
    ----------
    words, metric
        As for `lattice`.
    sizes
        Sizes of the sub-lists. Default: all from 1 to one less than the number of words.
    samples
        Number of sub-lists of each size to draw if there are more. Each is compared with itself and with all sub-lists
        that differ from it in one word. This finds every inconsistency of a mean over all pairs of words: if some
        sub-list is nearer than the sub-list itself, then so is one that differs in one word. Inconsistencies of other
        metrics may be missed. None: all sub-lists are compared with each other.
    random_seed
        Seed of the draws. None: a seed is drawn and recorded.

    Returns
    -------
    SubsetConsistency
        Sub-lists in `subsets`, and the index J in `sizes`.

    Raises
    ------
    MeasureError
        If there are too many sub-lists, or the metric or a size is unknown.

    References
    ----------
    Kindel (2023), equation arg sup_j Sim(W_i, W_j) = i, Figure 1, and the index of inconsistency J_{q,k}(Sim_W). He
    shows failures of the mean cosine for lists of at least four words and sub-lists of at least three. It can fail
    earlier: two words with a third one between them are nearer to a pair that holds the third than to themselves.

    Examples
    --------
    >>> vectors = {"low": [1.0, 0.2], "middle": [1.0, 0.0], "high": [1.0, -0.3]}
    >>> subsets = subset_consistency(vectors, list(vectors), sizes=[2]).subsets
    >>> subsets.loc[~subsets["consistent"], ["subset", "nearest"]].to_numpy().tolist()
    [[('low', 'high'), ('middle', 'high')]]
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> male = bb.load_study("weat7").attributes["male"]
    >>> consistency = subset_consistency(vectors, male, "canonical_subspace", sizes=[3, 7])
    >>> consistency.sizes[["q", "k", "subsets", "index"]]
       q  k  subsets  index
    0  3  8       56    1.0
    1  7  8        8    1.0
    """
    seed = resolve_seed(random_seed)
    samples = checked_samples(samples)
    (available_words,), (vectors,) = list_vectors(embedding, {"words": words}, metric, max_lost)
    chosen = checked_sizes(sizes, len(available_words) - 1)
    sampled_sizes = {q: samples is not None and comb(len(available_words), q) > samples for q in chosen}
    pairs = sum(
        (samples or 0) * (1 + q * (len(available_words) - q)) if sampled else comb(len(available_words), q) ** 2
        for q, sampled in sampled_sizes.items()
    )
    raise_if_too_many(pairs, len(available_words), looped=callable(metric))
    rng = np.random.default_rng(seed)
    frames = []
    for q, sampled in with_progress(list(sampled_sizes.items()), "Sizes of sub-lists", progress=progress):
        subsets = (
            draw_subsets(len(available_words), q, samples, rng) if sampled else all_subsets(len(available_words), q)
        )
        self_similarity, nearest_similarity, nearest = (_against_neighbours if sampled else _against_all)(
            metric, vectors, subsets
        )
        frames.append(
            pd.DataFrame(
                {
                    "size": q,
                    "subset": [named(available_words, row) for row in subsets],
                    "self_similarity": self_similarity,
                    "nearest": [named(available_words, row) for row in nearest],
                    "nearest_similarity": nearest_similarity,
                    "consistent": self_similarity
                    >= nearest_similarity - ROUNDING * np.maximum(1.0, np.abs(self_similarity)),
                    "condition_number": condition_number(vectors[subsets]),
                }
            )
        )
    by_subset = pd.concat(frames, ignore_index=True)
    return SubsetConsistency(
        sizes=_sizes(by_subset, len(available_words), float(condition_number(vectors))),
        subsets=by_subset,
        metric=metric_name(metric),
        words=available_words,
        random_seed=seed if any(sampled_sizes.values()) else None,
    )


def _sizes(by_subset: pd.DataFrame, k: int, condition: float) -> pd.DataFrame:
    """Return the index of inconsistency of each size of sub-lists of a list of k words."""
    rows = []
    for q in by_subset["size"].unique().tolist():
        consistent = by_subset.loc[by_subset["size"] == q, "consistent"]
        looked_at, possible = len(consistent), comb(k, q)
        share = (consistent.sum() + 1) / (looked_at + 2)
        error = np.sqrt(share * (1 - share) / (looked_at + 3) * (1 - looked_at / possible))
        rows.append((q, k, looked_at, possible, consistent.mean(), error, condition))
    return pd.DataFrame(rows, columns=["q", "k", "subsets", "possible", "index", "index_mcse", "condition_number"])


def _against_all(metric: Metric, vectors: Floats, subsets: Integers) -> tuple[Floats, Floats, Integers]:
    """Return the similarity of each sub-list to itself, to the nearest of all others, and that nearest sub-list."""
    self_similarity, nearest_similarity, nearest = (
        np.empty(len(subsets)),
        np.empty(len(subsets)),
        np.empty(len(subsets), dtype=np.intp),
    )
    right = right_side(metric, vectors[subsets])
    for start in range(0, len(subsets), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(subsets)))
        block = products(metric, vectors[subsets[rows]], right)
        diagonal = (rows - start, rows)
        self_similarity[rows] = block[diagonal]
        block[diagonal] = -np.inf
        nearest[rows] = block.argmax(axis=1)
        nearest_similarity[rows] = block.max(axis=1)
    return self_similarity, nearest_similarity, subsets[nearest]


def _against_neighbours(metric: Metric, vectors: Floats, subsets: Integers) -> tuple[Floats, Floats, Integers]:
    """Return what `_against_all` does, with only those sub-lists as others that differ in one word."""
    rows = []
    for subset in subsets:
        others = one_word_changed(subset, len(vectors))
        candidates = vectors[np.concatenate([subset[np.newaxis], others])]
        self_similarity, *values = all_similarities(metric, vectors[subset[np.newaxis]], candidates)[0]
        position = int(np.argmax(values))
        rows.append((self_similarity, values[position], others[position]))
    self_similarities, nearest_similarities, nearest = map(np.array, zip(*rows, strict=True))
    return self_similarities, nearest_similarities, nearest
