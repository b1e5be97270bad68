"""Draws of the mean distances of lists: against the data, brute force, and each other."""

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.marginal_likelihood import (
    Coordinates,
    ListStatistics,
    blocks_of,
    completed_distances,
    coordinates_of,
    list_statistics,
)
from bayesbias.models.multivariate.posterior_draws import (
    MOST_WORDS_IN_SWEEPS,
    ListMeanDraws,
    draw_freedom,
    draw_in_sweeps,
    draw_lists,
    draw_weights,
    fill_lost_pairs,
    lost_pairs,
    sample_list_means,
    weighted_points,
)
from bayesbias.models.priors import parse_prior
from tests.models.made_lists import list_sample

SHARED = Path(__file__).resolve().parents[4] / "shared"


def draw(sample: AttributeSample, connections: tuple[str, ...], draws: int = 4000, **options: object) -> ListMeanDraws:
    options = {"priors": bb.load_model("multivariate_robust").priors} | options
    return sample_list_means(sample, connections, draws=draws, seed=1, **options)  # type: ignore[arg-type]


def group_contrasts(drawn: ListMeanDraws, sample: AttributeSample) -> np.ndarray:
    """Return associated minus different of each group, shape (draws, groups)."""
    contrasts = drawn.posterior["word_mean"][..., 0] - drawn.posterior["word_mean"][..., 1]
    groups = range(sample.group_of.max() + 1)
    return np.stack([contrasts[:, sample.group_of == group].mean(axis=1) for group in groups], axis=1)


