"""Read many hostile inputs of one kind, each for a limited time, and count what comes of it."""

import multiprocessing
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import numpy as np

from bayesbias.errors import BayesBiasError
from tests.fuzz.targets import TARGETS
from tests.fuzz.watch import Place, new_place

OUTCOMES = ("read", "refused", "wrong", "outside", "traceback", "hang", "crash")


class TookTooLongError(BaseException):
    """An input that is not read in time; no reader may catch it."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise `TookTooLongError` after some seconds."""

    def stop(*_: object) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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
        with at_most(target.seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = target.read(path)
    except BayesBiasError as error:
        return ("refused", "") if str(error).strip() else ("traceback", "an error without a message")
    except TookTooLongError:
        return "hang", f"over {target.seconds} s"
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
        while True:
            try:
                counted[ours.recv()] += 1
            except EOFError:
                break
            done += 1
        worker.join()
        if worker.exitcode:  # a library crashed on the next one
            counted["crash"] += 1
            if failures is not None:
                _keep(failures, name, "crash", done, seed, f"exit code {worker.exitcode}", _input(name, done, seed))
            done += 1
    return counted


def _input(name: str, number: int, seed: int) -> bytes:
    rng = np.random.default_rng([seed, crc32(name.encode()), number])
    return TARGETS[name][1].make(rng)


def _work(
    name: str, numbers: range, seed: int, pipe: "multiprocessing.connection.Connection", failures: Path | None
) -> None:
    target = TARGETS[name][1]
    original = None if target.original is None else target.original()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target.warm()
    with new_place() as place:
        for number in numbers:
            content = _input(name, number, seed)
            outcome, text = outcome_of(name, content, place, original)
            if failures is not None and outcome not in ("read", "refused"):
                _keep(failures, name, outcome, number, seed, text, content)
            pipe.send(outcome)


def _keep(failures: Path, name: str, outcome: str, number: int, seed: int, text: str, content: bytes) -> None:
    failures.mkdir(exist_ok=True)
    stem = f"{name.replace(' ', '-')}-{outcome}-{seed}-{number}"
    (failures / f"{stem}{TARGETS[name][1].suffix}").write_bytes(content)
    (failures / f"{stem}.log").write_text(text, encoding="utf-8")
