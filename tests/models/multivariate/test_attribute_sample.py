"""Lists of attribute words: who belongs to which, and what each weighs."""

from dataclasses import replace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import FitError
from bayesbias.models.data import model_data, subset
from bayesbias.models.multivariate.attribute_sample import (
    attribute_sample,
    effect_names,
    effects_basis,
    group_shares,
    has_both,
)
from tests import third_group
from tests.models.made_lists import list_data


def test_lists_are_those_of_the_table(table: object) -> None:
    data = model_data(table)  # type: ignore[arg-type]
    sample = attribute_sample(data)
    names = [sample.lists[place] for place in sample.list_of]
    assert names == data.attribute_groups.tolist()  # type: ignore[union-attr]
    np.testing.assert_allclose(sample.connection_weights.sum(axis=2), 1)


def test_lists_of_other_groups_weigh_the_same_whatever_their_length() -> None:
    data = list_data(groups=(2, 2, 2), controls=0)
    keep = data.attribute != 0  # the first list is shorter than the others
    sample = attribute_sample(subset(data, keep))
    different = sample.connection_weights[-1, 1]
    assert sorted(different.tolist()) == [0.0, 0.5, 0.5]


def test_lost_pairs_do_not_make_lists() -> None:
    whole, partly = attribute_sample(list_data()), attribute_sample(list_data(lost=0.2))
    assert len(partly.lists) == len(whole.lists) == 3
    assert np.isnan(partly.distances).any()


def test_two_lists_with_the_same_connections_stay_apart() -> None:
    study = bb.Study(
        name="pets",
        protected={"cats": ["cat", "kitten"]},
        attributes={"quiet": ["purr", "nap"], "loud": ["bark", "howl"], "wet": ["swim", "splash"]},
        associated=[("cats", "quiet")],
        human="none",
        neutral="none",
    )
    rng = np.random.default_rng(1)
    words = ["cat", "kitten", "purr", "nap", "bark", "howl", "swim", "splash"]
    vectors = {word: rng.standard_normal(5) for word in words}
    sample = attribute_sample(model_data(bb.distance_table(vectors, study)))
    assert sample.lists == ("quiet", "loud", "wet")
    np.testing.assert_allclose(sample.connection_weights[0, 1], [0, 0.5, 0.5])


def test_repeated_pairs_are_refused() -> None:
    data = list_data()
    with pytest.raises(FitError):
        attribute_sample(replace(data, attribute=np.zeros_like(data.attribute)))


@pytest.mark.parametrize("third", ["none", "both"])
def test_groups_that_are_not_compared_weigh_nothing(third: str) -> None:
    data = model_data(third_group.table(third))
    sample = attribute_sample(data)
    arts, math, people = group_shares(sample)
    assert (people == 0).all()
    np.testing.assert_array_equal(arts, math)
    assert (arts == 0.5).all()
    associated, neutral = data.connections.index("associated"), data.connections.index("neutral")
    assert (has_both(sample, associated, neutral) == (data.protected_groups != "people")).all()


@pytest.mark.parametrize("controls", [(), ("human",), ("neutral",), ("human", "neutral")])
def test_level_is_the_mean_of_associated_and_different_and_contrast_their_difference(controls: tuple[str, ...]) -> None:
    connections = ("associated", "different", *controls)
    assert effect_names(connections) == ("level", "contrast", *controls)
    means = np.random.default_rng(1).normal(size=len(connections))
    level, contrast, *others = np.linalg.solve(effects_basis(connections), means)
    assert level == pytest.approx(means[:2].mean())
    assert contrast == pytest.approx(means[0] - means[1])
    np.testing.assert_allclose(others, means[2:])


@pytest.mark.parametrize("connections", [("associated",), ("different", "human"), ("associated", "human", "neutral")])
def test_without_both_stereotypes_each_connection_has_an_effect_of_its_own(connections: tuple[str, ...]) -> None:
    assert effect_names(connections) == connections
    np.testing.assert_array_equal(effects_basis(connections), np.eye(len(connections)))
