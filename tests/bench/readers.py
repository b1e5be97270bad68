"""Reading 600 words of a large file, beside gensim's load of that file.

Both readers run in fresh processes, in turn, on a file that has just been written and so stands in the page cache for
both; each counts from the call to the vectors, without the import. Memory of our reader is the most anonymous memory
(`RssAnon`, what the process allocated itself; the page cache is not its own) that a second thread saw in use, less what
was in use before.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.bench import Figure, seconds_of

WANTED, DIMENSIONS, _BLOCK = 600, 300, 20_000


def measure() -> Iterator[Figure]:
    """Yield our time over gensim's, and our memory, for each format."""
    cases: list[tuple[str, int, float, Callable[[Path, int], None]]] = [
        ("word2vec_binary", 600_000, 1 / 10, write_binary),
        ("glove", 100_000, 1 / 30, write_glove),
    ]
    for form, words, limit, write in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / form
            write(path, words)
            ours = [in_child("tests.bench.readers", "ours", form, path, words) for _ in range(3)]
            gensim = in_child("tests.bench.readers", "gensim", form, path, words)
        what = f"{WANTED} words of {words:,} x {DIMENSIONS}, {form}"
        yield Figure(what, statistics.median(run["seconds"] for run in ours) / gensim["seconds"], limit, "times gensim")
        yield Figure(what, max(run["memory_mb"] for run in ours), 150.0, "MB")


def write_binary(path: Path, count: int) -> None:
    """Write word2vec binary as Google's tool does, a line end after each vector."""
    random = np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(f"{count} {DIMENSIONS}".encode())  # the first name brings the line end
        for first in range(0, count, _BLOCK):
            block = random.standard_normal((min(_BLOCK, count - first), DIMENSIONS), dtype=np.float32)
            file.writelines(f"\nword{first + row} ".encode() + vector.tobytes() for row, vector in enumerate(block))
        file.write(b"\n")


def write_glove(path: Path, count: int) -> None:
    """Write GloVe text with six decimals, each number drawn from a table of printed ones."""
    random = np.random.default_rng(1)
    table = np.array([f"{number:.6f}" for number in random.standard_normal(10_000)], dtype=object)
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, count, _BLOCK):
            block = table[random.integers(len(table), size=(min(_BLOCK, count - first), DIMENSIONS))]
            file.writelines(f"word{first + row} {' '.join(numbers)}\n" for row, numbers in enumerate(block.tolist()))


def in_child(module: str, *arguments: object) -> dict[str, float]:
    """Return what a module prints as JSON in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)]
    printed: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return printed


@contextmanager
def most_memory(interval: float) -> Iterator[list[int]]:
    """Watch the memory in use: a list of one number, the most bytes more than at the start."""
    before = own_memory()
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(interval):
            most[0] = max(most[0], own_memory() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield most
    most[0] = max(most[0], own_memory() - before)
    done.set()
    watcher.join()


def own_memory() -> int:
    """Return the anonymous memory in use, in bytes; where there is no /proc, the most ever resident."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _child(who: str, form: str, path: str, count: str) -> None:
    names = [f"word{number}" for number in range(0, int(count), int(count) // WANTED)][:WANTED]
    vectors: list[object] = []
    if who == "ours":
        from bayesbias.embeddings.loading import load_embedding

        def load() -> None:
            vectors.append(load_embedding(path, words=names))
            assert len(vectors[0]) == WANTED  # type: ignore[arg-type]
    else:
        from gensim.models import KeyedVectors

        # gensim forgets to close text files that have no header
        warnings.simplefilter("ignore", ResourceWarning)
        binary = form == "word2vec_binary"

        def load() -> None:
            vectors.append(KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary))

    with most_memory(0.005) as most:
        seconds = seconds_of(load)
    print(json.dumps({"seconds": seconds, "memory_mb": most[0] / 1e6}))


if __name__ == "__main__":
    _child(*sys.argv[1:])
