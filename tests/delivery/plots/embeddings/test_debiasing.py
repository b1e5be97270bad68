"""The figure of a report on debiasing shows its numbers."""

import pytest
from matplotlib.colors import to_rgba

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.reports.debiasing import pets


def test_points_lines_and_rows_are_those_of_the_table() -> None:
    report = pets.report()
    drawn = bb.plots.plot_debias_report(report)
    contrast, bias = (axes for axes in drawn.axes if axes.get_visible())
    places = [axes.get_subplotspec().colspan.start for axes in (contrast, bias)]  # type: ignore[union-attr]
    assert places == [0, 0], "a narrow screen shows every panel whole"
    assert [label.get_text() for label in contrast.get_yticklabels()] == ["original", "linear", "weak"]
    assert "lower is better" in bias.get_title(loc="left")
    rows = report.table[report.table["kind"] == "association"]
    points = [line for line in contrast.lines if line.get_marker() in ("o", "s")]
    assert [point.get_xdata()[0] for point in points] == rows["value"].tolist()
    filled = [point.get_markerfacecolor() == point.get_color() for point in points]
    settled = (rows["change_low"] > 0) | (rows["change_high"] < 0)
    assert filled == settled.tolist() == [False, True, False] * 2
    assert {to_rgba(point.get_color()) for point in points} == {to_rgba("#0072B2"), to_rgba("#D55E00")}


def test_something_else_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"bb\.debias_report"):
        bb.plots.plot_debias_report("report")  # type: ignore[arg-type]
