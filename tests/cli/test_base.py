"""What the commands share: defaults, priors, quiet and JSON output."""

import json
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 or UTF-16 there")
def test_files_whose_names_are_not_utf_8_name_models_embeddings_sets_and_covariates(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    for seed, odd in enumerate(("one\udcff.txt", "two\udcff.txt")):
        rows = [line.split() for line in Path("vectors.txt").read_text().splitlines()]
        numbers = [[word, *(str(float(value) + seed * len(word) / 9) for value in values)] for word, *values in rows]
        Path(odd).write_text("\n".join(map(" ".join, numbers)) + "\n")
    Path("model\udcff.toml").write_text(
        bb.bundled("models", "crossed.toml").read_text(encoding="utf-8").replace('name = "crossed"', "")
    )
    Path("sets\udcff.toml").write_text('definitional = [["cat", "dog"], ["kitten", "puppy"]]\n')
    Path("shares\udcff.csv").write_text("word,share\ncat,1\nkitten,3\ndog,2\npuppy,5\n")
    Path("study\udcff.toml").write_text(Path("pets.toml").read_text().replace('name = "pets"', ""))
    short = ("--draws", "50", "--seed", "1")
    for command in (
        ("table", "one\udcff.txt", "--study", "study\udcff.toml", "-o", "table\udcff.csv"),
        ("table", "two\udcff.txt", "--study", "study\udcff.toml", "-o", "table.csv"),
        ("fit", "table\udcff.csv", "--model", "model\udcff.toml", "-o", "fit\udcff", *short),
        ("fit", "table\udcff.csv", "--covariates", "shares\udcff.csv", "-o", "rated\udcff", *short),
        ("covariate", "table\udcff.csv", "--covariates", "shares\udcff.csv", "-o", "slopes\udcff", *short),
        ("trainings", "one\udcff.txt", "two\udcff.txt", "--study", "pets.toml", "-o", "seeds.md", *short),
        ("debias", "one\udcff.txt", "--sets", "sets\udcff.toml", "-o", "debiased.npz"),
    ):
        assert in_process(*command, "--quiet", monkeypatch=monkeypatch) == 0, command
    assert bb.models.fit_attribute(bb.read_fit("fit\udcff/fit.nc"), "model")["name"] == "model\\xff"
    # Tables of one embedding are called by their files.
    named = base.by_embedding(base.read_each([Path("table\udcff.csv"), Path("slopes\udcff/../table\udcff.csv")]))
    assert list(named) == ["table\\xff.csv", "slopes\\xff/../table\\xff.csv"]
