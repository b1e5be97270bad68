"""Draws of all quantities belong together."""

import numpy as np

import bayesbias as bb
from bayesbias.reports.covariates.covariate_effect import draw_quantities
from bayesbias.reports.covariates.effect_statements import CORRELATION, LEVEL, RESIDUAL_SD, SLOPE
from bayesbias.reports.covariates.slopes import design_of, leans_of, rows_with_covariates
from tests.reports.covariates.made import made_fit


def test_quantities_of_one_covariate() -> None:
    fit = made_fit()
    rows, values = rows_with_covariates(fit)
    leans, design = leans_of(fit, rows, None), design_of(values, np.zeros(9, dtype=int))
    prior = bb.load_model("multivariate").priors["effect_sd"]
    quantities, population = draw_quantities(leans, design, ("share",), prior, np.random.default_rng(1))
    scopes = ("population", "these_words")
    assert set(quantities) == {
        *((name, "share", scope) for name in (SLOPE, CORRELATION) for scope in scopes),
        *((RESIDUAL_SD, "", scope) for scope in scopes),
        (LEVEL, "", "these_words"),
    }
    np.testing.assert_array_equal(quantities[SLOPE, "share", "population"][0], population[:, 0])
    slopes, links = (quantities[name, "share", "these_words"][0] for name in (SLOPE, CORRELATION))
    # The correlation of these words follows from their slope and their sd beyond it.
    beyond = quantities[RESIDUAL_SD, "", "these_words"][0] * np.sqrt(design.freedom)
    explained = slopes * np.linalg.norm(design.deviations)
    np.testing.assert_allclose(links, explained / np.hypot(explained, beyond))
    for name, label in ((SLOPE, "share"), (CORRELATION, "share"), (RESIDUAL_SD, "")):
        sds = [quantities[name, label, scope][0].std() for scope in scopes]
        assert sds[0] > sds[1]
        assert len({quantities[name, label, scope][1] for scope in scopes}) == 1