def plain_contrasts(sample: AttributeSample) -> np.ndarray:
    means = np.stack([sample.distances[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
    words = np.einsum("lj,jcl->jc", means, sample.connection_weights)
    groups = range(sample.group_of.max() + 1)
    return np.array([np.subtract(*words[sample.group_of == group].mean(axis=0)[:2]) for group in groups])


@pytest.mark.parametrize("groups", [(3, 3), (2, 3, 4), (1, 1), (5, 1)])
@pytest.mark.parametrize("controls", [0, 10])
def test_groups_have_their_plain_differences(groups: tuple[int, ...], controls: int) -> None:
    sample, connections = list_sample(groups=groups, controls=controls)
    contrasts = group_contrasts(draw(sample, connections), sample)
    error = contrasts.std(axis=0) / np.sqrt(len(contrasts))
    assert (np.abs(contrasts.mean(axis=0) - plain_contrasts(sample)) < 4 * error).all()


def test_control_words_leave_the_means_of_stereotype_lists_to_groups_as_they_are() -> None:
    sample, connections = list_sample(controls=40)
    stereotype = sample.list_kind[sample.list_of] == 0
    fewer = replace(
        sample,
        distances=sample.distances[stereotype],
        list_of=sample.list_of[stereotype],
        lists=sample.lists[:2],
        list_kind=sample.list_kind[:2],
        kinds=sample.kinds[:1],
        connection_weights=sample.connection_weights[:, :2, :2],
    )
    with_controls, without = (
        group_contrasts(draw(part, names), part) for part, names in ((sample, connections), (fewer, connections[:2]))
    )
    np.testing.assert_allclose(with_controls, without, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [3, 6])
def test_intervals_of_short_lists_are_no_narrower_than_students(attributes: int) -> None:
    """Over tables: the sd of Student's t beside the posterior's, of the mean over groups."""
    ratios = []
    for seed in range(20):
        sample, connections = list_sample(attributes=attributes, controls=0, seed=seed)
        posterior = group_contrasts(draw(sample, connections, 1000), sample).mean(axis=1)
        signs = np.array([1.0, -1.0])[sample.group_of]
        lean = sample.distances @ signs / len(signs)
        by_list = [lean[sample.list_of == place] for place in (0, 1)]
        freedom = 2 * (attributes - 1)
        square = sum(part.var(ddof=1) for part in by_list) / attributes
        ratios.append(np.log(posterior.var() / (square * freedom / (freedom - 2))))
    assert np.mean(ratios) > -0.3


def test_same_seed_gives_the_same_draws() -> None:
    sample, connections = list_sample()
    one, two = (draw(sample, connections, 500).posterior for _ in range(2))
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])


def test_equal_vectors_have_equal_means() -> None:
    sample, connections = list_sample()
    distances = sample.distances.copy()
    distances[:, 1] = distances[:, 0]
    drawn = draw(replace(sample, distances=distances), connections)
    between = drawn.posterior["list_mean"][..., 0] - drawn.posterior["list_mean"][..., 1]
    assert np.abs(between).max() < 0.02


@pytest.mark.parametrize("attributes", [1, 2])
def test_lists_of_few_words_have_wide_intervals(attributes: int) -> None:
    sample, connections = list_sample(attributes=attributes, controls=0)
    contrasts = group_contrasts(draw(sample, connections), sample)
    assert np.isfinite(contrasts).all()
    assert (contrasts.std(axis=0) > 0.02).all()


def test_one_group_with_two_lists() -> None:
    sample, connections = list_sample(groups=(4,))
    only = replace(sample, connection_weights=sample.connection_weights[:, [0, 0, 2]])
    assert np.isfinite(draw(only, connections).posterior["connection_mean"]).all()


def test_more_protected_words_than_dimensions_and_attribute_words() -> None:
    """The observed difference is +0.05 by construction, not 0: what the exchangeable words made of it."""
    sample, connections = list_sample(groups=(60, 70), attributes=8, controls=5)
    drawn = draw(sample, connections, 1000)
    assert "residual_covariance" not in drawn.posterior
    contrasts = group_contrasts(drawn, sample)
    np.testing.assert_allclose(
        contrasts.mean(axis=0), plain_contrasts(sample), atol=5 * contrasts.std() / np.sqrt(1000)
    )


def test_directions_without_data_do_not_change_the_answer() -> None:
    """The same table by all columns of N (the covariance is kept) and by those that vary alone."""
    sample, connections = list_sample(groups=(9, 9), attributes=4, controls=3)
    with_covariance, reduced = (
        draw(sample, connections, 4000, covariances=covariances).posterior["list_mean"] for covariances in (True, False)
    )
    error = np.sqrt((with_covariance.var(axis=0) + reduced.var(axis=0)) / 4000)
    assert (np.abs(with_covariance.mean(axis=0) - reduced.mean(axis=0)) < 4.5 * error).all()
    np.testing.assert_allclose(reduced.std(axis=0), with_covariance.std(axis=0), rtol=0.15)


@pytest.mark.slow
def test_lost_pairs_are_those_of_the_whole_table_with_more_error() -> None:
    sample, connections = list_sample(groups=(2, 2), attributes=5, controls=0)
    distances = sample.distances.copy()
    distances[0, 0] = np.nan
    swept = draw(replace(sample, distances=distances), connections, 8000)
    contrasts = group_contrasts(swept, sample)
    whole = group_contrasts(draw(sample, connections, 8000), sample)
    assert np.abs(contrasts.mean(axis=0) - whole.mean(axis=0)).max() < 0.6 * whole.std(axis=0).min()
    assert (contrasts.std(axis=0) > 0.9 * whole.std(axis=0)).all()


@pytest.mark.slow
def test_outlying_attribute_words_count_less_with_a_student_t() -> None:
    """The share of an outlying word's effect that stays in the estimate, which is 0.95 of Normal words."""
    sample, connections = list_sample(attributes=12, controls=20)
    distances = sample.distances.copy()
    distances[0] += np.array([0.5, 0.5, 0.5, -0.3, -0.3, -0.3])
    moved = replace(sample, distances=distances)
    drawn = draw(moved, connections, 1000, likelihood="student_t")
    assert drawn.posterior["attribute_weight"].mean(axis=0).argmin() == 0
    clean, outlying = plain_contrasts(sample)[0], plain_contrasts(moved)[0]
    assert (group_contrasts(drawn, sample)[:, 0].mean() - clean) / (outlying - clean) < 0.65


def test_too_many_words_with_lost_pairs_are_refused() -> None:
    sample, connections = list_sample(groups=(MOST_WORDS_IN_SWEEPS, 1), attributes=2, controls=0, lost=0.1)
    with pytest.raises(FitError, match="lost pairs"):
        draw(sample, connections)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the reference data are absent")
def test_agrees_with_the_prototype_on_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prototype shares its priors over kinds of lists: means of groups agree, and their sds nearly."""
    monkeypatch.syspath_prepend(str(SHARED / "prototypes"))
    prototype = importlib.import_module("list_means")
    for name in ("list_means", "real_contrasts", "multivariate_gibbs"):
        sys.modules.pop(name, None)
    sample, connections = list_sample(attributes=8, controls=30)
    kinds = sample.list_kind[sample.list_of]
    means, _, _ = prototype.fit(sample.distances, sample.list_of, kinds, sample.group_of, draws=400, warmup=400)
    theirs = np.einsum("dlj,jcl->djc", means, sample.connection_weights)
    contrasts = theirs[..., 0] - theirs[..., 1]
    theirs = np.stack([contrasts[:, sample.group_of == group].mean(axis=1) for group in (0, 1)], axis=1)
    ours = group_contrasts(draw(sample, connections), sample)
    assert np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max() < 0.25 * theirs.std(axis=0).min()
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.25)


DRAWS = 20_000
OMEGA, PSI, STRENGTH = 0.05, 0.03, 4.0
SIGMA, WEIGHT, EFFECT, SLOPE, SCALE = 0.04, 1.5, 0.3, 0.6, 1.3
POINTS = [np.log([[OMEGA, PSI, STRENGTH]])] * 2 + [np.log([[SIGMA, WEIGHT, EFFECT, SLOPE, SCALE]])]


def setting(groups: tuple[int, ...]) -> tuple[AttributeSample, Coordinates, ListStatistics]:
    sample, _ = list_sample(groups=groups, attributes=5, controls=6)
    axes = coordinates_of(sample.distances, sample.pattern_of)
    ones = np.ones((1, len(sample.distances)))
    return sample, axes, list_statistics(sample, sample.distances[None], ones, axes)


def of_groups(sample: AttributeSample, axes: Coordinates, place: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return centre, scale, freedom and size of a list's inverse-Wishart posterior, from the model's own equations."""
    x = sample.distances[sample.list_of == place] @ axes.between
    root, error = np.sqrt(axes.sizes), 1e-6 * len(x) * np.eye(len(axes.sizes))
    target = OMEGA**2 * np.outer(root, root) + PSI**2 * np.diag(axes.sizes)
    residual = x - x.mean(axis=0)
    # The flat mean takes one of the words.
    freedom = STRENGTH + len(root) + 1 + len(x) - 1
    return x.mean(axis=0), STRENGTH * target + residual.T @ residual + error, freedom, len(x)


@pytest.mark.parametrize("groups", [(2, 1), (3, 2, 2)])
def test_means_of_groups_are_student_t_and_their_covariance_inverse_wishart(groups: tuple[int, ...]) -> None:
    sample, axes, of_table = setting(groups)
    means, covariances = draw_lists(POINTS, of_table, axes, 1, draws=DRAWS, covariances=True)
    assert covariances is not None
    for place in range(len(sample.lists)):
        centre, scale, freedom, size = of_groups(sample, axes, place)
        degrees = freedom - len(groups) + 1
        for group, drawn in enumerate((means[:, place] @ axes.between).T):
            exact = stats.t(degrees, centre[group], np.sqrt(scale[group, group] / (size * degrees)))
            assert stats.kstest(drawn, exact.cdf).pvalue > 1e-4
        lean = axes.between.T @ covariances[:, place] @ axes.between
        error = lean.std(axis=0) / np.sqrt(DRAWS)
        assert (np.abs(lean.mean(axis=0) - stats.invwishart(freedom, scale).mean()) < 4.5 * error).all()


@pytest.mark.parametrize("covariances", [True, False])
@pytest.mark.parametrize("groups", [(2, 1), (3, 2)])
def test_means_of_words_have_the_moments_of_the_regression(groups: tuple[int, ...], covariances: bool) -> None:
    """Mean and variance of a' theta, with a = (1, list, x - x0), over the posteriors of theta, E and the means x."""
    sample, axes, of_table = setting(groups)
    lists, words, contrasts = len(sample.lists), sum(groups), axes.contrasts
    x, c = sample.distances @ axes.between, sample.distances @ axes.within
    origin = np.mean([x[sample.list_of == place].mean(axis=0) for place in range(lists)], axis=0)
    share = np.where(sample.list_kind[sample.list_of] == 0, SCALE**-2.0, 1.0)
    design = np.column_stack([np.ones(len(x)), np.eye(lists)[sample.list_of], x - origin])
    prior = np.diag([0.0, *[1 / EFFECT] * lists, *[SIGMA**2 * words / SLOPE**2] * len(groups)])
    matrix = design.T @ (share[:, None] * design) + prior
    theta = np.linalg.solve(matrix, design.T @ (share[:, None] * c))
    left = c.T @ (share[:, None] * c) - theta.T @ matrix @ theta
    scale = left + (WEIGHT * words * SIGMA**2 + 1e-6 * share.sum()) * np.eye(contrasts)
    # E has v J + p + 1 degrees of freedom and one more for each attribute word but the flat intercept's.
    mean_covariance = scale / (WEIGHT * words + contrasts + 1 + len(x) - 1 - contrasts - 1)
    inverse = np.linalg.inv(matrix)
    drawn, _ = draw_lists(POINTS, of_table, axes, 2, draws=DRAWS, covariances=covariances)
    for place in range(lists):
        centre, of_list, freedom, size = of_groups(sample, axes, place)
        spread = of_list / size / (freedom - len(groups) - 1)
        row = np.array([1.0, *np.eye(lists)[place], *(centre - origin)])
        share_of_noise = row @ inverse @ row + np.trace(inverse[1 + lists :, 1 + lists :] @ spread)
        slopes = theta[1 + lists :]
        variance = share_of_noise * np.diag(mean_covariance) + np.diag(slopes.T @ spread @ slopes)
        of_contrasts = drawn[:, place] @ axes.within
        assert (np.abs(of_contrasts.mean(axis=0) - row @ theta) < 4.5 * np.sqrt(variance / DRAWS)).all()
        np.testing.assert_allclose(of_contrasts.var(axis=0), variance, rtol=0.06)


def test_points_are_taken_in_turn() -> None:
    _, axes, of_table = setting((2, 2))
    wide = [np.vstack([point, point + np.log([20, 20, 50])]) for point in POINTS[:2]]
    drawn, _ = draw_lists([*wide, POINTS[2]], of_table, axes, 1, draws=2001, covariances=False)
    assert len(drawn) == 2001
    sds = [(drawn[start::2, 0] @ axes.between).std(axis=0) for start in (0, 1)]
    assert (sds[1] > 5 * sds[0]).all()


def test_what_is_drawn_of_controls_and_single_words_does_not_move_the_means_of_groups() -> None:
    sample, axes, of_table = setting((2, 2))
    stereotype = sample.list_kind == 0
    other = [POINTS[0], POINTS[1] + 1.0, POINTS[2] - 1.0]
    first, second = (
        draw_lists(points, of_table, axes, 1, draws=50, covariances=covariances)[0] @ axes.between
        for points, covariances in ((POINTS, True), (other, False))
    )
    np.testing.assert_allclose(first[:, stereotype], second[:, stereotype], atol=1e-12)
    assert (np.abs(first - second)[:, ~stereotype] > 1e-6).all()


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


COPIES = 20_000
COVARIANCE = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 1.5]])


