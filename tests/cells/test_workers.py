"""Workers as processes: the same numbers, no cell that takes the others with it, nothing that is left running."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

import bayesbias as bb
from bayesbias.base.cores import available_cores
from bayesbias.base.memory import free_memory
from bayesbias.cells.cells import Answer
from bayesbias.cells.dask_workers import process_workers
from bayesbias.cells.workers import this_process
from bayesbias.errors import BayesBiasWarning
from tests.cells import pets

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


@dataclass(frozen=True)
class CoresCell:
    """A cell that answers how many cores there are, and which cell was answered before it."""

    digest: str
    after: str = ""
    embedding: str = "E"

    def answer(self, source: bb.Embedding, before: Answer | None = None) -> Answer:
        return Answer({}, {"digest": self.digest, "cores": available_cores(), "before": before and before.facts})

    def accepts(self, answer: Answer) -> bool:
        return True


@pytest.mark.slow
def test_a_worker_is_one_core_and_given_what_it_needs() -> None:
    cells = [CoresCell("a"), CoresCell("b", after="a"), CoresCell("c", after="kept")]
    answers = {"kept": Answer({}, {"digest": "kept"})}
    for start, cores in (
        (this_process(), 1),
        (this_process(every_core=True), os.cpu_count()),
        (process_workers(2, verbose=False), 1),
    ):
        with start as team:
            facts = {
                cell.digest: answer.facts for cell, answer in team.outcomes({"E": pets.embedding(1)}, cells, answers)
            }
        first = {"digest": "a", "cores": cores, "before": None}
        assert facts == {
            "a": first,
            "b": {"digest": "b", "cores": cores, "before": first},
            "c": {"digest": "c", "cores": cores, "before": {"digest": "kept"}},
        }


@pytest.mark.slow
def test_memory_a_worker_is_bounded_and_an_error_leaves_no_process() -> None:
    before = children()
    with contextlib.suppress(ZeroDivisionError), process_workers(2, verbose=False) as team:
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
        "print(len(frame))\n"
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
