"""The gate, of draws and intervals given by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.gate import GateResult
from bayesbias.base.exit_codes import EXIT_CODES
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.plans.record import Region
from tests.audits.test_ranks import audit_of
from tests.refusals import refusals

SPREAD = np.random.default_rng(1).normal(0, 0.005, 4000)


def audited(means: dict[str, float], failed: dict[str, str] | None = None, **record: Any) -> pd.DataFrame:
    """An audit of one embedding whose draws of each study are Normal, sd 0.005, and whose other studies failed."""
    draws = {("A", study, "contrast"): mean + SPREAD for study, mean in means.items()}
    frame = audit_of({key: float(values.mean()) for key, values in draws.items()}, draws)
    errors = {("A", study): error for study, error in (failed or {}).items()}
    lost = {**frame.record.lost_words, **dict.fromkeys(errors, ("cat",))}
    hashes = {study: "one" for _, study in lost}
    frame.record = replace(frame.record, **({"failed": errors, "lost_words": lost, "study_hashes": hashes} | record))
    return frame


def outcomes(result: GateResult) -> dict[str, str]:
    return dict(zip(result.questions["study"], result.questions["outcome"], strict=True))


@pytest.mark.parametrize(
    ("means", "failed", "outcome"),
    [
        ({"a": 0.0}, {}, "pass"),
        ({"a": 0.0, "b": 0.02}, {}, "undecided"),
        ({"a": 0.0, "b": 0.02}, {"c": "no word of c"}, "unanswered"),
        ({"a": 0.05, "b": 0.02}, {"c": "no word of c"}, "fail"),
        ({}, {"c": "no word of c"}, "unanswered"),
    ],
)
def test_the_outcome_that_counts_most(means: dict[str, float], failed: dict[str, str], outcome: str) -> None:
    frame = audited(means or {"a": 0.0}, failed)
    if not means:
        frame = frame.iloc[:0]
    result = bb.gate(frame, rope=0.02)
    assert (result.outcome, result.exit_code) == (outcome, EXIT_CODES[outcome].code)
    first, *lines = str(result).splitlines()
    assert len(lines) == len(means) + len(failed)
    assert f"{outcome} (exit code {result.exit_code})" in first
    assert [line.split()[0].lower() for line in lines] == result.questions["outcome"].tolist()
    assert sum("no word of c" in line for line in lines) == len(failed)


@pytest.mark.parametrize("file", ["gate.json", "conclusions.json"])
def test_with_a_baseline_only_what_got_worse_fails(tmp_path: Path, file: str) -> None:
    before = audited({"same": 0.05, "worse": 0.03, "better": 0.09, "grown": 0.0, "gone": 0.0}, {"failed": "no words"})
    bb.write(bb.gate(before, rope=0.02), tmp_path / "old", progress=False)
    now = audited({"same": -0.05, "worse": 0.06, "better": 0.05, "grown": 0.022, "failed": 0.05, "new": 0.05})
    result = bb.gate(now, rope=0.02, baseline=tmp_path / "old" / file)
    assert outcomes(result) == {
        **{"same": "pass", "worse": "fail", "better": "pass", "grown": "undecided"},
        **{"failed": "fail", "new": "fail"},
    }
    rows = result.questions.set_index("study")
    expected = np.mean(np.abs(0.06 + SPREAD)[:, None] > np.abs(0.03 + SPREAD)[None, ::4])
    assert rows.loc["worse", "probability_worse"] == pytest.approx(expected, abs=0.01)
    assert rows.loc["same", "probability_worse"] == pytest.approx(0.5, abs=0.03)
    by = {"gate.json": "draws", "conclusions.json": "mean and sd"}[file]
    assert set(rows["compared_by"]) == {by, ""}
    assert f"by {by}" in str(result)
    assert rows.loc[["failed", "new"], "probability_worse"].isna().all()
    assert result.missing == ("gone in A",)
    for text in (str(result), result.junit, result.model_card):
        assert "NOT ASKED gone in A" in text
    assert 'errors="2" skipped="1"' in result.junit, "one undecided; one not asked, one with other lost words"
    lenient = bb.gate(now, rope=0.02, baseline=tmp_path / "old" / file, strict=False)
    assert 'errors="0" skipped="3"' in lenient.junit


def test_other_lists_are_not_compared(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.05}), rope=0.02), tmp_path / "old.json")
    assert bb.gate(audited({"s": 0.05}), rope=0.02, baseline=path).outcome == "pass"
    changed = bb.gate(audited({"s": 0.05}, study_hashes={"s": "two"}), rope=0.02, baseline=path)
    assert changed.outcome == "fail"
    assert changed.questions["probability_worse"].isna().all()


def test_other_lost_words_are_not_compared(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.05}), rope=0.02), tmp_path / "old.json")
    fewer = bb.gate(audited({"s": 0.05}, lost_words={("A", "s"): ("cat", "dog")}), rope=0.02, baseline=path)
    assert fewer.outcome == "fail"
    assert "lost words of its groups: 0 in the baseline, 2 now" in fewer.questions["reason"].item()


def test_the_json_repeats_the_result(tmp_path: Path) -> None:
    result = bb.gate(audited({"a": 0.0, "b": 0.05}, {"c": "no words"}, region=Region(-0.02, 0.02)))
    content = json.loads(bb.write(result, tmp_path / "gate.json").read_text(encoding="utf-8"))
    assert (content["schema_version"], content["outcome"], content["exit_code"]) == (5, "fail", 3)
    assert content["rope"] == [-0.02, 0.02]
    assert [question["outcome"] for question in content["questions"]] == ["pass", "fail", "unanswered"]
    assert content["questions"][2]["mean"] is None
    assert content["questions"][1]["mean"] == result.questions["mean"][1]


def test_a_folder_has_the_files_of_other_tools(tmp_path: Path) -> None:
    folder = bb.write(bb.gate(audited({"a": 0.02, "b": 0.05}, {"c": "<no> & words"}), rope=0.02), tmp_path / "gate")
    suite = ElementTree.parse(folder / "junit.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "1", "1"]
    assert [[element.tag for element in case] for case in suite] == [["skipped"], ["failure"], ["error"]]
    assert "<no> & words" in str(suite[2][0].get("message"))
    card = (folder / "model_card.md").read_text(encoding="utf-8")
    assert card.startswith("## Bias, Risks, and Limitations\n")
    assert "&lt;no&gt; &amp; words" in card
    kept = json.loads((folder / "gate.json").read_text(encoding="utf-8"))["questions"]
    assert [len(question["draws"]) for question in kept] == [1000, 1000, 0]
    assert np.isin(kept[0]["draws"], [float(f"{value:.6g}") for value in 0.02 + SPREAD]).all()


test_refusals = refusals(
    (lambda: bb.gate(audited({"s": 0.0})), ReportError, "rope"),
    (lambda: bb.gate(audited({"s": 0.0}), rope=-1), ArgumentError, "rope=-1"),
    (lambda: bb.gate(pd.DataFrame(audited({"s": 0.0})), rope=0.02), ReportError, r"bb\.audit"),
    (lambda: bb.gate(audited({"s": 0.0}).assign(mean=0.5), rope=0.02), ReportError, "s, contrast"),
    (lambda: bb.gate(audit_of({("A", "s", "mac"): 0.5}, {}), rope=0.02), ReportError, "contrast"),
)


def test_another_package_is_named(tmp_path: Path) -> None:
    def gated(package: str, **rule: Any) -> GateResult:
        return bb.gate(audited({"s": 0.0}, settings={"Package": package}), rope=0.02, **rule)

    path = bb.write(gated("bayesbias 1"), tmp_path / "old.json")
    other = gated("bayesbias 2", baseline=path)
    for text in (str(other), other.model_card):
        assert "The baseline is of bayesbias 1, and this gate of bayesbias 2" in text
    assert not gated("bayesbias 1", baseline=path).notes


def test_the_page_shows_what_a_baseline_decides(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    bb.write(bb.gate(audited({"s": 0.05}), rope=0.02), tmp_path / "old", overwrite=True)
    contents = bb.gate(audited({"s": 0.05}), rope=0.02, baseline=tmp_path / "old" / "gate.json").contents
    assert contents.tables["questions"].columns[-2:] == ("baseline_mean", "probability_worse")
    assert contents.settings["Baseline"].startswith("gate.json (checksum ")
    assert contents.settings["Interval"] == "89% HPDI"
    assert "unless it is worse than in the baseline, gate.json" in contents.about
    alone = bb.gate(audited({"s": 0.05}), rope=0.02).contents
    assert "baseline_mean" not in alone.tables["questions"].columns
    assert "baseline" not in alone.about
