"""Word lists on the command line: studies, and their words in a vocabulary."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process


def test_studies_are_listed_shown_and_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("studies", monkeypatch=monkeypatch) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in bb.list_studies())
    assert in_process("studies", "show", "weat7", monkeypatch=monkeypatch) == 0
    assert "Associated: math with male" in capsys.readouterr().out
    mine = tmp_path / "mine.toml"
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 0
    assert bb.load_study(str(mine)).protected
    assert in_process("studies", "new", mine, monkeypatch=monkeypatch) == 2
    assert "exists" in capsys.readouterr().err


def test_a_study_of_weathub_is_written_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"targ1": ["Mathe"], "targ2": ["Kunst"], "attr1": ["Männer"], "attr2": ["Frauen"]}
    tests = {"weat7": {name: {"category": name, "examples": entries} for name, entries in words.items()}}
    (tmp_path / "w.json").write_text(json.dumps({"de_human": tests}))
    study, vectors = tmp_path / "s.toml", tmp_path / "v.txt"
    vectors.write_text("Mathe 1 0\nkunst 0 1\nMa\u0308nner 1 1\n", encoding="utf-8")
    weathub = ("studies", "weathub", tmp_path / "w.json", "de_human", "weat7", "-o", study)
    assert in_process(*weathub, monkeypatch=monkeypatch) == 0
    assert bb.load_study(study).language == "de"
    capsys.readouterr()
    assert in_process("words", vectors, "--study", study, "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["words"]
    assert [(row["word"], row["left_out"], row["near"]) for row in rows] == [
        ("Mathe", "", ""), ("Kunst", "case", "kunst"), ("Männer", "", ""), ("Frauen", "absent", "")
    ]  # fmt: skip
