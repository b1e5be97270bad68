"""Each conditional of the Gibbs sampler, against SciPy or the formula written out with whole matrices."""

import math
from types import SimpleNamespace
from typing import Any

import arviz as az
import numpy as np
import pytest
from scipy import linalg, stats
from scipy.special import ndtr

from bayesbias.models.samplers import multivariate_conditionals as conditionals
from bayesbias.models.samplers import multivariate_sweeps as sweeps
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR
from bayesbias.models.word_effects import effects_basis

CONNECTIONS = ("associated", "different", "human", "neutral")
# A false alarm of one test of a distribution: about 60 of them give one in some 1,500 runs with fresh seeds.
LEVEL = 1e-5
# The same for a difference in standard errors.
FAR = 4.5
HALF_T = np.array([2.0, 0.1])


def state(seed: int = 0, *, connections: tuple[str, ...] = CONNECTIONS, words: int = 5, n: int = 22) -> Any:
    """Numbers of a table with two groups and lists that change sides, and parameters that it could have."""
    rng = np.random.default_rng(seed)
    group_of = np.arange(words) % 2
    rows = [group_of, 1 - group_of] if len(connections) > 1 else [0 * group_of]
    rows += [np.full(words, at) for at in range(2, len(connections))]
    kinds = np.array([0, 0, 1, 2][: len(rows)])
    size, lists = len(connections), len(rows)
    list_of = np.concatenate([np.arange(lists), rng.integers(lists, size=n - lists)])
    root = rng.standard_normal((words, words + 3))
    s = SimpleNamespace(
        words=words, n=n, size=size, lists=lists, group_of=group_of, sizes=np.bincount(group_of),
        list_connection=np.array(rows), list_kind=kinds, list_of=list_of, basis=effects_basis(connections),
        sigma=0.003 * root @ root.T, weights=rng.gamma(3, 1 / 3, n),
        location=np.concatenate([rng.normal(0.9, 0.1, size), rng.normal(0, 0.05, words * size)]),
        between=linalg.inv(0.01 * np.cov(rng.standard_normal((size, size + 4))).reshape(size, size)),
        mean_prior=np.tile([1.0, 0.3], (size, 1)), kinds=kinds.max() + 1,
    )  # fmt: skip
    s.scale2 = rng.gamma(5, 0.2, s.kinds)
    s.inverse = linalg.inv(s.sigma)
    s.y = rng.normal(0.9, 0.1, (n, words))
    s.t = np.concatenate([np.log([0.06, 0.03, 0.05, 0.7]), 0.5 * np.log(s.scale2)])
    s.families = np.array([conditionals.EXPONENTIAL] * 3 + [conditionals.LOG_NORMAL] * (1 + s.kinds))
    s.parameters = np.array([[10.0, 0]] * 3 + [[0.0, 1.5]] + [[0.0, 0.5]] * s.kinds)
    s.fixed = np.array([False] * (3 + s.kinds) + [True])
    s.rest = rng.normal(0, 0.08, (n, words))
    s.kind_of = kinds[list_of]
    s.counts = np.bincount(s.kind_of, minlength=s.kinds).astype(float)
    s.rests = np.stack([s.rest[s.kind_of == kind].T @ s.rest[s.kind_of == kind] for kind in range(s.kinds)])
    return s


def designs(s: Any) -> np.ndarray:
    """The matrix from the location to the expected distances of each list, written out."""
    found = np.zeros((s.lists, s.words, s.size * (1 + s.words)))
    for at in range(s.lists):
        for i in range(s.words):
            c = s.list_connection[at, i]
            found[at, i, c] = 1
            found[at, i, s.size * (1 + i) : s.size * (2 + i)] = s.basis[c]
    return found


def target(s: Any, t: np.ndarray, *, groups: bool = True) -> np.ndarray:
    omega, psi, sigma = np.exp(t[:3])
    member = np.eye(s.group_of.max() + 1)[s.group_of]
    return omega**2 * np.ones((s.words, s.words)) + groups * psi**2 * member @ member.T + sigma**2 * np.eye(s.words)


