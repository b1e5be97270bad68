"""Sensitivity of the similarity of two lists to each of their words."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Integers
from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.metrics.look_up import find_two_lists
from bayesbias.metrics.shared_parameters import shared_parameters
from bayesbias.metrics.subspaces.random_words import draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.metrics.subspaces.randomisation_nulls import INTERVAL_PROB, list_statistics, quantile_with_error


@shared_parameters()
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
    """Return the similarity of two lists without each of their words, and with a random word in its place.

    Parameters
    ----------
    lists
        Two word lists by name.
    samples
        Number of random words that replace each word.
    vocabulary
        Words to draw from. None: all words of the embedding. Words of the two lists are never drawn.

    Returns
    -------
    DataFrame
        One row per word, of lists with several words, and statistic: `list`, `word`, `statistic` (`similarity`,
        `scaled` or `mean_cosine`); its value for the whole lists (`observed`) and `without` the word; and the 95 %
        prediction interval, `low` to `high` (with `low_mcse`, `high_mcse`), of its value with a random word in place of
        the word. Leaving out a word always lowers `similarity`; a random word keeps the length of the list.

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
    embedded_lists = find_two_lists(embedding, lists, max_lost=max_lost, others=vocabulary)
    source = embedded_lists.source
    list_words = embedded_lists.every_word
    drawable = vocabulary_rows(source, vocabulary, list_words)
    candidates = replacements(source, word_rows(source, list_words[:1]), drawable, match=None, window=0)
    statistics = ("similarity", "scaled", "mean_cosine")
    parts = [word_rows(source, words) for words in embedded_lists.words.values()]
    observed = list_statistics(source, parts[0][np.newaxis], parts[1][np.newaxis]).iloc[0]
    rng = np.random.default_rng(seed)
    rows = []
    places = [
        (side, name, position, word)
        for side, (name, words) in enumerate(embedded_lists.words.items())
        for position, word in enumerate(words if len(words) > 1 else ())
    ]
    for side, name, position, word in with_progress(places, "Words", progress=progress):
        changed: list[Integers] = [part[np.newaxis] for part in parts]
        changed[side] = np.delete(parts[side], position)[np.newaxis]
        without = list_statistics(source, *changed).iloc[0]
        changed[side] = np.repeat(parts[side][np.newaxis], samples, axis=0)
        changed[side][:, position] = draw_rows(candidates, samples, rng)[:, 0]
        replaced = list_statistics(source, *changed)
        for statistic in statistics:
            low, low_mcse = quantile_with_error(replaced[statistic].to_numpy(), (1 - INTERVAL_PROB) / 2)
            high, high_mcse = quantile_with_error(replaced[statistic].to_numpy(), (1 + INTERVAL_PROB) / 2)
            rows.append(
                (name, word, statistic, observed[statistic], without[statistic], low, low_mcse, high, high_mcse)
            )
    columns = ["list", "word", "statistic", "observed", "without", "low", "low_mcse", "high", "high_mcse"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.attrs |= {"random_seed": seed, "embedding": source.name, "lost_words": dict(embedded_lists.lost)}
    return frame
