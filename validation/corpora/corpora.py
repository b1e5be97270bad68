"""What would another sample of documents say? Resampled trainings and GloVe-V against held-out documents.

    python validation/corpora/corpora.py train CORPUS --work FOLDER [--algorithm skipgram] [--slices 12]
    python validation/corpora/corpora.py compare

The documents of CORPUS are dealt out at random to slices. Every slice is trained on with one seed; the first ones also
with more seeds and on resampled documents, from which intervals over documents follow. The other slices are held out:
documents of the same kind that no training of a slice has seen. `train` writes trainings_RUN.csv.gz, where RUN is the
algorithm and the number of documents in a slice, `compare` the tables of README.md.
"""

import argparse
import gzip
import json
import time
from collections import Counter
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.training_spread import both_sd_draws
from bayesbias.embeddings.training.corpus import tokenize
from bayesbias.geometry import unit_rows

FOLDER = Path(__file__).resolve().parent
SEED = 20261124
STUDIES = ("weat1", "weat6", "weat7", "weat8", "weat9", "gender")
RANDOM_CONTRASTS = 60
SETTINGS = {
    "skipgram": {"dimensions": 50, "epochs": 3},
    "glove": {"dimensions": 25, "epochs": 10, "window": 5},
}
DRAWS = 2000
VARIANCE_DRAWS = 200


def contrasts(frequent: list[str], counts: list[dict[str, int]], rng: np.random.Generator) -> dict[str, tuple]:
    """Return two groups and two lists of words by name: bundled studies, and words drawn at random.

    A contrast is the mean distance of the first group to the first list, plus that of the second to the second, minus
    those the other way round, halved: associated minus different pairs. All words occur in all slices.
    """
    everywhere = {word for word in counts[0] if all(slice_counts.get(word, 0) >= 5 for slice_counts in counts)}
    chosen = {}
    for name in STUDIES:
        study = bb.load_study(name)
        groups = list(study.protected.values())[:2]
        lists = list(study.attributes.values())[:2]
        words = [[word.lower() for word in part if word.lower() in everywhere] for part in (*groups, *lists)]
        if min(map(len, words)) >= 3:
            chosen[name] = tuple(words)
    for number in range(RANDOM_CONTRASTS):
        drawn = rng.choice(frequent, 20, replace=False).tolist()
        chosen[f"random {number}"] = tuple(drawn[start : start + 5] for start in range(0, 20, 5))
    return chosen


def values(vectors: dict[str, np.ndarray], questions: dict[str, tuple]) -> dict[str, float]:
    """Return the contrast of each question; vectors of shape (..., dimensions) by word."""
    contrast_values = {}
    for name, (first, second, a, b) in questions.items():
        units = [unit_rows(np.stack([vectors[word] for word in part])) for part in (first, second, a, b)]
        near = [float((units[group] @ units[side].T).mean()) for group, side in ((0, 2), (1, 3), (0, 3), (1, 2))]
        contrast_values[name] = (near[2] + near[3] - near[0] - near[1]) / 2
    return contrast_values