def test_lost_pairs_are_normal_given_the_others() -> None:
    distances = np.array([[np.nan, 1.0, np.nan], [0.5, 1.0, 2.0], [0.5, np.nan, 2.0]])
    lost = lost_pairs(distances)
    filled = np.repeat(np.nan_to_num(distances)[None], COPIES, axis=0)
    mean = np.full((COPIES, 3, 3), 0.3)
    precision = np.broadcast_to(np.linalg.inv(COVARIANCE), (COPIES, 1, 3, 3))
    weights = np.full((COPIES, 3), 4.0)
    fill_lost_pairs(filled, lost, mean, precision, np.zeros(3, dtype=int), weights, np.random.default_rng(1))
    np.testing.assert_array_equal(filled[:, 1], np.broadcast_to(distances[1], (COPIES, 3)))
    for word, gone in ((0, [0, 2]), (2, [1])):
        have = [place for place in range(3) if place not in gone]
        gain = COVARIANCE[np.ix_(gone, have)] @ np.linalg.inv(COVARIANCE[np.ix_(have, have)])
        centre = 0.3 + gain @ (distances[word, have] - 0.3)
        spread = (COVARIANCE[np.ix_(gone, gone)] - gain @ COVARIANCE[np.ix_(have, gone)]) / 4
        drawn = filled[:, word, gone]
        assert (np.abs(drawn.mean(axis=0) - centre) < 4 * np.sqrt(np.diag(spread) / COPIES)).all()
        np.testing.assert_allclose(np.cov(drawn.T), spread.squeeze(), atol=0.03)


