"""Means over words of which some lack periods, against ordinary least squares."""

import numpy as np
import pytest

from bayesbias.models.periods.panel import (
    ProtectedWords,
    draw_word_variation,
    effect_weights,
    fill_words,
    is_connected,
    mean_weights,
    time_coordinates,
)


def least_squares(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the effects of words and periods by NumPy's least squares."""
    words, periods = values.shape
    row, column = np.nonzero(np.isfinite(values))
    design = np.zeros((len(row), words + periods))
    design[np.arange(len(row)), row] = design[np.arange(len(row)), words + column] = 1
    effects = np.linalg.lstsq(design, values[row, column], rcond=None)[0]
    return effects[:words], effects[words:]


def lost(seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=(6, 4))
    values[0, :2] = values[3, 1] = values[5, 1:] = np.nan
    return values


def test_means_are_least_squares() -> None:
    values = lost()
    words, periods = least_squares(values)
    weights = mean_weights(np.isfinite(values))
    means = np.einsum("tis,is->t", weights, np.nan_to_num(values))
    np.testing.assert_allclose(means, words.mean() + periods, atol=1e-9)
    np.testing.assert_allclose(weights[:, np.isnan(values)], 0, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=(1, 2)), 1)


@pytest.mark.parametrize("periods", [2, 3, 5, 7, 12, 20, 30])
def test_whole_words_weigh_the_same(periods: int) -> None:
    """However many they are: with NumPy's threshold, a quarter of these sizes had wrong weights."""
    for words in range(1, 130):
        weights = mean_weights(np.ones((words, periods), dtype=bool))
        np.testing.assert_allclose(weights, np.eye(periods)[:, None] * np.full((words, 1), 1 / words), atol=1e-12)


def test_large_panels_with_lost_words_are_least_squares() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        values = rng.normal(size=(60, 8))
        values[rng.random(values.shape) < 0.1] = np.nan
        words, periods = least_squares(values)
        means = np.einsum("tis,is->t", mean_weights(np.isfinite(values)), np.nan_to_num(values))
        np.testing.assert_allclose(means, words.mean() + periods, atol=1e-9)


def test_words_without_any_period_have_no_weight() -> None:
    present = np.array([[True, True], [False, False], [True, True]])
    weights = mean_weights(present)
    assert np.abs(weights[:, 1]).max() == 0
    np.testing.assert_allclose(weights[0, :, 0], [0.5, 0, 0.5], atol=1e-12)
    assert np.abs(effect_weights(present).sum(axis=0)).max() < 1e-12


def test_filled_values_are_those_of_least_squares() -> None:
    one, other = lost(1), lost(2)
    samples = np.stack([one.T, other.T], axis=1)
    filled = fill_words(samples)
    for place, values in enumerate((one, other)):
        words, periods = least_squares(values)
        expected = np.where(np.isfinite(values), values, words[:, None] + periods)
        np.testing.assert_allclose(filled[:, place].T, expected, atol=1e-9)


def test_a_sample_that_lacks_a_period_stays_without_it() -> None:
    samples = np.stack([lost(1).T, lost(2).T], axis=1)
    samples[2, 1] = np.nan
    filled = fill_words(samples)
    assert np.isnan(filled[2, 1]).all()
    assert np.isfinite(filled).sum() == filled.size - 6


@pytest.mark.parametrize(
    ("present", "connected"),
    [([[1, 1, 0], [0, 1, 1]], True), ([[1, 1, 0], [0, 0, 1]], False), ([[1, 0, 1], [0, 1, 1]], True), ([[1]], True)],
)
def test_connected(present: list[list[int]], connected: bool) -> None:
    assert is_connected(np.array(present, dtype=bool)) is connected


TIMES = np.arange(4.0)
LEVEL, SLOPE, CHANCE = 0.05, 0.01, 0.01


def made(words: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return contrasts (periods, words) around their groups, true deviations, and the groups."""
    rng = np.random.default_rng(seed)
    basis = time_coordinates(TIMES)
    true = basis[:, :1] * LEVEL * 2 @ rng.standard_normal((1, words))
    true = true + basis[:, 1:2] * SLOPE * 2 @ rng.standard_normal((1, words))
    group_of = np.repeat([0, 1], words // 2)
    contrasts = true + CHANCE * rng.standard_normal(true.shape)
    for values in (contrasts, true):
        for group in (0, 1):
            values[:, group_of == group] -= values[:, group_of == group].mean(axis=1, keepdims=True)
    return contrasts, true, group_of


def test_basis_is_orthonormal_and_begins_with_level_and_slope() -> None:
    times = np.array([1900.0, 1910.0, 1950.0, 1990.0])
    basis = time_coordinates(times)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(basis[:, 0], 0.5)
    assert np.corrcoef(basis[:, 1], times)[0, 1] == pytest.approx(1)


def test_covariance_of_words_is_recovered_net_of_chance() -> None:
    contrasts, true, group_of = made(200)
    settings = {"draws": 800, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        contrasts,
        ProtectedWords(np.ones((200, 4), bool), group_of, np.ones(2)),
        CHANCE**2 * np.eye(4),
        TIMES,
        **settings,
    )
    basis = time_coordinates(TIMES)
    sds = np.sqrt(np.diagonal(basis.T @ drawn.covariance.mean(axis=1) @ basis, axis1=1, axis2=2)).mean(axis=0)
    assert sds[0] == pytest.approx(2 * LEVEL, rel=0.15)
    assert sds[1] == pytest.approx(2 * SLOPE, rel=0.25)
    assert (sds[2:] < CHANCE / 2).all()
    error = drawn.deviations.mean(axis=0) - true
    assert np.sqrt(np.mean(error**2)) < 0.9 * CHANCE
    inside = np.abs(error) < 1.6 * drawn.deviations.std(axis=0)
    assert 0.8 < inside.mean() < 0.97


def test_a_word_that_lacks_periods_has_wider_ones_there() -> None:
    contrasts, _, group_of = made(60)
    present = np.ones((60, 4), bool)
    present[0, 2:] = False
    contrasts[2:, 0] = np.nan
    settings = {"draws": 400, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        contrasts, ProtectedWords(present, group_of, np.ones(2)), CHANCE**2 * np.eye(4), TIMES, **settings
    )
    sds = drawn.deviations.std(axis=0)
    assert np.isfinite(drawn.deviations).all()
    assert sds[3, 0] > 1.2 * sds[3, 1:].mean()
    assert abs(drawn.deviations[:, 3, 0].mean() - contrasts[0, 0]) < 0.05


@pytest.mark.parametrize("words", [2, 4])
def test_few_words_leave_the_prior(words: int) -> None:
    contrasts, _, group_of = made(words)
    settings = {"draws": 400, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        contrasts,
        ProtectedWords(np.ones((words, 4), bool), group_of, np.ones(2)),
        CHANCE**2 * np.eye(4),
        TIMES,
        **settings,
    )
    assert np.isfinite(drawn.covariance).all()
    assert np.sqrt(drawn.covariance[:, 0, 0, 0]).mean() > 0.02
