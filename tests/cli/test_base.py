"""What the commands share: defaults, priors, quiet and JSON output."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.cli import base
from tests.cli.running import in_process


def test_priors_given_twice_are_refused() -> None:
    with pytest.raises(bb.errors.ModelError, match="'sigma'"):
        base.priors_from(["sigma=HalfNormal(0.1)", "sigma = HalfNormal(0.5)"])


def test_quiet_commands_print_nothing(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    short = ("--model", "hierarchical", "--draws", "50", "--seed", "1")
    for command in (
        ("table", "vectors.txt", "--study", "pets.toml", "-o", "quiet.csv"),
        ("fit", "quiet.csv", "-o", "quiet", *short),
        ("check", "quiet/fit.nc"),
    ):
        assert in_process(*command, "--quiet", monkeypatch=monkeypatch) == 0
        assert capsys.readouterr().out == ""
    assert in_process("fit", "quiet.csv", "-o", "again", *short, "--quiet", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["answers"]


def test_a_command_to_type_is_quoted() -> None:
    line = base.command_line("fit", Path("my data/ü.csv"), "--output", "out/")
    assert line == "bayesbias fit 'my data/ü.csv' --output out/"
