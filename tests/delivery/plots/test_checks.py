"""Figures of checks: what is drawn is what the checks say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayesbias as bb
from bayesbias.delivery.plots import checks as plots
from bayesbias.delivery.plots.checks import plot_check, plot_prior_check
from bayesbias.delivery.plots.style import save_figure
from bayesbias.reports.checks.posterior_check import PosteriorCheck, check_posterior
from bayesbias.reports.checks.prior_check import check_prior
from tests.reports.made import made_fit, made_table


@pytest.fixture(scope="module")
def check(short_fit: xr.DataTree) -> PosteriorCheck:
    return check_posterior(short_fit, random_seed=1)


def assert_nothing_is_clipped(figure: Figure) -> None:
    figure.draw_without_rendering()
    texts = [*figure.texts, *figure.legends]
    texts += [text for axes in figure.axes for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)]
    if figure._suptitle is not None:
        texts.append(figure._suptitle)
    for text in texts:
        if isinstance(text, Text) and not text.get_text():
            continue
        box = text.get_window_extent()
        assert box.x0 >= -0.5
        assert box.x1 <= figure.bbox.x1 + 0.5
        assert box.y0 >= -0.5
        assert box.y1 <= figure.bbox.y1 + 0.5


def test_points_are_the_pairs_and_titles_the_coverage(check: PosteriorCheck) -> None:
    figure = plot_check(check)
    assert len(figure.axes) == 8
    for axes, row in zip(figure.axes[:4], check.coverage.iloc[1:].to_dict("records"), strict=True):
        pairs = check.pairs[check.pairs["connection"] == row["connection"]]
        points = next(line for line in axes.get_lines() if line.get_marker() == "o")
        assert sorted(zip(*points.get_data(), strict=True)) == sorted(
            zip(pairs["mean"], pairs["cosine_distance"], strict=True)
        )
        assert f"inside 89%: {row['inside_89']:.1%}, inside 50%: {row['inside_50']:.1%}" in axes.get_title()
        assert f"{row['pairs']:,} pairs" in axes.get_title()
    assert figure.axes[4].get_ylim()[1] > check.densities.query("connection != 'all'")[["observed", "high"]].max().max()
    every = check.coverage.iloc[0]
    assert f"{every['inside_89']:.1%} inside the 89% interval" in figure.get_suptitle()
    assert "832 pairs\n" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


def test_the_band_holds_the_points_that_are_inside(check: PosteriorCheck) -> None:
    axes = plot_check(check).axes[2]
    human = check.pairs[check.pairs["connection"] == "human"]
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(human["low_89"].min())
    assert band.max() == pytest.approx(human["high_89"].max())


def test_a_fit_is_checked_with_the_seed(short_fit: xr.DataTree, check: PosteriorCheck) -> None:
    assert plot_check(short_fit, random_seed=1).get_suptitle() == plot_check(check).get_suptitle()


def test_fewer_points_are_said(check: PosteriorCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "_MOST_POINTS", 300)
    assert "832 pairs, 640 of them drawn" in plot_check(check).get_suptitle()


def test_an_unconverged_fit_is_marked() -> None:
    fit = made_fit(draws=50)
    assert "NOT CONVERGED" not in plot_check(fit, random_seed=1).get_suptitle()
    fit.attrs["convergence_problems"] = '["R-hat is high."]'
    figure = plot_check(fit, random_seed=1)
    assert "NOT CONVERGED" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_connections(count: int, tmp_path: Path) -> None:
    connections = ("associated", "different", "human")[:count]
    figure = plot_check(made_fit(connections=connections, draws=50), random_seed=1)
    assert len(figure.axes) == 2 * count
    assert_nothing_is_clipped(figure)
    table = made_table(("he", "she"), connections)
    prior = plot_prior_check(check_prior(table, "hierarchical", samples=500, random_seed=1))
    assert len(prior.axes) == count + (2 if count > 1 else 1)
    assert_nothing_is_clipped(prior)
    assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_prior_figure() -> None:
    table = made_table(("he", "she"))
    check = check_prior(table, "crossed", random_seed=1)
    figure = plot_prior_check(check)
    assert f"{check.distances.loc[0, 'outside']:.1%} of the prior mass outside 0 to 2" in figure.get_suptitle()
    means = check.parameters[check.parameters["parameter"] == "connection_mean"]
    points = [line.get_xdata()[0] for line in figure.axes[4].get_lines() if line.get_marker() == "o"]
    assert points == means["observed"].tolist()
    lines = [line.get_xdata() for line in figure.axes[4].get_lines() if line.get_marker() != "o"]
    assert np.array(lines) == pytest.approx(means[["low", "high"]].to_numpy())
    assert_nothing_is_clipped(figure)
    again = plot_prior_check(table, "crossed", random_seed=1)
    assert again.get_suptitle() == figure.get_suptitle()


def test_a_dollar_sign_is_text(short_table: pd.DataFrame, tmp_path: Path) -> None:
    strange = short_table.copy()
    strange.attrs = {"bayesbias": {"source": "$x_{.csv"}}
    fit = bb.fit(strange, "hierarchical", draws=100, random_seed=1, progress=False)
    prior = check_prior(strange, samples=500, random_seed=1)
    for place, figure in enumerate((plot_check(fit, random_seed=1), plot_prior_check(prior))):
        assert "$x_{.csv" in figure.get_suptitle()
        assert save_figure(figure, tmp_path / f"{place}.png").stat().st_size > 1000
