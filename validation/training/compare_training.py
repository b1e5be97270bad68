"""Skip-gram and GloVe on one corpus: how long they take, and how well their similarities agree with people's.

    python validation/training/compare_training.py CORPUS NAME=PAIRS ... [--threads 2]

CORPUS is what `bb.embeddings.train_embeddings` takes; PAIRS are files of word pairs with a rating by people,
separated by white space. Writes training.csv (time), similarity.csv (rank correlations) and run.json.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
ALGORITHMS = ("glove", "skipgram")
SAMPLES, SEED = 2000, 1


def read_pairs(path: Path) -> pd.DataFrame:
    """Return the columns one, other and rating of a file of word pairs."""
    return pd.read_csv(path, sep=r"\s+", header=None, names=["one", "other", "rating"], keep_default_na=False)


def similarities(embedding: bb.Embedding, pairs: pd.DataFrame) -> np.ndarray:
    """Return the cosine similarity of each pair, lower-cased."""
    one, other = (bb.geometry.unit_rows(embedding.matrix(pairs[column].str.lower())) for column in ("one", "other"))
    return np.einsum("ij,ij->i", one, other)


def judged(embeddings: dict[str, bb.Embedding], pairs: pd.DataFrame) -> list[dict[str, object]]:
    """Return a row for each embedding: Spearman's rank correlation of its similarities with people's ratings.

    On the pairs that all of them have. `minus_skipgram` is the difference to skip-gram's, with an 89 % interval of
    bootstrap samples of pairs.
    """
    in_all = (
        pairs[["one", "other"]]
        .map(lambda word: all(word.lower() in vectors for vectors in embeddings.values()))
        .all(axis=1)
    )
    common_pairs = pairs[in_all]
    by_name = {name: similarities(embedding, common_pairs) for name, embedding in embeddings.items()}
    rng, ratings = np.random.default_rng(SEED), common_pairs["rating"].to_numpy()
    drawn = [rng.integers(len(common_pairs), size=len(common_pairs)) for _ in range(SAMPLES)]
    base = by_name["skipgram"]
    rows = []
    for name, values in by_name.items():
        spread = [rank(values[rows], ratings[rows]) - rank(base[rows], ratings[rows]) for rows in drawn]
        low, high = np.quantile(spread, [0.055, 0.945])
        rows.append(
            {
                "algorithm": name,
                "pairs": len(common_pairs),
                "lost_pairs": len(pairs) - len(common_pairs),
                "spearman": rank(values, ratings),
                "minus_skipgram": rank(values, ratings) - rank(base, ratings),
                "low": low,
                "high": high,
            }
        )
    return rows


def rank(one: np.ndarray, other: np.ndarray) -> float:
    """Return Spearman's rank correlation."""
    return float(spearmanr(one, other).statistic)


def main() -> None:
    """Train once with each algorithm, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("pairs", nargs="+", metavar="NAME=PAIRS")
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2, help="threads of GloVe; skip-gram has one")
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    embeddings, times, facts = {}, [], {}
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in ALGORITHMS:
            threads = given.threads if algorithm == "glove" else 1
            begun, used = time.perf_counter(), time.process_time()
            trained = bb.embeddings.train_embeddings(
                given.corpus,
                Path(folder) / algorithm,
                algorithm=algorithm,
                seeds=[SEED],
                dimensions=given.dimensions,
                threads=threads,
            )
            seconds, cpu = time.perf_counter() - begun, time.process_time() - used
            embeddings[algorithm], facts[algorithm] = trained[SEED], trained.provenance
            times.append(
                {
                    "algorithm": algorithm,
                    "dimensions": given.dimensions,
                    "words": len(trained[SEED]),
                    "threads": threads,
                    "seconds": seconds,
                    "cpu_seconds": cpu,
                }
            )
            print(times[-1], flush=True)
    rows = []
    for name, path in (text.split("=", 1) for text in given.pairs):
        rows += [{"set": name, **row} for row in judged(embeddings, read_pairs(Path(path)))]
    pd.DataFrame(times).to_csv(given.out / "training.csv", index=False, float_format="%.4g", lineterminator="\n")
    table = pd.DataFrame(rows)
    table.to_csv(given.out / "similarity.csv", index=False, float_format="%.4f", lineterminator="\n")
    seconds = round(sum(row["seconds"] for row in times))
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[2], 1), "python": platform.python_version()}
    run = {"seed": SEED, "seconds": seconds, "machine": machine, "provenance": facts}
    (given.out / "run.json").write_text(json.dumps(run, indent=2) + "\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
