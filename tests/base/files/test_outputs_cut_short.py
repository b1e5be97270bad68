"""Outputs after a kill, beside other runs, and when a command is stopped."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bayesbias.base.files import outputs
from bayesbias.base.files.outputs import atomic_path, claimed, workshop, written
from bayesbias.errors import OutputError
from tests.base.files.folders import content, fill

# --- kills ------------------------------------------------------------------------------------------------


def _in_a_process(work: Callable[..., None], *arguments: object) -> int:
    """Return the exit code of a process of its own, which can be killed."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _killed_at(step: int, folder: Path, way: str) -> None:
    """Replace a folder, and be killed before the `step`-th call that changes names."""
    counted = 0

    def before(function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **settings: object) -> object:
            nonlocal counted
            counted += 1
            if counted == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*given, **settings)

        return call

    exchange = outputs._exchanger()
    for name in ("replace", "rename", "unlink", "mkdir"):
        setattr(Path, name, before(getattr(Path, name)))
    if exchange is not None and way != "file by file":
        refused = before(exchange)
        outputs._exchanger = lambda: refused  # type: ignore[assignment]
    fill(folder, "second", names=("a.txt", "c_1.txt"))


def test_after_a_kill_at_any_step_the_next_run_works_and_nothing_is_mixed(tmp_path: Path, way: str) -> None:
    if way == "a system that refuses":
        pytest.skip("its steps are those of the others")
    folder = tmp_path / "out"
    old, new = {"a.txt": "first", "b.txt": "first"}, {"a.txt": "second", "c_1.txt": "second"}
    seen = []
    for step in range(1, 30):
        fill(folder, "first")
        code = _in_a_process(_killed_at, step, folder, way)
        assert code in (0, -signal.SIGKILL)
        if way == "exchanged":
            assert content(folder) in (old, new)
            seen.append(content(folder) == new)
        # The next run, with nothing done by hand, in that folder; it completes what was begun.
        with claimed(folder):
            assert content(folder) in (old, new)
        fill(folder, "third", names=("a.txt",))
        assert content(folder) == {"a.txt": "third"}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        if code == 0:
            break
    assert code == 0, "the steps are not exhausted"
    assert step > 3
    assert way != "exchanged" or seen == sorted(seen)


def test_an_interrupt_while_files_are_put_in_place_mixes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, replace = tmp_path / "out", Path.replace
    fill(folder, "first")
    monkeypatch.setattr(outputs, "_exchanger", lambda: None)
    calls = []

    def interrupted(path: Path, target: Path) -> Path:
        calls.append(target)
        if target.name == "b.txt" and len(calls) < 4:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(folder, "second")
    assert content(folder) == {"a.txt": "second", "b.txt": "second"}
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 or UTF-16 there")
def test_files_are_replaced_one_by_one_in_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "out\udcff"
    fill(folder, "first")
    (folder / "cells").mkdir()  # the folder cannot be exchanged
    fill(folder, "second")
    (folder / "cells").rmdir()
    assert content(folder) == {"a.txt": "second", "b.txt": "second"}
    assert list(tmp_path.iterdir()) == [folder]


def test_a_strangers_journal_reaches_nothing_outside(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fill(folder, "first")
    (tmp_path / "precious").write_text("mine")
    with claimed(folder):
        (workshop,) = [path for path in tmp_path.iterdir() if path.name.endswith(".bayesbias")]
    sound = {"of": "out", "in": 0, "made": [], "old": ["../precious", "..", "b.txt"]}
    for names in (sound, sound | {"of": "other"}, {"made": 1}, [], "no JSON"):
        workshop.mkdir(mode=0o1700)
        (workshop / "new").mkdir()
        sound["in"] = workshop.stat().st_ino
        text = names if isinstance(names, str) else json.dumps(names)
        (workshop / "journal.json").write_text(text)
        if names is sound:
            fill(folder, "second")
        else:
            with pytest.raises(OutputError, match="damaged"):
                fill(folder, "third")
            shutil.rmtree(workshop)
    assert (tmp_path / "precious").read_text() == "mine"
    assert content(folder) == {"a.txt": "second", "b.txt": "second"}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("mine")
    workshop.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="link"):
        fill(folder, "third")
    assert (tmp_path / "elsewhere" / "precious").exists()


