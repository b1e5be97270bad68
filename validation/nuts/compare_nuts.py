"""The default model drawn by its own sampler and by NUTS on its PyMC form: the same posterior, and how fast.

    python validation/nuts/compare_nuts.py TABLE ... [--draws 500] [--tune 500]

Prints a row for each table and writes it to nuts.csv. README.md says what the columns mean.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb
from bayesbias.models.samplers.registry import SAMPLERS

FOLDER = Path(__file__).resolve().parent
MODEL = "multivariate"
DRAWS, TUNE, CHAINS = 500, 500, 2
OWN_DRAWS, OWN_CHAINS = 2000, 4
OVERALL = "associated - different"


@contextmanager
def timed(where: Any, name: str) -> Iterator[list[float]]:
    """Collect the seconds of each call of a function of a module, or of the draws of a sampler in `SAMPLERS`."""
    seconds: list[float] = []
    is_dict = isinstance(where, dict)
    function: Callable[..., Any] = where[name].draw if is_dict else getattr(where, name)

    def measured(*args: Any, **settings: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*args, **settings)
        finally:
            seconds.append(time.perf_counter() - begun)

    if is_dict:
        changed = mock.patch.dict(where, {name: replace(where[name], draw=measured)})
    else:
        changed = mock.patch.object(where, name, measured)
    with changed:
        yield seconds


def sampled(table: pd.DataFrame, sampler: str, *, draws: int, tune: int, chains: int) -> tuple[xr.DataTree, float]:
    """Return a fit and the seconds of sampling alone: neither compiling nor checks nor the report of the fit."""
    import nutpie

    where, name = (SAMPLERS, "conjugate") if sampler == "conjugate" else (nutpie, "sample")
    with warnings.catch_warnings(), timed(where, name) as seconds:
        warnings.simplefilter("ignore")  # short chains may warn: what they are worth is measured here
        fit = bb.fit(
            table, MODEL, sampler=sampler, draws=draws, tune=tune, chains=chains, random_seed=1, progress=False
        )
    return fit, seconds[-1]


def compared(table: pd.DataFrame, *, draws: int, tune: int) -> dict[str, Any]:
    """Return the row of a table."""
    (sampler_draws, own_seconds), (nuts, nuts_seconds) = (
        sampled(table, "conjugate", draws=OWN_DRAWS, tune=1, chains=OWN_CHAINS),
        sampled(table, "nuts", draws=draws, tune=tune, chains=CHAINS),
    )
    ours, theirs = (bb.contrasts(fit, level="all") for fit in (sampler_draws, nuts))
    ess = ours["ess_bulk"], theirs["ess_bulk"]
    distance = (ours["mean"] - theirs["mean"]).abs() / theirs["sd"]
    # A mean of n effective draws has an error of 1 / sqrt(n) sds; an sd of Normal draws, of 1 / sqrt(2 n).
    error = np.sqrt(1 / ess[0] + 1 / ess[1])
    ratio = ours["sd"] / theirs["sd"]
    first = (ours["contrast"] == OVERALL) & (ours["protected_word"] == "") & (ours["protected_group"] == "")
    rates = ess[0].min() / own_seconds, ess[1].min() / nuts_seconds
    return {
        "rows": len(table),
        "own_seconds": own_seconds,
        "own_ess": ess[0].min(),
        "nuts_seconds": nuts_seconds,
        "nuts_ess": ess[1].min(),
        "nuts_r_hat": theirs["r_hat"].max(),
        "nuts_divergent": float(nuts["sample_stats"]["diverging"].mean()),
        "times_faster": rates[0] / rates[1],
        "overall_mean_difference": float(distance[first].iloc[0]),
        "overall_sd_ratio": float(ratio[first].iloc[0]),
        "contrasts": len(ours),
        "median_mean_difference": float(distance.median()),
        "median_sd_ratio": float(ratio.median()),
        "worst_mean_errors": float((distance / error).max()),
        "worst_sd_errors": float((np.log(ratio).abs() / (error / np.sqrt(2))).max()),
    }


def main() -> None:
    """Compare on each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of each of two chains of NUTS")
    parser.add_argument("--tune", type=int, default=TUNE)
    parser.add_argument("--out", type=Path, default=FOLDER / "nuts.csv")
    given = parser.parse_args()
    rows = []
    for path in given.tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = bb.read_table(path)
        rows.append({"table": path.name.split(".")[0], **compared(table, draws=given.draws, tune=given.tune)})
        pd.DataFrame(rows).to_csv(given.out, index=False, float_format="%.4g", lineterminator="\n")
        print(pd.Series(rows[-1]).to_string(), "\n", flush=True)


if __name__ == "__main__":
    main()
