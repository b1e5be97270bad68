"""From an embedding to an answer by two commands."""

from pathlib import Path

import pytest

from tests.cli.running import in_process, run


@pytest.mark.slow
def test_two_commands_lead_from_an_embedding_to_an_answer(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Warnings are errors in these processes, except our own, which are printed."""
    built = run("table", "vectors.txt", "--study", "pets.toml", "--output", "pets.csv", folder=workplace)
    assert (built.returncode, built.stderr) == (0, "")
    assert "4 protected words, 6 attribute words, 24 pairs: 8 associated, 8 different, 8 neutral." in built.stdout
    settings = ["--model", "hierarchical", "--seed", "1", "--draws", "3000", "--rope", "0.05"]
    fitted = run("fit", "pets.csv", "-o", "pets", *settings, folder=workplace)
    assert fitted.returncode == 0, fitted.stderr
    assert "WHAT IT DOES NOT SHOW" in fitted.stdout
    assert "%" not in fitted.stderr, "no progress bar in a pipe"
    made = {path.name for path in (workplace / "pets").iterdir()}
    assert {"table.csv", "fit.nc", "summary.csv", "contrasts.csv", "words.png", "conclusions.json"} < made
    shown = run("summary", "pets/fit.nc", "--level", "overall", "--rope", "0.05", folder=workplace)
    assert shown.returncode == 0
    assert ("did not converge" in shown.stderr) == ("did not converge" in fitted.stderr)
    assert "associated - different" in shown.stdout
    assert "probability_in_rope" in shown.stdout
    monkeypatch.chdir(workplace)
    assert in_process("fit", "pets.csv", "-o", "pets", monkeypatch=monkeypatch) == 2
    assert "pets" in capsys.readouterr().err


def test_the_help_promises_no_page() -> None:
    from bayesbias.cli.base import FilesOutput

    (option,) = FilesOutput.__metadata__
    assert "page" not in option.help
