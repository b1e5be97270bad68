"""Figures of asymmetry: log asymmetry ratios of pairs and relations, in people's norms and in vectors or models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.asymmetry.asymmetry_report import AsymmetryReport
from bayesbias.asymmetry.relation_means import chosen_relations, usable
from bayesbias.base.checks import check_frame, check_type
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    Look,
    as_text,
    draw_interval,
    furnish,
    new_figure,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import is_settled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_ROWS = 40
LEAST_ROWS = 8
MOST_PANELS = 6
"""Largest number of panels side by side."""
SAME, OTHER = "#0072B2", "#D55E00"
_COLUMNS = ("factor", "low", "high", "pairs", "accuracy", "hdi_low", "hdi_high")
_AXES = {
    "contexts": "Contexts that hold both words",
    "distance": "Mean distance of the words, in characters",
}
MOST_RELATIONS = 6
_BINS = 40  # between the extremes of a source


def plot_asymmetry(report: AsymmetryReport, *, relation: str | None = None) -> "Figure":
    """Draw the log asymmetry ratio of each pair, with one panel for the norms and one for each source.

    Parameters
    ----------
    report
        A report from `bb.asymmetry.report`.
    relation
        Relation of the pairs to draw; None (default): all.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and intervals (lines) of LAR: above 0, the first word evokes the second more than the
        reverse. In the panels of sources, the colour shows whether the direction agrees with the norms. Each panel has
        its own scale, because ratios of vectors are far smaller. Of more than 40 pairs that all sources have, those
        whose direction is clearest in the norms; fewer where more than five sources need further rows of panels.

    Raises
    ------
    ArgumentError, MeasureError, ReportError
        If `report` is not a report, or lacks the relation.

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> report = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> len(bb.asymmetry.plot_asymmetry(report).axes)
    2
    """
    check_type("report", report, AsymmetryReport, "what bb.asymmetry.report returned")
    by_source = dict(list(report.ratios.groupby("source", sort=False)))
    every = usable(by_source[report.norms])
    if relation is not None:
        every = every[every["relation"].isin(chosen_relations(every, relation))] if "relation" in every else every[:0]
        if every.empty:
            raise ReportError(f"relation={relation!r}: the report has no relations.")
    every = _answered_by_all(every.drop_duplicates(["a", "b"]), [by_source[name] for name in report.sources])
    order = ["probability_of_direction", "lar"]
    names = [report.norms, *report.sources]
    most = max(MOST_ROWS // -(-len(names) // MOST_PANELS), LEAST_ROWS)
    shown = every.assign(size=every["lar"].abs()).nlargest(most, [order[0], "size"]).sort_values("lar", ascending=False)
    figure, panels = source_panels(len(names), 0.19 * len(shown))
    truth = dict(zip(zip(shown["a"], shown["b"], strict=True), shown["lar"], strict=True))
    for axes, name in zip(panels, names, strict=True):
        _draw(axes, truth, usable(by_source[name]), norms=name == report.norms)
        as_text(axes.set_title(short_label(name, 30), fontsize=9))
        axes.set_xlabel("LAR", fontsize=9)
        axes.locator_params(axis="x", nbins=5)
    labels = [f"{short_label(a, 16)} → {short_label(b, 16)}" for a, b in truth]
    panels[0].set_yticks(range(len(labels)), labels, fontsize=8)
    panels[0].set_ylim(len(labels) - 0.4, -0.6)
    for axes in panels:
        furnish(axes, "x", rows=True, small=True)
    names_of = list(dict.fromkeys(every["relation"])) if "relation" in every else []
    what = names_of[0] if len(names_of) == 1 else "all relations" if names_of else ""
    more = (
        f"\n{len(shown)} of {len(every):,} pairs, those clearest in {report.norms}" if len(shown) < len(every) else ""
    )
    title_figure(
        figure,
        f"Does the first word evoke the second more (right), or the reverse? {what}\n"
        f"{percent_text(report.hdi_prob)} HPDI; natural logarithm of the ratio{more}",
        size=10,
    )
    series = {f"direction as in {report.norms}": (SAME, "o"), "the other direction": (OTHER, "s")}
    series_legend(figure, series, columns=2)
    return figure


def source_panels(count: int, height: float) -> "tuple[Figure, list[Axes]]":
    """Return a figure with a panel for each of `count` sources, up to six in a row, each `height` inches high."""
    rows = -(-count // MOST_PANELS)
    columns = -(-count // rows)
    figure = new_figure(2.6 + 2.3 * columns, 1.4 + rows * (0.5 + height))
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel().tolist()
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels[:count]


def _answered_by_all(pairs: "pd.DataFrame", others: "list[pd.DataFrame]") -> "pd.DataFrame":
    """Return the pairs for which every source has a number, or all pairs if there are none."""
    usable_frames = [frame[frame["left_out"] == ""] for frame in others]
    pairs_by_source = [set(zip(frame["a"], frame["b"], strict=True)) for frame in usable_frames]
    keys = zip(pairs["a"], pairs["b"], strict=True)
    in_all = [all(key in source_pairs for source_pairs in pairs_by_source) for key in keys]
    return pairs[in_all] if any(in_all) else pairs


def _draw(axes: "Axes", truth: Mapping[Any, float], frame: "pd.DataFrame", *, norms: bool) -> None:
    """Draw the ratios of the pairs of `truth` from top to bottom; a pair without a ratio has no point."""
    axes.axvline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
    rows_by_pair = {(row["a"], row["b"]): row for row in frame.to_dict("records")}
    for y, (pair, norms_lar) in enumerate(truth.items()):
        if pair not in rows_by_pair:
            continue
        row = rows_by_pair[pair]
        same = norms or row["lar"] * norms_lar > 0
        color, marker = (SAME, "o") if same else (OTHER, "s")
        draw_interval(axes, row["lar"], (row["hdi_low"], row["hdi_high"]), y, Look(color, marker, size=4))


_COLOR, _CHANCE = "#0072B2", "#999999"


def plot_accuracy_by_context(frame: pd.DataFrame) -> "Figure":
    """Draw the accuracy of the directions of a language model, by contexts and distances of the pairs.

    Parameters
    ----------
    frame
        A frame from `bb.asymmetry.accuracy_by_context`.

    Returns
    -------
    matplotlib.figure.Figure
        Accuracy of each group of pairs (point) with its interval (vertical line), and the range of contexts or
        distances of the group (horizontal line). The dashed line is chance. The scale of contexts is logarithmic.

    Raises
    ------
    ArgumentError, ReportError
        If `frame` is not a frame of `bb.asymmetry.accuracy_by_context`.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), figure 2.

    Examples
    --------
    >>> rows = [("contexts", 1, 9, 40, 0.6, 0.5, 0.7), ("distance", 5.0, 80.0, 40, 0.7, 0.6, 0.8)]
    >>> columns = ["factor", "low", "high", "pairs", "accuracy", "hdi_low", "hdi_high"]
    >>> len(bb.asymmetry.plot_accuracy_by_context(pd.DataFrame(rows, columns=columns)).axes)
    2
    """
    check_frame("frame", frame, "what bb.asymmetry.accuracy_by_context returned")
    if not set(_COLUMNS) <= set(frame.columns) or frame.empty or not set(frame["factor"]) <= set(_AXES):
        raise ReportError(
            "accuracy_by_context: this is not what bb.asymmetry.accuracy_by_context returns: a frame with the columns "
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


_REVERSE, _FORWARD, _LINE = "#D55E00", "#0072B2", "#333333"


def plot_lar_distributions(report: AsymmetryReport, *, relations: Any = None) -> "Figure":
    """Draw histograms of the log asymmetry ratios of pairs: a row for each relation, a column for each source.

    Parameters
    ----------
    report
        A report from `bb.asymmetry.report`.
    relations
        Names of the relations to draw; None (default) draws the six with the most pairs.

    Returns
    -------
    matplotlib.figure.Figure
        Share of the relation's pairs in each bin; the outer half percent of a source's pairs is in the outer bins. Bins
        above 0, where the first word evokes the second more than the reverse, and those below differ in colour; the
        dotted line is the median. All panels of a source have the same scale, and sources have their own, because
        ratios of vectors are far smaller.

    Raises
    ------
    ArgumentError, MeasureError, ReportError
        If `report` is not a report, or lacks a relation.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), figures 5 to 10 and 13 to 17.

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> report = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> len(bb.asymmetry.plot_lar_distributions(report).axes)
    2
    """
    check_type("report", report, AsymmetryReport, "what bb.asymmetry.report returned")
    by_source = {str(name): usable(frame) for name, frame in report.ratios.groupby("source", sort=False)}
    people = by_source[report.norms]
    if "relation" in people:
        names = chosen_relations(people, relations)
        names = names[:MOST_RELATIONS] if relations is None else names
    elif relations is not None:
        raise ReportError(f"relations={relations!r}: the report has no relations.")
    else:
        names = [""]
    figure = new_figure(1.2 + 2.6 * len(by_source), 1.5 + 1.35 * len(names))
    panels = figure.subplots(len(names), len(by_source), squeeze=False, sharex="col")
    for column, (source, frame) in enumerate(by_source.items()):
        edges = _edges(frame["lar"].to_numpy(dtype=np.float64))
        for row, name in enumerate(names):
            axes = panels[row, column]
            values = _values(frame, name)
            shares = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / max(len(values), 1)
            colors = np.where(edges[:-1] >= 0, _FORWARD, _REVERSE).tolist()
            axes.bar(edges[:-1], shares, np.diff(edges), align="edge", color=colors)
            axes.axvline(0, color=_LINE, linewidth=0.8)
            if len(values):
                axes.axvline(float(np.median(values)), color=_LINE, linewidth=1.2, linestyle=":")
            forward = f", {(values > 0).mean():.0%} above 0" if len(values) else ""
            axes.set_title(f"{counted(len(values), 'pair')}{forward}", fontsize=8)
            axes.locator_params(nbins=4)
            furnish(axes, "y", small=True)
        as_text(panels[-1, column].set_xlabel(f"LAR, {short_label(source, 28)}", fontsize=9))
    for row, name in enumerate(names):
        as_text(panels[row, 0].set_ylabel(f"{short_label(name, 16)}\nshare of pairs".strip(), fontsize=9))
    title_figure(
        figure,
        "How asymmetric are pairs? Below 0 (orange) the second word evokes the first more than the reverse,\n"
        "above 0 (blue) the first evokes the second more; dotted: median",
        size=10,
    )
    return figure


def _edges(values: np.ndarray) -> np.ndarray:
    """Return even edges of bins, of which 0 is one."""
    reach = max(float(np.quantile(np.abs(values), 0.99)), 1e-9)
    half = _BINS // 2
    return np.linspace(-reach, reach, 2 * half + 1)


def _values(frame: "pd.DataFrame", relation: str) -> np.ndarray:
    rows = frame[frame["relation"] == relation] if relation else frame
    return rows["lar"].to_numpy(dtype=np.float64)


def plot_relations(report: AsymmetryReport) -> "Figure":
    """Draw the mean log asymmetry ratio (ALAR) of each relation, with one panel for the norms and each source.

    Parameters
    ----------
    report
        A report from `bb.asymmetry.report` on pairs with relations.

    Returns
    -------
    matplotlib.figure.Figure
        Partially pooled means (points) and intervals (lines), one row per relation and one panel per source, each with
        its own scale. A point is filled if the mean is settled; its colour shows whether it agrees with the norms.

    Raises
    ------
    ArgumentError, ReportError
        If `report` is not a report, or has no relations.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), figure 1, without intervals.

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> source = bb.asymmetry.evocation(pd.DataFrame(rows, columns=["cue", "response", "count", "participants"]))
    >>> relations = pd.DataFrame(source.pairs()[["a", "b"]].to_numpy(), columns=["head", "tail"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> is_a = relations.assign(relation="IsA")
    >>> report = bb.asymmetry.report(source, [vectors], relations=is_a, random_seed=1)
    >>> len(bb.asymmetry.plot_relations(report).axes)
    2
    """
    check_type("report", report, AsymmetryReport, "what bb.asymmetry.report returned")
    if report.relations.empty:
        raise ReportError("The report has no relations between its pairs. Give relations.")
    names = [report.norms, *report.sources]
    norms = report.relations[report.relations["source"] == report.norms]
    truth = dict(zip(norms["relation"], norms["mean"], strict=True))
    counts = dict(zip(norms["relation"], norms["pairs"], strict=True))
    places = {name: y for y, name in enumerate(sorted(truth, key=lambda name: -truth[name]))}
    figure, panels = source_panels(len(names), 0.28 * len(places))
    for axes, name in zip(panels, names, strict=True):
        axes.axvline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
        for row in rows_of(report.relations[report.relations["source"] == name]):
            if row["relation"] not in places:
                continue
            y, same = places[row["relation"]], row["mean"] * truth[row["relation"]] > 0
            color, marker = (SAME, "o") if same else (OTHER, "s")
            ends = row["hdi_low"], row["hdi_high"]
            draw_interval(axes, row["mean"], ends, y, Look(color, marker), filled=is_settled(*ends))
        as_text(axes.set_title(short_label(name, 30), fontsize=9))
        axes.set_xlabel("mean LAR", fontsize=9)
        axes.locator_params(axis="x", nbins=5)
    panels[0].set_yticks(list(places.values()), [f"{short_label(name)} ({counts[name]:,})" for name in places])
    panels[0].set_ylim(len(places) - 0.4, -0.6)
    for axes in panels:
        furnish(axes, "x", rows=True, small=True)
    title_figure(
        figure,
        "Does the first word of a relation evoke the second more (right), or the reverse?\n"
        f"{percent_text(report.hdi_prob)} HPDI; (pairs in {report.norms}); filled: settled",
        size=10,
    )
    series = {f"direction as in {report.norms}": (SAME, "o"), "the other direction": (OTHER, "s")}
    series_legend(figure, series, columns=2)
    return figure
