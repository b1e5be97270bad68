"""The prior of evocation probabilities: recovered from counts that it made, however pairs are chosen."""

import numpy as np
import pytest

from bayesbias.asymmetry.sources.evocation_prior import LEAST_PAIRS, USUAL, PowerLawPrior, estimate_prior
from bayesbias.asymmetry.sources.log_ratios import LOWEST, grid


@pytest.mark.parametrize("least", [1, 2])
def test_the_prior_that_made_the_counts_is_found_though_most_pairs_are_not_listed(least: int) -> None:
    rng = np.random.default_rng(3)
    prior = PowerLawPrior(centre=0.004, decay=0.8, end=2.0)
    logs = grid(150)
    p = np.exp(rng.choice(logs, size=(60_000, 2), p=prior.weights(logs)))
    people = rng.integers(120, 170, size=p.shape)
    counts = rng.binomial(people, p)
    counts[counts < least] = 0
    listed = counts.max(axis=1) > 0
    assert 0.2 < listed.mean() < 0.8
    found = estimate_prior(counts[listed], people[listed], least)
    assert found.pairs == listed.sum()
    assert found.decay == pytest.approx(0.8, rel=0.1)
    assert found.centre == pytest.approx(0.004, rel=0.25)


def test_few_pairs_take_the_usual_prior() -> None:
    counts = np.ones((LEAST_PAIRS - 1, 2), dtype=int)
    assert estimate_prior(counts, counts * 100, 1) == USUAL


def test_the_prior_is_a_power_law_above_its_centre_and_even_below() -> None:
    prior = PowerLawPrior(centre=0.01, decay=0.7, end=0.0)
    logs = np.log(np.array([0.0005, 0.005, 0.02, 0.2]))
    density = prior.log_density(logs)
    assert density[1] - density[0] == pytest.approx(np.log(10))  # p has an even density: that of log p is p
    assert density[3] - density[2] == pytest.approx(-0.7 * np.log(10))
    assert prior.weights(np.linspace(LOWEST, -0.01, 500)).sum() == pytest.approx(1)
