"""Distributions of log asymmetry ratios of pairs, by relation and source."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.asymmetry.ratios.alar import usable
from bayesbias.asymmetry.ratios.asymmetry_report import AsymmetryReport
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.base.checks import check_count, check_type
from bayesbias.base.number_text import counted
from bayesbias.delivery.plots.style import as_text, furnish, new_figure, short_label, title_figure
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST_RELATIONS = 6
_REVERSE, _FORWARD, _LINE = "#D55E00", "#0072B2", "#333333"


def plot_lar_distributions(report: AsymmetryReport, *, relations: Any = None, bins: int = 40) -> "Figure":
    """Draw histograms of the log asymmetry ratios of pairs: a row for each relation, a column for each source.

    Parameters
    ----------
    report
        A report from `bb.asymmetry.report`.
    relations
        Names of the relations to draw; None (default) draws the six with the most pairs.
    bins
        Number of bins between the extremes of a source; the outer half percent of its pairs is in the outer bins.

    Returns
    -------
    matplotlib.figure.Figure
        Share of the relation's pairs in each bin. Bins above 0, where the first word evokes the second more than the
        reverse, and those below differ in colour; the dotted line is the median. All panels of a source have the same
        scale, and sources have their own, because ratios of vectors are far smaller.

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
    >>> len(bb.plots.plot_lar_distributions(report).axes)
    2
    """
    check_type("report", report, AsymmetryReport, "what bb.asymmetry.report returned")
    check_count("bins", bins, least=2, most=1000)
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
        edges = _edges(frame["lar"].to_numpy(dtype=np.float64), bins)
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


def _edges(values: np.ndarray, bins: int) -> np.ndarray:
    """Return even edges of bins, of which 0 is one."""
    reach = max(float(np.quantile(np.abs(values), 0.99)), 1e-9)
    half = max(bins // 2, 1)
    return np.linspace(-reach, reach, 2 * half + 1)


def _values(frame: "pd.DataFrame", relation: str) -> np.ndarray:
    """Return the ratios of a relation, or of all pairs."""
    rows = frame[frame["relation"] == relation] if relation else frame
    return rows["lar"].to_numpy(dtype=np.float64)
