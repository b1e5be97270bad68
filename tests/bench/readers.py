"""Reading 600 words of a large file, against gensim's load of that file.

Run it with ``python -m tests.bench.readers``. Both readers run in fresh processes, in turn, on a file that
has just been written and so stands in the page cache for both; each counts from the call to the vectors,
without the import. Memory of our reader is the most anonymous memory (`RssAnon`, what the process allocated
itself; the page cache is not its own) that a second thread saw in use, less what was in use before.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

WANTED = 600
DIMENSIONS = 300
_BLOCK = 20_000


def measure(scale: float = 1.0) -> list[dict[str, object]]:
    """Return one row a file format: seconds, gensim's seconds, their ratio, its target, and memory in MB.

    Parameters
    ----------
    scale
        1.0 is the size that the targets are stated for; smaller is a quicker trial.
    """
    cases: list[tuple[str, int, float, Callable[[Path, int], None]]] = [
        ("word2vec_binary", round(600_000 * scale), 10.0, write_binary),
        ("glove", round(100_000 * scale), 30.0, write_glove),
    ]
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for form, words, target, write in cases:
            path = Path(folder) / form
            write(path, words)
            ours = [_in_child("ours", form, path, words) for _ in range(3)]
            theirs = _in_child("gensim", form, path, words)
            seconds = float(np.median([run["seconds"] for run in ours]))
            rows.append(
                {
                    "what": f"{WANTED} words of {words:,} x {DIMENSIONS}, {form}",
                    "seconds": seconds,
                    "versus_gensim": theirs["seconds"],
                    "ratio": theirs["seconds"] / seconds,
                    "target": target,
                    "memory_mb": max(run["memory_mb"] for run in ours),
                    "gensim_memory_mb": theirs["memory_mb"],
                }
            )
            path.unlink()
    return rows


def words_of(count: int) -> list[str]:
    return [f"word{number}" for number in range(count)]


def write_binary(path: Path, count: int) -> None:
    """Write word2vec binary as Google's tool does, a line end after each vector."""
    random = np.random.default_rng(1)
    names = [f"\n{word} ".encode() for word in words_of(count)]
    with path.open("wb") as file:
        file.write(f"{count} {DIMENSIONS}".encode())  # the first name brings the line end
        for first in range(0, count, _BLOCK):
            block = random.standard_normal((min(_BLOCK, count - first), DIMENSIONS), dtype=np.float32)
            raw, width = block.tobytes(), 4 * DIMENSIONS
            file.write(b"".join(names[first + row] + raw[row * width : (row + 1) * width] for row in range(len(block))))
        file.write(b"\n")


def write_glove(path: Path, count: int) -> None:
    """Write GloVe text with six decimals, each number drawn from a table of printed ones."""
    random = np.random.default_rng(1)
    table = np.array([f"{number:.6f}" for number in random.standard_normal(10_000)], dtype=object)
    names = words_of(count)
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, count, _BLOCK):
            block = table[random.integers(len(table), size=(min(_BLOCK, count - first), DIMENSIONS))]
            file.writelines(f"{names[first + row]} {' '.join(numbers)}\n" for row, numbers in enumerate(block.tolist()))


def _in_child(who: str, form: str, path: Path, words: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.readers", "--child", who, form, str(path), str(words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _child(who: str, form: str, path: str, count: int) -> None:
    names = words_of(count)
    chosen = names[:: max(1, count // WANTED)][:WANTED]
    del names
    if who == "ours":
        from bayesbias.embeddings.loading import load_embedding

        def load() -> object:
            embedding = load_embedding(path, words=chosen)
            assert len(embedding) == len(chosen)
            return embedding
    else:
        from gensim.models import KeyedVectors

        # gensim forgets to close text files that have no header
        warnings.simplefilter("ignore", ResourceWarning)
        binary = form == "word2vec_binary"

        def load() -> object:
            return KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary)

    before = own_memory()
    most = [before]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    result = load()
    seconds = time.perf_counter() - start
    most[0] = max(most[0], own_memory())
    done.set()
    watcher.join()
    del result
    print(json.dumps({"seconds": seconds, "memory_mb": (most[0] - before) / 1e6}))


def own_memory() -> int:
    """Return the anonymous memory in use, in bytes; where there is no /proc, the most ever resident."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is the size that the targets are for")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        who, form, path, count = given.child
        _child(who, form, path, int(count))
        return
    print(f"{'what':<46}{'seconds':>9}{'gensim':>9}{'ratio':>8}{'target':>8}{'MB':>8}{'gensim MB':>11}")
    for row in measure(given.scale):
        print(
            f"{row['what']:<46}{row['seconds']:>9.3f}{row['versus_gensim']:>9.2f}{row['ratio']:>8.1f}"
            f"{row['target']:>8.0f}{row['memory_mb']:>8.1f}{row['gensim_memory_mb']:>11.0f}"
        )


if __name__ == "__main__":
    main()
