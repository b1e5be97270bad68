"""Null simulation, WEAT, false claims and the page: each as a user calls it, after one call that is not counted."""

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.samplers import RELIGION

if TYPE_CHECKING:
    import pandas as pd


def measure() -> list[dict[str, object]]:
    """Return one row for each figure."""
    import bayesbias as bb
    from bayesbias.reports.measures.false_positive_rates import false_positive_rates
    from bayesbias.reports.measures.null_simulation import null_share, simulate_null

    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bb.read_table(
            RELIGION if RELIGION.exists() else bb.bundled("data", "tables", "gender_google_news.csv.gz")
        )
    fit = bb.fit(table, "crossed", random_seed=1)
    share = null_share(simulate_null(random_seed=1), effect_size=1.2671948)["share"].iloc[0]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        start = time.perf_counter()
        bb.write(fit, page)
        seconds = time.perf_counter() - start
        size = page.stat().st_size / 1e6
    return [
        *_in_fits(),
        {
            "what": f"null, 10,000 samples; P(|d| >= 1.267) = {share:.4f}",
            "seconds": _median(lambda: simulate_null(random_seed=1)),
            "target": 0.5,
        },
        {
            "what": "WEAT 7, all 12,870 partitions, vectors loaded",
            "seconds": _median(lambda: bb.metrics.weat(vectors, "weat7")),
            "target": 0.05,
        },
        {
            "what": "false claims with attribute effects, 1,000 data sets",
            "seconds": _median(
                lambda: false_positive_rates(attribute_sd=0.078, samples=1000, random_seed=1), runs=1, warm=False
            ),
            "target": 300.0,
        },
        {"what": f"the page, crossed, all sections, {size:.2f} MB", "seconds": seconds, "target": 20.0},
    ]


def _in_fits() -> list[dict[str, object]]:
    """Return processor seconds of a refit of `sensitivity`, and of a page of the default model, beside a fit's."""
    import bayesbias as bb

    table = bb.read_table(bb.bundled("data", "tables", "gender_google_news.csv.gz"))
    fit = bb.fit(table, random_seed=1)
    a_fit, (a_refit, refits) = _processor_seconds(lambda: bb.fit(table, random_seed=1))[0], _refit_seconds(table)
    with tempfile.TemporaryDirectory() as folder:
        page = _processor_seconds(lambda: bb.write(fit, Path(folder) / "page.html"))[0]
    return [
        {"what": f"1 of {refits} refits: {a_refit / a_fit:.3f} of a fit", "seconds": a_refit, "target": a_fit / 15},
        {"what": f"the page, default model: {page / a_fit:.0f} fits", "seconds": page, "target": 45 * a_fit},
    ]


def _refit_seconds(table: "pd.DataFrame") -> tuple[float, int]:
    import bayesbias as bb

    seconds, changes = _processor_seconds(lambda: bb.sensitivity(table, draws=500, random_seed=1, progress=False))
    return seconds / (changes.refits + 1), changes.refits


def _processor_seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def _median(run: Callable[[], object], *, runs: int = 5, warm: bool = True) -> float:
    if warm:
        run()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
