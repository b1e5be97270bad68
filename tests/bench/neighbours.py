"""The 100 nearest neighbours of every word of a vocabulary, against the matrix product that they need.

Run it with ``python -m tests.bench.neighbours``. Both take the targets a slice at a time, in turn, so that whatever
else the machine does falls on both. Memory of ours is what NumPy had allocated at most, less what it held before.
"""

import argparse
import time
import tracemalloc

import numpy as np

from bayesbias.metrics.directions.neighbours import _BLOCK_MB, nearest_neighbours

DIMENSIONS, K, TARGET = 300, 100, 1.5
_SLICES = 5


def measure(scale: float = 1.0) -> list[dict[str, object]]:
    """Return one row: seconds, those of the product alone, their ratio, its target, and memory in MB.

    Parameters
    ----------
    scale
        1.0 is the size that the target is stated for, 50,000 words; smaller is a quicker trial.
    """
    count = round(50_000 * scale)
    vectors = np.random.default_rng(1).standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    buffer = np.empty((int(_BLOCK_MB * 1e6 / (4 * count)), count), dtype=np.float32)
    seconds = product = 0.0
    for rows in np.array_split(np.arange(count), _SLICES):
        start = time.perf_counter()
        for first in range(rows[0], rows[-1] + 1, len(buffer)):
            block = vectors[first : min(first + len(buffer), rows[-1] + 1)]
            np.matmul(block, vectors.T, out=buffer[: len(block)])
        middle = time.perf_counter()
        nearest_neighbours(vectors[rows], vectors, K, own_rows=rows)
        product, seconds = product + middle - start, seconds + time.perf_counter() - middle
    del buffer
    tracemalloc.start()
    nearest_neighbours(vectors[:1000], vectors, K, own_rows=range(min(count, 1000)))
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return [
        {
            "what": f"{K} neighbours of all of {count:,} x {DIMENSIONS}",
            "seconds": seconds,
            "product_seconds": product,
            "times_product": seconds / product,
            "target": TARGET,
            "memory_mb": memory,
        }
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is the size that the target is for")
    for row in measure(parser.parse_args().scale):
        print(
            f"{row['what']}: {row['seconds']:.2f} s, the product alone {row['product_seconds']:.2f} s: "
            f"{row['times_product']:.2f} times, target at most {row['target']} times; {row['memory_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
