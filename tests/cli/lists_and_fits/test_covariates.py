"""Covariates on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.reports.covariates.made import made_table


def test_covariate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table, shares, output = made_table(), tmp_path / "shares.csv", tmp_path / "shares"
    bb.write_table(table.drop(columns="share"), tmp_path / "table.csv")
    frame = table[["protected_word", "share"]].drop_duplicates()
    frame.rename(columns={"protected_word": "word"}).to_csv(shares, index=False)
    command = ("covariate", tmp_path / "table.csv", "--covariates", shares, "--draws", "100", "--seed", "1")
    assert in_process(*command, "--lists", "far, near", "-o", output, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {
        "report.html",
        "covariate.png",
        "conclusions.txt",
        "conclusions.json",
        "effects.csv",
        "words.csv",
        "line.csv",
    }
    assert {path.name for path in output.iterdir()} == made
    assert {row["contrast"] for row in data["tables"]["effects"]} == {"far - near"}
    assert in_process(*command, "--lists", "far", "-o", output, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "female,male" in capsys.readouterr().err


def test_fit_with_covariates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bb.write_table(made_table().drop(columns="share"), tmp_path / "table.csv")
    shares = tmp_path / "shares.csv"
    shares.write_text("word,share\n" + "".join(f"<b>w{place},{place**2}\n" for place in range(9)))
    settings = ("--draws", "50", "--chains", "2", "--seed", "1", "-o", tmp_path / "fit")
    arguments = ("fit", tmp_path / "table.csv", "--covariates", shares, *settings)
    assert in_process(*arguments, monkeypatch=monkeypatch) == 0
    assert bb.read_fit(tmp_path / "fit" / "fit.nc")["constant_data"]["covariate"].to_numpy().tolist() == ["share"]
