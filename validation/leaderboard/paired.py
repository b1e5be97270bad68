"""Are differences of embeddings right if they answer with the same words? Lists are drawn from pools of real words.

    python validation/leaderboard/paired.py EMBEDDINGS [--samples 100]

EMBEDDINGS is the folder of the Google News and GloVe vectors. The others are made of Google News (`made_vectors`).
The truth is the standardised contrast of whole pools of words in each embedding: no model makes it. pairs.csv has a row
for each cell, pair of embeddings and method, sets.csv one for each cell and method. README.md says what they mean.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.audits.ranks import Strengths, paired_differences, paired_draws
from bayesbias.audits.word_contributions import StandardisedContrast, WordContributions, single_sd
from bayesbias.base.checks import HDI_PROB
from bayesbias.models.data import model_data
from bayesbias.models.scales import DISTANCE_ERROR

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

from real_vectors import gender_difference, unit_vectors  # noqa: E402 - a script in another folder

SEED = 20261129
GROUPS, LISTS = ("first", "second"), ("one", "other")
METHODS = ("paired", "noise twice", "independent")
SLACK = 1e-6  # a copy has the same truth but for rounding


@dataclass(frozen=True)
class Cell:
    """Direction along which words of pools lean (``"none"``: they are drawn at random), and words of a list."""

    axis: str
    words: int


CELLS = (Cell("gender", 8), Cell("gender", 20), Cell("pc5", 8), Cell("pc5", 20), Cell("none", 8))


@dataclass(frozen=True, eq=False)
class Pools:
    """Positions of the words of two protected groups and of two attribute lists, from which tables are drawn."""

    protected: list[np.ndarray]
    attributes: list[np.ndarray]


def pools(cell: Cell, words: tuple[str, ...], vectors: np.ndarray, rng: np.random.Generator) -> Pools:
    """Return pools that lean one way and the other; protected and attribute words are of different halves."""
    halves = np.array_split(rng.permutation(len(words)), 2)
    if cell.axis == "none":
        return Pools(*(np.array_split(half, 2) for half in halves))
    axis, sides = lean_axis(cell, words, vectors), []
    for half in halves:
        lean = vectors[half] @ axis
        lean = lean / lean.std() + 0.5 * rng.standard_normal(len(half))
        low, high = np.quantile(lean, (0.15, 0.85))
        sides.append([half[lean > high], half[lean < low]])
    return Pools(*sides)


def lean_axis(cell: Cell, words: tuple[str, ...], vectors: np.ndarray) -> np.ndarray:
    """Return the direction along which words lean: that of gender, or a principal component."""
    if not cell.axis.startswith("pc"):
        return gender_difference(words, vectors)
    centred = vectors - vectors.mean(axis=0)
    return np.asarray(np.linalg.svd(centred, full_matrices=False)[2][int(cell.axis.removeprefix("pc"))])


def made_vectors(
    google: np.ndarray, glove: np.ndarray, axis: np.ndarray, pool: Pools, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return vectors by name, shape (words, dimensions), all of the same words.

    `half a` and `half b` have random halves of the dimensions of Google News, as two trainings share what they learn
    and not their noise; `copy` is twice as long; `common` shares a part, so that all words are nearer to each other;
    `debiased` lost the lean of every second protected word.
    """
    halves = np.array_split(rng.permutation(google.shape[1]), 2)
    debiased = google.copy()
    some = np.concatenate([group[::2] for group in pool.protected])
    unit = axis / np.linalg.norm(axis)
    debiased[some] -= (google[some] @ unit)[:, None] * unit
    shared = rng.standard_normal(google.shape[1])
    return {
        "google": google,
        "copy": 2 * google,
        "common": google + 0.7 * shared / np.linalg.norm(shared),
        "debiased": debiased,
        "half a": google[:, halves[0]],
        "half b": google[:, halves[1]],
        "glove": glove,
    }


