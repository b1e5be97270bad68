"""Coverage of intervals of projections, axes and correlations with ratings: the truth is a large set of real pairs.

    python validation/axes/axes.py EMBEDDINGS LISTS RELATIONS RATINGS [--samples 200]

EMBEDDINGS is the folder of the Google News and GloVe vectors, LISTS that of lists by Bolukbasi et al. (2016) and Du,
Fang and Nguyen (2021), RELATIONS the file of EVALution (Santus et al. 2015) and RATINGS the crowd ratings of
occupations of Garg et al. (2018). A few pairs are drawn from a large set; the truth is what the whole set says.
README.md says what the tables mean.
"""

import argparse
import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.direction import weighted_directions_of
from bayesbias.metrics.directions.pair_axis import ChanceDifferences, PairAxis
from bayesbias.reports.axes.ratings import axis_correlation

FOLDER = Path(__file__).resolve().parent
SEED = 20261124
VECTORS = {"google_news": "googlenews_word2vec_300d_13784.npz", "glove": "glove_6b_50d_10382.txt"}
SETS = ("gender", "plural", "valence", "antonyms in random order", "random words")
SIZES = (4, 6, 8, 16)
BOOTSTRAP_DRAWS = 300
PROJECTED = 150


@dataclass(frozen=True, eq=False)
class Population:
    """All pairs that could define an axis, the words that are projected, and numbers that go with them.

    `chance` is what random pairs of the same vectors have in common.
    `words` have shape (words, dimensions), unit vectors; `ratings` are numbers of the words in `rated`, by name.
    """

    axis: PairAxis
    chance: ChanceDifferences
    words: np.ndarray
    rated: np.ndarray
    ratings: Mapping[str, np.ndarray]


def pair_sets(embedding: bb.Embedding, lists: Path, relations: Path, rng: np.random.Generator) -> dict[str, list]:
    """Return the sets of pairs by name that the embedding has."""
    words = set(embedding.words)
    plain = [word for word in embedding.words if word.isalpha() and word.islower() and len(word) > 2]
    definitional = json.loads((lists / "bolukbasi_definitional_pairs.json").read_text(encoding="utf-8"))
    equalize = json.loads((lists / "bolukbasi_equalize_pairs.json").read_text(encoding="utf-8"))
    gender = [(m.lower(), f.lower()) for f, m in definitional] + [(m.lower(), f.lower()) for m, f in equalize]
    frame = pd.read_csv(relations)
    antonyms = frame[frame["relation"] == "Antonym"]
    antonyms = sorted({tuple(sorted(pair)) for pair in zip(antonyms["head"], antonyms["tail"], strict=True)})
    opinion = bb.studies.load_word_lists("bing_liu")
    good, bad = (set(opinion[name]) for name in ("positive_words", "negative_words"))
    valence = [(a, b) if a in good else (b, a) for a, b in antonyms if {a, b} & good and {a, b} & bad]
    shuffled = [antonyms[place] for place in rng.permutation(len(antonyms))]
    unordered = [
        pair if flip else pair[::-1] for pair, flip in zip(shuffled, rng.random(len(shuffled)) < 0.5, strict=True)
    ]
    random_words = rng.permutation(plain)[:2000].reshape(-1, 2).tolist()
    sets = {
        "gender": list(dict.fromkeys((*gender, *bb.metrics.load_base_pairs("gender")))),
        "plural": [(word + "s", word) for word in plain],
        "valence": valence,
        "antonyms in random order": unordered,
        "random words": [tuple(pair) for pair in random_words],
    }
    return {name: [pair for pair in pairs if set(pair) <= words and pair[0] != pair[1]] for name, pairs in sets.items()}


