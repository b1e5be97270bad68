"""Geometric consistency: whether each sub-list of a word list is most similar to itself."""

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.checks import resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.geometry import condition_number
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.metrics.subspaces.list_similarities import (
    Metric,
    all_similarities,
    list_vectors,
    metric_name,
    products,
    right_side,
)
from bayesbias.metrics.subspaces.sublists import (
    all_subsets,
    checked_samples,
    checked_sizes,
    draw_subsets,
    named,
    one_word_changed,
    raise_if_too_many,
)

_BLOCK = 512


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
) -> pd.DataFrame:
    """Return whether each sub-list of a list is most similar to itself.

    Parameters
    ----------
    words
        List of words.
    metric
        Name in `METRICS`, or a function of two arrays of vectors, each of shape (words, dimensions), that returns a
        number.
    sizes
        Sizes of the sub-lists. Default: all from 1 to one less than the number of words.
    samples
        Number of sub-lists of each size to draw if there are more. Each is compared with itself and with all sub-lists
        that differ from it in one word. This finds every inconsistency of a mean over all pairs of words: if some
        sub-list is nearer than the sub-list itself, then so is one that differs in one word. Inconsistencies of other
        metrics may be missed. None: all sub-lists are compared with each other.
    random_seed
        Seed of the draws. None: a seed is drawn. It is recorded in ``frame.attrs["random_seed"]``.

    Returns
    -------
    DataFrame
        One row per sub-list: its `size`, the `subset` (a tuple of words), its similarity to itself
        (`self_similarity`) and to the `nearest` other sub-list of this size (`nearest_similarity`); whether it is
        `consistent` (ties are); and the `condition_number` of its cosine similarities.

    Raises
    ------
    MeasureError
        If there are too many sub-lists, or the metric or a size is unknown.

    References
    ----------
    Kindel (2023), equation arg sup_j Sim(W_i, W_j) = i, and Figure 1.

    Examples
    --------
    >>> vectors = {"low": [1.0, 0.2], "middle": [1.0, 0.0], "high": [1.0, -0.3]}
    >>> frame = subset_consistency(vectors, list(vectors), sizes=[2])
    >>> frame.loc[~frame["consistent"], ["subset", "nearest"]].to_numpy().tolist()
    [[('low', 'high'), ('middle', 'high')]]
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
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs |= {
        "metric": metric_name(metric),
        "words": available_words,
        "condition_number": float(condition_number(vectors)),
        "random_seed": seed if any(sampled_sizes.values()) else None,
    }
    return frame


@shared_parameters()
def index_of_inconsistency(
    embedding: EmbeddingLike,
    words: Sequence[str],
    metric: Metric = "mean_cosine",
    *,
    sizes: Sequence[int] | None = None,
    samples: int | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> pd.DataFrame:
    """Return the share of sub-lists that are most similar to themselves, J, for each size q.

    Parameters
    ----------
    words, metric, sizes, samples
        Parameters of `subset_consistency`, whose errors and warnings it shares.

    Returns
    -------
    DataFrame
        One row per size: `q`, `k` (the number of words in the list), the number of `subsets` examined out of
        `possible`, and `index`, J: 1 if every sub-list is most similar to itself, less if the metric is inconsistent.
        `index_mcse` is its Monte Carlo standard error: 0 if all sub-lists were examined; for a sample, the standard
        deviation of the share under a uniform prior, which is not 0 even if all are consistent. `condition_number` is
        that of the list.

    References
    ----------
    Kindel (2023), the index of inconsistency J_{q,k}(Sim_W). He shows failures of the mean cosine for lists of at least
    four words and sub-lists of at least three. It can fail earlier: two words with a third one between them are nearer
    to a pair that holds the third than to themselves (see the example of `subset_consistency`).

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> male = bb.load_study("weat7").attributes["male"]
    >>> index_of_inconsistency(vectors, male, "canonical_subspace", sizes=[3, 7])[["q", "k", "subsets", "index"]]
       q  k  subsets  index
    0  3  8       56    1.0
    1  7  8        8    1.0
    """
    by_subset = subset_consistency(
        embedding,
        words,
        metric,
        sizes=sizes,
        samples=samples,
        random_seed=random_seed,
        progress=progress,
        max_lost=max_lost,
    )
    k = len(by_subset.attrs["words"])
    rows = []
    for q in by_subset["size"].unique().tolist():
        consistent = by_subset.loc[by_subset["size"] == q, "consistent"]
        looked_at, possible = len(consistent), comb(k, q)
        share = (consistent.sum() + 1) / (looked_at + 2)
        error = np.sqrt(share * (1 - share) / (looked_at + 3) * (1 - looked_at / possible))
        rows.append((q, k, looked_at, possible, consistent.mean(), error, by_subset.attrs["condition_number"]))
    names = ["q", "k", "subsets", "possible", "index", "index_mcse", "condition_number"]
    frame = pd.DataFrame(rows, columns=names)
    frame.attrs |= {name: by_subset.attrs[name] for name in ("metric", "words", "random_seed")}
    return frame


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
