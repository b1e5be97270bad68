"""The figure of a comparison: what is drawn is what its frames say."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesbias.delivery.plots.embeddings.comparison import plot_embeddings
from bayesbias.delivery.plots.style import COLORS, MARKERS, save_figure
from bayesbias.errors import ReportError
from bayesbias.reports.embeddings.comparison import EmbeddingComparison, compare_embeddings
from tests.reports.embedding_tables import QUICK, before_table, changed_table


def made_comparison(words: tuple[str, ...] = ("he", "she", "king"), names: tuple[str, ...] = ("new",)) -> Any:
    table = before_table(words)
    others = {name: changed_table(table, seed=seed) for seed, name in enumerate(names)}
    return compare_embeddings({"old": table, **others}, "hierarchical", **QUICK)


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    found: EmbeddingComparison = made_comparison(names=("new", "newer"))
    return found


def points(axes: Any) -> set[tuple[float, str, bool]]:
    """Where the markers stand, their colour, and whether they are filled."""
    return {
        (float(np.atleast_1d(line.get_xdata())[0]), line.get_color(), line.get_markerfacecolor() != "white")
        for line in axes.get_lines()
        if line.get_marker() in MARKERS.values()
    }


@pytest.mark.parametrize("name", ["new", "newer"])
def test_points_are_those_of_the_frames(comparison: EmbeddingComparison, name: str) -> None:
    top, middle, bottom = plot_embeddings(comparison, other=name).axes
    gaps = comparison.gaps[comparison.gaps["embedding"] == name]
    gaps = gaps.assign(connection=gaps["contrast"].str.removeprefix("associated - "))
    differences = comparison.differences[comparison.differences["embedding"] == name]
    for axes, frame in ((top, gaps), (bottom, differences)):
        assert points(axes) == {
            (row["mean"], COLORS[row["connection"]], row["hdi_low"] > 0 or row["hdi_high"] < 0)
            for row in frame.to_dict("records")
        }
    overall = gaps[gaps["protected_word"] == ""].to_dict("records")
    assert points(middle) == {
        (row[f"{side}_gap"], COLORS[row["connection"]], side == "other")
        for row in overall
        for side in ("baseline", "other")
    }
    assert top.get_title(loc="left") == f"Difference of gaps\n{name} minus old"
    assert middle.get_title(loc="left") == f"Gap in old (hollow)\nand in {name} (filled)"


def test_without_gaps_the_difference_of_distances_stands_alone() -> None:
    table = before_table(("he", "she"))
    table = table[table["connection"].isin(["human", "neutral"])].reset_index(drop=True)
    compared = compare_embeddings({"old": table, "new": changed_table(table)}, "hierarchical", **QUICK)
    (axes,) = plot_embeddings(compared).axes
    frames = (compared.differences, compared.differences_by_word)
    assert {x for x, *_ in points(axes)} == {mean for frame in frames for mean in frame["mean"]}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["All protected words", "he", "she"]


def test_no_interval_is_cut_off(comparison: EmbeddingComparison) -> None:
    for axes in plot_embeddings(comparison).axes:
        low, high = axes.get_xlim()
        drawn = [np.atleast_1d(line.get_xdata()) for line in axes.get_lines() if line.get_color() in COLORS.values()]
        assert low < np.concatenate(drawn).min()
        assert np.concatenate(drawn).max() < high


@pytest.mark.parametrize("count", [1, 2, 20])
def test_no_label_is_clipped_or_overlaps(count: int) -> None:
    words = tuple(f"$word_{number:02}" + "x" * (number % 30) for number in range(count))
    figure = plot_embeddings(made_comparison(words, ("a long name of an embedding that was debiased " * 2,)))
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
    figure = plot_embeddings(made_comparison(("$x_{", "a$b$"), ("$new_{",)))
    assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_nothing_changed(tmp_path: Path) -> None:
    table = before_table(("he", "she"))
    same = compare_embeddings({"old": table, "new": table.copy()}, "hierarchical", **QUICK)
    figure = plot_embeddings(same)
    assert {point[::2] for point in points(figure.axes[0])} == {(0.0, False)}
    save_figure(figure, tmp_path / "f.png")


def test_a_comparison_that_did_not_converge_is_marked(comparison: EmbeddingComparison) -> None:
    assert "NOT CONVERGED" not in plot_embeddings(comparison).get_suptitle()
    bad = replace(comparison, facts={**comparison.facts, "convergence_problems": ["R-hat is high."]})
    assert "NOT CONVERGED" in plot_embeddings(bad).get_suptitle()


def test_bad_input(comparison: EmbeddingComparison) -> None:
    with pytest.raises(ReportError, match=r"no embedding 'newr' \(did you mean 'newer'\?\)"):
        plot_embeddings(comparison, other="newr")
    with pytest.raises(ReportError, match="not dict"):
        plot_embeddings({})  # type: ignore[arg-type]
