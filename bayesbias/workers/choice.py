"""`choose_workers`: the workers that a user asks for."""

import sys
from contextlib import nullcontext
from functools import partial
from typing import Any

from bayesbias.base.checks import check_count, check_type
from bayesbias.base.machine import check_memory
from bayesbias.errors import ArgumentError
from bayesbias.workers.dask_workers import scheduler_workers
from bayesbias.workers.process_workers import process_workers
from bayesbias.workers.workers import StartWorkers, Workers, this_process

_BYTES_A_WORKER = 150_000_000  # of a process, before it works


def choose_workers(workers: Any, scheduler: Any, *, verbose: bool, most: int | None = None) -> StartWorkers:
    """Return the function that starts the workers asked for: without a number or an address, this process.

    Workers that have started already are taken as they are, and go on afterwards. Of processes at most `most` start.
    """
    if scheduler is not None:
        check_type("scheduler", scheduler, str, "the address of a Dask scheduler, such as 'tcp://10.0.0.1:8786'")
        if workers is not None:
            raise ArgumentError("workers and scheduler: give one of the two. A scheduler has its own workers.")
        return partial(scheduler_workers, scheduler, verbose=verbose)
    if workers is None:
        return partial(this_process, every_core=True)
    if isinstance(workers, Workers):
        return lambda: nullcontext(workers)
    count = min(check_count("workers", workers), most or sys.maxsize)
    check_memory(count * _BYTES_A_WORKER, f"{count:,} workers", "Give fewer.")
    return this_process if count == 1 else partial(process_workers, count)