def population(embedding: bb.Embedding, name: str, pairs: list, ratings: Path, rng: np.random.Generator) -> Population:
    """Return a set of pairs with words to project, and the words with ratings."""
    in_pairs = {word for pair in pairs for word in pair}
    plain = [word for word in embedding.words if word.isalpha() and word.islower() and len(word) > 2]
    others = [word for word in plain if name in ("plural", "random words") or word not in in_pairs]
    chosen = rng.choice(others, PROJECTED, replace=False).tolist()
    if name == "valence":
        opinion = bb.studies.load_word_lists("bing_liu")
        signs = dict.fromkeys(opinion["positive_words"], 1.0) | dict.fromkeys(opinion["negative_words"], -1.0)
        rated = [word for word in others if word in signs]
        numbers = {"opinion words": np.array([signs[word] for word in rated])}
    else:
        frame = pd.read_csv(ratings).drop_duplicates("occupation").set_index("occupation")["stereotype_score"]
        rated = [word for word in frame.index if word in set(others)]
        numbers = {"occupations": frame[rated].to_numpy()} if name == "gender" else {}
    numbers["noise"] = rng.standard_normal(len(rated))
    axis = PairAxis.from_vectors(*(embedding.matrix([pair[side] for pair in pairs]) for side in (0, 1)))
    vectors = [unit_rows(embedding.matrix(words)) for words in (chosen, rated)]
    return Population(axis, ChanceDifferences.from_reference(embedding.reference), vectors[0], vectors[1], numbers)


def run_cell(whole: Population, size: int, samples: int, rng: np.random.Generator) -> dict[str, float]:
    """Return how intervals fare on axes of `size` pairs drawn from a population."""
    projected, squared = whole.words @ whole.axis.mean, float(whole.axis.mean @ whole.axis.mean)
    cosines = projected / np.sqrt(squared)
    strong = np.abs(projected) > np.quantile(np.abs(projected), 0.75)
    rows = []
    for sample in range(samples):
        differences = whole.axis.differences[rng.choice(len(whole.axis), size, replace=False)]
        axis = PairAxis(differences, whole.chance.links(differences))
        low, high = axis.projections(whole.words).interval(HDI_PROB)
        right = np.where(projected > 0, low > 0, high < 0)
        row = {
            "projection": inside(low, projected, high),
            "claims": ((low > 0) | (high < 0)).mean(),
            "power": right[strong].mean(),
            "wrong_side": np.where(projected > 0, high < 0, low > 0).mean(),
        }
        low, high = axis.agreement().interval(HDI_PROB)
        row["agreement"], row["agree"] = inside(low, squared, high), axis.sign_test(sample) <= 1 - HDI_PROB
        if row["agree"]:
            estimate = axis.cosines(whole.words)
            row["cosine"] = inside(*bracket(estimate.interval(HDI_PROB), cosines))
            row["slope"] = float(estimate.values @ cosines / (cosines @ cosines))
        if sample < samples // 5:
            weights = rng.dirichlet(np.ones(size), BOOTSTRAP_DRAWS)
            draws = weighted_directions_of(axis.differences, weights, axis.mean) @ whole.words.T
            row["bootstrap"] = inside(
                *bracket(np.quantile(draws, [(1 - HDI_PROB) / 2, (1 + HDI_PROB) / 2], axis=0), cosines)
            )
        rows.append(row)
    frame = pd.DataFrame(rows).astype(float)
    means = frame.mean().to_dict()
    return {**means, "projection_se": frame["projection"].std() / np.sqrt(samples), "axis_agreement": squared}


