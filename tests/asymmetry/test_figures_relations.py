"""The figure of relations shows their means."""

from functools import cache

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from tests.asymmetry.made import made_norms, made_relations, made_vectors


@cache
def people() -> bb.asymmetry.Evocation:
    return bb.asymmetry.evocation(made_norms(), name="people")


def made_report(*, related: bool = True, sources: int = 2) -> bb.asymmetry.AsymmetryReport:
    vectors = {f"v{seed}": bb.asymmetry.static(made_vectors(seed)) for seed in range(sources)}
    return bb.asymmetry.report(people(), vectors, made_relations() if related else None, random_seed=1)


def test_points_and_lines_are_those_of_the_report() -> None:
    report = made_report()
    panels = bb.asymmetry.plot_relations(report).axes
    assert [axes.get_title() for axes in panels] == ["people", "v0", "v1"]
    names = [label.get_text().rpartition(" (")[0] for label in panels[0].get_yticklabels()]
    assert set(names) == {"IsA", "PartOf"}
    rows = report.relations.set_index(["source", "relation"])
    for axes in panels:
        points = {line.get_ydata()[0]: line for line in axes.lines if line.get_marker() in ("o", "s")}
        lines = {line.get_ydata()[0]: line.get_xdata() for line in axes.lines if line.get_linewidth() == 1.4}
        for y, relation in enumerate(names):
            row = rows.loc[(axes.get_title(), relation)]
            assert points[y].get_xdata()[0] == row["mean"]
            assert list(lines[y]) == [row["hdi_low"], row["hdi_high"]]
            filled = points[y].get_markerfacecolor() == points[y].get_color()
            assert filled == (row["hdi_low"] > 0 or row["hdi_high"] < 0)
            same = row["mean"] * rows.loc[("people", relation), "mean"] > 0
            assert points[y].get_marker() == ("o" if same else "s")


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ArgumentError, match=r"bb\.asymmetry\.report"):
        bb.asymmetry.plot_relations("report")  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="relations"):
        bb.asymmetry.plot_relations(made_report(related=False))


def test_six_sources_have_panels_in_two_rows() -> None:
    figure = bb.asymmetry.plot_relations(made_report(sources=6))
    figure.canvas.draw()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["people", *(f"v{seed}" for seed in range(6))]
    assert len({round(axes.get_position().y0, 2) for axes in shown}) == 2
