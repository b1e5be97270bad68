"""Figures: what is drawn is what the reports say."""

from itertools import pairwise
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.plots.style import COLORS, MARKERS, save_figure
from bayesbias.errors import FigureWarning, OutputError
from tests.reports.made import CONNECTIONS, made_fit


def drawn_points(axes: matplotlib.figure.Axes) -> list[tuple[float, str]]:
    return [
        (float(np.atleast_1d(line.get_xdata())[0]), line.get_color())
        for line in axes.get_lines()
        if line.get_marker() in MARKERS.values()
    ]


def test_points_and_colours_are_those_of_the_summary() -> None:
    fit = made_fit(draws=200)
    figure = bb.plots.plot_words(fit)
    top, bottom = figure.axes
    for axes, level, name in ((top, "overall", "connection_mean"), (bottom, "word", "word_mean")):
        frame = bb.summary(fit, level=level)
        frame = frame[frame["parameter"] == name]
        expected = {(row["mean"], COLORS[row["connection"]]) for row in frame.to_dict("records")}
        assert set(drawn_points(axes)) == expected
    assert len(bb.plots.plot_connections(fit).axes) == 1


def test_no_interval_is_cut_off() -> None:
    """Word means reach much farther than group means here."""
    figure = bb.plots.plot_words(made_fit(tuple("abcdef"), draws=200))
    for axes in figure.axes:
        low, high = axes.get_xlim()
        intervals = [line for line in axes.get_lines() if line.get_color() in COLORS.values()]
        drawn = np.concatenate([np.atleast_1d(line.get_xdata()) for line in intervals])
        assert low < drawn.min()
        assert drawn.max() < high


def test_a_fit_that_did_not_converge_is_marked() -> None:
    fit = made_fit(draws=50)
    assert "NOT CONVERGED" not in bb.plots.plot_words(fit).get_suptitle()
    fit.attrs["convergence_problems"] = '["R-hat is high."]'
    assert "NOT CONVERGED" in bb.plots.plot_words(fit).get_suptitle()


def test_characters_that_the_font_lacks_are_said_once(tmp_path: Path) -> None:
    figure = bb.plots.plot_words(made_fit(("医生", "护士"), draws=20))
    with pytest.warns(FigureWarning, match="lacks 4 characters") as caught:
        save_figure(figure, tmp_path / "f.png")
    assert len(caught) == 1


@pytest.mark.parametrize("count", [1, 15, 50])
def test_no_label_is_clipped_or_overlaps(count: int) -> None:
    words = tuple(f"$word_{number:02}" + "x" * (number % 30) for number in range(count))
    figure = bb.plots.plot_words(made_fit(words, draws=20))
    figure.draw_without_rendering()
    box = figure.bbox
    for axes in figure.axes:
        labels = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        assert all(label.x0 >= 0 and label.y0 >= 0 and label.y1 <= box.y1 for label in labels)
        ordered = sorted(labels, key=lambda label: label.y0)
        assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(ordered))
    for text in (*figure.texts, *[axes.xaxis.label for axes in figure.axes]):
        extent = text.get_window_extent()
        assert extent.x0 >= 0
        assert extent.x1 <= box.x1


def test_a_dollar_sign_is_text(tmp_path: Path) -> None:
    path = save_figure(bb.plots.plot_words(made_fit(("$x_{", "a$b$"), draws=20)), tmp_path / "f.png")
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_formats(ending: str, tmp_path: Path) -> None:
    path = save_figure(bb.plots.plot_connections(made_fit(draws=20)), tmp_path / f"f{ending}")
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(start)
    with pytest.raises(OutputError, match=r"\.png, \.svg, \.pdf"):
        save_figure(bb.plots.plot_connections(made_fit(draws=20)), tmp_path / "f.txt")
    assert [entry.name for entry in tmp_path.iterdir()] == [f"f{ending}"]


def test_colours_are_distinct_for_every_connection() -> None:
    assert set(COLORS) == set(MARKERS) == set(CONNECTIONS)
    assert len(set(COLORS.values())) == len(set(MARKERS.values())) == 4
