"""Changes of lists whose words are forms of each other: they count as what they are worth, in every period."""

import numpy as np
import pytest

from bayesbias.models.periods.contrast_draws import (
    ContrastDraws,
    draw_contrast,
    draw_word_contrasts,
    list_deviations,
    period_sample,
)
from bayesbias.models.periods.panel import ProtectedWords, draw_word_variation
from tests.models.dependent_words import SAMPLE, forms, tables_of, without_links


def drawn_of(tables: dict, draws: int = 400, seed: int = 1) -> ContrastDraws:
    sample, times = period_sample(tables), np.arange(float(len(tables)))
    return draw_contrast(sample, list_deviations(sample), times, (0, 1), draws=draws, chains=4, seed=seed)


def test_effects_are_means_over_the_records_of_the_periods() -> None:
    rng = np.random.default_rng(1)
    tables = tables_of(forms(6, 4, rng), SAMPLE[:12], rng, periods=2)
    alone = [period_sample({name: table, "again": table}).list_effects for name, table in tables.items()]
    sample = period_sample(tables)
    np.testing.assert_allclose(sample.list_effects, np.mean(alone, axis=0))
    assert (sample.list_effects > 1.5).all()
    assert sample.group_effects.mean() < 1.2
    assert len(sample.protected_links) == 2


def test_words_without_a_record_are_judged_by_their_distances() -> None:
    rng = np.random.default_rng(1)
    tables = tables_of(forms(6, 4, rng), SAMPLE[:12], rng, periods=2)
    for table in tables.values():
        table.attrs = {}
    assert (period_sample(tables).list_effects > 1.2).all()


def test_a_list_has_the_error_of_the_words_that_it_is_worth() -> None:
    rng = np.random.default_rng(1)
    tables = tables_of(forms(6, 4, rng), SAMPLE[:12], rng, periods=2)
    plain = period_sample({name: without_links(table) for name, table in tables.items()})
    sample = period_sample(tables)
    for before, after, effect in zip(list_deviations(plain), list_deviations(sample), sample.list_effects, strict=True):
        np.testing.assert_allclose(after.parts, before.parts * np.sqrt(effect * 11 / (12 - effect)))
        np.testing.assert_allclose(after.mean, before.mean)
        assert (before.freedom, after.freedom) == (11, pytest.approx(12 / effect - 1))


def test_contrasts_of_lists_of_forms_are_claimed_more_nearly_as_often_as_promised() -> None:
    """Nothing is associated, so that 11 % of 89 % intervals should leave out 0; links are found in part."""
    claims = np.zeros((2, 80))
    for number in range(80):
        rng = np.random.default_rng(number)
        protected = SAMPLE[rng.choice(len(SAMPLE), 12, replace=False)]
        tables = tables_of(forms(12, 4, rng, 0.5), protected, rng, periods=2)
        for row, made in enumerate((tables, {name: without_links(table) for name, table in tables.items()})):
            sample = period_sample(made)
            estimate = draw_word_contrasts(sample, list_deviations(sample), 0, 1, draws=400, seed=1)
            contrasts = estimate.draws[:, 0].mean(axis=1)
            claims[row, number] = np.prod(np.quantile(contrasts, [0.055, 0.945])) > 0
    assert claims[0].mean() < 0.22
    assert claims[1].mean() > claims[0].mean() + 0.1


def test_words_like_these_are_as_uncertain_as_the_words_that_a_group_is_worth() -> None:
    rng = np.random.default_rng(2)
    tables = tables_of(SAMPLE[:40], forms(6, 4, rng), rng, periods=2)
    dependent, independent = (
        drawn_of(made, 2000).population.word_errors.std(axis=0).mean()
        for made in (tables, {name: without_links(table) for name, table in tables.items()})
    )
    effect = period_sample(tables).group_effects.mean()
    assert effect > 1.5
    # The groups also spread further than their words, which are forms of each other, show.
    assert dependent / independent > np.sqrt(effect)


def test_each_group_has_its_own_spread() -> None:
    rng = np.random.default_rng(1)
    group_of = np.repeat([0, 1], [30, 8])
    contrasts = rng.standard_normal((2, 38)) * np.where(group_of == 0, 0.02, 0.1)
    for group in (0, 1):
        contrasts[:, group_of == group] -= contrasts[:, group_of == group].mean(axis=1, keepdims=True)
    settings = {"draws": 800, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        contrasts,
        ProtectedWords(np.ones((38, 2), bool), group_of, np.ones(2)),
        1e-6 * np.eye(2),
        np.arange(2.0),
        **settings,
    )
    sds = np.sqrt(np.median(drawn.covariance[:, :, 0, 0], axis=0))
    assert sds[0] == pytest.approx(0.02, rel=0.3)
    assert sds[1] == pytest.approx(0.1, rel=0.4)
