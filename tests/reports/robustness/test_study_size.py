"""How many words a study needs, against widths that are known in closed form."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, ReportError
from bayesbias.reports.robustness.study_size import required_words

ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}


def test_the_width_is_the_one_that_theory_gives() -> None:
    found = required_words(ASSUMED, width=0.03, sizes=[(100, 10)], replicates=5, random_seed=1)
    # Two means of 200 words, each of variance 0.03^2 + 0.06^2 / 10.
    expected = 2 * 1.598 * np.sqrt(2 * (0.03**2 + 0.06**2 / 10) / 200)
    assert found["mean_width"][0] == pytest.approx(expected, rel=0.08)
    assert found["pairs"][0] == 200 * 20
    assert found["mc_se"][0] > 0


def test_the_smallest_sizes_are_marked() -> None:
    sizes = [(40, 20), (5, 5), (40, 40), (5, 5)]
    found = required_words(ASSUMED, width=0.03, sizes=sizes, replicates=6, random_seed=1)
    assert found["protected_words"].tolist() == [5, 40, 40]
    assert found["suffices"].tolist() == [False, True, True]
    assert found["smallest"].tolist() == [False, True, False]
    assert "40 protected words a group with 20 attribute words a list" in found.attrs["reading"]
    assert "treats attribute words as independent" in found.attrs["reading"]
    again = required_words(ASSUMED, width=0.03, sizes=sizes, replicates=6, random_seed=1)
    pd.testing.assert_frame_equal(found, again)


def test_attribute_effects_ask_for_more_attribute_words() -> None:
    means = {"associated": 0.9, "different": 0.95, "human": 1.0}
    crossed = {**ASSUMED, "connection_mean": means, "attribute_sd": 0.1, "controls": {"human": 60}}
    keywords = {"width": 0.05, "contrast": "associated - human", "replicates": 4, "random_seed": 1}
    found = required_words(crossed, sizes=[(10, 5), (10, 60)], **keywords)
    assert found["mean_width"][0] > 1.5 * found["mean_width"][1]
    assert found.attrs["model"] == "crossed"
    assert "None of the sizes tried" in found.attrs["reading"]
    lists = {"stereotype": 0.1, "human": 0.02}
    per_list = required_words({**crossed, "attribute_sd": lists}, sizes=[(10, 60)], **keywords)
    assert per_list.attrs["model"] == "crossed_per_list"


@pytest.mark.parametrize("model", ["crossed", "hierarchical", "hierarchical_common_scale"])
def test_from_a_fit(table: pd.DataFrame, model: str) -> None:
    fit = bb.fit(table, model, draws=200, random_seed=1, progress=False)
    found = required_words(fit, width=0.1, sizes=[(8, 8), (16, 8)], replicates=4, random_seed=1)
    assert found["mean_width"][0] > found["mean_width"][1]
    # The size of the study itself gives about the width that it had.
    own = bb.contrasts(fit).iloc[0]
    assert found["mean_width"][0] == pytest.approx(own["hdi_high"] - own["hdi_low"], rel=0.6)
    assert found["pairs"][0] == int(fit["constant_data"]["pair_count"].sum())


def test_one_group_has_two_lists() -> None:
    found = required_words({**ASSUMED, "protected_groups": 1}, width=0.1, sizes=[(6, 4)], replicates=3, random_seed=1)
    assert found["pairs"][0] == 6 * 8


@pytest.mark.parametrize("width", [0, -1, 5, "0.1", float("nan"), True])
def test_impossible_widths(width: float) -> None:
    with pytest.raises(ReportError, match="width="):
        required_words(ASSUMED, width=width)


def test_impossible_requests(fit: xr.DataTree) -> None:
    with pytest.raises(ReportError, match="did you mean 'different'"):
        required_words(fit, width=0.1, contrast="associated - differnt")
    with pytest.raises(ReportError, match="no connection 'human'; it has associated, different"):
        required_words(ASSUMED, width=0.1, contrast="associated - human")
    with pytest.raises(ReportError, match="two connections with a minus"):
        required_words(ASSUMED, width=0.1, contrast="associated")
    with pytest.raises(ReportError, match="sizes="):
        required_words(ASSUMED, width=0.1, sizes=[(0, 5)])
    with pytest.raises(ReportError, match="pairs, more than"):
        required_words(ASSUMED, width=0.1, sizes=[(10**5, 10**5)])
    with pytest.raises(ReportError, match="replicates=1"):
        required_words(ASSUMED, width=0.1, replicates=1)
    with pytest.raises(ReportError, match="no sigma"):
        required_words({"connection_mean": {"associated": 1.0}, "word_sd": 0.1}, width=0.1)
    with pytest.raises(ReportError, match="did you mean 'word_sd'"):
        required_words({**ASSUMED, "words_sd": 1}, width=0.1)
    with pytest.raises(ReportError, match="sigma of 'associated' is 0"):
        required_words({**ASSUMED, "sigma": 0}, width=0.1)
    with pytest.raises(FitError, match="not list"):
        required_words([1], width=0.1)


def test_models_that_do_not_tell(table: pd.DataFrame) -> None:
    fit = bb.fit(table, "no_pooling", draws=50, random_seed=1, progress=False)
    with pytest.raises(ReportError, match="no word_sd"):
        required_words(fit, width=0.1)
