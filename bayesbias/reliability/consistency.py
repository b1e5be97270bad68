"""Reliability of scores over seeds, over rules, and over the words of a query or the base pairs; features of words."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_probability, check_type
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost, judge_lost_words
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, check_word_list
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import (
    EmbeddingError,
    LostWordsError,
    MeasureError,
    QuestionWarning,
    ReportError,
    name_some,
    warn_user,
)
from bayesbias.estimates.frames import EstimateFrame
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.reliability.bias_scores import DIMS, Queries, as_queries
from bayesbias.reliability.driver_rows import properties_of
from bayesbias.reliability.mean_squares import (
    CRONBACH_ALPHA,
    ICC_2_1,
    ICC_3_1,
    Reliability,
    mean_squares,
    reliability_posterior,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


BASE_PAIRS = "base pairs"
"""Name of the ensemble of base pairs among the queries."""

_OF = ("target_word", "base_pair")


def test_retest(
    scores: "xr.DataArray",
    over: str = "target_word",  # noqa: PT028  # not a test of pytest
    *,
    hdi_prob: float = HDI_PROB,  # noqa: PT028
) -> pd.DataFrame:
    """Return the test-retest reliability of scores over seeds: ICC(2,1), with seeds as columns.

    Parameters
    ----------
    scores
        From `bayesbias.reliability.score_array`, with at least two seeds.
    over
        ``"target_word"`` for the reliability of each word, with base pairs as rows, or ``"base_pair"`` for that of each
        base pair, with target words as rows.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    pandas.DataFrame
        One row per rule and word or base pair: `mean` and `sd` of the posterior, `hdi_low` and `hdi_high`, `observed`
        (the point estimate, as in the paper), and the underlying numbers: `rows`, `columns`, the mean squares
        `ms_rows`, `ms_columns`, `ms_error`, `row_kurtosis`, the excess kurtosis of the rows' means, and `spread_ratio`,
        how much wider the posterior is than that of Normal scores with equal columns. Koo and Li (2016) call an ICC
        below 0.5 poor, below 0.75 moderate, below 0.9 good.

    Raises
    ------
    MeasureError
        If there are fewer than two seeds or rows, or all scores are constant.

    Notes
    -----
    The posterior, its prior and its interval are those of `bayesbias.reliability.mean_squares`: effects of rows,
    columns and error, with a spread that the jackknife estimates from the rows, so that neither equal columns nor
    Normal rows are assumed. Rare extreme rows that the scores may lack cannot be inferred from the others: if the
    population has such rows, the coverage of 89 % intervals is lower. Many words show whether they exist: if
    `row_kurtosis` is above 1 for over a fifth of at least 20 words (with fewer than 12 rows, a tenth), coverage is 0.62
    to 0.89 in simulations, otherwise over 0.80 (see `validation/reliability`); `reliability_report` says so. Words
    whose scores are all equal have no reliability; they are left out with a `QuestionWarning`.

    References
    ----------
    Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP 2021, 10012-10034, section 4.1.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)}
    >>> words, pairs = ["algebra", "poetry"], [("he", "she"), ("man", "woman"), ("son", "daughter"), ("boy", "girl")]
    >>> scores = bb.reliability.score_array(seeds, words, rules=["db_wa"], base_pairs=pairs)
    >>> bb.reliability.test_retest(scores)[["target_word", "observed", "hdi_low", "hdi_high"]].round(1)
      target_word  observed  hdi_low  hdi_high
    0     algebra       0.2     -0.1       0.6
    1      poetry      -0.2     -0.5       0.1
    """
    check_choice("over", over, _OF)
    check_probability("hdi_prob", hdi_prob)
    other = "base_pair" if over == "target_word" else "target_word"
    array = _checked(scores, **{"seed": 2, over: 1, other: 2})
    return _frame(array.transpose("rule", over, other, "seed"), ICC_2_1, hdi_prob)


test_retest.__test__ = False  # type: ignore[attr-defined]  # its name begins as those of pytest's tests do


def inter_rater(scores: "xr.DataArray", over: str = "target_word", *, hdi_prob: float = HDI_PROB) -> pd.DataFrame:
    """Return the agreement of scoring rules: ICC(3,1) of scores averaged over seeds, with rules as columns.

    Scores are not rescaled: rules with different scales (that of RIPA depends on the lengths of vectors) agree less, as
    in the paper. Arguments, result, notes and errors are those of `test_retest`, except that at least two rules are
    needed, and one seed is enough. Du, Fang and Nguyen (2021), section 4.2.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)}
    >>> pairs = [("he", "she"), ("man", "woman"), ("son", "daughter"), ("boy", "girl")]
    >>> scores = bb.reliability.score_array(seeds, ["algebra", "poetry"], base_pairs=pairs)
    >>> bb.reliability.inter_rater(scores)[["target_word", "observed"]].round(2)
      target_word  observed
    0     algebra     -0.27
    1      poetry     -0.13
    """
    check_choice("over", over, _OF)
    check_probability("hdi_prob", hdi_prob)
    other = "base_pair" if over == "target_word" else "target_word"
    array = _checked(scores, **{"rule": 2, over: 1, other: 2})
    return _frame(array.mean("seed").transpose(over, other, "rule"), ICC_3_1, hdi_prob)


def internal_consistency(
    scores: "xr.DataArray", queries: Queries = "gender", *, max_lost: float = MAX_LOST, hdi_prob: float = HDI_PROB
) -> pd.DataFrame:
    """Return the internal consistency of queries and of the base pairs: Cronbach's alpha of scores averaged over seeds.

    Parameters
    ----------
    scores
        From `bayesbias.reliability.score_array`, with at least two base pairs, and with the words of the queries as
        target words.
    queries
        Mapping of queries to their words, or the name or file of queries (see `load_queries`).
    max_lost
        Share of a query's words that the scores may lack, from 0 to 1.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    pandas.DataFrame
        One row per rule and query, with its words as columns and the base pairs as rows; and one row per rule for
        ``"base pairs"``, with base pairs as columns and all target words as rows. The other columns are those of
        `test_retest`. An alpha of at least 0.7 is called acceptable.

    Raises
    ------
    MeasureError
        If there are fewer than two base pairs or target words, or all scores are constant.
    LostWordsError
        If the scores lack more of a query's words than `max_lost`, or leave fewer than two.

    References
    ----------
    Du, Fang and Nguyen (2021), section 4.3.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)}
    >>> maths, pairs = ["algebra", "geometry", "calculus"], [("he", "she"), ("man", "woman"), ("son", "daughter")]
    >>> scores = bb.reliability.score_array(seeds, maths, rules=["db_wa"], base_pairs=pairs)
    >>> bb.reliability.internal_consistency(scores, {"maths": maths})[["query", "observed"]].round(2)
            query  observed
    0       maths      0.81
    1  base pairs      0.89
    """
    check_max_lost(max_lost)
    check_probability("hdi_prob", hdi_prob)
    query_words = as_queries(queries)
    array = _checked(scores, base_pair=2, target_word=2)
    if BASE_PAIRS in query_words:
        raise MeasureError(f"A query has the name {BASE_PAIRS!r}, which is reserved. Give it another name.")
    scored_words = set(array["target_word"].values.tolist())
    remaining = {name: [word for word in words if word in scored_words] for name, words in query_words.items()}
    few = [name for name, words in remaining.items() if len(words) < 2]
    if few:
        raise MeasureError(f"The scores have fewer than two words of {name_some(few)}. Score the words of the queries.")
    judge_lost_words(
        "The array of scores",
        [WordList(name, len(w), [x for x in w if x not in scored_words]) for name, w in query_words.items()],
        "Consistency is that of the remaining words.",
        max_lost=max_lost,
    )
    means = array.mean("seed").transpose("rule", "base_pair", "target_word")
    parts = [
        _frame(means.sel(target_word=words).expand_dims(query=[name]), CRONBACH_ALPHA, hdi_prob, lenient=True)
        for name, words in remaining.items()
    ]
    parts.append(
        _frame(
            means.transpose("rule", "target_word", "base_pair").expand_dims(query=[BASE_PAIRS]),
            CRONBACH_ALPHA,
            hdi_prob,
            lenient=True,
        )
    )
    frame = pd.concat(parts, ignore_index=True)
    if frame.empty:
        raise MeasureError("All scores are constant, so alpha is undefined. Check the embeddings.")
    return EstimateFrame(frame[["rule", "query", *frame.columns[2:]]])


def _checked(scores: Any, **least: int) -> "xr.DataArray":
    """Return scores; raise `MeasureError` unless they are finite, with the dims of `score_array` and these sizes."""
    import xarray as xr

    array = check_type("scores", scores, xr.DataArray, "an array of scores, from bb.reliability.score_array")
    if set(map(str, array.dims)) != set(DIMS):
        raise MeasureError(
            f"The scores have the dims {', '.join(map(str, array.dims))}. Give those of bb.reliability.score_array: "
            f"{', '.join(DIMS)}."
        )
    for dim, count in least.items():
        if array.sizes[dim] < count:
            raise MeasureError(
                f"The scores have {array.sizes[dim]} {dim.replace('_', ' ')}, but at least {count} are needed. "
                "Score more."
            )
    if array.dtype.kind not in "iuf":
        raise MeasureError(f"The scores are of the type {array.dtype}. Give numbers.")
    if not np.isfinite(array.values).all():  # a mean over seeds would skip NaN
        raise MeasureError("The scores hold a NaN or an infinity. Leave out the words that have no score.")
    if repeated := [str(dim) for dim, index in array.indexes.items() if index.has_duplicates]:
        what = repeated[0].replace("_", " ")
        raise MeasureError(f"The scores have a {what} twice, so its evidence would count twice. Keep one.")
    return array


def _frame(array: "xr.DataArray", reliability: Reliability, hdi_prob: float, *, lenient: bool = False) -> pd.DataFrame:
    """Return one row of estimates for each matrix of an array whose last two dims are rows and columns."""
    dims = [str(dim) for dim in array.dims[:-2]]
    squares = mean_squares(array.data)
    observed = reliability.observed(squares)
    defined = np.isfinite(observed)
    labels = pd.MultiIndex.from_product([array[dim].values for dim in dims], names=dims).to_frame(index=False)
    if not defined.all():
        _report_constant(labels[~defined.ravel()], reliability, everything=not (defined.any() or lenient))
    flat = squares.taken(defined)
    numbers: dict[str, Any] = {
        **reliability_posterior(flat, reliability, hdi_prob=hdi_prob),
        "observed": observed[defined],
        "rows": flat.n,
        "columns": flat.k,
        "ms_rows": flat.rows,
        "ms_columns": flat.columns,
        "ms_error": flat.error,
        "row_kurtosis": flat.row_kurtosis,
        "spread_ratio": flat.spread_ratio,
    }
    return EstimateFrame(labels[defined.ravel()].reset_index(drop=True).assign(**numbers))


def _report_constant(labels: pd.DataFrame, reliability: Reliability, *, everything: bool) -> None:
    named: Sequence[str] = [" ".join(map(str, row)) for row in labels.itertuples(index=False)]
    text = (
        f"{reliability.title} is undefined for {name_some(named)}: the scores do not differ between rows (constant "
        "scores, zero variance)."
    )
    if everything:
        raise MeasureError(f"{text} Nothing else is left. Check the embeddings and the words.")
    warn_user(f"{text} They are left out.", QuestionWarning)


def word_features(
    embeddings: Mapping[Hashable, EmbeddingLike],
    *,
    counts: Mapping[str, int] | None = None,
    words: Iterable[str] | None = None,
    properties: "str | os.PathLike[str] | pd.DataFrame | None" = None,
) -> "pd.DataFrame":
    """Return features of words that may drive the reliability of their scores.

    Parameters
    ----------
    embeddings
        Embeddings by seed, at least two, of one algorithm and corpus.
    counts
        Number of occurrences of each word in the corpus, if known.
    words
        Words to describe. None uses all words that every embedding has; neighbours are always sought among these.
    properties
        Properties of words that do not depend on the corpus: ``"wordnet"``, the path of a CSV file, or a frame with a
        column `word` (see `load_word_properties`).

    Returns
    -------
    pandas.DataFrame
        One row per word, with columns `word`; `stability`, the mean over pairs of seeds of the cosine of the word's two
        vectors after the rotation that best aligns the embeddings (from -1 to 1); `neighbour_similarity`, the cosine
        with its nearest neighbour, and `norm`, its length, both averaged over seeds; and with `counts`, `log_frequency`
        (natural) and `log_frequency_squared`, the square of the centred log frequency. With `properties`, their
        columns, with the natural logarithm `log_senses` in place of `senses`; missing values stay missing.

    Raises
    ------
    EmbeddingError, LostWordsError, ReportError
        If there is only one embedding, they differ in dimensions or have too few words in common, a word is lost, or a
        count is missing or not positive.

    Notes
    -----
    Q is the orthogonal matrix that minimises the Frobenius norm of W1 - W2 Q (Schoenemann 1966), and stability(w) is
    the mean of cos(w1, w2 Q), as in Du, Fang and Nguyen (2021, appendix F).

    Examples
    --------
    >>> first = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "car": [0.0, 1.0]}
    >>> turned = {"cat": [0.0, 1.0], "dog": [-0.6, 0.8], "car": [-1.0, 0.0]}
    >>> bb.reliability.word_features({1: first, 2: turned}).round(2)
      word  stability  neighbour_similarity  norm
    0  cat        1.0                   0.8   1.0
    1  dog        1.0                   0.8   1.0
    2  car        1.0                   0.6   1.0
    """
    import pandas as pd

    loaded = _loaded(embeddings)
    shared, wanted = _words_of(loaded, words)
    places = {word: position for position, word in enumerate(shared)}
    rows = np.array([places[word] for word in wanted])
    vectors = [np.asarray(matrix.stored(shared), dtype=np.float64) for matrix in loaded.values()]
    norms = np.stack([np.linalg.norm(matrix, axis=1) for matrix in vectors])
    features: dict[str, Any] = {
        "word": wanted,
        "stability": _stability(vectors, norms)[rows],
        "neighbour_similarity": np.mean([_nearest(matrix, rows) for matrix in vectors], axis=0),
        "norm": norms.mean(axis=0)[rows],
    }
    if counts is not None:
        features["log_frequency"] = logs = _logs(counts, wanted)
        features["log_frequency_squared"] = (logs - logs.mean()) ** 2
    if properties is not None:
        features |= properties_of(wanted, properties)
    return pd.DataFrame(features)


def _loaded(embeddings: Any) -> dict[Hashable, Embedding]:
    if not isinstance(embeddings, Mapping):
        raise ReportError(f"embeddings is a {type(embeddings).__name__}. Give a mapping: {{1: first, 2: second}}.")
    if len(embeddings) < 2:
        raise ReportError(f"Stability needs embeddings of at least 2 seeds, not {len(embeddings)}. Train more seeds.")
    loaded = {
        name: embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
        for name, embedding in embeddings.items()
    }
    dimensions = {name: embedding.dimensions for name, embedding in loaded.items()}
    if len(set(dimensions.values())) > 1:
        described = ", ".join(f"{name!r} has {count}" for name, count in dimensions.items())
        raise EmbeddingError(f"The embeddings differ in dimensions: {described}. Train all with the same settings.")
    return loaded


def _words_of(loaded: Mapping[Hashable, Embedding], words: Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the words that all embeddings have, in the order of the first, and the words to describe."""
    first, *others = loaded.values()
    shared = [word for word in first.words if all(word in embedding for embedding in others)]
    if len(shared) <= first.dimensions and len(shared) < 3:
        raise EmbeddingError(
            f"The embeddings have {counted(len(shared), 'word')} in common. Train all on the same corpus."
        )
    if words is None:
        return shared, shared
    wanted, in_common = check_word_list(words), set(shared)
    if lost := [word for word in wanted if word not in in_common]:
        raise LostWordsError(f"Not all embeddings have {name_some(map(repr, lost), 5)}. Leave these words out.")
    return shared, list(wanted)


