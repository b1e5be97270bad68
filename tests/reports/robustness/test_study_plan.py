"""What studies are simulated from; `test_study_size.py` tests plans of fits."""

import pytest

from bayesbias.errors import ReportError
from bayesbias.reports.robustness.study_plan import assumed_plan

ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}


def test_a_study_of_two_groups_has_a_list_for_each_and_all_pairs() -> None:
    plan = assumed_plan(ASSUMED)
    assert list(plan.lists(4)) == [("stereotype", 0, 4), ("stereotype", 1, 4)]
    assert plan.pairs(3, 4) == 2 * 3 * 2 * 4


def test_a_name_that_no_assumed_model_has_is_refused() -> None:
    with pytest.raises(ReportError, match="has no 'word_sds'"):
        assumed_plan({**ASSUMED, "word_sds": 1})