def same_distribution(draws: np.ndarray, cdf: Any) -> bool:
    return bool(stats.kstest(draws, cdf).pvalue > LEVEL)


def tabulated(grid: np.ndarray, log_density: np.ndarray) -> Any:
    """A distribution function from log densities at the points of a fine grid."""
    density = np.exp(log_density - log_density.max())
    whole = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    return lambda x: np.interp(x, grid, whole / whole[-1])


@pytest.mark.parametrize(
    ("family", "parameters", "distribution"),
    [
        (conditionals.EXPONENTIAL, [10.0, 0.0], stats.expon(scale=0.1)),
        (conditionals.HALF_NORMAL, [0.2, 0.0], stats.halfnorm(scale=0.2)),
        (conditionals.HALF_STUDENT_T, [3.0, 0.2], stats.t(3, 0, 0.2)),
        (conditionals.GAMMA, [2.0, 0.1], stats.gamma(2, scale=10)),
        (conditionals.INVERSE_GAMMA, [3.0, 0.5], stats.invgamma(3, scale=0.5)),
        (conditionals.LOG_NORMAL, [0.3, 1.5], stats.lognorm(1.5, scale=math.exp(0.3))),
    ],
)
def test_priors_are_those_of_scipy_up_to_a_constant(family: int, parameters: list[float], distribution: Any) -> None:
    x = np.array([0.01, 0.1, 0.7, 2.0, 9.0])
    ours = np.array([conditionals.log_prior(family, np.array(parameters), value) for value in x])
    theirs = distribution.logpdf(x)
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-10)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_triangular_solutions_and_inverses_are_those_of_scipy(size: int) -> None:
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size + 2))
    matrix = root @ root.T
    lower, right = np.linalg.cholesky(matrix), rng.standard_normal((size, 3))
    np.testing.assert_allclose(
        conditionals.forward(lower, right.copy()), linalg.solve_triangular(lower, right, lower=True), rtol=1e-7
    )
    np.testing.assert_allclose(
        conditionals.backward(lower, right.copy()), linalg.solve_triangular(lower.T, right), rtol=1e-7, atol=1e-10
    )
    np.testing.assert_allclose(conditionals.inverse_of(matrix), linalg.inv(matrix), rtol=1e-6, atol=1e-10)


def test_precisions_are_wishart_and_their_inverses_inverse_wishart() -> None:
    rng, size, freedom, count = np.random.default_rng(1), 4, 9.5, 20_000
    root = rng.standard_normal((size, size + 2))
    scale = root @ root.T
    draws = np.stack([conditionals.wishart_precision(scale, freedom, rng) for _ in range(count)])
    covariances, of = np.linalg.inv(draws), linalg.inv(scale)
    spread = np.sqrt(freedom * (of**2 + np.outer(np.diag(of), np.diag(of))))
    assert (np.abs(draws.mean(axis=0) - freedom * of) < FAR * spread / math.sqrt(count)).all()
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=FAR * 2 / math.sqrt(count))
    wanted = stats.invwishart(freedom, scale)
    assert (
        np.abs(covariances.mean(axis=0) - wanted.mean()) < FAR * np.sqrt(wanted.var()) / math.sqrt(count) + 1e-12
    ).all()
    for at in range(size):
        assert same_distribution(draws[:, at, at], stats.chi2(freedom, scale=of[at, at]).cdf)
        marginal = stats.invgamma((freedom - size + 1) / 2, scale=scale[at, at] / 2)
        assert same_distribution(covariances[:, at, at], marginal.cdf)
    theirs = wanted.rvs(count, random_state=np.random.default_rng(3))
    ours, theirs = (np.linalg.slogdet(each)[1] for each in (covariances, theirs))
    assert stats.ks_2samp(ours, theirs).pvalue > LEVEL, "determinants hold all elements together"


