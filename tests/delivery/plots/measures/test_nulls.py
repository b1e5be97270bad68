"""Figures of null simulations: they show the numbers of the reports."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesbias.delivery.plots.measures.nulls import plot_false_positive_rates, plot_null
from bayesbias.delivery.plots.style import save_figure
from bayesbias.errors import ReportError
from bayesbias.reports.measures.false_positive_rates import METHODS, false_positive_rates
from bayesbias.reports.measures.null_simulation import null_share, simulate_null
from tests.refusals import refusals


@pytest.fixture(scope="module")
def null() -> Any:
    return simulate_null(samples=500, random_seed=1)


@pytest.fixture(scope="module")
def claims() -> Any:
    return false_positive_rates(samples=100, random_seed=1, methods=["weat", "t_test_preaveraged", "t_test_raw"])


def test_null_shows_every_sample_and_the_observed_value(null: Any, tmp_path: Path) -> None:
    figure = plot_null(null, observed={"effect_size": 1.2, "mac": 0.5})
    assert len(figure.axes) == 6
    for axes in figure.axes:
        assert sum(patch.get_height() for patch in axes.patches) == pytest.approx(1)
        assert axes.get_xlabel()
    effect, _, _, mac = figure.axes[:4]
    assert list(effect.lines[0].get_xdata()) == [1.2, 1.2]
    assert mac.get_xlim()[0] < 0.5  # an observed value far outside is still shown
    share = null_share(null, effect_size=1.2)["share"][0]
    assert f"{100 * share:.2g}%" in effect.get_title()
    assert "500 samples of 8 + 8" in figure.get_suptitle()
    assert save_figure(figure, tmp_path / "null.png").stat().st_size > 20_000


def test_null_without_observed(null: Any) -> None:
    assert not any(axes.get_title() for axes in plot_null(null).axes)


test_refusals = refusals(
    (lambda: plot_null("null"), ReportError, "simulate_null"),
    (lambda null: plot_null(null, observed={"p_value": 0.1}), ReportError, "'p_value'"),
    (lambda: plot_false_positive_rates(), ReportError, "false_positive_rates"),
    (lambda claims: plot_false_positive_rates(claims.rates), ReportError, "false_positive_rates"),
    (
        lambda claims: plot_false_positive_rates(claims, replace(claims, rates=claims.rates.iloc[:2])),
        ReportError,
        "methods",
    ),
)


def test_false_claims_shows_rates_and_nominal_rates(claims: Any) -> None:
    figure = plot_false_positive_rates(claims, claims)
    assert len(figure.axes) == 2
    for axes in figure.axes:
        points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
        ticks = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
        assert sorted(points) == pytest.approx(sorted(claims.rates["rate"]))
        assert ticks == pytest.approx([0.05] * len(claims.rates))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "weat, p < 0.05, one-sided"
    heights = figure.axes[0].get_yticks()
    assert len(np.unique(heights)) == len(claims.rates) == len(labels)


def test_false_claims_has_room_for_every_method() -> None:
    """The names of all methods and rules stand whole, inside the figure, and none upon another."""
    claims = false_positive_rates(samples=2, random_seed=1)
    figure = plot_false_positive_rates(claims, claims, claims)
    figure.draw_without_rendering()  # lays out
    labels = figure.axes[0].get_yticklabels()
    assert {label.get_text().split(", ")[0] for label in labels} == set(METHODS[:-1])
    assert not any("…" in label.get_text() for label in labels)
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0
