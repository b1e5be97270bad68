"""Asymmetry: posteriors of norms' pairs, and the softmax of vectors.

Run it with ``python -m tests.bench.asymmetry``. The softmax is timed against the matrix product that it needs, in turn,
so that whatever else the machine does falls on both. The norms are made: as many cues, answers and pairs as those of
South Florida have.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.asymmetry.sources.softmax import log_normalisers


def measure() -> Iterator[dict[str, object]]:
    """Yield rows with `what`, `seconds` and `target`; of the softmax, `target` is in times of its product."""
    source = bb.asymmetry.evocation(norms(), least_count=2)
    pairs = source.pairs().head(8_383)
    seconds = best_time(lambda: bb.asymmetry.lar(source, pairs))
    yield {"what": f"posteriors of {len(pairs):,} pairs", "seconds": seconds, "target": 1.0}
    yield softmax(10_000)


def best_time(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the seconds of the quickest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def softmax(words: int, dimensions: int = 300, repeats: int = 3) -> dict[str, object]:
    """Return how long the softmax of so many cues over as many words takes, beside its matrix product."""
    rng = np.random.default_rng(1)
    cues, vocabulary = (rng.standard_normal((words, dimensions), dtype=np.float32) / 10 for _ in range(2))
    own, product = [], []
    for _ in range(repeats):
        product.append(best_time(lambda: cues @ vocabulary.T, 1))
        own.append(best_time(lambda: log_normalisers(cues, vocabulary), 1))
    tracemalloc.start()
    log_normalisers(cues, vocabulary)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "what": f"softmax of {words:,} cues over {words:,} words",
        "seconds": min(own),
        "product_seconds": min(product),
        "times_product": min(own) / min(product),
        "memory_mb": memory / 1e6,
        "target": 2.0,
    }


def norms(cues: int = 5_000, answers: int = 13, participants: int = 150) -> pd.DataFrame:
    """Return made norms: each cue is answered by words near it in a circle."""
    rng = np.random.default_rng(2)
    cue = np.repeat(np.arange(cues), answers)
    away = np.concatenate([rng.permutation(np.delete(np.arange(-20, 21), 20))[:answers] for _ in range(cues)])
    counts = np.minimum(2 + rng.pareto(1.0, len(cue)), 9).astype(int)
    names = np.array([f"w{at:04}" for at in range(cues)])
    frame = {"cue": names[cue], "response": names[(cue + away) % cues], "count": counts, "participants": participants}
    return pd.DataFrame(frame)


def line(row: dict[str, object]) -> str:
    """Return a row as a line of text."""
    if "times_product" in row:
        return (
            f"{row['what']:48} {row['seconds']:9.2f} s, {row['times_product']:.2f} times the matrix product "
            f"({row['product_seconds']:.2f} s), {row['memory_mb']:.0f} MB   at most {row['target']:g} times"
        )
    return f"{row['what']:48} {row['seconds']:9.3f} s   under {row['target']:g} s"


if __name__ == "__main__":
    for found in measure():
        print(line(found), flush=True)