def test_list_statistics_are_weighted_sums_means_and_scatters() -> None:
    s = state()
    count, mean, scatter = conditionals.list_statistics(s.y, s.weights, s.list_of, s.lists)
    for at in range(s.lists):
        y, w = s.y[s.list_of == at], s.weights[s.list_of == at]
        assert count[at] == pytest.approx(w.sum())
        np.testing.assert_allclose(mean[at], np.average(y, axis=0, weights=w), rtol=1e-12)
        around = np.cov(y.T, aweights=w, ddof=0) * w.sum() if len(y) > 1 else 0.0
        error = w.sum() * DISTANCE_ERROR**2 * np.eye(s.words)
        np.testing.assert_allclose(scatter[at], around + error, rtol=1e-9, atol=1e-15)


def test_list_means_are_the_design_times_the_location() -> None:
    s = state()
    found = conditionals.list_means(s.location, s.list_connection, s.basis)
    np.testing.assert_allclose(found, designs(s) @ s.location, rtol=1e-12)


@pytest.mark.parametrize("connections", [CONNECTIONS, CONNECTIONS[:2], CONNECTIONS[:1]])
@pytest.mark.parametrize("mixed", [False, True])
def test_the_location_has_the_precision_and_linear_term_of_the_dense_regression(
    connections: tuple[str, ...], mixed: bool
) -> None:
    s = state(3, connections=connections)
    if mixed:
        s.list_connection = np.random.default_rng(1).integers(s.size, size=s.list_connection.shape)
    x = designs(s)[s.list_of]
    total = linalg.block_diag(np.eye(s.size) / 0.3**2, *[s.between] * s.words)
    right = np.concatenate([np.full(s.size, 1 / 0.3**2), np.zeros(s.words * s.size)])
    for j in range(s.n):
        noise = s.weights[j] / s.scale2[s.kind_of[j]] * s.inverse
        total += x[j].T @ noise @ x[j]
        right += x[j].T @ noise @ s.y[j]
    count, mean, _ = conditionals.list_statistics(s.y, s.weights, s.list_of, s.lists)
    precision, linear = conditionals.location_precision(
        s.inverse, s.between, count, mean, s.scale2, s.list_connection, s.list_kind, s.basis, s.mean_prior
    )
    np.testing.assert_allclose(np.tril(precision), np.tril(total), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(linear[:, 0], right, rtol=1e-9)


def test_words_share_a_profile_if_they_have_the_same_connections_to_all_lists() -> None:
    connection = np.array([[0, 1, 0, 0, 1], [2, 2, 2, 3, 2]])
    of, first = conditionals.profiles_of(connection)
    assert of.tolist() == [0, 1, 0, 2, 1]
    assert first.tolist() == [0, 1, 3]


def test_small_normals_have_mean_and_covariance_of_their_precision() -> None:
    rng, times = np.random.default_rng(3), 20_000
    root = rng.standard_normal((4, 6))
    precision, linear = root @ root.T, rng.standard_normal(4)
    drawn = np.tile(linear, (times, 1))
    for row in drawn:
        sweeps.draw_normal(np.triu(precision), row, 0.5, rng)
    covariance = 0.25 * linalg.inv(precision)
    sd = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - linalg.solve(precision, linear)) < FAR * sd / math.sqrt(times)).all()
    np.testing.assert_allclose(
        np.cov(drawn.T) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=FAR * math.sqrt(2 / times)
    )


@pytest.mark.parametrize("sizes", [[5], [2, 3], [1, 1, 1, 4]])
def test_the_determinant_of_the_target_is_that_of_the_whole_matrix(sizes: list[int]) -> None:
    member = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    words = len(member)
    dense = 0.3 * np.ones((words, words)) + 0.2 * member @ member.T + 0.1 * np.eye(words)
    found = conditionals.target_log_determinant(0.3, 0.2, 0.1, np.array(sizes))
    assert found == pytest.approx(np.linalg.slogdet(dense)[1])
    without = 0.3 * np.ones((words, words)) + 0.1 * np.eye(words)
    assert conditionals.target_log_determinant(0.3, 0.0, 0.1, np.array(sizes)) == pytest.approx(
        np.linalg.slogdet(without)[1]
    )


