"""Words on axes on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.reports.axes.test_project import PAIRS, WORDS, planted


def test_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    vectors, axis, words = tmp_path / "vectors.npz", tmp_path / "height.toml", tmp_path / "words.txt"
    bb.write_embedding(planted(), vectors)
    axis.write_text(f"pairs = {[list(pair) for pair in PAIRS]}", encoding="utf-8")
    words.write_text("\n".join(WORDS), encoding="utf-8")
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(["word,height", *(f"{word},{n}" for n, word in enumerate(WORDS))]), encoding="utf-8")
    given = ["project", vectors, "--axis", axis, "--ratings", ratings, "--seed", "1"]
    assert in_process(*given, "--words", words, "-o", tmp_path / "axes", "--json", monkeypatch=monkeypatch) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    made = {"report.html", "axis_1.png", "axes.csv", "words.csv", "pairs.csv", "ratings.csv"}
    assert made <= {path.name for path in (tmp_path / "axes").iterdir()}
    assert [row["word"] for row in tables["words"]] == WORDS
    assert in_process(*given, "--json", monkeypatch=monkeypatch) == 0  # the words of the ratings
    assert json.loads(capsys.readouterr().out)["tables"] == tables
    assert in_process(*given, "--words", words, "--study", "weat7", monkeypatch=monkeypatch) == 2
