"""The figure of log asymmetry ratios: a panel a source, a row a pair."""

import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from tests.asymmetry.made import made_norms, made_relations, made_vectors


@pytest.fixture(scope="module")
def source() -> bb.asymmetry.Evocation:
    return bb.asymmetry.evocation(made_norms(), name="people")


@pytest.fixture(scope="module")
def report(source: bb.asymmetry.Evocation) -> bb.asymmetry.AsymmetryReport:
    vectors = {"one": bb.asymmetry.static(made_vectors(2)), "two": bb.asymmetry.static(made_vectors(3))}
    return bb.asymmetry.report(source, vectors, made_relations(), random_seed=1)


def test_the_figure_has_a_panel_a_source_and_a_row_a_pair(report: bb.asymmetry.AsymmetryReport) -> None:
    figure = bb.plots.plot_asymmetry(report, relation="IsA")
    assert [axes.get_title() for axes in figure.axes] == ["people", "one", "two"]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    pairs = report.ratios[(report.ratios["source"] == "people") & (report.ratios["relation"] == "IsA")]
    assert len(labels) == min(40, len(pairs))
    assert all(" → " in label for label in labels)
    # A line at 0, and for each pair an interval and a point.
    assert [len(axes.lines) for axes in figure.axes] == [1 + 2 * len(labels)] * 3
    assert "IsA" in figure.get_suptitle()
    with pytest.raises(MeasureError, match="'Is'"):
        bb.plots.plot_asymmetry(report, relation="Is")


def test_ten_sources_have_panels_in_two_rows(source: bb.asymmetry.Evocation) -> None:
    """As many as the language models of the paper's table 3."""
    many = {f"v{seed}": bb.asymmetry.static(made_vectors(seed)) for seed in range(10)}
    figure = bb.plots.plot_asymmetry(bb.asymmetry.report(source, many, random_seed=1))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["people", *many]
    figure.canvas.draw()
    assert len({round(axes.get_position().y0, 2) for axes in shown}) == 2
    assert len(shown[0].get_yticklabels()) == 20
    assert shown[6].get_yticklabels()[0].get_text() == shown[0].get_yticklabels()[0].get_text() != ""
