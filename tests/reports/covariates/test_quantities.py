"""Slopes, correlations and residual sds of leans, against NumPy's least squares and correlations."""

import numpy as np
import pytest

from bayesbias.models.priors import parse_prior
from bayesbias.reports.covariates.leans import Leans
from bayesbias.reports.covariates.quantities import CORRELATION, RESIDUAL_SD, SLOPE, draw_quantities
from bayesbias.reports.covariates.slopes import design_of
from tests.reports.covariates.test_residuals import WORDS, made

PRIOR = parse_prior("HalfStudentT(nu=2, sigma=0.1)")
DRAWS = 2000


def drawn_leans(chance: float) -> tuple[Leans, np.ndarray]:
    """Return leans with draws around the plain ones, and the values of a covariate."""
    leans, values, _ = made(0.05, chance, 10)
    draws = leans.observed + 0.01 * np.random.default_rng(5).standard_normal((DRAWS, WORDS))
    return Leans(draws, leans.observed, leans.weights, leans.sample, "a", "b"), values


def test_quantities_of_these_words_are_those_of_each_draw() -> None:
    leans, values = drawn_leans(0.01)
    design = design_of(values, np.zeros(WORDS, dtype=int))
    quantities, population = draw_quantities(leans, design, ("share",), PRIOR, np.random.default_rng(1))
    by_numpy = np.array([np.polyfit(values[:, 0], lean, 1)[0] for lean in leans.draws[:50]])
    slopes, plain_slope = quantities[SLOPE, "share", "these_words"]
    np.testing.assert_allclose(slopes[:50], by_numpy, atol=1e-10)
    assert plain_slope == pytest.approx(np.polyfit(values[:, 0], leans.observed, 1)[0])
    plain_correlation = np.corrcoef(values[:, 0], leans.observed)[0, 1]
    correlations, observed = quantities[CORRELATION, "share", "these_words"]
    assert observed == pytest.approx(plain_correlation)
    assert correlations.mean() == pytest.approx(plain_correlation, abs=0.03)
    assert population.shape == (DRAWS, 1)


def test_words_like_these_are_less_certain_and_the_residual_sd_is_found() -> None:
    leans, values = drawn_leans(0.01)
    design = design_of(values, np.zeros(WORDS, dtype=int))
    quantities, _ = draw_quantities(leans, design, ("share",), PRIOR, np.random.default_rng(1))
    for name in (SLOPE, CORRELATION):
        population, these = (quantities[name, "share", scope][0] for scope in ("population", "these_words"))
        assert population.std() > 2 * these.std()
        assert np.abs(population.mean() - these.mean()) < population.std()
    sds, observed = quantities[RESIDUAL_SD, "", "population"]
    low, high = np.quantile(sds, [0.01, 0.99])
    assert low < 0.05 < high
    line = np.polyfit(values[:, 0], leans.observed, 1)
    residuals = leans.observed - np.polyval(line, values[:, 0])
    assert observed == pytest.approx(np.sqrt((residuals**2).sum() / (WORDS - 2)))


def test_each_of_several_covariates_has_its_quantities() -> None:
    leans, values = drawn_leans(0.01)
    both = np.column_stack([values, np.random.default_rng(8).standard_normal(WORDS)])
    design = design_of(both, np.zeros(WORDS, dtype=int))
    quantities, population = draw_quantities(leans, design, ("share", "noise"), PRIOR, np.random.default_rng(1))
    assert population.shape == (DRAWS, 2)
    assert {key[:2] for key in quantities} == {
        *((name, covariate) for name in (SLOPE, CORRELATION) for covariate in ("share", "noise")),
        (RESIDUAL_SD, ""),
    }
    slopes, plain_slope = quantities[SLOPE, "noise", "population"]
    assert abs(plain_slope) < abs(quantities[SLOPE, "share", "population"][1])
    low, high = np.quantile(slopes, [0.01, 0.99])
    assert low < plain_slope < high
