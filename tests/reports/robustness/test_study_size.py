"""How many words a study needs, against widths that are known in closed form."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, FitError, ReportError
from bayesbias.models.samplers import collapsed, exact
from bayesbias.reports.robustness.study_plan import assumed_plan, plan_from_fit
from bayesbias.reports.robustness.study_size import required_words
from tests import third_group
from tests.models.tables import small

ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}


def test_the_width_is_the_one_that_theory_gives() -> None:
    study_sizes = required_words(ASSUMED, width=0.03, sizes=[(100, 10)], samples=5, random_seed=1)
    # Two means of 200 words, each of variance 0.03^2 + 0.06^2 / 10.
    expected = 2 * 1.598 * np.sqrt(2 * (0.03**2 + 0.06**2 / 10) / 200)
    assert study_sizes.frame["mean_width"][0] == pytest.approx(expected, rel=0.08)
    assert study_sizes.frame["pairs"][0] == 200 * 20
    assert study_sizes.frame["mc_se"][0] > 0


def test_the_smallest_sizes_are_marked() -> None:
    sizes = [(40, 20), (5, 5), (40, 40), (5, 5)]
    study_sizes = required_words(ASSUMED, width=0.03, sizes=sizes, samples=6, random_seed=1)
    assert study_sizes.frame["protected_words"].tolist() == [5, 40, 40]
    assert study_sizes.frame["suffices"].tolist() == [False, True, True]
    assert study_sizes.frame["smallest"].tolist() == [False, True, False]
    smallest, independent, caution = study_sizes.statements
    assert smallest.numbers == {"sizes": [{"protected_words": 40, "attribute_words": 20}]}
    assert "40 protected words per group and 20 attribute words per list" in smallest.text
    assert independent.kind == "independent attribute words"
    assert caution.text == bb.load_model("hierarchical").caution
    again = required_words(ASSUMED, width=0.03, sizes=sizes, samples=6, random_seed=1)
    pd.testing.assert_frame_equal(study_sizes.frame, again.frame)
    assert study_sizes.to_dict() == again.to_dict()


def test_attribute_effects_ask_for_more_attribute_words() -> None:
    means = {"associated": 0.9, "different": 0.95, "human": 1.0}
    crossed = {**ASSUMED, "connection_mean": means, "attribute_sd": 0.1, "controls": {"human": 60}}
    keywords = {"width": 0.05, "contrast": "associated - human", "samples": 4, "random_seed": 1}
    study_sizes = required_words(crossed, sizes=[(10, 5), (10, 60)], **keywords)
    assert study_sizes.frame["mean_width"][0] > 1.5 * study_sizes.frame["mean_width"][1]
    assert study_sizes.model == "crossed"
    (none,) = study_sizes.statements
    assert none.kind == "no size suffices"
    assert none.numbers["mean_width"] == study_sizes.frame["mean_width"].min()
    lists = {"stereotype": 0.1, "human": 0.02}
    per_list = required_words({**crossed, "attribute_sd": lists}, sizes=[(10, 60)], **keywords)
    assert per_list.model == "crossed_per_list"


@pytest.mark.parametrize("model", ["crossed", "hierarchical"])
def test_from_a_fit(table: pd.DataFrame, model: str) -> None:
    fit = bb.fit(table, model, draws=200, random_seed=1, progress=False)
    study_sizes = required_words(fit, width=0.1, sizes=[(8, 8), (16, 8)], samples=4, random_seed=1)
    assert study_sizes.frame["mean_width"][0] > study_sizes.frame["mean_width"][1]
    # The size of the study itself gives about the width that it had.
    contrast = bb.contrasts(fit).iloc[0]
    assert study_sizes.frame["mean_width"][0] == pytest.approx(contrast["hdi_high"] - contrast["hdi_low"], rel=0.6)
    assert study_sizes.frame["pairs"][0] == int(fit["constant_data"]["pair_count"].sum())


def test_one_group_has_two_lists() -> None:
    planned = required_words({**ASSUMED, "protected_groups": 1}, width=0.1, sizes=[(6, 4)], samples=3, random_seed=1)
    assert planned.frame["pairs"][0] == 6 * 8


@pytest.mark.parametrize("width", [0, -1, 5, "0.1", float("nan"), True])
def test_impossible_widths(width: float) -> None:
    with pytest.raises(ArgumentError, match="width="):
        required_words(ASSUMED, width=width)


def test_it_is_text_and_html_and_json() -> None:
    study_sizes = required_words(ASSUMED, width=0.03, sizes=[(5, 5)], samples=2, random_seed=1)
    assert "protected_words" in str(study_sizes)
    for statement in study_sizes.statements:
        assert statement.text[:40] in str(study_sizes)
        written = study_sizes.to_dict()
        assert statement.text in (written["answer"], *(entry["text"] for entry in written["answers"]))
    assert "<table" in study_sizes._repr_html_()
    assert json.loads(json.dumps(study_sizes.to_dict()))["tables"]["frame"][0]["pairs"] == 100
    assert repr(study_sizes) == "StudySizes('associated - different', width=0.03, 1 sizes)"


@pytest.mark.parametrize("model", ["hierarchical", "crossed"])
def test_studies_that_cannot_be_fitted_are_left_out_and_counted(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact sampler's check of its grid fails, or the matrix of a crossed posterior is singular."""
    calls = iter(range(100))

    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError

    def sometimes(drawn: exact.GridDraws) -> bool:
        return next(calls) > 3

    assumed = ASSUMED if model == "hierarchical" else {**ASSUMED, "attribute_sd": 0.05}
    monkeypatch.setattr(exact.GridDraws, "good", property(sometimes))
    study_sizes = required_words(assumed, width=0.03, sizes=[(5, 5)], samples=4, random_seed=1)
    assert study_sizes.frame["studies"].tolist() == ([4] if model == "crossed" else [2])  # a grid is looked at twice
    monkeypatch.setattr(exact.GridDraws, "good", property(lambda _: False))
    monkeypatch.setattr(collapsed, "fit_proposal", fails)
    with pytest.raises(ReportError, match=r"5 protected .* 5 attribute"):
        required_words(assumed, width=0.03, sizes=[(5, 5)], samples=3, random_seed=1)


