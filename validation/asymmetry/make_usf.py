"""Make the tables of USF's associations beside static vectors, and beside the numbers of Zhang et al. (2021).

    python validation/asymmetry/make_usf.py NORMS RELATIONS VECTORS... [--out FOLDER]

NORMS are those of the University of South Florida, RELATIONS those of EVALution, VECTORS one or more embeddings.
README.md says what came out. paper.csv holds the paper's own numbers, typed from its tables 1 and 2.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
SEED = 1


def verdict(row: pd.Series) -> str:
    """Return how a mean stands to the paper's: the same sign and settled, the other one, or not settled."""
    if pd.isna(row["paper"]):
        return "not in the paper"
    if row["hdi_low"] <= 0 <= row["hdi_high"]:
        return "not settled"
    return "agrees" if row["mean"] * row["paper"] > 0 else "other sign"


def unit_length(vectors: bb.Embedding) -> bb.Embedding:
    """Return the same vectors, each of length 1."""
    lengths = np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    return bb.Embedding(vectors.words, vectors.vectors / lengths)


def main() -> None:
    """Make relations.csv, agreement.csv and accuracy.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("norms", type=Path)
    parser.add_argument("relations", type=Path)
    parser.add_argument("vectors", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", bb.errors.QuestionWarning)
    paper = pd.read_csv(FOLDER / "paper.csv").set_index("relation")
    people = bb.asymmetry.evocation(bb.asymmetry.read_evocation(asked.norms))
    known = bb.asymmetry.read_relations(asked.relations)
    sources = {}
    for path in asked.vectors:
        vectors = bb.load_embedding(path)
        for name, each in ((path.stem, vectors), (f"{path.stem}, unit length", unit_length(vectors))):
            sources[name] = bb.asymmetry.static(each, vocabulary=people.vocabulary)
    found = {
        seen: bb.asymmetry.report(people, sources, known, seen=seen, random_seed=SEED) for seen in ("both", "either")
    }
    means = pd.concat([report.relations.assign(seen=seen) for seen, report in found.items()])
    means = means.assign(paper=means["relation"].map(paper["alar"]))
    means["verdict"] = means.apply(verdict, axis=1)
    agreed = pd.concat([report.agreement.assign(seen=seen) for seen, report in found.items()])
    spread = pd.concat(
        [report.ratios.groupby("source")["lar"].std().rename(seen) for seen, report in found.items()], axis=1
    )
    agreed["spread"] = [spread.loc[row.source, row.seen] for row in agreed.itertuples()]
    for column in ("word2vec", "glove"):
        agreed[f"paper_{column}"] = agreed["relation"].map(paper[column])
    right = pd.concat([report.accuracy.assign(seen=seen) for seen, report in found.items()])
    people_spread = spread.loc[people.name]
    pd.DataFrame({"seen": people_spread.index, "pairs": [len(people.pairs(seen=s)) for s in people_spread.index],
                  "spread": people_spread.to_numpy()}).to_csv(asked.out / "people.csv", index=False,
                                                              float_format="%.4f")  # fmt: skip
    for name, frame in {"relations": means, "agreement": agreed, "accuracy": right}.items():
        frame.to_csv(asked.out / f"{name}.csv", index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
