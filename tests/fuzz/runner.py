"""Read many hostile inputs of one kind, each for a limited processor time, and count what comes of it."""

import multiprocessing
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import numpy as np
import psutil

from bayesbias.errors import BayesBiasError
from tests.fuzz.targets import TARGETS
from tests.fuzz.watch import Place, new_place

OUTCOMES = ("read", "refused", "wrong", "outside", "traceback", "hang", "crash")
_IDLE_SECONDS = 60  # without processor time: a pipe that nobody writes to, or a lock
_TICK = 1.0  # seconds between looks at the clock of a process
_BEGINS = "begins"


class TookTooLongError(BaseException):
    """An input that is not read in time; no reader may catch it."""


def outcome_of(name: str, content: bytes, place: Place, original: object) -> tuple[str, str]:
    """Return what comes of an input, and what was said."""
    path = place.given / f"input{TARGETS[name][1].suffix}"
    path.write_bytes(content)
    with place.watched() as outside:
        outcome = _read(name, path, original)
    return ("outside", f"{', '.join(sorted(outside))}; {outcome}") if outside else outcome


def _read(name: str, path: Path, original: object) -> tuple[str, str]:
    target = TARGETS[name][1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = target.read(path)
    except BayesBiasError as error:
        return ("refused", "") if str(error).strip() else ("traceback", "an error without a message")
    except TookTooLongError:
        return "hang", traceback.format_exc(limit=-4)
    except Exception:  # noqa: BLE001, the point of it
        return "traceback", traceback.format_exc(limit=-4)
    if target.original is not None and found != original:
        return "wrong", "read as something else"
    return "read", ""


def count(name: str, inputs: int, seed: int, failures: Path | None = None) -> Counter[str]:
    """Read inputs of one kind in a process of its own; keep those that fail in a folder."""
    counted: Counter[str] = Counter()
    failures = failures and failures.resolve()
    context, done = multiprocessing.get_context("fork"), 0
    while done < inputs:
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(name, range(done, inputs), seed, theirs, failures))
        worker.start()
        theirs.close()
        for outcome in _outcomes(psutil.Process(worker.pid), ours, TARGETS[name][1].seconds):
            counted[outcome] += 1
            done += 1
        worker.join()
        if worker.exitcode:  # a library crashed on the next one
            counted["crash"] += 1
            if failures is not None:
                _keep(failures, name, "crash", done, seed, f"exit code {worker.exitcode}", _input(name, done, seed))
            done += 1
    return counted


def _outcomes(worker: psutil.Process, pipe: "multiprocessing.connection.Connection", seconds: float) -> Iterator[str]:
    """Yield what comes of each input, while the worker is watched."""
    with suppress(EOFError):
        while True:
            if (message := pipe.recv()) == _BEGINS:
                _stop_if_it_hangs(worker, pipe, seconds)
            else:
                yield message


def _stop_if_it_hangs(worker: psutil.Process, pipe: "multiprocessing.connection.Connection", seconds: float) -> None:
    """Interrupt a worker whose input takes too much processor time, or waits for ever; kill it if it then goes on.

    The time of the day does not count: it depends on what else the machine does.
    """
    if pipe.poll(_TICK):
        return
    for stop in (signal.SIGALRM, signal.SIGKILL):
        start = last = processor_time(worker)
        idle = 0.0
        while not pipe.poll(_TICK):
            used = processor_time(worker)
            idle, last = idle + _TICK if used == last else 0, used
            if used - start > seconds or idle >= _IDLE_SECONDS:
                worker.send_signal(stop)
                break


def processor_time(process: psutil.Process) -> float:
    """Return the seconds of processor time of a process, and of those that it started."""
    used = 0.0
    with suppress(psutil.NoSuchProcess):
        used += sum(process.cpu_times()[:4])  # its own, and that of children that ended
        used += sum(processor_time(child) for child in process.children())
    return used


def _input(name: str, number: int, seed: int) -> bytes:
    rng = np.random.default_rng([seed, crc32(name.encode()), number])
    return TARGETS[name][1].make(rng)


def _work(
    name: str, numbers: range, seed: int, pipe: "multiprocessing.connection.Connection", failures: Path | None
) -> None:
    target = TARGETS[name][1]
    original = None if target.original is None else target.original()
    signal.signal(signal.SIGALRM, _took_too_long)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target.warm()
    with new_place() as place:
        for number in numbers:
            content = _input(name, number, seed)
            pipe.send(_BEGINS)
            outcome, text = outcome_of(name, content, place, original)
            if failures is not None and outcome not in ("read", "refused"):
                _keep(failures, name, outcome, number, seed, text, content)
            pipe.send(outcome)


def _took_too_long(*_: object) -> None:
    raise TookTooLongError


def _keep(failures: Path, name: str, outcome: str, number: int, seed: int, text: str, content: bytes) -> None:
    failures.mkdir(exist_ok=True)
    stem = f"{name.replace(' ', '-')}-{outcome}-{seed}-{number}"
    (failures / f"{stem}{TARGETS[name][1].suffix}").write_bytes(content)
    (failures / f"{stem}.log").write_text(text, encoding="utf-8")
