"""Whether two lists have more in common than lists of random words: one-way and two-way null distributions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_choice, check_count, check_probability, resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.geometry import row_space, unit_vectors
from bayesbias.metrics.look_up import FoundLists, find_lists, find_two_lists, four_lists
from bayesbias.metrics.subspaces.component_scores import component_lists
from bayesbias.metrics.subspaces.random_words import draw_rows, replacements, vocabulary_rows, word_rows
from bayesbias.studies.study import StudyLike

Match = Literal["rank", "norm"]

DRAWN = ("first", "second", "both")
"""Which list is drawn at random: the first, the second (one-way nulls, the other list is kept) or both (two-way)."""

INTERVAL_PROB = 0.95

# Stacks of so many lists stay in a core's cache.
_BLOCK = 64


@dataclass(frozen=True, eq=False, repr=False)
class RandomisationNulls(Described):
    """What two lists have in common, and what lists of random words have.

    Parameters
    ----------
    lists
        Names of the two lists.
    words
        Their words that the embedding has.
    observed
        Statistic -> its value for the two lists: `similarity` (canonical subspace metric), `scaled` (the same from 0
        to 1), `mean_cosine`, and `congruence_1` ... from the largest on.
    samples
        One of `DRAWN` -> the same statistics of random lists: one row a list, or pair of lists.
    embedding
        Name of the embedding.
    vocabulary
        How many words were drawn from.
    match, window
        What drawn words have in common with those that they replace, and out of how many nearest ones they come.
    random_seed
        Seed of the draws.
    lost_words
        List -> its words that the embedding lacks.
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

    def frame(self, prob: float = INTERVAL_PROB) -> pd.DataFrame:
        """Return the prediction intervals of each statistic and where the observed value lies.

        Parameters
        ----------
        prob
            Probability inside the equal-tailed prediction intervals.

        Returns
        -------
        DataFrame
            One row a drawn list and statistic: `drawn`, `statistic`, `observed`; `mean` of the samples; the interval's
            ends `low` and `high` with their Monte Carlo standard errors `low_mcse` and `high_mcse`; `position` of the
            observed value (``"below"``, ``"inside"`` or ``"above"`` the interval); `share_below`, the share of the
            samples below the observed value, with its Monte Carlo standard error `share_mcse` (the standard deviation
            under a uniform prior, so that it is not 0 where no sample or every one lies below).
        """
        check_probability("prob", prob)
        rows = []
        for drawn, frame in self.samples.items():
            for statistic, observed in self.observed.items():
                values = frame[statistic].to_numpy()
                low, low_mcse = quantile_with_error(values, (1 - prob) / 2)
                high, high_mcse = quantile_with_error(values, (1 + prob) / 2)
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
    """Compare what two lists have in common with what lists of random words have.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`. Give all of it, not only the words of a study: random words come from it.
    lists
        Two lists by name.
    max_lost
        See `bayesbias.metrics`.
    drawn
        Which lists are drawn: one of `DRAWN` or several. The three nulls need not agree: a value may be above what a
        one-way null predicts and below what the two-way null does.
    samples
        How many random lists (or pairs of lists) for each.
    vocabulary
        Words to draw from. None: all words of the embedding. The words of the two lists are never drawn.
    match
        None: each draw is a random sample of the vocabulary. ``"rank"`` or ``"norm"``: each word is replaced by one of
        the `window` words that are nearest to it in rank or in the length of the vector, not drawn yet. The rank is
        the row in the embedding: the frequency rank in files of that order, as word2vec, GloVe and fastText write.
    window
        See `match`; without it, not used.
    random_seed
        Seed of the draws; the same seed repeats them on the same machine. None draws one and keeps it in
        the result.
    progress
        Whether to show a progress bar.

    Raises
    ------
    MeasureError
        If there are not two lists with words in the embedding, the vocabulary has fewer words than are to be drawn,
        or the window is smaller than that.
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
    options = _Options(drawn, samples, match, window, random_seed, progress)
    found = find_two_lists(embedding, lists, max_lost=max_lost, others=vocabulary)
    return _nulls(found, tuple(found.words), vocabulary_rows(found.source, vocabulary, found.every_word), options)


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
    """Return the nulls of the four comparisons of an association test.

    Words of all four lists are never drawn. Each comparison draws with the same seed. The other parameters, errors and
    warnings are those of `randomisation_nulls`.

    Parameters
    ----------
    study, targets, attributes, max_lost
        See `bayesbias.metrics`: A and B are the protected groups, C and D the attribute lists.

    Returns
    -------
    dict
        ``"a_c"``, ``"a_d"``, ``"b_d"``, ``"b_c"`` -> `RandomisationNulls`.

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
    options = _Options(drawn, samples, match, window, random_seed, progress)
    lists = four_lists(study, targets, attributes)
    found = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1, others=vocabulary)
    rows = vocabulary_rows(found.source, vocabulary, found.every_word)
    return {component: _nulls(found, pair, rows, options) for component, pair in component_lists(lists).items()}


