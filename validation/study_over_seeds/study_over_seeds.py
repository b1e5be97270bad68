"""Redo the study of Du, Fang and Nguyen (2021) with this package: train over seeds, score, estimate, compare.

    python validation/study_over_seeds/study_over_seeds.py CORPUS VECTORS

CORPUS is a text file, one document a line. Vectors go to the folders skipgram and glove of VECTORS; what is there of
the same corpus and settings is kept, so that a run that was stopped goes on. README.md says what the files mean.
"""

import argparse
import gzip
import json
import os
import platform
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from claims import claims

import bayesbias as bb
from bayesbias.embeddings.training import tokenize

FOLDER = Path(__file__).resolve().parent
SEED = 20261123
ALGORITHMS = ("skipgram", "glove")
LISTS = ("occ16", "occ18", "adj")
# The paper's equation of RIPA takes word vectors as long as they are, its published code scales them to length 1.
RULES = ("db_wa", "ripa", "nbm")
RULES_OF_ITS_CODE = ("db_wa", "ripa_unit", "nbm")
# Samples of words stand for Google10K, which is not free, and for the full vocabulary.
FREQUENT, VOCABULARY = "frequent", "vocabulary"
FREQUENCIES = ("log_frequency", "log_frequency_squared")
PROPERTIES = ("log_senses", "part_of_speech")
FACTORS = ("rule", "stability", "norm", *FREQUENCIES, "neighbour_similarity")


def counted(corpus: Path) -> Counter[str]:
    """Return how often each word of a text file occurs, one document a line."""
    counts: Counter[str] = Counter()
    with gzip.open(corpus, "rt", encoding="utf-8") if corpus.suffix == ".gz" else corpus.open(encoding="utf-8") as text:
        for line in text:
            counts.update(tokenize(line))
    return counts


def target_lists(vocabulary: list[str], sampled: int, rng: np.random.Generator) -> dict[str, list[str]]:
    """Return the target words that there are vectors of, by the name of their list; `vocabulary` is by frequency."""
    vocabulary_set = set(vocabulary)
    listed = {name: bb.reliability.load_target_words(name) for name in LISTS}
    listed["queries"] = tuple(dict.fromkeys(word for words in bb.reliability.load_queries().values() for word in words))
    lists = {name: [word for word in words if word in vocabulary_set] for name, words in listed.items()}
    for name, words in {FREQUENT: vocabulary[:10_000], VOCABULARY: vocabulary}.items():
        lists[name] = sorted(rng.choice(words, size=min(sampled, len(words)), replace=False).tolist())
    return lists


def estimated(scores: xr.DataArray, algorithm: str, of: str = "target_word") -> pd.DataFrame:
    """Return the reliability of words or base pairs over seeds, and over rules, with a column `kind`."""
    parts = {
        "test_retest": bb.reliability.test_retest(scores, of),
        "inter_rater": bb.reliability.inter_rater(scores.sel(rule=list(RULES)), of).assign(rule="all"),
        "inter_rater_code": bb.reliability.inter_rater(scores.sel(rule=list(RULES_OF_ITS_CODE)), of).assign(rule="all"),
    }
    frame = pd.concat([part.assign(kind=kind, algorithm=algorithm) for kind, part in parts.items()], ignore_index=True)
    return frame[["algorithm", "kind", "rule", of, "mean", "sd", "hdi_low", "hdi_high", "observed", "row_kurtosis"]]


def correlations(scores: xr.DataArray, algorithm: str) -> pd.DataFrame:
    """Return the correlation over words of two rules' scores, averaged over base pairs and seeds, with intervals."""
    means = scores.mean(["base_pair", "seed"])
    rows = []
    for one, other in dict.fromkeys([*combinations(RULES, 2), *combinations(RULES_OF_ITS_CODE, 2)]):
        r = float(np.corrcoef(means.sel(rule=one), means.sel(rule=other))[0, 1])
        half = 1.598 / np.sqrt(means.sizes["target_word"] - 3)
        low, high = np.tanh([np.arctanh(r) - half, np.arctanh(r) + half])
        rows.append({"algorithm": algorithm, "rules": f"{one} and {other}", "r": r, "low": low, "high": high})
    return pd.DataFrame(rows)


def driven(
    words: pd.DataFrame, features: pd.DataFrame, kind: str, ripa: str, draws: int, more: tuple[str, ...] = ()
) -> dict[str, pd.DataFrame]:
    """Return what explains the reliability of the words of both samples: the tables of `bb.reliability.drivers`.

    `more` are further factors, columns of `features`. `ripa` says whose RIPA is among the rules: that of the paper's
    ``"equation"``, or of its published ``"code"``.
    """
    rules = {"equation": RULES, "code": RULES_OF_ITS_CODE}[ripa]
    over_rules = {"equation": "inter_rater", "code": "inter_rater_code"}[ripa]
    rows = words["kind"] == over_rules if kind == "inter_rater" else words["kind"].eq(kind) & words["rule"].isin(rules)
    data = words[rows].rename(columns={"target_word": "word", "observed": "reliability"})
    data = data.merge(features, on=["algorithm", "word"])
    factors = [name for name in (*FACTORS, *more) if not (name == "rule" and kind == "inter_rater")]
    regression = bb.reliability.drivers(
        data,
        factors,
        groupings=["algorithm"],
        joint_drops={"frequency": FREQUENCIES},
        draws=draws,
        random_seed=SEED,
    )
    print(regression, flush=True)
    return {
        name: getattr(regression, name).assign(kind=kind, ripa=ripa, words=regression.facts["words"])
        for name in ("r_squared", "drops", "coefficients")
    }


