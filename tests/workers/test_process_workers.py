"""Workers as processes: the same numbers, no port, no cell that takes the others with it, nothing that is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import bayesbias as bb
import bayesbias.workers.process_workers as module
from bayesbias.base.machine import free_memory
from bayesbias.errors import BayesBiasWarning, ClusterError
from bayesbias.workers.process_workers import process_workers
from bayesbias.workers.workers import this_process
from tests.audits import pets
from tests.fuzz.interrupts import ports
from tests.workers.test_workers import CoresCell

SMALL = {"model": "no_pooling", "seeds": [1, 2], **pets.SMALL}


def children() -> list[int]:
    """The processes that this one has started and that run, but for Python's own that watches shared memory."""
    started = psutil.Process().children(recursive=True)
    return [process.pid for process in started if "resource_tracker" not in " ".join(process.cmdline())]


@pytest.mark.slow
def test_processes_give_the_same_numbers_and_one_that_dies_is_recorded() -> None:
    before, here = children(), os.getpid()

    def deadly(word: str) -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return word

    alone = bb.audit([pets.embedding(1)], pets.study(), pets.MEASURES, workers=1, **SMALL)
    embeddings = [pets.embedding(1), pets.embedding(2, case=deadly)]
    with pytest.warns(BayesBiasWarning, match="1 .* 2 .*memory"):
        frame = bb.audit(embeddings, pets.study(), pets.MEASURES, workers=2, **SMALL | {"seeds": [1]})
    assert frame.to_csv() == alone[alone["random_seed"] == 1].to_csv()
    assert children() == before


@pytest.mark.slow
def test_a_worker_is_one_core_and_given_what_it_needs() -> None:
    cells = [CoresCell("a"), CoresCell("b")]
    for start, cores in (
        (this_process(), 1),
        (this_process(every_core=True), os.cpu_count()),
        (process_workers(2), 1),
    ):
        with start as team:
            for name in ("first", "second"):  # other sources of the same name are sent anew
                source = replace(pets.embedding(1), name=name)
                facts = [answer.facts for _, answer in team.outcomes({"E": source}, cells)]
                expected = [{"digest": digest, "cores": cores, "source": name} for digest in "ab"]
                assert sorted(facts, key=lambda fact: fact["digest"]) == expected


@pytest.mark.slow
def test_memory_a_worker_is_bounded_and_an_error_leaves_no_process() -> None:
    before = children()
    with contextlib.suppress(ZeroDivisionError), process_workers(2) as team:
        assert team.count == 2
        assert 0 < team.memory * 2 <= 1.2 * free_memory()
        raise ZeroDivisionError
    assert children() == before


@pytest.mark.slow
def test_a_script_needs_no_guard_and_a_kill_leaves_no_process(tmp_path: Path) -> None:
    pets.write_plan(tmp_path, 1, 1)
    script = tmp_path / "script.py"
    script.write_text(
        "import bayesbias as bb\n"
        "print('begun')\n"
        f"small = dict(model='no_pooling', seeds=[1, 2], **{pets.SMALL})\n"
        "frame = bb.audit(['e0.npz'], 'pets.toml', ['mac'], workers=2, **small)\n"
        "print(len(frame), flush=True)\n"
        "bb.audit(['e0.npz'], 'pets.toml', ['mac'], workers=2, **small | {'seeds': range(2000)})\n"
    )
    killed = subprocess.Popen([sys.executable, script], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    assert [killed.stdout.readline().strip() for _ in range(2)] == ["begun", "2"]
    started: list[psutil.Process] = []
    while len(started) < 3 and killed.poll() is None:  # two workers, and what watches shared memory
        started = psutil.Process(killed.pid).children(recursive=True)
        time.sleep(0.1)
    assert killed.poll() is None
    killed.kill()
    killed.communicate()
    _, left = psutil.wait_procs(started, timeout=60)
    assert not left


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="only POSIX has permissions")
def test_workers_without_a_home_folder_have_a_private_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for mode, is_private in ((0o700, False), (0o1777, True)):
        tmp_path.chmod(mode)
        with module._environment():
            home = Path(os.environ["HOME"])
        assert (home != tmp_path) == is_private
    assert home.stat().st_mode & 0o777 == 0o700


def test_nobody_else_reaches_a_worker() -> None:
    with process_workers(2) as team:
        list(team.outcomes({"E": pets.embedding(1)}, [CoresCell("a"), CoresCell("b")]))
        ours = {*children(), os.getpid()}
        assert len(ours) == 3
        # A listening port, or a local socket that has a name, could be reached by other users.
        assert ports([psutil.Process(number) for number in ours]) == []
        if os.geteuid() == 0:  # another user, who would need the pipes
            worker = max(ours - {os.getpid()})
            run = subprocess.run(["ls", f"/proc/{worker}/fd"], user=65534, cwd="/", capture_output=True, text=True)
            assert (run.returncode, run.stdout) == (2, "")


@pytest.mark.slow
def test_a_worker_that_takes_more_than_its_share_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with process_workers(1) as team:
        module._end_what_is_too_large(team.outcomes.args[0], 0)  # type: ignore[attr-defined]
        with pytest.raises(ClusterError, match="exit code -9"):
            list(team.outcomes({"E": pets.embedding(1)}, [CoresCell("a")]))


@pytest.mark.slow
def test_a_call_that_is_left_does_not_answer_the_next() -> None:
    cells = [CoresCell(digest) for digest in "abcd"]
    with process_workers(1) as team:
        first = team.outcomes({"E": pets.embedding(1)}, cells)
        assert next(first)[0].digest == "a"
        del first
        assert [cell.digest for cell, _ in team.outcomes({"E": pets.embedding(1)}, cells[::-1])] == [*"dcba"]


INTERRUPTED = f"""
import os, signal, threading, time
import psutil
import bayesbias as bb
def children():
    started = psutil.Process().children(recursive=True)
    return [one.pid for one in started if "resource_tracker" not in " ".join(one.cmdline())]
def stop(seconds):
    while not children():
        time.sleep(0.01)
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)
for seconds in (0, 1.5, 0):  # while workers start, while they work, and what comes after that
    threading.Thread(target=stop, args=(seconds,), daemon=True).start()
    try:
        bb.audit(["e0.npz"], "pets.toml", workers=2, model="no_pooling", seeds=range(10_000), **{pets.SMALL})
    except KeyboardInterrupt:
        print(children())
"""


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_in_python_leaves_no_worker(tmp_path: Path) -> None:
    pets.write_plan(tmp_path, 1, 1)
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert (run.stdout.split(), run.stderr) == (["[]", "[]", "[]"], "")