@pytest.mark.parametrize("groups", [True, False])
def test_the_scale_of_the_covariance_is_target_plus_scatter(groups: bool) -> None:
    s = state(4)
    s.fixed[1] = not groups
    found = conditionals.scaled_scatter(s.t, s.rests, s.group_of, s.fixed)
    scaled = s.rest / np.sqrt(s.scale2[s.kind_of])[:, None]
    dense = s.words * math.exp(s.t[3]) * target(s, s.t, groups=groups) + scaled.T @ scaled
    np.testing.assert_allclose(found, dense, rtol=1e-12)


@pytest.mark.parametrize("groups", [True, False])
def test_the_density_of_the_scales_is_prior_times_likelihood_over_the_covariances_posterior(groups: bool) -> None:
    # Bayes' theorem at one Sigma, each term from SciPy: any Sigma gives the same.
    s, rng = state(5), np.random.default_rng(1)
    s.fixed[1] = not groups

    def plain(t: np.ndarray, sigma: np.ndarray) -> float:
        strength, scale = s.words * math.exp(t[3]), np.exp(t[4:])
        nu, psi = s.words + 1 + strength, strength * target(s, t, groups=groups)
        scaled = s.rest / scale[s.kind_of][:, None]
        found = stats.invwishart.logpdf(sigma, nu, psi) - stats.invwishart.logpdf(
            sigma, nu + s.n, psi + scaled.T @ scaled
        )
        for rest, kind in zip(s.rest, s.kind_of, strict=True):
            found += stats.multivariate_normal(np.zeros(s.words), scale[kind] ** 2 * sigma).logpdf(rest)
        priors = [stats.expon(scale=0.1)] * 3 + [stats.lognorm(1.5)] + [stats.lognorm(0.5)] * s.kinds
        return float(
            found + sum(p.logpdf(math.exp(v)) + v for p, v, f in zip(priors, t, s.fixed, strict=True) if not f)
        )

    points = [s.t + 0.5 * rng.standard_normal(len(s.t)) * ~s.fixed for _ in range(6)]
    ours = [
        conditionals.covariance_log_density(
            t, s.rests, s.counts, s.group_of, s.sizes, s.families, s.parameters, s.fixed
        )
        for t in points
    ]
    for sigma in (s.sigma, 0.01 * np.eye(s.words)):
        theirs = np.array([plain(t, sigma) for t in points])
        np.testing.assert_allclose(ours - theirs, (ours - theirs)[0], atol=1e-8, err_msg="equal up to one constant")


def test_scales_too_far_from_distances_have_no_probability() -> None:
    s = state(5)
    s.t[0] = -13.0
    found = conditionals.covariance_log_density(
        s.t, s.rests, s.counts, s.group_of, s.sizes, s.families, s.parameters, s.fixed
    )
    assert found == -np.inf


def test_slices_leave_a_known_density_as_it_is() -> None:
    # Without attribute words the density is the prior; slanted directions, as those of the warm-up are.
    s, rng = state(6), np.random.default_rng(2)
    rests, counts = 0 * s.rests, 0 * s.counts
    movable = np.flatnonzero(~s.fixed)
    turn = stats.ortho_group.rvs(len(movable), random_state=3)
    directions = np.zeros((len(s.t), len(movable)))
    directions[movable] = turn
    t, kept = s.t.copy(), []
    rest = (rests, counts, s.group_of, s.sizes, s.families, s.parameters, s.fixed)
    now = conditionals.covariance_log_density(t, *rest)
    for step in range(30_000):
        t, now = sweeps.slice_along(t, now, directions[:, step % len(movable)].copy(), 1.5, rng, *rest)
        if step % 20 == 0:
            kept.append(t)
    assert now == pytest.approx(conditionals.covariance_log_density(t, *rest))
    found = np.exp(np.array(kept)[50:])
    priors = [stats.expon(scale=0.1)] * 3 + [stats.lognorm(1.5)] + [stats.lognorm(0.5)] * s.kinds
    for at in movable:
        # Every second one: those that are kept still depend on each other a little.
        assert same_distribution(found[::2, at], priors[at].cdf), at
    assert (found[:, s.fixed] == np.exp(s.t[s.fixed])).all()


