"""`bayesbias nli`: options that do not go together are refused before anything is read or written."""

from pathlib import Path

import pytest

from tests.cli.running import in_process

TRAINED = "--method, --sets, --epochs, --hidden-units and --checkpoints"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["a.npz", "b.npz"], ["--pairs FILE"]),
        (["a.npz", "--pairs", "p.csv", "--method", "misp"], ["--method and --sets"]),
        (["a.npz", "--pairs", "p.csv", "--sets", "gender_bolukbasi"], ["--method and --sets"]),
        (["a.npz", "b.npz", "--pairs", "p.csv", "--method", "hard", "--sets", "gender_bolukbasi"], ["there are 2"]),
        (["folder", "--models", "--epochs", "3"], TRAINED.split(" and ")),
        (["folder", "--models", "--checkpoints", "kept"], TRAINED.split(" and ")),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str],
    named: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert in_process("nli", *arguments, "--output", "out", monkeypatch=monkeypatch) == 2
    message = " ".join(capsys.readouterr().err.split())
    for text in named:
        assert text in message
    assert list(tmp_path.iterdir()) == []
