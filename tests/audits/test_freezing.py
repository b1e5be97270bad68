"""Plans of studies and audits, and audits beside them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.audits.audit_report import AuditReport
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.plans.planned_numbers import CHANGED, EXPLORATORY, MARK, PLANNED

ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}
AUDIT = """
studies = ["weat7", "gender"]
measures = ["mac", "rnd"]
model = "none"
{more}
[embeddings]
Wikipedia = "no such file.npz"
"""


def frozen(folder: Path, more: str = "", **options: Any) -> bb.reports.FrozenPlan:
    path = folder / "audit.toml"
    path.write_text(AUDIT.format(more=more), encoding="utf-8")
    return bb.audits.freeze_plan(path, **options)


def audited(studies: list[str], **options: Any) -> bb.audits.AuditFrame:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    settings: dict[str, Any] = {"model": None, "progress": False} | options
    return bb.audit({"Wikipedia": vectors}, studies, ["mac", "ect"], **settings)


def test_no_vectors_are_read(tmp_path: Path) -> None:
    plan = frozen(tmp_path, "hdi_prob = 0.5\nmax_lost = 0.3\ncase = 'lower'")
    assert (plan.embeddings, tuple(plan.studies), plan.measures) == (
        ("Wikipedia",),
        ("weat7", "gender"),
        ("mac", "rnd"),
    )
    assert (plan.record.hdi_prob, plan.contrasts, plan.models) == (0.5, (), {})
    assert plan.settings == {"Case rules": "lower", "Largest share of lost words": "0.3"}


def test_an_audit_without_controls_plans_none(tmp_path: Path) -> None:
    assert frozen(tmp_path, "controls = false").studies["weat7"].neutral == ()


def test_settings_of_an_audit_are_its_own(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="rope: the audit has its own"):
        frozen(tmp_path, rope=0.02)


def test_contrasts_are_those_that_a_study_has() -> None:
    with pytest.raises(ReportError, match="associated - neutral"):
        bb.audits.freeze_plan("weat7", contrasts=["associated - humans"])
    with pytest.raises(ArgumentError, match="levels"):
        bb.audits.freeze_plan("weat7", levels=["words"])
    with pytest.raises(ArgumentError, match="levels"):
        bb.audits.freeze_plan("weat7", levels=[])


def test_the_power_is_that_of_required_words() -> None:
    plan = bb.audits.freeze_plan("weat7", pilot=ASSUMED, true_contrast=-0.05, samples=3, random_seed=1, progress=False)
    options: dict[str, Any] = {"width": 0.03, "true_contrast": -0.05, "sizes": [(8, 8)], "samples": 3, "random_seed": 1}
    (row,) = bb.required_words(ASSUMED, **options, progress=False).frame.to_dict("records")
    assert (plan.power["power"], plan.power["mean_width"]) == (row["power"], row["mean_width"])
    assert (plan.power["source"], plan.power["protected_words_per_group"]) == ("assumed parameters", 8)


def test_the_power_is_that_of_one_study(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="pilot"):
        frozen(tmp_path, pilot=ASSUMED)
    with pytest.raises(ReportError, match="a list of 'four lists' has one word"):
        bb.audits.freeze_plan({"x": ["a"], "y": ["b"], "c": ["d"], "e": ["f"]}, pilot=ASSUMED)


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_an_audit_says_what_was_planned(tmp_path: Path) -> None:
    report = AuditReport(audited(["weat7", "weat8"], max_lost=0.3), frozen(tmp_path, "max_lost = 0.3"))
    (rows,) = (variant.rows for variant in report._variants)
    by_number = dict(zip(zip(rows["study"], rows["measure"], strict=True), rows[MARK], strict=True))
    assert by_number == {
        ("weat7", "mac"): PLANNED,
        ("weat7", "ect"): EXPLORATORY,
        ("weat8", "mac"): EXPLORATORY,
        ("weat8", "ect"): EXPLORATORY,
    }
    assert "not asked: gender in Wikipedia" in str(report)
    assert "does not have weat8 in Wikipedia" in str(report)
    folder = bb.write(report, tmp_path / "audit")
    assert f",{PLANNED}\n" in (folder / "audit.csv").read_text(encoding="utf-8")
    assert ">planned<" in (folder / "report.html").read_text(encoding="utf-8")


def test_what_an_audit_changed_is_named(tmp_path: Path) -> None:
    plan = frozen(tmp_path)
    weat7 = bb.load_study("weat7")
    changed = replace(weat7, protected={**weat7.protected, "math": weat7.protected["math"][1:]})
    report = AuditReport(audited([changed], max_lost=0.5), plan)
    assert report.planned is not None
    texts = [statement.text for statement in report.planned.part.statements if statement.kind == "change"]
    assert texts == [
        "Changed since: largest share of lost words: 0.2 in the plan, 0.5 now.",
        "Changed since: 'weat7' in Wikipedia: its word lists are not those of the plan: "
        "'math' was removed from 'math'.",
    ]
    assert CHANGED in set(report._variants[0].rows[MARK])
