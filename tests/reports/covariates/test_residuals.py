"""What words vary by beyond covariates: chance variation of attribute words is taken out."""

from dataclasses import replace

import numpy as np
import pytest

from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.reports.covariates.leans import Leans, plain_list_means
from bayesbias.reports.covariates.residuals import draw_residuals
from bayesbias.reports.covariates.slopes import design_of

WORDS = 40


def made(
    sd: float, chance: float, attributes: int, seed: int = 1, words: int = WORDS, *, heavy: bool = False
) -> tuple[Leans, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values, beyond = rng.standard_normal((words, 1)), sd * rng.standard_normal(words)
    if heavy:
        beyond = rng.laplace(0, sd / np.sqrt(2), words)
    lists = np.repeat([0, 1], attributes)
    distances = 1 + np.where(lists[:, None] == 0, 0.5, -0.5) * (0.1 * values[:, 0] + beyond)
    distances = distances + chance * rng.standard_normal(distances.shape)
    weights = np.zeros((words, 2, 2))
    weights[:, [0, 1], [0, 1]] = 1
    zeros = np.zeros(words, dtype=int)
    kinds = np.zeros(2, dtype=int)
    groups = zeros, zeros, weights, zeros == 0
    sample = AttributeSample(distances, lists, ("a", "b"), kinds, ("stereotype",), *groups, values)
    plain = plain_list_means(sample)
    leans = Leans(np.zeros((1, words)), plain[0] - plain[1], np.tile([1.0, -1.0], (words, 1)), sample, "a", "b")
    return leans, values, beyond


@pytest.mark.parametrize(("sd", "chance"), [(0.05, 0.05), (0.02, 0.1)])
def test_the_sd_is_that_without_chance(sd: float, chance: float) -> None:
    leans, values, beyond = made(sd, chance, 10)
    design = design_of(values, np.zeros(WORDS, dtype=int))
    residuals, sds = draw_residuals(leans, design, (2.0, 0.1), 4000, np.random.default_rng(1))
    low, high = np.quantile(sds, [0.01, 0.99])
    assert low < sd < high
    observed = design.residuals @ leans.observed
    assert sds.mean() < observed.std(ddof=2)
    # Shrunk towards 0, they are nearer to the truth than the plain residuals are.
    truth = design.residuals @ beyond
    assert np.square(residuals.mean(axis=0) - truth).sum() < np.square(observed - truth).sum()
    np.testing.assert_allclose(residuals @ values, 0, atol=1e-10)


def test_combinations_of_words_that_never_vary_do_not_make_the_sd_small() -> None:
    """As in an embedding: leans and chance lie along the few directions in which attribute words differ."""
    rng = np.random.default_rng(5)
    vectors, lists = rng.standard_normal((WORDS, 4)), np.repeat([0, 1], 15)
    means = 0.3 * rng.standard_normal((2, 4))
    attributes = means[lists] + 0.3 * rng.standard_normal((len(lists), 4))
    leans, values, _ = made(0.0, 0.0, 15)
    sample = replace(leans.sample, distances=1 - attributes @ vectors.T)
    plain = plain_list_means(sample)
    leans = replace(leans, sample=sample, observed=plain[0] - plain[1])
    design = design_of(values, np.zeros(WORDS, dtype=int))
    truth = design.residuals @ vectors @ (means[1] - means[0])
    _, sds = draw_residuals(leans, design, (2.0, 0.1), 4000, np.random.default_rng(1))
    assert np.quantile(sds, 0.055) < np.sqrt(truth @ truth / design.freedom) < np.quantile(sds, 0.945)


def test_without_chance_the_residuals_are_the_plain_ones() -> None:
    leans, values, _ = made(0.05, 1e-6, 10)
    design = design_of(values, np.zeros(WORDS, dtype=int))
    residuals, _ = draw_residuals(leans, design, (2.0, 0.1), 50, np.random.default_rng(1))
    np.testing.assert_allclose(residuals, np.tile(design.residuals @ leans.observed, (50, 1)), atol=1e-5)


def test_heavy_tails_widen_the_interval_of_the_sd() -> None:
    """Leans beyond covariates have the Laplace distribution: an interval for Normal words holds their sd too rarely."""
    inside, tables = 0, 300
    for seed in range(tables):
        leans, values, _ = made(0.05, 0.01, 6, seed, 20, heavy=True)
        design = design_of(values, np.zeros(20, dtype=int))
        _, sds = draw_residuals(leans, design, (2.0, 0.1), 500, np.random.default_rng(seed))
        low, high = shortest_interval(sds, 0.89)
        inside += low <= 0.05 <= high
    assert inside / tables > 0.79
