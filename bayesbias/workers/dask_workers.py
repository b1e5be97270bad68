"""Workers of a Dask scheduler that is already running."""

import asyncio
import logging
import queue
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from bayesbias.base.machine import free_memory, require, show
from bayesbias.errors import BayesBiasWarning, ClusterError, warn_user
from bayesbias.workers.cells import Cell, Outcome, package_version
from bayesbias.workers.workers import WORKERS_DIED, Workers, outcome_on_one_core

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds after which a scheduler does not answer, and after which a cluster without workers is given up.
_PATIENCE = 10
_WITHOUT_WORKERS = 60
# Cells under way for each worker, so that none is idle while answers travel, and several answers travel at once.
_CELLS_A_WORKER = 16

_DASK = "distributed"  # start of the names of Dask's loggers
# Protocols of Dask that need its certificates, or that stay inside this process.
_CLOSED = ("tls://", "inproc://")


@contextmanager
def scheduler_workers(scheduler: str, *, verbose: bool) -> Iterator[Workers]:
    """Yield the workers of a running Dask scheduler; certificates are those of Dask's own configuration."""
    distributed = require("distributed", "cluster", "A scheduler", error=ClusterError, advice="Or give workers.")

    import dask

    with ExitStack() as stack:
        # No warning of large data: each source is sent only once to a worker.
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}))
        stack.enter_context(_quiet())
        try:
            if not scheduler.startswith("inproc:"):  # a thread of this process
                _raise_if_silent(scheduler)
            client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False))
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
        if not scheduler.startswith(_CLOSED):
            warn_user(
                f"The scheduler {scheduler} is open: whoever reaches this address, each user of its machine included, "
                "can run programs as you, here and on its workers, and read what you send. Start it with certificates "
                "(TLS) and give its tls:// address, unless you trust everybody in its network.",
                BayesBiasWarning,
            )
        yield _workers(client, verbose)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging the traceback of a scheduler that is gone, which an error of this package states."""
    loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict) if name.startswith(_DASK)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _raise_if_silent(scheduler: str) -> None:
    """Raise an error if no scheduler answers: a client would wait forever for one that listens and does not answer."""
    from distributed import Security
    from distributed.comm import connect

    certificates = Security().get_connection_args("client")

    async def ask() -> None:
        async with asyncio.timeout(_PATIENCE):
            connection = await connect(scheduler, timeout=_PATIENCE, **certificates)
            try:
                await connection.write({"op": "identity", "reply": True})
                await connection.read()
            finally:
                connection.abort()

    with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this one
        thread.submit(asyncio.run, ask()).result()


def _workers(client: "Client", verbose: bool) -> Workers:
    if verbose and client.dashboard_link:
        show(f"Dask's dashboard: {client.dashboard_link}", sys.stderr)
    infos = client.scheduler_info(n_workers=-1)["workers"].values()
    count = sum(info["nthreads"] for info in infos)

    def outcomes(sources: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        return _outcomes(client, sources, cells, _CELLS_A_WORKER * count)

    return Workers(count, min(info["memory_limit"] or free_memory() for info in infos), outcomes)


def _outcomes(
    client: "Client", sources: Mapping[str, Any], cells: Sequence[Cell], most: int
) -> Iterator[tuple[Cell, Outcome]]:
    """Yield cells with their outcomes; at most `most` are under way, so that no process holds all of them."""
    done: queue.SimpleQueue[Future] = queue.SimpleQueue()
    under_way: dict[str, Cell] = {}
    # A task that returns what it is given: if its worker dies, the scheduler repeats it on another.
    sent = {name: client.submit(_unchanged, source, pure=False) for name, source in sources.items()}

    def submit(batch: Sequence[Cell]) -> None:
        keys = [f"bayesbias-{cell.digest}" for cell in batch]
        arguments = [sent[cell.source] for cell in batch], batch, [package_version()] * len(batch)
        tasks: list[Future] = client.map(outcome_on_one_core, *arguments, key=keys)
        for task in tasks:
            task.add_done_callback(done.put)
        under_way.update(zip(keys, batch, strict=True))

    waiting = iter(cells)
    while True:
        if len(under_way) <= most // 2 and (batch := list(islice(waiting, most - len(under_way)))):
            submit(batch)
        if not under_way:
            return
        for task, ended in _results(client, _done(done, client)):
            cell = under_way.pop(task.key)
            task.release()
            yield cell, ended


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
            raise ClusterError("The scheduler is gone, or was started again.")
        gone = client.status != "running"
        if not gone and client.scheduler_info(n_workers=-1)["workers"]:
            since = monotonic()
        elif monotonic() - since > (_PATIENCE if gone else _WITHOUT_WORKERS):
            what = "The scheduler" if gone else "Every worker"
            raise ClusterError(f"{what} is gone.")


def _results(client: "Client", tasks: "list[Future]") -> "Iterator[tuple[Future, Outcome]]":
    """Yield tasks that are done, with their outcomes, which are fetched together."""

    async def fetch() -> list[Outcome]:
        whole = [task for task in tasks if task.status == "finished"]
        ended = iter(await client.gather(whole, asynchronous=True))
        return [next(ended) if task in whole else _error_text(await task.exception()) for task in tasks]

    try:
        yield from zip(tasks, client.sync(fetch, callback_timeout=_WITHOUT_WORKERS), strict=True)
    except (CancelledError, TimeoutError, OSError) as gone:
        raise ClusterError("The scheduler is gone, or every worker.") from gone


def _error_text(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return WORKERS_DIED
    return f"{type(error).__name__}: {_first_line(error)}"


def _unchanged[T](argument: T) -> T:
    return argument


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
