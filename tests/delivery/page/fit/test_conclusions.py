"""The last sections: conclusions, settings, and code that repeats the page."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.page.blocks import Bullets, Notice, Paragraph, Table, Verbatim
from bayesbias.delivery.page.fit import conclusions
from bayesbias.delivery.page.fit.question_and_data import question_section
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.fit_report import FitReport


def test_every_statement_is_shown(given: FitReport) -> None:
    conclusion_texts = given.conclusions
    section = conclusions.conclusions_section(given)
    assert section.blocks[0] == Paragraph(conclusion_texts.verdict.text)
    shown, limits = [block.entries for block in section.blocks if isinstance(block, Bullets)]
    assert shown == tuple(statement.text for statement in conclusion_texts.shown)
    assert limits == tuple(statement.text for statement in conclusion_texts.limits)


def test_without_contrasts_nothing_is_concluded(controls_only: FitReport) -> None:
    (notice,) = conclusions.conclusions_section(controls_only).blocks
    assert isinstance(notice, Notice)
    assert controls_only.nothing_to_compare in notice.text


def test_settings_study_and_code_are_those_of_the_fit(given: FitReport, tmp_path: Path) -> None:
    blocks = conclusions.reproduction_section(given).blocks
    settings = dict(next(block for block in blocks if isinstance(block, Table)).rows)
    assert settings["Draws"] == "200 in each of 2 chains"
    assert settings["Region of practical equivalence"] == "0.02"
    assert settings["Table hash"] == fit_attribute(given.fit, "table_hash")
    study, code = (block.text for block in blocks if isinstance(block, Verbatim))
    calls = {node.func.attr: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)}  # type: ignore[attr-defined]
    assert list(calls) == ["load_study", "load_embedding", "distance_table", "fit", "report", "write"]
    options = {option.arg: ast.literal_eval(option.value) for option in calls["fit"].keywords}
    assert options["random_seed"] == 4
    assert ast.literal_eval(calls["load_study"].args[0]) == "_s_weather_s_.toml"
    path = tmp_path / "study.toml"
    path.write_text(study, encoding="utf-8")
    read, fitted_study = bb.load_study(path), given.own_study
    assert read == fitted_study
    table = given.table
    for kind, lists in (("protected", read.protected), ("attribute", read.attribute_lists)):
        lost = {entry["word"] for entry in given.facts["lost_words"] if entry["role"] == kind}
        assert {word for words in lists.values() for word in words} == set(table[f"{kind}_word"]) | lost


def test_a_table_without_a_study_is_read_from_its_file(controls_only: FitReport) -> None:
    fit = controls_only.fit.copy()
    fit.attrs["table"] = '{"source": "my \\"table\\".csv"}'
    code = conclusions.reproduction_section(replace(controls_only, fit=fit)).blocks[-1].text  # type: ignore[union-attr]
    assert 'table = bb.read_table("my \\"table\\".csv")' in code
    ast.parse(code)


def test_how_to_cite(given: FitReport, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    def texts() -> str:
        return " ".join(block.text for block in conclusions.citation_section(given).blocks)  # type: ignore[union-attr]

    assert "cff-version: 1.2.0" in texts()
    assert "Dobrzeniecka" in texts()
    monkeypatch.setattr(conclusions, "_CITATION", tmp_path / "none")
    assert "The bayesbias developers" in texts()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "change",
    [
        {"associated": [("math", "female"), ("arts", "male")]},
        {"human": "none"},
        {"questions": {"q": [("math", "male"), ("arts", "male")]}},
    ],
)
def test_a_study_with_the_name_of_a_bundled_one_is_printed_where_it_differs(change: dict[str, Any]) -> None:
    bundled = bb.load_study("weat7")
    given = {"associated": bundled.associated, "human": bundled.human, "neutral": bundled.neutral} | change
    study = bb.Study(name="weat7", protected=bundled.protected, attributes=bundled.attributes, **given)
    rng = np.random.default_rng(1)
    vectors = dict(zip(bundled.words, rng.normal(size=(len(bundled.words), 9)), strict=True))
    for fitted_study, printed in ((bundled, False), (study, True)):
        table = bb.distance_table(vectors, fitted_study)
        fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, progress=False)
        page = FitReport(fit=fit, table=table, comparison=None, rope=None, hdi_prob=0.89, random_seed=1)
        texts = [block.text for block in conclusions.reproduction_section(page).blocks if isinstance(block, Verbatim)]
        assert len(texts) == 1 + printed
        shown = " ".join(str(block) for block in question_section(page).blocks)
        assert (bundled.description in shown) is not printed
        if printed:
            assert page.own_study == study


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_other_priors_are_repeated(given: FitReport) -> None:
    table = bb.models.fitted_table(given.fit)
    fit = bb.fit(
        table, "hierarchical", priors={"sigma": "HalfNormal(0.2)"}, draws=50, chains=2, random_seed=1, progress=False
    )
    page = FitReport(fit=fit, table=table, comparison=None, rope=None, hdi_prob=0.89, random_seed=1)
    code = conclusions.reproduction_section(page).blocks[-1].text  # type: ignore[union-attr]
    assert 'priors={"sigma": "HalfNormal(sigma=0.2)"}' in code
    assert "priors" not in conclusions.reproduction_section(given).blocks[-1].text  # type: ignore[union-attr]
