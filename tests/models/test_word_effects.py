"""A protected word's effects, and how its mean distances follow from them."""

import numpy as np
import pytest

from bayesbias.models.word_effects import effect_names, effects_basis


@pytest.mark.parametrize("controls", [(), ("human",), ("neutral",), ("human", "neutral")])
def test_level_is_the_mean_of_associated_and_different_and_gap_their_difference(controls: tuple[str, ...]) -> None:
    connections = ("associated", "different", *controls)
    assert effect_names(connections) == ("level", "gap", *controls)
    means = np.random.default_rng(1).normal(size=len(connections))
    level, gap, *others = np.linalg.solve(effects_basis(connections), means)
    assert level == pytest.approx(means[:2].mean())
    assert gap == pytest.approx(means[0] - means[1])
    np.testing.assert_allclose(others, means[2:])


@pytest.mark.parametrize("connections", [("associated",), ("different", "human"), ("associated", "human", "neutral")])
def test_without_both_stereotypes_each_connection_has_an_effect_of_its_own(connections: tuple[str, ...]) -> None:
    assert effect_names(connections) == connections
    np.testing.assert_array_equal(effects_basis(connections), np.eye(len(connections)))
