"""Gaps, and slopes on numbers of words, over periods."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import percent_text
from bayesbias.delivery.plots.style import (
    COLORS,
    MARKERS,
    as_text,
    furnish,
    new_figure,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import contrast_sides, settled
from bayesbias.reports.changes.result import Changes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More labels below the axis would overlap.
_MOST_LABELS = 10


def plot_trend(trend: Changes) -> "Figure":
    """Draw the gap in each period with its interval, and the plain differences.

    Parameters
    ----------
    trend
        What `bayesbias.trend` returned.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per contrast: posterior means (points) and HPDIs (lines) in units of cosine distance, and plain
        differences of averages (crosses); a point is filled if its interval excludes 0.

    Raises
    ------
    ArgumentError, ReportError
        If `trend` is not a trend.

    Examples
    --------
    >>> moved = bb.trend(bb.bundled("data", "vectors", "planted_drift"), "weat6", random_seed=1)
    >>> len(bb.plots.plot_trend(moved).axes)
    3
    """
    check_type("trend", trend, Changes, "what trend returned")
    _check_times(trend)
    overall = trend.gaps[(trend.gaps["protected_group"] == "") & (trend.gaps["protected_word"] == "")]
    contrasts = list(dict.fromkeys(overall["contrast"]))
    times = np.asarray(trend.facts["times"])
    figure = new_figure(6.4, 1.3 + 2.3 * len(contrasts))
    panels = figure.subplots(len(contrasts), 1, sharex=True, squeeze=False).ravel()
    for axes, contrast in zip(panels, contrasts, strict=True):
        _by_period(axes, times, overall[overall["contrast"] == contrast], contrast_sides(contrast)[1])
        axes.set_ylabel("Gap (cosine distance)")
        as_text(axes.set_title(f"{short_label(contrast, 60)} (below 0: nearer)", fontsize=9, loc="left"))
    _finish(figure, panels[-1], trend, "Difference of mean cosine distances by period", "plain differences")
    return figure


def _check_times(trend: Changes) -> None:
    if trend.facts["times"] is None:
        raise ReportError("The conditions of these changes are no periods. Draw them with plot_changes.")


def plot_slopes(trend: Changes) -> "Figure":
    """Draw the slope of the words' gaps on each covariate of words in each period.

    Parameters
    ----------
    trend
        A trend from `bayesbias.trend` with `word_covariates`.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per covariate, of the first contrast: posterior means (points) and HPDIs (lines) in units of cosine
        distance for one unit of the covariate, and slopes of the plain gaps (crosses); a point is filled if its
        interval excludes 0.

    Raises
    ------
    ArgumentError
        If `trend` is not a trend.
    ReportError
        If it has no covariates of words.

    Examples
    --------
    >>> folder = bb.bundled("data", "vectors", "planted_drift")
    >>> letters = {"letters": {word: len(word) for word in bb.load_study("weat6").words}}
    >>> moved = bb.trend(folder, "weat6", word_covariates=letters, random_seed=1)
    >>> len(bb.plots.plot_slopes(moved).axes)
    1
    """
    check_type("trend", trend, Changes, "what trend returned")
    if trend.slopes.empty:
        raise ReportError("The trend has no slopes. Give covariates of words: bb.trend(..., word_covariates=...).")
    slopes = trend.slopes[trend.slopes["quantity"] == "slope"]
    contrast = str(slopes["contrast"].iloc[0])
    first, second = contrast_sides(contrast)
    covariates = list(dict.fromkeys(slopes["covariate"]))
    figure = new_figure(6.4, 1.3 + 2.3 * len(covariates))
    panels = figure.subplots(len(covariates), 1, sharex=True, squeeze=False).ravel()
    rows_of_contrast = slopes[slopes["contrast"] == contrast]
    for axes, covariate in zip(panels, covariates, strict=True):
        rows = rows_of_contrast[rows_of_contrast["covariate"] == covariate]
        _by_period(axes, np.asarray(trend.facts["times"]), rows, second)
        axes.set_ylabel("Slope (distance per unit)")
        title = f"{short_label(covariate, 40)} (below 0: more of it, nearer to {short_label(first)})"
        as_text(axes.set_title(title, fontsize=9, loc="left"))
    _finish(
        figure, panels[-1], trend, f"Slope of the gap {contrast} on numbers of the words, by period", "plain slopes"
    )
    return figure


def _by_period(axes: "Axes", times: np.ndarray, rows: "pd.DataFrame", other: str) -> None:
    """Draw estimates by period, in the colour of the connection `other`."""
    color = COLORS[other]
    axes.axhline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
    axes.plot(times, rows["mean"], color=color, linewidth=0.8, alpha=0.5)
    axes.vlines(times, rows["hdi_low"], rows["hdi_high"], color=color, linewidth=2.2)
    for time, mean, low, high in zip(times, rows["mean"], rows["hdi_low"], rows["hdi_high"], strict=True):
        filled = color if settled(low, high) else "white"
        axes.plot(time, mean, MARKERS[other], color=color, markersize=6.5, markerfacecolor=filled)
    axes.plot(times + 0.02 * np.ptp(times), rows["observed"], "x", color="black", markersize=5)
    axes.locator_params(axis="y", nbins=5)
    furnish(axes, "y", small=True)


def _finish(figure: "Figure", lowest: "Axes", trend: Changes, title: str, crosses: str) -> None:
    """Label the periods and title the figure."""
    times = np.asarray(trend.facts["times"])
    step = -(-len(times) // _MOST_LABELS)
    labels = [short_label(name, 14) for name in trend.conditions]
    lowest.set_xticks(times[::step], labels[::step])
    lowest.set_xlabel("Period")
    margin = 0.06 * np.ptp(times)
    lowest.set_xlim(times[0] - margin, times[-1] + margin)
    for label in lowest.get_xticklabels():
        as_text(label)
    prob = percent_text(trend.facts["hdi_prob"])
    title_figure(
        figure,
        f"{title}\nPoints: posterior means ({prob} HPDI); filled: the interval leaves out 0; crosses: {crosses}",
        size=8.5,
    )
