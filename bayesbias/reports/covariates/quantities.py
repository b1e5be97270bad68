"""Draws of slopes, correlations and residual sds, for these words and for words like these."""

import numpy as np

from bayesbias.models.priors import Prior
from bayesbias.reports.covariates.leans import Leans
from bayesbias.reports.covariates.residuals import draw_residuals
from bayesbias.reports.covariates.slopes import Design, correlations_of, slopes_of_population

SLOPE, CORRELATION, RESIDUAL_SD = "slope", "correlation", "residual sd"


def draw_quantities(
    leans: Leans, design: Design, names: tuple[str, ...], prior: Prior, rng: np.random.Generator
) -> tuple[dict[tuple[str, str, str], tuple[np.ndarray, float]], np.ndarray]:
    """Return draws and the plain value of each (quantity, covariate, scope), and draws of slopes in the population.

    `prior` is that of the sd of words like these, a half-t. Correlations are those with one covariate alone.
    """
    half_t = prior.parameters["nu"], prior.parameters["sigma"]
    count, freedom = len(leans.draws), design.freedom
    residuals, sds = draw_residuals(leans, design, half_t, count, rng)
    these = leans.draws @ design.coefficients.T
    population = slopes_of_population(these, residuals, design, rng)
    plain = design.coefficients @ leans.observed
    links: dict[tuple[str, str, str], tuple[np.ndarray, float]] = {}
    quantities: dict[tuple[str, str, str], tuple[np.ndarray, float]] = {}
    for place, name in enumerate(names):
        for scope, draws in (("population", population), ("these_words", these)):
            quantities[SLOPE, name, scope] = draws[:, place], float(plain[place])
        values = design.deviations[:, place]
        alone = design.of_covariate(place)
        around, sds_alone = (residuals, sds) if len(names) == 1 else draw_residuals(leans, alone, half_t, count, rng)
        slope, square = leans.draws @ alone.coefficients.T, float(values @ values)
        in_population = slopes_of_population(slope, around, alone, rng)[:, 0]
        # The covariate's values are a sample too.
        variance = square / rng.chisquare(alone.freedom + 1, count)
        plain_slope = alone.coefficients @ leans.observed
        plain_square = np.square(alone.residuals @ leans.observed).sum()
        observed = float(correlations_of(plain_slope, plain_square, square)[0])
        links[CORRELATION, name, "population"] = correlations_of(in_population, sds_alone**2, variance), observed
        squares = np.square(around).sum(axis=1)
        links[CORRELATION, name, "these_words"] = correlations_of(slope[:, 0], squares, square), observed
    observed = float(np.sqrt(np.square(design.residuals @ leans.observed).sum() / freedom))
    these_sds = np.sqrt(np.square(residuals).sum(axis=1) / freedom)
    beyond = {(RESIDUAL_SD, "", "population"): (sds, observed), (RESIDUAL_SD, "", "these_words"): (these_sds, observed)}
    return quantities | links | beyond, population
