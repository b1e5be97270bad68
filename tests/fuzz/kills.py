"""Kill commands at random moments, and start several at once: print what is found of what they write.

python -m tests.fuzz.kills [--kills 200] [--seed 1] [COMMAND ...]
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bayesbias.base.files.inputs import bundled


@dataclass(frozen=True, slots=True)
class Command:
    """A command, two settings that write different results to the same place, and its share of the kills.

    `reads` names the commands whose output it reads.
    """

    line: str
    output: str
    settings: tuple[str, str]
    share: float
    reads: tuple[str, ...] = ()


_SEEDS = ("--seed 1", "--seed 2")
# In the order in which each finds the files that it reads.
COMMANDS = {
    # The bundled vectors lack one of the four words of a list.
    "table": Command(
        "table vectors.npz --study religion --max-lost 0.25 -o table.csv",
        "table.csv",
        ("--name one", "--name two"),
        0.2,
    ),
    "debias": Command(
        "debias vectors.npz --sets religion_manzini -o changed.npz",
        "changed.npz",
        ("--components 2", "--components 3"),  # one makes the vectors of several words equal
        0.2,
    ),
    # Is not killed: `compare` reads it.
    "other": Command(
        "table changed.npz --study religion --max-lost 0.25 -o other.csv",
        "other.csv",
        ("--name one", "--name two"),
        0,
        reads=("debias",),
    ),
    # One seed is one file; a folder of several is continued, and not whole before.
    "train": Command(
        "train corpus.txt --algorithm glove --dimensions 20 --seeds 1 -o trained",
        "trained/glove_seed1.npz",
        ("--epochs 1", "--epochs 2"),
        0.05,
    ),
    "fit": Command("fit table.csv --draws 250 --tune 250 -o fit", "fit", _SEEDS, 0.2, reads=("table",)),
    "compare": Command("compare table.csv other.csv -o compared", "compared", _SEEDS, 0.1, reads=("table", "other")),
    # Two embeddings of the same words, as those of two seeds are.
    "trainings": Command(
        "trainings vectors.npz changed.npz --study religion --max-lost 0.25 --model hierarchical --draws 250 "
        "-o trainings",
        "trainings",
        _SEEDS,
        0.05,
        reads=("debias",),
    ),
    "trend": Command(
        "trend vectors.npz changed.npz --study religion --max-lost 0.25 --draws 400 -o moved",
        "moved",
        _SEEDS,
        0.05,
        reads=("debias",),
    ),
    "asymmetry": Command(
        "asymmetry norms.csv vectors.npz --either --seed 1 -o evoked",
        "evoked",
        ("--hdi-prob 0.8", "--hdi-prob 0.9"),
        0.05,
    ),
    "plan freeze": Command("plan freeze religion -o plan.toml", "plan.toml", ("--rope 0.02", "--rope 0.03"), 0.05),
    "report": Command("report fit/fit.nc -o report.html", "report.html", _SEEDS, 0.1, reads=("fit",)),
    "demo": Command("demo -o demo", "demo", _SEEDS, 0.05),
}
OUTCOMES = ("old", "new", "mixture", "refused", "ended")
AT_ONCE, WRITERS = ("table", "debias", "fit"), (2, 3, 5, 8)


def needed(names: Collection[str]) -> set[str]:
    """Return the commands whose output those of these names read, and whose output these read."""
    found: set[str] = set()
    for name in reversed(COMMANDS):  # each reads what stands before it
        if name in names or name in found:
            found.update(COMMANDS[name].reads)
    return found


def digest(path: Path) -> str | None:
    """Return a hash of a file, or of the names and content of what a folder holds; None where nothing is."""
    if path.is_dir():
        return sha256("".join(f"{each.name} {digest(each)}\n" for each in sorted(path.iterdir())).encode()).hexdigest()
    return sha256(path.read_bytes()).hexdigest() if path.exists() else None


def start(command: Command, setting: int, folder: Path, *flags: str) -> subprocess.Popen[str]:
    """Start a command with one of its two settings in a folder."""
    return subprocess.Popen(
        [
            Path(sys.executable).with_name("bayesbias"),
            *command.line.split(),
            *command.settings[setting].split(),
            *flags,
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(run: subprocess.Popen[str]) -> str:
    """Return what a command printed as errors; end this program if it failed."""
    _, said = run.communicate()
    if run.returncode:
        raise SystemExit(f"{run.args!r} ended with {run.returncode}: {said}")
    return said


def killed(
    command: Command, kills: int, folder: Path, chance: random.Random
) -> tuple[Counter[str], Sequence[str | None]]:
    """Kill a command at random moments; what it leaves is old or new, and the next run begins on its own.

    Half of the moments are anywhere, half while files are written; runs that end before are not counted. Also return
    the hashes of what the command writes with each of its settings.
    """
    output, found = folder / command.output, Counter[str]()
    whole: list[str | None] = []
    for setting in (0, 1):
        begun = time.monotonic()
        run, writes_at = start(command, setting, folder, "--overwrite"), 0.0
        while run.poll() is None:
            time.sleep(0.001)
            if not writes_at and any(folder.glob(".*.bayesbias/*")):
                writes_at = time.monotonic() - begun
        ends_at = time.monotonic() - begun
        finished(run)
        whole.append(digest(output))
    if whole[0] == whole[1]:
        raise SystemExit(f"{command.line}: both settings write the same, so that no mixture could be recognised.")
    number = 0
    while found["old"] + found["new"] + found["mixture"] + found["refused"] < kills:
        number += 1
        before, begun = digest(output), time.monotonic()
        run = start(command, setting := number % 2, folder, "--overwrite")
        moment = chance.uniform(0, ends_at) if number % 4 < 2 else chance.uniform(0.95 * writes_at, 1.1 * ends_at)
        try:
            run.wait(moment)
        except subprocess.TimeoutExpired:
            run.kill()
        _, said = run.communicate()
        after = digest(output)
        if run.returncode == 0 and after == whole[setting]:
            found["ended"] += 1
            ends_at = min(ends_at, time.monotonic() - begun)  # the machine is quicker now
            writes_at = min(writes_at, ends_at)
        elif run.returncode not in (0, -signal.SIGKILL):
            found["refused"] += 1
            print(f"{command.line}: {said}", file=sys.stderr)
        elif after == whole[setting] != before:
            found["new"] += 1
        else:
            found["old" if after == before and after in whole else "mixture"] += 1
    finished(start(command, 0, folder, "--overwrite"))
    if digest(output) != whole[0] or any(folder.rglob("*.bayesbias")):
        raise SystemExit(f"{command.line}: after the last kill a run leaves {sorted(map(str, folder.rglob('*')))}")
    return found, whole


def at_once(command: Command, writers: int, folder: Path, whole: Sequence[str | None], *flags: str) -> Counter[str]:
    """Start a command several times at once: one or, where it may overwrite, more write; the others are told.

    What is left is one of the outputs whose hashes are given.
    """
    output, found = folder / command.output, Counter[str]()
    if not flags:
        (shutil.rmtree if output.is_dir() else Path.unlink)(output)
    runs = [start(command, number % 2, folder, *flags) for number in range(writers)]
    for run in runs:
        _, said = run.communicate()
        told = run.returncode in (1, 2) and ("nother run" in said or "exists" in said)
        found["wrote" if run.returncode == 0 else "told" if told else said.strip()] += 1
    found["whole" if digest(output) in whole else "mixture"] += 1
    return found


def main() -> None:
    """Kill, and end with 1 if anything but what was there or what was to be there is found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"any of {', '.join(COMMANDS)}; default: all")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asked = given.commands or [name for name, command in COMMANDS.items() if command.share]
    if unknown := set(asked) - set(COMMANDS):
        parser.error(f"there is no command {', '.join(unknown)}; there are {', '.join(COMMANDS)}")
    chance, bad, whole_of = random.Random(given.seed), 0, dict[str, Sequence[str | None]]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        vectors = bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
        shutil.copy(vectors, folder / "vectors.npz")
        chance_words = random.Random(1).choices(range(200), k=20_000)
        (folder / "corpus.txt").write_text(" ".join(chr(97 + word % 26) * (1 + word // 26) for word in chance_words))
        asked_of = ("he", "she", "man", "woman", "art", "dance")
        rows = [f"{a},{b},{2 + at},100" for a in asked_of for at, b in enumerate(asked_of) if a != b]
        (folder / "norms.csv").write_text("cue,response,count,participants\n" + "\n".join(rows) + "\n")
        print(f"{'killed':<10}" + "".join(f"{outcome:>10}" for outcome in OUTCOMES))
        for name, command in COMMANDS.items():
            if name in asked:
                found, whole_of[name] = killed(command, round(given.kills * command.share), folder, chance)
                bad += found["mixture"] + found["refused"]
                print(f"{name:<10}" + "".join(f"{found[outcome]:>10}" for outcome in OUTCOMES), flush=True)
            elif name in needed(asked):
                finished(start(command, 0, folder))
        if set(asked) & set(AT_ONCE):
            titles = ("at once", "writers", "may", "wrote", "told", "whole")
            print(f"\n{titles[0]:<10}" + "".join(f"{title:>10}" for title in titles[1:]))
        for name in filter(asked.__contains__, AT_ONCE):
            for writers in WRITERS:
                for flags in ((), ("--overwrite",)):
                    found = at_once(COMMANDS[name], writers, folder, whole_of[name], *flags)
                    right = found["wrote"] + found["told"] == writers and found["whole"] == 1 and found["wrote"] >= 1
                    bad += not (right and (flags or found["wrote"] == 1))
                    cells = (writers, "replace" if flags else "write", found["wrote"], found["told"], found["whole"])
                    print(f"{name:<10}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
            finished(start(COMMANDS[name], 0, folder, "--overwrite"))  # what the next command read when it was killed
    if bad:
        sys.exit(f"{bad} failed")


if __name__ == "__main__":
    main()
