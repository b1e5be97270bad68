"""Posteriors of log ratios: against draws, and against closed forms of the Beta distribution."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.special import polygamma, psi
from scipy.stats import betabinom, binom, norm

from bayesbias.asymmetry.log_ratios import (
    BLOCK,
    PairCounts,
    PairPosteriors,
    grid,
    log_likelihood,
    log_normalisers,
    normal_summary,
    pair_posteriors,
)
from bayesbias.asymmetry.norms_source import DEPENDENCES, PowerLawPrior
from bayesbias.estimates.intervals import shortest_interval
from tests.bench import seconds_of


class Beta:
    """The prior Beta(s, t) of independent directions, whose posterior is known."""

    def __init__(self, s: float, t: float) -> None:
        self.s, self.t = s, t

    def levels(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        density = self.s * logs + (self.t - 1) * np.log(-np.expm1(logs))
        mass = np.exp(density - density.max())
        return mass[np.newaxis] / mass.sum(), np.ones(1)


CELLS = np.array([[30, 146], [3, 150], [1, 2], [140, 150], [2, 2000]])


def posteriors(pairs: list[tuple[int, int]]) -> PairPosteriors:
    """Return the posteriors of pairs of cells, under Beta(2, 3)."""
    cells = CELLS[np.array(pairs)]
    return pair_posteriors(grid(2000), PairCounts(cells[..., 0], cells[..., 1]), Beta(2.0, 3.0))


def test_moments_are_those_of_a_beta_distribution() -> None:
    """E log p = psi(n + s) - psi(N + s + t), and its variance the difference of the trigamma functions."""
    pairs = [(0, 1), (2, 3), (4, 0)]
    mean, sd, ratio_sd = posteriors(pairs).moments()
    cells = CELLS[np.array(pairs).T]
    shape, total = cells[..., 0] + 2.0, cells[..., 1] + 5.0
    variance = polygamma(1, shape) - polygamma(1, total)
    np.testing.assert_allclose(mean, psi(shape) - psi(total), atol=2e-4)
    np.testing.assert_allclose(sd, np.sqrt(variance), atol=2e-4)
    np.testing.assert_allclose(ratio_sd, np.sqrt(variance.sum(axis=0)), atol=2e-4)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (3, 0), (1, 4)])
def test_intervals_and_directions_are_those_of_draws(first: int, second: int) -> None:
    rng = np.random.default_rng(5)
    drawn = [rng.beta(CELLS[row, 0] + 2.0, CELLS[row, 1] - CELLS[row, 0] + 3.0, 400_000) for row in (first, second)]
    ratio = np.log(drawn[0]) - np.log(drawn[1])
    low, high = shortest_interval(ratio, 0.89)
    above = (ratio > 0).mean()
    # The other pair shares the block, and needs the spectrum of another width.
    summary = posteriors([(first, second), (4, 2)]).ratio_summary(0.89)
    # The ends of the shortest interval of draws wander: its edges are where the density is flat.
    assert summary["hdi_low"][0] == pytest.approx(low, abs=0.05 * ratio.std())
    assert summary["hdi_high"][0] == pytest.approx(high, abs=0.05 * ratio.std())
    inside = (ratio > summary["hdi_low"][0]) & (ratio < summary["hdi_high"][0])
    assert inside.mean() == pytest.approx(0.89, abs=0.004)
    assert summary["probability_of_direction"][0] == pytest.approx(max(above, 1 - above), abs=0.003)


PRIOR = PowerLawPrior(centre=0.0005, decay=0.6, end=0.9, shares=(0.2, 0.2, 0.3, 0.3))


FINE = np.linspace(-16, -1e-4, 40_000)


@pytest.fixture(scope="module")
def drawn_places() -> list[np.ndarray]:
    """Places in FINE of two million pairs of truths, drawn from the prior without its levels, for all counts."""
    rng = np.random.default_rng(6)
    draws = 2_000_000
    dependence = rng.choice(DEPENDENCES, draws, p=PRIOR.shares)
    first, second = rng.standard_normal((2, draws))
    second = dependence * first + np.sqrt(1 - dependence**2) * second
    summed = np.cumsum(PRIOR.weights(FINE))
    return [np.interp(norm.cdf(normal), summed, np.arange(len(FINE))).round().astype(int) for normal in (first, second)]


@pytest.mark.parametrize("counts", [(9, 0), (4, 4), (20, 2), (1, 0)])
@pytest.mark.parametrize("least", [1, 2])
def test_posteriors_of_a_pair_are_those_of_draws_of_a_gaussian_copula(
    counts: tuple[int, int], least: int, drawn_places: list[np.ndarray]
) -> None:
    """Truths drawn from the prior without its levels, each weighted by SciPy's binomial probability of the counts."""
    logs = [FINE[places] for places in drawn_places]

    def probability(side: int) -> np.ndarray:
        count, values = counts[side], np.exp(FINE)
        of_values = binom.cdf(least - 1, 150, values) if count < least else binom.pmf(count, 150, values)
        return of_values[drawn_places[side]]

    weights = probability(0) * probability(1)
    weights /= weights.sum()
    worth = 1 / (weights @ weights)
    assert worth > 3000
    ratio = logs[0] - logs[1]
    pairs = PairCounts(np.array([counts]), np.full((1, 2), 150), least)
    posterior = pair_posteriors(grid(150), pairs, PRIOR)
    means, sds, ratio_sd = posterior.moments()
    for side in (0, 1):
        sd = np.sqrt(weights @ (logs[side] - weights @ logs[side]) ** 2)
        assert means[side, 0] == pytest.approx(weights @ logs[side], abs=4 * sd / np.sqrt(worth) + 0.02)
        assert sds[side, 0] == pytest.approx(sd, rel=0.05)
    assert ratio_sd[0] == pytest.approx(np.sqrt(weights @ (ratio - weights @ ratio) ** 2), rel=0.05)
    summary = posterior.ratio_summary(0.89)
    inside = (ratio > summary["hdi_low"][0]) & (ratio < summary["hdi_high"][0])
    assert weights[inside].sum() == pytest.approx(0.89, abs=0.015)
    forward = weights[ratio > 0].sum()
    assert summary["probability_of_direction"][0] == pytest.approx(max(forward, 1 - forward), abs=0.015)


