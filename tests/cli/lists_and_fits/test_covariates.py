"""Covariates on the command line."""

import json
from html import unescape
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
        "fit.nc",
    }
    assert {path.name for path in output.iterdir()} == made
    fit = bb.read_fit(output / "fit.nc")
    assert in_process("methods", output / "fit.nc", monkeypatch=monkeypatch) == 0
    assert "covariates of the protected words (share)" in capsys.readouterr().out
    page = unescape((output / "report.html").read_text(encoding="utf-8"))
    assert json.loads(fit.attrs["table_hash"]) in page
    assert "draws=100, tune=" in page
    assert "random_seed=1, covariates=pd.read_csv(COVARIATES))" in page
    assert "bb.covariate_effect(fit, ('far', 'near'))" in page
    assert "these words" in page
    assert "these_words" not in page
    assert "Probability inside the intervals" in page
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
