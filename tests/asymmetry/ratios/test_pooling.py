"""Partial pooling: against numerical integration of the same model."""

import numpy as np

from bayesbias.asymmetry.ratios.pooling import Means, draw_pooled


def test_pooled_draws_are_those_of_the_model_on_a_grid() -> None:
    """Numerical integration over mu and omega, of two relations with errors that are all but known."""
    means = Means(np.array([1.0, -0.5]), np.array([0.2, 0.4]), np.array([1e9, 1e9]))
    drawn = draw_pooled(means, 40_000, 1.0, np.random.default_rng(4))
    mu, omega = np.meshgrid(np.linspace(-8, 8, 801), (np.arange(600) + 0.5) / 200, indexing="ij")
    spread = means.variances[:, None, None] + omega**2
    logs = -((means.values[:, None, None] - mu) ** 2) / spread / 2 - np.log(spread) / 2
    weights = np.exp(logs.sum(axis=0) - omega**2 / 2)
    weights /= weights.sum()
    kept = omega**2 / spread
    expected = (weights * (mu + kept * (means.values[:, None, None] - mu))).sum(axis=(1, 2))
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=5 * drawn.std(axis=0).max() / 200)
