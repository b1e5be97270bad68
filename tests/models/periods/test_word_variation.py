"""How words vary over periods: recovered from numbers with a known covariance."""

import numpy as np
import pytest

from bayesbias.models.periods.word_variation import ProtectedWords, draw_word_variation, time_coordinates

TIMES = np.arange(4.0)
LEVEL, SLOPE, CHANCE = 0.05, 0.01, 0.01


def made(words: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gaps (periods, words) around their groups, true deviations, and the groups."""
    rng = np.random.default_rng(seed)
    basis = time_coordinates(TIMES)
    true = basis[:, :1] * LEVEL * 2 @ rng.standard_normal((1, words))
    true = true + basis[:, 1:2] * SLOPE * 2 @ rng.standard_normal((1, words))
    group_of = np.repeat([0, 1], words // 2)
    gaps = true + CHANCE * rng.standard_normal(true.shape)
    for values in (gaps, true):
        for group in (0, 1):
            values[:, group_of == group] -= values[:, group_of == group].mean(axis=1, keepdims=True)
    return gaps, true, group_of


def test_basis_is_orthonormal_and_begins_with_level_and_slope() -> None:
    times = np.array([1900.0, 1910.0, 1950.0, 1990.0])
    basis = time_coordinates(times)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(basis[:, 0], 0.5)
    assert np.corrcoef(basis[:, 1], times)[0, 1] == pytest.approx(1)


def test_covariance_of_words_is_recovered_net_of_chance() -> None:
    gaps, true, group_of = made(200)
    settings = {"draws": 800, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        gaps, ProtectedWords(np.ones((200, 4), bool), group_of, np.ones(2)), CHANCE**2 * np.eye(4), TIMES, **settings
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
    gaps, _, group_of = made(60)
    present = np.ones((60, 4), bool)
    present[0, 2:] = False
    gaps[2:, 0] = np.nan
    settings = {"draws": 400, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        gaps, ProtectedWords(present, group_of, np.ones(2)), CHANCE**2 * np.eye(4), TIMES, **settings
    )
    sds = drawn.deviations.std(axis=0)
    assert np.isfinite(drawn.deviations).all()
    assert sds[3, 0] > 1.2 * sds[3, 1:].mean()
    assert abs(drawn.deviations[:, 3, 0].mean() - gaps[0, 0]) < 0.05


@pytest.mark.parametrize("words", [2, 4])
def test_few_words_leave_the_prior(words: int) -> None:
    gaps, _, group_of = made(words)
    settings = {"draws": 400, "chains": 4, "seed": 1}
    drawn = draw_word_variation(
        gaps, ProtectedWords(np.ones((words, 4), bool), group_of, np.ones(2)), CHANCE**2 * np.eye(4), TIMES, **settings
    )
    assert np.isfinite(drawn.covariance).all()
    assert np.sqrt(drawn.covariance[:, 0, 0, 0]).mean() > 0.02
