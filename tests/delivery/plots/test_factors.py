"""The figure of means of crossed factors."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.errors import ArgumentError
from bayesbias.reports.posterior.factor_effects import FactorEffects
from tests.reports.posterior.made_factors import HOSTILE, made_fit, made_study


def _effects(*shape: int, **sections: object) -> FactorEffects:
    return bb.factor_effects(made_fit(made_study(shape, prefix=HOSTILE, **sections)))  # type: ignore[arg-type]


def _points(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(line.get_xydata()) for axes in figure.axes for line in axes.lines if line.get_marker() != "None"]


def test_points_are_the_means_of_the_cells_with_a_line_for_each_level() -> None:
    effects = _effects(2, 3)
    figure = bb.plots.plot_factor_means(effects)
    (axes,) = figure.axes
    means = effects.cells["mean"].to_numpy().reshape(2, 3)
    lines = _points(figure)
    assert np.column_stack([line[:, 1] for line in lines]) == pytest.approx(means)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["l0", "l1"]
    assert axes.get_xlabel() == f"{HOSTILE}f0"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["l0", "l1", "l2"]
    segments = [one.get_segments() for one in axes.collections]
    low = [float(segment[0][1]) for part in segments[::2] for segment in part]
    assert sorted(low) == pytest.approx(sorted(effects.cells["hdi_low"]))


def test_an_ordered_factor_is_on_the_axis_at_its_numbers() -> None:
    numbers = {"l0": 20.0, "l1": 30.0, "l2": 70.0}
    figure = bb.plots.plot_factor_means(_effects(2, 3, trends={f"{HOSTILE}f1": numbers}))
    lines = _points(figure)
    assert len(lines) == 2
    assert np.mean([line[:, 0] for line in lines], axis=0) == pytest.approx([20, 30, 70])


def test_further_factors_and_leans_have_panels() -> None:
    assert len(bb.plots.plot_factor_means(_effects(2, 2, 3)).axes) == 3
    figure = bb.plots.plot_factor_means(_effects(2, lists=("a", "b", "c")))
    assert [axes.get_title() for axes in figure.axes] == ["a - b", "a - c", "b - c"]
    assert not figure.legends
    many = bb.plots.plot_factor_means(_effects(2, 2, 5, lists=("a", "b", "c")))
    assert len(many.axes) == 12
    assert "(12 of 15 panels)" in many.get_suptitle()


def test_mathematics_in_names_stays_text() -> None:
    with mpl.rc_context({"text.usetex": False}):
        figure = bb.plots.plot_factor_means(_effects(2, 2))
    assert not any(text.get_parse_math() for text in figure.axes[0].get_xticklabels())


def test_what_is_no_result_is_refused() -> None:
    with pytest.raises(ArgumentError, match="factor_effects"):
        bb.plots.plot_factor_means(3)  # type: ignore[arg-type]
