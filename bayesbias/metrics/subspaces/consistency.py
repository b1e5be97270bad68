"""Geometric consistency: whether every sub-list of a word list is most similar to itself."""

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.geometry import condition_number
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

_TIE = 1e-10
_BLOCK = 512


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
    """Say of each sub-list of a list whether it is most similar to itself.

    Parameters
    ----------
    embedding, max_lost
        See `bayesbias.metrics`.
    words
        A list of words.
    metric
        A name in `METRICS`, or a function that takes two arrays of vectors, of shape (words, dimensions) each, and
        returns a number.
    sizes
        Sizes of the sub-lists; by default all from 1 up to one less than the words.
    samples
        Draw so many sub-lists of each size where there are more, and compare each with itself and with all those that
        differ from it in one word. This misses no inconsistency of a mean over all pairs of words: if some sub-list
        is nearer than itself, then so is one that differs in one word. Of other metrics it may miss some.
    random_seed
        Seed of the draws. If it is left out, one is drawn; it is in ``frame.attrs["random_seed"]``.
    progress
        Whether to show a progress bar, over the sizes.

    Returns
    -------
    DataFrame
        One row a sub-list: its `size`, the `subset` (a tuple of words), its similarity to itself
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
    (found,), (vectors,) = list_vectors(embedding, {"words": words}, metric, max_lost)
    chosen = checked_sizes(sizes, len(found) - 1)
    looked_at = {q: samples is not None and comb(len(found), q) > samples for q in chosen}
    pairs = sum(
        (samples or 0) * (1 + q * (len(found) - q)) if sampled else comb(len(found), q) ** 2
        for q, sampled in looked_at.items()
    )
    raise_if_too_many(pairs, len(found), looped=callable(metric))
    rng = np.random.default_rng(seed)
    frames = []
    for q, sampled in with_progress(list(looked_at.items()), "Sizes of sub-lists", progress=progress):
        subsets = draw_subsets(len(found), q, samples, rng) if sampled else all_subsets(len(found), q)
        own, best, nearest = (_against_neighbours if sampled else _against_all)(metric, vectors, subsets)
        frames.append(
            pd.DataFrame(
                {
                    "size": q,
                    "subset": [named(found, row) for row in subsets],
                    "self_similarity": own,
                    "nearest": [named(found, row) for row in nearest],
                    "nearest_similarity": best,
                    "consistent": own >= best - _TIE * np.maximum(1.0, np.abs(own)),
                    "condition_number": condition_number(vectors[subsets]),
                }
            )
        )
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs |= {
        "metric": metric_name(metric),
        "words": found,
        "condition_number": float(condition_number(vectors)),
        "random_seed": seed if any(looked_at.values()) else None,
    }
    return frame


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
    """Return the share of a list's sub-lists that are most similar to themselves: J of each size q.

    The parameters, errors and warnings are those of `subset_consistency`.

    Returns
    -------
    DataFrame
        One row a size: `q`, `k` (the words of the list), `subsets` looked at of `possible`, and `index`, J: 1 where
        every sub-list is most similar to itself, less where the metric is inconsistent. `index_mcse` is its Monte
        Carlo standard error (0 if all were looked at; of a sample, the standard deviation of the share under a
        uniform prior, so that it is not 0 where all are consistent); `condition_number` is that of the list.

    References
    ----------
    Kindel (2023), the index of inconsistency J_{q,k}(Sim_W). He shows failures of the mean cosine on lists of at
    least four words, sub-lists of at least three. It can fail earlier: two words with a third one between them are
    nearer to a pair that holds the third than to themselves (see the example of `subset_consistency`).

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> male = bb.load_study("weat7").attributes["male"]
    >>> index_of_inconsistency(vectors, male, "canonical_subspace", sizes=[3, 7])[["q", "k", "subsets", "index"]]
       q  k  subsets  index
    0  3  8       56    1.0
    1  7  8        8    1.0
    """
    each = subset_consistency(
        embedding,
        words,
        metric,
        sizes=sizes,
        samples=samples,
        random_seed=random_seed,
        progress=progress,
        max_lost=max_lost,
    )
    k = len(each.attrs["words"])
    rows = []
    for q in each["size"].unique().tolist():
        consistent = each.loc[each["size"] == q, "consistent"]
        looked_at, possible = len(consistent), comb(k, q)
        share = (consistent.sum() + 1) / (looked_at + 2)
        error = np.sqrt(share * (1 - share) / (looked_at + 3) * (1 - looked_at / possible))
        rows.append((q, k, looked_at, possible, consistent.mean(), error, each.attrs["condition_number"]))
    names = ["q", "k", "subsets", "possible", "index", "index_mcse", "condition_number"]
    frame = pd.DataFrame(rows, columns=names)
    frame.attrs |= {name: each.attrs[name] for name in ("metric", "words", "random_seed")}
    return frame


def _against_all(metric: Metric, vectors: Floats, subsets: Integers) -> tuple[Floats, Floats, Integers]:
    """Return the similarity of each sub-list to itself and to the nearest other one of all, and which that is."""
    own, best, nearest = np.empty(len(subsets)), np.empty(len(subsets)), np.empty(len(subsets), dtype=np.intp)
    every = right_side(metric, vectors[subsets])
    for start in range(0, len(subsets), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(subsets)))
        block = products(metric, vectors[subsets[rows]], every)
        place = (rows - start, rows)
        own[rows] = block[place]
        block[place] = -np.inf
        nearest[rows] = block.argmax(axis=1)
        best[rows] = block.max(axis=1)
    return own, best, subsets[nearest]


def _against_neighbours(metric: Metric, vectors: Floats, subsets: Integers) -> tuple[Floats, Floats, Integers]:
    """As `_against_all`, but looking only at the sub-lists that differ in one word."""
    rows = []
    for subset in subsets:
        others = one_word_changed(subset, len(vectors))
        candidates = vectors[np.concatenate([subset[np.newaxis], others])]
        own, *values = all_similarities(metric, vectors[subset[np.newaxis]], candidates)[0]
        at = int(np.argmax(values))
        rows.append((own, values[at], others[at]))
    own_values, best, nearest = zip(*rows, strict=True)
    return np.array(own_values), np.array(best), np.array(nearest)
