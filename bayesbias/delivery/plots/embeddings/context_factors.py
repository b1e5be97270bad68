"""Accuracy of the directions of a language model, by the contexts of the pairs."""

from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.base.checks import check_frame
from bayesbias.base.number_text import counted
from bayesbias.delivery.plots.style import furnish, new_figure, title_figure
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = ("factor", "low", "high", "pairs", "accuracy", "hdi_low", "hdi_high")
_AXES = {
    "contexts": "Contexts that hold both words",
    "distance": "Mean distance of the words, in characters",
}
_COLOR, _CHANCE = "#0072B2", "#999999"


def plot_context_factors(frame: pd.DataFrame) -> "Figure":
    """Draw the accuracy of the directions of a language model, by contexts and distances of the pairs.

    Parameters
    ----------
    frame
        A frame from `bb.asymmetry.context_factors`.

    Returns
    -------
    matplotlib.figure.Figure
        Accuracy of each group of pairs (point) with its interval (vertical line), and the range of contexts or
        distances of the group (horizontal line). The dashed line is chance. The scale of contexts is logarithmic.

    Raises
    ------
    ArgumentError, ReportError
        If `frame` is not a frame of `bb.asymmetry.context_factors`.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), figure 2.

    Examples
    --------
    >>> rows = [("contexts", 1, 9, 40, 0.6, 0.5, 0.7), ("distance", 5.0, 80.0, 40, 0.7, 0.6, 0.8)]
    >>> columns = ["factor", "low", "high", "pairs", "accuracy", "hdi_low", "hdi_high"]
    >>> len(bb.plots.plot_context_factors(pd.DataFrame(rows, columns=columns)).axes)
    2
    """
    check_frame("frame", frame, "what bb.asymmetry.context_factors returned")
    if not set(_COLUMNS) <= set(frame.columns) or frame.empty or not set(frame["factor"]) <= set(_AXES):
        raise ReportError(
            "context_factors: this is not what bb.asymmetry.context_factors returns: a frame with the columns "
            f"{', '.join(_COLUMNS)} and the factors {' and '.join(_AXES)}."
        )
    factors = list(dict.fromkeys(frame["factor"]))
    figure = new_figure(1.2 + 3.4 * len(factors), 3.6)
    panels = figure.subplots(1, len(factors), sharey=True, squeeze=False).ravel()
    for axes, factor in zip(panels, factors, strict=True):
        axes.axhline(0.5, color=_CHANCE, linewidth=1.0, linestyle="--", zorder=0)
        for row in frame[frame["factor"] == factor].to_dict("records"):
            middle = (row["low"] * row["high"]) ** 0.5 if factor == "contexts" else (row["low"] + row["high"]) / 2
            axes.plot([row["low"], row["high"]], [row["accuracy"]] * 2, color=_COLOR, linewidth=0.9)
            axes.plot([middle] * 2, [row["hdi_low"], row["hdi_high"]], color=_COLOR, linewidth=1.6)
            axes.plot(middle, row["accuracy"], "o", color=_COLOR, markersize=4.5)
        if factor == "contexts":
            axes.set_xscale("log")
            low, high = axes.get_xlim()
            digits = range(1, 10) if high < 5 * low else (1, 2, 5)
            ticks = [digit * 10**power for power in range(10) for digit in digits]
            ticks = [tick for tick in ticks if low <= tick <= high]
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
        axes.set_xlabel(_AXES[factor], fontsize=9)
        furnish(axes, "y", small=True)
    panels[0].set_ylabel("Share of correct directions", fontsize=9)
    title_figure(figure, f"{counted(frame.groupby('factor')['pairs'].sum().max(), 'pair')}, by their contexts", size=10)
    return figure
