"""Compare models over many distance tables by leaving out each attribute word, and print a Markdown table.

    python validation/model_comparison/compare_models.py data/tables/*.csv.gz
    python validation/model_comparison/compare_models.py --models crossed crossed_robust --seed 2 my_table.csv

This is how the default model was chosen. Each difference is the elpd of a model minus that of the first one given,
with its standard error, paired over attribute words; above 0 the model predicts unseen attribute words better. The
last row adds up the tables; since they share attribute words, its standard error is over words, each with the sum of
its differences in all tables. Repeated pairs are dropped.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning
from bayesbias.reports.robustness.model_comparison import MODELS, compare_models


def main() -> None:
    """Compare the models on each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--models", nargs="+", default=list(reversed(MODELS)))
    parser.add_argument("--draws", type=int, default=1000, help="of each of four chains")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    first, *others = given.models
    heads = ["table", "rows", "words", f"elpd {first}", *(f"{name} - {first} (se)" for name in others)]
    heads += ["refitted", "preferred", "s"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
    by_word: dict[str, dict[str, float]] = {name: {} for name in others}
    for path in given.tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DuplicatesWarning)
            table = bb.read_table(path)
        begun = time.perf_counter()
        found = compare_models(table, given.models, draws=given.draws, random_seed=given.seed)
        took = time.perf_counter() - begun
        score = found.set_index("model")
        words = {name: np.array(list(values.values())) for name, values in found.attrs["elpd_words"].items()}
        cells = [
            path.name.split(".")[0],
            f"{len(table):,}",
            str(len(words[first])),
            f"{score.loc[first, 'elpd_words']:.1f}",
        ]
        for name in others:
            difference = words[name] - words[first]
            se = np.sqrt(len(difference)) * difference.std(ddof=1)
            for word, one in zip(found.attrs["elpd_words"][name], difference, strict=True):
                by_word[name][word] = by_word[name].get(word, 0.0) + float(one)
            cells.append(f"{difference.sum():+.1f} ({se:.1f})")
        refitted = "/".join(str(score.loc[name, "words_refitted"]) for name in given.models)
        if score["words_unreliable"].any():
            refitted += f" ({score['words_unreliable'].max()} could not be left out)"
        print("| " + " | ".join([*cells, refitted, str(found["model"][0]), f"{took:.0f}"]) + " |", flush=True)
    sums = [np.array(list(words.values())) for words in by_word.values()]
    totals = [f"{each.sum():+.1f} ({np.sqrt(len(each)) * each.std(ddof=1):.1f})" for each in sums]
    print("| " + " | ".join(["all", "", "", "", *totals, "", "", ""]) + " |")


if __name__ == "__main__":
    main()
