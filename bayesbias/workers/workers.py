"""One interface of all workers, and this process as a worker."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from bayesbias.base.machine.cores import one_core
from bayesbias.base.machine.memory import free_memory
from bayesbias.errors import BayesBiasError
from bayesbias.workers.cells import Answer, Cell, Outcome, package_version

WORKERS_DIED = (
    "Its workers died one after the other, perhaps for lack of memory. Allow more, or take fewer draws or workers."
)
"""Error of a cell that no worker survives."""


@dataclass(frozen=True)
class Workers:
    """Workers that have started.

    Parameters
    ----------
    count
        Number of cells that are answered at once.
    memory
        Bytes that each worker may take.
    outcomes
        Function of sources by name, cells, and answers by digest that exist already. It yields each cell with its
        outcome, in the order in which they are ready. A cell that others need comes before them.
    """

    count: int
    memory: int
    outcomes: Callable[
        [Mapping[str, Any], Sequence[Any], Mapping[str, Answer]],
        Iterator[tuple[Any, Outcome]],
    ]


type StartWorkers = Callable[[], AbstractContextManager[Workers]]
"""Function that starts workers, which end with its context."""


def outcome(source: Any, cell: Cell, version: str, before: Outcome | None = None) -> Outcome:
    """Return the answer of a cell, or the error that it, or the cell that it needs, ended with.

    Errors are returned, so that the other cells go on.
    """
    here = package_version()
    if here != version:
        return f"ClusterError: this worker has bayesbias {here}, and the run was started with {version}."
    if isinstance(before, str):
        return before
    try:
        return cell.answer(source, before)
    except BayesBiasError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one cell, the others go on
        return f"{type(error).__name__}: {error}"


def outcome_on_one_core(source: Any, cell: Cell, version: str, before: Outcome | None = None) -> Outcome:
    """Return what `outcome` returns, from one core."""
    with one_core():
        return outcome(source, cell, version, before)


@contextmanager
def this_process(*, every_core: bool = False) -> Iterator[Workers]:
    """Yield this process as the only worker, with one core, as other workers have, or with every core."""
    ask = outcome if every_core else outcome_on_one_core

    def outcomes(
        sources: Mapping[str, Any], cells: Sequence[Cell], answers: Mapping[str, Answer]
    ) -> Iterator[tuple[Cell, Outcome]]:
        needed = {cell.after for cell in cells}
        first: dict[str, Outcome] = {digest: answers[digest] for digest in needed & answers.keys()}
        for cell in cells:
            ended = ask(sources[cell.source], cell, package_version(), first.get(cell.after))
            if cell.digest in needed:
                first[cell.digest] = ended
            yield cell, ended

    yield Workers(1, free_memory(), outcomes)
