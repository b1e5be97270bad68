"""Adam: the paper's algorithm, one weight at a time."""

import numpy as np

from bayesbias.debias.by_word.adam import Adam


def test_adam_is_the_algorithm_of_the_paper() -> None:
    """Kingma and Ba (2015), algorithm 1, for the gradient 2 (w - 1) of two weights."""
    weights, adam = {"a": np.array([3.0]), "b": np.array([-2.0, 0.5])}, Adam(0.1)
    expected = np.array([3.0, -2.0, 0.5])
    m, v = np.zeros(3), np.zeros(3)
    for t in range(1, 31):
        adam.update(weights, {name: 2 * (values - 1) for name, values in weights.items()})
        gradient = 2 * (expected - 1)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        expected = expected - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose([*weights["a"], *weights["b"]], expected, rtol=1e-5)
