"""Canonical congruences with null intervals, and components of association tests under two metrics."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import check_frame
from bayesbias.delivery.plots.style import as_text, furnish, new_figure, panel_grid, short_label, title_figure
from bayesbias.errors import ReportError
from bayesbias.metrics.subspaces.randomisation_nulls import INTERVAL_PROB, RandomisationNulls

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OBSERVED, _COSINE = "#D55E00", "#CC79A7"
_BANDS = {"first": ("#0072B2", -0.3), "second": ("#E69F00", -0.1), "both": ("#009E73", 0.1)}
_COMPONENTS = {
    "a_c": ("A with C", "#D55E00", "o"),
    "b_d": ("B with D", "#0072B2", "s"),
    "a_d": ("A with D", "#E69F00", "^"),
    "b_c": ("B with C", "#009E73", "D"),
}
_METRICS = {"mcs": "Mean cosine similarity\n(-1 to 1)", "cca": "Canonical subspace metric\n(scaled: 0 to 1)"}


def plot_congruences(*nulls: RandomisationNulls, prob: float = INTERVAL_PROB) -> "Figure":
    """Draw canonical congruences of pairs of lists with prediction intervals of their null distributions.

    Parameters
    ----------
    *nulls
        Results of `randomisation_nulls`, or the four values of the result of `study_nulls`.
    prob
        Probability inside the prediction intervals.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per pair of lists. Diamonds: congruences; bars: prediction intervals, with the first list, the second
        list or both drawn at random; dashed line: the scaled canonical metric; dotted line: the mean cosine.

    Raises
    ------
    ReportError
        If an argument is not such a result, or there is none.

    References
    ----------
    Kindel (2023), Figure 3.

    Examples
    --------
    >>> vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> nulls = bb.metrics.study_nulls(vectors, "weat7", samples=100, random_seed=1)
    >>> len(bb.plots.plot_congruences(*nulls.values()).axes)
    4
    """
    if not nulls or any(not isinstance(list_pair, RandomisationNulls) for list_pair in nulls):
        raise ReportError("Nothing to draw: give what randomisation_nulls returned, at least once.")
    label = "Index of the congruence, from the largest"
    figure, panels = panel_grid(len(nulls), label, width=(6.2, 4.6), height=(1.6, 2.7), sharex=False)
    for axes, list_pair in zip(panels, nulls, strict=False):
        _draw_congruences(axes, list_pair, prob)
    figure.supylabel("Canonical congruence\n(cosine of a principal angle, 0 to 1)", fontsize=9)
    first = nulls[0]
    matched = f", matched on {first.match} (nearest {first.window:,})" if first.match else ""
    title_figure(
        figure,
        f"{short_label(first.embedding, 50)}\n{100 * prob:g}% prediction intervals of random words\n"
        f"({max(map(len, first.samples.values())):,} draws from {first.vocabulary:,} words{matched})",
        size=10,
    )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def plot_components(comparison: "pd.DataFrame") -> "Figure":
    """Draw the four components of association tests under two metrics, and the scores.

    Parameters
    ----------
    comparison
        A frame from `kindel_comparison`.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels with one row per study: the components by mean cosine and by the canonical metric, each with its
        own scale, and both scores, (A with C + B with D) - (A with D + B with C).

    Raises
    ------
    ReportError
        If an argument is not such a result, or there is none.

    References
    ----------
    Kindel (2023), Table 1.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> len(bb.plots.plot_components(bb.metrics.kindel_comparison(vectors, "weat7")).axes)
    3
    """
    needed = {"study", "weat_mcs", "weat_cca", *(f"{by}_{name}" for by in _METRICS for name in _COMPONENTS)}

    check_frame("comparison", comparison, "what kindel_comparison returned")
    if not len(comparison) or not needed <= set(comparison.columns):
        raise ReportError("Nothing to draw: give what kindel_comparison returned.")
    records = comparison.to_dict("records")
    figure = new_figure(10.5, 1.9 + 0.42 * len(records))
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (metric, label) in zip(panels, _METRICS.items(), strict=False):
        for y, row in enumerate(records):
            values = [row[f"{metric}_{name}"] for name in _COMPONENTS]
            axes.plot([min(values), max(values)], [y, y], color="#BBBBBB", linewidth=1, zorder=1)
            for value, (name, color, marker) in zip(values, _COMPONENTS.values(), strict=True):
                axes.plot(value, y, marker, color=color, markersize=6, linestyle="", label=name if y == 0 else None)
        axes.set_xlabel(label, fontsize=9)
        furnish(axes, "x", small=True)
    scores = panels[2]
    for shift, metric, color, marker in ((-0.13, "mcs", "#000000", "P"), (0.13, "cca", _COSINE, "X")):
        places = np.arange(len(records)) + shift
        name = {"mcs": "score by mean cosine", "cca": "score by the canonical metric"}[metric]
        scores.plot(comparison[f"weat_{metric}"], places, marker, color=color, markersize=6, label=name)
    scores.axvline(0, color="#4D4D4D", linewidth=0.8)
    scores.set_xlabel("Score\n(difference of similarities)", fontsize=9)
    furnish(scores, "x", small=True)
    names = [
        f"{short_label(str(row['study']), 30)}" + (f" ({row['lost_words']} lost)" if row.get("lost_words") else "")
        for row in records
    ]
    panels[0].set_yticks(range(len(records)), names)
    for text in panels[0].get_yticklabels():
        as_text(text)
    panels[0].set_ylim(len(records) - 0.5, -0.5)
    handles, labels = (a + b for a, b in zip(*(axes.get_legend_handles_labels() for axes in panels[1:]), strict=True))
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    return figure


def _draw_congruences(axes: "Axes", nulls: RandomisationNulls, prob: float) -> None:
    frame = nulls.frame(prob)
    frame = frame[frame["statistic"].str.startswith("congruence_")]
    congruences = [value for name, value in nulls.observed.items() if name.startswith("congruence_")]
    index = np.arange(1, len(congruences) + 1)
    labels = {"first": "first list drawn at random", "second": "second list drawn", "both": "both lists drawn"}
    for drawn, rows in frame.groupby("drawn", sort=False):
        color, offset = _BANDS[str(drawn)]
        axes.vlines(index + offset, rows["low"], rows["high"], color=color, linewidth=4, label=labels[str(drawn)])
    for name, style, color, label in (
        ("scaled", "--", _OBSERVED, "canonical metric, scaled"),
        ("mean_cosine", ":", _COSINE, "mean cosine"),
    ):
        axes.axhline(nulls.observed[name], color=color, linestyle=style, linewidth=1.5, label=label)
    axes.hlines(congruences, index - 0.36, index + 0.3, color=_OBSERVED, linewidth=0.9)
    axes.plot(index + 0.3, congruences, "D", color=_OBSERVED, markeredgecolor="white", markersize=6, label="congruence")
    as_text(axes.set_title(f"{short_label(nulls.lists[0])} with {short_label(nulls.lists[1])}", fontsize=9))
    axes.set_xticks(index)
    axes.set_xlim(0.4, len(index) + 0.6)
    furnish(axes, "y", small=True)
