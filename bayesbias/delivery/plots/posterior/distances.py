"""Distributions of the similarities of a table, by connection or by protected word."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_choice
from bayesbias.base.number_text import counted
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    connection_legend,
    furnish,
    new_figure,
    row_offsets,
    short_label,
    shown_words,
    title_figure,
    word_rows,
    words_by_group,
)
from bayesbias.reports.checks.posterior_check import source_name
from bayesbias.reports.measures.mac_shares import mac_shares
from bayesbias.tables.conversion import any_frame
from bayesbias.tables.schema import table_facts, validate_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BY = ("connection", "protected_word")
_INCHES_A_WORD = 0.34
_BINS = 60


@any_frame
def plot_distances(table: "pd.DataFrame", *, by: str = "connection", mac: float | None = None) -> "Figure":
    """Draw the similarities of a table with the band 0 +/- (1 - MAC).

    Parameters
    ----------
    table
        A distance table.
    by
        ``"connection"`` (default): a histogram per connection. ``"protected_word"``: per word and connection the
        median, with lines over 50 % (thick) and 89 % (thin) of the pairs; of more than 200 words, those farthest from
        the mean.
    mac
        MAC that sets the band, as for `mac_shares`.

    Returns
    -------
    matplotlib.figure.Figure
        Similarities (1 minus distance, -1 to 1) on the x axis, with the band shaded. Pairs to the right of the band are
        nearer than what MAC reads as bias; the shares inside and to the right are beside each connection.

    Raises
    ------
    TableError, ReportError
        As for `mac_shares`.

    References
    ----------
    Dobrzeniecka and Urbaniak, figure "Empirical distributions of cosine similarities".

    Examples
    --------
    >>> len(bb.plots.plot_distances(table).axes)
    4
    """
    check_choice("by", by, BY)
    by_connection = mac_shares(table, mac=mac)
    shares, band = by_connection.shares, by_connection.band
    if by == "connection":
        figure = new_figure(8.5, 1.35 * len(shares) + 1.7)
        panels = figure.subplots(len(shares), 1, squeeze=False, sharex=True)[:, 0]
        _draw_histograms(panels, validate_table(table), shares)
    else:
        words, label = shown_words(mac_shares(table, level="word", mac=mac).shares, "median")
        figure = new_figure(8.5, _INCHES_A_WORD * words["protected_word"].nunique() + 2.3)
        panels = np.array([figure.subplots()])
        _draw_words(panels[0], words)
        panels[0].set_ylabel(label)
    for axes in panels:
        axes.axvspan(-band, band, color="#F0E442", alpha=0.3, linewidth=0, zorder=0)
        axes.axvline(0, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
        furnish(axes, "x", rows=True)
    panels[-1].set_xlabel("Cosine similarity (0 = unrelated, 1 = same direction)")
    whose = "MAC" if mac is not None else "MAC of the table"
    source = short_label(source_name(table_facts(table)), 60)
    title_figure(
        figure,
        f"{source}\nband: 0 ± {band:.3f} = 1 - MAC ({whose}: {by_connection.mac:.3f})"
        f"{'; triangles: medians' if by == 'connection' else ''}",
    )
    return figure


def _draw_histograms(panels: np.ndarray, table: "pd.DataFrame", shares: "pd.DataFrame") -> None:
    similarity = table["cosine_similarity"].to_numpy()
    edges = np.linspace(similarity.min(), similarity.max() + 1e-9, _BINS + 1)
    for axes, row in zip(panels, shares.to_dict("records"), strict=True):
        name = row["connection"]
        connection_similarity = similarity[(table["connection"] == name).to_numpy()]
        density, _ = np.histogram(connection_similarity, edges, density=True)
        axes.stairs(density, edges, fill=True, color=COLORS[name], alpha=0.75)
        axes.plot(row["median"], 0, "^", color="black", markersize=6, clip_on=False)
        shares_text = (
            f"{name}, {counted(row['pairs'], 'pair')}\n{row['inside']:.0%} inside the band\n{row['above']:.0%} nearer"
        )
        axes.text(
            1.01, 0.95, shares_text, transform=axes.transAxes, ha="left", va="top", fontsize=9, color=COLORS[name]
        )
        axes.set_yticks([])
        axes.set_ylabel("Density", fontsize=9)
        axes.margins(x=0.02)


def _draw_words(axes: "Axes", words: "pd.DataFrame") -> None:
    groups = words_by_group(words)
    place = {word: y for y, word in enumerate(groups)}
    connections = [name for name in COLORS if name in set(words["connection"])]
    offsets = dict(zip(connections, row_offsets(len(connections), 0.3), strict=True))
    for name in connections:
        rows = words[words["connection"] == name]
        y = rows["protected_word"].map(place).to_numpy(float) + offsets[name]
        for low, high, width in (("low_89", "high_89", 0.9), ("low_50", "high_50", 2.4)):
            axes.hlines(y, rows[low], rows[high], color=COLORS[name], linewidth=width, capstyle="butt")
        axes.plot(rows["median"], y, MARKERS[name], color=COLORS[name], markersize=4)
    word_rows(axes, list(groups), list(groups.values()))
    title = "Median; lines hold 50% (thick) and 89% (thin) of a word's pairs"
    connection_legend(axes.figure, connections, title)
