"""The closed form of the model of list means, against densities that are written out."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.models.multivariate.marginal_likelihood import (
    REGRESSION,
    InverseWishart,
    Regression,
    blocks_of,
    completed_distances,
    coordinates_of,
    lean_log_density,
    lean_points,
    lean_target,
    list_statistics,
    log_determinant,
    metropolis,
    metropolis_root,
    regression_log_density,
    regression_posterior,
    regression_prior,
    residual_precisions,
)
from bayesbias.models.priors import parse_prior
from bayesbias.models.scales import DISTANCE_ERROR
from tests.models.made_lists import list_sample


def setting(covariates: np.ndarray | None = None, **options: object):  # type: ignore[no-untyped-def]
    sample, _ = list_sample(**options)
    axes = coordinates_of(sample.distances, sample.group_of, covariates)
    weights = np.ones((1, len(sample.distances)))
    return sample, axes, list_statistics(sample, sample.distances[None], weights, axes)


def points(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(-1, 0.7, (3, size))


def test_the_guide_has_the_priors_of_the_model() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "models.md").read_text(encoding="utf-8")
    stated = {name: parse_prior(prior) for name, prior in re.findall(r"`(\w+) ~ (\w+\([^)]*\))`", guide)}
    assert stated == bb.load_model("multivariate").priors


@pytest.mark.parametrize("groups", [(3, 3), (2, 3, 4), (4,), (1, 1)])
def test_coordinates_are_orthonormal(groups: tuple[int, ...]) -> None:
    _, axes, _ = setting(groups=groups)
    both = np.column_stack([axes.between, axes.within])
    np.testing.assert_allclose(both.T @ both, np.eye(sum(groups)), atol=1e-12)


def test_covariates_have_coordinates_that_groups_and_other_covariates_do_not_have() -> None:
    rng = np.random.default_rng(2)
    values = rng.lognormal(size=(6, 2))
    of_group = np.repeat([[1.0], [3.0]], 3, axis=0)
    _, axes, _ = setting(np.column_stack([values, of_group, values.sum(axis=1)]))
    assert axes.free == 4
    both = np.column_stack([axes.between, axes.within])
    np.testing.assert_allclose(both.T @ both, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(axes.levels, axes.between.sum(axis=0), atol=1e-12)
    # A plain least-squares slope is a combination of the free coordinates.
    design = np.column_stack([np.eye(2).repeat(3, axis=0), values])
    coefficients = np.linalg.pinv(design)
    np.testing.assert_allclose(coefficients @ axes.between @ axes.between.T, coefficients, atol=1e-9)


@pytest.mark.parametrize(
    ("groups", "covariates"), [((3, 3), 0), ((2, 3, 4), 0), ((4,), 0), ((4,), 1), ((3, 3), 1), ((8,), 2)]
)
def test_lean_density_is_that_of_the_data_with_all_written_out(groups: tuple[int, ...], covariates: int) -> None:
    """p(x | t) = p(x | xi, Sigma) p(Sigma | t) / p(xi, Sigma | x, t), at any xi and Sigma (Chib 1995)."""
    values = np.random.default_rng(4).normal(size=(sum(groups), covariates))
    sample, axes, stats_of = setting(values if covariates else None, groups=groups)
    free = len(groups) + covariates
    t = points(2 + (len(groups) > 1) + covariates)
    levels = np.append(np.sqrt(groups), np.zeros(covariates))
    x = sample.distances @ axes.between
    of_kind = sample.list_kind[sample.list_of] == 0
    lists = np.unique(sample.list_of[of_kind])
    sigma = 0.02 * np.eye(free) + 0.01
    computed = lean_log_density(t, 0, stats_of, axes)
    written = []
    for point in t:
        # One scale of leans to all groups, if there are several, and one of slopes on each covariate.
        psi = [*(np.repeat(point[1], len(groups)) if len(groups) > 1 else [-np.inf])]
        psi += [*point[len(point) - 1 - covariates : -1]]
        spreads = [*groups, *[sum(groups)] * covariates]
        target = np.exp(2 * point[0]) * np.outer(levels, levels) + np.diag(np.exp(2 * np.array(psi)) * spreads)
        weight = np.exp(point[-1])
        np.testing.assert_allclose(lean_target(point[None, :-1], axes)[0], target, rtol=1e-12)
        prior = stats.invwishart(weight + free + 1, weight * target)
        log = 0.0
        for place in lists:
            rows = x[sample.list_of == place]
            mean, error = rows.mean(axis=0), DISTANCE_ERROR**2 * len(rows)
            xi = mean + 0.01
            log += prior.logpdf(sigma) - 0.5 * error * np.trace(np.linalg.inv(sigma))
            log += stats.multivariate_normal(xi, sigma).logpdf(rows).sum()
            log -= stats.multivariate_normal(mean, sigma / len(rows)).logpdf(xi)
            scatter = error * np.eye(free) + (rows - mean).T @ (rows - mean)
            freedom = weight + free + len(rows)
            log -= stats.invwishart(freedom, weight * target + scatter).logpdf(sigma)
        written.append(log)
    np.testing.assert_allclose(np.diff(computed), np.diff(written), atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"groups": (2, 3, 4)}, {"groups": (30, 20), "attributes": 5, "controls": 8}])
def test_regression_density_is_that_of_the_data_with_all_written_out(options: dict[str, object]) -> None:
    """The same for c: alpha is flat, so that any constant may differ; the third has more words than attribute words."""
    sample, axes, stats_of = setting(**options)
    t = points(4 + len(sample.kinds) - 1)
    whole = np.linalg.qr(axes.between, mode="complete")[0][:, len(axes.sizes) :]
    x, c = sample.distances @ axes.between, sample.distances @ whole
    z = np.column_stack([np.ones(len(x)), np.eye(len(sample.lists))[sample.list_of], x - stats_of.origin[0]])
    size, contrasts, rng = z.shape[1], whole.shape[1], np.random.default_rng(3)
    theta = 0.1 * rng.standard_normal((size, contrasts))
    error = 0.01 * np.eye(contrasts) + 0.002
    computed = regression_log_density(t, stats_of, axes)
    written = []
    for point in t:
        precision = residual_precisions(point[None], len(sample.kinds))[0]
        of_word = precision[sample.list_kind[sample.list_of]]
        prior = regression_prior(point[None], len(sample.lists), len(axes.sizes), axes.words)[0]
        prior_weight = np.exp(point[1]) * axes.words
        start = prior_weight * np.exp(2 * point[0]) * np.eye(contrasts)
        log = stats.invwishart(prior_weight + contrasts + 1, start).logpdf(error)
        log -= 0.5 * DISTANCE_ERROR**2 * of_word.sum() * np.trace(np.linalg.inv(error))
        for row, mean, scale in zip(c, z @ theta, of_word, strict=True):
            log += stats.multivariate_normal(mean, error / scale).logpdf(row)
        for row, scale in zip(theta[1:], prior[1:], strict=True):
            log += stats.multivariate_normal(np.zeros(contrasts), error / scale).logpdf(row)
        matrix = (z * of_word[:, None]).T @ z + np.diag(prior)
        cross = (z * of_word[:, None]).T @ c
        mean = np.linalg.solve(matrix, cross)
        log -= stats.matrix_normal(mean, np.linalg.inv(matrix), error).logpdf(theta)
        left = (c * of_word[:, None]).T @ c - cross.T @ mean
        scale = start + left + DISTANCE_ERROR**2 * of_word.sum() * np.eye(contrasts)
        written.append(log - stats.invwishart(prior_weight + contrasts + len(x), (scale + scale.T) / 2).logpdf(error))
    np.testing.assert_allclose(np.diff(computed), np.diff(written), atol=1e-7)


def test_inverse_wishart_has_the_moments_of_scipy() -> None:
    scale, rng = np.array([[2.0, 0.5], [0.5, 1.0]]), np.random.default_rng(1)
    roots = InverseWishart(np.full(40_000, 9.0), np.broadcast_to(scale, (40_000, 2, 2))).roots(rng)
    drawn = roots @ np.swapaxes(roots, 1, 2)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - stats.invwishart(9, scale).mean()) < 4 * error).all()


def test_points_without_a_density_are_refused_and_not_an_error() -> None:
    sample, axes, stats_of = setting()
    block = blocks_of(sample, bb.load_model("multivariate").priors, axes)[0]
    far = np.full((1, len(block.names)), 400.0)
    assert block.log_density(far, stats=stats_of)[0] < -1e5


def test_regression_is_a_ridge_regression() -> None:
    sample, axes, stats_of = setting(controls=0)
    t = points(4)[:1]
    computed = regression_posterior(t, stats_of, axes)
    assert isinstance(computed, Regression)
    z = np.column_stack(
        [
            np.ones(len(sample.distances)),
            np.eye(2)[sample.list_of],
            sample.distances @ axes.between - stats_of.origin[0],
        ]
    )
    ridge = np.diag(regression_prior(t, 2, 2, 6)[0])
    expected = np.linalg.solve(z.T @ z + ridge, z.T @ (sample.distances @ axes.within))
    np.testing.assert_allclose(computed.mean[0], expected, atol=1e-9)


def test_words_that_stand_twice_with_half_a_share_are_the_words_once() -> None:
    """A list of n words, each of them twice, is worth n words: all statistics are those of the list without copies."""
    sample, axes, stats_once = setting()
    twice = replace(
        sample,
        distances=np.repeat(sample.distances, 2, axis=0),
        list_of=np.repeat(sample.list_of, 2),
        attribute_links=LinkedWords(
            np.arange(2 * len(sample.list_of)).reshape(-1, 2),
            np.ones(len(sample.list_of)),
            np.zeros(2 * len(sample.list_of)),
        ),
    )
    np.testing.assert_allclose(twice.list_effects, 2)
    np.testing.assert_allclose(twice.list_worths, np.bincount(sample.list_of))
    stats_twice = list_statistics(twice, twice.distances[None], np.ones((1, len(twice.distances))), axes)
    for name in ("centre", "scatter", "weight", "zz", "zc", "cc", "origin", "counts"):
        np.testing.assert_allclose(getattr(stats_twice, name), getattr(stats_once, name), atol=1e-12)


def test_rounding_makes_no_determinant() -> None:
    """Far out, a rank beside a tiny diagonal: the difference of products is rounding."""
    big = 1e8 * np.ones((1, 2, 2)) + 1e-9 * np.eye(2)
    with np.errstate(divide="ignore"):
        assert log_determinant(big)[0] == np.inf
    apart = np.array([[[2.0, 1.0], [1.0, 3.0]]])
    assert log_determinant(apart)[0] == pytest.approx(np.log(5))


def test_metropolis_steps_keep_a_normal_distribution_and_reach_it() -> None:
    rng = np.random.default_rng(1)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    exact = stats.multivariate_normal([1.0, -1.0], covariance)
    step = metropolis_root(exact.rvs(5000, random_state=rng))
    np.testing.assert_allclose(step @ step.T, 2.4**2 / 2 * covariance, rtol=0.1)
    points = metropolis(np.full((8000, 2), 3.0), exact.logpdf, step, rng, steps=60)
    assert np.abs(points.mean(axis=0) - [1.0, -1.0]).max() < 4.5 * np.sqrt(2 / 8000)
    np.testing.assert_allclose(np.cov(points.T), covariance, atol=0.12)


def test_lost_distances_of_an_additive_table_are_completed() -> None:
    """Distances that are sums of effects of list and word, and of the attribute word, are known without their pair."""
    sample, _ = list_sample()
    rng = np.random.default_rng(2)
    words, attributes = sample.distances.shape[1], sample.distances.shape[0]
    additive = rng.normal(size=(len(sample.lists), words))[sample.list_of] + rng.normal(size=(attributes, 1))
    lost = additive.copy()
    lost[[0, 5, 9], [1, 2, 0]] = np.nan
    completed = completed_distances(replace(sample, distances=lost))
    np.testing.assert_allclose(completed, additive, atol=0.01)
    assert (completed_distances(replace(sample, distances=additive)) == additive).all()


def test_blocks_are_those_of_the_kinds_of_lists_and_of_the_words() -> None:
    sample, _ = list_sample()
    axes = coordinates_of(sample.distances, sample.pattern_of)
    blocks = blocks_of(sample, bb.load_model("multivariate").priors, axes)
    of_groups = ("attribute_sd", "group_attribute_sd", "target_weight")
    assert [block.names for block in blocks] == [of_groups, of_groups, (*REGRESSION, "list_scale")]
    single, _ = list_sample(groups=(4,), controls=0)
    axes = coordinates_of(np.eye(4), single.pattern_of)
    (lean, *_) = blocks_of(single, bb.load_model("multivariate").priors, axes)
    assert "group_attribute_sd" not in lean.names, "one group has no spread of groups"
    axes = coordinates_of(np.eye(4), single.pattern_of, np.random.default_rng(1).normal(size=(4, 2)))
    lean = blocks_of(single, bb.load_model("multivariate").priors, axes)[0]
    assert lean.names == ("attribute_sd", *["covariate_attribute_sd"] * 2, "target_weight"), "one for each covariate"
    drawn = {
        "attribute_sd": np.array([[1.0]]),
        "covariate_attribute_sd": np.array([[[2.0, 3.0]]]),
        "target_weight": np.array([[4.0]]),
    }
    (point,) = lean_points(drawn, axes)
    np.testing.assert_allclose(np.exp(point), [[1.0, 2.0, 3.0, 4.0]])


def test_coordinates_of_covariates_do_not_depend_on_their_order() -> None:
    values = np.random.default_rng(5).normal(size=(9, 3)) @ [[1.0, 0.9, 0.0], [0.0, 0.5, 0.2], [0.0, 0.0, 1.0]]
    values[:, 1] = np.repeat([0.0, 1.0, 2.0], 3)  # follows from the groups
    groups = np.repeat([0, 1, 2], 3)
    first, second = (coordinates_of(np.zeros((9, 9)), groups, values[:, order]) for order in ([0, 1, 2], [2, 1, 0]))
    assert first.covariates == second.covariates == (0, 2)
    np.testing.assert_allclose(first.between[:, 3:], second.between[:, :2:-1], atol=1e-12)
    around = values - np.repeat(values.reshape(3, 3, 3).mean(axis=1), 3, axis=0)
    cosines = first.between[:, 3:].T @ around[:, [0, 2]] / np.linalg.norm(around[:, [0, 2]], axis=0)
    np.testing.assert_allclose(cosines, cosines.T, atol=1e-12, err_msg="each is as near to its covariate as the other")
    assert np.diag(cosines).min() > 0.9


def test_what_is_too_far_away_has_no_density() -> None:
    sample, _ = list_sample()
    axes = coordinates_of(sample.distances, sample.pattern_of)
    stats_of_table = list_statistics(sample, sample.distances[None], np.ones((1, len(sample.distances))), axes)
    for block in blocks_of(sample, bb.load_model("multivariate").priors, axes):
        near, far = np.full((1, len(block.names)), -2.0), np.full((1, len(block.names)), -2.0)
        far[0, 0] = 15.0
        assert block.log_density(near, stats_of_table)[0] > -1e5
        assert block.log_density(far, stats_of_table)[0] == -1e6
