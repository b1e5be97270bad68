"""Trends by period, against ordinary least squares and known deviations."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.periods.contrast_draws import OverallContrasts
from bayesbias.models.periods.period_line import draw_line, neighbour_test

TIMES = np.array([0.0, 10, 20, 30, 50, 60, 80])


def contrasts_of(
    plain: np.ndarray, errors: np.ndarray | None = None, freedom: float = 1e9, draws: int = 4000
) -> OverallContrasts:
    """Return contrasts with these errors (draws, periods), or without any, of which these words are all."""
    chosen = np.zeros((draws, len(plain))) if errors is None else errors
    quantiles = (np.arange(len(chosen)) + 0.5) / len(chosen)
    return OverallContrasts(
        plain, chosen, freedom, np.random.default_rng(9).permutation(quantiles), np.zeros_like(chosen)
    )


def centred(values: np.ndarray) -> np.ndarray:
    return (values - values.mean())[:, None]


def test_a_line_is_least_squares() -> None:
    rng = np.random.default_rng(1)
    plain = 0.002 * TIMES + rng.normal(0, 0.01, len(TIMES))
    line = draw_line(contrasts_of(plain, draws=20_000), centred(TIMES), TIMES, walk=False, seed=1)
    slope, (residual, *_) = np.polyfit(TIMES, plain, 1)[0], np.polyfit(TIMES, plain, 1, full=True)[1]
    assert line.observed[0] == pytest.approx(slope)
    free = len(TIMES) - 2
    error = np.sqrt(residual / free / np.square(TIMES - TIMES.mean()).sum())
    # Student's t with `free` degrees of freedom: its variance is free / (free - 2).
    assert line.coefficients.std() == pytest.approx(error * np.sqrt(free / (free - 2)), rel=0.05)


def test_the_error_of_contrasts_alone_has_their_degrees_of_freedom() -> None:
    """Periods on the line tell nothing beyond the contrasts: Student's t of the paired analysis of their words."""
    plain, rng = 0.002 * TIMES, np.random.default_rng(8)
    contrasts = contrasts_of(plain, rng.normal(0, 0.01, (20_000, len(TIMES))), freedom=4.0)
    line = draw_line(contrasts, centred(TIMES), TIMES, walk=False, seed=1)
    error = 0.01 / np.sqrt(np.square(TIMES - TIMES.mean()).sum())
    assert np.quantile(line.coefficients, 0.945) == pytest.approx(0.002 + stats.t(4).ppf(0.945) * error, rel=0.01)


def test_periods_that_scatter_more_than_their_contrasts_have_the_degrees_of_freedom_of_periods() -> None:
    """The scatter of contrasts holds their independent errors: least squares of the contrasts, with Student's t."""
    rng = np.random.default_rng(11)
    plain = 0.002 * TIMES + rng.normal(0, 0.03, len(TIMES))
    contrasts = contrasts_of(plain, rng.normal(0, 0.01, (20_000, len(TIMES))), freedom=50.0)
    line = draw_line(contrasts, centred(TIMES), TIMES, walk=False, seed=1)
    fitted = stats.linregress(TIMES, plain)
    expected = fitted.slope + stats.t(len(TIMES) - 2).ppf(0.945) * fitted.stderr
    assert np.quantile(line.coefficients, 0.945) == pytest.approx(expected, rel=0.02)


def test_intervals_hold_the_slope_as_often_as_they_say() -> None:
    """Five periods, whose scatter and errors are of one size: sums of separate t's hold the slope too often."""
    rng, times, inside = np.random.default_rng(12), np.arange(5.0), 0
    for _ in range(600):
        deviations = rng.normal(0, 0.01, (6, 5))  # of six attribute words, whose mean is the error of the contrasts
        plain = 0.01 * times + rng.normal(0, 0.004, 5) + deviations.mean(axis=0)
        spread = (deviations - deviations.mean(axis=0)) / np.sqrt(6 * 5)
        contrasts = contrasts_of(plain, rng.standard_normal((400, 6)) @ spread, freedom=5.0)
        line = draw_line(contrasts, centred(times), times, walk=False, seed=1)
        low, high = shortest_interval(line.coefficients[:, 0], 0.89)
        inside += low <= 0.01 <= high
    assert 0.87 < inside / 600 < 0.94


