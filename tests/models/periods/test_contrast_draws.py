"""Contrasts by period, against t-tests of their own words by SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesbias.errors import TableError
from bayesbias.models.periods.contrast_draws import (
    ContrastDraws,
    PeriodSample,
    WordContrasts,
    draw_contrast,
    draw_word_contrasts,
    list_deviations,
    period_sample,
)
from tests.models.periods.made import contrast_of, made_tables, welch_quantiles

LEVELS = [0.055, 0.25, 0.5, 0.75, 0.945]


def estimate_of(tables: dict[str, pd.DataFrame], draws: int = 100_000) -> WordContrasts:
    sample = period_sample(tables)
    return draw_word_contrasts(sample, list_deviations(sample), 0, 1, draws=draws, seed=1)


def test_a_contrast_has_the_interval_of_the_t_test_of_unequal_variances() -> None:
    tables = made_tables(periods=1, words=1, seed=3)
    contrast = estimate_of({name: table.query("protected_word == 'w0'") for name, table in tables.items()})
    scores = contrast_of({"1900": tables["1900"].query("protected_word == 'w0'")}, np.array([1.0]))
    expected = welch_quantiles(scores, LEVELS)
    np.testing.assert_allclose(np.quantile(contrast.draws, LEVELS), expected, atol=0.02 * (expected[-1] - expected[0]))
    assert contrast.freedom.item() == pytest.approx(stats.ttest_ind(*scores.values(), equal_var=False).df)


@pytest.mark.parametrize("weights", [[0, 0, 1], [-1, 0, 1], [-0.5, 0, 0.5]])
def test_every_contrast_of_periods_has_the_error_of_its_own_words(weights: list[float]) -> None:
    """The degrees of freedom are those of all periods and words of a group: quantiles of one contrast may differ."""
    tables = made_tables(change=0.02)
    estimate = estimate_of(tables)
    scores = contrast_of(tables, np.array(weights))
    errors = estimate.errors.mean(axis=2) @ weights
    assert errors.std() == pytest.approx(np.sqrt(sum(stats.sem(part) ** 2 for part in scores.values())), rel=0.01)
    plain = sum(part.mean() for part in scores.values())
    assert estimate.observed.mean(axis=1) @ weights == pytest.approx(plain)
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
    estimate = draw_word_contrasts(sample, list_deviations(sample), 0, 1, draws=100, seed=1)
    both = {name: table.query("attribute_word != 'a0'") for name, table in tables.items() if name != "1910"}
    plain = sum(part.mean() for part in contrast_of(both, np.array([-1.0, 1.0])).values())
    whole = sum(part.mean() for part in contrast_of({"1900": tables["1900"]}, np.array([1.0])).values())
    contrasts = estimate.observed.mean(axis=1)
    assert contrasts[0] == pytest.approx(whole, abs=0.02)
    assert contrasts[2] - contrasts[0] == pytest.approx(plain, abs=0.02)
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
    estimate = draw_word_contrasts(sample, list_deviations(sample), 0, 1, draws=2000, seed=1)
    within = estimate.draws - estimate.draws[:, :, :30].mean(axis=2, keepdims=True)
    drawn = np.mean([np.cov(within[:, :, word].T) for word in range(30)], axis=0)
    np.testing.assert_allclose(np.diag(estimate.sampling), np.diag(drawn), rtol=0.15)


TIMES = np.arange(3.0)


def drawn_of(sample: PeriodSample, seed: int = 1, draws: int = 800) -> ContrastDraws:
    return draw_contrast(sample, list_deviations(sample), TIMES, (0, 1), draws=draws, chains=4, seed=seed)


def test_groups_and_these_words_are_means_of_words() -> None:
    drawn = drawn_of(period_sample(made_tables(words=5)))
    np.testing.assert_allclose(drawn.observed_groups.mean(axis=1), drawn.observed)
    np.testing.assert_allclose(drawn.words[:, :, :5].mean(axis=2), drawn.groups[:, :, 0])
    np.testing.assert_allclose(drawn.observed_words.mean(axis=1), drawn.observed)
    np.testing.assert_allclose(drawn.these_words.draws.mean(axis=0), drawn.observed, atol=0.01)


def test_lists_of_the_groups_add_to_the_degrees_of_freedom_of_all_groups() -> None:
    """Each group has a list of its own beside many control words: the overall error is a mean of independent ones."""
    rng = np.random.default_rng(2)
    tables = {}
    for period in ("1900", "1910"):
        rows = [
            (f"w{group}", f"g{group}", f"l{place}a{number}", f"l{place}", connection, rng.normal(0.9, sd))
            for group in range(3)
            for place, (size, sd) in enumerate(((3, 0.1), (3, 0.1), (3, 0.1), (60, 0.01)))
            for connection in ["neutral" if place == 3 else "associated" if place == group else "different"]
            for number in range(size)
        ]
        columns = ["protected_word", "protected_group", "attribute_word", "attribute_group", "connection"]
        tables[period] = pd.DataFrame(rows, columns=[*columns, "cosine_distance"])
    sample = period_sample(tables)
    estimate = draw_contrast(
        sample, list_deviations(sample), np.arange(2.0), (0, 2), draws=400, chains=4, seed=1
    ).word_contrasts
    assert estimate.freedom.max() < 2.5
    assert 3 < estimate.overall_freedom < 7


def test_these_words_have_students_t_of_all_groups() -> None:
    sample = period_sample(made_tables(words=5))
    drawn = drawn_of(sample, draws=40_000)
    estimate = drawn.word_contrasts
    assert estimate.overall_freedom < 7
    expected = stats.t(estimate.overall_freedom).ppf(0.945) * estimate.errors.mean(axis=2).std(axis=0)
    np.testing.assert_allclose(
        np.quantile(drawn.these_words.draws - drawn.observed, 0.945, axis=0), expected, rtol=0.03
    )


def test_words_like_these_have_a_further_error() -> None:
    drawn = drawn_of(period_sample(made_tables(words=5)))
    assert (drawn.population.draws.std(axis=0) > 1.02 * drawn.these_words.draws.std(axis=0)).all()


def test_words_that_lack_periods_change_neither_shape_nor_finiteness() -> None:
    tables = made_tables(words=5, change=0.02)
    tables["1900"] = tables["1900"].query("protected_word not in ('w0', 'w6')")
    drawn = drawn_of(period_sample(tables))
    for values in (drawn.population.draws, drawn.these_words.draws, drawn.groups, drawn.words):
        assert np.isfinite(values).all()
    whole = drawn_of(period_sample(made_tables(words=5, change=0.02)))
    np.testing.assert_allclose(drawn.observed, whole.observed, atol=0.02)


def test_same_seed_same_numbers() -> None:
    sample = period_sample(made_tables())
    first, again, other = (drawn_of(sample, seed, 80) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.population.draws, again.population.draws)
    np.testing.assert_array_equal(first.words, again.words)
    assert np.abs(first.population.draws - other.population.draws).max() > 0


def test_distances_are_those_of_the_tables() -> None:
    tables = made_tables()
    sample = period_sample(tables)
    assert sample.periods == ("1900", "1910", "1920")
    assert sample.distances.shape == (3, 8, 6)
    row = tables["1910"].iloc[13]
    places = sample.attribute_words.index(row["attribute_word"]), sample.protected_words.index(row["protected_word"])
    assert sample.distances[(1, *places)] == row["cosine_distance"]
    assert sample.lists == ("list0", "list1")
    assert sample.groups == ("group0", "group1")


def test_lacking_words_are_noted_by_period() -> None:
    tables = made_tables()
    tables["1900"] = tables["1900"].query("protected_word != 'w1'")
    tables["1920"] = tables["1920"].query("attribute_word != 'a5'")
    sample = period_sample(tables)
    lacks = {
        sample.protected_words[word]: sample.periods[period] for word, period in np.argwhere(~sample.protected_present)
    }
    assert lacks == {"w1": "1900"}
    assert np.isnan(sample.distances).sum() == 6
    assert np.argwhere(~sample.attribute_present).tolist() == [[sample.attribute_words.index("a5"), 2]]


@pytest.mark.parametrize(
    ("period", "rows", "message"),
    [
        ("1910", "protected_word != 'w1' or attribute_word != 'a2'", "'w1' with 'a2'"),
        ("1910", "protected_group != 'group1'", "'group1'.* has 0 of 3 words in 1910"),
        ("1910", "attribute_group != 'list1' or attribute_word == 'a4'", "'list1'.* has 1 of 4 words in 1910"),
    ],
)
def test_periods_that_lack_too_much_are_refused(period: str, rows: str, message: str) -> None:
    tables = made_tables()
    tables[period] = tables[period].query(rows)
    with pytest.raises(TableError, match=message):
        period_sample(tables)


def test_periods_that_one_attribute_word_links_are_refused() -> None:
    tables = made_tables(periods=2, attributes=4)
    tables["1900"] = tables["1900"].query("attribute_word not in ('a0', 'a1')")
    assert len(period_sample(tables).periods) == 2
    tables["1910"] = tables["1910"].query("attribute_word != 'a3'")
    with pytest.raises(TableError, match="'list0', 'a2' alone links"):
        period_sample(tables)


def test_periods_without_common_words_are_refused() -> None:
    tables = made_tables()
    tables["1900"] = tables["1900"].query("protected_word != 'w0'")
    for period in ("1910", "1920"):
        tables[period] = tables[period].query("protected_word not in ('w1', 'w2')")
    with pytest.raises(TableError, match="links '1900'"):
        period_sample(tables)
