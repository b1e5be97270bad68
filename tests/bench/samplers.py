"""How fast each engine draws from each model, in effective draws a second, and fits of very large tables.

Effective draws a second, and the ratios of them, count the sampling alone for every engine: from arrays to draws,
without checking the table, compiling, or making the DataTree. `call` is the whole second call of `bb.fit` for the
samplers of independent draws. A child process measures the large table's memory.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.bench.readers import own_memory
from tests.validation.scripts import load_script

RELIGION = Path(__file__).resolve().parents[3] / "shared" / "data" / "published" / "tables" / "religion_google.csv.gz"
EXACT = ("hierarchical", "no_pooling")
COLLAPSED = ("crossed", "crossed_per_list")
LISTS = ("multivariate",)
# Models that NUTS is timed on in the second table, too.
MAIN = ("hierarchical", "crossed")
DRAWS, CHAINS, RUNS = 1000, 4, 5
# How long each call of a function takes.
timed = load_script("nuts", "compare_nuts").timed
LOST = 0.02
TARGETS = {
    ("exact", "hierarchical"): "call under 0.06 s, at least 1,000 times NUTS",
    ("conjugate", "multivariate"): "call under 0.5 s, ESS of every contrast above 1,000",
    ("collapsed", "crossed"): "call under 1.5 s, k-hat under 0.7, at least 200 times NUTS",
}


def measure() -> list[dict[str, object]]:
    """Return one row for each table, model and engine, then one for the large table and one for sensitivity."""
    return list(each())


def each() -> Iterator[dict[str, object]]:
    """Yield the rows of `measure` as they are measured."""
    import bayesbias as bb

    bundled = bb.read_table(bb.bundled("data", "tables", "gender_google_news.csv.gz"))
    tables = {"gender": bundled}
    if RELIGION.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables = {"religion": bb.read_table(RELIGION), **tables}
    yield _large()
    yield from _many_words()
    for place, (name, table) in enumerate(tables.items()):
        for model in LISTS:
            yield from _engines(name, table, model, nuts=place == 0)
        for model in (*EXACT, *COLLAPSED):
            yield from _engines(name, table, model, nuts=place == 0 or model in MAIN)
    yield _sensitivity(tables)


def line(row: dict[str, Any]) -> str:
    """Return a row of `measure` as a line of a table."""
    if "engine" not in row:
        cells = [f"{row['what']:<48}"]
        cells += [f"{row['seconds']:9.3f} s"] if "seconds" in row else []
        cells += [f"{row['memory_ratio']:.2f} times the table's memory"] if "memory_ratio" in row else []
        cells += [row["note"]] if "note" in row else []
        return "  ".join([*cells, row.get("target", "")])
    ratio = f"{row['versus_nuts']:>9,.0f}" if "versus_nuts" in row else f"{'':>9}"
    compiled = f"{row['compile_seconds']:8.1f}" if "compile_seconds" in row else f"{'':8}"
    call = f"{row['call_seconds']:8.3f}" if "call_seconds" in row else f"{'':8}"
    khat = f"k-hat {row['khat']:.2f}" if "khat" in row else ""
    return (
        f"{row['table']:<9}{row['model']:<26}{row['engine']:<10}{row['seconds']:9.4f}{call}{compiled}{row['ess']:8.0f}"
        f"{row['ess_per_second']:12,.0f}{ratio}  {khat:<11}{row.get('target', '')}"
    )


HEADER = (
    f"{'table':<9}{'model':<26}{'engine':<10}{'seconds':>9}{'call':>8}{'compile':>8}{'min ESS':>8}{'ESS/s':>12}"
    f"{'x NUTS':>9}  target"
)


def _engines(name: str, table: pd.DataFrame, model: str, *, nuts: bool) -> list[dict[str, object]]:
    measured: dict[str, dict[str, Any]] = {}
    engine = "exact" if model in EXACT else "conjugate" if model in LISTS else "collapsed"
    measured[engine] = _own(table, model, engine)
    if nuts:
        measured["nuts"] = _nuts(table, model)
    for engine, row in measured.items():
        if nuts and engine != "nuts":
            row["versus_nuts"] = row["ess_per_second"] / measured["nuts"]["ess_per_second"]
        if (engine, model) in TARGETS:
            row["target"] = TARGETS[engine, model]
    return [
        {"what": f"{name}, {model}, {engine}", "table": name, "model": model, "engine": engine, **row}
        for engine, row in measured.items()
    ]


def _fit(table: pd.DataFrame, model: str, engine: str) -> Any:
    import bayesbias as bb

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short chains may warn; their effective draws are what is measured
        return bb.fit(
            table, model, sampler=engine, draws=DRAWS, tune=DRAWS, chains=CHAINS, random_seed=1, progress=False
        )


def _own(table: pd.DataFrame, model: str, engine: str) -> dict[str, Any]:
    from bayesbias.models.samplers.registry import SAMPLERS

    fit = _fit(table, model, engine)  # warms up
    calls = []
    with timed(SAMPLERS, engine) as times:
        for _ in range(RUNS):
            start = time.perf_counter()
            fit = _fit(table, model, engine)
            calls.append(time.perf_counter() - start)
    ess, stats = _least_ess(fit), fit["sample_stats"].to_dataset()
    row: dict[str, Any] = {"call_seconds": statistics.median(calls)}
    if engine == "collapsed":
        # Resampled points are no Markov chain: the weights bound their effective number.
        ess = min(ess, float(stats["importance_ess"]))
        row["khat"] = float(stats["pareto_khat"])
    return _row(statistics.median(times), ess) | row


def _nuts(table: pd.DataFrame, model: str) -> dict[str, Any]:
    import nutpie

    with timed(nutpie, "compile_pymc_model") as compiling, timed(nutpie, "sample") as sampling:
        fit = _fit(table, model, "nuts")
    return _row(sum(sampling), _least_ess(fit)) | {"compile_seconds": sum(compiling)}


def _row(seconds: float, ess: float) -> dict[str, Any]:
    return {"seconds": seconds, "ess": ess, "ess_per_second": ess / seconds}


def _least_ess(fit: Any) -> float:
    """Return the lowest bulk ESS of all reported parameters; of all contrasts, for a multivariate fit."""
    import arviz as az

    import bayesbias as bb

    if "list_mean" in fit["posterior"]:
        return float(bb.contrasts(fit, level="all")["ess_bulk"].min())
    return min(float(values.min()) for values in az.ess(fit["posterior"].to_dataset(), method="bulk").values())


# --- the large table --------------------------------------------------------------------------------------


def large_table(words: int = 1_000, attributes: int = 10_000) -> pd.DataFrame:
    """Return a table of all pairs, with categorical word columns."""
    from bayesbias.tables.schema import CONNECTION_DTYPE

    rng = np.random.default_rng(1)
    protected = np.repeat(np.arange(words, dtype=np.int16), attributes)
    attribute = np.tile(np.arange(attributes, dtype=np.int16), words)
    group, lists = (protected % 4).astype(np.int8), (attribute % 6).astype(np.int8)
    connection = np.where(lists < 4, (lists != group).astype(np.int8), lists - 2).astype(np.int8)
    distance = rng.normal(0, 0.1, words * attributes)
    distance += np.array([0.9, 0.95, 0.92, 1.0])[connection] + rng.normal(0, 0.05, words)[protected]

    def categories(codes: np.ndarray, names: list[str]) -> pd.Categorical:
        return pd.Categorical.from_codes(codes, names)

    return pd.DataFrame(
        {
            "protected_word": categories(protected, [f"p{number}" for number in range(words)]),
            "protected_group": categories(group, list("abcd")),
            "attribute_word": categories(attribute, [f"a{number}" for number in range(attributes)]),
            "attribute_group": categories(lists, [*"abcd", "human", "neutral"]),
            "connection": pd.Categorical.from_codes(connection, dtype=CONNECTION_DTYPE),
            "cosine_distance": distance,
            "cosine_similarity": 1.0 - distance,
        },
        copy=False,
    )


def _large() -> dict[str, object]:
    runs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "tests.bench.samplers", "--large", what],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for what in ("seconds", "memory")
    ]
    return {
        "what": "exact hierarchical fit of 10,000,000 rows",
        "seconds": runs[0]["seconds"],
        "table_mb": runs[1]["table_mb"],
        "memory_ratio": runs[1]["memory_ratio"],
        "target": "under 3 s, under 3 times the table's memory",
    }


def _large_child(what: str) -> None:
    """Fit the large table; print the time, or the most memory in use while fitting, as times the table's own."""
    import bayesbias as bb

    table = large_table()
    bb.fit(table.iloc[:50_000], "hierarchical", random_seed=1)  # imports and warms up
    own = int(table.memory_usage(deep=True).sum())
    before, peak = own_memory(), 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, own_memory())

    watcher = threading.Thread(target=watch)
    if what == "memory":
        watcher.start()
    start = time.perf_counter()
    fit = bb.fit(table, "hierarchical", random_seed=1, draws=DRAWS, chains=CHAINS)
    seconds = time.perf_counter() - start
    peak = max(peak, own_memory())
    done.set()
    del fit
    print(json.dumps({"seconds": seconds, "table_mb": own / 1e6, "memory_ratio": 1 + (peak - before) / own}))


