"""Null simulation, WEAT, false claims and the page, each as a user calls it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

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
