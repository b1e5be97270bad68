"""How the command line begins and ends: help, versions, warnings, interrupts, completion."""

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias import cli
from bayesbias.base.machine import TERMINATED
from bayesbias.cli import base
from tests.cli.running import in_process

ROOMS = {
    path.stem
    for path in Path(cli.__file__).parent.iterdir()
    if path.stem not in ("__init__", "base", "called", "messages", "options")
} - {"__pycache__"}


@pytest.mark.parametrize("command", [[], ["studies"], ["table"], ["fit"], ["summary"], ["demo"]])
def test_help_teaches(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(*command, "--help", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "Usage" in shown
    if command and command[0] in ("table", "fit", "summary"):
        assert f"bayesbias {command[0]}" in shown, "an example is shown"


@pytest.mark.parametrize("name", ["table", "compare"])
def test_the_help_leads_from_seeds_to_trainings(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(name, "--help", monkeypatch=monkeypatch) == 0
    assert "trained with several seeds" in capsys.readouterr().out


def test_the_help_leads_with_what_a_first_user_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("--help", monkeypatch=monkeypatch) == 0
    shown = re.findall(r"^│ (\w[\w-]*) {2,}", capsys.readouterr().out, re.MULTILINE)
    assert shown[:4] == ["demo", "table", "fit", "report"]
    assert set(shown) == set(cli._PLACES)


def test_each_group_of_the_help_is_a_room() -> None:
    rooms: dict[object, set[str]] = {}
    for command in base.app.registered_commands:
        room = str(getattr(command.callback, "__module__", "")).split(".")[2]
        rooms.setdefault(command.rich_help_panel, set()).add(room)
    assert sorted(map(list, rooms.values())) == sorted([name] for name in ROOMS)


@pytest.fixture(scope="module")
def commands() -> dict[str, list[str]]:
    """Return the usage line of each command, in words."""
    from typer.main import get_command

    def walk(command: object, path: str) -> dict[str, list[str]]:
        inner = getattr(command, "commands", {})
        context = command.make_context(path, [], resilient_parsing=True)  # type: ignore[attr-defined]
        here = {path: [str(piece) for piece in command.collect_usage_pieces(context)]}  # type: ignore[attr-defined]
        return here | {k: v for name, one in inner.items() for k, v in walk(one, f"{path} {name}".strip()).items()}

    return walk(get_command(base.app), "")


def test_usage_lines_have_capitals_and_no_braces(commands: dict[str, list[str]]) -> None:
    assert len(commands) > 15
    for name, pieces in commands.items():
        arguments = " ".join(pieces).replace("[OPTIONS]", "")
        assert "{" not in arguments, name
        assert arguments == arguments.upper(), name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell: str, tmp_path: Path) -> None:
    # As typer's own tests do: else the shell is the one that the tests run in.
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [Path(sys.executable).parent / "bayesbias", "--show-completion", shell]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert "_BAYESBIAS_COMPLETE" in done.stdout
    request = {
        "bash": {"_BAYESBIAS_COMPLETE": "complete_bash", "COMP_WORDS": "bayesbias cont", "COMP_CWORD": "1"},
        "zsh": {"_BAYESBIAS_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "bayesbias cont"},
        "fish": {
            "_BAYESBIAS_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_ARGS": "bayesbias cont",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        },
    }[shell]
    completions = subprocess.run(
        command[:1], env={**env, **request}, capture_output=True, text=True, check=False, timeout=60
    ).stdout
    assert "contrast" in completions
    assert "compare" not in completions


@pytest.mark.slow
def test_the_version_and_the_module() -> None:
    for command in ([sys.executable, "-m", "bayesbias"], [str(Path(sys.executable).with_name("bayesbias"))]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        first, system, *libraries = done.stdout.splitlines()
        assert first == f"bayesbias {version('bayesbias')}"
        assert system.startswith(f"Python {platform.python_version()}, ")
        assert f"pymc {version('pymc')}" in libraries


def test_the_entry_point_is_installed() -> None:
    entry_point = shutil.which(
        "bayesbias", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    assert entry_point is not None


def test_our_warnings_are_one_message_and_others_keep_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    cli._show_warning(bb.errors.LostWordsWarning("two words\nerror: none"), bb.errors.LostWordsWarning, "f.py", 1)
    cli._show_warning(UserWarning("of a library"), UserWarning, "f.py", 1)
    assert capsys.readouterr().err == "warning: two words\n  error: none\nf.py:1: UserWarning: of a library\n"


@pytest.mark.slow
def test_our_warnings_stop_no_command_where_warnings_are_errors(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("bayesbias"),
            *("table", str(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))),
            *("--study", "religion", "--max-lost", "0.25", "-o", "t.csv"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"HOME": "/dev/null/none", "LC_ALL": "C", "PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "1"},
    )
    assert (done.returncode, done.stderr.startswith("warning: The embedding")) == (0, True), done.stderr
    assert (tmp_path / "t.csv").exists()


def test_python_without_docstrings_is_told_in_a_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "bayesbias", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("error: ")
    assert "-OO" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell closes streams")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_a_command_ends_well_without_standard_streams(closed: str, workplace: Path) -> None:
    bb.write_table(
        bb.distance_table(bb.load_embedding(workplace / "vectors.txt"), workplace / "pets.toml"), workplace / "pets.csv"
    )
    command = f"exec {sys.executable} -m bayesbias fit pets.csv --draws 50 --seed 1 --output pets {closed}"
    assert subprocess.run(command, shell=True, cwd=workplace, check=False, timeout=300).returncode == 0
    assert (workplace / "pets" / "conclusions.txt").exists()


def test_memory_that_is_used_up_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(bb, "list_studies", too_much)
    assert in_process("studies", monkeypatch=monkeypatch) == 1
    assert "memory" in capsys.readouterr().err


def test_an_interrupt_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bb, "list_studies", interrupted)
    monkeypatch.setattr("bayesbias.base.files.outputs._placed", {})
    assert in_process("studies", monkeypatch=monkeypatch) == 130
    assert "interrupted: nothing was written" in capsys.readouterr().err


def test_an_interrupt_that_a_compiled_module_turns_into_an_import_error_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        try:
            sys.exit(TERMINATED)
        except SystemExit as stop:
            raise ImportError("initialization failed") from stop

    monkeypatch.setattr(bb, "list_studies", interrupted)
    monkeypatch.setattr("bayesbias.base.files.outputs._placed", {})
    assert in_process("studies", monkeypatch=monkeypatch) == TERMINATED
    assert "terminated: nothing was written" in capsys.readouterr().err
    monkeypatch.setattr(bb, "list_studies", lambda: __import__("no_such_module"))
    with pytest.raises(ImportError, match="no_such_module"):
        in_process("studies", monkeypatch=monkeypatch)
