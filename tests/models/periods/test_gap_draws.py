"""Gaps by period, against t-tests of their own words by SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesbias.models.periods.gap_draws import GapEstimate, draw_gaps, list_deviations
from bayesbias.models.periods.period_sample import period_sample
from tests.models.periods.made import contrast_of, made_tables, welch_quantiles

LEVELS = [0.055, 0.25, 0.5, 0.75, 0.945]


def estimate_of(tables: dict[str, pd.DataFrame], draws: int = 100_000) -> GapEstimate:
    sample = period_sample(tables)
    return draw_gaps(sample, list_deviations(sample), 0, 1, draws=draws, seed=1)


def test_a_gap_has_the_interval_of_the_t_test_of_unequal_variances() -> None:
    tables = made_tables(periods=1, words=1, seed=3)
    gap = estimate_of({name: table.query("protected_word == 'w0'") for name, table in tables.items()})
    scores = contrast_of({"1900": tables["1900"].query("protected_word == 'w0'")}, np.array([1.0]))
    expected = welch_quantiles(scores, LEVELS)
    np.testing.assert_allclose(np.quantile(gap.draws, LEVELS), expected, atol=0.02 * (expected[-1] - expected[0]))
    assert gap.freedom.item() == pytest.approx(stats.ttest_ind(*scores.values(), equal_var=False).df)


@pytest.mark.parametrize("weights", [[0, 0, 1], [-1, 0, 1], [-0.5, 0, 0.5]])
def test_every_contrast_of_periods_has_the_error_of_its_own_words(weights: list[float]) -> None:
    """The degrees of freedom are those of all periods and words of a group: quantiles of one contrast may differ."""
    tables = made_tables(change=0.02)
    estimate = estimate_of(tables)
    scores = contrast_of(tables, np.array(weights))
    errors = estimate.errors.mean(axis=2) @ weights
    assert errors.std() == pytest.approx(np.sqrt(sum(stats.sem(part) ** 2 for part in scores.values())), rel=0.01)
    plain = sum(part.mean() for part in scores.values())
    assert estimate.gaps.mean(axis=1) @ weights == pytest.approx(plain)
    expected = welch_quantiles(scores, LEVELS)
    draws = np.quantile(estimate.draws.mean(axis=2) @ weights, LEVELS)
    np.testing.assert_allclose(draws, expected, atol=0.06 * (expected[-1] - expected[0]))


def test_more_periods_than_attribute_words_do_not_narrow_a_change() -> None:
    tables = made_tables(periods=12, attributes=3)
    weights = np.zeros(12)
    weights[[0, -1]] = -1, 1
    errors = estimate_of(tables).errors.mean(axis=2) @ weights
    scores = contrast_of(tables, weights)
    assert errors.std() == pytest.approx(np.sqrt(sum(stats.sem(part) ** 2 for part in scores.values())), rel=0.01)


def test_attribute_words_that_lack_a_period_keep_the_changes_of_the_others() -> None:
    tables = made_tables(change=0.02)
    tables["1920"] = tables["1920"].query("attribute_word != 'a0'")
    sample = period_sample(tables)
    estimate = draw_gaps(sample, list_deviations(sample), 0, 1, draws=100, seed=1)
    both = {name: table.query("attribute_word != 'a0'") for name, table in tables.items() if name != "1910"}
    plain = sum(part.mean() for part in contrast_of(both, np.array([-1.0, 1.0])).values())
    whole = sum(part.mean() for part in contrast_of({"1900": tables["1900"]}, np.array([1.0])).values())
    gaps = estimate.gaps.mean(axis=1)
    assert gaps[0] == pytest.approx(whole, abs=0.02)
    assert gaps[2] - gaps[0] == pytest.approx(plain, abs=0.02)
    assert np.isfinite(estimate.draws).all()


def test_words_that_lack_periods_leave_the_error_to_those_that_both_have() -> None:
    """Of 3 common words, the jackknife of 12 gives 11/12 of 3/2 times the variance of their paired t-test."""
    tables = made_tables(periods=2, words=1, attributes=12)
    whole = estimate_of(tables)
    places = tables["1900"]["attribute_word"].str[1:].astype(int) % 12
    lacking = {"1900": tables["1900"][places < 8], "1910": tables["1910"][places > 4]}
    estimate = estimate_of(lacking)
    common = {name: table[(places > 4) & (places < 8)] for name, table in tables.items()}
    variance = sum(stats.sem(part) ** 2 for part in contrast_of(common, np.array([-1.0, 1.0])).values())
    errors = (estimate.errors[:, 1] - estimate.errors[:, 0]).mean(axis=1)
    assert errors.var() == pytest.approx(11 / 12 * 3 / 2 * variance, rel=0.03)
    assert estimate.overall_freedom < whole.overall_freedom - 5


def test_the_jackknife_of_whole_lists_is_the_deviation_of_each_word() -> None:
    sample = period_sample(made_tables())
    whole, *_ = list_deviations(sample)
    values = sample.distances[:, sample.list_of == 0]
    for word in range(4):
        without = np.delete(values, word, axis=1).mean(axis=1)
        np.testing.assert_allclose(whole.parts[word], (whole.mean - without) * 3 / 4)


def test_sampling_covariance_is_that_of_single_words() -> None:
    sample = period_sample(made_tables(words=30, attributes=30))
    estimate = draw_gaps(sample, list_deviations(sample), 0, 1, draws=2000, seed=1)
    within = estimate.draws - estimate.draws[:, :, :30].mean(axis=2, keepdims=True)
    drawn = np.mean([np.cov(within[:, :, word].T) for word in range(30)], axis=0)
    np.testing.assert_allclose(np.diag(estimate.sampling), np.diag(drawn), rtol=0.15)
