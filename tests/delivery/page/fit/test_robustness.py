"""Sections that rest on refits: what they do not compute, and conclusions on the edge."""

import json

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base import memory
from bayesbias.delivery.page import page_input
from bayesbias.delivery.page.blocks import Notice
from bayesbias.delivery.page.fit import robustness
from bayesbias.delivery.page.page_input import PageInput, table_of
from bayesbias.models.spec import load_model


def about(fit: xr.DataTree) -> PageInput:
    return PageInput(fit=fit, table=table_of(fit, None), comparison=None, rope=None, hdi_prob=0.89, seed=1)


def test_models_that_need_nuts_are_not_fitted_again(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    robust = fit.copy()
    robust.attrs["model"] = json.dumps(load_model("crossed_robust").to_dict())
    page = about(robust)
    section = robustness.what_it_is_sensitive_to(page)
    (notice,) = section.blocks
    assert isinstance(notice, Notice)
    assert "NUTS" in notice.text

    def compare(_: object, given: list[object], **__: object) -> pd.DataFrame:
        assert given == list(robustness.MODELS)
        frame = pd.DataFrame({"model": ["crossed"], "reading": ["preferred"]})
        numbers = ("elpd_words", "words_diff", "words_diff_se", "elpd_pairs", "pairs_diff", "pairs_diff_se")
        frame[list(numbers)] = 0.0
        frame.attrs = {"advice": (), "seed": 1}
        return frame

    monkeypatch.setattr(robustness, "compare_models", compare)
    assert "not compared here" in robustness.comparison(page).headlines[0]


def test_priors_of_the_fit_are_those_that_are_compared(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, priors={"sigma": "HalfNormal(0.2)"})

    def compare(_: object, given: list[object], **__: object) -> pd.DataFrame:
        raise LookupError(given)

    monkeypatch.setattr(robustness, "compare_models", compare)
    with pytest.raises(LookupError) as caught:
        robustness.comparison(about(fit))
    first, *others = caught.value.args[0]
    assert str(first.priors["sigma"]) == "HalfNormal(sigma=0.2)"
    assert others == ["crossed_per_list", "multivariate"]


def test_what_would_take_hours_or_more_memory_than_there_is_is_not_begun(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = about(fit)
    with monkeypatch.context() as limited:
        limited.setattr(memory, "free_memory", lambda: 100)
        (notice,) = robustness.comparison(page).blocks
        assert isinstance(notice, Notice)
        assert "GB are free" in notice.text
    monkeypatch.setattr(page_input, "_MOST_PAIRS_FITTED", 20 * len(page.table))
    for section in (robustness.comparison, robustness.what_it_is_sensitive_to):
        (notice,) = section(page).blocks
        assert isinstance(notice, Notice)
        assert "would take a page too long. Run bb." in notice.text
    assert page.too_long(20, "") == ""


def test_a_conclusion_on_the_edge_is_said(fit: xr.DataTree) -> None:
    page = about(fit)
    found = bb.contrasts(fit)
    assert not ((found["hdi_high"] < 0) | (found["hdi_low"] > 0)).any()
    refitted = [
        {"contrast": "associated - different", "conclusion": "not settled", "hdi_low": -0.1, "hdi_high": 0.01},
        {"contrast": "associated - human", "conclusion": "nearer", "hdi_low": -0.1, "hdi_high": -0.001},
    ]
    (said,) = robustness._edges(page, refitted)
    assert "'associated - human' is on the edge" in said
    assert "-0.100 to -0.001 in a refit" in said