def truth(vectors: np.ndarray, pool: Pools) -> float:
    """Return the standardised contrast of whole pools."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    blocks = [[1 - units[group] @ units[of].T for of in pool.attributes] for group in pool.protected]
    contrast = np.mean([blocks[0][0].mean() - blocks[0][1].mean(), blocks[1][1].mean() - blocks[1][0].mean()])
    return float(contrast / single_sd([block for row in blocks for block in row]))


def study_of(words: list[list[str]]) -> bb.Study:
    """Return the study of two protected groups and two attribute lists."""
    return bb.Study(
        name="trial",
        protected=dict(zip(GROUPS, words[:2], strict=True)),
        attributes=dict(zip(LISTS, words[2:], strict=True)),
        associated=list(zip(GROUPS, LISTS, strict=True)),
        human="none",
        neutral="none",
    )


def answer(embedding: bb.Embedding, study: bb.Study) -> tuple[float, WordContributions]:
    """Return the standardised contrast of a study in an embedding, and what its words contribute to its error."""
    contrast = StandardisedContrast.of_rows(model_data(bb.distance_table(embedding, study)))
    every = [np.arange(len(side.words)) for side in (contrast.protected, contrast.attributes)]
    value, sd = contrast.parts(*every)
    words = contrast.contributions()
    return value / sd, WordContributions(pd.DataFrame(words), DISTANCE_ERROR / sd, contrast.pairs(words))


def differences(values: np.ndarray, parts: list[WordContributions], method: str, seed: int) -> pd.DataFrame:
    """Return the differences of all pairs of embeddings by a method."""
    if method == "noise twice":  # that of single pairs
        parts = [replace(part, pairs=None) for part in parts]
    if method == "independent":  # words of their own
        parts = [
            replace(part, pairs=None, words=part.words.assign(word=[f"{place} {word}" for word in part.words["word"]]))
            for place, part in enumerate(parts)
        ]
    drawn, entry = paired_draws(values, parts, study="trial", seed=seed)
    return paired_differences(Strengths(np.abs(values), np.abs(drawn), entry), HDI_PROB)


def run_cell(cell: Cell, folder: Path, samples: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each sample, method and pair, and one for each sample and method."""
    rng = np.random.default_rng([SEED, CELLS.index(cell)])
    words, google, glove = common_words(folder)
    pool = pools(cell, words, google, rng)
    vectors = made_vectors(google, glove, lean_axis(cell, words, google), pool, rng)
    truths = np.abs([truth(one, pool) for one in vectors.values()])
    sources = [bb.Embedding(words=list(words), vectors=one, name=name) for name, one in vectors.items()]
    names, pairs, sets = np.array(list(vectors)), [], []
    for sample in range(samples):
        places = [rng.permutation(of)[: cell.words] for of in (*pool.protected, *pool.attributes)]
        study = study_of([[words[place] for place in of] for of in places])
        values, parts = zip(*(answer(source, study) for source in sources), strict=True)
        for method in METHODS:
            frame = differences(np.array(values), list(parts), method, sample)
            first, second = frame["first"].to_numpy(), frame["second"].to_numpy()
            true = truths[first] - truths[second]
            settled = frame["order"].isin(["stronger", "weaker"]).to_numpy()
            single = (frame["hdi_low"] > 0) | (frame["hdi_high"] < 0)
            sign = np.sign(frame["difference"]) == np.sign(true)
            inside = (frame["band_low"] - SLACK <= true) & (true <= frame["band_high"] + SLACK)
            columns = {
                "pair": [f"{names[a]} - {names[b]}" for a, b in zip(first, second, strict=True)],
                "truth": true,
                "covered": (frame["hdi_low"] - SLACK <= true) & (true <= frame["hdi_high"] + SLACK),
                "width": frame["hdi_high"] - frame["hdi_low"],
                "right": single & sign,
                "wrong": single & ~sign,
                "settled_right": settled & sign,
                "settled_wrong": settled & ~sign,
                "equal": frame["order"] == "equal",
            }
            pairs.append(pd.DataFrame(columns).assign(sample=sample, method=method))
            low, high = ranges(frame, len(names))
            in_low, in_high = rankdata(truths, "min") <= high, rankdata(truths, "max") >= low
            sets.append(
                {
                    "sample": sample,
                    "method": method,
                    "bands": inside.all(),
                    "ranks": (in_low & in_high).all(),
                    "ranks_of_range": (high - low + 1).mean(),
                    "settled": settled.mean(),
                }
            )
    return pd.concat(pairs), pd.DataFrame(sets)


def markdown(pairs: pd.DataFrame, sets: pd.DataFrame) -> str:
    """Return the table of README.md: averages over pairs, without the copy, by cell and method."""
    keys = ["axis", "words", "method"]
    of_pairs = without_copy(pairs).groupby(keys, sort=False)
    frame = of_pairs[["covered", "width", "right", "wrong", "settled_right"]].mean().join(sets.set_index(keys))
    names = ["covered", "width", "right", "wrong", "settled_right", "bands", "ranks", "ranks_of_range"]
    lines = [f"| {' | '.join([*keys, *(name.replace('_', ' ') for name in names)])} |", "|---" * 11 + "|"]
    for key, row in frame.iterrows():
        lines.append(f"| {' | '.join([*map(str, key), *(f'{row[name]:.2f}' for name in names)])} |")
    return "\n".join(lines)


def without_copy(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of pairs that are not of the copy, which is equal to its original."""
    return pairs[~pairs["pair"].str.contains("copy")]


def ranges(frame: pd.DataFrame, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest ranks that settled pairs leave."""
    weaker, stronger = (frame[frame["order"] == order] for order in ("weaker", "stronger"))
    below = np.bincount([*stronger["first"], *weaker["second"]], minlength=count)
    return 1 + below, count - np.bincount([*weaker["first"], *stronger["second"]], minlength=count)


def common_words(folder: Path) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Return the words that both embeddings have, and their vectors of length 1."""
    of = {name: unit_vectors(name, folder) for name in ("google_news", "glove")}
    in_both = set(of["google_news"][0]) & set(of["glove"][0])
    shared = [word for word in of["google_news"][0] if word.isalpha() and word in in_both]
    places = [{word: place for place, word in enumerate(words)} for words, _ in of.values()]
    google, glove = (
        vectors[[place[word] for word in shared]] for place, (_, vectors) in zip(places, of.values(), strict=True)
    )
    return tuple(shared), google, glove


def main() -> None:
    """Run all cells and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--output", type=Path, default=FOLDER)
    given = parser.parse_args()
    begin, by_pair, by_set = time.process_time(), [], []
    with threadpool_limits(1, "blas"):
        for cell in CELLS:
            pairs, sets = run_cell(cell, given.embeddings, given.samples)
            of_pairs = pairs.drop(columns="sample").groupby(["method", "pair"], sort=False).mean()
            of_sets = sets.drop(columns="sample").groupby("method", sort=False).mean()
            by_pair.append(of_pairs.reset_index().assign(axis=cell.axis, words=cell.words))
            by_set.append(of_sets.reset_index().assign(axis=cell.axis, words=cell.words))
            pd.concat(by_pair).round(4).to_csv(given.output / "pairs.csv", index=False)
            pd.concat(by_set).round(4).to_csv(given.output / "sets.csv", index=False)
            print(f"{cell}: {time.process_time() - begin:.0f} s", flush=True)
            print(of_sets.to_string(), flush=True)
    settings = {"seed": SEED, "samples": given.samples, "processor_seconds": round(time.process_time() - begin)}
    (given.output / "paired.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
