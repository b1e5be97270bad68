"""Sections on robustness: what they say is what the checks return; what is not computed; conclusions on the edge."""

import json

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.machine import memory
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Paragraph, Section, Table
from bayesbias.delivery.page.fit import robustness
from bayesbias.delivery.page.fit.robustness import PRIOR_SAMPLES, predictions_section, priors_section, sampler_section
from bayesbias.models.spec import load_model
from bayesbias.reports import fit_report
from bayesbias.reports.fit_report import FitReport, table_of
from bayesbias.reports.robustness.model_comparison import ModelComparison
from tests.delivery.page.pages import small_table


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    return bb.fit(small_table(), "hierarchical", draws=100, chains=2, random_seed=1, progress=False)


def page_of(fitted: xr.DataTree) -> FitReport:
    return FitReport(fitted, small_table(), None, None, 0.89, 1)


def of_kind(section: Section, kind: type) -> list:
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_sampler(fitted: xr.DataTree) -> None:
    section = sampler_section(page_of(fitted))
    assert "200 draws (100 in each of 2 chains)" in section.headlines[0]
    doubtful = fitted.copy(deep=True)
    doubtful.attrs["convergence_problems"] = '["R-hat is high."]'
    section = sampler_section(page_of(doubtful))
    assert len(of_kind(section, Notice)) == 1
    assert of_kind(section, Bullets)[0].entries == ("R-hat is high.",)


@pytest.mark.parametrize("doubtful", [False, True])
def test_problems_of_the_predictions_are_those_of_the_check(fitted: xr.DataTree, doubtful: bool) -> None:
    fit = fitted.copy(deep=True)
    if doubtful:
        fit.attrs["convergence_problems"] = '["R-hat is high."]'
    problems = bb.check_posterior(fit, random_seed=1).problems
    assert bool(problems) or not doubtful
    section = predictions_section(page_of(fit))
    shown = [entry for bullets in of_kind(section, Bullets) for entry in bullets.entries]
    assert shown == [problem.text for problem in problems]
    assert section.headlines[0].endswith("found faults, listed there." if problems else "found no fault.")
    assert len(of_kind(section, Figure)) == 1
    assert [table.caption.split(" ")[0] for table in of_kind(section, Table)] == ["Shares", "Statistics"]


def test_problems_of_the_priors_are_those_of_the_check(fitted: xr.DataTree) -> None:
    check = bb.check_prior(small_table(), "hierarchical", samples=PRIOR_SAMPLES, random_seed=1)
    section = priors_section(page_of(fitted))
    assert of_kind(section, Bullets)[0].entries == tuple(problem.text for problem in check.problems)
    assert f"samples {PRIOR_SAMPLES}; random seed 1." in of_kind(section, Paragraph)[-1].text


def about(fit: xr.DataTree) -> FitReport:
    return FitReport(fit=fit, table=table_of(fit, None), comparison=None, rope=None, hdi_prob=0.89, random_seed=1)


def test_models_that_need_nuts_are_not_fitted_again(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    by_nuts = fit.copy()
    spec = load_model("crossed", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    by_nuts.attrs["model"] = json.dumps({**spec.to_dict(), "name": "by NUTS"})
    page = about(by_nuts)
    section = robustness.sensitivity_section(page)
    (notice,) = section.blocks
    assert isinstance(notice, Notice)
    assert "NUTS" in notice.text

    def compare(_: object, given: list[object], **__: object) -> ModelComparison:
        assert given == list(robustness.MODELS)
        frame = pd.DataFrame({"model": ["crossed"], "reading": ["preferred"]})
        numbers = ("elpd_words", "words_diff", "words_diff_se", "elpd_pairs", "pairs_diff", "pairs_diff_se")
        frame[list(numbers)] = 0.0
        row = {"contrast": "associated - different", "mean": -0.5, "sd": 0.1, "hdi_low": -0.7, "hdi_high": -0.3}
        rows = pd.DataFrame([{"model": "crossed", **row, "observed": -0.4}])
        return ModelComparison(frame, rows, {}, (), random_seed=1, hdi_prob=0.89, draws=2000)

    monkeypatch.setattr(robustness, "compare_models", compare)
    headlines = robustness.comparison_section(page).headlines
    assert "not compared here" in headlines[0]
    assert "-0.500 (-0.700 to -0.300) in crossed" in headlines[1]


def test_priors_of_the_fit_are_those_that_are_compared(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, priors={"sigma": "HalfNormal(0.2)"})

    def compare(_: object, given: list[object], **__: object) -> ModelComparison:
        raise LookupError(given)

    monkeypatch.setattr(robustness, "compare_models", compare)
    with pytest.raises(LookupError) as caught:
        robustness.comparison_section(about(fit))
    first, *others = caught.value.args[0]
    assert str(first.priors["sigma"]) == "HalfNormal(sigma=0.2)"
    assert others == ["crossed_per_list", "multivariate"]


def test_what_would_take_hours_or_more_memory_than_there_is_is_not_begun(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = about(fit)
    with monkeypatch.context() as limited:
        limited.setattr(memory, "free_memory", lambda: 100)
        (notice,) = robustness.comparison_section(page).blocks
        assert isinstance(notice, Notice)
        assert "GB are free" in notice.text
    monkeypatch.setattr(fit_report, "_MOST_PAIRS_FITTED", 20 * len(page.table))
    for section in (robustness.comparison_section, robustness.sensitivity_section):
        (notice,) = section(page).blocks
        assert isinstance(notice, Notice)
        assert "too long. Run bb." in notice.text
    assert page.skip_reason(20, "") == ""


def test_a_conclusion_on_the_edge_is_said(fit: xr.DataTree) -> None:
    page = about(fit)
    fitted_contrasts = bb.contrasts(fit)
    assert not ((fitted_contrasts["hdi_high"] < 0) | (fitted_contrasts["hdi_low"] > 0)).any()
    refitted = [
        {"contrast": "associated - different", "conclusion": "not settled", "hdi_low": -0.1, "hdi_high": 0.01},
        {"contrast": "associated - human", "conclusion": "nearer", "hdi_low": -0.1, "hdi_high": -0.001},
    ]
    (edge,) = robustness._edges(page, pd.DataFrame(refitted))
    assert "'associated - human' is on the edge" in edge
    assert "-0.100 to -0.001 in a refit" in edge
