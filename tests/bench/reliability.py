"""Reliability of all words of a vocabulary at once: scores, coefficients, posteriors.

Run it with ``python -m tests.bench.reliability``. Scores are timed against the matrix products that they need, in turn,
so that whatever else the machine does falls on both.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

import bayesbias as bb
from bayesbias.reliability.mean_squares import ICC_2_1, mean_squares
from bayesbias.reliability.variance_components import posterior

PAIRS = 23


def measure(scale: float = 1.0) -> Iterator[dict[str, object]]:
    """Yield rows with `what`, `seconds` and `target`; of the scores, `target` is in times of their products.

    Parameters
    ----------
    scale
        1.0 is the size that the targets are stated for; smaller is a quicker trial.
    """
    yield _scores(round(60_000 * scale))
    count = round(100_000 * scale)
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((count, PAIRS, 32), dtype=np.float32).astype(np.float64)
    scores += rng.standard_normal((count, PAIRS, 1))
    start = time.perf_counter()
    bb.reliability.icc_2_1(scores)
    yield {"what": f"ICC of {count:,} words x {PAIRS} x 32", "seconds": time.perf_counter() - start, "target": 2.0}
    squares = mean_squares(scores)
    start = time.perf_counter()
    posterior(squares, ICC_2_1, hdi_prob=0.89)
    yield {"what": "their posteriors", "seconds": time.perf_counter() - start, "target": 60.0}


def _scores(count: int, *, seeds: int = 8, dimensions: int = 100, repeats: int = 5) -> dict[str, object]:
    rng = np.random.default_rng(2)
    words = [f"w{i}" for i in range(count)]
    pairs = [(words[2 * i], words[2 * i + 1]) for i in range(PAIRS)]
    embeddings = {
        seed: bb.Embedding(tuple(words), rng.standard_normal((count, dimensions), dtype=np.float32))
        for seed in range(seeds)
    }
    vectors = embeddings[0].vectors.astype(np.float64)
    directions = vectors[:PAIRS]
    ratios, own, product = [], [], []
    for _ in range(repeats):
        start = time.perf_counter()
        products = np.empty((2 * seeds, PAIRS, count))
        for product_of in products:
            np.matmul(directions, vectors.T, out=product_of)
        del products, product_of
        middle = time.perf_counter()
        bb.reliability.score_array(embeddings, words, rules=("db_wa", "ripa"), base_pairs=pairs, progress=False)
        product.append(middle - start)
        own.append(time.perf_counter() - middle)
        ratios.append(own[-1] / product[-1])
    return {
        "what": f"DB/WA and RIPA of {count:,} words x {PAIRS} x {seeds}",
        "seconds": float(np.median(own)),
        "product_seconds": float(np.median(product)),
        "times_product": float(np.median(ratios)),
        "target": 2.0,
    }


def line(row: dict[str, object]) -> str:
    """Return a row as text."""
    if "times_product" in row:
        return (
            f"{row['what']:48} {row['seconds']:9.2f} s, {row['times_product']:.2f} times the matrix products "
            f"({row['product_seconds']:.2f} s)   at most {row['target']:g} times"
        )
    return f"{row['what']:48} {row['seconds']:9.2f}   under {row['target']:g} s"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is the size that the targets are for")
    for row in measure(parser.parse_args().scale):
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
