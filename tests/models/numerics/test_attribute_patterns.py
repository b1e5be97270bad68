"""Sufficient statistics of the crossed models."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.numerics.attribute_patterns import find_patterns
from tests.models.tables import small, with_gaps


def test_attributes_with_the_same_rows_share_a_pattern() -> None:
    data = with_gaps(3)
    whole, gaps = (
        find_patterns(model_data(table), bb.load_model("crossed")) for table in (small(seed=3), small(seed=3))
    )
    assert len(whole.members) == len(gaps.members) == 4
    patterns = find_patterns(data, bb.load_model("crossed"))
    assert len(patterns.members) == 6
    assert patterns.members.sum() == len(data.attribute_words)
    np.testing.assert_array_equal(patterns.usage @ patterns.members, patterns.rows)


@pytest.mark.parametrize("name", ["crossed", "crossed_per_list"])
def test_the_sums_are_those_of_the_rows(name: str) -> None:
    """Each number written out by loops over the table; distances are counted from the prior mean, 1."""
    data = with_gaps(4)
    patterns = find_patterns(data, bb.load_model(name))
    count = len(data.connections)
    distance = data.distance - 1
    for cell in range(len(data.protected_words) * count):
        mine = (data.protected == cell // count) & (data.connection == cell % count)
        assert patterns.rows[cell] == mine.sum()
        assert patterns.mean[cell] == pytest.approx(distance[mine].mean() if mine.any() else 0)
    residual = distance - patterns.mean[data.protected.astype(int) * count + data.connection]
    for g in range(count):
        assert patterns.within[g] == pytest.approx(np.square(residual[data.connection == g]).sum())
        assert patterns.totals[g] == (data.connection == g).sum()
        for attribute in range(len(data.attribute_words)):
            mine = (data.attribute == attribute) & (data.connection == g)
            assert patterns.residual[attribute, g] == pytest.approx(residual[mine].sum())
            assert patterns.usage_by_connection[patterns.pattern[attribute], g] == mine.sum()