def with_senses(words: pd.DataFrame, features: pd.DataFrame, draws: int) -> pd.DataFrame:
    """Return what senses and parts of speech explain beside the other factors, of the words that WordNet has.

    One row per kind of reliability and factor or level: `quantity` is the R2 lost without a factor, or a coefficient.
    """
    properties = bb.reliability.load_word_properties().dropna()
    properties["log_senses"] = np.log(properties["senses"])
    known = features.merge(properties, on="word")
    frames = []
    for kind in ("test_retest", "inter_rater"):
        tables = driven(words, known, kind, "equation", draws, PROPERTIES)
        for name, quantity in (("drops", "R2 lost"), ("coefficients", "coefficient")):
            rows = tables[name][tables[name]["factor"].isin(PROPERTIES)]
            frames.append(rows.assign(quantity=quantity, level=rows.get("level", "")))
    columns = ["kind", "quantity", "factor", "level", "mean", "hdi_low", "hdi_high", "words"]
    return pd.concat(frames)[columns]


def packed(scores: dict[str, xr.DataArray], words: list[str]) -> dict[str, np.ndarray]:
    """Return the scores of some words as arrays for a small file: halves of floats, 11 bits each."""
    every = xr.concat([scores[name].sel(target_word=words) for name in ALGORITHMS], dim="algorithm")
    dims = ("algorithm", "rule", "base_pair", "target_word", "seed")
    return {
        "scores": every.transpose(*dims).values.astype(np.float16),
        "algorithm": np.array(ALGORITHMS),
        **{dim: every[dim].values.astype(str) for dim in dims[1:-1]},
        "seed": every["seed"].values,
    }


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, compressed without a time where its name says so."""
    compression = {"method": "gzip", "mtime": 1} if path.suffix == ".gz" else None
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n", compression=compression)


def main() -> None:
    """Train, score, estimate, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--sampled", type=int, default=1500, help="words in each of the two samples (default 1500)")
    parser.add_argument("--draws", type=int, default=1500, help="draws of each chain of the regressions")
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    begun, rng = time.perf_counter(), np.random.default_rng(SEED)
    counts = counted(given.corpus)
    scores, lists, features, facts = {}, {}, [], {}
    for algorithm in ALGORITHMS:
        trained = bb.embeddings.train_embeddings(
            given.corpus,
            given.vectors / algorithm,
            algorithm=algorithm,
            seeds=range(1, given.seeds + 1),
            dimensions=given.dimensions,
        )
        facts[algorithm] = trained.provenance
        lists = lists or target_lists(list(trained[1].words), given.sampled, rng)
        every = list(dict.fromkeys(word for words in lists.values() for word in words))
        paths = {seed: trained.paths[seed] for seed in range(1, given.seeds + 1)}
        scores[algorithm] = bb.reliability.score_array(paths, every, rules=[*RULES, "ripa_unit"])
        sampled = list(dict.fromkeys([*lists[FREQUENT], *lists[VOCABULARY]]))
        described = bb.reliability.word_features(paths, counts=counts, words=sampled)
        features.append(described.assign(algorithm=algorithm))
        print(f"{algorithm}: scored after {time.perf_counter() - begun:.0f} s", flush=True)
    bundled = list(dict.fromkeys(word for name in (*LISTS, "queries") for word in lists[name]))
    words = pd.concat([estimated(by_algorithm.sel(target_word=sampled), name) for name, by_algorithm in scores.items()])
    np.savez_compressed(given.out / "scores.npz", **packed(scores, bundled))
    tables = {
        "words.csv.gz": words,
        "base_pairs.csv": pd.concat(
            [
                estimated(by_algorithm.sel(target_word=lists[VOCABULARY]), name, "base_pair")
                for name, by_algorithm in scores.items()
            ]
        ),
        "correlations.csv": pd.concat(
            [
                correlations(by_algorithm.sel(target_word=lists[VOCABULARY]), name)
                for name, by_algorithm in scores.items()
            ]
        ),
    }
    tables["features.csv.gz"] = pd.concat(features)
    driver_tables = [
        driven(words, tables["features.csv.gz"], kind, ripa, given.draws)
        for ripa in ("equation", "code")
        for kind in ("test_retest", "inter_rater")
    ]
    for name in driver_tables[0]:
        tables[f"drivers_{name}.csv"] = pd.concat([by_algorithm[name] for by_algorithm in driver_tables])
    tables["senses.csv"] = with_senses(words, tables["features.csv.gz"], given.draws)
    for name, frame in tables.items():
        write(frame, given.out / name)
    (given.out / "lists.json").write_text(json.dumps(lists, indent=0) + "\n", encoding="utf-8")
    write(claims(given.out), given.out / "claims.csv")
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[2], 1), "python": platform.python_version()}
    run = {
        "seed": SEED,
        "seconds": round(time.perf_counter() - begun),
        "words": {name: len(by_algorithm) for name, by_algorithm in lists.items()},
        "machine": machine,
        "provenance": facts,
    }
    (given.out / "run.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
