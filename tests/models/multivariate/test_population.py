"""Words like these, from the means of these words."""

from dataclasses import replace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample, effects_basis
from bayesbias.models.multivariate.population import (
    ListMoments,
    ObservedEffects,
    direction_shares,
    draw_effect_covariances,
    draw_population,
    group_contrasts,
    list_moments,
    places_of_lists,
    shrunk_covariance,
    without_inflation,
)
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from tests.comparisons import CountedArray
from tests.models.tables import small

CONNECTIONS = ("associated", "different", "human")
BASIS = effects_basis(CONNECTIONS)
HALF_T = (2.0, 0.1)


def plain(
    words: np.ndarray, group_of: np.ndarray, noise: float = 0.0, design_effects: np.ndarray | None = None
) -> ObservedEffects:
    """The plain effects of words whose attribute words vary by as much as `noise`."""
    contrasts = group_contrasts(group_of)
    effects, count = np.linalg.inv(BASIS) @ words.T @ contrasts, contrasts.shape[1]
    return ObservedEffects(
        effects,
        np.broadcast_to(noise**2 * np.eye(count), (3, count, count)),
        group_of[np.abs(contrasts).argmax(axis=0)] if count else np.empty(0, dtype=int),
        np.ones(group_of.max() + 1) if design_effects is None else design_effects,
    )


def test_population_is_centred_on_these_words_and_learns_their_spread() -> None:
    rng = np.random.default_rng(1)
    group_of = np.repeat([0, 1], [60, 20])
    words = 0.9 + rng.standard_normal((80, 3)) * np.array([0.05, 0.03, 0.04])
    means = np.broadcast_to(words, (4000, 80, 3)).copy()
    between = draw_effect_covariances(plain(words, group_of), HALF_T, 4000, rng)
    worths = np.array([60.0, 20.0])
    shares, measured = np.full((2, 3), 0.5), np.ones((80, 3), bool)
    population = draw_population(means, measured, group_of, shares, BASIS, between, worths, rng)
    expected = np.stack([words[group_of == group].mean(axis=0) for group in (0, 1)]).mean(axis=0)
    assert (np.abs(population.mean(axis=0) - expected) < 4 * population.std(axis=0) / np.sqrt(4000)).all()
    centred = words - np.stack([words[group_of == group].mean(axis=0) for group in (0, 1)])[group_of]
    observed = centred.T @ centred / 78
    covariance = BASIS @ between[:, 0] @ BASIS.T  # of the group of 60 words
    np.testing.assert_allclose(covariance.mean(axis=0), observed, atol=0.25 * observed.max())
    sd = np.sqrt(np.diag(observed) * (1 / 60 + 1 / 20)) / 2
    np.testing.assert_allclose(population.std(axis=0), sd, rtol=0.15)


def test_a_connection_that_a_word_lacks_follows_from_its_others() -> None:
    rng = np.random.default_rng(2)
    level, group_of = 0.1 * rng.standard_normal(40), np.zeros(40, int)
    words = 0.9 + level[:, None] + 0.01 * rng.standard_normal((40, 3))
    measured = np.ones((40, 3), bool)
    measured[0, 2] = False
    means = np.where(measured, words, 0.0)[None].repeat(4000, axis=0)
    between = draw_effect_covariances(plain(words[1:], group_of[1:]), HALF_T, 4000, rng)
    draw_population(means, measured, group_of, np.ones((1, 3)), BASIS, between, np.full(1, 40.0), rng)
    assert abs(means[:, 0, 2].mean() - words[0, 2]) < 3 * means[:, 0, 2].std()
    assert means[:, 0, 2].std() < 0.04


def test_one_word_a_group_has_its_spread_from_the_prior() -> None:
    words, group_of = np.full((2, 3), 0.9), np.array([0, 1])
    between = draw_effect_covariances(plain(words, group_of), HALF_T, 4000, np.random.default_rng(3))[:, 0]
    # Half-t with 2 degrees of freedom: its median is 0.816 of the scale, also times exp(t z); correlations are uniform.
    assert 0.07 < np.median(np.sqrt(between[:, 2, 2])) < 0.093
    correlation = between[:, 0, 1] / np.sqrt(between[:, 0, 0] * between[:, 1, 1])
    assert abs(correlation.std() - np.sqrt(1 / 3)) < 0.02


def test_the_spread_of_words_is_what_attribute_words_do_not_explain() -> None:
    rng = np.random.default_rng(4)
    words, group_of = 0.9 + 0.02 * rng.standard_normal((200, 3)), np.repeat([0, 1], 100)
    noisy = words + 0.04 * rng.standard_normal((200, 3)) @ BASIS.T
    between = draw_effect_covariances(plain(noisy, group_of, 0.04), HALF_T, 4000, rng)
    effect_sd = np.sqrt(np.diagonal(between, axis1=2, axis2=3))
    for group in (0, 1):
        true = (words[group_of == group] @ np.linalg.inv(BASIS).T).std(axis=0)
        assert (np.abs(effect_sd[:, group].mean(axis=0) - true) < 2.5 * effect_sd[:, group].std(axis=0)).all()


