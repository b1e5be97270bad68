"""Estimates of one contrast: intervals of mixtures and of draws, and the error of a shift."""

import numpy as np
import pytest
from scipy import optimize, stats

import bayesbias as bb
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.data import model_data
from bayesbias.models.numerics.contrast_estimate import (
    draws_estimate,
    draws_interval,
    find_patterns,
    mixture_estimate,
    shift_error,
)
from tests.models.tables import small, with_gaps


def test_a_mixture_has_the_interval_of_its_draws() -> None:
    rng = np.random.default_rng(2)
    weights = rng.dirichlet(np.ones(50))
    mean, sd = rng.normal(0, 1, 50), rng.uniform(0.5, 1.5, 50)
    which = rng.choice(50, 400_000, p=weights)
    draws = draws_estimate(mean[which] + sd[which] * rng.standard_normal(len(which)), 0.89)
    exact = mixture_estimate(weights, mean, sd, 0.89)
    for name in ("mean", "sd", "below"):
        assert getattr(exact, name) == pytest.approx(getattr(draws, name), abs=0.02)

    # The ends of the shortest interval of draws are noisy, where its width hardly changes: by root finding instead.
    def quantile(below: float) -> float:
        return float(optimize.brentq(lambda x: weights @ stats.norm.cdf((x - mean) / sd) - below, -20, 20))

    shortest = optimize.minimize_scalar(
        lambda below: quantile(below + 0.89) - quantile(below), bounds=(1e-6, 0.11 - 1e-6), method="bounded"
    )
    assert exact.high - exact.low == pytest.approx(shortest.fun, abs=1e-4)
    assert (exact.low, exact.high) == pytest.approx((quantile(shortest.x), quantile(shortest.x + 0.89)), abs=0.01)
    assert exact.mean == pytest.approx(draws.mean, abs=5 * draws.standard_error)


def test_a_single_normal_has_its_known_interval() -> None:
    estimate = mixture_estimate(np.ones(1), np.array([0.3]), np.array([0.1]), 0.89)
    low, high = stats.norm(0.3, 0.1).interval(0.89)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-4)
    assert (estimate.mean, estimate.sd) == pytest.approx((0.3, 0.1))
    assert estimate.below == pytest.approx(stats.norm(0.3, 0.1).cdf(0))
    assert estimate.standard_error == 0


@pytest.mark.parametrize("count", [4, 11, 100, 4000, 4013])
def test_the_errors_of_ends_are_those_of_batches_one_by_one(count: int) -> None:
    draws = np.random.default_rng(3).standard_normal(count)
    interval = draws_interval(draws, 0.89)
    batches = np.array_split(draws, max(1, min(20, count // 5)))
    ends = np.array([shortest_interval(batch, 0.89) for batch in batches])
    errors = ends.std(axis=0, ddof=1) / len(batches) ** (1 / 3) if len(batches) > 1 else np.full(2, np.inf)
    assert (interval.low, interval.high) == shortest_interval(draws, 0.89)
    assert (interval.low_se, interval.high_se) == tuple(errors)


@pytest.mark.parametrize(("shift", "reading"), [(-5.0, "nearer"), (0.0, "not settled"), (5.0, "farther")])
def test_the_reading_is_where_the_interval_leaves_out_0(shift: float, reading: str) -> None:
    draws = shift + np.random.default_rng(1).standard_normal(1000)
    estimate = draws_estimate(draws, 0.89)
    assert estimate.reading == estimate.numbers()["reading"] == reading
    assert estimate.numbers()["probability_of_direction"] == max(np.mean(draws < 0), np.mean(draws >= 0))


def test_the_same_points_leave_no_error_in_a_shift() -> None:
    weights, mean, sd = np.full(4, 0.25), np.array([0.0, 1.0, 2.0, 3.0]), np.ones(4)
    one, two = (mixture_estimate(weights, mean + shift, sd, 0.89) for shift in (0.0, 0.5))
    assert shift_error(one, two) == pytest.approx(0, abs=1e-12)
    drawn = draws_estimate(np.array([0.0, 1.0, 2.0]), 0.5)
    assert shift_error(drawn, drawn) == 0
    assert shift_error(drawn, one) == pytest.approx(np.hypot(drawn.standard_error, one.standard_error))


def test_attributes_with_the_same_rows_share_a_pattern() -> None:
    data = with_gaps(3)
    whole, gaps = (
        find_patterns(model_data(table), bb.load_model("crossed")) for table in (small(seed=3), small(seed=3))
    )
    assert len(whole.members) == len(gaps.members) == 4
    patterns = find_patterns(data, bb.load_model("crossed"))
    assert len(patterns.members) == 6
    assert patterns.members.sum() == len(data.attribute_words)
    np.testing.assert_array_equal(patterns.usage @ patterns.members, patterns.rows)


@pytest.mark.parametrize("name", ["crossed", "crossed_per_list"])
def test_the_sums_are_those_of_the_rows(name: str) -> None:
    """Each number written out by loops over the table; distances are counted from the prior mean, 1."""
    data = with_gaps(4)
    patterns = find_patterns(data, bb.load_model(name))
    count = len(data.connections)
    distance = data.distance - 1
    for cell in range(len(data.protected_words) * count):
        mine = (data.protected == cell // count) & (data.connection == cell % count)
        assert patterns.rows[cell] == mine.sum()
        assert patterns.mean[cell] == pytest.approx(distance[mine].mean() if mine.any() else 0)
    residual = distance - patterns.mean[data.protected.astype(int) * count + data.connection]
    for g in range(count):
        assert patterns.within[g] == pytest.approx(np.square(residual[data.connection == g]).sum())
        assert patterns.totals[g] == (data.connection == g).sum()
        for attribute in range(len(data.attribute_words)):
            mine = (data.attribute == attribute) & (data.connection == g)
            assert patterns.residual[attribute, g] == pytest.approx(residual[mine].sum())
            assert patterns.usage_by_connection[patterns.pattern[attribute], g] == mine.sum()
