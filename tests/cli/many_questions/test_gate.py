"""The gate as a command: exit codes, outputs, and the workflow of its guide."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import bayesbias as bb
from tests.cli.running import in_process

GUIDE = (Path(bb.__file__).parents[1] / "docs" / "guide" / "gate.md").read_text(encoding="utf-8")
FILES = {"gate.json", "junit.xml", "model_card.md", "questions.csv", "report.html", "conclusions.json"}
PLAN = 'studies = ["pets.toml"]\nmodel = "hierarchical"\nrandom_seed = 1\ndraws = 100\n{}\n[embeddings]\n{}\n'


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def pets(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the study, with vectors that lack half of a list."""
    lines = (workplace / "vectors.txt").read_text().splitlines()
    (workplace / "few.txt").write_text("\n".join(line for line in lines if not line.startswith("bark")) + "\n")
    monkeypatch.chdir(workplace)
    return workplace


@pytest.mark.parametrize(("rope", "code"), [("9", 0), ("0.01", 4), ("[8, 9]", 3)])
def test_exit_codes_repeat(
    pets: Path, rope: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format(f"rope = {rope}", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", monkeypatch=monkeypatch) == code
    first = capsys.readouterr().out
    assert f"(exit code {code})" in first.splitlines()[1]
    assert in_process("gate", "gate.toml", monkeypatch=monkeypatch) == code
    assert capsys.readouterr().out == first
    assert in_process("gate", "gate.toml", "--quiet", monkeypatch=monkeypatch) == code
    assert capsys.readouterr().out == ""


def test_an_embedding_that_lacks_a_list_does_not_stop_the_others(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'few = "few.txt"\nmine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", "--json", monkeypatch=monkeypatch) == 5
    shown = json.loads(capsys.readouterr().out)
    assert [question["outcome"] for question in shown["questions"]] == ["unanswered", "pass"]
    assert "bark" in shown["questions"][0]["reason"]
    assert {path.name for path in (pets / "gate").iterdir()} >= FILES
    assert in_process("gate", "gate.toml", "--max-lost", "0.5", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    # An audit stops before any work, unless it may go on; its message names an option that it has.
    assert in_process("audit", "gate.toml", monkeypatch=monkeypatch) == 2
    option = re.findall(r"--max-lost [\d.]+", capsys.readouterr().err)[0].split()
    assert in_process("audit", "gate.toml", *option, monkeypatch=monkeypatch) == 0
    assert "probability_in_rope" in capsys.readouterr().out
    assert in_process("audit", "gate.toml", "--skip-unanswered", monkeypatch=monkeypatch) == 5
    out = capsys.readouterr().out
    assert "unanswered: few, pets" in out
    assert "mine" in out


def test_mistakes_are_named_before_any_work(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bayesbias.cells.audit.audit", lambda *_, **__: pytest.fail("an audit began"))
    (pets / "gate.toml").write_text(PLAN.format("", 'mine = "vectors.txt"'))
    (pets / "wrong.json").write_text("{}")
    for arguments, fact in (
        (["-o", "gate"], "rope"),
        (["--rope", "0.1", "--baseline", "wrong.json", "-o", "gate"], "schema_version 1"),
        (["--rope", "0.1", "--baseline", "none.json", "-o", "gate"], "none.json"),
    ):
        assert in_process("gate", "gate.toml", *arguments, monkeypatch=monkeypatch) == 2
        assert fact in capsys.readouterr().err
        assert not (pets / "gate").exists()


def run(command: str, folder: Path) -> int:
    """Run a command of the guide as a step of the workflow runs, and return its exit code."""
    shell = f'bayesbias() {{ "{sys.executable}" -m bayesbias "$@"; }}\n{command}'
    environment = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PYTHONPATH": str(Path(bb.__file__).parents[1])}
    done = subprocess.run(["bash", "-e", "-c", shell], cwd=folder, env={**os.environ, **environment}, check=False)
    return done.returncode


@pytest.mark.slow
def test_the_commands_and_the_workflow_of_the_guide_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vectors").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.toml").write_text(blocks("toml")[0])
    source = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    shutil.copy(source, tmp_path / "vectors" / "release.npz")
    release, compare = (command.strip() for command in blocks("bash"))
    assert in_process(*release.split()[1:], monkeypatch=monkeypatch) == 3
    assert capfd.readouterr().out == blocks("text")[0]
    shutil.copy(str(source).replace("seed1", "seed2"), tmp_path / "vectors" / "release.npz")
    workflow: dict[str, Any] = yaml.safe_load(blocks("yaml")[0])
    steps = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    assert steps[0] == "pip install bayesbias"
    capfd.readouterr()
    assert steps[1].startswith(compare)
    assert [run(step, tmp_path) for step in steps[1:]] == [0, 0]
    assert capfd.readouterr().out.count("by draws") == 3
    assert (tmp_path / "summary.md").read_text().startswith("## Bias, Risks, and Limitations")
