"""The lattice of a word list, and the null distribution of a comparison, in vectors of usual size.

Run it with ``python -m tests.bench.geometry``. Medians of several runs, after one that is not counted.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from bayesbias.embeddings.embedding import Embedding
from bayesbias.metrics.subspaces.lattice import lattice
from bayesbias.metrics.subspaces.randomisation_nulls import randomisation_nulls

VOCABULARY, DIMENSIONS, WORDS, DRAWS = 50_000, 300, 8, 10_000
_RUNS = 5


def measure() -> list[dict[str, object]]:
    """Return one row for each figure: median seconds, and its target."""
    vectors = np.random.default_rng(1).standard_normal((VOCABULARY, DIMENSIONS), dtype=np.float32)
    embedding = Embedding(words=tuple(f"word{at}" for at in range(VOCABULARY)), vectors=vectors)
    first, second = embedding.words[:WORDS], embedding.words[WORDS : 2 * WORDS]

    def lattices() -> None:
        for metric in ("canonical_subspace", "mean_cosine"):
            made = lattice(embedding, first, metric=metric)
            assert made.similarities[4].shape == (70, 70)

    def null() -> None:
        made = randomisation_nulls(embedding, {"first": first, "second": second}, drawn="both", samples=DRAWS)
        assert made.samples["both"].shape == (DRAWS, 3 + WORDS)

    return [
        {"what": f"lattice of {WORDS} words, all sizes, both metrics", "seconds": _seconds(lattices), "target": 2.0},
        {
            "what": f"two-way null, {DRAWS:,} draws of {WORDS} and {WORDS} words",
            "seconds": _seconds(null),
            "target": 3.0,
        },
    ]


def _seconds(run: Callable[[], None]) -> float:
    run()
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print the figures."""
    for row in measure():
        print(f"{row['what']}: {row['seconds']:.3f} s, target under {row['target']:g} s")


if __name__ == "__main__":
    main()
