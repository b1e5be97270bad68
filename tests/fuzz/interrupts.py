"""Interrupt commands at random moments, by Ctrl-C and SIGTERM: print what came of it.

python -m tests.fuzz.interrupts [--moments 20] [--seed 1] [COMMAND ...]

Each must end in one line with the exit code 130 or 143, and leave no process, no port and no unfinished file; what it
kept goes on at the next start, to the very output of a run that nothing disturbed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import psutil

from bayesbias.base.files.inputs import bundled
from tests.audits.pets import write_plan
from tests.fuzz.kills import digest, finished


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and the part of its output that equal runs have equal."""

    line: str
    output: str
    equal: str

    @property
    def alone(self) -> str:
        """The command without worker processes, which lead to the same output."""
        return self.line.replace("--workers 2", "--workers 1")


COMMANDS = {
    "audit": Command("audit study.toml --workers 2 -o audit --overwrite", "audit", "audit/audit.csv"),
    "train": Command("train corpus.txt --dimensions 20 --epochs 4 --seeds 1-3 -o trained", "trained", "trained"),
    "train on workers": Command(
        "train corpus.txt --dimensions 20 --epochs 4 --seeds 1-3 --workers 2 -o trained", "trained", "trained"
    ),
    "index-contexts": Command("index-contexts corpus.txt -o some.contexts", "some.contexts", "some.contexts"),
    "debias": Command(
        "debias vectors.npz --sets gender_bolukbasi --method hard --method linear --study gender --seed 1 -o debiased "
        "--overwrite",
        "debiased",
        "debiased",
    ),
    "trainings": Command(
        "trainings vectors.npz vectors2.npz --study religion --max-lost 0.25 --draws 250 --seed 1 -o trainings "
        "--overwrite",
        "trainings",
        "trainings",
    ),
    "plan freeze": Command("plan freeze religion --rope 0.02 -o plan.toml --overwrite", "plan.toml", "plan.toml"),
    "encode": Command(
        "encode encoder --study weat7 --templates any --batch 64 --cache texts.cache -o encoded.npz --overwrite",
        "encoded.npz",
        "encoded.npz",
    ),
}
_TABLES = ("facts", "contexts", "places")  # of an index
OUTCOMES = ("ended", "in time", "bad")
# An encoder that takes its time and needs no library.
_ENCODER = """
import time
from hashlib import sha256
import numpy as np

class StaticModel:
    @classmethod
    def from_pretrained(cls, folder, force_download):
        return cls()

    def encode(self, texts, **settings):
        time.sleep(0.03)
        return np.array([list(sha256(text.encode()).digest()) for text in texts], dtype=np.float32)
"""


def prepare(folder: Path, embeddings: int = 10) -> None:
    """Write what the commands read; an audit has so many embeddings."""
    for number in (1, 2):
        vectors = bundled("data", "vectors", f"wikipedia2018_skipgram_seed{number}.npz")
        shutil.copy(vectors, folder / ("vectors.npz" if number == 1 else "vectors2.npz"))
    write_plan(folder, embeddings, 2)
    chance = random.Random(1)
    lines = (" ".join(chr(97 + chance.randrange(20)) * chance.randint(1, 9) for _ in range(20)) for _ in range(5_000))
    (folder / "corpus.txt").write_text("\n".join(lines))
    (folder / "stubs").mkdir()
    (folder / "stubs" / "model2vec.py").write_text(_ENCODER)
    (folder / "encoder").mkdir()
    modules = [{"type": "sentence_transformers.models.StaticEmbedding", "path": "."}]
    (folder / "encoder" / "modules.json").write_text(json.dumps(modules))
    (folder / "encoder" / "config.json").write_text(json.dumps({"model_type": "model2vec"}))


def content_of(path: Path) -> str | None:
    """Return a hash of what a file or folder holds; of an index its rows, which a stop may have put on other pages."""
    if path.suffix != ".contexts" or not path.exists():
        return digest(path)
    with closing(sqlite3.connect(path)) as base:
        tables = {name: sorted(map(repr, base.execute(f"SELECT * FROM {name}"))) for name in _TABLES}
    return sha256(json.dumps(tables).encode()).hexdigest()


