"""Gaps over periods."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.statements import percent_text
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    furnish,
    new_figure,
    short_label,
    title_figure,
)
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.periods.trend import Trend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More labels below the axis would overlap.
_MOST_LABELS = 10


def plot_trend(trend: Trend) -> "Figure":
    """Draw the gap in each period with its interval, and the plain differences.

    Parameters
    ----------
    trend
        A trend from `bayesbias.trend`.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per contrast: posterior means (points) and HPDIs (lines) in units of cosine distance, and plain
        differences of averages (crosses); a point is filled if its interval excludes 0.

    Raises
    ------
    ArgumentError
        If `trend` is not a trend.

    Examples
    --------
    >>> moved = bb.trend(bb.bundled("data", "vectors", "planted_drift"), "weat6", random_seed=1)
    >>> len(bb.plots.plot_trend(moved).axes)
    3
    """
    check_type("trend", trend, Trend, "what trend returned")
    overall = trend.gaps[trend.gaps["protected_group"] == ""]
    contrasts = list(dict.fromkeys(overall["contrast"]))
    times = np.asarray(trend.facts["times"])
    figure = new_figure(6.4, 1.3 + 2.3 * len(contrasts))
    panels = figure.subplots(len(contrasts), 1, sharex=True, squeeze=False).ravel()
    for axes, contrast in zip(panels, contrasts, strict=True):
        rows = overall[overall["contrast"] == contrast]
        other = contrast_sides(contrast)[1]
        color = COLORS[other]
        axes.axhline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
        axes.plot(times, rows["mean"], color=color, linewidth=0.8, alpha=0.5)
        axes.vlines(times, rows["hdi_low"], rows["hdi_high"], color=color, linewidth=2.2)
        for time, mean, low, high in zip(times, rows["mean"], rows["hdi_low"], rows["hdi_high"], strict=True):
            filled = color if settled(low, high) else "white"
            axes.plot(time, mean, MARKERS[other], color=color, markersize=6.5, markerfacecolor=filled)
        axes.plot(times + 0.02 * np.ptp(times), rows["observed"], "x", color="black", markersize=5)
        axes.set_ylabel("Gap")
        axes.set_title(f"{contrast} (below 0: nearer)", fontsize=9, loc="left").set_parse_math(False)
        axes.locator_params(axis="y", nbins=5)
        furnish(axes, "y", small=True)
    step = -(-len(times) // _MOST_LABELS)
    labels = [short_label(name, 14) for name in trend.facts["periods"]]
    panels[-1].set_xticks(times[::step], labels[::step])
    margin = 0.06 * np.ptp(times)
    panels[-1].set_xlim(times[0] - margin, times[-1] + margin)
    for label in panels[-1].get_xticklabels():
        label.set_parse_math(False)
    prob = percent_text(trend.facts["hdi_prob"])
    title_figure(
        figure,
        "Difference of mean cosine distances by period\n"
        f"Points: posterior means ({prob} HPDI); filled: the interval leaves out 0; crosses: plain differences",
        size=8.5,
    )
    return figure
