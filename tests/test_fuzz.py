"""Hostile inputs, kills, interrupts and several runs at once, in short: `make fuzz` has 50,000 inputs and 200 kills."""

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from bayesbias.base.files.inputs import bundled
from tests.fuzz import runner
from tests.fuzz.interrupts import COMMANDS as INTERRUPTED
from tests.fuzz.interrupts import interrupted, prepare
from tests.fuzz.kills import COMMANDS, at_once, killed, needed
from tests.fuzz.runner import OUTCOMES, count
from tests.fuzz.targets import TARGETS, Target, shares
from tests.fuzz.watch import PRIVATE, SECRET, new_place

INPUTS = 2_000


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_hostile_inputs_are_read_or_refused(name: str) -> None:
    inputs = next(each for kind, _, each in shares(INPUTS) if kind == name)
    found = count(name, inputs, seed=3)
    assert sum(found.values()) == inputs
    assert {outcome: found[outcome] for outcome in OUTCOMES[2:]} == dict.fromkeys(OUTCOMES[2:], 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux watches what libraries open")
def test_what_is_opened_outside_of_the_given_folder_is_seen() -> None:
    with new_place() as place:
        path = place.given / "input.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("taken", (80,), "f8", external=[(str(PRIVATE / "key"), 0, h5py.h5f.UNLIMITED)])
        (place.given / "link").symlink_to(place.folder / PRIVATE / "key")
        for read, names in (
            (lambda: path.read_bytes(), set()),
            (lambda: (place.given / "link").read_bytes(), {str(place.given / "link"), f"{PRIVATE}/key"}),
            (lambda: Path("/etc/passwd").read_bytes(), {"/etc/passwd"}),
        ):
            with place.watched() as outside:
                read()
            assert outside == names
        with place.watched() as outside, h5py.File(path) as file:
            assert np.array_equal(file["taken"][:], np.frombuffer(SECRET))
        assert outside == {f"{PRIVATE}/key"}
        with place.watched() as outside:
            (place.folder / PRIVATE / "key").unlink()
        assert outside == {f"{PRIVATE}/key"}
        with place.watched() as outside:  # as another process of the machine may do
            list((place.folder / PRIVATE).iterdir())
        assert outside == set()


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def spin_in_a_child(path: Path) -> None:
    child = multiprocessing.get_context("fork").Process(target=spin, args=(60,), daemon=True)
    child.start()
    try:
        child.join()
    finally:
        child.kill()


def read_a_pipe(path: Path) -> bytes:
    os.mkfifo(path.with_name("pipe"))
    return path.with_name("pipe").read_bytes()


def ignore(path: Path) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    spin(60)


@pytest.mark.parametrize(
    ("read", "outcome"),
    [
        (lambda path: time.sleep(1), "read"),  # as on a machine that does other things
        (lambda path: spin(60), "hang"),
        (spin_in_a_child, "hang"),
        (read_a_pipe, "hang"),
        (ignore, "crash"),
    ],
    ids=["sleep", "spin", "spin in a child", "pipe", "ignore"],
)
def test_what_takes_processor_time_or_waits_for_ever_hangs(
    read: Callable[[Path], object], outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_TICK", 0.1)
    monkeypatch.setattr(runner, "_IDLE_SECONDS", 2)
    monkeypatch.setitem(TARGETS, "slow", (1, Target(lambda rng: b"", read, ".txt", seconds=0.3)))
    assert count("slow", 1, seed=1) == {outcome: 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table", "debias"])
def test_killed_commands_leave_what_was_there_or_the_whole_new(name: str, tmp_path: Path) -> None:
    shutil.copy(bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), tmp_path / "vectors.npz")
    found, whole = killed(COMMANDS[name], 3, tmp_path, random.Random(3))
    assert found["old"] + found["new"] == found.total() - found["ended"] == 3
    at_once_found = at_once(COMMANDS[name], 3, tmp_path, whole)
    assert at_once_found == {"wrote": 1, "told": 2, "whole": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audit", "encode"])
def test_interrupted_commands_end_in_one_line_and_go_on(name: str, tmp_path: Path) -> None:
    prepare(tmp_path, embeddings=1)
    found = interrupted(INTERRUPTED[name], 1, tmp_path, random.Random(3))
    assert found["ended"] + found["in time"] == found.total() == 1


def test_a_command_that_is_killed_alone_has_what_it_reads_and_nothing_else_runs() -> None:
    assert needed(["train"]) == needed(["table", "debias", "demo"]) == set()
    assert needed(["report"]) == {"fit", "table"}
    assert needed(["compare"]) == {"table", "other", "debias"}
    before: set[str] = set()
    for name, command in COMMANDS.items():
        assert before.issuperset(command.reads), name
        before.add(name)
