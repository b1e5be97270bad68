"""Log asymmetry ratios of pairs of words, in people's norms and in vectors or models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.ratios.alar import usable
from bayesbias.asymmetry.ratios.asymmetry_report import AsymmetryReport
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.base.checks import check_type
from bayesbias.base.number_text import percent_text
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

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
LEAST_ROWS = 8
MOST_PANELS = 6
"""Largest number of panels side by side."""
SAME, OTHER = "#0072B2", "#D55E00"


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
    >>> len(bb.plots.plot_asymmetry(report).axes)
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
