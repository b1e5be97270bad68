"""Regressions on covariates against SciPy and written-out sums."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.errors import ReportError
from bayesbias.reports.covariates.slopes import (
    check_design,
    correlations_of,
    design_of,
    robust_freedom,
    slopes_of_population,
)


def made(words: int = 12, covariates: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    values = rng.lognormal(size=(words, covariates))
    return values, values @ np.arange(1.0, covariates + 1) + rng.standard_normal(words), rng.integers(0, 2, words)


def test_one_slope_is_that_of_scipy() -> None:
    values, leans, _ = made(covariates=1)
    design, line = design_of(values, np.zeros(len(values), dtype=int)), stats.linregress(values[:, 0], leans)
    assert design.coefficients @ leans == pytest.approx([line.slope])
    residual = design.residuals @ leans
    np.testing.assert_allclose(residual, leans - line.intercept - line.slope * values[:, 0])
    square = np.square(values - values.mean(axis=0)).sum(axis=0)
    assert correlations_of(design.coefficients @ leans, residual @ residual, square) == pytest.approx(line.rvalue)


def test_slopes_beside_groups_are_those_of_least_squares() -> None:
    values, leans, group_of = made()
    design = design_of(values, group_of)
    written = np.linalg.lstsq(np.column_stack([np.eye(2)[group_of], values]), leans, rcond=None)[0]
    np.testing.assert_allclose(design.coefficients @ leans, written[2:])
    assert design.freedom == 12 - 4


def test_the_error_of_words_is_hc2() -> None:
    """The sandwich of MacKinnon and White (1985), and t of the freedom of Bell and McCaffrey."""
    values, leans, _ = made()
    columns = np.column_stack([np.ones(12), values])
    bread = np.linalg.inv(columns.T @ columns)
    leverage = np.einsum("ij,jk,ik->i", columns, bread, columns)
    residual = leans - columns @ (bread @ columns.T @ leans)
    meat = (columns * (residual**2 / (1 - leverage))[:, None]).T @ columns
    errors = np.sqrt(np.diag(bread @ meat @ bread))
    design = design_of(values, np.zeros(12, dtype=int))
    draws = 200_000
    slopes, residuals = np.tile(design.coefficients @ leans, (draws, 1)), np.tile(design.residuals @ leans, (draws, 1))
    drawn = slopes_of_population(slopes, residuals, design, np.random.default_rng(1))
    for place, freedom in enumerate(robust_freedom(design)):
        reach = stats.t.ppf(0.9, freedom) * errors[1 + place]
        above = (drawn[:, place] > slopes[0, place] + reach).mean()
        assert abs(above - 0.1) < 4 * np.sqrt(0.09 / draws)


def test_the_freedom_is_that_of_the_quadratic_form() -> None:
    """Twice the squared mean over the variance of the HC2 variance, for Normal errors of equal variance."""
    values, _, _ = made(8, 1)
    design, rng = design_of(values, np.zeros(8, dtype=int)), np.random.default_rng(2)
    residual = rng.standard_normal((100_000, 8)) @ design.residuals
    share = 1 - design.leverage
    variances = np.square(residual) @ (np.square(design.coefficients[0]) / share)
    freedom = 2 * variances.mean() ** 2 / variances.var()
    assert robust_freedom(design)[0] == pytest.approx(freedom, rel=0.05)


def test_a_word_alone_in_its_group_adds_no_error() -> None:
    values, leans, _ = made(6, 1)
    group_of = np.array([0, 0, 0, 0, 0, 1])
    design = design_of(values, group_of)
    drawn = slopes_of_population(np.zeros((50, 1)), (design.residuals @ leans)[None], design, np.random.default_rng(1))
    assert np.isfinite(drawn).all()


@pytest.mark.parametrize("words", [3, 8, 40])
def test_covariates_that_do_not_vary_within_groups_are_refused_whatever_rounding_leaves(words: int) -> None:
    group_of = np.repeat([0, 1], words)
    year = 1950 + 3.0 * np.arange(2 * words)
    for covariates in (
        np.where(group_of, 0.2, 0.1)[:, None],
        np.column_stack([year, 0.1 * year + 0.3 + 5 * group_of]),
    ):
        names = ("year", "share")[: covariates.shape[1]]
        with pytest.raises(ReportError, match=names[-1]):
            check_design(design_of(covariates, group_of), names, np.abs(covariates).max(axis=0))
    other = np.column_stack([year, np.cos(year)])
    check_design(design_of(other, group_of), ("year", "other"), np.abs(other).max(axis=0))


def correlated(words: int = 24, size: int = 4, strength: float = 0.7) -> np.ndarray:
    """Return the correlations of words in clusters."""
    cluster = np.arange(words) // size
    return np.where(cluster[:, None] == cluster, strength, 0.0) + (1 - strength) * np.eye(words)


def test_dependent_words_widen_a_slope_as_their_correlations_do() -> None:
    """Clusters have one value of the covariate: the variance of the slope is that of generalised words, b' R b."""
    values, correlations = np.repeat(np.random.default_rng(1).standard_normal(6), 4)[:, None], correlated()
    plain = design_of(values, np.zeros(24, dtype=int))
    design = design_of(values, np.zeros(24, dtype=int), correlations)
    assert design.effects == pytest.approx([1 + 3 * 0.7])
    assert robust_freedom(design) == pytest.approx(robust_freedom(plain) / design.effects)
    rng = np.random.default_rng(2)
    leans = rng.standard_normal((4000, 24)) @ np.linalg.cholesky(correlations).T
    covered = []
    for row in leans[:300]:
        slopes, residuals = np.tile(design.coefficients @ row, (400, 1)), np.tile(design.residuals @ row, (400, 1))
        drawn = [slopes_of_population(slopes, residuals, made, rng)[:, 0] for made in (plain, design)]
        covered.append([np.prod(np.quantile(draws, [0.055, 0.945])) < 0 for draws in drawn])
    before, after = np.mean(covered, axis=0)
    assert before < 0.75
    assert 0.82 < after < 0.96


def test_a_covariate_that_differs_within_clusters_is_no_more_certain_than_with_independent_words() -> None:
    values = np.tile([-1.0, 1.0], 12)[:, None]
    assert design_of(values, np.zeros(24, dtype=int), correlated()).effects.tolist() == [1.0]