def _many_words() -> list[dict[str, object]]:
    """Time the default model on many words with all pairs, and on fewer with some of them lost at random."""
    import bayesbias as bb

    rows: list[dict[str, object]] = []
    for words, attributes, lost, target in ((500, 2000, 0.0, "under 60 s"), (16, 320, LOST, "under 60 s")):
        table = bb.models.simulate_table(large_table(words, attributes), "crossed", random_seed=1)
        if lost:
            facts, table = table.attrs, table[np.random.default_rng(1).random(len(table)) > lost].reset_index(drop=True)
            table.attrs = facts
        start = time.perf_counter()
        _fit(table, "multivariate", "conjugate")
        seconds = time.perf_counter() - start
        what = f"multivariate fit of {attributes:,} x {words} words" + (f", {lost:.0%} of pairs lost" if lost else "")
        rows.append({"what": what, "seconds": seconds, "target": target})
    return rows


def _sensitivity(tables: dict[str, pd.DataFrame]) -> dict[str, object]:
    name, table = next(iter(tables.items()))
    count = table["attribute_word"].nunique()
    row: dict[str, object] = {"what": f"sensitivity to each of {count} attribute words, {name}", "target": "under 60 s"}
    try:
        from bayesbias.reports.robustness.sensitivity import sensitivity
    except ImportError:
        return row | {"note": "not there"}
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sensitivity(table, "crossed", leave_out="attribute_word", random_seed=1)
    return row | {"seconds": time.perf_counter() - start}


def main() -> None:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", choices=["seconds", "memory"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.large:
        _large_child(given.large)
        return
    print(HEADER)
    for row in each():
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
