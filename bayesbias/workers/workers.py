"""One interface of all workers, and this process as a worker."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from bayesbias.base.machine import free_memory, one_core
from bayesbias.errors import BayesBiasError
from bayesbias.workers.cells import Cell, Outcome, package_version

WORKERS_DIED = (
    "Its workers died one after the other, perhaps for lack of memory. Allow more, or take fewer draws or workers."
)
"""Error of a cell that no worker survives."""


@dataclass(frozen=True)
class Workers:
    """Workers that have started.

    - `count`: number of cells that are answered at once.
    - `memory`: bytes that each worker may take.
    - `outcomes`: function of sources by name and cells. It yields each cell with its outcome, in the order in which
      they are ready.
    """

    count: int
    memory: int
    outcomes: Callable[[Mapping[str, Any], Sequence[Any]], Iterator[tuple[Any, Outcome]]]


type StartWorkers = Callable[[], AbstractContextManager[Workers]]
"""Function that starts workers, which end with its context."""


def outcome(source: Any, cell: Cell, version: str) -> Outcome:
    """Return the answer of a cell, or the error that it ended with, so that the other cells go on."""
    here = package_version()
    if here != version:
        return f"ClusterError: this worker has bayesbias {here}, and the run was started with {version}."
    try:
        return cell.answer(source)
    except BayesBiasError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one cell, the others go on
        return f"{type(error).__name__}: {error}"


def outcome_on_one_core(source: Any, cell: Cell, version: str) -> Outcome:
    """Return what `outcome` returns, from one core."""
    with one_core():
        return outcome(source, cell, version)


@contextmanager
def started_once(start: StartWorkers) -> Iterator[StartWorkers]:
    """Yield a function that starts workers on its first call, and returns the same on further calls."""
    with ExitStack() as stack:
        started: list[Workers] = []

        @contextmanager
        def shared() -> Iterator[Workers]:
            if not started:
                started.append(stack.enter_context(start()))
            yield started[0]

        yield shared


@contextmanager
def this_process(*, every_core: bool = False) -> Iterator[Workers]:
    """Yield this process as the only worker, with one core, as other workers have, or with every core."""
    ask = outcome if every_core else outcome_on_one_core

    def outcomes(sources: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        for cell in cells:
            yield cell, ask(sources[cell.source], cell, package_version())

    yield Workers(1, free_memory(), outcomes)
