"""Compare the condition number of sub-lists of one size with how mean cosine similarity confuses them.

    python validation/kindel/condition_number.py VECTORS [VECTORS ...]

VECTORS are files of vectors that bayesbias reads; the bundled ones are added. README.md says what came out.
"""

import argparse
import warnings
from pathlib import Path

import pandas as pd
from make_kindel import LISTS
from scipy.stats import mannwhitneyu

import bayesbias as bb
from bayesbias.errors import LostWordsWarning
from bayesbias.metrics.subspaces.lattice import subset_consistency

FOLDER = Path(__file__).resolve().parent
SIZES = (3, 4, 5, 6)


def cells(embedding: bb.Embedding) -> pd.DataFrame:
    """Return one row per list and size q: rank correlation of condition number and margin, and the AUC.

    The margin is a sub-list's similarity to itself less that to the nearest other. The AUC is the probability that a
    consistent sub-list has a larger condition number than an inconsistent one.
    """
    rows = []
    for name, words in LISTS.items():
        # An embedding may lack words of a list: the table counts those that it has.
        subsets = subset_consistency(embedding, words, max_lost=1).subsets
        known = int(subsets["size"].max()) + 1
        for q, part in subsets[subsets["size"].isin(SIZES)].groupby("size"):
            margin = part["self_similarity"] - part["nearest_similarity"]
            correlation = part["condition_number"].corr(margin, method="spearman")
            by_consistent = [part.loc[part["consistent"] == flag, "condition_number"] for flag in (True, False)]
            auc = mannwhitneyu(*by_consistent).statistic / (len(by_consistent[0]) * len(by_consistent[1]))
            rows.append((name, known, q, len(part), len(by_consistent[0]), correlation, auc))
    return pd.DataFrame(rows, columns=["list", "words", "q", "subsets", "consistent", "rank_correlation", "auc"])


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", nargs="+", type=Path, help="files of vectors")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the table")
    arguments = parser.parse_args()
    bundled = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        frames = [
            cells(embedding).assign(embedding=embedding.name)
            for embedding in map(bb.load_embedding, [*arguments.vectors, bundled])
        ]
    frame = pd.concat(frames)
    frame = frame[["embedding", *frame.columns.drop("embedding")]]
    frame.to_csv(arguments.out / "condition.csv", index=False, float_format="%.5g")
    print(frame.to_string(index=False))


if __name__ == "__main__":
    main()
