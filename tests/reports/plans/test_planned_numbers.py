"""Marks of numbers beside a frozen plan."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ReportError
from bayesbias.reports.fit_report import FitReport, fitted_study
from bayesbias.reports.plans.planned_numbers import CHANGED, EXPLORATORY, MARK, PLANNED, SECTION
from tests.delivery.page.pages import small_table

FIRST = "associated - different"


@pytest.fixture(scope="module")
def study() -> bb.Study:
    table = small_table()
    return fitted_study(table, table.attrs["bayesbias"], "<s>weather</s>")


def shown(fit: xr.DataTree, study: bb.Study, *, now: dict[str, Any] | None = None, **planned: Any) -> FitReport:
    plan = bb.audits.freeze_plan(study, **{"model": "crossed", "rope": 0.02} | planned)
    return bb.report(fit, table=small_table(), frozen_plan=plan, **{"rope": 0.02} | (now or {}))


def marks(report: FitReport) -> dict[tuple[str, str], str]:
    frame = report.contrasts
    levels = ["word" if row.protected_word else "group" if row.protected_group else "all" for row in frame.itertuples()]
    return dict(zip(zip(frame["contrast"], levels, strict=True), frame[MARK], strict=True))


def kinds(report: FitReport) -> list[str]:
    assert report.planned is not None
    return [statement.kind for statement in report.planned.part.statements]


def changes(report: FitReport) -> list[str]:
    assert report.planned is not None
    return [statement.text for statement in report.planned.part.statements if statement.kind == "change"]


def test_what_the_plan_names_is_planned_and_all_else_exploratory(fitted: xr.DataTree, study: bb.Study) -> None:
    report = shown(fitted, study)
    assert marks(report)[FIRST, "all"] == marks(report)[FIRST, "group"] == PLANNED
    assert marks(report)[FIRST, "word"] == marks(report)["associated - human", "all"] == EXPLORATORY
    assert {"no change", "exploratory", "plan"} <= set(kinds(report))
    assert report.contents.estimate.endswith("This number was planned.")
    assert SECTION.upper() in str(report)
    assert set(report.contents.tables["questions"].frame[MARK]) == {PLANNED}


def test_levels_and_contrasts_are_those_of_the_plan(fitted: xr.DataTree, study: bb.Study) -> None:
    report = shown(fitted, study, contrasts=["associated - human"], levels=["word"])
    assert {key for key, mark in marks(report).items() if mark == PLANNED} == {("associated - human", "word")}
    assert report.contents.estimate.endswith("This number is exploratory: the plan does not name it.")


def test_a_changed_word_is_named_and_marks_all_planned_numbers(fitted: xr.DataTree, study: bb.Study) -> None:
    name, words = next(iter(study.protected.items()))
    planned = replace(study, protected={**study.protected, name: (*words[1:], "breeze")})
    report = shown(fitted, planned)
    (text,) = changes(report)
    assert f"'{words[0]}' was added to '{name}'" in text
    assert f"'breeze' was removed from '{name}'" in text
    assert marks(report)[FIRST, "all"] == CHANGED
    assert marks(report)[FIRST, "word"] == EXPLORATORY
    assert report.contents.estimate.endswith("This number was planned, and the plan was changed since.")


@pytest.mark.parametrize(
    ("planned", "now", "fact"),
    [
        ({"rope": 0.05}, {}, "rope: -0.05 to 0.05 in units of cosine distance in the plan, -0.02 to 0.02"),
        ({"rope": None}, {}, "rope: none in the plan"),
        ({"hdi_prob": 0.95}, {}, "hdi_prob: 0.95 in the plan, 0.89 now"),
        ({"model": "hierarchical"}, {}, "the model was 'hierarchical' and is 'crossed'"),
        (
            {"model": bb.load_model("crossed", priors={"sigma": "HalfNormal(0.2)"})},
            {},
            "the prior of sigma was HalfNormal(sigma=0.2) and is Exponential(rate=2)",
        ),
        ({}, {"hdi_prob": 0.5}, "hdi_prob: 0.89 in the plan, 0.5 now"),
    ],
)
def test_changes_of_region_interval_and_model_are_named(
    fitted: xr.DataTree, study: bb.Study, planned: dict[str, Any], now: dict[str, Any], fact: str
) -> None:
    report = shown(fitted, study, now=now, **planned)
    assert len(changes(report)) == 1
    assert fact in changes(report)[0]
    assert marks(report)[FIRST, "all"] == CHANGED


def test_a_word_can_be_gone_with_a_repeated_row(fitted: xr.DataTree, study: bb.Study) -> None:
    report = shown(fitted, study, rope=0.05)
    assert report.planned is not None
    assert "dropped rows" not in kinds(report)
    assert "dropped rows" in [one.kind for one in replace(report.planned, dropped=3).part.statements]


def test_a_plan_of_another_study_is_refused(fitted: xr.DataTree) -> None:
    with pytest.raises(ReportError, match="about 'weat7', and the result about '<s>weather</s>'"):
        bb.report(fitted, frozen_plan=bb.audits.freeze_plan("weat7"))


def test_an_edited_file_is_said_first(fitted: xr.DataTree, study: bb.Study, tmp_path: Path) -> None:
    plan = bb.audits.freeze_plan(study, model="crossed", rope=0.05)
    path = bb.reports.write_plan(plan, tmp_path / "plan.toml")
    path.write_text(path.read_text(encoding="utf-8").replace("0.05", "0.02"), encoding="utf-8")
    report = bb.report(fitted, table=small_table(), rope=0.02, frozen_plan=path)
    assert (kinds(report)[0], changes(report)) == ("edited plan", [])


def test_without_a_plan_nothing_is_marked(given: FitReport) -> None:
    assert given.planned is None
    assert MARK not in given.contrasts
    assert SECTION not in {part.title for part in given.contents.parts}
