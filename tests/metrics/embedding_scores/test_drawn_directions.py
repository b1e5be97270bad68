"""Means along drawn directions: against plain means, powers, and the spread of a Dirichlet."""

import numpy as np
import pytest

from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections, posterior_along
from bayesbias.metrics.embedding_scores.statistics import DRAWS, Quantity


def drawn(coordinates: list[list[float]], directions: np.ndarray) -> DrawnDirections:
    return DrawnDirections(np.array(coordinates, dtype=np.float32), directions.astype(np.float32))


def test_equal_items_have_the_value_of_each_drawn_direction() -> None:
    """Weights are without effect on equal items: only the direction varies."""
    angles = np.linspace(0, np.pi, DRAWS)
    along = drawn([[3.0, 4.0]] * 5, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    projections = 3 * np.cos(angles) + 4 * np.sin(angles)
    for power, expected in ((0.0, projections), (1.0, np.abs(projections)), (2.0, projections**2)):
        quantity = Quantity("bias", "mean", ("bias",), power=power)
        means = posterior_along(quantity, along, np.random.default_rng(1))
        np.testing.assert_allclose(means, expected, atol=1e-4)


def test_one_direction_leaves_the_spread_of_the_bayesian_bootstrap() -> None:
    """Weights are Dirichlet(1, ..., 1): the variance of a mean of n values is their variance / (n + 1) (Rubin 1981)."""
    values = np.arange(9.0)
    along = drawn([[value] for value in values], np.ones((DRAWS, 1)))
    means = posterior_along(Quantity("bias", "mean", ("bias",)), along, np.random.default_rng(1))
    sd = np.sqrt(values.var() / 10)
    assert means.mean() == pytest.approx(4.0, abs=4 * sd / np.sqrt(DRAWS))
    assert means.std() == pytest.approx(sd, rel=4 / np.sqrt(2 * DRAWS))


def test_some_of_the_items() -> None:
    along = drawn([[1.0], [7.0], [7.0]], np.ones((DRAWS, 1)))
    chosen = along.of_items(np.array([1, 2]))
    means = posterior_along(Quantity("bias", "mean", ("bias",)), chosen, np.random.default_rng(1))
    np.testing.assert_allclose(means, 7.0, atol=1e-5)
