"""The map of a measure: numbers, scale and marks of its cells."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, QuadMesh

import bayesbias as bb
from bayesbias.delivery.plots.style import MOST_WORDS
from bayesbias.errors import ReportError
from tests.reports.audits.test_ranks import audit_of


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
    audit["conclusion"] = ["nearer", "not settled", "farther", "borderline"]
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
