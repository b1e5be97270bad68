"""Figures of measures under a model: they show the numbers of the report."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.plots.measures.measures import plot_measure, plot_measure_words
from bayesbias.delivery.plots.style import save_figure
from bayesbias.errors import ReportError
from bayesbias.reports.measures.measure_posterior import measure_posterior


@pytest.fixture(scope="module")
def made(table: Any) -> Any:
    return bb.fit(table, "crossed_per_list", draws=300, chains=2, random_seed=1, progress=False)


@pytest.fixture(scope="module")
def weat(made: Any) -> Any:
    return measure_posterior(made, "weat", random_seed=1)


@pytest.mark.parametrize("name", ["weat", "weat_score", "mac", "ect"])
def test_each_statistic_has_a_panel_with_its_numbers(made: Any, name: str, tmp_path: Path) -> None:
    found = measure_posterior(made, name, random_seed=1)
    figure = plot_measure(found)
    assert len(figure.axes) == len(found.summary)
    for axes, row in zip(figure.axes, found.summary.to_dict("records"), strict=True):
        interval, observed = axes.lines
        assert list(interval.get_xdata()) == [row["null_low"], row["null_high"]]
        assert list(observed.get_xdata()) == [row["observed"]] * 2
        low, high = axes.get_xlim()
        assert low <= row["observed"] <= high
        assert f"observed {row['observed']:.3g}" in axes.get_title()
        assert axes.get_xlabel()
        draws = found.draws["null"].sel(statistic=row["statistic"]).to_numpy()
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
    assert [label for label in labels if label not in ("math", "arts")] == weat.words["word"].tolist()[1:]
    assert labels.count("math") == 2  # the group, and its word
    assert save_figure(figure, tmp_path / "words.png").stat().st_size > 10_000


def test_words_by_attribute_group(made: Any) -> None:
    found = measure_posterior(made, "mac", random_seed=1)
    (axes,) = plot_measure_words(found).axes
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
    with pytest.raises(ReportError, match="measure_posterior returned"):
        plot_measure("weat")  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="0 values of single words"):
        plot_measure_words(measure_posterior(made, "ect", random_seed=1))
