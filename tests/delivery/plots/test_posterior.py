"""The forest of contrasts: every row is a row of `contrasts`."""

from itertools import pairwise
from pathlib import Path

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.patches import StepPatch

import bayesbias as bb
from bayesbias.delivery.plots import posterior as module
from bayesbias.delivery.plots.posterior import plot_distances
from bayesbias.delivery.plots.style import COLORS, MARKERS, save_figure
from bayesbias.errors import ArgumentError, FigureWarning, OutputError, ReportError
from bayesbias.reports.measures.mac_shares import mac_shares
from tests import third_group
from tests.delivery.plots.cut import cut_texts
from tests.delivery.plots.test_checks import assert_nothing_is_clipped
from tests.reports.made import CONNECTIONS, made_fit, made_table


def test_rows_are_all_groups_and_words(fit: xr.DataTree, tmp_path: Path) -> None:
    figure = bb.plots.plot_contrasts(fit, rope=0.02)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    frame = bb.contrasts(fit, level="all", rope=0.02)
    assert labels[:3] == ["All words", "math (group)", "arts (group)"]
    assert labels[3:] == frame.query("protected_word != ''")["protected_word"].drop_duplicates().tolist()
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() != "None"]
    points = [line for line in marks if line.get_marker() != "|"]
    crosses = [float(line.get_xdata()[0]) for line in marks if line.get_marker() == "|"]
    assert sorted(crosses) == pytest.approx(sorted(frame["observed"]))
    assert sorted(float(line.get_xdata()[0]) for line in points) == pytest.approx(sorted(frame["mean"]))
    settled = frame[((frame["hdi_low"] > 0) | (frame["hdi_high"] < 0)) & ~frame["borderline"]]
    assert sum(line.get_markerfacecolor() != "white" for line in points) == len(settled) > 0
    assert save_figure(figure, tmp_path / "forest.svg").read_bytes() == (
        save_figure(bb.plots.plot_contrasts(fit, rope=0.02), tmp_path / "again.svg").read_bytes()
    )


def test_many_rows_are_cut_and_it_is_said(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 8)
    figure = bb.plots.plot_contrasts(fit)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 8
    assert labels[:3] == ["All words", "math (group)", "arts (group)"]
    frame = bb.contrasts(fit, level="word")
    size = frame.assign(size=frame["mean"].abs()).groupby("protected_word", sort=False)["size"].max()
    assert set(labels[3:]) == set(size.nlargest(5).index)
    assert "8 of 19 rows, the words farthest from 0" in figure.get_suptitle()


@pytest.mark.parametrize("words", [True, False])
def test_no_text_is_cut(fit: xr.DataTree, words: bool) -> None:
    assert cut_texts(bb.plots.plot_contrasts(fit, rope=0.02, words=words)) == []


def test_a_group_without_a_side_has_no_marks() -> None:
    fit = bb.fit(third_group.table("none"), draws=100, random_seed=1, progress=False)
    labels = [label.get_text() for label in bb.plots.plot_contrasts(fit).axes[0].get_yticklabels()]
    assert labels[:3] == ["All words", "math (group)", "arts (group)"]
    assert not {"people (group)", *third_group.PEOPLE} & set(labels)


def test_a_difference_between_groups_alone_has_hollow_marks() -> None:
    """No group has both lists: nothing is measured on both sides, however far 0 is from the interval."""
    rows = third_group.table("").query("attribute_group == 'male'").copy()
    rows.loc[rows["connection"] == "associated", "cosine_distance"] -= 0.5
    fit = bb.fit(rows.drop(columns="cosine_similarity"), "hierarchical", draws=100, random_seed=1, progress=False)
    assert bb.contrasts(fit)["hdi_high"].lt(0).all()
    (axes,) = bb.plots.plot_contrasts(fit).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["All words"]
    points = [line for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() not in ("|", "None")]
    assert [line.get_markerfacecolor() for line in points] == ["white"]


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
    with pytest.warns(FigureWarning, match="4 characters") as caught:
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


