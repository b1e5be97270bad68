"""Mean distances of all protected words and of each word, as in the appendix of the paper."""

from typing import TYPE_CHECKING

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.number_text import percent_text
from bayesbias.delivery.plots.style import (
    DISTANCE_LABEL,
    connection_legend,
    draw_estimate,
    furnish,
    new_figure,
    row_offsets,
    short_label,
    shown_words,
    title_figure,
    word_rows,
    words_by_group,
)
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.posterior.summary import summary

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
        A fit from `fit`.
    hdi_prob
        Probability inside the highest posterior density interval.

    Returns
    -------
    matplotlib.figure.Figure
        One panel: posterior means (points) and HPDIs (lines) in units of cosine distance.

    Examples
    --------
    >>> len(bb.plots.plot_connections(fit).axes)
    1
    """
    frame = summary(fit, level="overall", hdi_prob=hdi_prob)
    figure = new_figure(_WIDTH, 3.0)
    axes = figure.subplots()
    _draw_connections(axes, frame)
    _finish(figure, fit, hdi_prob)
    return figure


def plot_words(fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB) -> "Figure":
    """Draw the mean distances of all protected words above, and of each word below.

    Parameters
    ----------
    fit
        A fit from `fit`.
    hdi_prob
        Probability inside the highest posterior density interval.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels with one x axis: posterior means (points) and HPDIs (lines) in units of cosine distance,
        coloured by connection. A hollow point is a word without any pair of that connection in the table. Of more than
        200 words, those farthest from the mean are shown.

    References
    ----------
    Dobrzeniecka and Urbaniak, appendix "Visualizations".

    Examples
    --------
    >>> len(bb.plots.plot_words(fit).axes)
    2
    """
    frame = summary(fit, hdi_prob=hdi_prob)
    words, label = shown_words(frame[frame["parameter"] == "word_mean"], "mean")
    heights = [1.5, _INCHES_A_WORD * words["protected_word"].nunique() + 0.5]
    figure = new_figure(_WIDTH, sum(heights) + 1.3)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    _draw_connections(top, frame)
    _draw_words(bottom, words)
    bottom.set_ylabel(label)
    _finish(figure, fit, hdi_prob)
    return figure


def _draw_connections(axes: "Axes", frame: "pd.DataFrame") -> None:
    means = frame[frame["parameter"] == "connection_mean"].reset_index(drop=True)
    for y, row in enumerate(means.to_dict("records")):
        draw_estimate(axes, row, y, size=7, width=7 / 3, filled=row["pairs"])
    axes.set_yticks(range(len(means)), means["connection"])
    axes.set_ylim(len(means) - 0.4, -0.6)
    axes.set_ylabel("All protected\nwords")
    furnish(axes, "x", rows=True)


def _draw_words(axes: "Axes", words: "pd.DataFrame") -> None:
    groups = words_by_group(words)
    place = {word: y for y, word in enumerate(groups)}
    connections = list(dict.fromkeys(words["connection"]))
    offsets = dict(zip(connections, row_offsets(len(connections), 0.27), strict=True))
    for row in words.to_dict("records"):
        y = place[row["protected_word"]] + offsets[row["connection"]]
        draw_estimate(axes, row, y, size=4, width=4 / 3, filled=row["pairs"])
    word_rows(axes, list(groups), list(groups.values()))


def _finish(figure: "Figure", fit: "xr.DataTree", hdi_prob: float) -> None:
    """Add the line at 1, the axis label, the title and the legend."""
    low, high = figure.axes[-1].get_xlim()
    if low < 1 < high:
        for axes in figure.axes:
            axes.axvline(1, color="#999999", linewidth=0.9, linestyle="--", zorder=0)
    figure.axes[-1].set_xlabel(DISTANCE_LABEL)

    table, model = fit_attribute(fit, "table"), fit_attribute(fit, "model")
    embedding = table.get("embedding", {}).get("name", table.get("source", "a table of one's own"))
    what = f"{table['study']} in {embedding}" if "study" in table else embedding
    title_figure(
        figure,
        f"{short_label(what, 60)}\nposterior means and {percent_text(hdi_prob)} HPDI, "
        f"model {short_label(model['name'])}",
        converged=not fit_attribute(fit, "convergence_problems"),
    )
    connections = list(map(str, fit["constant_data"].to_dataset()["connection"].values))
    connection_legend(figure, connections, "Attribute words, by their connection to the protected word")
