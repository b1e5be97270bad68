"""Estimates of a fit, and its methods, on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.reports.made import made_fit


def test_a_summary_is_printed_as_text_and_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = made_fit(draws=50)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    overall = ["summary", path, "--level", "overall", "--rope", "0.02"]
    assert in_process(*overall, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "associated - different" in shown
    assert "in units of cosine distance except for weights" in shown
    assert "probability_in_rope" in shown
    assert in_process(*overall, "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    contrasts = bb.contrasts(fit, rope=0.02)
    assert [row["mean"] for row in printed["contrasts"]] == contrasts["mean"].tolist()
    assert [row["parameter"] for row in printed["summary"]] == bb.summary(fit, level="overall")["parameter"].tolist()
    assert printed["conclusions"] == bb.conclusions(fit, rope=0.02).to_dict()
    assert in_process("summary", path, "--baseline", "human", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["conclusions"] is None


def test_the_methods_are_those_of_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = made_fit(draws=50)
    path = bb.write_fit(fit, tmp_path / "fit.nc")
    assert in_process("methods", path, "--hdi-prob", "0.5", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.strip() == bb.methods(fit, hdi_prob=0.5)
    assert in_process("methods", path, "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["methods"] == bb.methods(fit)


def test_tables_for_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bb.write_fit(made_fit(draws=50), tmp_path / "fit.nc")
    summary, contrast = tmp_path / "summary.tex", tmp_path / "contrast.md"
    assert in_process("summary", path, "-o", summary, "--hdi-prob", "0.5", monkeypatch=monkeypatch) == 0
    text = summary.read_text(encoding="utf-8")
    assert text.count(r"50\% HPDI") == text.count(r"\begin{table}") == 2
    sides = ("group 0", "associated", "group 0", "different")
    assert in_process("contrast", path, *sides, "-o", contrast, monkeypatch=monkeypatch) == 0
    assert "group 0 to associated" in contrast.read_text(encoding="utf-8")
    assert in_process("contrast", path, *sides, "-o", contrast, monkeypatch=monkeypatch) == 2
    assert in_process("contrast", path, *sides, "-o", contrast, "--overwrite", monkeypatch=monkeypatch) == 0