def _stability(vectors: Sequence[Floats], norms: Floats) -> Floats:
    """Return the mean over pairs of embeddings of each word's cosine after the best rotation."""
    from scipy.linalg import svd

    pairs = list(combinations(range(len(vectors)), 2))
    total = np.zeros(len(vectors[0]))
    for one, other in pairs:
        left, _, right = svd(vectors[other].T @ vectors[one])
        turned = vectors[other] @ (left @ right)
        total += np.einsum("ij,ij->i", vectors[one], turned) / (norms[one] * norms[other])
    return total / len(pairs)


def _nearest(vectors: Floats, rows: Any) -> Floats:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = nearest_neighbours(unit[rows], unit, k=1, target_rows=rows, progress=False)[:, 0]
    similarity: Floats = np.einsum("ij,ij->i", unit[rows], unit[nearest])
    return similarity


def _logs(counts: Any, words: list[str]) -> Floats:
    if not isinstance(counts, Mapping):
        raise ReportError(f"counts is a {type(counts).__name__}. Give a mapping of words to numbers of occurrences.")
    bad = [word for word in words if not counts.get(word, 0) > 0]
    if bad:
        raise ReportError(
            f"counts lacks {len(bad)} of {counted(len(words), 'word')}, or has 0 for them: "
            f"{name_some(map(repr, bad), 5)}. Count the words of the corpus that the vectors were trained on, or give "
            "fewer words."
        )
    return np.log(np.array([float(counts[word]) for word in words]))
