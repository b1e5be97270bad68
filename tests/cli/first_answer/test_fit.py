"""From an embedding to an answer by two commands."""

from pathlib import Path

import pytest

from tests.cli.running import in_process, run


@pytest.mark.slow
def test_two_commands_lead_from_an_embedding_to_an_answer(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Warnings are errors, except our own, which are printed; the fit is a process of its own, with a pipe."""
    monkeypatch.chdir(workplace)
    table = ("table", "vectors.txt", "--study", "pets.toml", "--output", "pets.csv")
    assert in_process(*table, monkeypatch=monkeypatch) == 0
    built = capsys.readouterr()
    assert built.err == ""
    assert "4 protected words, 6 attribute words, 24 pairs: 8 associated, 8 different, 8 neutral." in built.out
    settings = ["--model", "hierarchical", "--seed", "1", "--draws", "3000", "--rope", "0.05"]
    fitted = run("fit", "pets.csv", "-o", "pets", *settings, folder=workplace)
    assert fitted.returncode == 0, fitted.stderr
    assert "WHAT IT DOES NOT SHOW" in fitted.stdout
    assert "%" not in fitted.stderr, "no progress bar in a pipe"
    made = {path.name for path in (workplace / "pets").iterdir()}
    assert {"table.csv", "fit.nc", "summary.csv", "contrasts.csv", "words.png", "conclusions.json"} < made
    summary = ("summary", "pets/fit.nc", "--level", "overall", "--rope", "0.05")
    assert in_process(*summary, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr()
    assert ("did not converge" in shown.err) == ("did not converge" in fitted.stderr)
    assert "associated - different" in shown.out
    assert "probability_in_rope" in shown.out
    assert in_process("fit", "pets.csv", "-o", "pets", monkeypatch=monkeypatch) == 2
    assert "pets" in capsys.readouterr().err


def test_the_help_promises_no_page() -> None:
    from bayesbias.cli.base import FilesOutput

    (option,) = FilesOutput.__metadata__
    assert "page" not in option.help
