"""The index of nine million words, and the contexts of as many pairs as South Florida's norms hold both ways.

Run it with ``python -m tests.bench.contexts``. The corpus is made: words as frequent as in English, by Zipf's law.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bayesbias as bb

_WORDS, _PARAGRAPHS, _LENGTH = 100_000, 36_000, 250


def measure() -> Iterator[dict[str, object]]:
    """Yield rows with `what`, `seconds` and `target`."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{at}" for at in range(_WORDS)])
    shares = 1 / (np.arange(_WORDS) + 2.7)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        with corpus.open("w", encoding="utf-8") as stream:
            for _ in range(_PARAGRAPHS):
                stream.write(" ".join(words[rng.choice(_WORDS, size=_LENGTH, p=shares / shares.sum())]) + ".\n")
        start = time.perf_counter()
        index = bb.embeddings.index_contexts(corpus, Path(folder) / "corpus.contexts", progress=False)
        yield {"what": f"index of {index.words:,} words", "seconds": time.perf_counter() - start, "target": 60.0}
        pairs = [tuple(words[each].tolist()) for each in rng.choice(4_600, size=(8_383, 2)) if each[0] != each[1]]
        start = time.perf_counter()
        index.pairs(pairs, progress=False)
        yield {"what": f"contexts of {len(pairs):,} pairs", "seconds": time.perf_counter() - start, "target": 30.0}


if __name__ == "__main__":
    for row in measure():
        print(f"{row['what']:48} {row['seconds']:9.3f} s   under {row['target']:g} s", flush=True)
