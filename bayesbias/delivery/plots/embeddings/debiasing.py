"""Debiasing methods compared: associations, remaining bias, and quality."""

from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.number_text import percent_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.plots.style import (
    MOST_WORDS,
    SERIES,
    Look,
    as_text,
    draw_interval,
    furnish,
    panel_grid,
    row_offsets,
    series_legend,
    short_label,
    title_figure,
)
from bayesbias.errors import ReportError
from bayesbias.estimates.intervals import settled
from bayesbias.reports.debiasing.report import ASSOCIATION, ORIGINAL, DebiasReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INCHES_A_ROW = 0.28
_STACKED = 4  # panels, one below the other, which a narrow screen shows whole


def plot_debias_report(report: DebiasReport) -> "Figure":
    """Draw the effects of debiasing methods: one panel per measure, one row per method, one colour per embedding.

    Parameters
    ----------
    report
        A report from `bayesbias.debias_report`.

    Returns
    -------
    matplotlib.figure.Figure
        Values (points) with intervals (lines); a dashed line marks the value of the original. A point is filled if its
        change from the original is settled. Overlapping lines do not rule that out, because both describe the same
        words.

    Raises
    ------
    ReportError, ArgumentError
        If `report` is not a report, or has more embeddings than there are colours.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> asked = {"measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report({"Wikipedia": vectors}, "gender", ["linear"], sets="gender_bolukbasi", **asked)
    >>> len(bb.plots.plot_debias_report(report).axes)
    2
    """
    check_type("report", report, DebiasReport, "what bb.debias_report returned")
    table = report.table
    embeddings, methods = (list(dict.fromkeys(table[name])) for name in ("embedding", "method"))
    if len(embeddings) > len(SERIES):
        raise ReportError(f"report: {len(embeddings)} embeddings, but a figure has {len(SERIES)} colours.")
    methods = methods[: MOST_WORDS // len(embeddings)]
    measures = list(dict.fromkeys(zip(table["kind"], table["measure"], strict=True)))
    step = _INCHES_A_ROW * max(1.0, 0.6 * len(embeddings))
    figure, panels = panel_grid(
        len(measures),
        "",
        width=(7.0, 5.0),
        height=(1.6, 1.0 + step * len(methods)),
        sharex=False,
        columns=1 if len(measures) <= _STACKED else 2,
    )
    figure.set_layout_engine("constrained", h_pad=0.12)  # the title of a panel keeps clear of the numbers above it
    offsets = row_offsets(len(embeddings), 0.28)
    for axes, (kind, measure) in zip(panels, measures, strict=False):
        rows = table[(table["measure"] == measure) & table["method"].isin(methods)]
        for row in rows_of(rows):
            place = embeddings.index(row["embedding"])
            color, marker = SERIES[place]
            y = methods.index(row["method"]) + offsets[place]
            moved = row["method"] != ORIGINAL and settled(row["change_low"], row["change_high"])
            ends = row["value_low"], row["value_high"]
            draw_interval(axes, row["value"], ends, y, Look(color, marker, size=6), filled=moved)
            if row["method"] == ORIGINAL:
                axes.axvline(row["value"], color=color, linewidth=0.8, linestyle="--", zorder=0)
        if kind == ASSOCIATION:
            axes.axvline(0, color="#999999", linewidth=0.9, zorder=0)
            title = f"{measure}: contrast (cosine distance; 0 is none)"
        else:
            title = f"{measure}: {rows['quantity'].iloc[0]} ({rows['better'].iloc[0]} is better)"
        as_text(axes.set_title(title, fontsize=10, loc="left"))
        axes.set_yticks(range(len(methods)), [short_label(method) for method in methods])
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=6)  # labels of more would touch each other
        furnish(axes, "x", rows=True)
    if len(embeddings) > 1:
        series_legend(figure, dict(zip(embeddings, SERIES, strict=False)), columns=3)
    title_figure(
        figure,
        f"{len(methods) - 1} debiasing methods\n{percent_text(report.hdi_prob)} intervals; dashed: the original; "
        "filled: the change is settled",
    )
    return figure
