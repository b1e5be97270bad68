"""Tests on many samples at once, against the tests on one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.reports.robustness.list_tests import list_tests, weat_lists
from bayesbias.reports.robustness.random_lists import random_lists
from tests.reports.random_letters import noise, study


def test_each_sample_has_the_numbers_of_its_own_table() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    lists = random_lists(embedding, letters, data, vocabulary=None, match=None, window=1000)
    tables = list(lists.tables(3, np.random.default_rng(1)))
    weat = weat_lists(letters, data)
    assert weat is not None
    frames = list_tests(np.stack([distances for _, distances in tables]), lists, weat, seed=1)
    by_method = {frame["method"].iloc[0]: frame for frame in frames}
    assert list(by_method) == ["weat", "t_test_preaveraged", "t_test_raw", "mac_t_test"]
    for sample, (table, distances) in enumerate(tables):
        near, far = (
            table.distance[table.connection == table.connections.index(name)] for name in ("associated", "different")
        )
        raw = by_method["t_test_raw"].iloc[sample]
        assert raw["value"] == pytest.approx(near.mean() - far.mean())
        assert raw["p_value"] == pytest.approx(stats.ttest_ind(near, far, equal_var=False).pvalue)
        averages = [distances[:, members].mean(axis=1) for members in lists.members]
        mac = by_method["mac_t_test"].iloc[sample]
        assert mac["value"] == pytest.approx(np.mean(averages) - 1)
        assert mac["p_value"] == pytest.approx(stats.ttest_1samp(np.concatenate(averages), 1).pvalue)
        similarity = 1 - distances
        s_x, s_y = (
            similarity[group][:, weat.a].mean(axis=1) - similarity[group][:, weat.b].mean(axis=1)
            for group in (weat.x, weat.y)
        )
        effect = (s_x.mean() - s_y.mean()) / np.concatenate([s_x, s_y]).std(ddof=1)
        assert by_method["weat"].iloc[sample]["value"] == pytest.approx(effect)
    for frame in frames:
        assert (frame["claims"] == (frame["p_value"] < 0.05)).all()


def test_weat_needs_two_groups_with_a_list_of_their_own() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    assert weat_lists(letters, data) is not None
    shared = replace(letters, associated=[("x0", "a0"), ("x1", "a0")], neutral="none")
    assert weat_lists(shared, data) is None
    three = study(embedding, groups=3)
    assert weat_lists(three, model_data(bb.distance_table(embedding, three))) is None