def train(given: argparse.Namespace) -> None:
    """Train on all slices, and write the contrasts of each training."""
    rng, slices, algorithm = np.random.default_rng(SEED), given.slices, given.algorithm
    with gzip.open(given.corpus, "rt", encoding="utf-8") as stream:
        texts = [words for line in islice(stream, given.documents) if (words := tokenize(line))]
    dealt = rng.permutation(len(texts)) % slices
    parts = [[texts[place] for place in np.flatnonzero(dealt == part)] for part in range(slices)]
    counts: list[dict[str, int]] = [Counter(chain.from_iterable(part)) for part in parts]
    least = {word: min(slice_counts.get(word, 0) for slice_counts in counts) for word in counts[0]}
    frequent = sorted(word for word, count in least.items() if count >= 30 and len(word) > 3)
    questions = contrasts(frequent, counts, rng)
    study_words = sorted(
        {word for parts_of_question in questions.values() for words in parts_of_question for word in words}
    )
    rows, times = [], []
    given.work.mkdir(parents=True, exist_ok=True)
    run = f"{algorithm}_{min(map(len, parts))}"
    for number, part in enumerate(parts):
        plans = [("plain", None, given.seeds if number < given.full else 1)]
        if number < given.full:
            plans.append(("resampled", "documents", given.resamples))
        for kind, resample, count in plans:
            begin = time.time()
            trained = bb.embeddings.train_embeddings(
                part,
                given.work / f"{run}_{number}_{kind}",
                algorithm=algorithm,
                seeds=range(1, count + 1),
                resample=resample,
                progress=False,
                **SETTINGS[algorithm],
            )
            times.append(
                {
                    "algorithm": algorithm,
                    "slice": number,
                    "kind": kind,
                    "trainings": count,
                    "seconds": time.time() - begin,
                }
            )
            for seed in trained:
                matrices = {"vectors": trained[seed]}
                if algorithm == "glove":
                    matrices["word vectors"] = trained.both_matrices(seed)[0]
                for matrix, embedding in matrices.items():
                    vectors = dict(zip(study_words, embedding.matrix(study_words).astype(float), strict=True))
                    for name, value in values(vectors, questions).items():
                        rows.append(
                            {
                                "slice": number,
                                "kind": kind,
                                "seed": seed,
                                "matrix": matrix,
                                "contrast": name,
                                "value": value,
                            }
                        )
            if algorithm == "glove" and kind == "plain" and number < given.full:
                variance = bb.embeddings.glove_variance(trained, part, study_words)
                draws = variance.draws(draws=VARIANCE_DRAWS, random_seed=1)
                drawn = pd.DataFrame(
                    [values(dict(zip(variance.words, draw, strict=True)), questions) for draw in draws]
                )
                for name, sd in drawn.std().items():
                    rows.append(
                        {
                            "slice": number,
                            "kind": "glove-v",
                            "seed": 1,
                            "matrix": "word vectors",
                            "contrast": name,
                            "value": sd,
                        }
                    )
        print(f"slice {number}: {sum(entry['seconds'] for entry in times):.0f} s", flush=True)
        pd.DataFrame(rows).round(6).to_csv(given.output / f"trainings_{run}.csv.gz", index=False)
        pd.DataFrame(times).round(1).to_csv(given.output / f"times_{run}.csv", index=False)
    facts = {
        "algorithm": algorithm,
        "documents": len(texts),
        "documents_a_slice": [min(map(len, parts)), max(map(len, parts))],
        "tokens_a_slice": [f([sum(map(len, part)) for part in parts]) for f in (min, max)],
        "slices": slices,
        "settings": SETTINGS[algorithm],
        "seed": SEED,
    }
    (given.output / f"run_{run}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def compare(folder: Path, run: str, matrix: str) -> tuple[dict[str, float], pd.DataFrame]:
    """Return how intervals over documents fare on held-out slices, and the sds of each contrast."""
    every = pd.read_csv(folder / f"trainings_{run}.csv.gz")
    frame = every[every["matrix"] == matrix]
    plain = frame[frame["kind"] == "plain"].pivot_table(index=["slice", "seed"], columns="contrast", values="value")
    resampled = frame[frame["kind"] == "resampled"].pivot_table(
        index=["slice", "seed"], columns="contrast", values="value"
    )
    closed = frame[frame["kind"] == "glove-v"].pivot_table(index="slice", columns="contrast", values="value")
    firsts = plain.xs(1, level="seed")
    rng = np.random.default_rng(SEED)
    rows = []
    for number in resampled.index.unique("slice"):
        by_seed, other = plain.loc[number].to_numpy(), resampled.loc[number].to_numpy()
        mean, seed_sd, document_sd = both_sd_draws(by_seed, 0 * by_seed, (other, 0 * other), DRAWS, rng)
        held_out = firsts.drop(index=number).to_numpy()
        noise = [rng.standard_normal(mean.shape) for _ in range(3)]
        population = mean + document_sd * noise[0]
        # A held-out sample has its own documents and its own seed; their mean over slices has less of both.
        one_more = population + np.hypot(document_sd, seed_sd) * noise[1]
        mean_of_others = population + np.hypot(document_sd, seed_sd) / np.sqrt(len(held_out)) * noise[2]
        seeds_alone = mean + seed_sd * noise[1]
        for place, name in enumerate(plain.columns):
            row = {
                "slice": number,
                "contrast": name,
                "seed_sd": seed_sd[:, place].mean(),
                "document_sd": document_sd[:, place].mean(),
            }
            row["resampled_sd"] = other[:, place].std(ddof=1)
            row["plain_sd"] = by_seed[:, place].std(ddof=1)
            row["closed_sd"] = closed.loc[number, name] if len(closed) else np.nan
            for label, draws, truths in (
                ("held_out_mean", mean_of_others, held_out[:, place].mean()),
                ("held_out_slice", one_more, held_out[:, place]),
                ("seeds_alone", seeds_alone, held_out[:, place]),
            ):
                low, high = np.quantile(draws[:, place], [(1 - HDI_PROB) / 2, (1 + HDI_PROB) / 2])
                row[label] = float(np.mean((low <= truths) & (truths <= high)))
            # Without a prior: the sd of the draws alone, for a sample of the same size as that of the slice.
            half = t.ppf((1 + HDI_PROB) / 2, len(other) - 1) * np.sqrt(2) * row["resampled_sd"]
            row["without_prior"] = float(np.mean(np.abs(held_out[:, place] - by_seed[:, place].mean()) <= half))
            rows.append(row)
    detail = pd.DataFrame(rows)
    between = firsts.std(ddof=1)
    detail["between_slices_sd"] = detail["contrast"].map(between)
    coverage = detail.groupby("slice")[["held_out_mean", "held_out_slice", "without_prior", "seeds_alone"]].mean()
    algorithm, documents = run.split("_")
    summary = {"algorithm": algorithm, "documents": int(documents), "matrix": matrix}
    summary |= {"slices": len(coverage), "contrasts": len(plain.columns)}
    summary |= coverage.mean().to_dict()
    summary |= {f"{name}_se": coverage[name].std() / np.sqrt(len(coverage)) for name in coverage}

    def rms(column: str) -> float:
        return float(np.sqrt(np.square(detail[column]).mean()))

    summary |= {f"rms_{name}": rms(name) for name in ("plain_sd", "resampled_sd", "between_slices_sd", "closed_sd")}
    by_contrast = detail.groupby("contrast")[["resampled_sd", "between_slices_sd", "closed_sd"]].mean()
    ranks = by_contrast.corr(method="spearman")["between_slices_sd"]
    # The root mean square is that of few contrasts which vary most; the geometric mean of ratios counts all the same.
    ratios = by_contrast["resampled_sd"] / by_contrast["between_slices_sd"]
    summary |= {"resampled_ratio": float(np.exp(np.log(ratios).mean()))}
    summary |= {"rank_resampled": ranks["resampled_sd"], "rank_closed": ranks["closed_sd"]}
    return summary, detail


COLUMNS = {
    "algorithm": "algorithm",
    "documents": "documents a slice",
    "matrix": "vectors",
    "slices": "slices",
    "contrasts": "contrasts",
    "held_out_slice": "held-out slice inside",
    "held_out_mean": "mean of held-out slices inside",
    "without_prior": "held-out slice inside, no prior",
    "seeds_alone": "inside the interval of seeds alone",
    "rms_between_slices_sd": "sd between slices",
    "rms_resampled_sd": "sd of resampled",
    "rms_plain_sd": "sd of seeds",
    "rms_closed_sd": "sd by GloVe-V",
    "resampled_ratio": "ratio of resampled to slices, by contrast",
    "rank_resampled": "rank correlation, resampled",
    "rank_closed": "rank correlation, GloVe-V",
}


def markdown(cells: pd.DataFrame) -> str:
    """Return the table of README.md."""
    lines = [f"| {' | '.join(COLUMNS.values())} |", "|---" * len(COLUMNS) + "|"]
    for row in cells[list(COLUMNS)].to_dict("records"):
        texts = []
        for name, value in row.items():
            digits = 4 if "sd" in name else 2
            text = f"{value:.{digits}f}" if isinstance(value, float) else str(value)
            texts.append("" if text == "nan" else text)
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    """Train, or compare what was trained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("train", "compare"))
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--algorithm", default="skipgram", choices=tuple(SETTINGS))
    for name, default in (("slices", 12), ("full", 4), ("seeds", 4), ("resamples", 8), ("documents", 40_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--output", type=Path, default=FOLDER)
    given = parser.parse_args()
    if given.step == "train":
        train(given)
        return
    runs = [path.stem.removeprefix("run_") for path in given.output.glob("run_*.json")]
    summaries = [
        compare(given.output, run, matrix)[0]
        for run in runs
        for matrix in ("vectors", "word vectors")
        if run.startswith("glove") or matrix == "vectors"
    ]
    summaries.sort(key=lambda row: (row["matrix"], row["algorithm"], row["documents"]))
    pd.DataFrame(summaries).round(5).to_csv(given.output / "cells.csv", index=False)
    print(pd.DataFrame(summaries).T.to_string())


if __name__ == "__main__":
    main()
