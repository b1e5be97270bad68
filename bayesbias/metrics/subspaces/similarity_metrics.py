"""Metrics of the similarity of word lists, for all pairs of two stacks of lists at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, distance_text, percent_text
from bayesbias.base.progress import with_progress
from bayesbias.base.results import Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.geometry import joint_coordinates, projectors, unit_vectors
from bayesbias.metrics.look_up import (
    as_embedding,
    checked_words,
    find_lists,
    find_two_lists,
)
from bayesbias.metrics.measure_entry import shared_parameters
from bayesbias.metrics.subspaces.mean_cosine import unit_centroid
from bayesbias.metrics.subspaces.randomisation_nulls import (
    INTERVAL_PROB,
    draw_rows,
    list_statistics,
    quantile_with_error,
    replacements,
    vocabulary_rows,
    word_rows,
)

Features = Callable[[Floats], Floats]
Metric = str | Callable[[Floats, Floats], float]


def _mean_unit(stack: Floats) -> Floats:
    mean: Floats = unit_vectors(stack).mean(axis=-2)
    return mean


def _flat_projectors(stack: Floats) -> Floats:
    return projectors(stack).reshape(len(stack), -1)


def _flat_moments(stack: Floats) -> Floats:
    units = unit_vectors(stack)
    moments: Floats = (units.swapaxes(-1, -2) @ units) / units.shape[-2]
    return moments.reshape(len(stack), -1)


def _flat_units(stack: Floats) -> Floats:
    units = unit_vectors(stack)
    flat: Floats = units.reshape(len(stack), -1) / np.sqrt(units.shape[-2])
    return flat


@dataclass(frozen=True)
class ListMetric:
    """A metric of the similarity of two lists.

    - `title`, `range`: name as figures show it, and possible values.
    - `left`, `right`: functions that turn a stack of lists, of shape (lists, words, dimensions), into the left and the
      right factor of a matrix product, whose entries are the similarities of all pairs of two stacks.
    """

    title: str
    range: str
    left: Features
    right: Features


METRICS = {
    "canonical_subspace": ListMetric("Canonical subspace metric", "0 to the size", _flat_projectors, _flat_projectors),
    "mean_cosine": ListMetric("Mean cosine similarity", "-1 to 1", _mean_unit, _mean_unit),
    "mean_squared_cosine": ListMetric("Mean squared cosine similarity", "0 to 1", _flat_moments, _flat_moments),
    "paired_cosine": ListMetric("Paired cosine similarity", "-1 to 1", _flat_units, _flat_units),
    "centroid_cosine": ListMetric("Cosine similarity to the centroid", "-1 to 1", _mean_unit, unit_centroid),
}
"""Name -> metric of the similarity of two lists."""


def all_similarities(metric: Metric, first: Floats, second: Floats) -> Floats:
    """Return the similarities of all pairs of two stacks of lists, of shape (lists of first, lists of second).

    The stacks have shape (lists, words, dimensions); `metric` is a name in `METRICS`, or a function of two arrays of
    shape (words, dimensions).

    >>> all_similarities("mean_cosine", np.array([[[3.0, 4.0]]]), np.array([[[1.0, 0.0]], [[0.0, 5.0]]]))
    array([[0.6, 0.8]])
    """
    return products(metric, first, right_side(metric, second))


def right_side(metric: Metric, second: Floats) -> Floats:
    """Return the right factor for `products`, to be computed once for many first stacks."""
    return second if callable(metric) else METRICS[metric].right(second)


def products(metric: Metric, first: Floats, right: Floats) -> Floats:
    """Return the similarities of a stack of lists with those of `right_side`."""
    if callable(metric):
        return np.array([[float(metric(a, b)) for b in right] for a in first])
    product: Floats = METRICS[metric].left(first) @ right.T
    return product


def metric_name(metric: Metric) -> str:
    """Return the name of a metric, or raise `MeasureError` if it is unknown.

    >>> metric_name("mean_cosine")
    'mean_cosine'
    """
    if callable(metric):
        return str(getattr(metric, "__name__", metric))
    if metric not in METRICS:
        hint = did_you_mean(str(metric), METRICS)
        raise MeasureError(f"metric={metric!r}{hint}: give one of {name_some(METRICS)}, or a function.")
    return metric


def list_vectors(
    embedding: EmbeddingLike, lists: Mapping[str, Sequence[str]], metric: Metric, max_lost: float = MAX_LOST
) -> tuple[tuple[tuple[str, ...], ...], tuple[Floats, ...]]:
    """Return the words of lists that an embedding has, and their vectors.

    For metrics in `METRICS`, the vectors are given in coordinates of the space that all of them span, which changes no
    similarity; for a function, as stored.

    >>> words, (vectors,) = list_vectors({"he": [3.0, 4.0, 0.0], "him": [0.0, 1.0, 0.0]}, {"male": ["he", "him"]},
    ...     "mean_cosine")
    >>> words, vectors.shape
    ((('he', 'him'),), (2, 2))
    """
    metric_name(metric)
    lists = {name: checked_words(f"The list {name!r}", words) for name, words in lists.items()}
    source = as_embedding(embedding, [word for words in lists.values() for word in words])
    # Lists are looked up one by one, since they may share words.
    available_words = tuple(
        find_lists(source, {name: words}, max_lost=max_lost).words[name] for name, words in lists.items()
    )
    vectors = tuple(source.matrix(words).astype(np.float64) for words in available_words)
    return available_words, vectors if callable(metric) else joint_coordinates(*vectors)


@dataclass(frozen=True, eq=False, repr=False)
class WordsLeftOut(Result):
    """Similarity of two lists without each of their words, and with a random word in its place.

    Parameters
    ----------
    words : pandas.DataFrame
        One row per word, of lists with several words, and statistic: `list`, `word`, `statistic` (`similarity`,
        `scaled` or `mean_cosine`); its value for the whole lists (`observed`) and `without` the word; and the 95 %
        prediction interval, `low` to `high` (with `low_mcse`, `high_mcse`), of its value with a random word in place of
        the word.
    lists
        Names of the two lists.
    embedding
        Name of the embedding.
    samples, random_seed
        Number of random words that replace each word, and seed of the draws.
    lost_words
        Words that the embedding lacks, by list.
    """

    words: pd.DataFrame
    lists: tuple[str, ...]
    embedding: str
    samples: int
    random_seed: int
    lost_words: Mapping[str, tuple[str, ...]]

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        words = (
            Statement(
                "word",
                f"{row['list']}, {row['word']}: the scaled similarity is {distance_text(row['without'])} without it "
                f"and {distance_text(row['observed'])} with it, {_position(row)}.",
                row,
            )
            for row in rows_of(self.words)
            if row["statistic"] == "scaled"
        )
        rows = [row for row in rows_of(self.words) if row["statistic"] == "scaled"]
        apart = [row["word"] for row in rows if not row["low"] <= row["observed"] <= row["high"]]
        text = (
            f"{len(apart)} of {counted(len(rows), 'word')} {'makes' if len(apart) == 1 else 'make'} the lists clearly "
            f"more or less similar than random words would{f': {name_some(apart, 3)}' if apart else ''}."
        )
        answer = Statement("answer", text, {"words": apart})
        return StatementList("", (answer,), bulleted=False), StatementList("", tuple(words))

    def __repr__(self) -> str:
        words = counted(self.words["word"].nunique(), "word")
        return f"WordsLeftOut({words}, lists={self.lists!r}, embedding={self.embedding!r})"

    @property
    def contents(self) -> Contents:
        """The similarities without each word."""
        caption = f"Similarities; ranges: {percent_text(INTERVAL_PROB)} of random words in place of the word"
        return contents_of(
            self,
            title=f"Which words make {' and '.join(self.lists)} similar?",
            captions={"words": caption},
            headings={"without": "Without", "low_mcse": "SE, lower end", "high_mcse": "SE, upper end"},
            figures={"words": self._figure()},
        )

    def _figure(self) -> ResultFigure:
        """Return a forest of the words, those first that make the lists most unlike those with a random word."""
        rows = self.words[self.words["statistic"] == "scaled"]
        beyond = np.maximum(rows["low"] - rows["observed"], rows["observed"] - rows["high"])
        rows = rows.assign(
            label=rows["word"] + " (" + rows["list"] + ")",
            mean=rows["observed"],
            hdi_low=rows["low"],
            hdi_high=rows["high"],
            filled=beyond > 0,
        ).iloc[np.argsort(-beyond, kind="stable")]
        caption = (
            f"Scaled similarity of the lists with the word (points), and {percent_text(INTERVAL_PROB)} of the values "
            "with a random word in its place (lines). Filled: the word makes the lists clearly more or less similar."
        )
        return forest_figure(caption, rows, label="Scaled similarity")


def _position(row: Mapping[str, Any]) -> str:
    """Return where an observed value lies among those with a random word in place of the word."""
    if row["low"] <= row["observed"] <= row["high"]:
        return "as with a random word in its place"
    more = "more" if row["observed"] > row["high"] else "less"
    return f"{more} than with nearly any random word in its place"


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
) -> WordsLeftOut:
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
    WordsLeftOut
        Similarities in `words`. Leaving out a word always lowers `similarity`; a random word keeps the length of the
        list.

    References
    ----------
    Kindel (2023), supplement, "On cosine similarity": randomizing only a subset of the words shows the leave-one-out
    sensitivity.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> lists = {"pair": ["he", "she"], "science": ["science", "technology"]}
    >>> words = leave_one_word_out(vectors, lists, samples=100, random_seed=1).words
    >>> words["word"].unique().tolist(), len(words)
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
    return WordsLeftOut(
        words=pd.DataFrame(rows, columns=columns),
        lists=tuple(embedded_lists.words),
        embedding=source.name,
        samples=samples,
        random_seed=seed,
        lost_words=dict(embedded_lists.lost),
    )