def test_groups_have_spreads_of_their_own_and_pool_them_where_they_spread_alike() -> None:
    rng = np.random.default_rng(6)
    group_of = np.repeat([0, 1], [30, 30])
    apart = 0.9 + np.where(group_of == 0, 0.06, 0.02)[:, None] * rng.standard_normal((60, 3))
    between = draw_effect_covariances(plain(apart, group_of), HALF_T, 4000, rng)
    effect_sd = np.sqrt(np.diagonal(between, axis1=2, axis2=3))
    for group, true in ((0, 0.06), (1, 0.02)):
        assert abs(effect_sd[:, group, 2].mean() - true) < 3 * effect_sd[:, group, 2].std()
    few = np.repeat([0, 1], [3, 40])
    alike = 0.9 + 0.04 * rng.standard_normal((43, 3))
    alone, beside = (
        np.sqrt(draw_effect_covariances(plain(alike[rows], few[rows]), HALF_T, 4000, rng)[:, 0, 2, 2])
        for rows in (few == 0, few < 2)
    )
    assert np.log(beside).std() < 0.75 * np.log(alone).std()


def test_dependent_words_are_worth_less() -> None:
    """A group in which each word occurs twice says as much about the spread as one in which it occurs once."""
    rng = np.random.default_rng(7)
    once = 0.9 + 0.04 * rng.standard_normal((8, 3))
    twice = np.repeat(once, 2, axis=0)
    single = plain(once, np.zeros(8, int))
    double = plain(twice, np.zeros(16, int), design_effects=np.array([2.0]))
    assert double.freedom(0) == single.freedom(0) == 7
    draws = [draw_effect_covariances(effects, HALF_T, 8000, np.random.default_rng(8)) for effects in (single, double)]
    first, second = (np.sqrt(of_draws[:, 0, 2, 2]) for of_draws in draws)
    assert abs(first.mean() - second.mean()) < 4 * np.hypot(first.std(), second.std()) / np.sqrt(8000)
    assert abs(np.log(first).std() / np.log(second).std() - 1) < 0.05
    sds = []
    for words, worth in ((once, 8.0), (twice, 8.0)):
        means = np.broadcast_to(words, (8000, *words.shape)).copy()
        population = draw_population(
            means,
            np.ones(words.shape, bool),
            np.zeros(len(words), int),
            np.ones((1, 3)),
            BASIS,
            draws[0],
            np.array([worth]),
            np.random.default_rng(9),
        )
        sds.append(population.std(axis=0))
    np.testing.assert_allclose(sds[0], sds[1], rtol=1e-6)


def test_a_covariance_of_few_rows_has_an_inverse_and_of_many_is_theirs() -> None:
    rng = np.random.default_rng(5)
    true = np.diag([1.0, 2.0, 4.0])
    rows = rng.multivariate_normal(np.zeros(3), true, 20_000)
    np.testing.assert_allclose(shrunk_covariance(rows, 0), true, atol=0.1)
    few = shrunk_covariance(rng.standard_normal((4, 10)), 1)
    assert np.linalg.eigvalsh(few).min() > 0.05


SHARES = np.array([0.5, 0.3, 0.2])


def moments(group_covariance: np.ndarray, variance: float, sizes: tuple[int, ...]) -> ListMoments:
    groups = len(sizes)
    return ListMoments(group_covariance[None, None], np.full((1, 1, groups), variance), np.array(sizes), SHARES)


def sample_of(words: int, attributes: int) -> tuple[AttributeSample, tuple[str, ...]]:
    data = model_data(small(words, attributes))
    return attribute_sample(data), data.connections


def test_means_of_new_words_have_the_covariance_of_the_list() -> None:
    """Means of 8 words have it exactly, those of 2 more by w (1/2 - 1/8)."""
    covariance = np.array([[0.04, 0.01], [0.01, 0.02]])
    plan, rng = moments(covariance, 0.03, (8, 8)), np.random.default_rng(1)
    group_of = np.repeat([0, 1], [8, 2])
    distances = plan.deviations(0, 0, group_of, plan.loadings(10, rng), 40_000, rng)
    means = np.stack([distances[group_of == group].mean(axis=0) for group in (0, 1)])
    expected = covariance + np.diag([0, 0.03 * (1 / 2 - 1 / 8)])
    np.testing.assert_allclose(np.cov(means), expected, atol=6 * 0.04 / np.sqrt(40_000 / 2))