def _rescaled(s: Any, covariance: np.ndarray, count: np.ndarray, times: int, every: int) -> np.ndarray:
    rng, location, kept = np.random.default_rng(8), s.location.copy(), []
    mean = conditionals.list_statistics(s.y, s.weights, s.list_of, s.lists)[1]
    for step in range(times):
        covariance = sweeps.rescaled_words(
            location, covariance, HALF_T, s.inverse, count, mean, s.scale2, s.list_connection, s.list_kind, s.basis, rng
        )
        if step % every == 0:
            kept.append(np.sqrt(np.diag(covariance)))
    first = s.location[s.size :].reshape(s.words, s.size) / np.sqrt(np.diag(linalg.inv(s.between)))
    last = location[s.size :].reshape(s.words, s.size) / np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(first, last, rtol=1e-6, err_msg="the standardised effects are held")
    assert (location[: s.size] == s.location[: s.size]).all()
    return np.array(kept)


def test_without_data_the_sds_of_effects_given_correlations_are_those_of_huang_and_wand() -> None:
    s = state(7)
    covariance = linalg.inv(s.between)
    found = _rescaled(s, covariance, np.zeros(s.lists), 15_000, 5)
    sds = np.sqrt(np.diag(covariance))
    inverse = np.diag(linalg.inv(covariance / np.outer(sds, sds)))
    freedom = HALF_T[0] + s.size - 1
    for k in range(s.size):
        scale = HALF_T[1] * math.sqrt(HALF_T[0] * inverse[k] / freedom)
        assert same_distribution(found[:, k], lambda x, scale=scale: 2 * stats.t.cdf(x / scale, freedom) - 1), k


def test_the_sds_of_effects_have_the_density_of_prior_times_data() -> None:
    s = state(8, connections=CONNECTIONS[:2])
    covariance = linalg.inv(s.between)
    sds = np.sqrt(np.diag(covariance))
    standard = s.location[s.size :].reshape(s.words, s.size) / sds
    count, mean, _ = conditionals.list_statistics(s.y, s.weights, s.list_of, s.lists)
    found = _rescaled(s, covariance, count, 40_000, 10)
    inverse = np.diag(linalg.inv(covariance / np.outer(sds, sds)))
    grid = np.geomspace(1e-5, 3, 500)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    density = np.zeros_like(first)
    for sd, r in ((first, inverse[0]), (second, inverse[1])):
        density -= (HALF_T[0] + s.size) / 2 * np.log(HALF_T[0] * r + (sd / HALF_T[1]) ** 2)
    for at in range(s.lists):
        c = s.list_connection[at]
        fitted = s.location[c] + (
            first[..., None] * s.basis[c, 0] * standard[:, 0] + second[..., None] * s.basis[c, 1] * standard[:, 1]
        )
        noise = linalg.inv(s.sigma) * count[at] / s.scale2[s.list_kind[at]]
        density -= 0.5 * np.einsum("xyi,ij,xyj->xy", mean[at] - fitted, noise, mean[at] - fitted)
    density = np.exp(density - density.max())
    for k, other in ((0, 1), (1, 0)):
        marginal = np.trapezoid(density, grid, axis=other)
        assert same_distribution(found[:, k], tabulated(grid, np.log(marginal + 1e-300))), k


