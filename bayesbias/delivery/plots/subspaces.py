"""Figures of word lists as subspaces: lattices of sub-lists, congruences and components."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    as_text,
    furnish,
    new_figure,
    panel_grid,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.metrics.subspaces.canonical_subspace import KindelComparison
from bayesbias.metrics.subspaces.lattice import Lattice, SubsetConsistency
from bayesbias.metrics.subspaces.randomisation_nulls import INTERVAL_PROB, RandomisationNulls
from bayesbias.metrics.subspaces.similarity_metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00")
_RED, _BLACK = "#C00000", "#000000"
_CELL = 1.15
_BANDS = {"first": ("#0072B2", -0.3), "second": ("#E69F00", -0.1), "both": ("#009E73", 0.1)}
_COMPONENTS = {
    "a_c": ("A with C", "#D55E00", "o"),
    "b_d": ("B with D", "#0072B2", "s"),
    "a_d": ("A with D", "#E69F00", "^"),
    "b_c": ("B with C", "#009E73", "D"),
}
_METRICS = {"mcs": "Mean cosine similarity\n(-1 to 1)", "cca": "Canonical subspace metric\n(scaled: 0 to 1)"}


def plot_lattices(*lattices: Lattice, titles: Sequence[str] | None = None) -> "Figure":
    """Draw the similarities of all sub-lists: one column per lattice, one row per size.

    Parameters
    ----------
    *lattices
        Results of `lattice` with the same metric and sizes.
    titles
        Titles of the columns, above their words.

    Returns
    -------
    matplotlib.figure.Figure
        Heat maps; each row has one colour scale, with a bar on its right. In a lattice within a list, points mark the
        largest value of each row of cells: black on the diagonal, red off it. A consistent metric has no red points.

    Raises
    ------
    ReportError
        If there is nothing to draw, or the lattices differ in metric or sizes.

    References
    ----------
    Kindel (2023), Figure 1 (within a list) and Figure 2 (between two lists), heat maps.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> lattice = bb.metrics.lattice(vectors, ["he", "him", "his", "man"])
    >>> len(bb.plots.plot_lattices(lattice).axes)  # 3 sizes, each with a colour bar
    6
    """
    sizes = _sizes(lattices)
    if len({lattice.metric for lattice in lattices}) > 1:
        raise ReportError(
            "The lattices have different metrics and need different colour scales. Draw each metric separately."
        )
    names = _titles(titles, lattices)
    headings = [_heading(name, lattice) for name, lattice in zip(names, lattices, strict=True)]
    lines = max(heading.count("\n") + 1 for heading in headings)
    figure = new_figure(max(4.8, 1.9 + 1.45 * len(lattices)), 0.8 + 0.16 * lines + (_CELL + 0.12) * len(sizes))
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    panels = figure.subplots(len(sizes), len(lattices), squeeze=False)
    for size, row in zip(sizes, panels, strict=True):
        cells = [lattice.similarities[size] for lattice in lattices]
        scale = Normalize(min(float(part.min()) for part in cells), max(float(part.max()) for part in cells))
        for axes, lattice, values in zip(row, lattices, cells, strict=True):
            axes.imshow(values, norm=scale, cmap="viridis", aspect="auto", interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
            if lattice.within:
                _mark_largest(axes, values)
        row[0].set_ylabel(f"size {size}", fontsize=9)
        bar = figure.colorbar(ScalarMappable(scale, "viridis"), ax=list(row), pad=0.01, aspect=12)
        bar.ax.tick_params(labelsize=7)
        bar.set_label("similarity", fontsize=7)
    for axes, heading in zip(panels[0], headings, strict=True):
        as_text(axes.set_title(heading, fontsize=8))
    within = any(lattice.within for lattice in lattices)
    marks = (
        "points: the largest value of each row, red off the diagonal" if within else "rows: sub-lists of the first list"
    )
    figure.suptitle(f"{_label(lattices[0].metric, ' ')}: sub-lists of each size\n({marks})", fontsize=10)
    return figure


def plot_lattice_spread(*lattices: Lattice, titles: Sequence[str] | None = None) -> "Figure":
    """Draw the spread of the similarities of sub-lists by their size.

    Parameters
    ----------
    *lattices
        Results of `lattice`: one panel per pair of lists, one colour per metric.
    titles
        Titles, one per lattice; lattices with the same title share a panel. By default, those with the same words do.

    Returns
    -------
    matplotlib.figure.Figure
        Points: similarities. Solid lines: their means at each size; dashed lines: the largest and the smallest.

    Raises
    ------
    ReportError
        If an argument has the wrong type, or there is none.

    References
    ----------
    Kindel (2023), Figure 2, right panel: the mean of the squared cosines, which for single words equals the canonical
    metric.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> lists = ["he", "him", "his"], ["she", "her", "hers"]
    >>> metrics = "canonical_subspace", "mean_squared_cosine"
    >>> lattices = [bb.metrics.lattice(vectors, *lists, metric=metric) for metric in metrics]
    >>> len(bb.plots.plot_lattice_spread(*lattices).axes)
    1
    """
    _sizes(lattices[:1])
    names = _titles(titles, lattices)
    keys = [name or (lattice.words, lattice.other_words) for name, lattice in zip(names, lattices, strict=True)]
    places = list(dict.fromkeys(keys))
    metrics = list(dict.fromkeys(lattice.metric for lattice in lattices))
    if len(metrics) > len(_COLORS):
        raise ReportError(f"{len(metrics)} metrics are too many for one figure. Draw at most {len(_COLORS)}.")
    figure, panels = panel_grid(len(places), "Words of a sub-list", width=(5.4, 4.3), height=(0.9, 2.5))
    from matplotlib.lines import Line2D

    for key, name, lattice in zip(keys, names, lattices, strict=True):
        axes, metric_index = panels[places.index(key)], metrics.index(lattice.metric)
        _draw_spread(axes, lattice, _COLORS[metric_index], offset=(metric_index - (len(metrics) - 1) / 2) * 0.3)
        as_text(axes.set_title(_heading(name, lattice, width=62), fontsize=8))
    figure.supylabel("Similarity", fontsize=9)
    handles = [
        Line2D([], [], color=color, label=_label(name, " ")) for name, color in zip(metrics, _COLORS, strict=False)
    ]
    handles += [
        Line2D([], [], color="#4D4D4D", label="mean"),
        Line2D([], [], color="#4D4D4D", linestyle="--", label="largest and smallest"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def plot_consistency(*results: SubsetConsistency, titles: Sequence[str] | None = None) -> "Figure":
    """Draw whether sub-lists are more similar to themselves than to others, by their condition number.

    Parameters
    ----------
    *results
        Results of `subset_consistency`, one panel each.
    titles
        Titles of the panels, above the words of the list.

    Returns
    -------
    matplotlib.figure.Figure
        One point per sub-list of at least two words with a finite condition number; larger points have more words.
        Below the line at 0, a sub-list is more similar to another one than to itself. Compare points of one size only:
        among them, a lower number goes with more confusion (`validation/kindel`), but both grow with the size.

    Raises
    ------
    ReportError
        If an argument has the wrong type, or there is none.

    References
    ----------
    Kindel (2023), Figure 1, right panel: inconsistency is partially predictable from the condition number.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> len(bb.plots.plot_consistency(bb.metrics.subset_consistency(vectors, ["he", "him", "his", "man"])).axes)
    1
    """
    from matplotlib.ticker import LogLocator, NullLocator

    if not results or any(not isinstance(result, SubsetConsistency) for result in results):
        raise ReportError("Nothing to draw: give what subset_consistency returned, at least once.")
    if titles is not None and len(titles) != len(results):
        raise ReportError(f"There are {len(titles)} titles for {len(results)} results. Give one title per result.")
    label = "Condition number of the sub-list's cosine similarities"
    figure, panels = panel_grid(len(results), label, width=(5.4, 4.3), height=(0.9, 2.4))
    for place, (axes, result) in enumerate(zip(panels, results, strict=False)):
        frame = result.subsets
        shown = frame[(frame["size"] > 1) & np.isfinite(frame["condition_number"])]
        for consistent, color, marker, name in (
            (True, "#0072B2", "o", "most similar to itself"),
            (False, "#D55E00", "X", "more similar to another"),
        ):
            part = shown[shown["consistent"] == consistent]
            axes.scatter(
                part["condition_number"],
                part["self_similarity"] - part["nearest_similarity"],
                s=10 + 3 * part["size"],
                color=color,
                marker=marker,
                alpha=0.6,
                linewidths=0,
                label=name,
            )
        axes.axhline(0, color="#4D4D4D", linewidth=0.8)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        words = ", ".join(map(short_label, result.words))
        heading = [short_label(titles[place], 50)] if titles is not None else []
        as_text(axes.set_title("\n".join([*heading, fill(short_label(words, 150), 62)]), fontsize=8))
        furnish(axes, "y", small=True)
    metric = results[0].metric
    figure.supylabel(
        f"{METRICS[metric].title if metric in METRICS else metric}:\nto itself, less to the nearest other", fontsize=9
    )
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return figure


def _sizes(lattices: Sequence[Lattice]) -> list[int]:
    """Return the common sizes of lattices; raise `ReportError` if they differ."""
    if not lattices or any(not isinstance(lattice, Lattice) for lattice in lattices):
        raise ReportError("Nothing to draw: give what lattice returned, at least once.")
    sizes = [list(lattice.similarities) for lattice in lattices]
    if any(other != sizes[0] for other in sizes):
        raise ReportError("The lattices have sub-lists of different sizes. Make them with the same sizes=[...].")
    return sizes[0]


def _titles(titles: Sequence[str] | None, lattices: Sequence[Lattice]) -> list[str]:
    if titles is None:
        return [""] * len(lattices)
    if isinstance(titles, str) or len(titles) != len(lattices):
        raise ReportError(f"titles={titles!r}: give a list of {len(lattices)}, one per lattice.")
    return list(titles)


def _heading(title: str, lattice: Lattice, width: int = 22) -> str:
    lists = [lattice.words] if lattice.within else [lattice.words, lattice.other_words]
    words = [fill(short_label(", ".join(map(short_label, part)), 150), width) for part in lists]
    return "\n".join([*([short_label(title, width + 2)] if title else []), "\nwith\n".join(words)])


def _label(metric: str, between: str) -> str:
    return f"{METRICS[metric].title}{between}({METRICS[metric].range})" if metric in METRICS else metric


def _mark_largest(axes: "Axes", values: NDArray[np.floating[Any]]) -> None:
    rows, columns = np.arange(len(values)), values.argmax(axis=1)
    on = rows == columns
    size = max(1.2, 26 / len(values))
    axes.plot(columns[on], rows[on], ".", color=_BLACK, markersize=size, markeredgewidth=0)
    axes.plot(columns[~on], rows[~on], "o", color=_RED, markersize=1.6 * size, markeredgewidth=0)


def _draw_spread(axes: "Axes", lattice: Lattice, color: str, offset: float) -> None:
    summary = lattice.summary()
    for size, values in lattice.similarities.items():
        places = size + offset + np.linspace(-0.1, 0.1, values.size)
        axes.plot(places, values.ravel(), ",", color=color, alpha=0.25, rasterized=True)
    axes.plot(summary["size"] + offset, summary["mean"], "-o", color=color, markersize=3, linewidth=1.4)
    for end in ("lowest", "highest"):
        axes.plot(summary["size"] + offset, summary[end], "--o", color=color, markersize=2, linewidth=0.9)
    axes.set_xticks(summary["size"])
    furnish(axes, "y", small=True)


_OBSERVED, _COSINE = "#D55E00", "#CC79A7"


def plot_congruences(*nulls: RandomisationNulls) -> "Figure":
    """Draw canonical congruences of pairs of lists with prediction intervals of their null distributions.

    Parameters
    ----------
    *nulls
        Results of `randomisation_nulls`, or the four values of the result of `study_nulls`.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per pair of lists. Diamonds: congruences; bars: 95 % prediction intervals, with the first list, the
        second list or both drawn at random; dashed line: the scaled canonical metric; dotted line: the mean cosine.

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
        _draw_congruences(axes, list_pair)
    figure.supylabel("Canonical congruence\n(cosine of a principal angle, 0 to 1)", fontsize=9)
    first = nulls[0]
    matched = f", matched on {first.match} (nearest {first.window:,})" if first.match else ""
    title_figure(
        figure,
        f"{short_label(first.embedding, 50)}\n{percent_text(INTERVAL_PROB)} prediction intervals of random words\n"
        f"({max(map(len, first.samples.values())):,} draws from {first.vocabulary:,} words{matched})",
        size=10,
    )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def plot_components(comparison: KindelComparison) -> "Figure":
    """Draw the four components of association tests under two metrics, and the scores.

    Parameters
    ----------
    comparison
        Result of `kindel_comparison`.

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
    if not isinstance(comparison, KindelComparison):
        raise ReportError("Nothing to draw: give what kindel_comparison returned.")
    records = rows_of(comparison.studies)
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
        scores.plot(comparison.studies[f"weat_{metric}"], places, marker, color=color, markersize=6, label=name)
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


def _draw_congruences(axes: "Axes", nulls: RandomisationNulls) -> None:
    frame = nulls.frame()
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
