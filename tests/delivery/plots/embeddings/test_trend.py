"""The figure of a trend."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.models.periods.made import made_tables


def test_points_are_the_gaps_and_crosses_the_plain_differences() -> None:
    moved = bb.trend(made_tables(periods=4), draws=400, random_seed=1, progress=False)
    (axes,) = bb.plots.plot_trend(moved).axes
    gaps = moved.gaps[moved.gaps["protected_group"] == ""]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    np.testing.assert_allclose(crosses[0].get_ydata(), gaps["observed"])
    segments = axes.collections[0].get_segments()
    np.testing.assert_allclose([part[:, 1] for part in segments], gaps[["hdi_low", "hdi_high"]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1900", "1910", "1920", "1930"]


def test_many_periods_have_few_labels() -> None:
    moved = bb.trend(made_tables(periods=24, words=1), draws=400, random_seed=1, progress=False)
    (axes,) = bb.plots.plot_trend(moved).axes
    assert len(axes.get_xticks()) <= 10


def test_anything_else_is_refused() -> None:
    with pytest.raises(ArgumentError, match="trend"):
        bb.plots.plot_trend("trend")  # type: ignore[arg-type]
