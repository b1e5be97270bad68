"""All debiasing methods on real vectors: associations, intrinsic measures, quality, and how they go together.

Run it with a folder of vectors (Google News and GloVe in the formats that `bayesbias.load_embedding` reads), one of
benchmarks and SemBias' file:

    python validation/trade/make_trade.py VECTORS BENCHMARKS SEMBIAS [--cells FOLDER] [--workers 1]
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import pandas as pd

import bayesbias as bb

HERE = Path(__file__).parent
SEED = 20261123
METHODS = [name for name in bb.debias.METHODS if name != "gn_glove"]  # its vectors are not here
STUDIES = ["gender", "weat7"]
BENCHMARKS = ["EN-RG-65", "EN-MTurk-771", "EN-MEN-TR-3k", "EN-SIMLEX-999", "EN-WS-353-ALL"]
ANALOGIES = ["questions-words", "MSR-syntax"]
SAME = 0.0025  # a change of table 6 that its three decimals hardly show


def measures(benchmarks: Path, sembias: Path) -> list[str | tuple[str, object]]:
    """Return what is asked of every embedding."""
    names = bb.debias.load_debias_words("gender_bolukbasi").names
    return [
        *("vocabulary_direct_bias", ("midb", names), "clustering", "recoverability", "gipe", ("sembias", sembias)),
        *(("word_similarity", benchmarks / f"{name}.txt") for name in BENCHMARKS),
        *(("analogies", benchmarks / f"{name}.txt") for name in ANALOGIES),
    ]


def directions(table: pd.DataFrame) -> pd.DataFrame:
    """Return the changes of Dawkins' table 6 (paper.csv) beside ours, and whether they agree in direction."""
    paper = pd.read_csv(HERE / "paper.csv").melt(["embedding", "method"], var_name="measure", value_name="value")
    paper = paper.dropna().set_index(["embedding", "measure", "method"])["value"]
    ours = table.set_index(["embedding", "measure", "method"])
    rows = []
    for embedding, measure, method in paper.index:
        if method == "original":
            continue
        theirs = paper[embedding, measure, method] - paper[embedding, measure, "original"]
        here = ours.loc[(embedding, measure, method)]
        low, high = here["change_low"], here["change_high"]
        if abs(theirs) < SAME:
            verdict = "none in the paper"
        elif low <= 0 <= high:
            verdict = "cannot tell"
        else:
            verdict = "agrees" if theirs * here["change"] > 0 else "disagrees"
        rows.append((embedding, method, measure, theirs, here["change"], low, high, verdict))
    names = ["embedding", "method", "measure", "paper", "change", "change_low", "change_high", "verdict"]
    return pd.DataFrame(rows, columns=names).round(6)


def main() -> None:
    """Write the tables and the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("vectors", "benchmarks", "sembias"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--cells", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    start = time.time()
    embeddings = {
        "Google News": next(given.vectors.glob("googlenews*")),
        "GloVe": next(given.vectors.glob("glove*")),
    }
    settings = {"measures": measures(given.benchmarks, given.sembias), "case": ("exact", "lower"), "max_lost": 0.4}
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)  # what is missing stands in the report
    report = bb.debias_report(
        embeddings,
        STUDIES,
        METHODS,
        sets="gender_bolukbasi",
        random_seed=SEED,
        cells=given.cells,
        workers=given.workers,
        **settings,
    )
    report.table.to_csv(HERE / "trade.csv", index=False, float_format="%.6g")
    directions(pd.read_csv(HERE / "trade.csv")).to_csv(HERE / "directions.csv", index=False)
    bb.audits.measure_correlations(report).to_csv(HERE / "correlations.csv", index=False, float_format="%.6g")
    bb.plots.plot_debias_report(report).savefig(HERE / "trade.png", dpi=110)
    (HERE / "report.txt").write_text(f"{report}\n", encoding="utf-8")
    record = {"seed": SEED, "seconds": round(time.time() - start), "missing": len(report.failed) + len(report.left_out)}
    (HERE / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
