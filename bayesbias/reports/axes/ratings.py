"""Correlation of words' projections with ratings of the words: words and pairs are both samples."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.estimates.correlations import rank_correlation_interval
from bayesbias.metrics.directions.pair_axis import Estimate, combined
from bayesbias.studies.study import normal_form
from bayesbias.tables.codes import to_numbers

if TYPE_CHECKING:
    import pandas as pd

LEAST_WORDS = 4
"""Smallest number of words whose projections are correlated with ratings."""

_MOST = 0.9999  # a correlation of 1 has no arctanh


def checked_ratings(ratings: Any) -> "pd.DataFrame":
    """Return a frame of ratings with the index `word`, or raise `ReportError`.

    >>> checked_ratings({"nurse": 4.5, "pilot": 1.0})["value"].to_dict()
    {'nurse': 4.5, 'pilot': 1.0}
    """
    import pandas as pd

    if not isinstance(ratings, pd.DataFrame):
        try:
            ratings = pd.Series(dict(ratings), name="value", dtype=float).rename_axis("word").reset_index()
        except (TypeError, ValueError) as error:
            raise ReportError(
                f"The ratings are of type {type(ratings).__name__}. Give a mapping of words to numbers, or a frame "
                "with a column word and columns of numbers."
            ) from error
    if "word" not in ratings:
        raise ReportError(
            f"The ratings have no column word{did_you_mean('word', list(map(str, ratings.columns)))}; they have "
            f"{', '.join(map(str, ratings.columns))}. Rename the column of words to word."
        )
    texts = ratings.set_index("word")
    texts.index = texts.index.map(normal_form)
    if (twice := texts.index[texts.index.duplicated()]).size:
        raise ReportError(f"The ratings have the word {twice[0]!r} more than once. Keep one row, such as the mean.")
    numbers = pd.DataFrame({name: to_numbers(texts[name]).astype(float) for name in texts}, index=texts.index)
    other = texts.notna() & ~np.isfinite(numbers)
    # A column without any number describes the words, such as their part of speech.
    numbers = numbers[[name for name in numbers if np.isfinite(numbers[name]).any()]]
    for name in numbers:
        if other[name].any():
            word = other.index[other[name]][0]
            raise ReportError(
                f"The ratings {str(name)!r} have {texts.loc[word, name]!r} for {word!r}, which is no number. Correct "
                "it, or leave the cell empty."
            )
    if not len(numbers.columns):
        raise ReportError("The ratings have no column of numbers besides word. Add one.")
    return numbers


def rating_row(scores: Floats, values: Floats, hdi_prob: float) -> dict[str, float]:
    """Return the correlations of projections with ratings, as a row of `Projection.ratings`.

    Parameters
    ----------
    scores
        Cosines of the words with the differences of the pairs, of shape (words, pairs).
    values
        Ratings of shape (words,).
    hdi_prob
        Probability inside the intervals.
    """
    from scipy.stats import kurtosis, rankdata

    projected, values = scores.mean(axis=1), values / np.abs(values).max()  # squares of any ratings are numbers
    plain = float(np.corrcoef(projected, values)[0, 1])
    rank = float(np.corrcoef(rankdata(projected), rankdata(values))[0, 1])
    rank_low, rank_high = rank_correlation_interval(rank, len(values), hdi_prob=hdi_prob)
    estimate = axis_correlation(scores, values)
    low, high = (np.tanh(end) for end in estimate.interval(hdi_prob))
    return {
        "correlation": float(np.tanh(estimate.values[0])),
        "correlation_low": float(low[0]),
        "correlation_high": float(high[0]),
        "plain_correlation": plain,
        "rank_correlation": rank,
        "rank_correlation_low": rank_low,
        "rank_correlation_high": rank_high,
        "kurtosis": float(kurtosis(values, fisher=False)),
    }


def axis_correlation(scores: Floats, values: Floats) -> Estimate:
    """Return arctanh of the correlation of the axis of all pairs like these with ratings of all words like these.

    The correlation is cov(mean score, value) / sqrt(v var(value)), where v is the mean covariance over words of the
    scores on two different pairs: Spearman's correction for attenuation, with the pairs as items. Its variance is that
    of two jackknives, over words and over pairs. Both contain what single words have on single pairs, so that this is
    subtracted once (Cameron, Gelbach and Miller 2011, Robust inference with multiway clustering, Journal of Business
    and Economic Statistics 29), but the variance is not less than that of either jackknife. A correlation beyond 1 is
    set to 1.

    >>> scores = np.array([[0.1, 0.2, 0.0], [0.3, 0.5, 0.4], [0.2, 0.1, 0.3], [0.6, 0.4, 0.5], [0.7, 0.8, 0.6]])
    >>> estimate = axis_correlation(scores, np.array([1.0, 3.0, 2.0, 4.0, 6.0]))
    >>> [float(np.tanh(end[0]).round(2)) for end in (estimate.values, *estimate.interval(0.89))]
    [1.0, 0.9, 1.0]
    """
    words, pairs = scores.shape
    whole = _arctanh(_corrected(scores, values))
    if not np.isfinite(whole):
        return Estimate(np.array([np.nan]), np.array([np.nan]), float(pairs - 1))
    parts = []
    without_words = [_corrected(np.delete(scores, i, axis=0), np.delete(values, i)) for i in range(words)]
    without_pairs = [_corrected(np.delete(scores, i, axis=1), values) for i in range(pairs)]
    for correlations in (without_words, without_pairs):
        size, without = len(correlations), np.array([_arctanh(correlation) for correlation in correlations])
        variance = (size - 1) / size * np.square(without - without.mean()).sum()
        parts.append(Estimate(np.array([whole]), np.sqrt(np.atleast_1d(variance)), float(size - 1)))
    both = combined(np.array([whole]), parts)
    variances = np.array([part.errors[0] ** 2 for part in parts])
    once = variances.sum() - _single_score_variance(scores, values)
    return both._replace(errors=np.sqrt(np.atleast_1d(np.maximum(once, variances.max()))))


def _single_score_variance(scores: Floats, values: Floats) -> float:
    """Return the variance of arctanh of the correlation from what single words have on single pairs, linearised."""
    words, pairs = scores.shape
    centred, apart = scores - scores.mean(axis=0), values - values.mean()
    mean = centred.mean(axis=1)
    shared, correlation = _shared(centred), float(np.clip(_corrected(scores, values), -_MOST, _MOST))
    slopes = (apart / np.sqrt(shared * (apart @ apart)) - correlation * mean / shared) / (1 - correlation**2)
    parts = (centred - mean[:, np.newaxis]) * slopes[:, np.newaxis]
    return float(np.square(parts).sum() * words / ((words - 1) * pairs * (pairs - 1)))


def _shared(centred: Floats) -> float:
    """Return the sum over words of the mean product of centred scores on two different pairs."""
    pairs, mean = centred.shape[1], centred.mean(axis=1)
    # That of the mean score, without the variances of single pairs.
    return float((pairs * mean @ mean - np.square(centred).sum() / pairs) / (pairs - 1))


def _corrected(scores: Floats, values: Floats) -> float:
    centred, apart = scores - scores.mean(axis=0), values - values.mean()
    shared = _shared(centred)
    if shared <= 0 or not apart.any():
        return float("nan")
    return float(centred.mean(axis=1) @ apart / np.sqrt(shared * (apart @ apart)))


def _arctanh(correlation: float) -> float:
    return float(np.arctanh(np.clip(correlation, -_MOST, _MOST)))
