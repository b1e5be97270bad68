"""Ratings of words, and their correlation with the projections of the words on an axis."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.files.spreadsheets import numbers_only, plain_numbers, without_row_numbers
from bayesbias.errors import ReportError, did_you_mean
from bayesbias.estimates.correlations import rank_correlation_interval
from bayesbias.estimates.dependence import error_factor
from bayesbias.estimates.intervals import welch_freedom
from bayesbias.reports.covariates.slopes import CovariateDesign, design_of, robust_freedom
from bayesbias.studies.study import normal_form
from bayesbias.tables.codes import to_numbers

if TYPE_CHECKING:
    import pandas as pd


LEAST_WORDS = 4
"""Smallest number of words whose projections are correlated with ratings."""
_MOST = 0.9999  # a correlation of 1 has no arctanh


def checked_ratings(ratings: Any) -> "pd.DataFrame":
    """Return a frame of ratings with the index `word`, or raise `ReportError`.

    >>> checked_ratings({"nurse": 4.5, "pilot": 1.0})["rating"].to_dict()
    {'nurse': 4.5, 'pilot': 1.0}
    """
    import pandas as pd

    if not isinstance(ratings, pd.DataFrame):
        try:
            ratings = pd.Series(dict(ratings), name="rating", dtype=float).rename_axis("word").reset_index()
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
    places = [f"{word!r} in" for word in ratings["word"]]
    plain = without_row_numbers(plain_numbers(ratings, "ratings", but=("word",), places=places, error=ReportError))
    texts = numbers_only(plain, ("word",), "ratings").set_index("word")
    texts.index = texts.index.map(normal_form)
    if (twice := texts.index[texts.index.duplicated()]).size:
        raise ReportError(f"The ratings have the word {twice[0]!r} more than once. Keep one row, such as the mean.")
    numbers = pd.DataFrame({name: to_numbers(texts[name]).astype(float) for name in texts}, index=texts.index)
    for name in numbers:
        other = texts[name].notna() & ~np.isfinite(numbers[name])
        if other.any():
            word = other.index[other][0]
            raise ReportError(
                f"The ratings {str(name)!r} have {texts[name][other].iloc[0]!r} for {word!r}, which is no number. "
                "Correct it, or leave the cell empty."
            )
    if not len(numbers.columns):
        raise ReportError("The ratings have no column of numbers besides word. Add one.")
    return numbers


def rating_row(scores: Floats, values: Floats, hdi_prob: float, effect: float = 1.0) -> dict[str, float]:
    """Return the correlations of projections with ratings, as a row of `Projection.ratings`.

    - `scores`: cosines of the words with the differences of the pairs, of shape (words, pairs).
    - `values`: ratings of shape (words,).
    - `effect`: design effect of the pairs.
    """
    from scipy.stats import kurtosis, rankdata

    projected, values = scores.mean(axis=1), values / np.abs(values).max()  # squares of any ratings are numbers
    rank = float(np.corrcoef(rankdata(projected), rankdata(values))[0, 1])
    rank_low, rank_high = rank_correlation_interval(rank, len(values), hdi_prob=hdi_prob)
    estimate = axis_correlation(scores, values, effect)
    low, high = estimate.interval(hdi_prob)
    return {
        "correlation": float(np.clip(estimate.correlation, -1, 1)),
        "correlation_low": low,
        "correlation_high": high,
        "observed_correlation": float(np.corrcoef(projected, values)[0, 1]),
        "rank_correlation": rank,
        "rank_correlation_low": rank_low,
        "rank_correlation_high": rank_high,
        "kurtosis": float(kurtosis(values - values.mean(), fisher=False)),
    }


@dataclass(frozen=True)
class AxisCorrelation:
    """Correlation of the axis of all pairs like these with ratings of all words like these.

    `correlation` is `observed`, that of the mean scores, over `attenuation`, the square root of their reliability; it
    can be beyond 1. `error` is its standard error, `freedom` the degrees of freedom of that. The numbers are NaN if the
    scores on two pairs have no positive covariance, or if the ratings rest on one word.
    """

    correlation: float
    observed: float
    attenuation: float
    error: float
    freedom: float

    def interval(self, hdi_prob: float) -> tuple[float, float]:
        """Return Student's interval of arctanh(correlation / bound), as a correlation.

        The bound is what the correlation is if `observed` is 1, or two standard errors above it if that is more. The
        interval holds the estimate, and `observed` if the estimate is beyond 1.
        """
        from scipy.stats import t

        bound = max(1 / self.attenuation, abs(self.correlation) + 2 * self.error)
        share = np.clip(self.correlation / bound, -_MOST, _MOST)
        half = t.ppf((1 + hdi_prob) / 2, self.freedom) * self.error / bound / (1 - share**2)
        ends = bound * np.tanh(np.arctanh(share) + half * np.array([-1, 1]))
        inside = [self.correlation] if abs(self.correlation) <= 1 else [self.correlation, self.observed]
        low, high = np.clip([min(ends[0], *inside), max(ends[1], *inside)], -1, 1)
        return float(low), float(high)


def rest_on_one_word(values: Floats) -> bool:
    """Return whether ratings (words,) of all words but one are equal, or nearly so beside that one.

    >>> rest_on_one_word(np.array([1.0, 1.0, 2.0])), rest_on_one_word(np.array([1.0, 1.5, 2.0]))
    (True, False)
    """
    return not np.isfinite(_design(values).unexplained).all()


def _design(values: Floats) -> CovariateDesign:
    return design_of(values[:, np.newaxis], np.zeros(len(values), dtype=int))


def axis_correlation(scores: Floats, values: Floats, effect: float = 1.0) -> AxisCorrelation:
    """Return the correlation of scores (words, pairs) with ratings (words,), as of all words and pairs like these.

    The correlation is cov(mean score, value) / sqrt(v var(value)), where v is the mean covariance over words of the
    scores on two different pairs: Spearman's correction for attenuation, with the pairs as items. Its variance is that
    of the influence of words and of pairs. Squared residuals of words are over 1 less their leverage in the regression
    on the ratings (HC2), with the degrees of freedom of Bell and McCaffrey (2002). Both variances contain what single
    words have on single pairs, so that this is subtracted once (Cameron, Gelbach and Miller 2011, Robust inference with
    multiway clustering, Journal of Business and Economic Statistics 29), but the variance is not less than that of
    either. Its degrees of freedom are those of Satterthwaite (1946). `effect` is the design effect of the pairs, which
    are worth their number over it.

    >>> scores = np.array([[0.1, 0.2, 0.0], [0.3, 0.5, 0.4], [0.2, 0.1, 0.3], [0.6, 0.4, 0.5], [0.7, 0.8, 0.6]])
    >>> estimate = axis_correlation(scores, np.array([1.0, 3.0, 2.0, 4.0, 6.0]))
    >>> round(estimate.correlation, 3), [round(end, 2) for end in estimate.interval(0.89)]
    (1.027, [0.83, 1.0])
    """
    words, pairs = scores.shape
    design = _design(values)
    centred, apart = scores - scores.mean(axis=0), values - values.mean()
    mean, square = centred.mean(axis=1), apart @ apart
    by_word = (pairs * mean**2 - np.square(centred).sum(axis=1) / pairs) / (pairs - 1)
    shared = by_word.sum()
    if shared <= 0 or square <= 0 or rest_on_one_word(values):
        return AxisCorrelation(np.nan, np.nan, np.nan, np.nan, pairs / effect - 1)
    length = np.sqrt(shared * square)
    correlation = mean @ apart / length
    by_pair = 2 * (pairs * centred.T @ mean - np.square(centred).sum(axis=0)) / (pairs * (pairs - 1))
    residuals = (mean - mean @ apart / square * apart) / np.sqrt(design.unexplained)
    of_words = residuals * apart / length + correlation * (apart**2 / square - by_word / shared) / 2
    of_pairs = centred.T @ apart / (pairs * length) - correlation * by_pair / (2 * shared)
    of_both = (centred - mean[:, np.newaxis]) * (apart / length - correlation * mean / shared)[:, np.newaxis]
    variances = np.array([np.square(of_words).sum(), np.square(of_pairs).sum() * pairs / (pairs - 1)])
    variances[1] *= error_factor(pairs, effect) ** 2
    once = variances.sum() - np.square(of_both).sum() * words / ((words - 1) * pairs * (pairs - 1))
    return AxisCorrelation(
        correlation=float(correlation),
        observed=float(mean @ apart / np.sqrt(mean @ mean * square)),
        attenuation=float(np.sqrt(shared / (mean @ mean))),
        error=float(np.sqrt(max(once, variances.max()))),
        freedom=float(welch_freedom(variances, [robust_freedom(design).item(), pairs / effect - 1])),
    )
