"""Trends by period, against ordinary least squares and known deviations."""

import numpy as np
import pytest

from bayesbias.models.periods.period_line import draw_line

TIMES = np.array([0.0, 10, 20, 30, 50, 60, 80])


def centred(values: np.ndarray) -> np.ndarray:
    return (values - values.mean())[:, None]


def test_a_line_is_least_squares() -> None:
    rng = np.random.default_rng(1)
    plain = 0.002 * TIMES + rng.normal(0, 0.01, len(TIMES))
    line = draw_line(plain, np.tile(plain, (20_000, 1)), centred(TIMES), TIMES, walk=False, seed=1)
    slope, (residual, *_) = np.polyfit(TIMES, plain, 1)[0], np.polyfit(TIMES, plain, 1, full=True)[1]
    assert line.plain[0] == pytest.approx(slope)
    free = len(TIMES) - 2
    error = np.sqrt(residual / free / np.square(TIMES - TIMES.mean()).sum())
    # Student's t with `free` degrees of freedom: its variance is free / (free - 2).
    assert line.coefficients.std() == pytest.approx(error * np.sqrt(free / (free - 2)), rel=0.05)


def test_a_walk_is_least_squares_of_steps() -> None:
    rng = np.random.default_rng(2)
    covariate = rng.normal(size=len(TIMES))
    plain = 0.3 * covariate + np.cumsum(rng.normal(0, 0.02, len(TIMES)))
    line = draw_line(plain, np.tile(plain, (100, 1)), centred(covariate), TIMES, walk=True, seed=1)
    steps, roots = np.diff(covariate), np.sqrt(np.diff(TIMES))
    expected = (steps / roots) @ (np.diff(plain) / roots) / np.square(steps / roots).sum()
    assert line.plain[0] == pytest.approx(expected)


def test_the_sd_of_periods_is_net_of_the_error_of_gaps() -> None:
    rng = np.random.default_rng(3)
    plain = rng.normal(0, 0.01, len(TIMES))
    noisy = plain + rng.normal(0, 0.01, (4000, len(TIMES)))
    exact = draw_line(plain, np.tile(plain, (4000, 1)), centred(TIMES), TIMES, walk=False, seed=1)
    net = draw_line(plain, noisy, centred(TIMES), TIMES, walk=False, seed=1)
    assert net.period_sd.mean() < 0.8 * exact.period_sd.mean()


def test_a_walk_without_covariates_has_only_the_sd_of_steps() -> None:
    plain = np.cumsum(np.random.default_rng(4).normal(0, 0.02, 400))
    times = np.arange(400.0)
    line = draw_line(plain, np.tile(plain, (500, 1)), np.empty((400, 0)), times, walk=True, seed=1)
    assert line.coefficients.shape == (500, 0)
    assert line.period_sd.mean() == pytest.approx(0.02, rel=0.1)
