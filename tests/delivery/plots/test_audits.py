"""The figures of an audit: what is drawn is what was found."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, QuadMesh
from matplotlib.colors import to_rgba

import bayesbias as bb
from bayesbias.delivery.plots.style import MOST_WORDS, save_figure
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.plans.record import Region
from tests.audits import debiased_pets as pets
from tests.audits.test_ranks import audit_of
from tests.delivery.plots.cut import cut_texts

KEYS = [(name, study, "weat") for name in ("first $x$", "second") for study in ("s", "t")]


def test_an_audit_has_a_panel_a_measure_and_a_point_a_row(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = {key: float(rng.normal()) for key in KEYS} | {("second", "s", "rnd"): 0.2}
    frame = audit_of(values, {KEYS[0]: rng.normal(size=100)})
    frame["reading"] = ["not settled", *[""] * 4]
    figure = bb.plots.plot_audit(frame)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left").split(" ")[0] for axes in shown] == ["WEAT:", "RND:"]
    points = [line for line in shown[0].lines if line.get_marker() in "os" and len(line.get_xdata()) == 1]
    assert sorted(float(line.get_xdata()[0]) for line in points) == sorted(
        frame["mean"].fillna(frame["observed"]).iloc[:4]
    )
    assert sum(line.get_markerfacecolor() == "white" for line in points) == 1
    assert save_figure(figure, tmp_path / "audit.png").stat().st_size > 1000


def test_ranks_stand_at_their_ranks() -> None:
    values = {key: float(place) for place, key in enumerate(KEYS)}
    errors = {key: {"one": 0.01 * place, "other": -0.01} for place, key in enumerate(KEYS)}
    figure = bb.plots.plot_ranks(bb.audits.rank(audit_of(values, {}, errors)))
    axes = figure.axes[0]
    assert [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"] == [1, 2]
    assert [text.get_text() for text in axes.texts] == ["over 0.99", "over 0.99"]
    with pytest.raises(ValueError, match=r"rank"):
        bb.plots.plot_ranks(5)  # type: ignore[arg-type]


def test_the_axis_reaches_the_edges_of_the_region_and_no_text_is_cut() -> None:
    keys = [(name, "s", "contrast") for name in ("first", "second")]
    rng = np.random.default_rng(1)
    frame = audit_of(dict.fromkeys(keys, 0.004), {key: rng.normal(0.004, 0.002, 100) for key in keys})
    frame[["reading", "quantity"]] = ["nearer", "associated - different"]
    frame[["hdi_low", "hdi_high"]] = [0.001, 0.008]
    frame.record = replace(frame.record, region=Region(-0.02, 0.02))  # type: ignore[attr-defined]
    figure = bb.plots.plot_audit(frame)
    low, high = figure.axes[0].get_xlim()
    assert low < -0.02
    assert high > 0.02
    assert cut_texts(figure) == []


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


def draws(low: float, high: float) -> np.ndarray:
    return np.linspace(low, high, 101)


def marked(figure: object) -> list[tuple[float, float]]:
    """Return column and row of the hatched cells."""
    patches = [part for part in figure.axes[0].collections if isinstance(part, FillBetweenPolyCollection)]  # type: ignore[attr-defined]
    return [tuple(part.get_paths()[0].get_extents().min.tolist()) for part in patches]  # type: ignore[misc]


def test_cells_hold_estimates_and_intervals_with_0_are_hatched() -> None:
    keys = [(embedding, study, "contrast") for embedding in ("A", "$B$") for study in ("s", "t")]
    settled, open_ = draws(-0.2, -0.1), draws(-0.1, 0.12)
    audit = audit_of(dict.fromkeys(keys, 0.0), dict(zip(keys, (settled, open_, -settled, settled), strict=True)))
    audit["reading"] = ["nearer", "not settled", "farther", "borderline"]
    figure = bb.plots.plot_heatmap(audit)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["-0.150", "0.010", "0.150", "-0.150"]
    assert marked(figure) == [(0, 1), (1, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["s", "t"]
    (mesh,) = (part for part in axes.collections if isinstance(part, QuadMesh))
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((-0.15, 0.15))
    red, _, blue, _ = mesh.cmap(mesh.norm(-0.15))
    assert red > 0.8 > 0.1 > blue, "orange: nearer, as the study says"


def test_values_of_one_sign_have_a_scale_of_their_own_and_no_marks() -> None:
    values = {("A", "s", "mac"): 0.6, ("A", "t", "mac"): 0.8, ("B", "s", "mac"): 0.7}
    figure = bb.plots.plot_heatmap(audit_of(values, {}), "mac")
    (mesh,) = (part for part in figure.axes[0].collections if isinstance(part, QuadMesh))
    assert (mesh.norm.vmin, mesh.norm.vmax) == (0.6, 0.8)
    assert np.isnan(np.ma.filled(mesh.get_array(), np.nan)[1, 1]), "B has no answer to t"
    assert marked(figure) == []


def test_an_interval_with_0_is_hatched_though_all_estimates_are_positive() -> None:
    keys = [("A", "s", "weat"), ("B", "s", "weat")]
    audit = audit_of(dict.fromkeys(keys, 0.5), {keys[0]: draws(-0.5, 1.5), keys[1]: draws(1, 2)})
    assert marked(bb.plots.plot_heatmap(audit, "weat")) == [(0, 0)]


def test_too_many_questions_are_cut_and_another_measure_is_refused() -> None:
    audit = audit_of({("A", f"s{number}", "mac"): 0.5 + number / 1000 for number in range(MOST_WORDS + 1)}, {})
    figure = bb.plots.plot_heatmap(audit, "mac")
    assert len(figure.axes[0].texts) == MOST_WORDS
    assert f"first {MOST_WORDS}" in figure.get_suptitle()
    with pytest.raises(ReportError, match=r"'weat'.*mac"):
        bb.plots.plot_heatmap(audit, "weat")