def test_a_walk_is_least_squares_of_steps() -> None:
    rng = np.random.default_rng(2)
    covariate = rng.normal(size=len(TIMES))
    plain = 0.3 * covariate + np.cumsum(rng.normal(0, 0.02, len(TIMES)))
    line = draw_line(contrasts_of(plain, draws=100), centred(covariate), TIMES, walk=True, seed=1)
    steps, roots = np.diff(covariate), np.sqrt(np.diff(TIMES))
    expected = (steps / roots) @ (np.diff(plain) / roots) / np.square(steps / roots).sum()
    assert line.observed[0] == pytest.approx(expected)


def test_the_sd_of_periods_is_net_of_the_error_of_contrasts() -> None:
    rng = np.random.default_rng(3)
    plain = rng.normal(0, 0.01, len(TIMES))
    errors = rng.normal(0, 0.01, (4000, len(TIMES)))
    exact = draw_line(contrasts_of(plain), centred(TIMES), TIMES, walk=False, seed=1)
    net = draw_line(contrasts_of(plain, errors), centred(TIMES), TIMES, walk=False, seed=1)
    assert net.period_sd.mean() < 0.8 * exact.period_sd.mean()


def test_a_walk_without_covariates_has_only_the_sd_of_steps() -> None:
    plain = np.cumsum(np.random.default_rng(4).normal(0, 0.02, 400))
    times = np.arange(400.0)
    line = draw_line(contrasts_of(plain, draws=500), np.empty((400, 0)), times, walk=True, seed=1)
    assert line.coefficients.shape == (500, 0)
    assert line.period_sd.mean() == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize("walk", [False, True])
def test_slopes_have_the_unit_of_their_covariate(walk: bool) -> None:
    """A covariate in dollars, such as a gross product, and one that is tiny."""
    rng = np.random.default_rng(7)
    plain, design = rng.normal(size=len(TIMES)), rng.normal(size=(len(TIMES), 2))
    design -= design.mean(axis=0)
    contrasts = contrasts_of(plain, rng.normal(0, 0.1, (200, len(TIMES))), 5.0)
    units = np.array([1e15, 1e-17])
    one, other = (draw_line(contrasts, columns, TIMES, walk=walk, seed=1) for columns in (design, design * units))
    np.testing.assert_allclose(other.observed * units, one.observed)
    np.testing.assert_allclose(other.coefficients * units, one.coefficients)
    np.testing.assert_allclose(other.period_sd, one.period_sd)


def neighbour_test_of(contrasts: OverallContrasts, times: np.ndarray) -> tuple[float, float]:
    data = (contrasts, centred(times), times)
    test = neighbour_test(draw_line(*data, walk=False, seed=1), *data, seed=1)
    assert test is not None
    return test.durbin_watson, test.p_value


def test_neighbours_have_the_durbin_watson_statistic_and_its_published_bounds() -> None:
    """Savin and White (1977): for 15 periods and one column, 5 % bounds of 1.077 and 1.361."""
    times, rng = np.arange(15.0), np.random.default_rng(5)
    below, above = [], []
    for number in range(60):
        noise = rng.normal(0, 0.05, 15)
        plain = 0.1 * times + (noise.cumsum() if number % 2 else noise)
        durbin_watson, p_value = neighbour_test_of(contrasts_of(plain), times)
        left = plain - np.polyval(np.polyfit(times, plain, 1), times)
        assert durbin_watson == pytest.approx(np.square(np.diff(left)).sum() / np.square(left).sum())
        if durbin_watson < 1.077:
            below.append(p_value)
        elif durbin_watson > 1.361:
            above.append(p_value)
    assert min(len(below), len(above)) > 5
    assert max(below) < 0.06
    assert min(above) > 0.04


def test_errors_that_neighbours_share_are_no_sign_of_a_walk() -> None:
    """Deviations that the error of the contrasts explains, which is itself smooth, are not taken for a random walk."""
    rng = np.random.default_rng(6)
    smooth = rng.normal(0, 0.05, (4001, 20)).cumsum(axis=1)
    times = np.arange(20.0)
    assert neighbour_test_of(contrasts_of(smooth[0]), times)[1] < 0.05
    assert neighbour_test_of(contrasts_of(smooth[0], smooth[1:]), times)[1] > 0.11


def test_contrasts_on_a_line_have_no_neighbours_to_test() -> None:
    plain = 0.002 * TIMES
    data = (contrasts_of(plain, draws=100), centred(TIMES), TIMES)
    assert neighbour_test(draw_line(*data, walk=False, seed=1), *data, seed=1) is None
