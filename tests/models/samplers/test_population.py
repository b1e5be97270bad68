"""Words like these, from the means of these words."""

import numpy as np

from bayesbias.models.samplers.population import PlainEffects, draw_population
from bayesbias.models.word_effects import effects_basis

CONNECTIONS = ("associated", "different", "human")
HALF_T = (2.0, 0.1)


def without_noise(words: np.ndarray, noise: float = 0.0) -> PlainEffects:
    """The plain effects of words whose attribute words vary by as much as `noise`."""
    effects = words @ np.linalg.inv(effects_basis(CONNECTIONS)).T
    return PlainEffects(effects.T, np.broadcast_to(noise**2 * np.eye(len(words)), (3, len(words), len(words))))


def test_population_is_centred_on_these_words_and_learns_their_spread() -> None:
    rng = np.random.default_rng(1)
    group_of = np.repeat([0, 1], [60, 20])
    words = 0.9 + rng.standard_normal((80, 3)) * np.array([0.05, 0.03, 0.04])
    means = np.broadcast_to(words, (4000, 80, 3)).copy()
    population, covariance, _ = draw_population(
        means, np.ones((80, 3), bool), group_of, CONNECTIONS, HALF_T, without_noise(words), rng
    )
    expected = np.stack([words[group_of == group].mean(axis=0) for group in (0, 1)]).mean(axis=0)
    assert (np.abs(population.mean(axis=0) - expected) < 4 * population.std(axis=0) / np.sqrt(4000)).all()
    centred = words - np.stack([words[group_of == group].mean(axis=0) for group in (0, 1)])[group_of]
    observed = centred.T @ centred / 78
    np.testing.assert_allclose(covariance.mean(axis=0), observed, atol=0.25 * observed.max())
    sd = np.sqrt(np.diag(observed) * (1 / 60 + 1 / 20)) / 2
    np.testing.assert_allclose(population.std(axis=0), sd, rtol=0.12)


def test_a_connection_that_a_word_lacks_follows_from_its_others() -> None:
    rng = np.random.default_rng(2)
    level = 0.1 * rng.standard_normal(40)
    words = 0.9 + level[:, None] + 0.01 * rng.standard_normal((40, 3))
    measured = np.ones((40, 3), bool)
    measured[0, 2] = False
    means = np.where(measured, words, 0.0)[None].repeat(4000, axis=0)
    draw_population(means, measured, np.zeros(40, int), CONNECTIONS, HALF_T, without_noise(words), rng)
    assert abs(means[:, 0, 2].mean() - words[0, 2]) < 3 * means[:, 0, 2].std()
    assert means[:, 0, 2].std() < 0.04


def test_one_word_a_group_has_its_spread_from_the_prior() -> None:
    means = np.full((4000, 2, 3), 0.9)
    group_of, measured = np.array([0, 1]), np.ones((2, 3), bool)
    plain, rng = without_noise(means[0]), np.random.default_rng(3)
    _, covariance, _ = draw_population(means, measured, group_of, CONNECTIONS, HALF_T, plain, rng)
    human_sd = np.sqrt(covariance[:, 2, 2])
    # Half-t with 2 degrees of freedom: its median is 0.816 of the scale.
    assert 0.06 < np.median(human_sd) < 0.11


def test_the_spread_of_words_is_what_attribute_words_do_not_explain() -> None:
    rng = np.random.default_rng(4)
    words = 0.9 + 0.02 * rng.standard_normal((200, 3))
    noisy = words + 0.04 * rng.standard_normal((200, 3)) @ effects_basis(CONNECTIONS).T
    means, group_of = np.broadcast_to(noisy, (4000, 200, 3)).copy(), np.repeat([0, 1], 100)
    plain = without_noise(noisy, 0.04)
    _, _, effect_sd = draw_population(means, np.ones((200, 3), bool), group_of, CONNECTIONS, HALF_T, plain, rng)
    true = (words @ np.linalg.inv(effects_basis(CONNECTIONS)).T).std(axis=0)
    assert (np.abs(effect_sd.mean(axis=0) - true) < 2.5 * effect_sd.std(axis=0)).all()
