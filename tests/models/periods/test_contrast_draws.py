"""The gaps of one contrast: levels and scopes."""

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.models.periods.contrast_draws import ContrastDraws, draw_contrast
from bayesbias.models.periods.gap_draws import list_deviations
from bayesbias.models.periods.period_sample import PeriodSample, period_sample
from tests.models.periods.made import made_tables

TIMES = np.arange(3.0)


def drawn_of(sample: PeriodSample, seed: int = 1, draws: int = 800) -> ContrastDraws:
    return draw_contrast(sample, list_deviations(sample), TIMES, (0, 1), draws=draws, chains=4, seed=seed)


def test_groups_and_these_words_are_means_of_words() -> None:
    drawn = drawn_of(period_sample(made_tables(words=5)))
    np.testing.assert_allclose(drawn.plain_groups.mean(axis=1), drawn.plain)
    np.testing.assert_allclose(drawn.words[:, :, :5].mean(axis=2), drawn.groups[:, :, 0])
    np.testing.assert_allclose(drawn.plain_words.mean(axis=1), drawn.plain)
    np.testing.assert_allclose(drawn.these_words.draws.mean(axis=0), drawn.plain, atol=0.01)


def test_lists_of_the_groups_add_to_the_degrees_of_freedom_of_all_groups() -> None:
    """Each group has a list of its own beside many control words: the overall gap is a mean of independent errors."""
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
    ).estimate
    assert estimate.freedom.max() < 2.5
    assert 3 < estimate.overall_freedom < 7


def test_these_words_have_students_t_of_all_groups() -> None:
    sample = period_sample(made_tables(words=5))
    drawn = drawn_of(sample, draws=40_000)
    estimate = drawn.estimate
    assert estimate.overall_freedom < 7
    expected = stats.t(estimate.overall_freedom).ppf(0.945) * estimate.errors.mean(axis=2).std(axis=0)
    np.testing.assert_allclose(np.quantile(drawn.these_words.draws - drawn.plain, 0.945, axis=0), expected, rtol=0.03)


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
    np.testing.assert_allclose(drawn.plain, whole.plain, atol=0.02)


def test_same_seed_same_numbers() -> None:
    sample = period_sample(made_tables())
    first, again, other = (drawn_of(sample, seed, 80) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.population.draws, again.population.draws)
    np.testing.assert_array_equal(first.words, again.words)
    assert np.abs(first.population.draws - other.population.draws).max() > 0
