"""Figures of lattices: every cell, every mark, every word."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, QuadMesh

import bayesbias as bb
from bayesbias.delivery.plots.style import MOST_WORDS, save_figure
from bayesbias.delivery.plots.subspaces import plot_consistency, plot_lattice_spread, plot_lattices
from bayesbias.errors import ReportError
from bayesbias.metrics.subspaces.lattice import lattice, subset_consistency
from tests.audits.test_ranks import audit_of

RNG = np.random.default_rng(0)
FIRST, SECOND = ["a$b$", "b", "c", "d", "e"], ["v", "w", "x", "y", "z"]
EMBEDDING = bb.Embedding(words=(*FIRST, *SECOND), vectors=RNG.normal(size=(10, 6)) + 0.7)


def test_every_cell_is_drawn(tmp_path: Path) -> None:
    first, second = (lattice(EMBEDDING, words, metric="mean_cosine") for words in (FIRST, SECOND))
    figure = plot_lattices(first, second, titles=["one", "two"])
    images = [axes for axes in figure.axes if axes.images]
    assert len(images) == 4 * 2
    for place, axes in enumerate(images):
        size, drawn = place // 2 + 1, (first, second)[place % 2]
        assert (axes.images[0].get_array() == drawn.similarities[size]).all()
        low, high = axes.images[0].get_clim()
        cells = [one.similarities[size] for one in (first, second)]
        assert (low, high) == (min(map(np.min, cells)), max(map(np.max, cells)))
    assert images[0].get_title() == "one\na$b$, b, c, d, e"
    assert len(figure.axes) == 8 + 4  # a colour bar for each row
    assert {axes.get_ylabel() for axes in figure.axes if not axes.images} == {"similarity"}
    assert save_figure(figure, tmp_path / "lattices.png").stat().st_size > 20_000


def _marks(axes: object) -> tuple[int, int]:
    on, off = axes.lines  # type: ignore[attr-defined]
    assert (on.get_xdata() == on.get_ydata()).all()
    assert (off.get_xdata() != off.get_ydata()).all()
    return len(on.get_xdata()), len(off.get_xdata())


def test_marks_are_the_consistency_of_each_sub_list() -> None:
    for metric in ("mean_cosine", "canonical_subspace"):
        figure = plot_lattices(lattice(EMBEDDING, FIRST, metric=metric))
        consistent = subset_consistency(EMBEDDING, FIRST, metric).groupby("size")["consistent"].agg(["sum", "size"])
        marks = [_marks(axes) for axes in figure.axes if axes.images]
        assert [on for on, _ in marks] == consistent["sum"].tolist()
        assert [sum(both) for both in marks] == consistent["size"].tolist()
        assert (sum(off for _, off in marks) == 0) == (metric == "canonical_subspace")


def test_between_two_lists_nothing_is_marked() -> None:
    figure = plot_lattices(lattice(EMBEDDING, FIRST, SECOND, sizes=[2, 3]))
    assert not any(axes.lines for axes in figure.axes if axes.images)
    assert figure.axes[0].get_title() == "a$b$, b, c, d, e\nwith\nv, w, x, y, z"
    assert not figure.axes[0].title.get_parse_math()


def test_spread_shows_the_summary() -> None:
    metrics = ("canonical_subspace", "mean_squared_cosine")
    lattices = [lattice(EMBEDDING, FIRST, SECOND, metric=metric) for metric in metrics]
    figure = plot_lattice_spread(*lattices)
    (axes,) = figure.axes
    for place, drawn in enumerate(lattices):
        summary = drawn.summary()
        lines = axes.lines[place * 8 : (place + 1) * 8]
        assert [len(line.get_ydata()) for line in lines[:5]] == summary["pairs"].tolist()
        for line, column in zip(lines[5:], ("mean", "lowest", "highest"), strict=True):
            assert line.get_ydata().tolist() == summary[column].tolist()
    three = plot_lattice_spread(*lattices, lattices[0], titles=["p", "p", "q"])
    assert sum(axes.get_visible() for axes in three.axes) == 2


def test_consistency_shows_each_sub_list() -> None:
    frame = subset_consistency(EMBEDDING, FIRST)
    figure = plot_consistency(frame, frame, frame, titles=["p", "q", "r"])
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == 3
    for axes in panels:
        above, below = (points.get_offsets().data for points in axes.collections)
        assert len(above) + len(below) == 10 + 10 + 5  # single words are left out
        assert (above[:, 1] >= 0).all()
        assert (below[:, 1] < 0).all()
        assert len(below) == (~frame["consistent"]).sum() > 0
    assert all(axes.get_xlabel().startswith("Condition number") for axes in panels[1:])


def test_bad_input() -> None:
    within = lattice(EMBEDDING, FIRST)
    for plot in (plot_lattices, plot_lattice_spread):
        with pytest.raises(ReportError, match="lattice"):
            plot()
    with pytest.raises(ReportError, match="lattice"):
        plot_lattices("lattice")  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="sizes="):
        plot_lattices(within, lattice(EMBEDDING, FIRST, sizes=[2]))
    with pytest.raises(ReportError, match="metrics"):
        plot_lattices(within, lattice(EMBEDDING, FIRST, metric="mean_cosine"))
    with pytest.raises(ReportError, match="titles="):
        plot_lattices(within, titles=["one", "two"])
    with pytest.raises(ReportError, match="subset_consistency"):
        plot_consistency()
    with pytest.raises(ReportError, match="2 titles"):
        plot_consistency(subset_consistency(EMBEDDING, FIRST), titles=["one", "two"])


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
