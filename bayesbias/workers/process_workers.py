"""Workers that are processes of this machine. They have pipes to this process, and no port that others could reach."""

import multiprocessing
import os
import pickle
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import TYPE_CHECKING, Any

from bayesbias.base.files.settings import SAFE_PATH, ignore_foreign_settings, is_foreign_folder
from bayesbias.base.machine import free_memory, has_home, held_interrupts, ignore_interrupts, private_folder
from bayesbias.errors import ClusterError
from bayesbias.workers.cells import Cell, Outcome, package_version
from bayesbias.workers.workers import WORKERS_DIED, Workers, outcome_on_one_core

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

# One thread each; and until a worker has this process's path, no modules of the current folder, such as another user's
# multiprocessing.py.
_ENVIRONMENT = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", SAFE_PATH)
# A worker that dies may have been killed by mistake; a cell whose workers died twice is not tried again.
_MOST_DEATHS = 2
_SECONDS_BETWEEN_LOOKS = 1.0  # at the memory of the workers
_READY = b"ready"


@dataclass
class _Worker:
    """A process, this end of its pipe, the cell that it answers, and the sources by name that it was sent."""

    process: "SpawnProcess"
    connection: Connection
    ready: bool = False
    cell: Any = None
    sent: dict[str, Any] = field(default_factory=dict)


@contextmanager
def process_workers(count: int) -> Iterator[Workers]:
    """Yield new processes of this machine, of one core each, which end when this one does and share its free memory."""
    memory, team = free_memory() // count, list[_Worker]()
    try:
        for _ in range(count):
            _start(team)
        yield Workers(count, memory, partial(_outcomes, team, memory))
    finally:
        with held_interrupts():
            while team:
                _end(team, team[-1])


def _start(team: list[_Worker]) -> None:
    from multiprocessing import resource_tracker

    if sys.flags.ignore_environment and not sys.flags.safe_path and is_foreign_folder():
        raise ClusterError("Others can write to this folder, and workers of python -E would import from it. Add -P.")
    spawn = multiprocessing.get_context("spawn")
    try:
        with _without_main(), _environment():
            if os.name == "posix":  # started first, since it would let interrupts through
                resource_tracker.ensure_running()
            with held_interrupts():
                ours, theirs = spawn.Pipe()
                process = spawn.Process(target=_work, args=(theirs,), daemon=True, name="bayesbias worker")
                process.start()
                theirs.close()
                team.append(_Worker(process, ours))
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"Workers cannot be started here ({error}). Give workers=1.") from error


def _end(team: list[_Worker], worker: _Worker) -> None:
    """End a worker, whatever it does, and take it out of the team."""
    with held_interrupts():
        team.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.process.close()
        worker.connection.close()


# --- in this process --------------------------------------------------------------------------------------


def _outcomes(
    team: list[_Worker], memory: int, sources: Mapping[str, Any], cells: Sequence[Cell]
) -> Iterator[tuple[Cell, Outcome]]:
    """Yield cells with their outcomes, as they come."""
    waiting, deaths = deque(cells), Counter[str]()
    unanswered = len(cells)
    for worker in list(team):  # an earlier call may have been left
        if worker.cell is not None:
            _end(team, worker)
            _start(team)

    def assign() -> None:
        """Send cells to the workers that have none."""
        for worker in team:
            if waiting and worker.ready and worker.cell is None:
                worker.cell = waiting.popleft()
                _send(worker, sources)

    looked = monotonic()
    while unanswered:
        if monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
            _end_what_is_too_large(team, memory)
            looked = monotonic()
        assign()
        for worker, outcome in _heard(team):
            cell: Cell = worker.cell
            if outcome is None:
                _end(team, worker)
                _start(team)
                deaths[cell.digest] += 1
                if deaths[cell.digest] < _MOST_DEATHS:
                    waiting.appendleft(cell)
                    continue
                outcome = WORKERS_DIED
            worker.cell = None
            unanswered -= 1
            assign()  # no worker waits while the caller keeps the answer
            yield cell, outcome


def _send(worker: _Worker, sources: Mapping[str, Any]) -> None:
    """Send a worker its cell, and the cell's source unless the worker has it already."""
    import cloudpickle

    cell: Cell = worker.cell
    source = sources[cell.source]
    has_it = cell.source in worker.sent and worker.sent[cell.source] is source
    new = {} if has_it else {cell.source: source}
    worker.sent |= new
    try:
        worker.connection.send_bytes(cloudpickle.dumps((new, cell, package_version())))
    except (BrokenPipeError, ConnectionError):
        return  # it died, as its end of the pipe says next


def _heard(team: Sequence[_Worker]) -> Iterator[tuple[_Worker, Outcome | None]]:
    """Yield the workers that answer now, with their outcomes; None from one that died.

    Raises `ClusterError` if a worker died before it began.
    """
    by_connection = {worker.connection: worker for worker in team if worker.cell is not None or not worker.ready}
    for connection in wait(list(by_connection), timeout=_SECONDS_BETWEEN_LOOKS):
        worker = by_connection[connection]  # type: ignore[index]
        try:
            content = worker.connection.recv_bytes()
        except (EOFError, ConnectionError) as error:
            if not worker.ready:
                worker.process.join(_SECONDS_BETWEEN_LOOKS)
                code = worker.process.exitcode
                raise ClusterError(f"Workers cannot be started here (exit code {code}). Give workers=1.") from error
            yield worker, None
            continue
        if worker.ready:
            yield worker, pickle.loads(content)
        worker.ready = True


def _end_what_is_too_large(team: Sequence[_Worker], memory: int) -> None:
    """Kill each worker that takes more memory than its share, before the machine runs out of memory."""
    import psutil

    for worker in team:
        try:
            if psutil.Process(worker.process.pid).memory_info().rss > memory:
                worker.process.kill()
        except psutil.NoSuchProcess:
            continue


@contextmanager
def _environment() -> Iterator[None]:
    """Give new processes one thread each, and no modules of the current folder that this process has not."""
    changed = dict.fromkeys(_ENVIRONMENT, "1")
    if not has_home():  # workers are killed, and would leave theirs behind
        changed["HOME"] = private_folder()
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main script: new processes would run it again, and do not need it."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)


# --- in a worker ------------------------------------------------------------------------------------------


def _work(connection: Connection) -> None:
    """Answer cells until the pipe is closed."""
    ignore_foreign_settings()
    import cloudpickle

    ignore_interrupts()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sources: dict[str, Any] = {}
    connection.send_bytes(_READY)
    while True:
        try:
            new, cell, version = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        sources |= new
        ended = outcome_on_one_core(sources[cell.source], cell, version)
        try:
            content = cloudpickle.dumps(ended)
        except Exception as error:  # noqa: BLE001 - an answer that cannot travel is an error of its cell alone
            content = cloudpickle.dumps(f"{type(error).__name__}: {error}")
        connection.send_bytes(content)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
