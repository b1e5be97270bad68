"""Who answers cells: this process, processes of this machine, or the workers of a Dask cluster."""

import asyncio
import logging
import queue
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from bayesbias.base.cores import one_core
from bayesbias.base.memory import free_memory
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import BayesBiasError, ClusterError
from bayesbias.reports.audits.cells import Answer, package_version

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds after which a scheduler does not answer, and after which a cluster without workers is given up.
_PATIENCE = 10
_WITHOUT_WORKERS = 60
# Cells that are under way for each worker, so that none is idle while answers travel, and several travel at once.
_CELLS_A_WORKER = 16

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

type Outcome = Answer | str
"""The answer of a cell, or the error that it ended with."""


class Asked(Protocol):
    """A cell, whatever it asks."""

    @property
    def embedding(self) -> str:
        """The name of the embedding that is asked."""

    @property
    def digest(self) -> str:
        """Hash of all that enters the answer."""

    @property
    def after(self) -> str:
        """Hash of the cell whose answer is needed for this one; empty if there is none."""


type Ask = Callable[..., Answer]
"""A function of a module, of an embedding, a cell and, where it has one, the answer that it needs (`Asked.after`).

Workers are sent its name."""


@dataclass(frozen=True)
class Workers:
    """Those who answer.

    Parameters
    ----------
    count
        How many cells are answered at once.
    memory
        Bytes that each may take.
    outcomes
        Answers cells, by a function, of embeddings by name, given the answers that there are by their hashes: yields
        each, in whatever order they are ready. A cell that others need stands before them.
    """

    count: int
    memory: int
    outcomes: Callable[
        [Ask, Mapping[str, Embedding], Sequence[Any], Mapping[str, Answer]], Iterator[tuple[Any, Outcome]]
    ]


def outcome(answer: Ask, source: Embedding, cell: Asked, version: str, before: Outcome | None = None) -> Outcome:
    """Answer a cell, or return the error with which it fails, or what it needs: the others go on."""
    here = package_version()
    if here != version:
        return f"ClusterError: this worker has bayesbias {here}, and the study was begun with {version}."
    if isinstance(before, str):
        return before
    try:
        return answer(source, cell) if before is None else answer(source, cell, before)
    except BayesBiasError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one cell, the others go on
        return f"{type(error).__name__}: {error}"


def _outcome_on_one_core(*asked: Any) -> Outcome:
    with one_core():
        return outcome(*asked)


@contextmanager
def this_process(*, every_core: bool = False) -> Iterator[Workers]:
    """Yield this process as the only worker, of one core, as all others are, or of every core."""
    ask = outcome if every_core else _outcome_on_one_core

    def outcomes(
        answer: Ask, sources: Mapping[str, Embedding], cells: Sequence[Asked], known: Mapping[str, Answer]
    ) -> Iterator[tuple[Asked, Outcome]]:
        needed = {cell.after for cell in cells}
        first: dict[str, Outcome] = {digest: known[digest] for digest in needed & known.keys()}
        for cell in cells:
            found = ask(answer, sources[cell.embedding], cell, package_version(), first.get(cell.after))
            if cell.digest in needed:
                first[cell.digest] = found
            yield cell, found

    yield Workers(1, free_memory(), outcomes)


@contextmanager
def processes(count: int, *, say: bool) -> Iterator[Workers]:
    """Yield new processes of this machine, which end when this one does and share the memory that is free."""
    _check_dask()
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        stack.enter_context(_settings())
        stack.enter_context(_without_main())
        try:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,  # warnings belong to a process: threads would wait for each other
                    memory_limit=free_memory() // count,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
            )
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"Workers cannot be started here ({error}). Give workers=1.") from error
        client = stack.enter_context(Client(cluster, set_as_default=False))
        yield _workers(client, say)


@contextmanager
def cluster_of(scheduler: str, *, say: bool) -> Iterator[Workers]:
    """Yield the workers of a Dask scheduler that runs already."""
    _check_dask()
    from distributed import Client

    with ExitStack() as stack:
        stack.enter_context(_settings())
        try:
            if not scheduler.startswith("inproc:"):  # a thread of this process
                _raise_if_silent(scheduler)
            client = stack.enter_context(Client(scheduler, timeout=_PATIENCE, set_as_default=False))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ClusterError(
                f"The scheduler {scheduler!r} does not answer within {_PATIENCE} s ({_first_line(error)}). Is "
                "`dask scheduler` running there, and is this the address that it prints, such as tcp://10.0.0.1:8786?"
            ) from error
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (TimeoutError, OSError) as error:
            raise ClusterError(
                f"The scheduler {scheduler} has no workers. Start some: dask worker {scheduler} --nthreads 1"
            ) from error
        yield _workers(client, say)


def _raise_if_silent(scheduler: str) -> None:
    """Raise an error if no scheduler answers: a client would wait for ever for one that listens and says nothing."""
    from distributed.comm import connect

    async def ask() -> None:
        line = await connect(scheduler, timeout=_PATIENCE)
        try:
            await line.write({"op": "identity", "reply": True})
            await line.read()
        finally:
            line.abort()

    async def ask_in_time() -> None:
        await asyncio.wait_for(ask(), _PATIENCE)

    with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this one
        thread.submit(asyncio.run, ask_in_time()).result()