def test_lost_pairs_have_the_conditional_normal_of_the_others_of_their_attribute_word() -> None:
    s, rng, times = state(9), np.random.default_rng(4), 20_000
    gone = rng.random(s.y.shape) < 0.4
    gone[0], gone[1] = False, True
    start, missing = np.concatenate([[0], np.cumsum(gone.sum(axis=1))]), np.nonzero(gone)[1].copy()
    means = conditionals.list_means(s.location, s.list_connection, s.basis)
    drawn = np.empty((times, *s.y.shape))
    y = s.y.copy()
    for at in range(times):
        sweeps.fill_missing(y, means, s.inverse, s.weights, s.scale2, s.list_of, s.list_kind, start, missing, rng)
        drawn[at] = y
    assert (drawn[:, ~gone] == s.y[~gone]).all()
    for j in range(1, s.n):
        lost, there = gone[j], ~gone[j]
        if not lost.any():
            continue
        whole = s.scale2[s.kind_of[j]] / s.weights[j] * s.sigma
        mean = means[s.list_of[j]][lost]
        covariance = whole[np.ix_(lost, lost)]
        if there.any():
            slope = whole[np.ix_(lost, there)] @ linalg.inv(whole[np.ix_(there, there)])
            mean = mean + slope @ (s.y[j] - means[s.list_of[j]])[there]
            covariance = covariance - slope @ whole[np.ix_(there, lost)]
        sd = np.sqrt(np.diag(covariance))
        found = drawn[:, j][:, lost]
        assert (np.abs(found.mean(axis=0) - mean) / sd < FAR / math.sqrt(times)).all()
        np.testing.assert_allclose(
            np.atleast_2d(np.cov(found.T)) / np.outer(sd, sd),
            covariance / np.outer(sd, sd),
            atol=FAR * math.sqrt(2 / times),
        )


def test_weights_of_attribute_words_are_gamma() -> None:
    s, rng, freedom = state(10), np.random.default_rng(5), 4.5
    means = conditionals.list_means(s.location, s.list_connection, s.basis)
    drawn = np.empty((4000, s.n))
    for at in range(len(drawn)):
        sweeps.tail_weights(s.y, means, s.inverse, s.scale2, s.list_of, s.list_kind, freedom, drawn[at], rng)
    for j in range(s.n):
        rest = s.y[j] - means[s.list_of[j]]
        square = rest @ s.inverse @ rest + DISTANCE_ERROR**2 * np.trace(s.inverse)
        square /= s.scale2[s.kind_of[j]]
        wanted = stats.gamma((freedom + s.words) / 2, scale=2 / (freedom + square))
        assert same_distribution(drawn[:, j], wanted.cdf), j


def test_the_degrees_of_freedom_have_the_density_of_prior_times_weights() -> None:
    rng = np.random.default_rng(6)
    weights, freedom, kept = rng.gamma(2.0, 0.5, 12), 5.0, []
    for step in range(30_000):
        freedom = sweeps.tail_freedom(freedom, weights, conditionals.GAMMA, np.array([2.0, 0.1]), rng)
        if step % 10 == 0:
            kept.append(freedom)
    grid = np.linspace(0.01, 250, 20_000)
    density = stats.gamma(2, scale=10).logpdf(grid)
    density += stats.gamma.logpdf(weights[:, None], grid / 2, scale=2 / grid).sum(axis=0)
    assert same_distribution(np.array(kept), tabulated(grid, density))


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.parametrize("tail", [False, True])
def test_sweeps_and_new_data_in_turn_leave_the_prior_as_it_is(tail: bool) -> None:
    """Geweke (2004): parameters of a chain that draws the data anew before each sweep have their prior's distribution.

    Distribution functions of the prior make each number uniform: its mean is 1/2 and its mean square 1/3. The error of
    a distance is in effect a factor of the prior of the scales, which have that of draws kept with this probability.
    """
    s, rng, times = state(11, words=3, n=6), np.random.default_rng(7), 60_000
    gone = rng.random(s.y.shape) < 0.2
    gone[:, 0] = False
    start, missing = np.concatenate([[0], np.cumsum(gone.sum(axis=1))]), np.nonzero(gone)[1].copy()
    auxiliary, freedom, weights = np.full(s.size, 0.01), 10.0, np.ones(s.n)
    location, t, inverse = s.location, s.t, s.inverse
    t[-1] = 0.0
    directions, widths = np.eye(len(t))[:, ~s.fixed].copy(), np.full((~s.fixed).sum(), 2.0)
    kept = []
    for _ in range(times):
        means = conditionals.list_means(location, s.list_connection, s.basis)
        root = np.linalg.inv(np.linalg.cholesky(inverse))
        spread = np.exp(t[4:])[s.kind_of] / np.sqrt(weights)
        y = means[s.list_of] + spread[:, None] * (rng.standard_normal((s.n, s.words)) @ root)
        (location, t, freedom, _), _, _, between, _, _, _, _, _ = sweeps.sweep_chain(
            y, weights, location, t, freedom, auxiliary, inverse, start, missing, s.list_of, s.list_connection,
            s.list_kind, s.group_of, s.sizes, s.basis, s.mean_prior, HALF_T, s.families, s.parameters, s.fixed, tail,
            conditionals.GAMMA, np.array([2.0, 0.1]), directions, widths, len(t), 0, np.zeros((0, len(location))),
            1, 1, rng,
        )  # fmt: skip
        sds = np.sqrt(np.diag(between[0]))
        correlation = (between[0] / np.outer(sds, sds))[np.tril_indices(s.size, -1)]
        kept.append(
            np.concatenate(
                [
                    ndtr((location[: s.size] - 1) / 0.3),
                    _half_t_cdf(sds / HALF_T[1]),
                    (1 + correlation) / 2,
                    -np.expm1(-10 * np.exp(t[:3])),
                    ndtr(t[3:4] / 1.5),
                    ndtr(t[4:-1] / 0.5),
                    [-np.expm1(-freedom / 10) - freedom / 10 * np.exp(-freedom / 10)] if tail else [],
                ]
            )
        )
    uniform = np.array(kept)
    scales = _scales_of_the_prior(s, tail=tail, times=400_000, rng=rng)
    for power in (1, 2):
        for at in range(uniform.shape[1]):
            values, wanted, error = uniform[:, at] ** power, 1 / (1 + power), 0.0
            if at >= (first := uniform.shape[1] - scales.shape[1]):
                known = scales[:, at - first] ** power
                wanted, error = known.mean(), known.std() / math.sqrt(len(known))
            assert float(az.ess(values[None])) > times / 400, at
            assert abs(values.mean() - wanted) < FAR * math.hypot(float(az.mcse(values[None])), error), (power, at)


