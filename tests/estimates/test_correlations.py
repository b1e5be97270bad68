"""The posterior of a correlation, against simulated pairs and SciPy's density of r."""

import numpy as np
import pytest
from scipy import integrate, special

import bayesbias as bb
from bayesbias.errors import ArgumentError


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

    low, high, above = bb.estimates.correlation_interval(r, n)
    assert mass(low, high) / mass(-1, 1) == pytest.approx(0.89, abs=1e-3)
    assert mass(0, 1) / mass(-1, 1) == pytest.approx(above, abs=1e-3)
    assert hotelling(r, low, n) == pytest.approx(hotelling(r, high, n), rel=0.02)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Correlations from the prior, then pairs: 89 % of the intervals hold what was drawn."""
    rng = np.random.default_rng(1)
    held = []
    for rho in rng.uniform(-1, 1, 1500):
        x, e = rng.standard_normal((2, 12))
        r = float(np.corrcoef(x, rho * x + np.sqrt(1 - rho**2) * e)[0, 1])
        low, high, _ = bb.estimates.correlation_interval(r, 12)
        held.append(low <= rho <= high)
    assert np.mean(held) == pytest.approx(0.89, abs=3 * np.sqrt(0.89 * 0.11 / 1500))


def test_few_pairs_say_little_and_perfect_ones_something() -> None:
    assert np.diff(bb.estimates.correlation_interval(0.667, 4)[:2]) > np.diff(
        bb.estimates.correlation_interval(0.667, 100)[:2]
    )
    low, high, above = bb.estimates.correlation_interval(1.0, 5)
    assert 0 < low < high <= 1
    assert above > 0.99
    with pytest.raises(ArgumentError, match="n=2"):
        bb.estimates.correlation_interval(0.5, 2)
    with pytest.raises(ArgumentError, match=r"r=1\.5"):
        bb.estimates.correlation_interval(1.5, 10)


@pytest.mark.parametrize("n", [3, 16, 10_000, 100_000])
def test_no_correlation_is_as_likely_above_0_as_below(n: int) -> None:
    low, high, above = bb.estimates.correlation_interval(0.0, n)
    assert above == pytest.approx(0.5, abs=1e-9)
    assert low == pytest.approx(-high, rel=0.05)
    assert bb.estimates.correlation_interval(0.5, n)[2] <= 1


def test_more_pairs_than_the_grid_resolves_are_refused() -> None:
    for r in (1.0, 0.0):
        with pytest.raises(ArgumentError, match="give at most 100,000"):
            bb.estimates.correlation_interval(r, 10**9)
