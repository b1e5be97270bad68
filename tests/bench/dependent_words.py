"""Time of a distance table with the sample of the vocabulary that shows dependent words, beside that without it."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import bayesbias as bb
from bayesbias.embeddings import vocabulary_sample
from tests.bench.readers import words_of, write_binary, write_glove

WORDS, TARGET = {"word2vec binary": 400_000, "GloVe text": 60_000}, 1.2


def measure(scale: float = 1.0) -> Iterator[dict[str, object]]:
    """Yield a row for each format: seconds of a table, and how many times those of a table without the sample."""
    writers: dict[str, Callable[[Path, int], None]] = {"word2vec binary": write_binary, "GloVe text": write_glove}
    study = bb.Study(
        name="bench",
        protected={"x": words_of(8), "y": words_of(16)[8:]},
        attributes={"a": words_of(24)[16:], "b": words_of(32)[24:]},
        associated=[("x", "a"), ("y", "b")],
        human="none",
        neutral="none",
    )
    with tempfile.TemporaryDirectory() as folder:
        for form, write in writers.items():
            path, words = Path(folder) / "vectors", round(WORDS[form] * scale)
            write(path, words)
            seconds = {with_sample: _seconds(path, study, with_sample=with_sample) for with_sample in (True, False)}
            yield {
                "what": f"table of {words:,} words, {form}, with a sample",
                "seconds": seconds[True],
                "times_without": seconds[True] / seconds[False],
                "target": TARGET,
            }


def _seconds(path: Path, study: bb.Study, *, with_sample: bool) -> float:
    first = vocabulary_sample.FIRST_ENTRIES if with_sample else 1
    best = float("inf")
    for _ in range(3):
        with mock.patch.object(vocabulary_sample, "FIRST_ENTRIES", first):
            start = time.perf_counter()
            bb.distance_table(path, study)
            best = min(best, time.perf_counter() - start)
    return best


def line(row: dict[str, object]) -> str:
    """Return a row as a line."""
    return (
        f"{row['what']:56} {row['seconds']:7.2f} s, {row['times_without']:.2f} times that without   "
        f"at most {row['target']:g} times"
    )
