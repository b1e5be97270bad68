"""Lost pairs and weights, against conditional distributions that are written out."""

import numpy as np

from bayesbias.models.multivariate.completion import draw_freedom, draw_weights, fill_lost_pairs, lost_pairs
from bayesbias.models.priors import parse_prior

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