def test_weights_have_the_mean_of_their_gamma() -> None:
    rng = np.random.default_rng(1)
    distances, mean = np.full((COPIES, 1, 3), 0.5), np.zeros((COPIES, 1, 3))
    precision = np.broadcast_to(np.linalg.inv(COVARIANCE), (COPIES, 1, 3, 3))
    weights = draw_weights(distances, mean, precision, np.zeros(1, dtype=int), np.full(COPIES, 5.0), np.ones(1), rng)
    square = 0.25 * np.linalg.inv(COVARIANCE).sum() + 1e-6 * np.trace(np.linalg.inv(COVARIANCE))
    expected = (5 + 3) / (5 + square)
    assert abs(weights.mean() - expected) < 4 * weights.std() / np.sqrt(COPIES)
    # A word that is worth half an independent one has half of its likelihood.
    halves = draw_weights(
        distances, mean, precision, np.zeros(1, dtype=int), np.full(COPIES, 5.0), np.full(1, 0.5), rng
    )
    assert abs(halves.mean() - (5 + 1.5) / (5 + square / 2)) < 4 * halves.std() / np.sqrt(COPIES)


def test_freedom_follows_the_weights() -> None:
    rng, prior = np.random.default_rng(1), parse_prior("Gamma(2, 0.1)")
    for freedom in (3.0, 30.0):
        weights = rng.gamma(freedom / 2, 2 / freedom, (400, 500))
        drawn = draw_freedom(weights, prior, rng)
        assert 0.7 * freedom < np.median(drawn) < 1.4 * freedom


def test_each_covariate_has_its_own_scale_of_slopes() -> None:
    """Attribute words follow the first covariate alone: slopes have sd 0.06 on it, and none on the second."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((20, 2))
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    sample, connections = list_sample(groups=(10, 10), attributes=30, controls=0)
    slopes = 0.06 * rng.standard_normal((len(sample.distances), 1))
    distances = 0.8 + slopes @ values[:, :1].T + 0.02 * rng.standard_normal(sample.distances.shape)
    made = replace(sample, distances=distances, covariates=values)
    priors = bb.load_model("multivariate").priors
    drawn = sample_list_means(made, connections, draws=500, seed=1, priors=priors)
    first, second = np.median(drawn.posterior["covariate_attribute_sd"][:, 0], axis=0)
    assert second < 0.02 < 0.04 < first
