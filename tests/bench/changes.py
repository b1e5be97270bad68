"""Slopes on covariates, trends over periods, projections on axes, and trainings on resampled documents.

Run it with ``python -m tests.bench.changes [CORPUS]``. Trainings are timed in turn, plain and resampled, so that
whatever else the machine does falls on both. Without a corpus, one document per line, words are made.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import bayesbias as bb
from tests.models.periods.made import made_tables

_WORDS, _ATTRIBUTES, _PERIODS = 200, 60, 20
_PROJECTED, _AXES, _PAIRS = 10_000, 5, 10
_DOCUMENTS, _LENGTH, _VOCABULARY = 2_000, 150, 2_000


def measure(corpus: Path | None = None) -> Iterator[dict[str, object]]:
    """Yield rows with `what`, `seconds` and `target`; of trainings, `target` is in times of plain ones."""
    sizes = f"{_WORDS} x {_ATTRIBUTES} words"
    yield _in_child(_slope, f"slope of {sizes}")
    yield _in_child(_trend, f"trend of {sizes} in {_PERIODS} periods")
    yield _projections()
    yield _trainings(corpus)


def line(row: dict[str, object]) -> str:
    """Return a row as text."""
    if "times_plain" in row:
        return (
            f"{row['what']:48} {row['seconds']:9.1f} s, {row['times_plain']:.2f} times plain trainings "
            f"({row['plain_seconds']:.1f} s)   at most {row['target']:g} times"
        )
    memory = f", {row['memory_gb']:.2f} GB" if "memory_gb" in row else ""
    return f"{row['what']:48} {row['seconds']:9.1f} s{memory}   under {row['target']:g} s"


def _in_child(work: Callable[[], float], what: str) -> dict[str, object]:
    """Return the seconds of some work, and the most memory of a process that did nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
        seconds, kilobytes = child.submit(work).result(), child.submit(_most_memory).result()
    return {"what": what, "seconds": seconds, "target": 60.0, "memory_gb": kilobytes / 1e6}


def _most_memory() -> int:
    """Return the most resident memory in kB: of this program alone, since `ru_maxrss` includes the one it came from."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])


def _slope() -> float:
    table = made_tables(1, words=_WORDS // 2, attributes=_ATTRIBUTES // 2)["1900"]
    words = table["protected_word"].unique()
    shares = dict(zip(words, np.random.default_rng(1).uniform(size=len(words)), strict=True))
    start = time.perf_counter()
    bb.covariate_effect(bb.fit(table, covariates={"share": shares}, random_seed=1, progress=False))
    return time.perf_counter() - start


def _trend() -> float:
    tables = made_tables(_PERIODS, words=_WORDS // 2, attributes=_ATTRIBUTES // 2)
    start = time.perf_counter()
    bb.trend(tables, random_seed=1, progress=False)
    return time.perf_counter() - start


def _projections() -> dict[str, object]:
    rng = np.random.default_rng(2)
    words = [f"w{number}" for number in range(_PROJECTED + 2 * _AXES * _PAIRS)]
    embedding = bb.Embedding(tuple(words), rng.standard_normal((len(words), 300), dtype=np.float32))
    poles = iter(words[_PROJECTED:])
    axes = {f"axis {place}": [(next(poles), next(poles)) for _ in range(_PAIRS)] for place in range(_AXES)}
    start = time.perf_counter()
    bb.project(embedding, words[:_PROJECTED], axes, random_seed=1)
    return {
        "what": f"projections of {_PROJECTED:,} words on {_AXES} axes",
        "seconds": time.perf_counter() - start,
        "target": 5.0,
    }


def _trainings(corpus: Path | None, repeats: int = 3) -> dict[str, object]:
    rng = np.random.default_rng(3)
    seconds: dict[str | None, list[float]] = {None: [], "documents": []}
    with tempfile.TemporaryDirectory() as folder:
        if corpus is None:
            corpus = Path(folder) / "made.txt"
            words = np.array(
                [
                    f"w{chr(97 + code // 26 % 26)}{chr(97 + code % 26)}{'z' * (code // 676)}"
                    for code in range(_VOCABULARY)
                ]
            )
            ranks = np.minimum(rng.zipf(1.3, (_DOCUMENTS, _LENGTH)), _VOCABULARY) - 1
            corpus.write_text("\n".join(map(" ".join, words[ranks])) + "\n", encoding="utf-8")
        for seed in range(repeats + 1):  # the first, which imports, is not counted
            for resample, times in seconds.items():
                start = time.perf_counter()
                bb.embeddings.train_embeddings(
                    corpus,
                    Path(folder) / f"{resample}{seed}",
                    seeds=[seed],
                    dimensions=100,
                    epochs=1,
                    resample=resample,
                    progress=False,
                )
                times.append(time.perf_counter() - start)
    plain, resampled = (float(np.sum(times[1:])) for times in seconds.values())
    return {
        "what": f"{repeats} trainings on resampled documents",
        "seconds": resampled,
        "plain_seconds": plain,
        "times_plain": resampled / plain,
        "target": 1.05,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="?", type=Path)
    for row in measure(parser.parse_args().corpus):
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
