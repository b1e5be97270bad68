"""Redo Table 1 and Figures 1 to 3 of Kindel (2023) in the Google News vectors.

    python validation/kindel/make_kindel.py VECTORS [--draws 10000] [--out FOLDER]

VECTORS is any file of them that bayesbias reads (`load_embedding`). README.md says what came out.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import pandas as pd

import bayesbias as bb
from bayesbias.delivery.plots.style import save_figure
from bayesbias.delivery.plots.subspaces import (
    plot_components,
    plot_congruences,
    plot_consistency,
    plot_lattice_spread,
    plot_lattices,
)
from bayesbias.errors import LostWordsWarning
from bayesbias.metrics.subspaces.canonical_subspace import kindel_comparison
from bayesbias.metrics.subspaces.lattice import lattice, subset_consistency
from bayesbias.metrics.subspaces.randomisation_nulls import study_nulls
from bayesbias.metrics.subspaces.similarity_metrics import leave_one_word_out

FOLDER = Path(__file__).resolve().parent
SEED = 20261120
# Kindel (2023), Table S1.
LISTS = {
    "male": ["male", "man", "boy", "brother", "he", "him", "his", "son"],
    "female": ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"],
    "pleasant": ["joy", "love", "peace", "wonderful", "pleasure", "friend", "laughter", "happy"],
    "unpleasant": ["agony", "terrible", "horrible", "nasty", "evil", "war", "awful", "failure"],
}
PAIRS = [("male", "pleasant"), ("female", "pleasant"), ("male", "unpleasant"), ("female", "unpleasant")]
METRICS = ("canonical_subspace", "mean_cosine")


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", type=Path, help="file of vectors")
    parser.add_argument("--draws", type=int, default=10_000, help="random lists for each null")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    embedding = bb.load_embedding(arguments.vectors)
    with warnings.catch_warnings():
        # Tables and README say which words are lost.
        warnings.simplefilter("ignore", LostWordsWarning)
        table_1(embedding, arguments.out)
        figure_1(embedding, arguments.out)
    figure_2(embedding, arguments.out)
    figure_3(embedding, arguments.out, arguments.draws)
    facts = {"seed": SEED, "draws": arguments.draws, "words": len(embedding), "dimensions": embedding.dimensions}
    facts["seconds"] = round(time.perf_counter() - start)
    (arguments.out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def table_1(embedding: bb.Embedding, out: Path) -> None:
    """Compare WEAT 1 to 10 by the two metrics."""
    # The published selection of Google News lacks many of these words: the table counts them.
    comparison = kindel_comparison(embedding, max_lost=1)
    write(comparison.studies, out / "table1.csv")
    save_figure(plot_components(comparison), out / "table1.png", overwrite=True)


def figure_1(embedding: bb.Embedding, out: Path) -> None:
    """Compare the sub-lists of each list with each other, and count the consistent ones; those of WEAT 1 to 10 too."""
    for metric in METRICS:
        within = [lattice(embedding, words, metric=metric) for words in LISTS.values()]
        save_figure(plot_lattices(*within, titles=list(LISTS)), out / f"figure1_{metric}.png", overwrite=True)
    by_list = [subset_consistency(embedding, words) for words in LISTS.values()]
    save_figure(plot_consistency(*by_list, titles=list(LISTS)), out / "figure1_condition.png", overwrite=True)
    write(consistency(embedding, LISTS), out / "figure1.csv")


def consistency(embedding: bb.Embedding, lists: dict[str, list[str]]) -> pd.DataFrame:
    """Return the index of inconsistency of each list and size under both metrics."""
    frames = [
        subset_consistency(embedding, words, metric).sizes.assign(list=name, metric=metric)
        for name, words in lists.items()
        for metric in METRICS
    ]
    return pd.concat(frames)[["list", "metric", "q", "k", "subsets", "index", "condition_number"]]


def figure_2(embedding: bb.Embedding, out: Path) -> None:
    """Compare the sub-lists of each group with those of each attribute."""
    titles = [" with ".join(pair) for pair in PAIRS]
    for metric in METRICS:
        between = [lattice(embedding, LISTS[a], LISTS[b], metric=metric) for a, b in PAIRS]
        save_figure(plot_lattices(*between, titles=titles), out / f"figure2_{metric}.png", overwrite=True)
    shown = ("canonical_subspace", "mean_squared_cosine")
    lattices = [lattice(embedding, LISTS[a], LISTS[b], metric=metric) for metric in shown for a, b in PAIRS]
    save_figure(plot_lattice_spread(*lattices, titles=titles * 2), out / "figure2_spread.png", overwrite=True)
    summaries = [
        one_lattice.summary().assign(lists=title, metric=one_lattice.metric)
        for title, one_lattice in zip(titles * 2, lattices, strict=True)
    ]
    write(pd.concat(summaries)[["lists", "metric", "size", "pairs", "lowest", "mean", "highest"]], out / "figure2.csv")


def figure_3(embedding: bb.Embedding, out: Path, draws: int) -> None:
    """Compare the congruences with those of random words: any, of a like rank, of a like norm."""
    frames = []
    for match in (None, "rank", "norm"):
        nulls = study_nulls(embedding, LISTS, samples=draws, match=match, window=200, random_seed=SEED)
        end = f"_{match}" if match else ""
        save_figure(plot_congruences(*nulls.values()), out / f"figure3{end}.png", overwrite=True)
        frames += [
            null.frame().assign(first=null.lists[0], second=null.lists[1], match=match or "none")
            for null in nulls.values()
        ]
    frame = pd.concat(frames)
    leading = ["match", "first", "second", "drawn", "statistic"]
    write(frame[[*leading, *(name for name in frame.columns if name not in leading)]], out / "figure3.csv")
    words = [
        leave_one_word_out(embedding, {name: LISTS[name] for name in pair}, random_seed=SEED).words.assign(
            first=pair[0], second=pair[1]
        )
        for pair in PAIRS
    ]
    frame = pd.concat(words)
    write(frame[["first", "second", *(name for name in frame if name not in ("first", "second"))]], out / "words.csv")


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table with five significant digits."""
    frame.to_csv(path, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