def _scales_of_the_prior(s: Any, *, tail: bool, times: int, rng: np.random.Generator) -> np.ndarray:
    """Distribution functions of draws of the prior of the scales, those kept that the error of a distance keeps."""
    t = np.log(rng.exponential(0.1, (times, 3)))
    strength, lists = rng.normal(0, 1.5, times), rng.normal(0, 0.5, (times, s.kinds - 1))
    freedom = rng.gamma(2, 10, times)
    same = s.group_of[:, None] == s.group_of
    omega2, psi2, sigma2 = (np.exp(2 * t[:, at])[:, None, None] for at in range(3))
    target = omega2 + psi2 * same + sigma2 * np.eye(s.words)
    weight = s.words * np.exp(strength)
    # Sigma^-1 is Wishart with nu degrees of freedom and the scale (weight T)^-1, by Bartlett's decomposition.
    root = np.zeros_like(target)
    for i in range(s.words):
        root[:, i, i] = np.sqrt(2 * rng.standard_gamma((s.words + 1 + weight - i) / 2))
        root[:, i, :i] = rng.standard_normal((times, i))
    half = np.linalg.solve(np.swapaxes(np.linalg.cholesky(weight[:, None, None] * target), 1, 2), root)
    trace = (half**2).sum(axis=(1, 2))
    scale2 = np.exp(2 * np.column_stack([lists, np.zeros(times)]))[:, s.kind_of]
    weights = rng.standard_gamma(np.repeat(freedom[:, None] / 2, s.n, axis=1)) * 2 / freedom[:, None] if tail else 1.0
    left = rng.random(times) < np.exp(-(DISTANCE_ERROR**2) / 2 * trace * (weights / scale2).sum(axis=1))
    found = [-np.expm1(-10 * np.exp(t)), ndtr(strength[:, None] / 1.5), ndtr(lists / 0.5)]
    found += [(-np.expm1(-freedom / 10) - freedom / 10 * np.exp(-freedom / 10))[:, None]] if tail else []
    return np.concatenate(found, axis=1)[left]


def _half_t_cdf(x: np.ndarray) -> np.ndarray:
    """Distribution function of half a Student t with two degrees of freedom."""
    return x / np.sqrt(2 + x**2)