def answer_interrupts() -> None:
    """Let this process, and those that it starts, answer Ctrl-C, which shells have background jobs ignore."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def start(line: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a command in a process group of its own, which Ctrl-C reaches, as a terminal does."""
    answer_interrupts()
    return subprocess.Popen(
        [Path(sys.executable).with_name("bayesbias"), *line.split(), "--quiet"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder / "stubs"), os.environ.get("PYTHONPATH", "")])},
    )


def wait_for_handler(run: "subprocess.Popen[str]") -> None:
    """Wait until a command answers SIGTERM by itself: before, Python itself starts."""
    status = Path(f"/proc/{run.pid}/status")
    while run.poll() is None and status.parent.exists():
        caught = next((line for line in status.read_text().splitlines() if line.startswith("SigCgt")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)


def ports(processes: Collection[psutil.Process]) -> list[str]:
    """Return what processes listen on: addresses of the network, and names of local sockets."""
    found: list[str] = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found += [
                str(connection.laddr)
                for connection in process.net_connections("all")
                if connection.status == psutil.CONN_LISTEN or (isinstance(connection.laddr, str) and connection.laddr)
            ]
    return found


def interrupted(command: Command, moments: int, folder: Path, chance: random.Random) -> Counter[str]:
    """Interrupt a command at so many moments, and count what came of it; then let it end."""
    begun = time.monotonic()
    finished(start(command.alone, folder))
    seconds, whole = time.monotonic() - begun, content_of(folder / command.equal)
    if command.alone != command.line:
        seconds *= 2  # workers start first
    _remove(folder, command)
    counted: Counter[str] = Counter()
    for number in range(moments):
        sign, code, word = ((signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"))[number % 2]
        run = start(command.line, folder)
        wait_for_handler(run)
        moment = chance.uniform(0, seconds)
        with suppress(subprocess.TimeoutExpired):
            run.wait(moment)
        processes: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess, ProcessLookupError):  # it may have ended in time
            processes = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
        faults = [f"listens on {name}" for name in ports(processes)]
        with suppress(ProcessLookupError):
            (os.killpg if sign is signal.SIGINT else os.kill)(run.pid, sign)  # a terminal interrupts the group
        try:
            _, said = run.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            run.kill()
            said = "hangs"
        _, left = psutil.wait_procs(processes[1:], timeout=5)
        faults += [f"leaves {process}" for process in left]
        lines = [line for line in said.splitlines() if not line.startswith("warning: ")]
        faults += [f"leaves {path}" for path in folder.rglob("*.bayesbias")]
        if run.returncode == 0 and not faults:
            counted["in time"] += 1
        elif run.returncode == code and len(lines) == 1 and lines[0].startswith(f"{word}: ") and not faults:
            counted["ended"] += 1
        else:
            counted["bad"] += 1
            print(f"{command.line}, {sign.name} after {moment:.2f} s: {run.returncode}, {faults}, {said}", flush=True)
        if run.returncode == 0:
            _remove(folder, command)
    if not (folder / command.output).is_file() or "--overwrite" in command.line:
        finished(start(command.alone, folder))
    if content_of(folder / command.equal) != whole:
        counted["bad"] += 1
        print(f"{command.line}: what is kept goes on to another output", flush=True)
    return counted


def _remove(folder: Path, command: Command) -> None:
    for path in (folder / command.output, folder / "texts.cache"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def main() -> None:
    """Interrupt, and end with 1 if anything but a clean end came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"any of {', '.join(COMMANDS)}; default: all")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance, bad = random.Random(given.seed), 0
    print(f"{'interrupted':<12}" + "".join(f"{outcome:>10}" for outcome in OUTCOMES))
    for name, command in COMMANDS.items():
        if given.commands and name not in given.commands:
            continue
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place))
            found = interrupted(command, given.moments, Path(place), chance)
        bad += found["bad"]
        print(f"{name:<12}" + "".join(f"{found[outcome]:>10}" for outcome in OUTCOMES), flush=True)
    if bad:
        sys.exit(f"{bad} failed")


if __name__ == "__main__":
    main()
