"""The figure of contexts shows the numbers of its frame."""

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError

COLUMNS = ["factor", "low", "high", "pairs", "accuracy", "hdi_low", "hdi_high"]
FOUND = pd.DataFrame(
    [
        ("contexts", 1, 9, 40, 0.6, 0.5, 0.7),
        ("contexts", 10, 90, 30, 0.8, 0.7, 0.9),
        ("distance", 5.0, 80.0, 70, 0.7, 0.6, 0.8),
    ],
    columns=COLUMNS,
)


def test_a_panel_a_factor_with_a_point_and_two_lines_a_group() -> None:
    figure = bb.plots.plot_context_factors(FOUND)
    contexts, distance = figure.axes
    assert contexts.get_xscale() == "log"
    assert [len(axes.lines) for axes in (contexts, distance)] == [1 + 3 * 2, 1 + 3]
    points = [line for line in contexts.lines if line.get_marker() == "o"]
    assert [line.get_ydata()[0] for line in points] == [0.6, 0.8]
    assert [line.get_xdata()[0] for line in points] == pytest.approx([3, 30])
    assert "70 pairs" in figure.get_suptitle()


def test_what_is_no_such_frame_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="frame="):
        bb.plots.plot_context_factors(5)  # type: ignore[arg-type]
    for wrong in (FOUND[:0], FOUND.drop(columns="low"), FOUND.assign(factor="x")):
        with pytest.raises(ReportError, match="context_factors"):
            bb.plots.plot_context_factors(wrong)
