"""Trends on the command line."""

import json
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.models.periods.made import made_tables

FOLDER = bb.bundled("data", "vectors", "planted_drift")


def test_a_folder_of_embeddings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, shares = tmp_path / "moved", tmp_path / "shares.csv"
    shares.write_text("period,share\n1950,0.1\n1960,0.3\n1970,0.2\n1980,0.4\n1990,0.1\n")
    given = [FOLDER, "--study", "weat6", "-o", output, "--draws", "100", "--seed", "1", "--covariates", shares]
    assert in_process("trend", *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {"report.html", "trend.png", "conclusions.txt", "conclusions.json"}
    made |= {f"{name}.csv" for name in ("gaps", "changes", "lines", "neighbours", "words", "distances", "lacking")}
    assert {path.name for path in output.iterdir()} == made
    assert data["verdict"] in unescape((output / "report.html").read_text(encoding="utf-8"))
    assert {row["parameter"] for row in data["tables"]["lines"]} >= {"share", "sd of periods"}
    assert in_process("trend", *given, monkeypatch=monkeypatch) == 2
    assert "moved" in capsys.readouterr().err


def test_slopes_on_numbers_of_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [word for group in bb.load_study("weat6").protected.values() for word in group]
    lengths = "".join(f"{word},{len(word)}\n" for word in words)
    (tmp_path / "letters.csv").write_text(f"word,letters\n{lengths}")
    given = [FOLDER, "--study", "weat6", "-o", tmp_path / "moved", "--draws", "100", "--seed", "1"]
    given += ["--word-covariates", tmp_path / "letters.csv"]
    assert in_process("trend", *given, monkeypatch=monkeypatch) == 0
    slopes = pd.read_csv(tmp_path / "moved" / "slopes.csv")
    of_contrast = slopes[slopes["contrast"] == "associated - different"]
    assert of_contrast["period"].tolist() == ["1950", "1960", "1970", "1980", "1990", "1950 to 1990"]
    assert (tmp_path / "moved" / "slopes.png").is_file()


def test_files_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name, table in made_tables(periods=2).items():
        paths.append(tmp_path / f"{name}.csv")
        bb.write_table(table, paths[-1])
    given = ["-o", tmp_path / "moved.json", "--draws", "100", "--seed", "1", "--these-words", "-q"]
    assert in_process("trend", *paths, *given, monkeypatch=monkeypatch) == 0
    assert json.loads((tmp_path / "moved.json").read_text())["settings"]["Scope"] == "these_words"
    assert in_process("trend", paths[0], *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "1900.csv" in capsys.readouterr().err
