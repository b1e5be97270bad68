"""Plans of studies, from a fit's posterior and model, or from assumed values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.robustness.study_plan import assumed_plan, plan_from_fit
from tests import third_group
from tests.models.tables import small

ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}


def test_a_plan_from_a_fit_has_its_posterior_its_words_and_its_models_caution(fit: xr.DataTree) -> None:
    plan = plan_from_fit(fit)
    assert plan.spec == bb.load_model("hierarchical")
    assert plan.spec.caution
    posterior = fit["posterior"].to_dataset()
    for name in ("connection_mean", "word_sd", "sigma"):
        drawn = posterior[name].stack(sample=("chain", "draw")).transpose("sample", "connection")
        np.testing.assert_array_equal(getattr(plan, name), drawn)
    assert not plan.attribute_sd.any()
    assert plan.groups == 2
    # WEAT 7: human and neutral words of the study, as many as the table has.
    rows = bb.models.fitted_table(fit)
    count = rows.groupby("connection", observed=True)["attribute_word"].nunique()
    assert plan.controls == {name: count[name] for name in ("human", "neutral")}


@pytest.mark.parametrize("model", ["crossed", "crossed_per_list"])
def test_numbers_that_connections_share_are_repeated(table: pd.DataFrame, model: str) -> None:
    fit = bb.fit(table, model, draws=50, random_seed=1, progress=False)
    plan, posterior = plan_from_fit(fit), fit["posterior"].to_dataset().stack(sample=("chain", "draw"))
    kinds = ["stereotype", "stereotype", "human", "neutral"]
    for place in range(4):
        sd = posterior["attribute_sd"]
        expected = sd.sel(attribute_list=kinds[place]) if model == "crossed_per_list" else sd
        np.testing.assert_array_equal(plan.attribute_sd[:, place], expected)


def test_assumed_values_choose_the_model() -> None:
    assert assumed_plan(ASSUMED).spec.name == "hierarchical"
    assert assumed_plan({**ASSUMED, "attribute_sd": 0.1}).spec.name == "crossed"
    plan = assumed_plan({**ASSUMED, "attribute_sd": {"stereotype": 0.1}, "controls": {"human": 7}})
    assert plan.spec.name == "crossed_per_list"
    assert plan.attribute_sd.tolist() == [[0.1, 0.1]]
    assert plan.sigma.tolist() == [[0.06, 0.06]]
    assert list(plan.lists(5)) == [("stereotype", 0, 5), ("stereotype", 1, 5)]
    assert list(assumed_plan({**ASSUMED, "protected_groups": 1}).lists(5)) == [
        ("associated", 0, 5),
        ("different", 0, 5),
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"connection_mean": {"associated": 1.0}, "word_sd": 0.1}, "sigma"),
        ({**ASSUMED, "words_sd": 1}, "'words_sd'.*'word_sd'"),
        ({**ASSUMED, "group_mean": 1}, "'group_mean'.*'connection_mean'"),
        ({**ASSUMED, "sigma": 0}, "sigma of 'associated'=0"),
        ({**ASSUMED, "sigma": {"associated": 0.1}}, "sigma .*'different'"),
        ({**ASSUMED, "connection_mean": 0.9}, "connection_mean=0.9"),
        ({**ASSUMED, "connection_mean": {"asociated": 0.9}}, "'asociated'.*'associated'"),
        ({**ASSUMED, "protected_groups": 0}, "protected_groups=0"),
        ({**ASSUMED, "controls": {"humans": 5}}, "'humans'.*'human'"),
        ({**ASSUMED, "controls": {"human": 0}}, "controls of 'human'=0"),
        ({**ASSUMED, "controls": 3}, "controls=3"),
    ],
)
def test_unusable_values_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises((ReportError, ArgumentError), match=message):
        assumed_plan(values)


def test_models_without_a_plan_are_refused(table: pd.DataFrame) -> None:
    fit = bb.fit(table, "no_pooling", draws=50, random_seed=1, progress=False)
    with pytest.raises(ReportError, match=r"'no_pooling'.*word_sd"):
        plan_from_fit(fit)


@pytest.mark.parametrize("model", ["multivariate", "crossed_per_list"])
def test_a_plan_has_the_groups_that_are_compared(model: str) -> None:
    fit = bb.fit(third_group.table("none"), model, draws=100, random_seed=1, progress=False)
    assert plan_from_fit(fit).groups == 2


def test_a_list_is_worth_as_many_words_as_its_design_effect_leaves() -> None:
    plan = assumed_plan(ASSUMED)
    assert [plan.independent_words(count) for count in (1, 2, 8)] == [1, 2, 8]
    shared = replace(plan, design_effect=2.5)
    assert [shared.independent_words(count) for count in (1, 2, 8, 40)] == [1, 2, 3, 16]
    assert shared.pairs(5, 8) == plan.pairs(5, 8) == 2 * 5 * 16


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
@pytest.mark.parametrize("model", ["multivariate", "multivariate_robust"])
def test_words_of_a_multivariate_fit_are_like_those_of_its_lists(short_table: pd.DataFrame, model: str) -> None:
    plan = plan_from_fit(bb.fit(short_table, model, draws=50, chains=2, random_seed=1, progress=False))
    assert plan.vectors is not None
    assert (plan.vectors.nu is None) == (model == "multivariate")
    assert [plan.vectors.like("stereotype", group).tolist() for group in (0, 1)] == [[1], [0]]
    assert plan.vectors.like("stereotype", 2).tolist() == [0, 1]  # no list of its own: like any of them
    assert len(plan.vectors.moments.group_covariance) == len(plan.connection_mean)


def test_groups_of_one_word_have_no_plan() -> None:
    fit = bb.fit(small(2, 4), draws=50, chains=2, random_seed=1, progress=False)
    with pytest.raises(ReportError, match="Each protected group of this fit has one word"):
        plan_from_fit(fit)
