"""Mean log asymmetry ratios of relations, in people's norms and in vectors or models."""

from typing import TYPE_CHECKING

from bayesbias.asymmetry.ratios.asymmetry_report import AsymmetryReport
from bayesbias.base.checks import check_type
from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.embeddings.asymmetry import OTHER, SAME, source_panels
from bayesbias.delivery.plots.style import (
    Look,
    as_text,
    draw_interval,
    furnish,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import settled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    >>> known = relations.assign(relation="IsA")
    >>> report = bb.asymmetry.report(source, [vectors], relations=known, random_seed=1)
    >>> len(bb.plots.plot_relations(report).axes)
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
            draw_interval(axes, row["mean"], ends, y, Look(color, marker), filled=settled(*ends))
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
