"""Differences of gaps: their readings, and the mean of words like these."""

import itertools
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
import xarray as xr

from bayesbias.reports.embeddings.difference_frames import mean_of_words_like_these, reading_of


def test_a_reading_is_the_one_whose_line_in_the_legend_holds() -> None:
    """Of every combination of signs and settled intervals, the name is the one whose line in the legend holds."""

    def interval(mean: float, settled: bool) -> tuple[float, float, float]:
        return mean, mean - (0.01 if settled else 1), mean + (0.01 if settled else 1)

    for baseline, other, difference in itertools.product((-0.4, -0.2, 0.2, 0.4), (-0.3, -0.1, 0.1, 0.3), (-0.1, 0.1)):
        for settled in itertools.product((True, False), repeat=3):
            row: dict[Hashable, Any] = {"direction": "farther"}
            for name, mean, sure in zip(
                ("baseline", "other", "hdi"), (baseline, other, difference), settled, strict=True
            ):
                row[f"{name}_gap"], row[f"{name}_low"], row[f"{name}_high"] = interval(mean, sure)
            row["mean"], away = row["hdi_gap"], baseline * difference > 0
            held = {
                "not settled": not settled[2],
                "neither": settled == (False, False, True),
                "other only": settled == (False, True, True),
                "reversed": settled == (True, True, True) and baseline * other < 0,
                "narrower": settled == (True, True, True) and baseline * other > 0 and not away,
                "baseline only": settled == (True, False, True) and not away,
                "wider": settled[0] and settled[2] and away,
            }
            held["wider"] = held["wider"] and not held["reversed"]
            assert [name for name, holds in held.items() if holds] == [reading_of(row)]


@pytest.mark.slow
def test_the_difference_of_a_gap_where_words_lean_against_each_other() -> None:
    """No mean difference of the gap, but a word that moves nearer to one list moves away from the other."""
    rng = np.random.default_rng(1)
    covers = []
    for _ in range(400):
        nearer = rng.normal(0, 0.02, 16)
        gaps = 2 * nearer + rng.normal(0, 0.002, (4, 250, 16))
        word_gaps = xr.DataArray(gaps, dims=("chain", "draw", "protected_word"))
        drawn = np.sort(mean_of_words_like_these(word_gaps, rng).to_numpy().ravel())
        covers.append(drawn[55] < 0 < drawn[-56])
    # 89 % of the intervals hold the true mean, 0; 400 samples tell that within 1.6 points.
    assert np.mean(covers) == pytest.approx(0.89, abs=3 * 0.016)
