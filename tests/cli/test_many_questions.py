"""Commands of `bayesbias.cli.many_questions`."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import bayesbias as bb
from bayesbias.errors import OutputError
from tests.cli.running import in_process
from tests.models.periods.made import made_tables

_WRITTEN = {"audit.csv", "report.html", "conclusions.json", "conclusions.txt"}


def test_an_audit_from_a_plan(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    (workplace / "audit.toml").write_text(
        'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodel = "hierarchical"\nrandom_seed = 1\n'
        '[embeddings]\nmine = "vectors.txt"\n'
    )
    assert in_process("audit", "audit.toml", "-o", "audit", monkeypatch=monkeypatch) == 0
    assert "associated - different" in capsys.readouterr().out
    made = {path.name for path in (workplace / "audit").iterdir()}
    assert made == {*_WRITTEN, "answers.png", "audit.png", "contrasts.csv", "measures.csv", "cells"}
    assert in_process("audit", "audit.toml", "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["audit"]
    assert [row["measure"] for row in rows] == ["contrast", "contrast", "contrast", "weat"]


def test_a_study_on_workers_goes_on(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    plan = 'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodels = ["hierarchical", "no_pooling"]\n'
    plan += 'random_seed = 1\ndraws = 25\n{}[embeddings]\nmine = "vectors.txt"\n'
    (workplace / "study.toml").write_text(plan.format("workers = 1\n"))
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 0
    assert "no_pooling" in capsys.readouterr().out
    made = {path.name for path in (workplace / "study").iterdir()}
    numbered = {f"{name}{suffix}" for name in ("contrasts", "measures") for suffix in (".csv", "_2.csv")}
    assert made == {*_WRITTEN, *numbered, "answers.png", "audit.png", "audit_2.png", "cells"}
    table = (workplace / "study" / "audit.csv").read_bytes()
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 2
    assert "study" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(
            "bayesbias.audits.audit_cell.AuditCell.answer", lambda *_: pytest.fail("a cell was computed again")
        )
        for file in (workplace / "study").glob("*.*"):  # a run that was killed leaves its cells only
            file.unlink()
        assert in_process("audit", "study.toml", "-o", "study", "--json", monkeypatch=monkeypatch) == 0
        rows = json.loads(capsys.readouterr().out)["audit"]
        assert {row["model"] for row in rows} == {"hierarchical", "no_pooling"}
        assert (workplace / "study" / "audit.csv").read_bytes() == table
    # Without workers the numbers are the same; an option stands for the plan's workers.
    (workplace / "alone.toml").write_text(plan.format(""))
    for folder, option in (("alone", ()), ("again", ("--workers", "1"))):
        assert in_process("audit", "alone.toml", "-o", folder, *option, monkeypatch=monkeypatch) == 0
        assert (workplace / folder / "audit.csv").read_bytes() == table
    # Fits, which pages need, are in no cell.
    assert in_process("audit", "study.toml", "-o", "pages", "--pages", monkeypatch=monkeypatch) == 0
    assert (workplace / "pages" / "audit.csv").read_bytes() == table
    assert [path.name for path in (workplace / "pages").glob("question_*.html")] == ["question_1.html"]
    assert not (workplace / "pages" / "cells").exists()


GUIDE = (Path(bb.__file__).parents[1] / "docs" / "guide" / "gate.md").read_text(encoding="utf-8")
FILES = {"gate.json", "junit.xml", "model_card.md", "questions.csv", "report.html", "conclusions.json"}
PLAN = 'studies = ["pets.toml"]\nmodel = "hierarchical"\nrandom_seed = 1\ndraws = 100\n{}\n[embeddings]\n{}\n'


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def pets(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the study, with vectors of coherent lists, and with some that lack half of a list."""
    lines = []
    for place, line in enumerate((workplace / "vectors.txt").read_text().splitlines()):
        word, *numbers = line.split()
        numbers[place // 2] = str(float(numbers[place // 2]) + 4)
        lines.append(" ".join([word, *numbers]))
    (workplace / "vectors.txt").write_text("\n".join(lines) + "\n")
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
    assert f"(exit code {code})" in first.splitlines()[0]
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
    # So does an audit; its message names options that it has.
    assert in_process("audit", "gate.toml", monkeypatch=monkeypatch) == 5
    shown_audit = capsys.readouterr()
    assert "unanswered: few, pets" in shown_audit.out
    assert "mine" in shown_audit.out
    assert in_process("audit", "gate.toml", "-o", "audit", "--workers", "1", monkeypatch=monkeypatch) == 5
    assert "few" in (pets / "audit" / "failed.csv").read_text()
    option = re.findall(r"--max-lost [\d.]*\d", shown_audit.err)[0].split()
    capsys.readouterr()
    assert in_process("audit", "gate.toml", *option, monkeypatch=monkeypatch) == 0
    assert "P(too small to matter)" in capsys.readouterr().out


def test_an_audit_without_any_answer_ends_with_the_code_of_unanswered(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for measures, model in (('"contrast"', "hierarchical"), ('"mac"', "none")):
        plan = f'studies = ["pets.toml"]\nmeasures = [{measures}]\nmodel = "{model}"\n[embeddings]\nfew = "few.txt"\n'
        (pets / "few.toml").write_text(plan)
        assert in_process("audit", "few.toml", "-o", "few", monkeypatch=monkeypatch) == 5
        assert "unanswered: few, pets" in capsys.readouterr().out


def test_a_file_that_is_missing_does_not_stop_the_others(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'gone = "none.txt"\nmine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 5
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("UNANSWERED gone, pets: There is no file")
    assert lines[2].startswith("PASS mine, pets")
    junit = (pets / "gate" / "junit.xml").read_text()
    assert 'tests="2" failures="0" errors="1"' in junit
    # Without any file nothing can be asked.
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'gone = "none.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", "--overwrite", monkeypatch=monkeypatch) == 1
    assert outcome_in(pets / "gate") == "fault"


def test_a_hint_names_the_command_that_has_the_option(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate looks words up in other forms, but reads no other format than what it recognises."""
    (pets / "vectors.txt").write_text("no vectors\n")
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    for command in (("gate", "gate.toml"), ("table", "vectors.txt", "--study", "pets.toml", "-o", "t.csv")):
        assert in_process(*command, monkeypatch=monkeypatch) == 2
        error = capsys.readouterr().err
        assert "--format" in error
        assert ("--format of `bayesbias table`" in error) == (command[0] == "gate")


def outcome_in(folder: Path) -> str:
    """Return the outcome in the files of a gate, which must agree."""
    content = json.loads((folder / "gate.json").read_text())
    conclusions = json.loads((folder / "conclusions.json").read_text())
    assert content["outcome"] == conclusions["outcome"]
    assert ('errors="0"' in (folder / "junit.xml").read_text()) == (content["outcome"] not in ("fault", "mistake"))
    return str(content["outcome"])


def test_a_mistake_replaces_what_an_earlier_gate_said(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = PLAN.format("rope = 9", 'mine = "vectors.txt"')
    (pets / "gate.toml").write_text(whole)
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    assert outcome_in(pets / "gate") == "pass"
    (pets / "gate.toml").write_text(whole.replace("rope", "ropee"))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 2, "without --overwrite"
    assert "is of an earlier gate, and says nothing of this one" in " ".join(capsys.readouterr().err.split())
    assert outcome_in(pets / "gate") == "pass"
    assert in_process("gate", "gate.toml", "-o", "gate", "--overwrite", monkeypatch=monkeypatch) == 2
    assert outcome_in(pets / "gate") == "mistake"
    assert "ropee" in (pets / "gate" / "junit.xml").read_text()
    assert not (pets / "gate" / "questions.csv").exists()
    assert in_process("gate", "gate.toml", "--baseline", "gate/gate.json", monkeypatch=monkeypatch) == 2
    # What says that nothing was decided is replaced without being asked.
    (pets / "gate.toml").write_text(whole)
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    assert outcome_in(pets / "gate") == "pass"


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has pipes with a name")
def test_a_pipe_in_place_of_what_an_earlier_gate_said_is_not_waited_for(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    (pets / "gate").mkdir()
    os.mkfifo(pets / "gate" / "conclusions.json")
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 2
    assert "gate exists and is not empty" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [("--ropee", "1"), ("--hdi",), ("--max-lost", "many")])
def test_options_that_cannot_be_read_replace_what_an_earlier_gate_said(
    pets: Path, wrong: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    command = ("gate", "gate.toml", "-o", "gate")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert in_process(*command, *wrong, monkeypatch=monkeypatch) == 2
    assert outcome_in(pets / "gate") == "pass", "it may not be replaced"
    assert "is of an earlier gate" in " ".join(capsys.readouterr().err.split())
    assert in_process(*command, "--overwrite", *wrong, monkeypatch=monkeypatch) == 2
    assert outcome_in(pets / "gate") == "mistake"
    assert not list(pets.glob(".*.bayesbias"))


def test_a_full_disk_leaves_no_earlier_pass(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    capsys.readouterr()

    def full(*_: object, **__: object) -> None:
        raise OutputError("Cannot write gate: No space left on device.") from OSError(28, "No space left on device")

    monkeypatch.setattr("bayesbias.delivery.writing.write", full)
    assert in_process("gate", "gate.toml", "-o", "gate", "--overwrite", monkeypatch=monkeypatch) == 1
    assert "No space left" in capsys.readouterr().err
    assert {path.name for path in (pets / "gate").iterdir()} <= {"questions.csv", "gate.png", "cells"}


def test_cells_are_not_kept_where_a_link_of_the_output_leads(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    for folder in ("elsewhere", "gate"):
        (pets / folder).mkdir()
    (pets / "gate" / "cells").symlink_to("../elsewhere")
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 2
    assert "cells is a link" in capsys.readouterr().err
    assert list((pets / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has folders in which all may write")
def test_a_link_that_others_plant_meanwhile_removes_no_earlier_gate(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    (pets / "shared").mkdir()
    (pets / "shared").chmod(0o1777)

    def plant(*_: object, **__: object) -> None:
        (pets / "shared" / "gate.html").symlink_to(pets / "gate")
        raise OutputError("It ends here.")

    monkeypatch.setattr("bayesbias.cli.many_questions._gated", plant)
    assert in_process("gate", "gate.toml", "-o", "shared/gate.html", monkeypatch=monkeypatch) == 2
    assert "It ends here" in capsys.readouterr().err
    assert outcome_in(pets / "gate") == "pass"


def test_a_baseline_is_not_replaced_by_the_output(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "old", monkeypatch=monkeypatch) == 0
    before = (pets / "old" / "gate.json").read_bytes()
    command = ("gate", "gate.toml", "-o", "old", "--overwrite", "--baseline", "old/gate.json")
    assert in_process(*command, monkeypatch=monkeypatch) == 2
    assert "would be replaced" in capsys.readouterr().err
    assert (pets / "old" / "gate.json").read_bytes() == before


def test_a_gate_that_was_stopped_goes_on_and_says_so(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    assert "earlier runs" not in capsys.readouterr().err
    first = (pets / "gate" / "gate.json").read_bytes()
    for file in (pets / "gate").glob("*.*"):  # a run that was killed leaves its cells only
        file.unlink()
    monkeypatch.setattr(
        "bayesbias.audits.audit_cell.AuditCell.answer", lambda *_: pytest.fail("a cell was computed again")
    )
    assert in_process("gate", "gate.toml", "-o", "gate", "--quiet", monkeypatch=monkeypatch) == 0
    assert "1 answer of earlier runs" in " ".join(capsys.readouterr().err.split())
    assert (pets / "gate" / "gate.json").read_bytes() == first


def test_other_forms_of_the_words_are_another_plan(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vocabulary can hold a second, harmless vector of each word, under a name that a suffix finds."""
    lines = (pets / "vectors.txt").read_text().splitlines()
    (pets / "vectors.txt").write_text("\n".join([*lines, *(line.replace(" ", "x ", 1) for line in lines)]) + "\n")
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "old", monkeypatch=monkeypatch) == 0
    baseline = ("--baseline", "old/gate.json")
    assert in_process("gate", "gate.toml", *baseline, monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert in_process("gate", "gate.toml", *baseline, "--suffix", "x", "--quiet", monkeypatch=monkeypatch) == 7
    assert "other forms than in the baseline" in " ".join(capsys.readouterr().err.split())


def test_the_package_and_the_vectors_are_recorded(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = bb.load_embedding("vectors.txt")
    bb.write_embedding(bb.Embedding(source.words, source.vectors, steps=("encoded by version 2 of x",)), "x.npz")
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "x.npz"'))
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 0
    settings = json.loads((pets / "gate" / "gate.json").read_text())["settings"]
    assert settings["Package"] == f"bayesbias {version('bayesbias')}"
    digest = bb.load_embedding("x.npz").digest
    assert settings["Embeddings"] == f"mine (hash {digest}, of the words that were read; encoded by version 2 of x)"


def test_a_changed_plan_has_its_own_code_and_is_named_even_if_quiet(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"\ntwin = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "-o", "old", monkeypatch=monkeypatch) == 0
    (pets / "gate.toml").write_text(PLAN.format("rope = 9", 'mine = "vectors.txt"'))
    baseline = ("--baseline", "old/gate.json", "--quiet")
    capsys.readouterr()
    assert in_process("gate", "gate.toml", *baseline, "--rope", "10", monkeypatch=monkeypatch) == 7
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "NOT ASKED pets in twin" in shown.err
    assert "rope: -9 to 9" in shown.err
    assert in_process("gate", "gate.toml", *baseline, "--no-strict", monkeypatch=monkeypatch) == 0
    assert "NOT ASKED pets in twin" in capsys.readouterr().err


def test_a_standardised_region_comes_from_the_plan_or_an_option(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pets / "gate.toml").write_text(PLAN.format("rope = {standardised = 9}", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", monkeypatch=monkeypatch) == 0
    planned = capsys.readouterr().out
    assert "-9 to 9 in units of coherence" in planned
    (pets / "gate.toml").write_text(PLAN.format("rope = 1", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", "--rope-standardised", "9", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == planned
    both = ("--rope", "1", "--rope-standardised", "9")
    assert in_process("gate", "gate.toml", *both, monkeypatch=monkeypatch) == 2
    (pets / "gate.toml").write_text(PLAN.format("rope = {standardized = 9}", 'mine = "vectors.txt"'))
    assert in_process("gate", "gate.toml", monkeypatch=monkeypatch) == 2
    assert "rope" in capsys.readouterr().err


def test_mistakes_are_named_before_any_work(
    pets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bb, "audit", lambda *_, **__: pytest.fail("an audit began"))
    (pets / "gate.toml").write_text(PLAN.format("", 'mine = "vectors.txt"'))
    (pets / "wrong.json").write_text("{}")
    for arguments, fact in (
        (["-o", "gate"], "rope"),
        (["--rope", "0.1", "--baseline", "wrong.json", "-o", "gate"], "schema_version 5"),
        (["--rope", "0.1", "--baseline", "none.json", "-o", "gate"], "none.json"),
    ):
        missing = "none.json" in arguments
        assert in_process("gate", "gate.toml", *arguments, monkeypatch=monkeypatch) == (1 if missing else 2)
        assert fact in capsys.readouterr().err
        assert outcome_in(pets / "gate") == ("fault" if missing else "mistake")


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
    assert steps[1].splitlines()[1].startswith(compare)
    assert [run(step, tmp_path) for step in steps[1:]] == [0, 0]
    assert capfd.readouterr().out.count("by draws") == 3
    assert (tmp_path / "summary.md").read_text().startswith("## Bias, Risks, and Limitations")


@pytest.mark.slow
def test_embeddings_are_compared_by_their_tables(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    original = bb.load_embedding("vectors.txt")
    for name, matrix in (("original", original.vectors), ("changed", original.vectors + np.eye(8)[0])):
        table = bb.distance_table(bb.Embedding(original.words, matrix, name=name), "pets.toml")
        bb.write_table(table, f"{name}.csv")
    command = ("compare", "original.csv", "changed.csv", "-o", "compared", "--seed", "1")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert "changed" in capsys.readouterr().out
    written = {path.name for path in (workplace / "compared").iterdir()}
    assert {"report.html", "contrasts.csv", "changes.csv", "distances.csv", "change_1.png"} <= written


FOLDER = bb.bundled("data", "vectors", "planted_drift")


def test_a_folder_of_embeddings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, shares = tmp_path / "moved", tmp_path / "shares.csv"
    shares.write_text("period,share\n1950,0.1\n1960,0.3\n1970,0.2\n1980,0.4\n1990,0.1\n")
    given = [FOLDER, "--study", "weat6", "-o", output, "--draws", "100", "--seed", "1", "--covariates", shares]
    assert in_process("trend", *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {"report.html", "change_1.png", "trend.png", "trends.png", "conclusions.txt", "conclusions.json"}
    made |= {f"{name}.csv" for name in ("contrasts", "changes", "lines", "neighbours", "words", "distances", "lacking")}
    assert {path.name for path in output.iterdir()} == made
    assert data["answer"] in unescape((output / "report.html").read_text(encoding="utf-8"))
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
    given = ["-o", tmp_path / "moved.json", "--draws", "100", "--seed", "1", "--scope", "these_words", "-q"]
    assert in_process("trend", *paths, *given, monkeypatch=monkeypatch) == 0
    assert json.loads((tmp_path / "moved.json").read_text())["settings"]["Scope"] == "these_words"
    assert in_process("trend", paths[0], *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "1900.csv" in capsys.readouterr().err


@pytest.mark.slow
def test_trainings(
    workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (workplace / "vectors.txt").read_text().splitlines()
    for seed in (1, 2, 3):
        moved = [
            " ".join(
                [
                    word,
                    *(f"{float(value) + 0.1 * np.sin(position * seed):.5f}" for position, value in enumerate(values)),
                ]
            )
            for word, *values in map(str.split, lines)
        ]
        (tmp_path / f"seed{seed}.txt").write_text("\n".join(moved) + "\n")
    paths = [tmp_path / f"seed{seed}.txt" for seed in (1, 2, 3)]
    output = tmp_path / "stable"
    given = [
        "--study",
        workplace / "pets.toml",
        "-o",
        output,
        "--model",
        "hierarchical",
        "--draws",
        "200",
        "--seed",
        "1",
    ]
    assert in_process("trainings", *paths, *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {"report.html", "trainings.png", "conclusions.txt", "conclusions.json", "contrasts.csv", "by_seed.csv"}
    assert {path.name for path in output.iterdir()} == made
    assert data["answer"] in unescape((output / "report.html").read_text(encoding="utf-8"))
    assert [row["seeds"] for row in data["tables"]["contrasts"]] == [3, 3]
    assert {row["seed"] for row in data["tables"]["by_seed"]} == {"seed1", "seed2", "seed3"}
    (tmp_path / "later").mkdir()
    for path in paths:
        path.with_name("later").joinpath(path.name).write_text(path.read_text().replace(" 0.", " 0.2"))
    (tmp_path / "sets.toml").write_text("definitional = [['cat', 'dog']]\n")
    for options, name in (
        (("--changed", tmp_path / "later"), "later"),
        (("--method", "linear", "--sets", tmp_path / "sets.toml"), "linear"),
    ):
        moved = ("trainings", *paths, *given, "--overwrite", "--json", "--level", "protected_group", *options)
        assert in_process(*moved, monkeypatch=monkeypatch) == 0
        changes = json.loads(capsys.readouterr().out)
        assert f"from original to {name}" in json.dumps(changes), {k: str(v)[:300] for k, v in changes.items()}
        assert {row["protected_group"] for row in changes["tables"]["contrasts"]} == {"cats", "dogs"}
    both = ("--changed", tmp_path / "later", "--method", "linear", "--sets", tmp_path / "sets.toml", "--rope", "0.02")
    assert in_process("trainings", *paths, *given, "--overwrite", "--json", *both, monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["contrasts"]
    assert [row["second"] for row in rows] == ["later", "linear"] * 2
    assert all(0 <= row["probability_in_rope"] <= 1 for row in rows)
    twice = ("--changed", tmp_path / "later", "--changed", tmp_path / "later")
    for options, code, message in (
        (("--method", "hard"), 2, "--method and --sets belong together"),
        (("--changed", tmp_path / "nothing"), 1, "nothing/seed1.txt"),  # a missing file is no mistake
        (twice, 2, "later, later. Give each condition a name of its own"),
    ):
        assert in_process("trainings", *paths, *given, "--overwrite", *options, monkeypatch=monkeypatch) == code
        assert message in " ".join(capsys.readouterr().err.split())
    assert in_process("trainings", *paths, *given, monkeypatch=monkeypatch) == 2
    assert "stable" in capsys.readouterr().err
    assert in_process("trainings", paths[0], *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "seed1.txt" in capsys.readouterr().err
    (tmp_path / "copy.txt").write_text((tmp_path / "seed1.txt").read_text())
    assert in_process("trainings", paths[0], tmp_path / "copy.txt", *given, "--overwrite", monkeypatch=monkeypatch) == 2
    message = capsys.readouterr().err
    assert all(f"'{name}'" in message for name in ("seed1", "copy"))
    drawn = [option for path in paths[1:] for option in ("--resampled", path)]
    given[3] = tmp_path / "with_documents"
    (tmp_path / "first.txt").write_text((workplace / "vectors.txt").read_text())
    assert (
        in_process("trainings", paths[0], tmp_path / "first.txt", *drawn, *given, "--json", monkeypatch=monkeypatch)
        == 0
    )
    row = json.loads(capsys.readouterr().out)["tables"]["contrasts"][0]
    assert row["seeds"] == 2
    assert row["document_sd_low"] < row["document_sd"] < row["document_sd_high"]


def test_claims_for_random_lists_are_printed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ["random-lists", vectors, "--study", "weat7", "--model", "hierarchical", "--samples", "10", "--seed", "1"]
    monkeypatch.setattr("warnings.warn", lambda *_, **__: None)  # of words that the vectors lack
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    printed_text = capsys.readouterr().out
    assert "16 attribute words of the study 'weat7'" in printed_text
    assert "order of the embedding" in printed_text  # by default, drawn words match by rank
    assert in_process(*command, "--match", "none", "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    settings = {"model": "hierarchical", "samples": 10, "match": None, "random_seed": 1, "progress": False}
    expected = bb.check_random_lists(bb.load_embedding(vectors), "weat7", **settings)
    assert printed == json.loads(json.dumps(expected.to_dict()))
    assert [row["method"] for row in printed["tables"]["methods"]][:2] == ["hierarchical", "weat"]
