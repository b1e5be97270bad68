"""Lattices: the similarities of all sub-lists of a word list with each other, or with those of another list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count, resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.subspaces.list_similarities import Metric, all_similarities, list_vectors, metric_name
from bayesbias.metrics.subspaces.sublists import (
    checked_sizes,
    draw_subsets,
    named,
    raise_if_too_many,
)


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(Described):
    """The similarities of all sub-lists of one list with those of the same or another list, size by size.

    Parameters
    ----------
    metric
        Name of the metric.
    words, other_words
        The two lists; the same for a lattice within a list.
    subsets, other_subsets
        Size -> the places of the words of each sub-list, of shape (sub-lists, size).
    similarities
        Size -> similarities, of shape (sub-lists of the first list, sub-lists of the other).
    within
        Whether the two lists are the same one.
    random_seed
        Seed of the draws, or None where all sub-lists are there.
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
        """Return the similarities of one size, with the words of each sub-list as row and column names."""
        if size not in self.similarities:
            raise MeasureError(f"The lattice has no size {size}; it has {name_some(self.similarities, 30)}.")
        return pd.DataFrame(
            self.similarities[size],
            index=pd.Index([", ".join(named(self.words, row)) for row in self.subsets[size]]),
            columns=pd.Index([", ".join(named(self.other_words, row)) for row in self.other_subsets[size]]),
        )

    def summary(self) -> pd.DataFrame:
        """Return how many similarities each size has, their lowest, mean and highest (Kindel, Figure 2, right)."""
        return pd.DataFrame(
            [
                {"size": q, "pairs": cells.size, "lowest": cells.min(), "mean": cells.mean(), "highest": cells.max()}
                for q, cells in self.similarities.items()
            ]
        )


def lattice(
    embedding: EmbeddingLike,
    words: Sequence[str],
    other: Sequence[str] | None = None,
    metric: Metric = "canonical_subspace",
    *,
    sizes: Sequence[int] | None = None,
    samples: int | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> Lattice:
    """Compare every sub-list of a list with every sub-list of the same size of it, or of another list.

    Parameters
    ----------
    embedding, max_lost
        See `bayesbias.metrics`.
    words
        A list of words.
    other
        Another list; by default the same one.
    metric
        A name in `METRICS`, or a function that takes two arrays of vectors, of shape (words, dimensions) each, and
        returns a number.
    sizes
        Sizes of the sub-lists; by default all from 1 up to one less than the words (between two lists: up to all
        words of the shorter one).
    samples
        Draw so many sub-lists of each size where there are more.
    random_seed
        Seed of the draws. If it is left out, one is drawn and kept in the result.
    progress
        Whether to show a progress bar, over the sizes.

    Raises
    ------
    MeasureError
        If there are too many pairs of sub-lists, or the metric or a size is unknown.

    References
    ----------
    Kindel (2023), Figure 1 (within a list) and Figure 2 (between two lists). The panel on the right of Figure 2
    shows the mean of the squared cosines, ``"mean_squared_cosine"``: for single words it equals the canonical metric.

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
    if samples is not None:
        check_count("samples", samples)
    lists = {"words": words} if other is None else {"words": words, "other": other}
    found, vectors = list_vectors(embedding, lists, metric, max_lost)
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
        words=found[0],
        other_words=found[-1],
        subsets=rows,
        other_subsets=columns,
        similarities={
            q: all_similarities(metric, first[rows[q]], second[columns[q]])
            for q in with_progress(chosen, "Sizes of sub-lists", progress=progress)
        },
        within=other is None,
        random_seed=seed if sampled else None,
    )
