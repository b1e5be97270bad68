"""GloVe with other weights and learning rates than its defaults, and how its vectors agree with people's ratings.

    python validation/training/vary_glove.py CORPUS NAME=PAIRS ... [--settings 0.05,100 0.2,100]

CORPUS and PAIRS as for compare_training.py. Settings are pairs of learning rate and x_max. Writes
glove_settings.csv, with rows after 5, 10 and 15 iterations, for W + C and for W alone.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from compare_training import FOLDER, SEED, rank, read_pairs, similarities

import bayesbias as bb
from bayesbias.embeddings.training.corpus import count_cooccurrences, read_corpus
from bayesbias.embeddings.training.glove import one_epoch, sorted_cells, start_numbers

DIMENSIONS, SHOWN = 100, (5, 10, 15)


def correlations(words: tuple[str, ...], vectors: np.ndarray, sets: dict[str, pd.DataFrame]) -> dict[str, float]:
    """Return Spearman's rank correlation for each set of pairs, on the pairs whose words have vectors."""
    embedding = bb.Embedding(words=words, vectors=vectors)
    by_set = {}
    for name, pairs in sets.items():
        has_both = pairs[["one", "other"]].map(lambda word: word.lower() in embedding).all(axis=1)
        by_set[name] = rank(similarities(embedding, pairs[has_both]), pairs.loc[has_both, "rating"].to_numpy())
    return by_set


def main() -> None:
    """Count once, train with each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("pairs", nargs="+", metavar="NAME=PAIRS")
    parser.add_argument("--settings", nargs="+", default=["0.05,100", "0.2,100", "0.05,10"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    sets = {name: read_pairs(Path(path)) for name, path in (text.split("=", 1) for text in given.pairs)}
    corpus = read_corpus(given.corpus, min_count=5)
    size = len(corpus.words)
    counted = count_cooccurrences(corpus.stream[corpus.stream < size], size, 15)
    rows = []
    for rate, x_max in (map(float, text.split(",")) for text in given.settings):
        settings = {"x_max": x_max, "alpha": 0.75, "learning_rate": rate}
        rng = np.random.default_rng(SEED)
        cells = sorted_cells(counted, size, rng)
        words, contexts = start_numbers(size, DIMENSIONS, rng)
        for iteration in range(1, max(SHOWN) + 1):
            cost = sum(part for _, part in one_epoch(cells, words, contexts, settings, given.workers))
            if iteration in SHOWN:
                W, C = words[:, 0, :DIMENSIONS], contexts[:, 0, :DIMENSIONS]
                for name, vectors in (("W + C", W + C), ("W", W.copy())):
                    facts = {"learning_rate": rate, "x_max": x_max, "iterations": iteration, "vectors": name}
                    by_set = correlations(corpus.words, vectors, sets)
                    rows.append({**facts, "cost": cost / len(cells.rows), **by_set})
                print(rows[-2], flush=True)
    pd.DataFrame(rows).to_csv(given.out / "glove_settings.csv", index=False, float_format="%.3g", lineterminator="\n")


if __name__ == "__main__":
    main()
