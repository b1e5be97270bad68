"""The posterior of a correlation, against simulated pairs and SciPy's density of r."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayesbias as bb
from bayesbias.errors import ArgumentError
from bayesbias.estimates.correlations import correlated, rank_correlation_interval


def hotelling(r: float, rho: float, n: int) -> float:
    """Return the density of r with all its constants, which the posterior does without."""
    return float(
        (n - 2)
        * np.exp(special.gammaln(n - 1) - special.gammaln(n - 0.5))
        / np.sqrt(2 * np.pi)
        * (1 - rho**2) ** ((n - 1) / 2)
        * (1 - r**2) ** ((n - 4) / 2)
        * (1 - rho * r) ** (1.5 - n)
        * special.hyp2f1(0.5, 0.5, n - 0.5, (1 + rho * r) / 2)
    )


@pytest.mark.parametrize(("rho", "n"), [(0.0, 5), (0.6, 16), (-0.9, 8)])
def test_the_density_that_the_test_takes_is_one_of_r(rho: float, n: int) -> None:
    assert integrate.quad(hotelling, -1, 1, args=(rho, n))[0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("r", "n"), [(0.667, 16), (-0.3, 5), (0.98, 40)])
def test_the_interval_holds_its_probability_and_is_the_shortest(r: float, n: int) -> None:
    def mass(low: float, high: float) -> float:
        return integrate.quad(lambda rho: hotelling(r, rho, n), low, high, epsabs=1e-12)[0]

    low, high, direction = bb.estimates.correlation_interval(r, n)
    assert mass(low, high) / mass(-1, 1) == pytest.approx(0.89, abs=1e-3)
    assert max(mass(0, 1), mass(-1, 0)) / mass(-1, 1) == pytest.approx(direction, abs=1e-3)
    assert hotelling(r, low, n) == pytest.approx(hotelling(r, high, n), rel=0.02)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Correlations from the prior, then pairs: 89 % of the intervals hold what was drawn."""
    rng, repeats = np.random.default_rng(1), 600
    held = []
    for rho in rng.uniform(-1, 1, repeats):
        x, e = rng.standard_normal((2, 12))
        r = float(np.corrcoef(x, rho * x + np.sqrt(1 - rho**2) * e)[0, 1])
        low, high, _ = bb.estimates.correlation_interval(r, 12)
        held.append(low <= rho <= high)
    assert np.mean(held) == pytest.approx(0.89, abs=3 * np.sqrt(0.89 * 0.11 / repeats))


def test_few_pairs_say_little_and_perfect_ones_something() -> None:
    assert np.diff(bb.estimates.correlation_interval(0.667, 4)[:2]) > np.diff(
        bb.estimates.correlation_interval(0.667, 100)[:2]
    )
    low, high, direction = bb.estimates.correlation_interval(1.0, 5)
    assert 0 < low < high <= 1
    assert direction > 0.99
    with pytest.raises(ArgumentError, match="n=2"):
        bb.estimates.correlation_interval(0.5, 2)
    with pytest.raises(ArgumentError, match=r"r=1\.5"):
        bb.estimates.correlation_interval(1.5, 10)


@pytest.mark.parametrize("n", [3, 16, 10_000, 100_000])
def test_no_correlation_is_as_likely_above_0_as_below(n: int) -> None:
    low, high, direction = bb.estimates.correlation_interval(0.0, n)
    assert direction == pytest.approx(0.5, abs=1e-9)
    assert low == pytest.approx(-high, rel=0.05)
    assert bb.estimates.correlation_interval(0.5, n)[2] <= 1


def test_more_pairs_than_the_grid_resolves_are_refused() -> None:
    for r in (1.0, 0.0):
        with pytest.raises(ArgumentError, match="100,000"):
            bb.estimates.correlation_interval(r, 10**9)


def test_intervals_of_ranks_are_right_where_tails_are_heavy_and_those_of_pearson_too_short() -> None:
    """Pairs by NumPy, Normal and Student's t of 3 degrees; the truth of ranks is SciPy's over 100,000 pairs."""
    random, repeats = np.random.default_rng(3), 400

    def pairs(count: int, heavy: bool) -> np.ndarray:
        normal = random.standard_normal((2, count))
        normal[1] = 0.667 * normal[0] + np.sqrt(1 - 0.667**2) * normal[1]
        return np.asarray(normal / np.sqrt(random.chisquare(3, count) / 3) if heavy else normal)

    for heavy, least, pearson_most in ((False, 0.89, 1.0), (True, 0.85, 0.78)):
        truth = stats.spearmanr(*pairs(100_000, heavy)).statistic
        of_ranks, of_values = [], []
        for repeat in range(repeats):
            first, second = pairs(16, heavy)
            _, low, high, _, rank_r, rank_low, rank_high = correlated(first, second, hdi_prob=0.89)
            if repeat < 20:
                assert rank_r == pytest.approx(stats.spearmanr(first, second).statistic)
            of_values.append(low <= 0.667 <= high)
            of_ranks.append(rank_low <= truth <= rank_high)
        error = 3 * np.sqrt(0.89 * 0.11 / repeats)
        assert least - error < np.mean(of_ranks) < 0.91 + error
        assert np.mean(of_values) < pearson_most + error


def test_ranks_that_agree_wholly_have_an_interval() -> None:
    low, high = rank_correlation_interval(1.0, 16)
    assert 0.9 < low < high == 1
    with pytest.raises(ArgumentError, match="n=3"):
        rank_correlation_interval(0.5, 3)


@pytest.mark.parametrize("r", [-1.0, 1.0])
def test_a_rank_correlation_lies_inside_its_interval(r: float) -> None:
    low, high = rank_correlation_interval(r, 5)
    assert low <= r <= high
    assert high - low > 0.5
