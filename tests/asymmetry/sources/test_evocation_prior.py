"""The prior of evocation probabilities: recovered from counts that it made, however pairs are chosen."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from bayesbias.asymmetry.sources.evocation_prior import (
    DEPENDENCES,
    LEAST_PAIRS,
    LEAST_SHARE,
    USUAL,
    PowerLawPrior,
    estimate_prior,
)
from bayesbias.asymmetry.sources.log_ratios import LOWEST


def counts_of(logs: list[np.ndarray], least: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of 120 to 170 people and these numbers, for log probabilities of both directions."""
    p = np.exp(np.stack(logs, axis=1))
    people = rng.integers(120, 170, size=p.shape)
    counts = rng.binomial(people, p)
    counts[counts < least] = 0
    return counts, people


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("dependence", [0.0, 0.6])
def test_the_prior_that_made_the_counts_is_found_though_most_pairs_are_not_listed(
    least: int, dependence: float
) -> None:
    """Normal quantiles with a correlation that is none of the prior's own."""
    rng = np.random.default_rng(3)
    prior = PowerLawPrior(centre=0.004, decay=0.8, end=2.0)
    logs = np.linspace(LOWEST, -1e-3, 20_000)
    first, second = rng.standard_normal((2, 60_000))
    second = dependence * first + np.sqrt(1 - dependence**2) * second
    drawn = [np.interp(norm.cdf(side), np.cumsum(prior.weights(logs)), logs) for side in (first, second)]
    counts, people = counts_of(drawn, least, rng)
    listed = counts.max(axis=1) > 0
    assert 0.2 < listed.mean() < 0.9
    estimated = estimate_prior(counts[listed], people[listed], least)
    assert estimated.pairs == listed.sum()
    assert estimated.decay == pytest.approx(0.8, rel=0.15)
    assert estimated.dependence == pytest.approx(dependence, abs=0.1)
    assert min(estimated.shares) >= LEAST_SHARE


def test_levels_are_a_gaussian_copula() -> None:
    """Masses of quadrants of SciPy's bivariate Normal distribution."""
    prior = PowerLawPrior(centre=0.001, decay=0.6, end=1.0, shares=(0.0, 0.0, 1.0, 0.0))
    logs = np.linspace(LOWEST, -0.001, 4000)
    masses, shares = prior.levels(logs)
    below = np.cumsum(prior.weights(logs))
    normal = multivariate_normal(cov=np.array([[1.0, DEPENDENCES[2]], [DEPENDENCES[2], 1.0]]))
    for first, second in ((0.5, 0.5), (0.9, 0.9), (0.99, 0.99), (0.2, 0.95)):
        ends = np.searchsorted(below, [first, second])
        cumulated = [masses[:, : end + 1].sum(axis=1) for end in ends]
        expected = normal.cdf(norm.ppf(below[ends]))
        assert (shares * cumulated[0] * cumulated[1]).sum() == pytest.approx(expected, abs=0.004)


def test_few_pairs_take_the_usual_prior() -> None:
    counts = np.ones((LEAST_PAIRS - 1, 2), dtype=int)
    assert estimate_prior(counts, counts * 100, 1) == USUAL


def test_the_prior_is_a_power_law_above_its_centre_and_jeffreys_below() -> None:
    prior = PowerLawPrior(centre=0.01, decay=0.7, end=0.0)
    logs = np.log(np.array([0.0005, 0.005, 0.02, 0.2]))
    density = prior.log_density(logs)
    assert density[1] - density[0] == pytest.approx(np.log(10) / 2)  # that of log p is the root of p
    assert density[3] - density[2] == pytest.approx(-0.7 * np.log(10))
    assert prior.weights(np.linspace(LOWEST, -0.01, 500)).sum() == pytest.approx(1)
