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
from bayesbias.asymmetry.log_ratios import grid, log_likelihood

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
    """Make the tables of USF."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("norms", type=Path)
    parser.add_argument("relations", type=Path)
    parser.add_argument("vectors", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", bb.errors.QuestionWarning)
    paper = pd.read_csv(FOLDER / "paper.csv").set_index("relation")
    people = bb.asymmetry.evocation(bb.asymmetry.read_evocation(arguments.norms))
    relations = bb.asymmetry.read_relations(arguments.relations)
    sources = {}
    for path in arguments.vectors:
        vectors = bb.load_embedding(path)
        for name, scaled in ((path.stem, vectors), (f"{path.stem}, unit length", unit_length(vectors))):
            sources[name] = bb.asymmetry.static(scaled, vocabulary=people.vocabulary)
    # Sources that have few of the words would leave few pairs to all: they are compared with each other alone.
    sizes = {name: len(source.vocabulary) for name, source in sources.items()}
    large = {name: source for name, source in sources.items() if sizes[name] > max(sizes.values()) / 2}
    groups = [group for group in (large, {name: sources[name] for name in sources.keys() - large.keys()}) if group]
    reports = [
        (seen, bb.asymmetry.report(people, dict(sorted(group.items())), relations, seen=seen, random_seed=SEED))
        for seen in ("both", "either")
        for group in groups
    ]
    means = pd.concat([report.relations.assign(seen=seen) for seen, report in reports])
    means = pd.concat([of_people(people, relations), means[means["source"] != people.name]])
    means = means.assign(paper=means["relation"].map(paper["alar"]))
    means["verdict"] = means.apply(verdict, axis=1)
    agreed = pd.concat([report.agreement.assign(seen=seen) for seen, report in reports])
    for column in ("word2vec", "glove"):
        agreed[f"paper_{column}"] = agreed["relation"].map(paper[column])
    tables = {
        "relations": means,
        "agreement": agreed,
        "accuracy": pd.concat([report.accuracy.assign(seen=seen) for seen, report in reports]),
        "usf_differences": pd.concat([report.differences.assign(seen=seen) for seen, report in reports]),
        "people": spread_of(people),
        "prior": prior_table(people),
    }
    for name, frame in tables.items():
        frame.to_csv(arguments.out / f"{name}.csv", index=False, float_format="%.4f")


def of_people(people: bb.asymmetry.Evocation, relations: pd.DataFrame) -> pd.DataFrame:
    """Return the means of relations in the norms, over all of their pairs."""
    frames = []
    for seen in ("both", "either"):
        ratios = bb.asymmetry.lar(people, bb.asymmetry.with_relations(people.pairs(seen=seen), relations))
        frames.append(bb.asymmetry.alar(ratios, random_seed=SEED).assign(source=people.name, seen=seen))
    return pd.concat(frames)


def spread_of(people: bb.asymmetry.Evocation) -> pd.DataFrame:
    """Return the number of pairs of the norms, and the standard deviation of their ratios."""
    rows = []
    for seen in ("both", "either"):
        ratios = bb.asymmetry.lar(people, people.pairs(seen=seen))
        rows.append({"seen": seen, "pairs": len(ratios), "spread": ratios["lar"].std()})
    return pd.DataFrame(rows)


def prior_table(people: bb.asymmetry.Evocation) -> pd.DataFrame:
    """Return what the prior expects of counts, and of reverse directions given a listed count, beside what is so."""
    pairs = people.pairs(seen="either")
    counts = np.concatenate([pairs[["forward", "backward"]].to_numpy(), pairs[["backward", "forward"]].to_numpy()])
    participants = int(pairs[["forward_participants", "backward_participants"]].stack().median())
    logs = grid(participants)
    masses, shares = people.prior.levels(logs)
    numbers = np.arange(people.least_count, participants + 1)
    of_counts = (
        np.exp(log_likelihood(logs, numbers, np.full(len(numbers), participants), people.least_count)) @ masses.T
    )
    listed = of_counts.sum(axis=0)
    rows = []
    for number in (2, 3, 5, 10, 20):
        share = (counts[:, 0] == number).sum() / (counts[:, 0] > 0).sum()
        expected = of_counts[number - people.least_count] @ shares / (listed @ shares)
        rows.append({"what": "count", "low": number, "high": number, "observed": share, "expected": expected})
    for low, high in ((2, 2), (3, 3), (4, 8), (9, 16), (17, 64), (65, participants)):
        inside = (counts[:, 0] >= low) & (counts[:, 0] <= high)
        weights = of_counts[(numbers >= low) & (numbers <= high)].sum(axis=0) * shares
        rows.append({
            "what": "reverse listed", "low": low, "high": high, "observed": (counts[inside, 1] > 0).mean(),
            "expected": weights @ listed / weights.sum(),
        })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