@pytest.mark.parametrize("is_link", [True, False])
def test_a_workshop_that_an_archive_brings_moves_and_removes_nothing(tmp_path: Path, *, is_link: bool) -> None:
    """Its mode is that of a workshop; its author knows neither its number, nor where a link of his may lead."""
    folder, private = tmp_path / "out", tmp_path / "private"
    fill(folder, "first")
    fill(private, "mine")
    with claimed(folder):
        (shop,) = [path for path in tmp_path.iterdir() if path.name.endswith(".bayesbias")]
    shop.mkdir(mode=0o1700)
    number = shop.stat().st_ino if is_link else 12345
    (shop / "journal.json").write_text(json.dumps({"of": "out", "in": number, "made": [], "old": ["b.txt"]}))
    if is_link:
        (shop / "new").symlink_to(private)
    else:
        fill(shop / "new", "planted", names=("a.txt",))
    with pytest.raises(OutputError, match="came with files of others"):
        fill(folder, "second")
    assert content(private) == {"a.txt": "mine", "b.txt": "mine"}
    assert content(folder) == {"a.txt": "first", "b.txt": "first"}


def test_a_journal_is_not_carried_out_through_a_link_that_comes_in_the_meantime(tmp_path: Path) -> None:
    folder, private = tmp_path / "out", tmp_path / "private"
    fill(private, "mine")

    def late(inside: Path) -> None:
        with workshop(folder, tmp_path) as shop:
            folder.symlink_to(private)
            journal = shop.path if inside == tmp_path else private / shop.path.name
            (journal / "new").mkdir(parents=True)
            (journal / "journal.json").write_text(json.dumps({"of": "out", "made": [], "old": ["a.txt", "b.txt"]}))
        with workshop(folder, tmp_path):
            pass

    for inside in (tmp_path, private):
        with pytest.raises(OutputError, match="link in the meantime"):
            late(inside)
        assert content(private) == {"a.txt": "mine", "b.txt": "mine"}
        folder.unlink()
        for path in tmp_path.glob(".*"):
            shutil.rmtree(path)


# --- several runs at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("overwrite", [False, True])
def test_one_of_several_runs_writes_and_the_others_are_told(overwrite: bool, tmp_path: Path) -> None:
    """Eight threads that all want the same place, with and without leave to overwrite."""
    folder = tmp_path / "out"
    if overwrite:
        fill(folder, "before")
    start, refused, wrote = threading.Barrier(8), list[str](), list[str]()

    def run(number: int) -> None:
        start.wait()
        try:
            fill(folder, str(number), overwrite=overwrite)
            wrote.append(str(number))
        except OutputError as error:
            refused.append(str(error))

    runs = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    contents = set(content(folder).values())
    assert len(contents) == 1
    assert contents <= set(wrote)
    assert len(wrote) + len(refused) == 8
    assert overwrite or len(wrote) == 1
    assert all("nother run" in text or "not empty" in text for text in refused), refused
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_who_comes_second_is_told_at_once(tmp_path: Path) -> None:
    def second() -> None:
        with pytest.raises(OutputError, match="writing"), claimed(tmp_path / "f.csv"):
            pass
        refused.append(True)

    refused: list[bool] = []
    with claimed(tmp_path / "f.csv"):
        other = threading.Thread(target=second)
        other.start()
        other.join()
        with atomic_path(tmp_path / "f.csv") as made:  # the run itself is not in its own way
            made.write_text("new")
    assert refused == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_a_file_that_came_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    def late() -> None:
        with atomic_path(tmp_path / "f") as made:
            made.write_text("mine")
            (tmp_path / "f").write_text("theirs")

    with pytest.raises(OutputError, match="meantime"):
        late()
    assert (tmp_path / "f").read_text() == "theirs"


# --- what is said when a run is stopped -------------------------------------------------------------------


def test_what_was_written_is_known(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "f") as made:
        made.write_text("new")
        assert tmp_path / "f" not in written()
    fill(tmp_path / "out", "new")
    assert {tmp_path / "f", tmp_path / "out"} <= set(written())
    (tmp_path / "f").unlink()
    assert tmp_path / "f" not in written()


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("sign", "code", "word"),
    [
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 143, "terminated"),
        (signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_stopped_command_leaves_nothing_and_says_so(
    tmp_path: Path, sign: signal.Signals, code: int, word: str
) -> None:
    run = subprocess.Popen(
        [Path(sys.executable).with_name("bayesbias"), "demo", "-o", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    run.stdout.readline()  # it has its table now, and samples
    run.send_signal(sign)
    _, stderr = run.communicate()
    assert run.returncode == code
    assert stderr.endswith(f"{word}: nothing was written\n")
    assert list(tmp_path.iterdir()) == []