def test_histograms_hold_all_pairs_and_the_band_is_that_of_mac(table: pd.DataFrame) -> None:
    figure = plot_distances(table)
    shares = mac_shares(table)
    for axes, row in zip(figure.axes, shares.shares.to_dict("records"), strict=True):
        histogram = next(patch for patch in axes.patches if isinstance(patch, StepPatch))
        similarity = table.loc[table["connection"] == row["connection"], "cosine_similarity"]
        heights, edges, _ = histogram.get_data()
        assert (heights * np.diff(edges)).sum() == pytest.approx(1)
        counts = np.histogram(similarity, edges)[0]
        assert heights * np.diff(edges) * len(similarity) == pytest.approx(counts, abs=1e-6)
        band = next(patch for patch in axes.patches if patch is not histogram)
        assert [band.get_x(), band.get_x() + band.get_width()] == pytest.approx([-shares.band, shares.band])
        shares_text = axes.texts[0].get_text()
        assert f"{row['inside']:.0%} inside the band" in shares_text
        assert f"{row['above']:.0%} nearer" in shares_text
    assert f"MAC of the table: {shares.mac:.3f}" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


def test_words_are_drawn_where_their_medians_are(table: pd.DataFrame) -> None:
    figure = plot_distances(table, by="protected_word", mac=0.859)
    words = mac_shares(table, level="word", mac=0.859).shares
    axes = figure.axes[0]
    markers = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
    drawn = {(line.get_color(), float(median)) for line in markers for median in line.get_xdata()}
    assert drawn == {(COLORS[row["connection"]], row["median"]) for row in words.to_dict("records")}
    assert [label.get_text() for label in axes.get_yticklabels()] == list(dict.fromkeys(words["protected_word"]))
    assert "0 ± 0.141" in figure.get_suptitle()
    assert "(MAC: 0.859)" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


@pytest.mark.parametrize("by", ["connection", "protected_word"])
def test_compared_tables_stand_side_by_side_in_one_band(table: pd.DataFrame, by: str) -> None:
    other = table[table["connection"] != "human"].assign(cosine_distance=lambda rows: rows["cosine_distance"] / 2 + 0.5)
    tables = {"$before_": table, "after": other.drop(columns="cosine_similarity")}
    figure = plot_distances(tables, by=by)
    band = mac_shares(table).band
    assert len(figure.axes) == (8 if by == "connection" else 2)
    for axes in figure.axes:
        spans = [patch.get_x() for patch in axes.patches if hasattr(patch, "get_x") and patch.get_width() > 0]
        assert any(start == pytest.approx(-band) for start in spans)
    assert [axes.get_title() for axes in figure.axes[:2]] == list(tables)
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert f"MAC of the first table: {1 - band:.3f}" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


def test_an_index_may_have_the_name_of_a_column() -> None:
    table = made_table(("he", "she"), ("associated", "neutral"))
    named = table.set_index(pd.Index(table["protected_word"], name="protected_word"))
    texts = [
        [text.get_text() for text in plot_distances(source, by="protected_word", mac=0.9).axes[0].texts]
        for source in (table, named)
    ]
    assert texts[0] == texts[1]
    assert named.index.name == "protected_word"


@pytest.mark.parametrize("by", ["connection", "protected_word"])
@pytest.mark.parametrize("connections", [("human",), ("associated", "neutral")])
def test_few_connections_long_and_strange_words(by: str, connections: tuple[str, ...], tmp_path: Path) -> None:
    table = made_table(("$a_{", "x" * 60, "<b>"), connections)
    table = table[~((table["protected_word"] == "<b>") & (table["connection"] == "neutral"))]
    figure = plot_distances(table, by=by, mac=0.9)
    assert_nothing_is_clipped(figure)
    assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_errors(table: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="'protected_word'"):
        plot_distances(table, by="protected_words")
    with pytest.raises(ReportError, match="mac="):
        plot_distances(table[table["connection"] == "human"])