def quantile_with_error(values: Floats, prob: float) -> tuple[float, float]:
    """Return a quantile of independent draws and its Monte Carlo standard error.

    The error is half the distance between the quantiles one standard error of the probability to either side.

    >>> quantile, error = quantile_with_error(np.linspace(0, 1, 10_001), 0.5)  # uniform: sqrt(0.25 / n)
    >>> round(quantile, 6), round(error, 4)
    (0.5, 0.005)
    """
    step = np.sqrt(prob * (1 - prob) / len(values))
    below, quantile, above = np.quantile(values, np.clip([prob - step, prob, prob + step], 0, 1))
    return float(quantile), float((above - below) / 2)


def list_statistics(source: Embedding, first: Integers, second: Integers) -> pd.DataFrame:
    """Return what pairs of lists have in common, one row a pair.

    `first` and `second` are rows of the words of each list, of shape (lists, words); a single list is compared with all
    of the other side. Columns are `similarity`, `scaled`, `mean_cosine`, `congruence_1` ... (see `RandomisationNulls`).

    >>> vectors = bb.Embedding(words=("he", "him", "nice"), vectors=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 4.0]])
    >>> list_statistics(vectors, np.array([[0, 1]]), np.array([[2], [0]])).round(6)
       similarity    scaled  mean_cosine  congruence_1
    0        0.36  0.254558          0.3           0.6
    1        1.00  0.707107          0.5           1.0
    """
    count = max(len(first), len(second))
    # A list that is kept is made orthonormal once.
    kept = [_basis(source, rows) if len(rows) == 1 else None for rows in (first, second)]
    blocks = []
    for start in range(0, count, _BLOCK):
        (basis_a, ranks_a, mean_a), (basis_b, ranks_b, mean_b) = (
            known or _basis(source, rows[start : start + _BLOCK])
            for known, rows in zip(kept, (first, second), strict=True)
        )
        cross = basis_a @ basis_b.swapaxes(-1, -2)
        congruences = np.clip(np.linalg.svd(cross, compute_uv=False), 0.0, 1.0)
        similarity = np.square(congruences).sum(axis=-1)
        scaled = similarity / np.sqrt(ranks_a * ranks_b)
        cosine = np.einsum("...i,...i->...", mean_a, mean_b)
        blocks.append(np.column_stack([similarity, scaled, cosine, congruences]))
    values = np.concatenate(blocks)
    names = ["similarity", "scaled", "mean_cosine", *(f"congruence_{at}" for at in range(1, values.shape[1] - 2))]
    return pd.DataFrame(values, columns=names)


class _Options:
    """The options of random lists, checked."""

    def __init__(self, drawn: Any, samples: int, match: Match | None, window: int, seed: Any, progress: bool) -> None:
        self.drawn = (drawn,) if isinstance(drawn, str) else tuple(drawn)
        if not self.drawn:
            raise MeasureError("drawn=(): draw at least one list.")
        for name in self.drawn:
            check_choice("drawn", name, DRAWN)
        self.samples, self.seed = check_count("samples", samples), resolve_seed(seed)
        self.match, self.window, self.progress = match, window, progress


def _nulls(found: FoundLists, pair: tuple[str, ...], rows: Integers, options: _Options) -> RandomisationNulls:
    source, (name_a, name_b) = found.source, pair
    first, second = (word_rows(source, found.words[name]) for name in pair)
    samples = {}
    for drawn in with_progress(options.drawn, f"Random lists ({name_a}, {name_b})", progress=options.progress):
        places = {"first": first, "second": second, "both": np.concatenate([first, second])}[drawn]
        candidates = replacements(source, places, rows, options.match, options.window)
        chosen = draw_rows(candidates, options.samples, np.random.default_rng(options.seed))
        a, b = np.split(chosen, [len(first)], axis=1) if drawn == "both" else (chosen, chosen)
        a, b = (first[np.newaxis] if drawn == "second" else a), (second[np.newaxis] if drawn == "first" else b)
        samples[drawn] = list_statistics(source, a, b)
    return RandomisationNulls(
        lists=(name_a, name_b),
        words=(found.words[name_a], found.words[name_b]),
        observed=_one(list_statistics(source, first[np.newaxis], second[np.newaxis])),
        samples=samples,
        embedding=source.name,
        vocabulary=len(rows),
        match=options.match,
        window=options.window if options.match else None,
        random_seed=options.seed,
        lost_words={name: found.lost[name] for name in pair if name in found.lost},
    )


def _one(frame: pd.DataFrame) -> dict[str, float]:
    return {str(name): float(frame[name].iloc[0]) for name in frame}


def _basis(source: Embedding, rows: Integers) -> tuple[Floats, Integers, Floats]:
    """Return orthonormal bases of lists, their ranks, and the means of their unit vectors."""
    units = unit_vectors(source.vectors[rows])
    basis = row_space(units)
    return basis, np.any(basis != 0, axis=-1).sum(axis=-1), units.mean(axis=-2)
