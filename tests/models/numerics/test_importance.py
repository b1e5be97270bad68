"""The split Student t proposal and its weights, on densities that are known otherwise."""

import numpy as np
from scipy import stats

from bayesbias.models.numerics.importance import SplitStudent, fit_proposal, pareto_smooth, resample

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
