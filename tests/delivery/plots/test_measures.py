"""Figures of measures under a model: they show the numbers of the report."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.plots.measures import plot_false_positive_rates, plot_measure, plot_measure_words, plot_null
from bayesbias.delivery.plots.style import save_figure
from bayesbias.errors import ReportError
from bayesbias.reports.measures.false_positive_rates import METHODS, false_positive_rates
from bayesbias.reports.measures.measure_posterior import measure_posterior
from bayesbias.reports.measures.null_simulation import null_share, simulate_null
from tests.refusals import refusals


@pytest.fixture(scope="module")
def made(table: Any) -> Any:
    return bb.fit(table, "crossed_per_list", draws=300, chains=2, random_seed=1, progress=False)


@pytest.fixture(scope="module")
def weat(made: Any) -> Any:
    return measure_posterior(made, "weat", random_seed=1)


@pytest.mark.parametrize("name", ["weat", "weat_score", "mac", "ect"])
def test_each_statistic_has_a_panel_with_its_numbers(made: Any, name: str, tmp_path: Path) -> None:
    posterior = measure_posterior(made, name, random_seed=1)
    figure = plot_measure(posterior)
    assert len(figure.axes) == len(posterior.summary)
    for axes, row in zip(figure.axes, posterior.summary.to_dict("records"), strict=True):
        interval, observed = axes.lines
        assert list(interval.get_xdata()) == [row["null_low"], row["null_high"]]
        assert list(observed.get_xdata()) == [row["observed"]] * 2
        low, high = axes.get_xlim()
        assert low <= row["observed"] <= high
        assert f"observed {row['observed']:.3g}" in axes.get_title()
        assert axes.get_xlabel()
        draws = posterior.draws["null"].sel(statistic=row["statistic"]).to_numpy()
        stairs = axes.patches[0].get_data()  # type: ignore[attr-defined]
        counts = np.histogram(draws, bins=stairs.edges)[0]
        np.testing.assert_allclose(stairs.values, counts / counts.max())
    assert "crossed_per_list" in figure.get_suptitle()
    assert save_figure(figure, tmp_path / "measure.png").stat().st_size > 10_000


def test_words_show_observed_values_and_intervals(weat: Any, tmp_path: Path) -> None:
    figure = plot_measure_words(weat)
    (axes,) = figure.axes
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    bars = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert points == weat.words["observed"].tolist()
    assert bars == weat.words[["hdi_low", "hdi_high"]].to_numpy().tolist()
    assert [patch.get_x() for patch in axes.patches] == weat.words["null_low"].tolist()  # type: ignore[attr-defined]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert [label for label in labels if label not in ("math", "arts")] == weat.words["protected_word"].tolist()[1:]
    assert labels.count("math") == 2  # the group, and its word
    assert save_figure(figure, tmp_path / "words.png").stat().st_size > 10_000


def test_words_by_attribute_group(made: Any) -> None:
    posterior = measure_posterior(made, "mac", random_seed=1)
    (axes,) = plot_measure_words(posterior).axes
    heads = [label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"]
    assert heads == ["math to male", "math to female", "arts to male", "arts to female"]
    assert "cosine distance" in axes.get_xlabel()


def test_words_are_text_and_no_formula(table: Any) -> None:
    odd = table.assign(protected_word=table["protected_word"].replace({"math": "$x_1$"}))
    odd.attrs = table.attrs
    made = bb.fit(odd, "hierarchical", draws=200, chains=2, random_seed=1, progress=False)
    (axes,) = plot_measure_words(measure_posterior(made, "weat", random_seed=1)).axes
    label = next(label for label in axes.get_yticklabels() if label.get_text() == "$x_1$")
    assert not label.get_parse_math()


def test_bad_input(made: Any) -> None:
    with pytest.raises(ReportError, match="measure_posterior"):
        plot_measure("weat")  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="0 values"):
        plot_measure_words(measure_posterior(made, "ect", random_seed=1))


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
