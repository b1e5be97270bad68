"""Sweeps over lost pairs and Student t attribute words, against brute force: draws of the prior, weighted."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_blocks import blocks_of, completed_distances
from bayesbias.models.multivariate.list_means import weighted_points
from bayesbias.models.multivariate.list_model import coordinates_of, list_statistics
from bayesbias.models.multivariate.list_sweeps import draw_in_sweeps
from tests.models.made_lists import list_sample

PRIORS = bb.load_model("multivariate_robust").priors
SAMPLES = 200_000


def swept(
    sample: AttributeSample, draws: int, *, student_t: bool = False, covariances: bool = False
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    completed = completed_distances(sample)
    axes = coordinates_of(np.zeros((completed.shape[1],) * 2), sample.pattern_of)
    blocks = blocks_of(sample, PRIORS, axes)
    table = list_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
    rng, nu = np.random.default_rng(1), PRIORS["nu"] if student_t else None
    starts = [weighted_points(block, table, axes, draws, rng).points for block in blocks]
    return draw_in_sweeps(sample, axes, blocks, starts, nu=nu, draws=draws, seed=1, covariances=covariances)


def prior_covariances(words: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw freedom and scale of a list's covariance from SciPy's priors, for one or two groups of one word."""
    omega, psi = stats.expon(scale=0.1).rvs((2, SAMPLES), random_state=rng)
    parameters = PRIORS["target_weight"].parameters
    weight = stats.lognorm(parameters["sigma"], scale=np.exp(parameters["mu"])).rvs(SAMPLES, random_state=rng)
    target = omega[:, None, None] ** 2 * np.ones((words, words))
    if words > 1:
        target = target + psi[:, None, None] ** 2 * np.eye(words)
    return weight + words + 1, weight[:, None, None] * target, weight


@pytest.mark.slow
def test_a_lost_pair_leaves_the_posterior_of_brute_force() -> None:
    """Two groups of one word, and a list of four words one of which lost a pair: the means are Normal given Sigma."""
    sample, _ = list_sample(groups=(1, 1), attributes=4, controls=0, seed=2)
    distances = sample.distances.copy()
    distances[0, 1] = np.nan
    sample = replace(sample, distances=distances)
    lists, _ = swept(sample, 10_000)

    rng = np.random.default_rng(3)
    freedom, scale, _ = prior_covariances(2, rng)
    log_weight, means, variances = np.zeros(SAMPLES), [], []
    for place in range(2):
        # Bartlett: Sigma = L A^-T A^-1 L' is inverse-Wishart with the scale L L'.
        lower = np.linalg.cholesky(scale)
        triangle = np.zeros((SAMPLES, 2, 2))
        triangle[:, 0, 0] = np.sqrt(stats.chi2(freedom).rvs(random_state=rng))
        triangle[:, 1, 1] = np.sqrt(stats.chi2(freedom - 1).rvs(random_state=rng))
        triangle[:, 1, 0] = rng.standard_normal(SAMPLES)
        root = lower @ np.swapaxes(np.linalg.inv(triangle), 1, 2)
        covariance = root @ np.swapaxes(root, 1, 2)
        precision, linear, square = np.zeros((SAMPLES, 2, 2)), np.zeros((SAMPLES, 2)), np.zeros(SAMPLES)
        for row in sample.distances[sample.list_of == place]:
            have = np.flatnonzero(np.isfinite(row))
            part = np.linalg.inv(covariance[:, have[:, None], have])
            precision[:, have[:, None], have] += part
            linear[:, have] += part @ row[have]
            square += (part @ row[have]) @ row[have]
            log_weight += 0.5 * np.linalg.slogdet(part)[1]
        mean = np.linalg.solve(precision, linear[..., None])[..., 0]
        log_weight += 0.5 * (mean * linear).sum(axis=1) - 0.5 * square - 0.5 * np.linalg.slogdet(precision)[1]
        means.append(mean)
        variances.append(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
    weights = np.exp(log_weight - logsumexp(log_weight))
    effective = 1 / np.square(weights).sum()
    assert effective > 500
    for place, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        centre = weights @ mean
        sd = np.sqrt(weights @ (variance + (mean - centre) ** 2))
        # Sweeps are worth at least a tenth as many independent draws.
        error = sd * np.sqrt(1 / effective + 1 / 1000)
        assert (np.abs(lists[:, place].mean(axis=0) - centre) < 4 * error).all()
        np.testing.assert_allclose(lists[:, place].std(axis=0), sd, rtol=0.15)


@pytest.mark.slow
def test_student_t_words_have_the_posterior_of_brute_force() -> None:
    """One word and one list with an outlier: the mean on a grid, scale and degrees of freedom from their priors."""
    sample, _ = list_sample(groups=(1,), attributes=7, controls=0, seed=4)
    values = np.array([0.80, 0.82, 0.83, 0.85, 0.86, 0.88, 1.30])
    lists, hyper = swept(replace(sample, distances=values[:, None]), 10_000, student_t=True)

    rng, count = np.random.default_rng(5), 20_000
    freedom, scale, _ = prior_covariances(1, rng)
    variance = scale[:count, 0, 0] / stats.chi2(freedom[:count]).rvs(random_state=rng)
    nu = stats.gamma(2, scale=10).rvs(count, random_state=rng)
    grid = np.linspace(0.4, 1.4, 101)
    log_density = np.zeros((count, len(grid)))
    for value in values:
        log_density += stats.t.logpdf(value, nu[:, None], grid, np.sqrt(variance)[:, None])
    density = np.exp(log_density - log_density.max())
    of_grid, of_sample = density.sum(axis=0) / density.sum(), density.sum(axis=1) / density.sum()
    effective = 1 / np.square(of_sample).sum()
    assert effective > 500
    centre = of_grid @ grid
    sd = float(np.sqrt(of_grid @ (grid - centre) ** 2))
    assert lists.mean() == pytest.approx(centre, abs=4 * sd * np.sqrt(1 / effective + 1 / 1000))
    assert lists.std() == pytest.approx(sd, rel=0.15)
    assert centre < values.mean() - sd / 2, "the outlier weighs less than the others"
    log_nu = of_sample @ np.log(nu)
    spread = float(np.sqrt(of_sample @ (np.log(nu) - log_nu) ** 2))
    assert np.log(hyper["nu"]).mean() == pytest.approx(log_nu, abs=4 * spread * np.sqrt(1 / effective + 1 / 1000))
    assert hyper["attribute_weight"].shape == (10_000, 7)
    assert hyper["attribute_weight"].mean(axis=0).argmin() == 6


def test_draws_have_the_shapes_of_the_table_and_repeat() -> None:
    sample, _ = list_sample(groups=(2, 2), attributes=4, controls=5, lost=0.05)
    lists, hyper = swept(sample, 120, covariances=True)
    assert lists.shape == (120, len(sample.lists), 4)
    covariances = hyper["residual_covariance"]
    assert covariances.shape == (120, len(sample.lists), 4, 4)
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    assert {len(values) for values in hyper.values()} == {120}
    assert not {"nu", "attribute_weight"} & set(hyper)
    again, _ = swept(sample, 120, covariances=True)
    np.testing.assert_array_equal(lists, again)


def test_a_list_without_any_pair_of_a_group_is_refused() -> None:
    sample, _ = list_sample(groups=(2, 2), attributes=4, controls=5)
    distances = sample.distances.copy()
    distances[np.ix_(sample.list_of == 1, sample.group_of == 1)] = np.nan
    with pytest.raises(FitError, match=re.escape(f"{sample.lists[1]!r}") + ".*group 2"):
        swept(replace(sample, distances=distances), 50)
