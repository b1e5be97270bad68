"""The mixed regression's likelihood is that of the rows: against SciPy's density with the whole covariance."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import multivariate_normal, norm

from bayesbias.reliability.mixed_regression import conditional_draws, mixed_model, split_rows


@pytest.mark.parametrize("repeats", [1, 4])
def test_log_density_is_that_of_the_rows(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    units = 12
    rows = units * repeats
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    levels = np.arange(rows) % 3
    design = np.concatenate([X, np.eye(3)[levels]], axis=1)
    y = rng.normal(size=rows)
    strata = split_rows(design, y, repeats)
    model = mixed_model(strata, fixed=3, groupings={"algorithm": 3}, repeats=repeats)
    density = model.compile_logp(jacobian=False)

    def ours(sd: float, sigma: float, word_sd: float) -> float:
        point = {"algorithm_sd_log__": np.log(sd), "sigma_log__": np.log(sigma)}
        return float(density(point | ({"word_sd_log__": np.log(word_sd)} if repeats > 1 else {})))

    def theirs(sd: float, sigma: float, word_sd: float) -> float:
        covariance = sigma**2 * np.eye(rows) + design @ np.diag([1.0] * 3 + [sd**2] * 3) @ design.T
        if repeats > 1:
            covariance += word_sd**2 * np.kron(np.eye(units), np.ones((repeats, repeats)))
        scales = [sd, sigma] + [word_sd] * (repeats > 1)
        return float(multivariate_normal.logpdf(y, np.zeros(rows), covariance) + sum(map(norm.logpdf, scales)))

    points = [(0.5, 1.0, 0.3), (2.0, 0.4, 1.1), (0.1, 0.8, 0.01)]
    differences = [ours(*point) - theirs(*point) for point in points]
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


def test_coefficients_given_scales_are_those_of_the_normal_equations() -> None:
    """One draw of the scales, many times: mean and covariance by the formula of Bayesian linear regression."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    design = np.concatenate([X, np.eye(2)[np.arange(30) % 2]], axis=1)
    one = xr.DataArray(np.ones((2, 20_000)), dims=("chain", "draw"))
    posterior = xr.Dataset({"sigma": 0.7 * one, "algorithm_sd": 0.5 * one})
    drawn = conditional_draws(split_rows(design, y, 1), posterior, 2, {"algorithm": ["x", "y"]}, 1, rng).reshape(-1, 4)
    covariance = np.linalg.inv(design.T @ design / 0.49 + np.diag([1, 1, 4, 4]))
    error = np.sqrt(np.diag(covariance) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - covariance @ design.T @ y / 0.49) < 5 * error).all()
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=6 * np.diag(covariance).max() / np.sqrt(len(drawn)))
