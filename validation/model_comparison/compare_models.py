"""Compare models over many distance tables by leaving out each attribute word, and print a Markdown table.

    python validation/model_comparison/compare_models.py data/tables/*.csv.gz
    python validation/model_comparison/compare_models.py --models multivariate multivariate_robust --seed 2 my_table.csv

This is how the default model was chosen. Each difference is the elpd of a model minus that of the first one given,
with its standard error, paired over attribute words; above 0 the model predicts unseen attribute words better. The
last row adds up the tables; since they share attribute words, its standard error is over words, each with the sum of
its differences in all tables. Repeated pairs are dropped. `--output` keeps the numbers and the settings in a folder.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning
from bayesbias.reports.robustness.model_comparison import MODELS, compare_models

ALL = "all"


def summed(differences: np.ndarray) -> dict[str, float]:
    """Return the sum of differences of attribute words, and its standard error."""
    return {"difference": differences.sum(), "se": np.sqrt(len(differences)) * differences.std(ddof=1)}


def compared(paths: list[Path], models: list[str], draws: int, seed: int) -> pd.DataFrame:
    """Return a row for each table and model, and for each model but the first over all tables."""
    first, *others = models
    by_word: dict[str, dict[str, float]] = {name: {} for name in others}
    rows: list[dict[str, object]] = []
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DuplicatesWarning)
            table = bb.read_table(path)
        begun = time.perf_counter()
        comparison = compare_models(table, models, draws=draws, random_seed=seed)
        seconds = round(time.perf_counter() - begun)
        score = comparison.models.set_index("model")
        words = {name: np.array(list(values.values())) for name, values in comparison.elpd_words.items()}
        for name in models:
            elpd, refitted, unreliable = score.loc[name, ["elpd_words", "words_refitted", "words_unreliable"]]
            of_model = {"elpd": elpd, "refitted": refitted, "unreliable": unreliable}
            if name != first:
                difference = words[name] - words[first]
                of_model |= summed(difference)
                for word, one in zip(comparison.elpd_words[name], difference, strict=True):
                    by_word[name][word] = by_word[name].get(word, 0.0) + float(one)
            of_table = {"table": path.name.split(".")[0], "rows": len(table), "words": len(words[first])}
            rows.append({**of_table, "model": name, **of_model, "seconds": seconds})
    rows += [{"table": ALL, "model": name, **summed(np.array(list(words.values())))} for name, words in by_word.items()]
    return pd.DataFrame(rows)


def markdown(comparison: pd.DataFrame) -> str:
    """Return what `compared` returns as a table in Markdown."""
    first, *others = dict.fromkeys(comparison["model"])
    heads = ["table", "rows", "words", f"elpd {first}", *(f"{name} - {first} (se)" for name in others)]
    heads += ["refitted", "preferred", "s"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for table, part in comparison.groupby("table", sort=False):
        of = part.set_index("model")
        cells = [f"{of.loc[name, 'difference']:+.1f} ({of.loc[name, 'se']:.1f})" for name in others]
        if table == ALL:
            lines.append("| " + " | ".join([ALL, "", "", "", *cells, "", "", ""]) + " |")
            continue
        one = of.loc[first]
        refitted = "/".join(f"{of.loc[name, 'refitted']:.0f}" for name in of.index)
        if of["unreliable"].any():
            refitted += f" ({of['unreliable'].max():.0f} could not be left out)"
        cells = [str(table), f"{one['rows']:,.0f}", f"{one['words']:.0f}", f"{one['elpd']:.1f}", *cells, refitted]
        lines.append("| " + " | ".join([*cells, str(of["elpd"].idxmax()), f"{one['seconds']:.0f}"]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Compare the models on each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--models", nargs="+", default=list(reversed(MODELS)))
    parser.add_argument("--draws", type=int, default=1000, help="of each of four chains")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="folder for comparison.csv and run.json (default: not kept)")
    given = parser.parse_args()
    comparison = compared(given.tables, given.models, given.draws, given.seed)
    print(markdown(comparison))
    if given.output:
        comparison.to_csv(given.output / "comparison.csv", index=False, float_format="%.6g", lineterminator="\n")
        run = {name: vars(given)[name] for name in ("models", "draws", "seed")}
        (given.output / "run.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
