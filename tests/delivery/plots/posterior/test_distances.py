"""Figures of the data: histograms, bands and shares are those of the table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import StepPatch

from bayesbias.delivery.plots.posterior.distances import plot_distances
from bayesbias.delivery.plots.style import COLORS, save_figure
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.measures.mac_shares import mac_shares
from tests.delivery.plots.posterior.test_checks import assert_nothing_is_clipped
from tests.reports.made import made_table


def test_histograms_hold_all_pairs_and_the_band_is_that_of_mac(table: pd.DataFrame) -> None:
    figure = plot_distances(table)
    shares = mac_shares(table)
    for axes, row in zip(figure.axes, shares.shares.to_dict("records"), strict=True):
        histogram = next(patch for patch in axes.patches if isinstance(patch, StepPatch))
        similarity = table.loc[table["connection"] == row["connection"], "cosine_similarity"]
        heights, edges, _ = histogram.get_data()
        assert (heights * np.diff(edges)).sum() == pytest.approx(1)
        counts = np.histogram(similarity, edges)[0]
        assert heights * np.diff(edges) * len(similarity) == pytest.approx(counts, abs=1e-6)
        band = next(patch for patch in axes.patches if patch is not histogram)
        assert [band.get_x(), band.get_x() + band.get_width()] == pytest.approx([-shares.band, shares.band])
        shares_text = axes.texts[0].get_text()
        assert f"{row['inside']:.0%} inside the band" in shares_text
        assert f"{row['above']:.0%} nearer" in shares_text
    assert f"MAC of the table: {shares.mac:.3f}" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


def test_words_are_drawn_where_their_medians_are(table: pd.DataFrame) -> None:
    figure = plot_distances(table, by="protected_word", mac=0.859)
    words = mac_shares(table, level="word", mac=0.859).shares
    axes = figure.axes[0]
    markers = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
    drawn = {(line.get_color(), float(median)) for line in markers for median in line.get_xdata()}
    assert drawn == {(COLORS[row["connection"]], row["median"]) for row in words.to_dict("records")}
    assert [label.get_text() for label in axes.get_yticklabels()] == list(dict.fromkeys(words["protected_word"]))
    assert "0 ± 0.141" in figure.get_suptitle()
    assert "(MAC: 0.859)" in figure.get_suptitle()
    assert_nothing_is_clipped(figure)


def test_an_index_may_have_the_name_of_a_column() -> None:
    table = made_table(("he", "she"), ("associated", "neutral"))
    named = table.set_index(pd.Index(table["protected_word"], name="protected_word"))
    texts = [
        [text.get_text() for text in plot_distances(source, by="protected_word", mac=0.9).axes[0].texts]
        for source in (table, named)
    ]
    assert texts[0] == texts[1]
    assert named.index.name == "protected_word"


@pytest.mark.parametrize("by", ["connection", "protected_word"])
@pytest.mark.parametrize("connections", [("human",), ("associated", "neutral")])
def test_few_connections_long_and_strange_words(by: str, connections: tuple[str, ...], tmp_path: Path) -> None:
    table = made_table(("$a_{", "x" * 60, "<b>"), connections)
    table = table[~((table["protected_word"] == "<b>") & (table["connection"] == "neutral"))]
    figure = plot_distances(table, by=by, mac=0.9)
    assert_nothing_is_clipped(figure)
    assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_errors(table: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="'protected_word'"):
        plot_distances(table, by="protected_words")
    with pytest.raises(ReportError, match="mac="):
        plot_distances(table[table["connection"] == "human"])
