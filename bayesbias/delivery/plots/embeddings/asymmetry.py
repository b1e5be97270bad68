"""Log asymmetry ratios of pairs of words: what people say, and beside it what vectors or models do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.ratios.alar import usable
from bayesbias.asymmetry.ratios.report import AsymmetryReport
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.base.checks import check_type
from bayesbias.base.statements import percent_text
from bayesbias.delivery.plots.style import furnish, new_figure, series_legend, short_label, title_figure
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
MOST_SOURCES = 5
SAME, OTHER = "#0072B2", "#D55E00"


def plot_asymmetry(report: AsymmetryReport, *, relation: str | None = None) -> "Figure":
    """Draw the log asymmetry ratio of each pair: in the norms, and in each source, in a panel of its own.

    Parameters
    ----------
    report
        From `bb.asymmetry.report`.
    relation
        One of its relations; None: all.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means (points) and intervals (lines) of LAR: above 0, the first word evokes the second more than the
        reverse. In the panels of sources the colour says whether the direction is that of the norms. The panels have
        scales of their own: those of vectors are far smaller. Of more than 40 pairs that all sources know,
        those whose direction is clearest in the norms.

    Raises
    ------
    ArgumentError, MeasureError, ReportError
        If this is no report, it has no such relation, or it has more than five sources.

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
    if len(report.sources) > MOST_SOURCES:
        raise ReportError(f"There are {len(report.sources)} sources, and a figure holds {MOST_SOURCES}. Report fewer.")
    by_source = dict(list(report.ratios.groupby("source", sort=False)))
    every = usable(by_source[report.norms])
    if relation is not None:
        every = every[every["relation"].isin(chosen_relations(every, relation))] if "relation" in every else every[:0]
        if every.empty:
            raise ReportError(f"relation={relation!r}: the report has no relations.")
    every = _known_to_all(every.drop_duplicates(["a", "b"]), [by_source[name] for name in report.sources])
    order = ["probability_of_direction", "lar"]
    shown = (
        every.assign(size=every["lar"].abs())
        .nlargest(MOST_ROWS, [order[0], "size"])
        .sort_values("lar", ascending=False)
    )
    names = [report.norms, *report.sources]
    figure = new_figure(2.6 + 2.3 * len(names), 1.9 + 0.19 * len(shown))
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False).ravel()
    truth = dict(zip(zip(shown["a"], shown["b"], strict=True), shown["lar"], strict=True))
    for axes, name in zip(panels, names, strict=True):
        _draw(axes, truth, usable(by_source[name]), own=name == report.norms)
        axes.set_title(short_label(name, 30), fontsize=9).set_parse_math(False)
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


def _known_to_all(pairs: "pd.DataFrame", others: "list[pd.DataFrame]") -> "pd.DataFrame":
    """Return the pairs that every source has a number of; all of them, if there are none such."""
    keys = list(zip(pairs["a"], pairs["b"], strict=True))
    kept = [True] * len(keys)
    for frame in others:
        numbered = frame[frame["left_out"] == ""]
        known = set(zip(numbered["a"], numbered["b"], strict=True))
        kept = [keep and key in known for keep, key in zip(kept, keys, strict=True)]
    return pairs[kept] if any(kept) else pairs


def _draw(axes: "Axes", truth: Mapping[Any, float], frame: "pd.DataFrame", *, own: bool) -> None:
    """Draw the ratios of the pairs of `truth`, from the top down; pairs without a number have no point."""
    axes.axvline(0, color="#999999", linewidth=1.0, linestyle="--", zorder=0)
    known = {(row["a"], row["b"]): row for row in frame.to_dict("records")}
    for y, (pair, value) in enumerate(truth.items()):
        if pair not in known:
            continue
        row = known[pair]
        same = own or row["lar"] * value > 0
        color = SAME if same else OTHER
        axes.plot([row["hdi_low"], row["hdi_high"]], [y, y], color=color, linewidth=1.4, solid_capstyle="butt")
        axes.plot(row["lar"], y, "o" if same else "s", color=color, markersize=4)
