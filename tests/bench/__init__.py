"""Speed and memory beside their limits: `make bench` prints every figure, and fails where one is over its limit."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured, and the most that it may be: seconds, or times something else."""

    what: str
    value: float
    limit: float
    unit: str = "s"

    def __str__(self) -> str:
        fault = "   OVER" if self.value > self.limit else ""
        return f"{self.what:64} {self.value:9.3f} {self.unit}, at most {self.limit:g}{fault}"


def seconds_of(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of one run."""
    start = clock()
    run()
    return clock() - start


def usual_seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median seconds of five runs, after one that is not counted."""
    run()
    return statistics.median(seconds_of(run, clock) for _ in range(5))
