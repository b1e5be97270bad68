"""Null distributions of the similarity of two lists, from lists of random words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_choice, check_count, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.machine import check_memory
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user
from bayesbias.geometry import row_space, unit_vectors
from bayesbias.metrics.look_up import EmbeddedLists, find_lists, find_two_lists, four_lists
from bayesbias.metrics.measure_entry import FOUR_LISTS, shared_parameters
from bayesbias.metrics.subspaces.mean_cosine import component_lists
from bayesbias.studies.study import StudyLike

MATCHES = ("rank", "norm")
"""Properties in which drawn words may match those that they replace: the row in the embedding (the frequency rank in
files ordered by frequency, as word2vec, GloVe and fastText write them), or the length of the vector."""

_ROWS_A_BLOCK = 10_000
DRAWN = ("first", "second", "both")
"""Lists that can be drawn at random: the first or the second (one-way nulls), or both (two-way null)."""
INTERVAL_PROB = 0.95
_LISTS_A_STACK = 64  # lists per stack, which fit into a core's cache


def vocabulary_rows(embedding: Embedding, vocabulary: Sequence[str] | None, without: Sequence[str]) -> Integers:
    """Return the rows of the words to draw from (None: all), in the embedding's order, and warn of words that it lacks.

    >>> vectors = bb.Embedding(words=("a", "b", "c"), vectors=np.eye(3))
    >>> vocabulary_rows(vectors, None, without=["b"])
    array([0, 2])
    """
    if isinstance(vocabulary, str):
        raise MeasureError(f"vocabulary={vocabulary!r}: give a list of words, or None for all.")
    if vocabulary is None:
        rows: Integers = np.arange(len(embedding))
    else:
        lookup = embedding.lookup(vocabulary)
        if lookup.lost:
            warn_user(
                f"The embedding {embedding.name!r} lacks {len(lookup.lost):,} of the {len(vocabulary):,} words of the "
                f"vocabulary ({name_some(lookup.lost)}). Words are drawn from the others.",
                LostWordsWarning,
            )
        rows = np.unique(word_rows(embedding, list(lookup.matches)))
    return np.setdiff1d(rows, word_rows(embedding, without))


def word_rows(embedding: Embedding, words: Sequence[str]) -> Integers:
    """Return the rows of words that an embedding has."""
    row_of = dict.fromkeys(embedding.match(word) for word in words)
    row_of |= {word: row for row, word in enumerate(embedding.words) if word in row_of}
    return np.array([row_of[embedding.match(word)] for word in words], dtype=np.intp)


def replacements(
    embedding: Embedding, rows: Integers, vocabulary: Integers, match: str | None, window: int
) -> Integers:
    """Return the rows of `vocabulary` that may replace each of `rows`, of shape (words to replace, candidates).

    If `match` is None, they are all of the vocabulary; if it is a name in `MATCHES`, the `window` nearest in rank or
    norm. If there are fewer candidates than words to replace, a `MeasureError` is raised.

    >>> vectors = bb.Embedding(words=tuple("abcdef"), vectors=np.eye(6))
    >>> replacements(vectors, np.array([0, 4]), np.array([1, 2, 3, 5]), "rank", 2)
    array([[1, 2],
           [3, 5]])
    """
    if len(vocabulary) < len(rows):
        raise MeasureError(
            f"{len(rows)} words are to be drawn, but the vocabulary has only {len(vocabulary):,} besides those of the "
            "lists. Give an embedding or a vocabulary with more words."
        )
    if match is None:
        return np.broadcast_to(vocabulary, (len(rows), len(vocabulary)))
    if match not in MATCHES:
        raise MeasureError(f"match={match!r}{did_you_mean(str(match), MATCHES)}: give None, {' or '.join(MATCHES)}.")
    if not (isinstance(window, int | np.integer) and len(rows) <= window <= len(vocabulary)):
        raise MeasureError(
            f"window={window!r}: {len(rows)} words are drawn, each from the window of the nearest words in {match}. "
            f"Give a whole number from {len(rows)} to {len(vocabulary):,}, the size of the vocabulary."
        )
    by_rank = match == "rank"
    key = vocabulary.astype(np.float64) if by_rank else _norms(embedding, vocabulary)
    order = np.argsort(key, kind="stable")
    candidates = []
    for value in rows.astype(np.float64) if by_rank else _norms(embedding, rows):
        insertion = int(np.searchsorted(key, value, sorter=order))
        near = order[max(0, insertion - window) : insertion + window]
        candidates.append(vocabulary[near[np.argsort(np.abs(key[near] - value), kind="stable")[:window]]])
    return np.array(candidates)


def draw_rows(candidates: Integers, samples: int, rng: np.random.Generator) -> Integers:
    """Return draws of one candidate for each position, in turn, from those that the draw does not hold yet.

    If all positions have the same candidates, this is drawing without replacement. `candidates` has shape
    (positions, candidates), with at least as many candidates as positions; the result has shape (samples, positions).

    >>> np.sort(draw_rows(np.array([[5, 6], [5, 6]]), 2, np.random.default_rng(0)))
    array([[5, 6],
           [5, 6]])
    """
    words = samples * len(candidates)
    check_memory(2 * 8 * words, f"{samples:,} draws of {len(candidates):,} words", "Take fewer samples.")
    rows = np.empty((samples, len(candidates)), dtype=np.intp)
    for position, choices in enumerate(candidates):
        undrawn = np.arange(samples)
        while len(undrawn):
            rows[undrawn, position] = choices[rng.integers(len(choices), size=len(undrawn))]
            undrawn = undrawn[(rows[undrawn, :position] == rows[undrawn, position, np.newaxis]).any(axis=1)]
    return rows


def _norms(embedding: Embedding, rows: Integers) -> Floats:
    # In blocks, since the vectors may take most of the memory.
    blocks = (embedding.vectors[rows[start : start + _ROWS_A_BLOCK]] for start in range(0, len(rows), _ROWS_A_BLOCK))
    squares = [np.einsum("ij,ij->i", block, block, dtype=np.float64) for block in blocks]
    norms: Floats = np.sqrt(np.concatenate(squares))
    return norms


Match = Literal["rank", "norm"]


@dataclass(frozen=True, eq=False, repr=False)
class RandomisationNulls(Described):
    """Similarity of two lists, and of lists of random words.

    Parameters
    ----------
    lists
        Names of the two lists.
    words
        Words of each list that the embedding has.
    observed
        Statistics of the two lists: `similarity` (canonical subspace metric), `scaled` (the same from 0 to 1),
        `mean_cosine`, and `congruence_1`, ..., largest first.
    samples
        The same statistics of random lists, by name in `DRAWN`: one row per list or pair of lists.
    embedding
        Name of the embedding.
    vocabulary
        Number of words to draw from.
    match, window
        Property in which drawn words match those that they replace, and number of nearest words to draw from.
    random_seed
        Seed of the draws.
    lost_words
        Words of each list that the embedding lacks.
    """

    lists: tuple[str, str]
    words: tuple[tuple[str, ...], tuple[str, ...]]
    observed: Mapping[str, float]
    samples: Mapping[str, pd.DataFrame]
    embedding: str
    vocabulary: int
    match: str | None
    window: int | None
    random_seed: int
    lost_words: Mapping[str, tuple[str, ...]]

    @property
    def _facts(self) -> Facts:
        return {
            "lists": dict(zip(self.lists, self.words, strict=True)),
            "embedding": self.embedding,
            "observed": dict(self.observed),
            "samples": {name: len(frame) for name, frame in self.samples.items()},
        }

    def frame(self) -> pd.DataFrame:
        """Return the 95 % prediction interval of each statistic and the position of the observed value.

        Returns
        -------
        DataFrame
            One row per drawn list and statistic: `drawn`, `statistic`, `observed`; `mean` of the samples; the
            interval's ends `low` and `high` with their Monte Carlo standard errors `low_mcse` and `high_mcse`;
            `position` of the observed value (``"below"``, ``"inside"`` or ``"above"`` the interval); `share_below`, the
            share of the samples below the observed value, with its Monte Carlo standard error `share_mcse` (the
            standard deviation under a uniform prior, which is not 0 even if no sample or every sample lies below).
        """
        rows = []
        for drawn, frame in self.samples.items():
            for statistic, observed in self.observed.items():
                values = frame[statistic].to_numpy()
                low, low_mcse = quantile_with_error(values, (1 - INTERVAL_PROB) / 2)
                high, high_mcse = quantile_with_error(values, (1 + INTERVAL_PROB) / 2)
                below, share = int((values < observed).sum()), ((values < observed).sum() + 1) / (len(values) + 2)
                rows.append(
                    {
                        "drawn": drawn,
                        "statistic": statistic,
                        "observed": observed,
                        "mean": values.mean(),
                        "low": low,
                        "low_mcse": low_mcse,
                        "high": high,
                        "high_mcse": high_mcse,
                        "position": "below" if observed < low else "above" if observed > high else "inside",
                        "share_below": below / len(values),
                        "share_mcse": np.sqrt(share * (1 - share) / (len(values) + 3)),
                    }
                )
        return pd.DataFrame(rows)


@shared_parameters()
def randomisation_nulls(
    embedding: EmbeddingLike,
    lists: Mapping[str, Sequence[str]],
    *,
    drawn: str | Sequence[str] = DRAWN,
    samples: int = 10_000,
    vocabulary: Sequence[str] | None = None,
    match: Match | None = None,
    window: int = 100,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> RandomisationNulls:
    """Return the similarity of two lists with null distributions from lists of random words.

    Parameters
    ----------
    embedding
        Word vectors: the whole embedding, not only the words of a study, since random words come from it.
    lists
        Two word lists by name.
    drawn
        Lists to draw: one name in `DRAWN` or several. The three nulls need not agree: a value may lie above the
        interval of a one-way null and below that of the two-way null.
    samples
        Number of random lists, or pairs of lists, for each null.
    vocabulary
        Words to draw from. None: all words of the embedding. Words of the two lists are never drawn.
    match
        None: each draw is a random sample of the vocabulary. ``"rank"`` or ``"norm"``: each word is replaced by one of
        the `window` words nearest to it in rank or in the length of the vector that is not drawn yet. The rank is the
        row in the embedding, which is the frequency rank in files of word2vec, GloVe and fastText.
    window
        Number of nearest words for `match`.

    Raises
    ------
    MeasureError
        If there are not two lists with words in the embedding, or the vocabulary or the window has fewer words than are
        to be drawn.
    EmbeddingError
        If a vector of the embedding is zero.

    References
    ----------
    Kindel (2023), Figure 3, and the supplement, "On cosine similarity": 95% prediction intervals obtained by
    randomizing one or both of the input word lists.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> study = bb.load_study("weat7")
    >>> lists = {"math": study.protected["math"], "male": study.attributes["male"]}
    >>> nulls = randomisation_nulls(vectors, lists, samples=500, random_seed=1)
    >>> frame = nulls.frame().set_index(["drawn", "statistic"])
    >>> frame.loc[("both", "mean_cosine"), "position"]
    'below'
    """
    design = _checked_design(drawn, samples, random_seed, match=match, window=window, progress=progress)
    embedded_lists = find_two_lists(embedding, lists, max_lost=max_lost, others=vocabulary)
    return _nulls(
        embedded_lists,
        tuple(embedded_lists.words),
        vocabulary_rows(embedded_lists.source, vocabulary, embedded_lists.every_word),
        design,
    )


@shared_parameters(FOUR_LISTS)
def study_nulls(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    drawn: str | Sequence[str] = DRAWN,
    samples: int = 10_000,
    vocabulary: Sequence[str] | None = None,
    match: Match | None = None,
    window: int = 100,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> dict[str, RandomisationNulls]:
    """Return the null distributions of the four comparisons of an association test.

    Words of the four lists are never drawn. All comparisons use the same seed.

    Parameters
    ----------
    drawn, samples, vocabulary, match, window
        Parameters of `randomisation_nulls`, whose errors and warnings it shares.

    Returns
    -------
    dict
        `RandomisationNulls` of ``"a_c"``, ``"a_d"``, ``"b_d"`` and ``"b_c"``, where A and B are the targets, C and D
        the attributes.

    References
    ----------
    Kindel (2023), Figure 3.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> nulls = study_nulls(vectors, "weat7", samples=100, random_seed=1)
    >>> [null.lists for null in nulls.values()]
    [('math', 'male'), ('math', 'female'), ('arts', 'female'), ('arts', 'male')]
    """
    design = _checked_design(drawn, samples, random_seed, match=match, window=window, progress=progress)
    lists = four_lists(study, targets, attributes)
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1, others=vocabulary)
    rows = vocabulary_rows(embedded_lists.source, vocabulary, embedded_lists.every_word)
    return {component: _nulls(embedded_lists, pair, rows, design) for component, pair in component_lists(lists).items()}


def quantile_with_error(values: Floats, prob: float) -> tuple[float, float]:
    """Return a quantile of independent draws and its Monte Carlo standard error.

    The error is half the distance between the quantiles one standard error of the probability below and above.

    >>> quantile, error = quantile_with_error(np.linspace(0, 1, 10_001), 0.5)  # uniform: sqrt(0.25 / n)
    >>> round(quantile, 6), round(error, 4)
    (0.5, 0.005)
    """
    step = np.sqrt(prob * (1 - prob) / len(values))
    below, quantile, above = np.quantile(values, np.clip([prob - step, prob, prob + step], 0, 1))
    return float(quantile), float((above - below) / 2)


def list_statistics(source: Embedding, first: Integers, second: Integers) -> pd.DataFrame:
    """Return the similarities of pairs of lists, one row per pair.

    `first` and `second` are the rows of the words of each list, of shape (lists, words); a single list is compared with
    all others. Columns are `similarity`, `scaled`, `mean_cosine` and `congruence_1`, ... (see `RandomisationNulls`).

    >>> vectors = bb.Embedding(words=("he", "him", "nice"), vectors=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 4.0]])
    >>> list_statistics(vectors, np.array([[0, 1]]), np.array([[2], [0]])).round(6)
       similarity    scaled  mean_cosine  congruence_1
    0        0.36  0.254558          0.3           0.6
    1        1.00  0.707107          0.5           1.0
    """
    count = max(len(first), len(second))
    # The basis of a list that is not drawn is computed once.
    single_bases = [_basis(source, rows) if len(rows) == 1 else None for rows in (first, second)]
    blocks = []
    for start in range(0, count, _LISTS_A_STACK):
        (basis_a, ranks_a, mean_a), (basis_b, ranks_b, mean_b) = (
            single or _basis(source, rows[start : start + _LISTS_A_STACK])
            for single, rows in zip(single_bases, (first, second), strict=True)
        )
        cross = basis_a @ basis_b.swapaxes(-1, -2)
        congruences = np.clip(np.linalg.svd(cross, compute_uv=False), 0.0, 1.0)
        similarity = np.square(congruences).sum(axis=-1)
        scaled = similarity / np.sqrt(ranks_a * ranks_b)
        cosine = np.einsum("...i,...i->...", mean_a, mean_b)
        blocks.append(np.column_stack([similarity, scaled, cosine, congruences]))
    values = np.concatenate(blocks)
    names = ["similarity", "scaled", "mean_cosine", *(f"congruence_{index}" for index in range(1, values.shape[1] - 2))]
    return pd.DataFrame(values, columns=names)


@dataclass(frozen=True)
class _Design:
    """How random lists are drawn: the lists, their number, the words that may replace a word, and the seed."""

    drawn: tuple[str, ...]
    samples: int
    match: Match | None
    window: int
    random_seed: int
    progress: bool


def _checked_design(drawn: str | Sequence[str], samples: int, random_seed: int | None, **settings: Any) -> _Design:
    names = (drawn,) if isinstance(drawn, str) else tuple(drawn)
    if not names:
        raise MeasureError(f"drawn=(): give at least one of {', '.join(DRAWN)}.")
    for name in names:
        check_choice("drawn", name, DRAWN)
    return _Design(names, check_count("samples", samples), random_seed=resolve_seed(random_seed), **settings)


def _nulls(embedded_lists: EmbeddedLists, pair: tuple[str, ...], rows: Integers, design: _Design) -> RandomisationNulls:
    source, (name_a, name_b) = embedded_lists.source, pair
    first, second = (word_rows(source, embedded_lists.words[name]) for name in pair)
    observed = list_statistics(source, first[np.newaxis], second[np.newaxis])
    samples = {}
    for drawn in with_progress(design.drawn, f"Random lists ({name_a}, {name_b})", progress=design.progress):
        places = {"first": first, "second": second, "both": np.concatenate([first, second])}[drawn]
        candidates = replacements(source, places, rows, design.match, design.window)
        chosen = draw_rows(candidates, design.samples, np.random.default_rng(design.random_seed))
        a, b = np.split(chosen, [len(first)], axis=1) if drawn == "both" else (chosen, chosen)
        a, b = (first[np.newaxis] if drawn == "second" else a), (second[np.newaxis] if drawn == "first" else b)
        samples[drawn] = list_statistics(source, a, b)
    return RandomisationNulls(
        lists=(name_a, name_b),
        words=(embedded_lists.words[name_a], embedded_lists.words[name_b]),
        observed={str(name): float(values.iloc[0]) for name, values in observed.items()},
        samples=samples,
        embedding=source.name,
        vocabulary=len(rows),
        match=design.match,
        window=design.window if design.match else None,
        random_seed=design.random_seed,
        lost_words={name: embedded_lists.lost[name] for name in pair if name in embedded_lists.lost},
    )


def _basis(source: Embedding, rows: Integers) -> tuple[Floats, Integers, Floats]:
    """Return orthonormal bases of lists, their ranks and the means of their unit vectors."""
    units = unit_vectors(source.vectors[rows])
    basis = row_space(units)
    return basis, np.any(basis != 0, axis=-1).sum(axis=-1), units.mean(axis=-2)
