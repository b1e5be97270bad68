"""Gaps by period, against the plain paired analysis of each list by SciPy."""

import numpy as np
import pytest

from bayesbias.models.periods.gap_draws import draw_gaps, list_deviations
from bayesbias.models.periods.period_sample import period_sample
from tests.models.periods.made import contrast_of, made_tables, student_quantiles

LEVELS = [0.055, 0.25, 0.5, 0.75, 0.945]


@pytest.mark.parametrize("weights", [[0, 0, 1], [-1, 0, 1], [-0.5, 0, 0.5]])
def test_every_contrast_of_periods_has_the_student_posterior_of_its_own_words(weights: list[float]) -> None:
    tables = made_tables(change=0.02)
    sample = period_sample(tables)
    estimate = draw_gaps(sample, list_deviations(sample), 0, 1, draws=100_000, seed=1)
    draws = estimate.draws.mean(axis=2) @ weights
    scores = contrast_of(tables, np.array(weights))
    expected = student_quantiles(scores, LEVELS)
    width = expected[-1] - expected[0]
    np.testing.assert_allclose(np.quantile(draws, LEVELS), expected, atol=0.02 * width)
    plain = sum(part.mean() for part in scores.values())
    assert estimate.gaps.mean(axis=1) @ weights == pytest.approx(plain)


def test_more_periods_than_attribute_words_do_not_narrow_a_change() -> None:
    tables = made_tables(periods=12, attributes=3)
    sample = period_sample(tables)
    draws = draw_gaps(sample, list_deviations(sample), 0, 1, draws=100_000, seed=1).draws.mean(axis=2)
    weights = np.zeros(12)
    weights[[0, -1]] = -1, 1
    expected = student_quantiles(contrast_of(tables, weights), [0.055, 0.945])
    assert np.diff(np.quantile(draws @ weights, [0.055, 0.945])) == pytest.approx(np.diff(expected), rel=0.03)


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


def test_sampling_covariance_is_that_of_single_words() -> None:
    sample = period_sample(made_tables(words=30, attributes=30))
    estimate = draw_gaps(sample, list_deviations(sample), 0, 1, draws=2000, seed=1)
    within = estimate.draws - estimate.draws[:, :, :30].mean(axis=2, keepdims=True)
    drawn = np.mean([np.cov(within[:, :, word].T) for word in range(30)], axis=0)
    np.testing.assert_allclose(np.diag(estimate.sampling), np.diag(drawn), rtol=0.15)
