"""Kill worker, scheduler and client of an audit at random moments, and go on: its table stays the same.

python -m tests.audits.kills [--kills 20] [--seed 1]
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil

import bayesbias as bb
from bayesbias.audits.plan import read_audit_plan
from tests.audits.pets import write_plan

TARGETS = ("scheduler", "client", "worker")
_COMMAND = (sys.executable, "-m")
_LONGEST = 600.0


class Study:
    """A scheduler, two workers and a client, each a process of its own, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.address = ""

    def start(self, name: str, *arguments: str) -> None:
        log = (self.folder / f"{name}.log").open("ab")
        with log:
            self.running[name] = subprocess.Popen(
                [*_COMMAND, *arguments], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )

    def lives(self, name: str) -> bool:
        return name in self.running and self.running[name].poll() is None

    def kill(self, name: str) -> None:
        if self.lives(name):
            self.running[name].kill()
        if name in self.running:
            self.running[name].wait()

    def start_cluster(self) -> None:
        """Start what does not run: the scheduler at a new address, and workers of its own."""
        workers = ("worker 1", "worker 2")
        if not self.lives("scheduler"):
            for name in workers:
                self.kill(name)
            scheduler_file = self.folder / "scheduler.json"
            scheduler_file.unlink(missing_ok=True)
            place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(scheduler_file))
            self.start("scheduler", "distributed.cli.dask_scheduler", *place)
            wait_until(lambda: scheduler_file.exists() and scheduler_file.read_text().endswith("}"))
            self.address = json.loads(scheduler_file.read_text())["address"]
        for name in workers:
            if not self.lives(name):
                size = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "2GB")
                self.start(name, "distributed.cli.dask_worker", self.address, *size)

    def start_client(self) -> None:
        output = ("--output", "out", "--scheduler", self.address, "--quiet", "--overwrite")
        self.start("client", "bayesbias", "audit", "study.toml", *output)

    def cells(self) -> int:
        return len(list((self.folder / "out" / "cells").glob("*.npz")))

    def client_log(self) -> str:
        return (self.folder / "client.log").read_text()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.running):
            self.kill(name)


def wait_until(condition) -> None:  # type: ignore[no-untyped-def]
    """Wait for something that takes seconds; end this program if it takes minutes."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > _LONGEST:
            raise TimeoutError("It did not come.")
        time.sleep(0.02)


def disturbed(kills: int, seed: int, *, cells: int = 60) -> Counter[str]:
    """Kill so many times, and return what was killed; raise if the table is not that of an undisturbed run.

    Whatever is killed while the client runs, the client ends by itself, with the table or with one error. Whenever a
    run was whole, half of its cells are taken away, so that the next one has work to do.
    """
    chance, killed = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        write_plan(folder, cells, 1)
        plan = read_audit_plan(folder / "study.toml")
        settings = {**plan.settings, "workers": 1, "progress": False}
        alone = bb.audit(plan.embeddings, plan.studies, plan.measures, **settings)
        whole = (bb.write(alone, folder / "alone", progress=False) / "audit.csv").read_bytes()
        study, code = stack.enter_context(Study(folder)), 0
        for number in range(kills):
            study.start_cluster()
            before = study.cells()
            study.start_client()
            # The moment is counted in cells: how long a start takes differs from machine to machine.
            moment = before + chance.randrange(max(1, cells - before))
            wait_until(lambda: study.cells() >= moment or not study.lives("client"))  # noqa: B023
            target = TARGETS[number % len(TARGETS)]
            name = f"worker {chance.choice((1, 2))}" if target == "worker" else target
            if study.lives("client"):
                killed[target] += 1
            study.kill(name)
            wait_until(lambda: not study.lives("client"))
            code = study.running["client"].returncode
            print(f"{name} killed at {moment} of {cells} cells: the client ended with {code}", flush=True)
            if code == 1 and target == "scheduler":
                *warnings, error = study.client_log().splitlines()
                if "cells are kept in" not in error or not all(line.startswith("warning: ") for line in warnings):
                    raise AssertionError(f"The client said: {study.client_log()}")
            if code not in {"worker": (0,), "scheduler": (0, 1), "client": (0, -9)}[target]:
                raise AssertionError(f"The {target} was killed, and the client ended with {code}: {study.client_log()}")
            if code == 0:
                check(folder, whole)
                files = sorted((folder / "out" / "cells").glob("*.npz"))
                for file in chance.sample(files, len(files) // 2):
                    file.unlink()
        if code != 0:
            study.start_cluster()
            study.start_client()
            wait_until(lambda: not study.lives("client"))
            check(folder, whole)
        pids = [process.pid for process in study.running.values()]
    if left := [child for child in psutil.Process().children(recursive=True) if child.pid in pids]:
        raise AssertionError(f"These still run: {left}")
    return killed


def check(folder: Path, whole: bytes) -> None:
    """Raise if a run left another table than an undisturbed one, or anything beside its results."""
    if (folder / "out" / "audit.csv").read_bytes() != whole:
        raise AssertionError("The table is another than that of an undisturbed run.")
    litter = list(folder.rglob("*.bayesbias"))
    if litter or (folder / "out" / "failed.csv").exists():
        raise AssertionError(f"The run leaves {litter}, or cells that failed.")


def main() -> None:
    """Kill, and say how often."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    killed = disturbed(given.kills, given.seed)
    print(f"killed at work: {dict(killed)}; each table is that of an undisturbed run, byte for byte")


if __name__ == "__main__":
    main()
