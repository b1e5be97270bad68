"""The distance table on the command line."""

from pathlib import Path

import pytest

from tests.cli.running import in_process


def test_lost_words_stop_a_command_unless_they_are_allowed(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    lines = (workplace / "vectors.txt").read_text().splitlines()
    (workplace / "vectors.txt").write_text("".join(f"{line}\n" for line in lines if not line.startswith("nap ")))
    given = ("vectors.txt", "--study", "pets.toml")
    table, score = ("table", *given, "-o", "t.csv"), ("measure", "weat_score", *given)
    for command in (table, score, ("random-lists", *given)):
        assert in_process(*command, monkeypatch=monkeypatch) == 2
        shown = capsys.readouterr().err
        assert "1 of the 2 of 'quiet' (nap)" in shown
        assert "--max-lost 0.5" in shown
    assert not (workplace / "t.csv").exists()
    for command in (table, score):
        assert in_process(*command, "--max-lost", "0.5", monkeypatch=monkeypatch) == 0
        assert capsys.readouterr().err.startswith("warning: The embedding 'vectors' lacks 1 word: 1 of the 2")
    assert (workplace / "t.csv").exists()
