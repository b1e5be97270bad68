"""Regressions on covariates against SciPy and written-out sums."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ReportError
from bayesbias.models.multivariate.attribute_sample import attribute_sample, observed_list_means
from bayesbias.reports.covariates.slopes import (
    check_design,
    correlations_of,
    design_of,
    leans_of,
    robust_freedom,
    rows_with_covariates,
    slopes_of_population,
)
from tests.reports.covariates.made import made_fit, made_table
from tests.reports.made import made_fit as bare_fit


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


def test_leans_are_differences_of_plain_averages() -> None:
    fit = made_fit()
    rows, values = rows_with_covariates(fit)
    leans = leans_of(fit, rows, None)
    means = made_table().groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    means = means.loc[rows.protected_words]
    np.testing.assert_allclose(leans.observed, means["near"] - means["far"])
    assert leans.name == "near - far"
    assert values.shape == (9, 1)
    errors = leans.draws.std(axis=0) / np.sqrt(len(leans.draws))
    word_means = fit["posterior"]["word_mean"].mean(("chain", "draw"))
    contrasts = word_means.sel(connection="associated") - word_means.sel(connection="different")
    assert (np.abs(leans.draws.mean(axis=0) - contrasts.to_numpy()) < errors).all()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")  # few draws of chains
def test_lost_pairs_leave_the_other_averages() -> None:
    table = made_table().drop(index=0)
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    leans = leans_of(fit, rows, ("far", "near"))
    means = table.groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    means = means.loc[rows.protected_words]
    np.testing.assert_allclose(leans.observed, means["far"] - means["near"])
    assert np.isfinite(observed_list_means(attribute_sample(rows))).all()


def test_groups_with_other_lists_have_the_names_of_connections() -> None:
    table = made_table()
    swapped = table["protected_word"].isin(["<b>w0", "<b>w1", "<b>w2"])
    other = {"associated": "different", "different": "associated"}
    table["connection"] = table["connection"].where(~swapped, table["connection"].map(other))
    table["protected_group"] = np.where(swapped, "one", "two")
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    leans = leans_of(fit, rows, None)
    assert leans.name == "associated - different"
    plain = leans_of(fit, rows, ("near", "far")).observed
    np.testing.assert_allclose(leans.observed, np.where(np.arange(9) < 3, -plain, plain))


def test_fits_without_two_sides_or_covariates_are_refused() -> None:
    with pytest.raises(ReportError, match="no covariates"):
        rows_with_covariates(bare_fit(draws=20))
    table = pd.concat([made_table(), made_table(seed=2).assign(attribute_group="human", connection="human")])
    table["attribute_word"] += table["attribute_group"]
    table = table[table["connection"] != "different"]
    fit = bb.fit(table, covariates="share", draws=20, chains=1, random_seed=1, progress=False)
    rows, _ = rows_with_covariates(fit)
    with pytest.raises(ReportError, match="no different pairs"):
        leans_of(fit, rows, None)
    assert leans_of(fit, rows, ("near", "human")).name == "near - human"
