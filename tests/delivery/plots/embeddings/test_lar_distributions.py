"""The figure of distributions of log asymmetry ratios: against NumPy's histogram."""

from functools import cache

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError, ReportError
from tests.asymmetry.made import made_norms, made_relations, made_vectors


@cache
def made_report(*, related: bool = True) -> bb.asymmetry.AsymmetryReport:
    people = bb.asymmetry.evocation(made_norms(), name="people")
    vectors = {"$v$": bb.asymmetry.static(made_vectors(2))}
    return bb.asymmetry.report(people, vectors, made_relations() if related else None, random_seed=1)


def test_bars_are_the_shares_of_a_relation_s_pairs() -> None:
    report = made_report()
    figure = bb.plots.plot_lar_distributions(report, bins=10)
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
    assert len(bb.plots.plot_lar_distributions(made_report(), relations="IsA").axes) == 2
    assert len(bb.plots.plot_lar_distributions(made_report(related=False)).axes) == 2
    with pytest.raises(MeasureError, match="'Is'"):
        bb.plots.plot_lar_distributions(made_report(), relations=["Is"])
    with pytest.raises(ReportError, match="relations='IsA'"):
        bb.plots.plot_lar_distributions(made_report(related=False), relations="IsA")
