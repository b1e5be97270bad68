"""Group means above, protected words below: the figure of the paper's appendix."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB
from bayesbias.models.fits import fit_fact
from bayesbias.plots.style import COLORS, DISTANCE_LABEL, MARKERS, connection_legend, new_figure, short_label, word_rows
from bayesbias.reports.posterior.summary import summary
from bayesbias.statements import percent_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 8.5
_INCHES_A_WORD = 0.34


def plot_connections(fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB) -> "Figure":
    """Draw the mean distance of all protected words to each kind of attribute word.

    Parameters
    ----------
    fit
        What `fit` returned.
    hdi_prob
        Probability inside the highest posterior density interval.

    Returns
    -------
    matplotlib.figure.Figure
        One panel: posterior means (points) and HPDIs (lines) in units of cosine distance.

    Examples
    --------
    >>> len(bb.plot_connections(fit).axes)
    1
    """
    frame = summary(fit, level="overall", hdi_prob=hdi_prob)
    figure = new_figure(_WIDTH, 3.0)
    axes = figure.subplots()
    _draw_groups(axes, frame)
    _finish(figure, fit, hdi_prob)
    return figure


def plot_words(fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB) -> "Figure":
    """Draw group means above and the means of the protected words below.

    Parameters
    ----------
    fit
        What `fit` returned.
    hdi_prob
        Probability inside the highest posterior density interval.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels with one x axis: posterior means (points) and HPDIs (lines) in units of cosine distance,
        coloured by connection. A hollow point is a word that has no pair of that connection in the table.
        The figure grows with the number of words.

    References
    ----------
    Dobrzeniecka and Urbaniak, appendix "Visualizations".

    Examples
    --------
    >>> len(bb.plot_words(fit).axes)
    2
    """
    frame = summary(fit, hdi_prob=hdi_prob)
    words = frame[frame["parameter"] == "word_mean"]
    heights = [1.5, _INCHES_A_WORD * words["protected_word"].nunique() + 0.5]
    figure = new_figure(_WIDTH, sum(heights) + 1.3)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    _draw_groups(top, frame)
    _draw_words(bottom, words)
    _finish(figure, fit, hdi_prob)
    return figure


def _draw_groups(axes: "Axes", frame: "pd.DataFrame") -> None:
    means = frame[frame["parameter"] == "connection_mean"].reset_index(drop=True)
    for y, row in enumerate(means.to_dict("records")):
        _interval(axes, row, y, size=7)
    axes.set_yticks(range(len(means)), means["connection"])
    axes.set_ylim(len(means) - 0.4, -0.6)
    axes.set_ylabel("All protected\nwords")
    _furnish(axes)


def _draw_words(axes: "Axes", words: "pd.DataFrame") -> None:
    order = words[["protected_group", "protected_word"]].drop_duplicates()
    by_group = {group: place for place, group in enumerate(dict.fromkeys(order["protected_group"]))}
    order = order.sort_values("protected_group", key=lambda groups: groups.map(by_group), kind="stable")
    place = {word: y for y, word in enumerate(order["protected_word"])}
    connections = list(dict.fromkeys(words["connection"]))
    offsets = dict(zip(connections, np.linspace(-0.27, 0.27, len(connections)), strict=True))
    for row in words.to_dict("records"):
        _interval(axes, row, place[row["protected_word"]] + offsets[row["connection"]], size=4)
    word_rows(axes, list(place), order["protected_group"].tolist())
    axes.set_ylabel("Each protected word")
    _furnish(axes)


def _interval(axes: "Axes", row: dict[Hashable, Any], y: float, *, size: float) -> None:
    color = COLORS[row["connection"]]
    axes.plot([row["hdi_low"], row["hdi_high"]], [y, y], color=color, linewidth=size / 3, solid_capstyle="butt")
    axes.plot(
        row["mean"],
        y,
        MARKERS[row["connection"]],
        color=color,
        markersize=size,
        markerfacecolor=color if row["pairs"] else "white",
    )


def _furnish(axes: "Axes") -> None:
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    for label in axes.get_yticklabels():
        # A word is text and not mathematics, even if it holds a dollar sign.
        label.set_parse_math(False)


def _finish(figure: "Figure", fit: "xr.DataTree", hdi_prob: float) -> None:
    """Add the line at 1, the axis label, the title and the legend."""
    low, high = figure.axes[-1].get_xlim()
    if low < 1 < high:
        for axes in figure.axes:
            axes.axvline(1, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
    figure.axes[-1].set_xlabel(DISTANCE_LABEL)

    table, model = fit_fact(fit, "table"), fit_fact(fit, "model")
    embedding = table.get("embedding", {}).get("name", table.get("source", "a table of one's own"))
    what = f"{table['study']} in {embedding}" if "study" in table else embedding
    title = figure.suptitle(
        f"{short_label(what, 60)}\nposterior means and {percent_text(hdi_prob)} HPDI, "
        f"model {short_label(model['name'])}",
        fontsize=11,
    )
    if fit_fact(fit, "convergence_problems"):
        title.set_text(f"{title.get_text()}\nNOT CONVERGED: do not report")
        title.set_color("#B00020")
    title.set_parse_math(False)
    connections = list(map(str, fit["constant_data"].to_dataset()["connection"].values))
    connection_legend(figure, connections, "Attribute words, by their connection to the protected word")