def test_what_is_not_listed_is_none_or_one() -> None:
    u = np.log(np.array([0.01, 0.2]))
    summary = np.exp(log_likelihood(u, np.array([0, 5]), np.array([50, 50]), 2))
    p = np.exp(u)
    np.testing.assert_allclose(summary[0], (1 - p) ** 50 + 50 * p * (1 - p) ** 49)
    # SciPy's beta-binomial with a prior that is all but a point is a binomial.
    np.testing.assert_allclose(summary[1], betabinom.pmf(5, 50, p * 1e7, (1 - p) * 1e7), rtol=1e-4)


def test_one_person_who_was_asked() -> None:
    """Of one person an answer is listed once or not at all; where 2 are needed it is never listed."""
    summary = np.exp(log_likelihood(np.log([0.1, 0.5]), np.array([0]), np.array([1]), 2))
    np.testing.assert_allclose(summary, 1.0)


def test_the_same_counts_have_no_direction() -> None:
    pairs = PairCounts(np.array([[4, 4]]), np.full((1, 2), 150))
    summary = pair_posteriors(grid(150), pairs, PRIOR).ratio_summary(0.89)
    assert summary["probability_of_direction"][0] == pytest.approx(0.5, abs=1e-5)
    assert summary["hdi_low"][0] == pytest.approx(-summary["hdi_high"][0], abs=0.05)


def test_no_error_is_no_interval() -> None:
    summary = normal_summary(np.array([0.0, 0.1]), np.zeros(2), 0.89)
    assert summary["probability_of_direction"].tolist() == [0.5, 1.0]
    assert summary["hdi_low"].tolist() == summary["hdi_high"].tolist() == [0.0, 0.1]


def test_large_projections_do_not_overflow() -> None:
    normalisers = log_normalisers(np.array([[1.0, 0.0]]), np.array([[5000.0, 0.0], [4999.0, 1.0], [-9e8, 0.0]]))
    assert normalisers[0] == pytest.approx(5000 + math.log(1 + math.exp(-1)))


def test_memory_is_that_of_a_block() -> None:
    rng = np.random.default_rng(1)
    cues, words = (rng.standard_normal((count, 20), dtype=np.float32) for count in (6000, 4000))
    tracemalloc.start()
    log_normalisers(cues, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * BLOCK * len(words) * 4  # all projections would be 12 times as much


@pytest.mark.slow
def test_a_softmax_takes_less_than_twice_its_matrix_product() -> None:
    """Both in turn, so that whatever else the machine does falls on both."""
    rng = np.random.default_rng(1)
    cues, words = (rng.standard_normal((4000, 300), dtype=np.float32) / 10 for _ in range(2))
    turns = [(seconds_of(lambda: cues @ words.T), seconds_of(lambda: log_normalisers(cues, words))) for _ in range(3)]
    product, ours = map(min, zip(*turns, strict=True))
    assert ours / product < 2.5
