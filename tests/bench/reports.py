"""Null simulation, WEAT, false claims and the page, each as a user calls it."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bayesbias as bb
from tests.bench import Figure, seconds_of, usual_seconds


def measure() -> Iterator[Figure]:
    """Yield the seconds of each report."""
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    fit = bb.fit(bb.read_table(bb.bundled("data", "tables", "gender_google_news.csv.gz")), "crossed", random_seed=1)
    yield Figure("null, 10,000 samples", usual_seconds(lambda: bb.reports.simulate_null(random_seed=1)), 0.5)
    yield Figure("WEAT 7, all 12,870 partitions", usual_seconds(lambda: bb.metrics.weat(vectors, "weat7")), 0.05)
    claims = seconds_of(lambda: bb.reports.false_positive_rates(attribute_sd=0.078, samples=1000, random_seed=1))
    yield Figure("false claims with attribute effects, 1,000 data sets", claims, 300.0)
    with tempfile.TemporaryDirectory() as folder:
        yield Figure("the page, crossed", seconds_of(lambda: bb.write(fit, Path(folder) / "page.html")), 20.0)
    yield from _in_fits()


def _in_fits() -> Iterator[Figure]:
    """Yield processor seconds of a refit of `sensitivity`, and of a page of the default model, beside a fit's."""
    table = bb.read_table(bb.bundled("data", "tables", "gender_google_news.csv.gz"))
    fit = bb.fit(table, random_seed=1)
    a_fit = _processor_seconds(lambda: bb.fit(table, random_seed=1))[0]
    seconds, changes = _processor_seconds(lambda: bb.sensitivity(table, draws=500, random_seed=1, progress=False))
    yield Figure("a refit, in fits", seconds / (changes.refits + 1) / a_fit, 1 / 25)
    with tempfile.TemporaryDirectory() as folder:
        page = _processor_seconds(lambda: bb.write(fit, Path(folder) / "page.html"))[0]
    yield Figure("the page of the default model, in fits", page / a_fit, 30.0)


def _processor_seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result
