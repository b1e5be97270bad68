"""The figure of log asymmetry ratios: a panel a source, a row a pair."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError, ReportError
from tests.asymmetry.made import made_norms, made_relations, made_vectors


@pytest.fixture(scope="module")
def source() -> bb.asymmetry.Evocation:
    return bb.asymmetry.evocation(made_norms(), name="people")


@pytest.fixture(scope="module")
def report(source: bb.asymmetry.Evocation) -> bb.asymmetry.AsymmetryReport:
    vectors = {"one": bb.asymmetry.static(made_vectors(2)), "two": bb.asymmetry.static(made_vectors(3))}
    return bb.asymmetry.report(source, vectors, made_relations(), random_seed=1)


def test_the_figure_has_a_panel_a_source_and_a_row_a_pair(report: bb.asymmetry.AsymmetryReport) -> None:
    figure = bb.asymmetry.plot_asymmetry(report, relation="IsA")
    assert [axes.get_title() for axes in figure.axes] == ["people", "one", "two"]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    pairs = report.ratios[(report.ratios["source"] == "people") & (report.ratios["relation"] == "IsA")]
    assert len(labels) == min(40, len(pairs))
    assert all(" → " in label for label in labels)
    # A line at 0, and for each pair an interval and a point.
    assert [len(axes.lines) for axes in figure.axes] == [1 + 2 * len(labels)] * 3
    assert "IsA" in figure.get_suptitle()
    with pytest.raises(MeasureError, match="'Is'"):
        bb.asymmetry.plot_asymmetry(report, relation="Is")


def test_ten_sources_have_panels_in_two_rows(source: bb.asymmetry.Evocation) -> None:
    """As many as the language models of the paper's table 3."""
    many = {f"v{seed}": bb.asymmetry.static(made_vectors(seed)) for seed in range(10)}
    figure = bb.asymmetry.plot_asymmetry(bb.asymmetry.report(source, many, random_seed=1))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["people", *many]
    figure.canvas.draw()
    assert len({round(axes.get_position().y0, 2) for axes in shown}) == 2
    assert len(shown[0].get_yticklabels()) == 20
    assert shown[6].get_yticklabels()[0].get_text() == shown[0].get_yticklabels()[0].get_text() != ""


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
    figure = bb.asymmetry.plot_accuracy_by_context(FOUND)
    contexts, distance = figure.axes
    assert contexts.get_xscale() == "log"
    assert [len(axes.lines) for axes in (contexts, distance)] == [1 + 3 * 2, 1 + 3]
    points = [line for line in contexts.lines if line.get_marker() == "o"]
    assert [line.get_ydata()[0] for line in points] == [0.6, 0.8]
    assert [line.get_xdata()[0] for line in points] == pytest.approx([3, 30])
    assert "70 pairs" in figure.get_suptitle()


def test_what_is_no_such_frame_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="frame="):
        bb.asymmetry.plot_accuracy_by_context(5)  # type: ignore[arg-type]
    for wrong in (FOUND[:0], FOUND.drop(columns="low"), FOUND.assign(factor="x")):
        with pytest.raises(ReportError, match="accuracy_by_context"):
            bb.asymmetry.plot_accuracy_by_context(wrong)


@cache
def made_report(*, related: bool = True) -> bb.asymmetry.AsymmetryReport:
    people = bb.asymmetry.evocation(made_norms(), name="people")
    vectors = {"$v$": bb.asymmetry.static(made_vectors(2))}
    return bb.asymmetry.report(people, vectors, made_relations() if related else None, random_seed=1)


def test_bars_are_the_shares_of_a_relation_s_pairs() -> None:
    report = made_report()
    figure = bb.asymmetry.plot_lar_distributions(report)
    names = report.ratios["relation"].value_counts().index.tolist()
    panels = np.array(figure.axes).reshape(len(names), 2)
    for row, name in enumerate(names):
        for column, source in enumerate(("people", "$v$")):
            of_source = report.ratios[report.ratios["source"] == source]
            values = of_source.loc[of_source["relation"] == name, "lar"].to_numpy()
            bars = panels[row, column].patches
            assert sum(bar.get_height() for bar in bars) == pytest.approx(1)
            above = sum(bar.get_height() for bar in bars if bar.get_x() >= 0)
            assert above == pytest.approx((values >= 0).mean())
            edges = [bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()]
            expected = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
            np.testing.assert_allclose([bar.get_height() for bar in bars], expected)
            colors = {bar.get_facecolor() for bar in bars if bar.get_x() >= 0}
            assert len(colors) == 1
            assert colors.isdisjoint({bar.get_facecolor() for bar in bars if bar.get_x() < 0})
            assert panels[row, column].lines[1].get_xdata()[0] == pytest.approx(np.median(values))
            assert f"{len(values)} pairs" in panels[row, column].get_title()
        assert name in panels[row, 0].get_ylabel()
    assert "$v$" in panels[-1, 1].get_xlabel()


def test_chosen_relations_and_pairs_without_relations() -> None:
    assert len(bb.asymmetry.plot_lar_distributions(made_report(), relations="IsA").axes) == 2
    assert len(bb.asymmetry.plot_lar_distributions(made_report(related=False)).axes) == 2
    with pytest.raises(MeasureError, match="'Is'"):
        bb.asymmetry.plot_lar_distributions(made_report(), relations=["Is"])
    with pytest.raises(ReportError, match="relations='IsA'"):
        bb.asymmetry.plot_lar_distributions(made_report(related=False), relations="IsA")
