"""Draws from densities that are known otherwise."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.models.numerics.proposals import (
    ImproperDensityError,
    SplitStudent,
    fit_proposal,
    pareto_smooth,
    resample,
    sample_density,
)

BOX = (-20.0, 3.0)


@pytest.mark.parametrize(
    "distribution",
    [
        stats.norm(-2, 0.3),
        stats.norm(-2, 0.0002),
        stats.gumbel_l(-4, 0.5),
        stats.laplace(-3, 0.1),
        stats.t(30, -5, 0.05),
    ],
    ids=["normal", "very narrow", "long left tail", "peaked", "student"],
)
def test_one_number(distribution: stats.rv_continuous) -> None:
    drawn = sample_density(distribution.logpdf, [BOX], draws=20_000, rng=np.random.default_rng(1))
    assert stats.kstest(drawn.points[:, 0], distribution.cdf).pvalue > 0.001
    assert drawn.excess < 0.01
    assert drawn.edge_mass < 1e-4
    assert drawn.acceptance > 0.5


@pytest.mark.parametrize("correlation", [0.0, -0.95])
def test_two_numbers(correlation: float) -> None:
    covariance = 0.2**2 * np.array([[1, correlation], [correlation, 1]])
    distribution = stats.multivariate_normal([-3, -2], covariance)

    def density(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return distribution.logpdf(np.stack(np.broadcast_arrays(a, b), axis=-1))

    drawn = sample_density(density, [BOX, BOX], draws=20_000, rng=np.random.default_rng(2))
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (drawn.points - [-3, -2]).T)
    assert stats.kstest((whitened**2).sum(axis=0), stats.chi2(2).cdf).pvalue > 0.001
    assert stats.kstest(np.arctan2(*whitened) / (2 * np.pi) + 0.5, stats.uniform.cdf).pvalue > 0.001


def test_draws_are_independent_and_repeat_with_the_seed() -> None:
    one, two = (
        sample_density(stats.norm(-2, 0.3).logpdf, [BOX], draws=5000, rng=np.random.default_rng(3)) for _ in range(2)
    )
    np.testing.assert_array_equal(one.points, two.points)
    series = one.points[:, 0]
    assert abs(np.corrcoef(series[1:], series[:-1])[0, 1]) < 4 / np.sqrt(len(series))


def test_a_density_that_does_not_fall_is_refused() -> None:
    with pytest.raises(ImproperDensityError, match=r"-\d"):
        sample_density(lambda a: -a, [BOX], draws=10, rng=np.random.default_rng(4))
    with pytest.raises(ImproperDensityError):
        sample_density(np.zeros_like, [BOX], draws=10, rng=np.random.default_rng(4))


@pytest.mark.parametrize("width", [0.3, 0.02, 0.002])
def test_a_thin_curved_ridge_far_from_the_first_look(width: float) -> None:
    """Exact by construction: the first number is Normal, the second Normal around a curve of it."""

    def density(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return stats.norm(-2, 0.7).logpdf(a) + stats.norm.logpdf(b, -3 + np.sin(2 * a), width)

    drawn = sample_density(density, [BOX, BOX], draws=20_000, rng=np.random.default_rng(5))
    assert drawn.good
    first, second = drawn.points.T
    assert stats.kstest(first, stats.norm(-2, 0.7).cdf).pvalue > 0.001
    assert stats.kstest((second + 3 - np.sin(2 * first)) / width, "norm").pvalue > 0.001


def test_the_search_leaves_its_box_where_the_density_does() -> None:
    distribution = stats.gumbel_l(-60, 3)
    drawn = sample_density(distribution.logpdf, [BOX], draws=20_000, rng=np.random.default_rng(6))
    assert stats.kstest(drawn.points[:, 0], distribution.cdf).pvalue > 0.001


LIMITS = (-12.0, 3.0)


def skewed(points: np.ndarray) -> np.ndarray:
    """Two Normals, and the logarithm of an Exponential: a long left tail."""
    return (
        stats.norm(-2, 0.1).logpdf(points[:, 0])
        + stats.norm(-1, 0.4).logpdf(points[:, 1])
        + stats.gumbel_l(-3, 1).logpdf(points[:, 2])
    )


def test_the_proposal_is_a_density() -> None:
    """Weights against a normalised density average 1, wherever that density lies."""
    proposal = SplitStudent(np.zeros(2), np.array([[1.0, 0.0], [0.5, 0.8]]), np.array([1.0, 2.0]), np.array([0.7, 1.0]))
    drawn = proposal.draw(200_000, np.random.default_rng(1))
    for center in ([0.0, 0.0], [1.0, 0.0], [-1.0, 1.0], [0.0, -2.0]):
        distribution = stats.multivariate_normal(center, 0.3 * np.eye(2))
        weights = np.exp(distribution.logpdf(drawn) - proposal.log_density(drawn))
        assert abs(weights.mean() - 1) < 4.5 * weights.std() / np.sqrt(len(weights))


def test_a_skewed_density_is_resampled_rightly() -> None:
    proposal = fit_proposal(skewed, [np.full(3, -1.0)], limits=LIMITS)
    np.testing.assert_allclose(proposal.parts[0].mode, [-2, -1, -3], atol=1e-3)
    drawn = resample(skewed, proposal, draws=8000, rng=np.random.default_rng(2))
    assert drawn.khat < 0.7
    assert drawn.efficiency > 0.4
    for column, distribution in enumerate((stats.norm(-2, 0.1), stats.norm(-1, 0.4), stats.gumbel_l(-3, 1))):
        assert stats.kstest(drawn.points[:, column], distribution.cdf).statistic < 2.2 / np.sqrt(8000)


def test_bad_weights_are_told_from_good_ones() -> None:
    rng = np.random.default_rng(3)
    _, good = pareto_smooth(rng.normal(0, 0.3, 4000))
    _, bad = pareto_smooth(2.0 * rng.exponential(1, 4000))
    assert good < 0.5 < 0.7 < bad


def test_the_same_seed_gives_the_same_points() -> None:
    proposal = fit_proposal(skewed, [np.full(3, -1.0)], limits=LIMITS)
    one, two = (resample(skewed, proposal, draws=500, rng=np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one.points, two.points)
