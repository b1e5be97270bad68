"""How much what two lists have in common depends on each single word."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Integers
from bayesbias.base.checks import check_count, resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.metrics.look_up import find_two_lists
from bayesbias.metrics.subspaces.random_words import draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.metrics.subspaces.randomisation_nulls import INTERVAL_PROB, list_statistics, quantile_with_error


def leave_one_word_out(
    embedding: EmbeddingLike,
    lists: Mapping[str, Sequence[str]],
    *,
    samples: int = 1000,
    vocabulary: Sequence[str] | None = None,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> pd.DataFrame:
    """Return how much what two lists have in common depends on each single word.

    Parameters
    ----------
    embedding, lists, vocabulary, random_seed, progress, max_lost
        As for `randomisation_nulls`.
    samples
        How many random words take the place of each word.

    Returns
    -------
    DataFrame
        One row a word of a list of several and a statistic: `list`, `word`, `statistic` (`similarity`, `scaled` or
        `mean_cosine`); its value for the whole lists (`observed`) and `without` the word; and the 95 % prediction
        interval, `low` to `high` (with `low_mcse`, `high_mcse`), of its value with a random word in the word's place.
        Leaving a word out always lowers `similarity`; a random word keeps the length of the list.

    References
    ----------
    Kindel (2023), supplement, "On cosine similarity": randomizing only a subset of the words shows the leave-one-out
    sensitivity.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> lists = {"pair": ["he", "she"], "science": ["science", "technology"]}
    >>> frame = leave_one_word_out(vectors, lists, samples=100, random_seed=1)
    >>> frame["word"].unique().tolist(), len(frame)
    (['he', 'she', 'science', 'technology'], 12)
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    found = find_two_lists(embedding, lists, max_lost=max_lost, others=vocabulary)
    source = found.source
    own = found.every_word
    drawable = vocabulary_rows(source, vocabulary, own)
    candidates = replacements(source, word_rows(source, own[:1]), drawable, match=None, window=0)
    kept = ("similarity", "scaled", "mean_cosine")
    parts = [word_rows(source, words) for words in found.words.values()]
    observed = list_statistics(source, parts[0][np.newaxis], parts[1][np.newaxis]).iloc[0]
    rng = np.random.default_rng(seed)
    rows = []
    places = [
        (side, name, at, word)
        for side, (name, words) in enumerate(found.words.items())
        for at, word in enumerate(words if len(words) > 1 else ())
    ]
    for side, name, at, word in with_progress(places, "Words", progress=progress):
        changed: list[Integers] = [part[np.newaxis] for part in parts]
        changed[side] = np.delete(parts[side], at)[np.newaxis]
        without = list_statistics(source, *changed).iloc[0]
        changed[side] = np.repeat(parts[side][np.newaxis], samples, axis=0)
        changed[side][:, at] = draw_rows(candidates, samples, rng)[:, 0]
        replaced = list_statistics(source, *changed)
        for statistic in kept:
            low, low_mcse = quantile_with_error(replaced[statistic].to_numpy(), (1 - INTERVAL_PROB) / 2)
            high, high_mcse = quantile_with_error(replaced[statistic].to_numpy(), (1 + INTERVAL_PROB) / 2)
            rows.append(
                (name, word, statistic, observed[statistic], without[statistic], low, low_mcse, high, high_mcse)
            )
    columns = ["list", "word", "statistic", "observed", "without", "low", "low_mcse", "high", "high_mcse"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.attrs |= {"random_seed": seed, "embedding": source.name, "lost_words": dict(found.lost)}
    return frame
