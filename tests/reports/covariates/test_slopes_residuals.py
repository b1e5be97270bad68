"""What words vary by beyond covariates: chance variation of attribute words is taken out."""

from dataclasses import replace

import numpy as np
import pytest

from bayesbias.estimates.intervals import shortest_interval
from bayesbias.models.multivariate.attribute_sample import AttributeSample, observed_list_means
from bayesbias.reports.covariates.slopes import Leans, design_of, draw_residuals

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
    plain = observed_list_means(sample)
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
    plain = observed_list_means(sample)
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


def test_dependent_words_show_less_than_their_spread() -> None:
    """The 24 words are six clusters: they lie around their mean more closely than words like these."""
    cluster = np.arange(24) // 4
    correlations = np.where(cluster[:, None] == cluster, 0.9, 0.0) + 0.1 * np.eye(24)
    root, medians = np.linalg.cholesky(correlations), []
    for seed in range(60):
        leans, _, _ = made(0.0, 1e-4, 6, seed, 24)
        rng = np.random.default_rng(seed)
        values = rng.standard_normal(6)[cluster][:, None]
        leans = replace(leans, observed=0.05 * root @ rng.standard_normal(24))
        found = []
        for known in (None, correlations):
            design = design_of(values, np.zeros(24, dtype=int), known)
            found.append(np.median(draw_residuals(leans, design, (2.0, 0.1), 500, np.random.default_rng(seed))[1]))
        medians.append(found)
    plain, dependent = np.mean(medians, axis=0)
    assert plain < 0.045
    assert dependent == pytest.approx(0.05, rel=0.1)
