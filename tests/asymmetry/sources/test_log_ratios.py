"""Posteriors of log ratios: against draws, and against closed forms of the Beta distribution."""

import numpy as np
import pytest
from scipy.special import polygamma, psi
from scipy.stats import betabinom

from bayesbias.asymmetry.sources.evocation import posteriors
from bayesbias.asymmetry.sources.evocation_prior import PowerLawPrior
from bayesbias.asymmetry.sources.log_ratios import grid, log_likelihood, normal_summary, ratio_summary
from bayesbias.metrics.embedding_scores.statistics import shortest_interval


class Beta:
    """The prior Beta(s, t), whose posterior is known."""

    def __init__(self, s: float, t: float) -> None:
        self.s, self.t = s, t

    def log_density(self, logs: np.ndarray) -> np.ndarray:
        return self.s * logs + (self.t - 1) * np.log(-np.expm1(logs))


CELLS = np.array([[30, 146], [3, 150], [1, 2], [140, 150], [2, 2000]])


def test_moments_are_those_of_a_beta_distribution() -> None:
    """E log p = psi(n + s) - psi(N + s + t), and its variance the difference of the trigamma functions."""
    found = posteriors(grid(2000), CELLS, np.arange(len(CELLS)), 1, Beta(2.0, 3.0))  # type: ignore[arg-type]
    mean, sd = found.moments()
    shape, total = CELLS[:, 0] + 2.0, CELLS[:, 1] + 5.0
    np.testing.assert_allclose(mean, psi(shape) - psi(total), atol=2e-4)
    np.testing.assert_allclose(sd, np.sqrt(polygamma(1, shape) - polygamma(1, total)), atol=2e-4)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (3, 0), (1, 4)])
def test_intervals_and_directions_are_those_of_draws(first: int, second: int) -> None:
    rng = np.random.default_rng(5)
    drawn = [rng.beta(CELLS[at, 0] + 2.0, CELLS[at, 1] - CELLS[at, 0] + 3.0, 400_000) for at in (first, second)]
    ratio = np.log(drawn[0]) - np.log(drawn[1])
    ahead, back = (
        posteriors(grid(2000), CELLS, np.array([at]), 1, Beta(2.0, 3.0))  # type: ignore[arg-type]
        for at in (first, second)
    )
    found = ratio_summary(ahead, back, 0.89)
    low, high = shortest_interval(ratio, 0.89)
    above = (ratio > 0).mean()
    # The ends of the shortest interval of draws wander: its edges are where the density is flat.
    assert found["hdi_low"][0] == pytest.approx(low, abs=0.05 * ratio.std())
    assert found["hdi_high"][0] == pytest.approx(high, abs=0.05 * ratio.std())
    inside = (ratio > found["hdi_low"][0]) & (ratio < found["hdi_high"][0])
    assert inside.mean() == pytest.approx(0.89, abs=0.004)
    assert found["probability_of_direction"][0] == pytest.approx(max(above, 1 - above), abs=0.003)


def test_what_is_not_listed_is_none_or_one() -> None:
    u = np.log(np.array([0.01, 0.2]))
    found = np.exp(log_likelihood(u, np.array([0, 5]), np.array([50, 50]), 2))
    p = np.exp(u)
    np.testing.assert_allclose(found[0], (1 - p) ** 50 + 50 * p * (1 - p) ** 49)
    # SciPy's beta-binomial with a prior that is all but a point is a binomial.
    np.testing.assert_allclose(found[1], betabinom.pmf(5, 50, p * 1e7, (1 - p) * 1e7), rtol=1e-4)


def test_one_person_who_was_asked() -> None:
    """Of one person an answer is listed once or not at all; where 2 are needed it is never listed."""
    found = np.exp(log_likelihood(np.log([0.1, 0.5]), np.array([0]), np.array([1]), 2))
    np.testing.assert_allclose(found, 1.0)


def test_the_same_counts_have_no_direction() -> None:
    side = posteriors(grid(150), np.array([[4, 150]]), np.array([0]), 1, PowerLawPrior(0.002, 0.6, 0.9))
    found = ratio_summary(side, side, 0.89)
    assert found["probability_of_direction"][0] == pytest.approx(0.5, abs=1e-5)
    assert found["hdi_low"][0] == pytest.approx(-found["hdi_high"][0], abs=0.05)


def test_no_error_is_no_interval() -> None:
    found = normal_summary(np.array([0.0, 0.1]), np.zeros(2), 0.89)
    assert found["probability_of_direction"].tolist() == [0.5, 1.0]
    assert found["hdi_low"].tolist() == found["hdi_high"].tolist() == [0.0, 0.1]