def _workers(client: "Client", say: bool) -> Workers:
    known = client.scheduler_info(n_workers=-1)["workers"].values()
    if say:
        print(f"Dask's dashboard: {client.dashboard_link}", file=sys.stderr)
    limits = [each["memory_limit"] or free_memory() for each in known]
    count = sum(each["nthreads"] for each in known)

    def outcomes(
        answer: Ask, sources: Mapping[str, Embedding], cells: Sequence[Asked], known: Mapping[str, Answer]
    ) -> Iterator[tuple[Asked, Outcome]]:
        return _outcomes(client, answer, sources, cells, known, _CELLS_A_WORKER * count)

    return Workers(count, min(limits), outcomes)


def _outcomes(
    client: "Client",
    answer: Ask,
    sources: Mapping[str, Embedding],
    cells: Sequence[Asked],
    known: Mapping[str, Answer],
    most: int,
) -> Iterator[tuple[Asked, Outcome]]:
    """Yield cells with their outcomes; at most so many are under way, so that no process holds all of them."""
    done: queue.SimpleQueue[Future] = queue.SimpleQueue()
    asked: dict[str, Asked] = {}
    needed = {cell.after for cell in cells}
    # A task that returns what it is given: where its worker dies, the scheduler has it made anew on another.
    held = {name: client.submit(_given, source, pure=False) for name, source in sources.items()}
    first = {digest: client.submit(_given, known[digest], pure=False) for digest in needed & known.keys()}

    def ask(some: Sequence[Asked]) -> "list[Future]":
        keys = [f"bayesbias-{cell.digest}" for cell in some]
        given = [held[cell.embedding] for cell in some], some, [package_version()] * len(some)
        before = [first.get(cell.after) for cell in some]
        tasks: list[Future] = client.map(_outcome_on_one_core, [answer] * len(some), *given, before, key=keys)
        for task in tasks:
            task.add_done_callback(done.put)
        asked.update(zip(keys, some, strict=True))
        return tasks

    # Answers that others need stay with the workers until the end.
    if some := [cell for cell in cells if cell.digest in needed]:
        first |= dict(zip((cell.digest for cell in some), ask(some), strict=True))
    waiting = (cell for cell in cells if cell.digest not in needed)
    while True:
        if len(asked) <= most // 2 and (some := list(islice(waiting, most - len(asked)))):
            ask(some)
        if not asked:
            return
        for task, found in _results(client, _done(done, client)):
            cell = asked.pop(task.key)
            if cell.digest not in needed:
                task.release()
            yield cell, found


def _done(done: "queue.SimpleQueue[Future]", client: "Client") -> "list[Future]":
    """Return the tasks that are done, at least one; raise `ClusterError` if scheduler or workers are gone."""
    since = monotonic()
    while True:
        with suppress(queue.Empty):
            tasks = [done.get(timeout=1)]
            while not done.empty():
                tasks.append(done.get())
            if all(task.status in ("finished", "error") for task in tasks):
                return tasks
            raise ClusterError("The scheduler is gone, or was started anew.")
        gone = client.status != "running"
        if not gone and client.scheduler_info(n_workers=-1)["workers"]:
            since = monotonic()
        elif monotonic() - since > (_PATIENCE if gone else _WITHOUT_WORKERS):
            what = "The scheduler" if gone else "Every worker"
            raise ClusterError(f"{what} is gone.")


def _results(client: "Client", tasks: "list[Future]") -> "Iterator[tuple[Future, Outcome]]":
    """Yield tasks that are done with their outcomes, fetched in one go."""

    async def fetch() -> list[Outcome]:
        whole = [task for task in tasks if task.status == "finished"]
        found = iter(await client.gather(whole, asynchronous=True))
        return [next(found) if task in whole else _said(await task.exception()) for task in tasks]

    try:
        yield from zip(tasks, client.sync(fetch, callback_timeout=_WITHOUT_WORKERS), strict=True)
    except (CancelledError, TimeoutError, OSError) as gone:
        raise ClusterError("The scheduler is gone, or every worker.") from gone


def _said(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "Its workers died one after the other, perhaps for want of memory. Allow more, or take fewer draws."
    return f"{type(error).__name__}: {_first_line(error)}"


def _given[T](what: T) -> T:
    return what


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _check_dask() -> None:
    if find_spec("distributed") is None:
        raise ClusterError(
            "Several workers need Dask, which is not installed. Install it with: pip install 'bayesbias[cluster]', or "
            "give workers=1."
        )


def _settings() -> Any:
    import dask

    return dask.config.set({
        # Embeddings are large, and are meant to travel; each travels once to a worker.
        "distributed.admin.large-graph-warning-threshold": "1 TB",
        # One thread each. Dask would have memory given back at once besides, of which arrays that come and go cost a
        # sixth of the time, and look every 10 ms at what runs, which costs a tenth.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, 1),
        "distributed.worker.profile.enabled": False,
    })  # fmt: skip


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script that runs: new processes would run it again, and need nothing of it."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)
