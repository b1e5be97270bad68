"""Words on axes of opposite words."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_count, check_type
from bayesbias.base.number_text import counted, percent_text
from bayesbias.delivery.plots.style import (
    SERIES,
    Look,
    as_text,
    draw_interval,
    furnish,
    name_points,
    new_figure,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import is_settled
from bayesbias.reports.axes.projection import MOST_DRAWN, Projection, axis_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_FIRST, _SECOND, _OPEN = SERIES[0][0], SERIES[1][0], "#777777"


def plot_axis(projection: Projection, *, axis: str | None = None, most: int = MOST_DRAWN) -> "Figure":
    """Draw the words along an axis, with their intervals over pairs.

    Parameters
    ----------
    projection
        What `bayesbias.project` returned.
    axis
        Name of the axis; by default the first.
    most
        Largest number of words, at least 2.

    Returns
    -------
    matplotlib.figure.Figure
        One row per word, sorted. Points are circles to the side of the pairs' first words and squares to the other, and
        open where the interval reaches 0. Of more than `most` words, those farthest out at either end.

    Raises
    ------
    ArgumentError
        If `projection` is something else, has no such axis, or `most` is not usable.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> pairs = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("father", "mother"), ("son", "daughter")]
    >>> len(bb.plots.plot_axis(bb.project(vectors, ["nurse", "doctor"], pairs)).axes)
    1
    """
    check_type("projection", projection, Projection, "what project returned")
    name, every = axis_rows(projection, axis)
    every = every.sort_values("mean", kind="stable")
    places, half = np.arange(len(every)), check_count("most", most, least=2) // 2
    shown = every.take(places if len(every) <= most else np.r_[:half, -half:0])
    figure = new_figure(6.2, 0.21 * len(shown) + 1.8)
    axes = figure.subplots()
    axes.axvline(0, color="#4D4D4D", linewidth=0.8)
    for y, (mean, low, high) in enumerate(shown[["mean", "hdi_low", "hdi_high"]].to_numpy()):
        color = _color(low, high)
        marker = "o" if mean >= 0 else "s"
        draw_interval(axes, mean, (low, high), y, Look(color, marker, width=1.6), filled=is_settled(low, high))
    axes.set_yticks(range(len(shown)), [short_label(word) for word in shown["word"]])
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_xlabel("Mean cosine with the difference of a pair")
    furnish(axes, "x", small=True, rows=True)
    poles = projection.base_pairs[name][0]
    cut = f"; {len(shown)} of {len(every):,} words, those at the ends" if len(shown) < len(every) else ""
    title_figure(
        figure,
        f"{short_label(name)}: ← {short_label(poles[1])}    {short_label(poles[0])} →\n"
        f"{percent_text(projection.hdi_prob)} intervals over {counted(len(projection.base_pairs[name]), 'pair')}{cut}",
        size=10,
    )
    return figure


def plot_axes_map(projection: Projection, *, x: str | None = None, y: str | None = None) -> "Figure":
    """Draw the words on two axes as a map, with their intervals over pairs.

    Parameters
    ----------
    projection
        What `bayesbias.project` returned for at least two axes.
    x, y
        Names of the axes; by default the first and the second.

    Returns
    -------
    matplotlib.figure.Figure
        Points with a cross of both intervals. Words are named from the outside in, at most 60, where there is room.

    Raises
    ------
    ReportError
        If there is only one axis, or both are the same.
    ArgumentError
        If `projection` is something else, or has no such axis.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> mood = [("happy", "sad"), ("wonderful", "terrible"), ("love", "abuse"), ("heaven", "evil")]
    >>> gender = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("father", "mother")]
    >>> projection = bb.project(vectors, ["nurse", "doctor"], {"gender": gender, "mood": mood})
    >>> bb.plots.plot_axes_map(projection).axes[0].get_xlabel()
    '← she    gender    he →'
    """
    check_type("projection", projection, Projection, "what project returned")
    names = list(projection.scores)
    if len(names) < 2 or (x is not None and x == y):
        raise ReportError(f"A map needs two axes; the projection has {', '.join(names)}. Project words on two.")
    across, first = axis_rows(projection, x)
    up, second = axis_rows(projection, next(name for name in names if name != across) if y is None else y)
    both = first.merge(second, on=["word", "list"], suffixes=("_x", "_y"))
    figure = new_figure(6.4, 6.4)
    axes = figure.subplots()
    for draw in (axes.axhline, axes.axvline):
        draw(0, color="#4D4D4D", linewidth=0.8)
    axes.errorbar(
        both["mean_x"],
        both["mean_y"],
        xerr=_reach(both, "_x"),
        yerr=_reach(both, "_y"),
        fmt="o",
        markersize=4,
        color=_FIRST,
        ecolor="#B9CFDF",
        elinewidth=0.9,
    )
    scale = both[["mean_x", "mean_y"]].std(ddof=0).replace(0, 1).to_numpy()
    far = np.square(both[["mean_x", "mean_y"]].to_numpy() / scale).sum(axis=1)
    axes.margins(0.08)
    named = both.iloc[np.argsort(-far, kind="stable")[:MOST_DRAWN]]
    name_points(axes, named[["mean_x", "mean_y"]].to_numpy(), named["word"])
    for name, write in ((across, axes.set_xlabel), (up, axes.set_ylabel)):
        poles = [short_label(word, 16) for word in projection.base_pairs[name][0]]
        as_text(write(f"← {poles[1]}    {short_label(name)}    {poles[0]} →"))
    furnish(axes, "both", small=True)
    prob = percent_text(projection.hdi_prob)
    title_figure(figure, f"Mean cosines with the differences of pairs\n{prob} intervals over pairs", size=10)
    return figure


def _color(low: float, high: float) -> str:
    return _OPEN if not is_settled(low, high) else _FIRST if low > 0 else _SECOND


def _reach(both: "pd.DataFrame", side: str) -> "np.ndarray":
    """Return how far intervals reach below and above their points, shape (2, words)."""
    mean = both[f"mean{side}"]
    return np.stack([mean - both[f"hdi_low{side}"], both[f"hdi_high{side}"] - mean])
