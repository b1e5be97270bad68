"""The figure of a trend."""

from collections.abc import Callable

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from tests.models.periods.made import made_tables


def test_points_are_the_gaps_and_crosses_the_plain_differences() -> None:
    moved = bb.trend(made_tables(periods=4), draws=400, random_seed=1, progress=False)
    (axes,) = bb.plots.plot_trend(moved).axes
    gaps = moved.gaps[(moved.gaps["protected_group"] == "") & (moved.gaps["protected_word"] == "")]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    np.testing.assert_allclose(crosses[0].get_ydata(), gaps["observed"])
    segments = axes.collections[0].get_segments()
    np.testing.assert_allclose([part[:, 1] for part in segments], gaps[["hdi_low", "hdi_high"]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1900", "1910", "1920", "1930"]


def test_many_periods_have_few_labels() -> None:
    moved = bb.trend(made_tables(periods=24, words=1), draws=400, random_seed=1, progress=False)
    (axes,) = bb.plots.plot_trend(moved).axes
    assert len(axes.get_xticks()) <= 10


def test_slopes_have_a_panel_per_covariate() -> None:
    tables = made_tables(periods=3)
    words = tables[next(iter(tables))]["protected_word"].unique()
    covariates = {
        "$x": dict(zip(words, range(len(words)), strict=True)),
        "y": dict(zip(words, np.cos(np.arange(len(words))), strict=True)),
    }
    moved = bb.trend(tables, word_covariates=covariates, draws=400, random_seed=1, progress=False)
    first, second = bb.plots.plot_slopes(moved).axes
    rows = moved.slopes[(moved.slopes["covariate"] == "$x") & (moved.slopes["quantity"] == "slope")]
    crosses = [line for line in first.lines if line.get_marker() == "x"]
    np.testing.assert_allclose(crosses[0].get_ydata(), rows["observed"])
    np.testing.assert_allclose(
        [part[:, 1] for part in first.collections[0].get_segments()], rows[["hdi_low", "hdi_high"]]
    )
    assert first.get_title(loc="left").startswith("$x (below 0: more of it, nearer to associated)")
    assert [label.get_text() for label in second.get_xticklabels()] == ["1900", "1910", "1920"]
    with pytest.raises(ReportError, match="word_covariates"):
        bb.plots.plot_slopes(bb.trend(tables, draws=400, random_seed=1, progress=False))


@pytest.mark.parametrize("plot", [bb.plots.plot_trend, bb.plots.plot_slopes])
def test_anything_else_is_refused(plot: Callable[[object], object]) -> None:
    with pytest.raises(ArgumentError, match="trend"):
        plot("trend")
