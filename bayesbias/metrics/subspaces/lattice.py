"""Lattices: similarities of all sub-lists of a word list with each other, or with those of another list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.metrics.subspaces.list_similarities import Metric, all_similarities, list_vectors, metric_name
from bayesbias.metrics.subspaces.sublists import (
    checked_samples,
    checked_sizes,
    draw_subsets,
    named,
    raise_if_too_many,
)


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
