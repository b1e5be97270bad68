"""Workers as processes: the same numbers, no cell that takes the others with it, nothing that is left running."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

import bayesbias as bb
import bayesbias.cluster.workers as workers
from bayesbias.base.cores import available_cores
from bayesbias.base.memory import free_memory
from bayesbias.errors import BayesBiasWarning, ClusterError
from bayesbias.reports.audits.cells import Answer
from tests.cluster import pets

SMALL = {"models": "no_pooling", "random_seed": [1, 2], **pets.SMALL}


def children() -> list[int]:
    """The processes that this one has started and that run, but for Python's own that watches shared memory."""
    found = psutil.Process().children(recursive=True)
    return [each.pid for each in found if "resource_tracker" not in " ".join(each.cmdline())]


@pytest.mark.slow
def test_processes_give_the_same_numbers_and_one_that_dies_is_recorded() -> None:
    before, here = children(), os.getpid()

    def deadly(word: str) -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return word

    alone = bb.run_study([pets.embedding(1)], pets.study(), pets.MEASURES, workers=1, **SMALL)
    given = [pets.embedding(1), pets.embedding(2, case=deadly)]
    with pytest.warns(BayesBiasWarning, match=r"1 of 2 cells failed.*workers died one after the other"):
        found = bb.run_study(given, pets.study(), pets.MEASURES, workers=2, **SMALL | {"random_seed": 1})
    assert found.to_csv() == alone[alone["seed"] == 1].to_csv()
    assert children() == before


def cores_seen(source: bb.Embedding, cell: "Wanting", before: Answer | None = None) -> Answer:
    """Say how many cores there are, and whose answer was given."""
    given = "" if before is None else before.rows[0]["own"]
    return Answer([{"own": cell.digest, "cores": available_cores(), "given": given}], {}, {}, [])


@dataclass(frozen=True)
class Wanting:
    """A cell that needs another."""

    digest: str
    after: str = ""
    embedding: str = "E"


@pytest.mark.slow
def test_a_worker_is_one_core_and_given_what_it_needs() -> None:
    cells = [Wanting("a"), Wanting("b", after="a"), Wanting("c", after="kept")]
    known = {"kept": Answer([{"own": "kept"}], {}, {}, [])}
    for team, cores in (
        (workers.this_process(), 1),
        (workers.this_process(every_core=True), os.cpu_count()),
        (workers.processes(2, say=False), 1),
    ):
        with team as those:
            found = {
                cell.digest: answer.rows[0]
                for cell, answer in those.outcomes(cores_seen, {"E": pets.embedding(1)}, cells, known)
            }
        given = {"a": "", "b": "a", "c": "kept"}
        assert found == {own: {"own": own, "cores": cores, "given": other} for own, other in given.items()}


@pytest.mark.slow
def test_memory_a_worker_is_bounded_and_an_error_leaves_no_process() -> None:
    before = children()
    with contextlib.suppress(ZeroDivisionError), workers.processes(2, say=False) as those:
        assert those.count == 2
        assert 0 < those.memory * 2 <= 1.2 * free_memory()
        raise ZeroDivisionError
    assert children() == before


@pytest.mark.slow
def test_a_script_needs_no_guard_and_a_kill_leaves_no_process(tmp_path: Path) -> None:
    pets.write_plan(tmp_path, 1, 1)
    script = tmp_path / "script.py"
    script.write_text(
        "import bayesbias as bb\n"
        "print('begun')\n"
        f"small = dict(models='no_pooling', random_seed=[1, 2], **{pets.SMALL})\n"
        "found = bb.run_study(['e0.npz'], 'pets.toml', ['mac'], workers=2, **small)\n"
        "print(len(found))\n"
    )
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert run.stdout.split() == ["begun", "2"], run.stderr
    script.write_text(script.read_text().replace("[1, 2]", "range(2000)"))
    killed = subprocess.Popen([sys.executable, script], cwd=tmp_path, stdout=subprocess.DEVNULL)
    started: list[psutil.Process] = []
    while len(started) < 3 and killed.poll() is None:  # two workers, and what watches shared memory
        started = psutil.Process(killed.pid).children(recursive=True)
        time.sleep(0.1)
    killed.kill()
    killed.wait()
    _, left = psutil.wait_procs(started, timeout=60)
    assert not left


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 1)
    given = [pets.embedding(1)], pets.study(), pets.MEASURES
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        taken = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        for address in (taken, "tcp://127.0.0.1:1", "nowhere://x", "tcp://no.such.host.invalid:8786", ""):
            begun = time.monotonic()
            with pytest.raises(ClusterError, match="does not answer within 1 s"):
                bb.run_study(*given, scheduler=address, **SMALL)
            assert time.monotonic() - begun < 30


def test_a_scheduler_without_workers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(workers, "_PATIENCE", 1)
    with LocalCluster(n_workers=0, processes=False, protocol="inproc", dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        with pytest.raises(ClusterError, match=r"has no workers\. Start some: dask worker inproc://"):
            bb.run_study([pets.embedding(1)], pets.study(), pets.MEASURES, scheduler=address, **SMALL)