def run_ratings(
    whole: Population, rating: str, size: int, words: int, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return how intervals of the correlation with ratings fare, for few pairs and few of the rated words."""
    values, scores = whole.ratings[rating], whole.rated @ whole.axis.differences.T
    truth = float(np.corrcoef(scores.mean(axis=1), values)[0, 1])
    rows = []
    for _ in range(samples):
        chosen = rng.choice(len(values), words, replace=False)
        pairs = rng.choice(len(whole.axis), size, replace=False)
        if rating == "noise":
            values = rng.standard_normal(len(values))
            truth = 0.0
        differences = whole.axis.differences[pairs]
        effect = PairAxis(differences, whole.chance.links(differences)).effect
        estimate = axis_correlation(scores[np.ix_(chosen, pairs)], values[chosen], effect)
        low, high = estimate.interval(HDI_PROB)
        rows.append(
            {
                "correlation": low <= truth <= high,
                "claims": low > 0 or high < 0,
                "undefined": np.isnan(estimate.error),
                "mean": np.clip(estimate.correlation, -1, 1),
                "observed": estimate.observed,
            }
        )
    frame = pd.DataFrame(rows)
    usable = frame[~frame["undefined"]]
    return {"truth": truth, **usable.astype(float).mean().to_dict(), "undefined": frame["undefined"].mean()}


def bracket(ends: tuple, truth: np.ndarray) -> tuple:
    """Return the lower ends, the truth and the upper ends."""
    return ends[0], truth, ends[1]


def inside(low: np.ndarray, truth: np.ndarray | float, high: np.ndarray) -> float:
    """Return the share of intervals that hold their truths."""
    return float(np.mean((low <= truth) & (truth <= high)))


def markdown(frame: pd.DataFrame, columns: dict[str, str]) -> str:
    """Return a table as Markdown with two decimals, whole numbers as they are."""
    lines = [f"| {' | '.join(columns.values())} |", "|---" * len(columns) + "|"]
    for row in frame[list(columns)].to_dict("records"):
        texts = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()]
        lines.append(f"| {' | '.join('' if text == 'nan' else text for text in texts)} |")
    return "\n".join(lines)


CELL_COLUMNS = {
    "vectors": "vectors", "pairs": "pairs", "population": "in all", "size": "drawn", "axis_agreement": "agreement",
    "projection": "projections hold", "cosine": "cosines hold", "agreement": "agreement holds",
    "bootstrap": "bootstrap holds", "claims": "words claimed", "power": "power", "agree": "pairs agree",
}  # fmt: skip
RATING_COLUMNS = {
    "vectors": "vectors", "pairs": "pairs", "rating": "ratings", "size": "pairs drawn", "words": "words drawn",
    "truth": "truth", "correlation": "interval holds", "claims": "claimed", "mean": "mean estimate",
    "observed": "mean of projections as they are", "undefined": "undefined",
}  # fmt: skip


def run_set(whole: Population, labels: dict, samples: int, rng: np.random.Generator) -> tuple[list, list]:
    """Return the rows of all sizes for one set of pairs: of axes, and of correlations with ratings."""
    cells, rating_cells = [], []
    for size in SIZES:
        if 2 * size > len(whole.axis):  # a sample of most pairs is nearer to the population than its interval says
            continue
        cells.append(labels | {"size": size} | run_cell(whole, size, samples, rng))
        if size in (6, 16) or (size == 8 and labels["pairs"] == "gender"):
            for rating in whole.ratings:
                for words in (15, 40):
                    row = run_ratings(whole, rating, size, words, samples, rng)
                    rating_cells.append(labels | {"size": size, "rating": rating, "words": words} | row)
    return cells, rating_cells


def random_numbers(what: str) -> np.random.Generator:
    """Return the random numbers of a part, whatever else is run."""
    return np.random.default_rng([SEED, zlib.crc32(what.encode())])


def keep(file: Path, rows: pd.DataFrame) -> None:
    """Write rows to a table in place of those of the same vectors and pairs."""
    if file.exists():
        former = pd.read_csv(file)
        same = (former["vectors"] == rows["vectors"].iloc[0]) & (former["pairs"] == rows["pairs"].iloc[0])
        rows = pd.concat([former[~same], rows])
    places = {name: place for place, name in enumerate((*VECTORS, *SETS))}
    order = rows[["vectors", "pairs"]].map(places.get).assign(row=range(len(rows)))
    rows.iloc[np.lexsort(order.T.to_numpy()[::-1])].to_csv(file, index=False)


def main() -> None:
    """Run all cells and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("embeddings", "lists", "relations", "ratings"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--vectors", nargs="*", default=list(VECTORS), choices=tuple(VECTORS))
    parser.add_argument("--pairs", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--output", type=Path, default=FOLDER)
    given = parser.parse_args()
    begin = time.time()
    with threadpool_limits(1, "blas"):
        for vectors in given.vectors:
            embedding = bb.load_embedding(given.embeddings / VECTORS[vectors])
            sets = pair_sets(embedding, given.lists, given.relations, random_numbers(vectors))
            for name, pairs in sets.items():
                if name in given.pairs:
                    rng = random_numbers(f"{vectors}, {name}")
                    labels = {"vectors": vectors, "pairs": name, "population": len(pairs)}
                    tables = run_set(population(embedding, name, pairs, given.ratings, rng), labels, given.samples, rng)
                    for file, rows in zip(("cells.csv", "ratings.csv"), tables, strict=True):
                        keep(given.output / file, pd.DataFrame(rows).round(4))
                    print(f"{vectors}, {name}: {time.time() - begin:.0f} s", flush=True)
    settings = {"seed": SEED, "samples": given.samples, "seconds": round(time.time() - begin)}
    (given.output / "run.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
