"""New words like those of a fit: their moments against those of the words that they are like."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.list_means import sample_list_means
from bayesbias.models.multivariate.new_words import (
    ListMoments,
    direction_shares,
    list_moments,
    places_of_lists,
    without_inflation,
)
from tests.models.tables import small

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


def test_lists_are_found_by_connection_and_group() -> None:
    places = dict(places_of_lists(*sample_of(4, 3)))
    assert {key: value.tolist() for key, value in places.items() if key[0] != "neutral"} == {
        ("associated", -1): [0, 1], ("associated", 0): [0], ("associated", 1): [1],
        ("different", -1): [0, 1], ("different", 0): [1], ("different", 1): [0],
        ("human", -1): [2], ("human", 0): [2], ("human", 1): [2],
    }  # fmt: skip
