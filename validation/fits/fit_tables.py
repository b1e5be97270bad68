"""Fits of the default model to real tables: how long they take, whether chains agree, and whether verdicts change.

    python validation/fits/fit_tables.py TABLE ... [--seeds 20]

TABLE are distance tables; the bundled studies in the bundled vectors are added. Writes fits.csv, a row for each table,
and verdicts.csv, a row for each contrast of the demo's table over seeds. README.md says what the columns mean.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.errors import LostWordsError
from bayesbias.models.fits import fit_attribute

FOLDER = Path(__file__).resolve().parent
VECTORS = "wikipedia2018_skipgram_seed1.npz"
DEMO = "religion"
KEY = ["contrast", "protected_group", "protected_word"]


def bundled_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and table of each bundled study whose lists the bundled vectors have."""
    vectors = bb.load_embedding(bb.bundled("data", "vectors", VECTORS))
    for study in bb.list_studies():
        try:
            # A model must fit what is left of the lists, whatever it still says of their question.
            yield f"{study}, bundled vectors", bb.distance_table(vectors, study, max_lost=1)
        except LostWordsError as error:
            print(f"{study}: left out. {error}", flush=True)


def fitted(table: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Return the row of a table: `bb.fit` as it is called by default, checks and all."""
    begun = time.perf_counter()
    fit = bb.fit(table, random_seed=seed, progress=False)
    seconds = time.perf_counter() - begun
    draws = fit["posterior"].to_dataset()
    ess, r_hat = az.ess(draws), az.rhat(draws)
    return {
        "protected_words": table["protected_word"].nunique(),
        "attribute_words": table["attribute_word"].nunique(),
        "seconds": seconds,
        "r_hat": max(float(np.nanmax(r_hat[name])) for name in r_hat.data_vars),
        "ess": min(float(np.nanmin(ess[name])) for name in ess.data_vars),
        "contrast_ess": bb.contrasts(fit, level="all")["ess_bulk"].min(),
        "problems": len(fit_attribute(fit, "convergence_problems")),
    }


def verdicts(table: pd.DataFrame, seeds: int) -> pd.DataFrame:
    """Return a row for each contrast: in which share of seeds its interval leaves out 0, and is called borderline.

    `unsaid` counts the seeds of a contrast that flips in which it is not called borderline.
    """
    frames = []
    for seed in range(1, seeds + 1):
        contrast_rows = bb.contrasts(bb.fit(table, random_seed=seed, progress=False), level="all")
        frames.append(contrast_rows.assign(settled=(contrast_rows["hdi_low"] > 0) | (contrast_rows["hdi_high"] < 0)))
    every = pd.concat(frames).groupby(KEY, sort=False)
    rows = every.agg(settled=("settled", "mean"), borderline=("borderline", "mean")).reset_index()
    unsaid = (1 - rows["borderline"]) * seeds
    return rows.assign(seeds=seeds, unsaid=unsaid.where(rows["settled"].between(0, 1, inclusive="neither"), 0).round())


def main() -> None:
    """Fit each table, and the demo's with each seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs="*")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # what chains are worth is measured here; lost words are those of the study
    studies = dict(bundled_tables())
    demo = studies[f"{DEMO}, bundled vectors"]
    published = {
        path.name.split(".")[0]: bb.read_table(path).drop_duplicates(["protected_word", "attribute_word"])
        for path in given.tables
    }
    rows = []
    for name, table in {**published, **studies}.items():
        rows.append({"table": name, **fitted(table, seed=1)})
        print(pd.Series(rows[-1]).to_string(), "\n", flush=True)
        pd.DataFrame(rows).to_csv(given.out / "fits.csv", index=False, float_format="%.5g", lineterminator="\n")
    readings = verdicts(demo, given.seeds)
    readings.to_csv(given.out / "verdicts.csv", index=False, float_format="%.3g", lineterminator="\n")
    flips = readings[readings["settled"].between(0, 1, inclusive="neither")]
    print(
        f"{len(readings)} contrasts, {given.seeds} seeds: {len(flips)} flip; not called borderline "
        f"{flips['unsaid'].sum()}"
    )


if __name__ == "__main__":
    main()
