"""Plain averages, against means of frames."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.models.data import model_data
from bayesbias.reports.posterior.plain_differences import group_weights, plain_difference, plain_means
from tests.reports.made import CONNECTIONS, made_table


def test_plain_means_give_lists_equal_weights_and_missing_connections_nan() -> None:
    table = made_table(("he", "she"))
    table.loc[table["attribute_word"] == "human0", "attribute_group"] = "another list"
    table = table[~((table["protected_word"] == "she") & (table["connection"] == "neutral"))].reset_index(drop=True)
    rows = model_data(table)
    by_list = table.groupby(["protected_word", "connection", "attribute_group"])["cosine_distance"].mean()
    expected = by_list.groupby(level=[0, 1]).mean().unstack().loc[rows.protected_words.tolist(), list(CONNECTIONS)]
    assert expected.isna().to_numpy().sum() == 1
    plain_human = table[(table["protected_word"] == "he") & (table["connection"] == "human")]["cosine_distance"].mean()
    assert expected.loc["he", "human"] != pytest.approx(plain_human, abs=1e-3)
    np.testing.assert_allclose(plain_means(rows), expected.to_numpy())


def test_groups_have_equal_weights_whatever_their_sizes() -> None:
    groups = np.array(["a", "b", "b", "b", "c"])
    weights = group_weights(groups)
    assert pd.Series(weights).groupby(groups).sum().tolist() == pytest.approx([1 / 3] * 3)
    assert weights[1] == weights[2] == weights[3]


def test_words_without_one_side_do_not_count() -> None:
    baseline, other = np.array([0.9, 0.8, np.nan, 0.2]), np.array([0.7, np.nan, 0.5, 0.1])
    assert plain_difference(baseline, other, np.array(["a", "a", "b", "b"])) == pytest.approx((0.2 + 0.1) / 2)
    assert np.isnan(plain_difference(baseline[1:3], other[1:3], np.array(["a", "b"])))
