"""The figure of changes: what is drawn is what its frames say."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.changes.compare import compare_embeddings
from bayesbias.changes.result import Changes
from bayesbias.delivery.plots.changes import plot_changes
from bayesbias.delivery.plots.style import COLORS, MARKERS, save_figure
from bayesbias.errors import ArgumentError, ReportError
from tests.changes.changed_tables import QUICK, before_table, changed_table
from tests.models.periods.made import made_tables


def made_comparison(words: tuple[str, ...] = ("he", "she", "king"), names: tuple[str, ...] = ("new",)) -> Changes:
    table = before_table(words)
    others = {name: changed_table(table, seed=seed) for seed, name in enumerate(names)}
    return compare_embeddings({"old": table, **others}, **QUICK)


@pytest.fixture(scope="module")
def comparison() -> Changes:
    return made_comparison(names=("new", "newer"))


def points(axes: Any) -> set[tuple[float, str, bool]]:
    """Where the markers stand, their colour, and whether they are filled."""
    return {
        (float(np.atleast_1d(line.get_xdata())[0]), line.get_color(), line.get_markerfacecolor() != "white")
        for line in axes.get_lines()
        if line.get_marker() in MARKERS.values()
    }


@pytest.mark.parametrize("name", ["new", "newer"])
def test_points_are_those_of_the_frames(comparison: Changes, name: str) -> None:
    top, middle, bottom = plot_changes(comparison, second=name).axes
    moved = comparison.changes[(comparison.changes["second"] == name) & (comparison.changes["protected_group"] == "")]
    distances = comparison.distances[
        (comparison.distances["second"] == name) & (comparison.distances["protected_word"] == "")
    ]
    for axes, frame in (
        (top, moved.assign(connection=moved["contrast"].str.removeprefix("associated - "))),
        (bottom, distances),
    ):
        assert points(axes) == {
            (row["mean"], COLORS[row["connection"]], not row["borderline"] and row["hdi_low"] * row["hdi_high"] > 0)
            for row in frame.to_dict("records")
        }
    contrasts = comparison.contrasts[
        (comparison.contrasts["protected_word"] == "") & (comparison.contrasts["protected_group"] == "")
    ]
    assert points(middle) == {
        (
            row["mean"],
            COLORS[row["contrast"].removeprefix("associated - ")],
            not row["borderline"] and row["hdi_low"] * row["hdi_high"] > 0,
        )
        for row in contrasts[contrasts["condition"].isin(["old", name])].to_dict("records")
    }
    assert top.get_title(loc="left") == f"Change of the contrast\n{name} minus old"
    assert middle.get_title(loc="left") == "Contrast"
    assert len(middle.get_yticklabels()) == 2


def test_a_borderline_change_is_hollow(comparison: Changes) -> None:
    doubtful = replace(comparison, changes=comparison.changes.assign(borderline=True))
    filled = [{point[2] for point in points(plot_changes(shown).axes[0])} for shown in (comparison, doubtful)]
    assert filled[1] == {False} != filled[0]


def test_periods_are_drawn_from_the_first_to_the_last() -> None:
    moved = bb.trend(made_tables(periods=3), draws=250, random_seed=1, progress=False)
    top, *_ = plot_changes(moved).axes
    ends = moved.changes[(moved.changes["first"] == "1900") & (moved.changes["second"] == "1920")]
    assert {x for x, *_ in points(top)} == set(ends.loc[ends["protected_group"] == "", "mean"])


def test_without_contrasts_the_change_of_distances_stands_alone() -> None:
    table = before_table(("he", "she"))
    table = table[table["connection"].isin(["human", "neutral"])].reset_index(drop=True)
    compared = compare_embeddings({"old": table, "new": changed_table(table)}, **QUICK)
    (axes,) = plot_changes(compared).axes
    distances = compared.distances
    assert {x for x, *_ in points(axes)} == set(distances["mean"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["All words", "he", "she"]


def test_no_interval_is_cut_off(comparison: Changes) -> None:
    for axes in plot_changes(comparison).axes:
        low, high = axes.get_xlim()
        drawn = [np.atleast_1d(line.get_xdata()) for line in axes.get_lines() if line.get_color() in COLORS.values()]
        assert low < np.concatenate(drawn).min()
        assert np.concatenate(drawn).max() < high


@pytest.mark.parametrize("count", [1, 2, 20])
def test_no_label_is_clipped_or_overlaps(count: int) -> None:
    words = tuple(f"$word_{number:02}" + "x" * (number % 30) for number in range(count))
    figure = plot_changes(made_comparison(words, ("a long name of an embedding that was debiased " * 2,)))
    figure.draw_without_rendering()
    box = figure.bbox
    for axes in figure.axes:
        labels = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        ordered = sorted(labels, key=lambda label: label.y0)
        assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(ordered))
        for text in (
            *axes.texts,
            axes.xaxis.label,
            axes.yaxis.label,
            axes.title,
            axes._left_title,
            *axes.get_yticklabels(),
        ):
            if text.get_text() and text.get_visible():
                extent = text.get_window_extent()
                assert extent.x0 >= 0
                assert extent.x1 <= box.x1
                assert extent.y0 >= 0
                assert extent.y1 <= box.y1
    for text in figure.texts:
        assert text.get_window_extent().x0 >= 0
        assert text.get_window_extent().x1 <= box.x1


def test_words_are_text(tmp_path: Path) -> None:
    figure = plot_changes(made_comparison(("$x_{", "a$b$"), ("$new_{",)))
    assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_nothing_changed(tmp_path: Path) -> None:
    table = before_table(("he", "she"))
    same = compare_embeddings({"old": table, "new": table.copy()}, **QUICK)
    figure = plot_changes(same)
    assert {(round(place, 12), filled) for place, _, filled in points(figure.axes[0])} == {(0.0, False)}
    save_figure(figure, tmp_path / "f.png")


def test_a_comparison_that_did_not_converge_is_marked(comparison: Changes) -> None:
    assert "NOT CONVERGED" not in plot_changes(comparison).get_suptitle()
    bad = replace(comparison, facts={**comparison.facts, "convergence_problems": ["R-hat is high."]})
    assert "NOT CONVERGED" in plot_changes(bad).get_suptitle()


def test_bad_input(comparison: Changes) -> None:
    with pytest.raises(ReportError, match=r"'newr'.*'newer'"):
        plot_changes(comparison, second="newr")
    with pytest.raises(ArgumentError, match="compare_embeddings or trend"):
        plot_changes({})  # type: ignore[arg-type]


def test_points_are_the_contrasts_and_crosses_the_plain_differences() -> None:
    moved = bb.trend(made_tables(periods=4), draws=400, random_seed=1, progress=False)
    (axes,) = bb.plots.plot_trend(moved).axes
    contrasts = moved.contrasts[(moved.contrasts["protected_group"] == "") & (moved.contrasts["protected_word"] == "")]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    np.testing.assert_allclose(crosses[0].get_ydata(), contrasts["observed"])
    segments = axes.collections[0].get_segments()
    np.testing.assert_allclose([part[:, 1] for part in segments], contrasts[["hdi_low", "hdi_high"]])
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
    assert first.get_title(loc="left").startswith("$x\n(below 0: with more, words lie nearer to associated words)")
    assert [label.get_text() for label in second.get_xticklabels()] == ["1900", "1910", "1920"]
    with pytest.raises(ReportError, match="word_covariates"):
        bb.plots.plot_slopes(bb.trend(tables, draws=400, random_seed=1, progress=False))


@pytest.mark.parametrize("plot", [bb.plots.plot_trend, bb.plots.plot_slopes])
def test_anything_else_is_refused(plot: Callable[[object], object]) -> None:
    with pytest.raises(ArgumentError, match="trend"):
        plot("trend")


def test_lines_and_labels(short_fit: xr.DataTree) -> None:
    comparison = bb.compare_trainings({1: short_fit, 2: short_fit}, level="word", random_seed=1)
    axes = bb.plots.plot_trainings(comparison).axes[0]
    rows = min(len(comparison.contrasts), 40)
    assert len(axes.get_yticklabels()) == rows
    assert len(axes.lines) == 1 + 2 * 3 * rows


def test_a_borderline_seed_is_hollow(short_fit: xr.DataTree) -> None:
    comparison = bb.compare_trainings({1: short_fit, 2: short_fit}, level="overall", random_seed=1)
    settled = comparison.by_seed.assign(hdi_low=-0.3, hdi_high=-0.1, borderline=False)
    filled = []
    for by_seed in (settled, settled.assign(borderline=True)):
        axes = bb.plots.plot_trainings(replace(comparison, by_seed=by_seed)).axes[0]
        seeds = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() == 3]
        filled.append({line.get_markerfacecolor() != "white" for line in seeds})
    assert filled == [{True}, {False}]
