"""`project`: words on axes of opposite words, with the pairs as the sample."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import ReportError
from bayesbias.estimates.frames import EstimateFrame
from bayesbias.metrics.directions.pair_axis import LEAST_PAIRS, MOST_PAIRS, ChanceDifferences, MeanOverPairs, PairAxis
from bayesbias.metrics.directions.word_scores import (
    BasePairs,
    Pairs,
    as_base_pairs,
    embedded_pairs_of,
    pair_label,
    raise_if_parallel,
    target_lists,
)
from bayesbias.metrics.look_up import EmbeddedLists, find_lists
from bayesbias.metrics.measure_entry import shared_parameters
from bayesbias.reports.axes.projection import Projection
from bayesbias.reports.axes.ratings import LEAST_WORDS, checked_ratings, rating_row, rest_on_one_word
from bayesbias.studies.study import StudyLike

if TYPE_CHECKING:
    import pandas as pd

type AxisPairs = BasePairs | Sequence[str] | Mapping[str, BasePairs]
"""Pairs of one axis, or of several by name; names of bundled pairs stand for them."""

_LISTED = "pairs"
_EQUAL = 1e-12  # projections that differ by less are equal up to rounding
_RATINGS = ("correlation", "correlation_low", "correlation_high", "observed_correlation")
_RANKS = ("rank_correlation", "rank_correlation_low", "rank_correlation_high", "kurtosis")


@shared_parameters()
def project(
    embedding: EmbeddingLike,
    words: Sequence[str] | StudyLike,
    pairs: AxisPairs = "gender",
    *,
    ratings: "pd.DataFrame | Mapping[str, float] | None" = None,
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> Projection:
    """Return where words lie on one or more axes, each defined by pairs of opposite words.

    Parameters
    ----------
    words
        Words to project, lists of them by name, or a study: the words of its protected and attribute lists.
    pairs
        Pairs of an axis, such as ``[("rich", "poor"), ...]``; the name of bundled pairs or the path of a TOML file
        (`bayesbias.metrics.load_base_pairs`), or several of these; or a mapping of names to pairs. Projections are
        positive towards the first words.
    ratings
        Numbers by word, such as people's ratings: a mapping, or a frame with a column `word` and columns of numbers.
    random_seed
        Seed of the test of agreement, which is random for more than twelve pairs. None: a seed is drawn and recorded in
        the result.

    Returns
    -------
    Projection
        Frames `words`, `pairs`, `axes`, `angles` and `ratings`. `print` shows whether the pairs of each axis agree,
        which words lie on which side, and how far this agrees with the ratings.

    Raises
    ------
    MeasureError
        If fewer than three pairs of an axis are left, or the words of a pair have the same direction.
    LostWordsError
        If a list of words lost more than `max_lost`.
    ReportError
        If `ratings` are not numbers by word, or have fewer than four of the words, or an axis has over 1,000 pairs.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks words, or words of pairs, which are then left out.

    Notes
    -----
    With unit vectors, each pair (a, b) has the difference ``d = (a - b) / |a - b|``, and a word w the cosine w d. Pairs
    are a sample of all pairs that could name the axis, so the mean of w d over pairs has a Student t interval. The axis
    itself is the mean difference mu of all pairs like these. The cosine of w with it is w mu / sqrt(mu mu), where mu mu
    is estimated by the mean of d d' over two different pairs, the agreement of the pairs: the squared length of the
    mean of a few differences is larger, so that cosines with it look too small. Standard errors of the agreement and of
    ratios come from the jackknife. Whether the pairs agree at all is tested by reversing pairs: if the order of their
    words meant nothing, as in pairs drawn at random, a share 1 - `hdi_prob` of axes would pass. If pairs do not pass,
    cosines with their axis are left out; at the default, fewer than five pairs cannot pass.

    Pairs such as man/woman and men/women are near-copies: their differences correlate beside the axis, in the metric of
    the distances to the vocabulary, more than those of random pairs. n pairs with the design effect d are worth n / d:
    standard errors are sqrt(d (n - 1) / (n - d)) times as large, Student's t has n / d - 1 degrees of freedom, and
    near-copies are reversed together. Without random words of the vocabulary, all pairs count as independent.

    Words and pairs are both samples for the correlation with ratings, which is corrected for the error that few pairs
    leave in the projections; `observed_correlation` and the rank correlation are not. Its error is that of both
    samples, with the variance HC2 over words (Cameron, Gelbach and Miller 2011; Bell and McCaffrey 2002).

    References
    ----------
    Austin C. Kozlowski, Matt Taddy and James A. Evans (2019). The geometry of culture: analyzing the meanings of class
    through word embeddings. American Sociological Review 84(5), 905-949: the axis, as the normalised mean of the pairs'
    normalised differences. The intervals and the correction for few pairs are this package's.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> pairs = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("father", "mother"), ("son", "daughter")]
    >>> projection = bb.project(vectors, ["nurse", "engineer", "librarian"], pairs)
    >>> projection.words[["word", "mean", "hdi_low", "hdi_high"]].round(2).to_numpy().tolist()
    [['nurse', -0.15, -0.26, -0.04], ['engineer', 0.13, 0.01, 0.24], ['librarian', -0.02, -0.13, 0.08]]
    """
    import pandas as pd

    prob, seed = check_probability("hdi_prob", hdi_prob), resolve_seed(random_seed)
    pairs_by_axis = _axes(pairs)
    lists = target_lists(words)
    rated = None if ratings is None else checked_ratings(ratings)
    others = [word for axis_pairs in pairs_by_axis.values() for pair in axis_pairs for word in pair]
    embedded_lists = find_lists(embedding, lists.by_name, max_lost=max_lost, least=1, others=others)
    source = embedded_lists.source
    embedded_by_axis, lost = {}, dict(embedded_lists.lost)
    for name, axis_pairs in pairs_by_axis.items():
        embedded_by_axis[name], lost_pairs = embedded_pairs_of(axis_pairs, source)
        if lost_pairs:
            lost[f"pairs of {name}"] = tuple(map(pair_label, lost_pairs))
        if len(embedded_by_axis[name]) < LEAST_PAIRS:
            raise ReportError(
                f"The axis {name!r} has {len(embedded_by_axis[name])} of its {counted(len(axis_pairs), 'pair')} in the "
                f"embedding {source.name!r}. Give at least {LEAST_PAIRS} that it has: two pairs do not show how far "
                "pairs agree."
            )
        if len(embedded_by_axis[name]) > MOST_PAIRS:
            raise ReportError(
                f"The axis {name!r} has {len(embedded_by_axis[name]):,} pairs, at most {MOST_PAIRS:,} are compared "
                "with each other. Give a random sample of them."
            )
    axes = {name: _pair_axis(source, embedded_pairs) for name, embedded_pairs in embedded_by_axis.items()}
    rows_of_axes = [_axis_row(name, axis, prob, seed) for name, axis in axes.items()]
    agreeing = {row["axis"] for row in rows_of_axes if row["pairs_agree"]}
    units = np.concatenate(list(embedded_lists.units.values()))
    scores = {name: units @ axis.differences.T for name, axis in axes.items()}
    word_frames = []
    for name, axis in axes.items():
        word_frame = _word_rows(name, axis, units, embedded_lists, prob)
        if name not in agreeing:
            word_frame[["cosine", "cosine_low", "cosine_high"]] = np.nan
        word_frames.append(word_frame)
    pair_frames = [_pair_rows(name, axis, embedded_by_axis[name], prob) for name, axis in axes.items()]
    return Projection(
        words=EstimateFrame(pd.concat(word_frames, ignore_index=True)),
        pairs=EstimateFrame(pd.concat(pair_frames, ignore_index=True)),
        axes=EstimateFrame(rows_of_axes),
        angles=_angles({name: axis for name, axis in axes.items() if name in agreeing}, prob),
        ratings=_rating_rows(scores, axes, embedded_lists.every_word, rated, prob),
        scores=scores,
        base_pairs=embedded_by_axis,
        near_copies={name: tuple(map(tuple, axis.near_copies)) for name, axis in axes.items() if axis.near_copies},
        lost_words=lost,
        embedding=source.name,
        study=lists.study,
        hdi_prob=prob,
        random_seed=seed,
    )


def _axes(pairs: Any) -> dict[str, Pairs]:
    if isinstance(pairs, str | os.PathLike):
        return {_axis_name(pairs): as_base_pairs(pairs)}
    if isinstance(pairs, Mapping):
        if not pairs:
            raise ReportError("There are 0 axes. Give the pairs of at least one.")
        return {str(name): as_base_pairs(axis_pairs) for name, axis_pairs in pairs.items()}
    listed = list(pairs) if isinstance(pairs, Iterable) else pairs
    if isinstance(listed, list) and listed and all(isinstance(name, str | os.PathLike) for name in listed):
        names = [_axis_name(name) for name in listed]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ReportError(f"The axis {twice!r} is given twice. Give each once.")
        return dict(zip(names, map(as_base_pairs, listed), strict=True))
    return {_LISTED: as_base_pairs(listed)}


def _axis_name(name: str | os.PathLike[str]) -> str:
    return Path(name).name.removesuffix(".toml")


def _pair_axis(source: Embedding, pairs: Pairs) -> PairAxis:
    first, second = (source.matrix(pair[side] for pair in pairs).astype(np.float64) for side in (0, 1))
    raise_if_parallel(pairs, first, second)
    return PairAxis.from_vectors(first, second, _chance_differences(source))


@lru_cache(maxsize=4)
def _chance_differences(source: Embedding) -> ChanceDifferences | None:
    """Return what random pairs of an embedding have in common, None if it has too few words."""
    reference = source.reference
    return None if reference is None else ChanceDifferences.from_reference(reference)


def _word_rows(name: str, axis: PairAxis, units: Floats, embedded_lists: EmbeddedLists, prob: float) -> "pd.DataFrame":
    import pandas as pd

    projections, cosines = axis.projections(units), axis.cosines(units)
    named = len(embedded_lists.words) > 1
    lists = [list_name if named else "" for list_name, words in embedded_lists.words.items() for _ in words]
    frame = pd.DataFrame({"axis": name, "word": embedded_lists.every_word, "list": lists})
    frame["mean"] = projections.values
    frame["hdi_low"], frame["hdi_high"] = projections.interval(prob)
    frame["pair_se"] = projections.errors
    frame["probability_of_direction"] = projections.probability_of_direction()
    for column, values in zip(
        ("cosine", "cosine_low", "cosine_high"), (cosines.values, *cosines.interval(prob)), strict=True
    ):
        frame[column] = values.clip(-1, 1)
    return frame


def _pair_rows(name: str, axis: PairAxis, pairs: Pairs, prob: float) -> "pd.DataFrame":
    import pandas as pd

    agreement = axis.pair_agreement()
    frame = pd.DataFrame({"axis": name, "base_pair": list(map(pair_label, pairs)), "pair_share": axis.shares()})
    frame["mean"] = agreement.values
    frame["hdi_low"], frame["hdi_high"] = agreement.interval(prob)
    return frame


def _axis_row(name: str, axis: PairAxis, prob: float, seed: int) -> dict[str, Any]:
    agreement, p_value = axis.agreement(), axis.sign_test(seed)
    low, high = agreement.interval(prob)
    return {
        "axis": name,
        "pairs": len(axis),
        "worth": len(axis) / axis.effect,
        "mean": float(agreement.values[0]),
        "hdi_low": float(low[0]),
        "hdi_high": float(high[0]),
        "p_value": p_value,
        "pairs_agree": p_value <= 1 - prob,
    }


def _angles(axes: Mapping[str, PairAxis], prob: float) -> "pd.DataFrame":
    """Return the cosine between every two axes."""
    names, rows = list(axes), []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            cosine: MeanOverPairs = axes[first].cosine_with(axes[second])
            low, high = (np.clip(end, -1, 1) for end in cosine.interval(prob))
            value = float(cosine.values.clip(-1, 1)[0])
            rows.append({"first": first, "second": second, "mean": value, "hdi_low": low[0], "hdi_high": high[0]})
    return EstimateFrame(rows, columns=["first", "second", "mean", "hdi_low", "hdi_high"])


def _rating_rows(
    scores: Mapping[str, Floats],
    axes: Mapping[str, PairAxis],
    words: Sequence[str],
    ratings: "pd.DataFrame | None",
    prob: float,
) -> "pd.DataFrame":
    import pandas as pd

    rows: list[dict[str, Any]] = []
    columns = {} if ratings is None else {str(rating): ratings[rating] for rating in ratings.columns}
    for rating, column in columns.items():
        values = column.reindex(list(words)).to_numpy(dtype=np.float64)
        rated = np.isfinite(values)
        if rated.sum() < LEAST_WORDS:
            raise ReportError(
                f"The ratings {str(rating)!r} have {rated.sum()} of the {counted(len(words), 'projected word')}. Give "
                f"ratings of at least {LEAST_WORDS}."
            )
        if np.ptp(values[rated]) == 0:
            raise ReportError(f"The ratings {str(rating)!r} of all words are equal. Nothing can correlate with them.")
        if rest_on_one_word(values[rated] / np.abs(values[rated]).max()):
            raise ReportError(
                f"The ratings {str(rating)!r} of all words but one are equal, or nearly so beside that one: a "
                "correlation would rest on one word. Give ratings of more words that differ, or their logarithms."
            )
        if constant := next((name for name, part in scores.items() if np.ptp(part[rated].mean(axis=1)) < _EQUAL), ""):
            raise ReportError(
                f"The projections of all words on {constant!r} are equal. Nothing can correlate with them: choose "
                "other words or pairs."
            )
        rows += [
            {"axis": name, "rating": str(rating), "words": int(rated.sum())}
            | rating_row(axis_scores[rated], values[rated], prob, axes[name].effect)
            for name, axis_scores in scores.items()
        ]
    return pd.DataFrame(rows, columns=["axis", "rating", "words", *_RATINGS, *_RANKS])
