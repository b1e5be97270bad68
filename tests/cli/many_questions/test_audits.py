"""Audits, and studies on workers."""

import json
from pathlib import Path

import pytest

from tests.cli.running import in_process

_WRITTEN = {"audit.csv", "report.html", "conclusions.json", "conclusions.txt"}


def test_an_audit_from_a_plan(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    (workplace / "audit.toml").write_text(
        'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodel = "hierarchical"\nrandom_seed = 1\n'
        '[embeddings]\nmine = "vectors.txt"\n'
    )
    assert in_process("audit", "audit.toml", "-o", "audit", monkeypatch=monkeypatch) == 0
    assert "associated - different" in capsys.readouterr().out
    made = {path.name for path in (workplace / "audit").iterdir()}
    assert made == {*_WRITTEN, "audit.png", "contrasts.csv", "measures.csv"}
    assert in_process("audit", "audit.toml", "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["audit"]
    assert [row["measure"] for row in rows] == ["contrast", "contrast", "contrast", "weat"]


def test_a_study_on_workers_goes_on(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    plan = 'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodels = ["hierarchical", "no_pooling"]\n'
    plan += 'random_seed = 1\ndraws = 25\n{}[embeddings]\nmine = "vectors.txt"\n'
    (workplace / "study.toml").write_text(plan.format("workers = 1\n"))
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 0
    assert "no_pooling" in capsys.readouterr().out
    made = {path.name for path in (workplace / "study").iterdir()}
    numbered = {f"{name}{suffix}" for name in ("contrasts", "measures") for suffix in (".csv", "_2.csv")}
    assert made == {*_WRITTEN, *numbered, "audit.png", "audit_2.png", "cells"}
    table = (workplace / "study" / "audit.csv").read_bytes()
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 2
    assert "study" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(
            "bayesbias.cells.audit_cell.AuditCell.answer", lambda *_: pytest.fail("a cell was computed again")
        )
        for file in (workplace / "study").glob("*.*"):  # a run that was killed leaves its cells only
            file.unlink()
        assert in_process("audit", "study.toml", "-o", "study", "--json", monkeypatch=monkeypatch) == 0
        rows = json.loads(capsys.readouterr().out)["audit"]
        assert {row["model"] for row in rows} == {"hierarchical", "no_pooling"}
        assert (workplace / "study" / "audit.csv").read_bytes() == table
    # Without workers nothing is kept, and the numbers are the same; an option stands for the plan's workers.
    (workplace / "alone.toml").write_text(plan.format(""))
    for folder, option in (("alone", ()), ("again", ("--workers", "1"))):
        assert in_process("audit", "alone.toml", "-o", folder, *option, monkeypatch=monkeypatch) == 0
        assert (workplace / folder / "cells").exists() == bool(option)
        assert (workplace / folder / "audit.csv").read_bytes() == table
    # Fits, which pages need, are in no cell.
    assert in_process("audit", "study.toml", "-o", "pages", "--pages", monkeypatch=monkeypatch) == 0
    assert (workplace / "pages" / "audit.csv").read_bytes() == table
    assert [path.name for path in (workplace / "pages").glob("question_*.html")] == ["question_1.html"]
    assert not (workplace / "pages" / "cells").exists()
