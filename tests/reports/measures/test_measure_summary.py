"""Summaries of a measure's values, against NumPy's quantiles and counts by hand."""

import numpy as np
import pytest

from bayesbias.metrics.similarities import Similarities
from bayesbias.reports.measures.measure_summary import WORDS, dataset_of_values, summary_of_values, summary_of_words

RNG = np.random.default_rng(1)
PARTS = (
    {"effect_size": np.array(1.5)},
    {"effect_size": RNG.normal(1.4, 0.2, 2000)},
    {"effect_size": RNG.normal(1.4, 0.4, 2000)},
    {"effect_size": RNG.normal(0, 1, 10_000)},
)


def test_a_row_has_the_moments_and_tails_of_the_draws() -> None:
    draws = dataset_of_values(PARTS, (4, 500))
    assert draws["expected"].dims == ("chain", "draw", "statistic")
    np.testing.assert_array_equal(draws["expected"][1, :, 0], PARTS[1]["effect_size"][500:1000])
    row = summary_of_values(draws, 0.89, None).iloc[0]
    _, expected, repeated, null = (part["effect_size"] for part in PARTS)
    assert (row["observed"], row["mean"]) == (1.5, pytest.approx(expected.mean()))
    assert [row["repeated_low"], row["repeated_high"]] == pytest.approx(np.quantile(repeated, [0.055, 0.945]))
    low, high = np.quantile(null, [0.025, 0.975])
    assert [row["null_low"], row["null_high"]] == pytest.approx([low, high])
    assert row["beyond_null"] == pytest.approx(((repeated < low) | (repeated > high)).mean(), abs=1e-3)
    assert row["null_share"] == pytest.approx(2 * (null >= 1.5).mean(), abs=1e-3)
    # The error of a quantile q of a Normal sample is sqrt(q (1 - q) / n) / density: here 0.0267 at either end.
    assert row["null_se"] == pytest.approx(0.0267, rel=0.25)


def test_words_have_rows_of_their_own() -> None:
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    observed = Similarities(values, {"x": ["a"], "y": ["b"]}, {"s": ["c"], "t": ["d"]}, (("x", "s"), ("y", "t")))
    assert summary_of_words(observed, PARTS, (4, 500), 0.89, None).empty
    flat = np.array([5.0, 6.0])
    sizes = (None, 2000, 2000, 10_000)
    parts = tuple({WORDS: flat if n is None else flat + RNG.normal(0, 0.1, (n, 2))} for n in sizes)
    frame = summary_of_words(observed, parts, (4, 500), 0.89, None)
    assert frame[["word", "group", "observed"]].to_numpy().tolist() == [["a", "x", 5.0], ["b", "y", 6.0]]
    assert frame["mean"].tolist() == pytest.approx(flat, abs=5 * 0.1 / np.sqrt(2000))