def test_effects_follow_the_loadings_and_have_their_covariance() -> None:
    covariance, rng = np.diag([0.04, 0.01]), np.random.default_rng(1)
    plan = moments(np.eye(1), 1.0, (8,))
    loadings = plan.loadings(40_000, rng)
    assert np.square(loadings).sum(axis=1).mean() == pytest.approx(1, abs=0.03)
    effects = plan.effects(loadings, covariance, rng)
    np.testing.assert_allclose(np.cov(effects.T), covariance, atol=0.002)
    left = np.linalg.lstsq(loadings, effects, rcond=None)[1]
    assert left == pytest.approx(np.zeros(2), abs=1e-12)


def test_moments_are_those_of_the_fitted_covariances() -> None:
    sample, connections = sample_of(6, 8)
    priors = bb.load_model("multivariate").priors
    drawn = sample_list_means(sample, connections, draws=2000, seed=1, priors=priors).posterior
    of_fit = list_moments(sample, drawn, np.random.default_rng(1))
    variance = np.diagonal(drawn["residual_covariance"], axis1=2, axis2=3)
    covariance = drawn["residual_covariance"]
    first = np.flatnonzero(sample.group_of == 0)
    shared = np.mean([covariance[:, :, a, b] for a in first for b in first if a != b], axis=0)
    around = variance[:, :, first].mean(axis=2) - shared
    np.testing.assert_allclose(of_fit.word_variance[:, :, 0], around, rtol=1e-6)
    # Without them, those of groups are drawn from the same posterior, those of words are those of the table.
    large = list_moments(
        sample, {name: drawn[name] for name in drawn if name != "residual_covariance"}, np.random.default_rng(1)
    )
    sds = [np.sqrt(np.diagonal(one.group_covariance, axis1=2, axis2=3)).mean(axis=0) for one in (of_fit, large)]
    np.testing.assert_allclose(sds[0], sds[1], rtol=0.1)
    words = [one.word_variance.mean(axis=0) for one in (of_fit, large)]
    np.testing.assert_allclose(words[0], words[1], rtol=0.6)


def test_draws_of_an_inverse_chi_square_have_the_mean_sd_of_the_sample() -> None:
    rng = np.random.default_rng(1)
    draws = 4.0 * 7 / rng.chisquare(7, 100_000)[:, None, None]
    assert np.sqrt(draws).mean() > 2.2
    assert np.sqrt(without_inflation(draws, harmonic=True)).mean() == pytest.approx(2, abs=0.01)
    assert 2 < np.sqrt(without_inflation(draws, harmonic=False)).mean() < 2.2


@pytest.mark.parametrize("number", [4, 12])
def test_the_directions_of_loadings_are_as_many_as_those_of_the_table(number: int) -> None:
    """Words that differ in so many equal directions; a table of 16 words and 16 attribute words shows it on average."""
    rng, inverse = np.random.default_rng(1), []
    list_of, group_of = np.repeat([0, 1], 8), np.repeat([0, 1], 8)
    for _ in range(60):
        distances = rng.standard_normal((16, number)) @ rng.standard_normal((number, 16))
        sample = AttributeSample(
            distances,
            list_of,
            ("x", "y"),
            np.zeros(2, int),
            ("stereotype",),
            group_of,
            group_of,
            np.zeros((16, 1, 2)),
            np.ones(16, bool),
        )
        shares = direction_shares(sample)
        assert shares.sum() == pytest.approx(1)
        inverse.append(np.square(shares).sum())
    assert np.mean(inverse) == pytest.approx(1 / number, rel=0.25)


def test_a_group_of_one_word_has_the_share_of_the_others() -> None:
    sample, _ = sample_of(3, 6)  # two words and one
    rng = np.random.default_rng(1)
    root = rng.standard_normal((50, len(sample.lists), 3, 3))
    of_fit = list_moments(sample, {"residual_covariance": root @ np.swapaxes(root, 2, 3)}, rng)
    single = int(np.flatnonzero(np.bincount(sample.group_of) == 1)[0])
    assert (of_fit.word_variance[:, :, single] > 0).all()


def test_lists_are_found_by_connection_and_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountedArray, "comparisons", 0)
    sample, connections = sample_of(4, 3)
    places = dict(places_of_lists(replace(sample, group_of=sample.group_of.view(CountedArray)), connections))
    assert CountedArray.comparisons == 0, "one pass over all words for each group takes quadratic time"
    assert {key: value.tolist() for key, value in places.items() if key[0] != "neutral"} == {
        ("associated", -1): [0, 1], ("associated", 0): [0], ("associated", 1): [1],
        ("different", -1): [0, 1], ("different", 0): [1], ("different", 1): [0],
        ("human", -1): [2], ("human", 0): [2], ("human", 1): [2],
    }  # fmt: skip
