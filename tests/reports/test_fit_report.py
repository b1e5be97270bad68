"""What a page is made from: its rows, and what can be compared."""

import json

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.models.spec import load_model
from bayesbias.reports.fit_report import FitReport, check_request, table_of
from bayesbias.reports.posterior.conclusions import nothing_to_compare
from tests.delivery.page.pages import small_table
from tests.reports.covariates.made import made_fit as fit_with_share
from tests.reports.made import made_fit, made_table


def about(fit: xr.DataTree) -> FitReport:
    return FitReport(fit, table_of(fit, None), None, None, 0.89, 1)


def test_a_given_table_names_the_lists(fitted: xr.DataTree) -> None:
    rebuilt = table_of(fitted, None)
    given = table_of(fitted, small_table())
    assert rebuilt["cosine_distance"].tolist() == given["cosine_distance"].tolist()
    assert rebuilt[["protected_word", "attribute_word"]].equals(given[["protected_word", "attribute_word"]])
    assert set(given["attribute_group"]) == {"warm & <i>", "cold", "human", "neutral"}
    assert rebuilt["attribute_group"].tolist() == given["attribute_group"].tolist()


def test_lists_of_a_bundled_study_are_named_without_a_table(fit: xr.DataTree, table: pd.DataFrame) -> None:
    assert table_of(fit, None)["attribute_group"].tolist() == table["attribute_group"].tolist()


def test_a_table_that_was_not_fitted_is_refused(fitted: xr.DataTree) -> None:
    with pytest.raises(ReportError, match="not the one that was fitted"):
        table_of(fitted, small_table(("associated", "different")))


def test_conclusions_are_those_of_the_fit_and_chosen_by_kind(given: FitReport) -> None:
    expected = bb.conclusions(given.fit, rope=0.02)
    assert given.nothing_to_compare == ""
    assert given.conclusions == expected
    for kind in ("contrast", "question", "group", "words"):
        assert given.statements(kind) == tuple(part.text for part in expected.shown if part.kind == kind) != ()


def test_without_two_kinds_of_words_there_is_nothing_to_compare(controls_only: FitReport) -> None:
    assert controls_only.nothing_to_compare == nothing_to_compare(["neutral"]) != ""
    assert controls_only.statements("contrast") == ()
    alone = about(made_fit(connections=("associated",), draws=20))
    assert alone.nothing_to_compare == nothing_to_compare(["associated"]) != ""


def test_names_and_models_are_those_of_the_fit(given: FitReport) -> None:
    assert given.embedding == "vectors <tiny>"
    assert given.facts["study"] == "<s>weather</s>"
    assert given.spec.name == "crossed"
    assert not given.needs_nuts
    by_nuts = made_fit(draws=20)
    spec = load_model("crossed", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    by_nuts.attrs["model"] = json.dumps(spec.to_dict())
    assert about(by_nuts).needs_nuts
    assert about(by_nuts).embedding == "a table without a source"


def test_a_request_is_judged_before_sampling() -> None:
    table = made_table(("he", "she"))
    check_request(table, hdi_prob=0.5, rope=0.02)
    with pytest.raises(ArgumentError, match="hdi_prob=89"):
        check_request(table, hdi_prob=89)
    with pytest.raises(ArgumentError, match="rope=-1"):
        check_request(table, rope=-1)
    with pytest.raises(ReportError, match="human"):
        check_request(table[table["connection"] == "human"])


def test_a_title_of_ones_own_leaves_study_and_embedding_on_the_page(short_fit: xr.DataTree) -> None:
    own = bb.report(short_fit, title="Do they?", quick=True)
    assert own.title == "Do they?"
    assert own.about.startswith(f"{own.subject}. ")


def test_with_a_covariate_the_answer_is_its_slope_and_the_contrast_follows() -> None:
    fit = fit_with_share()
    report, effect = bb.report(fit, quick=True), bb.covariate_effect(fit)
    contents, slopes = report.contents, effect.contents
    assert (contents.answer, contents.estimate) == (slopes.answer, slopes.estimate)
    row = effect.effects.query("quantity == 'slope' and scope == 'population'").iloc[0]
    assert f"{row['mean']:+.3f} ({row['hdi_low']:+.3f} to {row['hdi_high']:+.3f})" in contents.estimate
    assert contents.answer in str(report).split("\n\n")[1].replace("\n", " ")
    first = contents.sections[0]
    assert first.title == "The contrast over all words"
    assert first.parts[0].statements[0].text.startswith(report.answer.sentence)
    assert next(iter(contents.figures)) == "covariate"


def test_slopes_that_cannot_be_computed_leave_the_contrast_as_the_answer() -> None:
    report = bb.report(fit_with_share(words=3), quick=True)
    assert isinstance(report.slopes, ReportError)
    assert report.contents.answer == report.answer.sentence
    assert report.slope_answer == ()
