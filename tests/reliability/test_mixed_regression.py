"""The mixed regression: against SciPy's density with the whole covariance, and against sums over a grid."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import multivariate_normal, norm

from bayesbias.reliability.mixed_regression import MixedRegression, sample_mixed, split_rows, weight_problems


@pytest.mark.parametrize("repeats", [1, 4])
def test_log_density_is_that_of_the_rows(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    units = 12
    rows = units * repeats
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    design = np.concatenate([X, np.eye(3)[np.arange(rows) % 3]], axis=1)
    y = rng.normal(size=rows)
    regression = MixedRegression(split_rows(design, y, repeats), list("abc"), {"algorithm": list("xyz")}, repeats)

    def of_rows(sd: float, sigma: float, word_sd: float) -> float:
        covariance = sigma**2 * np.eye(rows) + design @ np.diag([1.0] * 3 + [sd**2] * 3) @ design.T
        if repeats > 1:
            covariance += word_sd**2 * np.kron(np.eye(units), np.ones((repeats, repeats)))
        scales = np.array([sd, sigma] + [word_sd] * (repeats > 1))
        # The logarithm of a standard deviation has the density of the standard deviation times itself.
        return float(
            multivariate_normal.logpdf(y, np.zeros(rows), covariance) + (norm.logpdf(scales) + np.log(scales)).sum()
        )

    points = np.array([(0.5, 1.0, 0.3), (2.0, 0.4, 1.1), (0.1, 0.8, 0.01)])
    ours = regression.log_density(np.log(points[:, : len(regression.sds)]))
    differences = ours - [of_rows(*point) for point in points]
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


def test_coefficients_given_scales_are_those_of_the_normal_equations() -> None:
    """One draw of the scales, many times: mean and covariance by the formula of Bayesian linear regression."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    design = np.concatenate([X, np.eye(2)[np.arange(30) % 2]], axis=1)
    regression = MixedRegression(split_rows(design, y, 1), ["a", "b"], {"algorithm": ["x", "y"]}, 1)
    drawn = regression.draw_columns(np.log(np.tile([0.5, 0.7], (40_000, 1))), rng)
    covariance = np.linalg.inv(design.T @ design / 0.49 + np.diag([1, 1, 4, 4]))
    error = np.sqrt(np.diag(covariance) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - covariance @ design.T @ y / 0.49) < 5 * error).all()
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=6 * np.diag(covariance).max() / np.sqrt(len(drawn)))


@pytest.mark.parametrize("levels", [2, 8])
def test_scales_are_drawn_from_their_posterior(levels: int) -> None:
    """Against sums over a grid of both logarithms; two levels leave their scale to the prior."""
    rng = np.random.default_rng(levels)
    groups = np.arange(40) % levels
    y = rng.normal(size=levels)[groups] + rng.normal(size=40)
    design = np.column_stack([np.ones(40), np.eye(levels)[groups]])
    names = [str(level) for level in range(levels)]
    regression = MixedRegression(split_rows(design, y, 1), ["intercept"], {"algorithm": names}, 1)
    axes = np.linspace(-9, 2.5, 300), np.linspace(-1.2, 1.2, 200)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    log = regression.log_density(points)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    fit = sample_mixed(regression, draws=2000, seed=1)
    for place, name in enumerate(regression.sds):
        drawn, values = np.log(fit["posterior"][name].to_numpy().ravel()), points[:, place]
        mean = weights @ values
        sd = np.sqrt(weights @ np.square(values - mean))
        assert drawn.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(2000))
        assert drawn.std() == pytest.approx(sd, rel=0.1)
    assert fit["posterior"]["algorithm_effect"].shape == (4, 2000, levels)
    assert weight_problems(fit) == []
    again = sample_mixed(regression, draws=2000, seed=1)
    np.testing.assert_array_equal(again["posterior"]["sigma"], fit["posterior"]["sigma"])


def test_poor_weights_are_told() -> None:
    stats = {"pareto_khat": 0.82, "importance_ess": 40.0}
    problems = weight_problems(xr.DataTree.from_dict({"sample_stats": xr.Dataset(stats)}))
    assert len(problems) == 2
    assert "0.82" in problems[0]
    assert "(40)" in problems[1]
