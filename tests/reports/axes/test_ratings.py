"""Correlations of projections with ratings: by hand, by SciPy, and by words and pairs that are left out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesbias.errors import InputFileError, ReportError
from bayesbias.reports.axes.ratings import axis_correlation, checked_ratings, rating_row, read_ratings

VALUES = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 8.0])
RATINGS = np.array([4.0, 3.0, 1.0, 5.0, 6.0, 5.5])


def noisy_scores(noise: float, pairs: int = 40) -> np.ndarray:
    return VALUES[:, None] / 10 + noise * np.random.default_rng(2).standard_normal((len(VALUES), pairs))


def test_correlations_of_the_mean_projection_are_those_of_scipy() -> None:
    scores = noisy_scores(0.1, pairs=5)
    row = rating_row(scores, RATINGS, 0.89)
    assert row["plain_correlation"] == pytest.approx(stats.pearsonr(scores.mean(axis=1), RATINGS).statistic)
    assert row["rank_correlation"] == pytest.approx(stats.spearmanr(scores.mean(axis=1), RATINGS).statistic)
    assert row["correlation_low"] < row["correlation"] < row["correlation_high"]
    assert row["rank_correlation_low"] < row["rank_correlation"] < row["rank_correlation_high"]


def test_the_correction_for_attenuation_is_that_of_the_mean_covariance_of_two_pairs() -> None:
    scores = noisy_scores(0.2, pairs=4)
    covariance = np.cov(scores.T)
    between_pairs = covariance[~np.eye(4, dtype=bool)].mean()
    with_values = np.cov(scores.mean(axis=1), VALUES)[0, 1]
    by_hand = with_values / np.sqrt(between_pairs * VALUES.var(ddof=1))
    assert np.tanh(axis_correlation(scores, VALUES).values[0]) == pytest.approx(min(by_hand, 0.9999))


def test_pairs_without_a_common_axis_have_no_correlation() -> None:
    scores = np.column_stack([VALUES, -VALUES, np.zeros(len(VALUES))])
    assert np.isnan(axis_correlation(scores, VALUES).values[0])


def test_noise_of_pairs_widens_the_interval() -> None:
    widths = []
    for noise in (0.05, 0.3):
        low, high = axis_correlation(noisy_scores(noise, pairs=6), VALUES).interval(0.89)
        widths.append(float((high - low)[0]))
    assert widths[0] < widths[1]


def test_faults_of_ratings_are_named() -> None:
    with pytest.raises(ReportError, match="int"):
        checked_ratings(3)
    with pytest.raises(ReportError, match=r"no column word.*'Word'"):
        checked_ratings(pd.DataFrame({"Word": ["a"], "income": [1.0]}))
    with pytest.raises(ReportError, match="no column of numbers"):
        checked_ratings(pd.DataFrame({"word": ["a"], "income": ["high"]}))
    with pytest.raises(ReportError, match="'a'"):
        checked_ratings(pd.DataFrame({"word": ["a", "a"], "income": [1.0, 2.0]}))


def test_files_of_ratings(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("word,income\nnull,1\nnurse,\n,3\n", encoding="utf-8")
    frame = read_ratings(path)
    assert frame["word"].tolist() == ["null", "nurse"]
    assert frame["income"].isna().tolist() == [False, True]
    path.write_text('word,income\n"nurse,1\n', encoding="utf-8")
    with pytest.raises(InputFileError, match=r"ratings\.csv"):
        read_ratings(path)