def test_impossible_requests(fit: xr.DataTree) -> None:
    with pytest.raises(ArgumentError, match="'associated - different'"):
        required_words(fit, width=0.1, contrast="associated - differnt")
    with pytest.raises(ArgumentError, match="associated - different, different - associated"):
        required_words(ASSUMED, width=0.1, contrast="associated - human")
    with pytest.raises(ReportError, match="sizes="):
        required_words(ASSUMED, width=0.1, sizes=[(0, 5)])
    with pytest.raises(ReportError, match="20,000,000"):
        required_words(ASSUMED, width=0.1, sizes=[(10**5, 10**5)])
    with pytest.raises(ArgumentError, match="samples=1"):
        required_words(ASSUMED, width=0.1, samples=1)
    with pytest.raises(ArgumentError, match="random_seed=True"):
        required_words(ASSUMED, width=0.1, random_seed=True)
    with pytest.raises(FitError, match="list"):
        required_words([1], width=0.1)


def test_power_is_the_share_of_intervals_on_the_side_of_the_contrast() -> None:
    sizes, settings = [(5, 5), (40, 20)], {"width": 0.03, "samples": 6, "random_seed": 1}
    study_sizes = required_words(ASSUMED, true_contrast=-0.02, sizes=sizes, **settings)
    none = required_words(ASSUMED, sizes=sizes, **settings)
    assert "power" not in none.frame
    few, many = study_sizes.frame["power"]
    assert few < many == 1.0
    assert study_sizes.frame["power_se"].tolist() == pytest.approx([np.sqrt(few * (1 - few) / 6), 0.0])
    assert study_sizes.true_contrast == float(study_sizes.to_dict()["settings"]["True contrast"]) == -0.02
    assert [statement.kind for statement in study_sizes.statements].count("power") == 1
    with pytest.raises(ReportError, match="true_contrast=0"):
        required_words(ASSUMED, true_contrast=0, sizes=sizes, **settings)


def test_a_multivariate_fit_predicts_its_own_width_at_its_own_size(table: pd.DataFrame) -> None:
    """New studies once drew covariances from their prior, and widths were 1.4 times those met (here .036 for .031).

    The eight male words are worth 4.3: covariances drawn from a posterior of so few words have a long tail, and the
    mean width is 1.13 and 1.17 times the fit's own (200 studies, two seeds).
    """
    fit = bb.fit(table, draws=500, random_seed=1, progress=False)
    contrast = bb.contrasts(fit).iloc[0]
    width = contrast["hdi_high"] - contrast["hdi_low"]
    planned = required_words(fit, width=0.03, sizes=[(8, 8)], samples=60, random_seed=1, progress=False)
    frame = planned.frame.iloc[0]
    assert 0.9 < frame["mean_width"] / width < 1.3
    assert frame["mc_se"] < 0.05 * width
    assert frame["pairs"] == int(fit["constant_data"]["pair_count"].sum())


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
