"""The page of a report on debiasing: which method took the association away, and what it cost."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.base.checks import check_type
from bayesbias.base.statements import interval_text, percent_text, probability_text, signed_text
from bayesbias.delivery.page.blocks import (
    Bullets,
    Format,
    Notice,
    Paragraph,
    Section,
    Table,
    fact_table,
    figure,
    frame_table,
)
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.embeddings.debiasing import plot_debias_report
from bayesbias.errors import ReportError
from bayesbias.reports.debiasing.cells import ASSOCIATION, ORIGINAL
from bayesbias.reports.debiasing.report import DebiasReport, measure_correlations

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6  # associations, and costs, that are told on the first screen
_TITLES = {
    ASSOCIATION: ("associations", "The associations"),
    "bias": ("bias", "What is left in the geometry"),
    "quality": ("quality", "What it cost"),
}


def write_debias_page(report: DebiasReport, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a report on debiasing as one HTML file that needs nothing else.

    Parameters
    ----------
    report
        What `bayesbias.debias_report` returned.
    path
        A file that ends in ``.html``.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ArgumentError
        If it is no report.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> asked = {"model": "no_pooling", "measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report({"Wikipedia": vectors}, "gender", ["linear"], "gender_bolukbasi", **asked)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write_debias_page(report, f"{folder}/debias.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_type("report", report, DebiasReport, "what bb.debias_report returned")
    target = page_target(path, overwrite=overwrite)
    prob = percent_text(report.hdi_prob)
    table = report.table
    methods = [name for name in dict.fromkeys(table["method"]) if name != ORIGINAL]
    caption = (
        f"Values (points) with {prob} intervals (lines), before (dashed) and after each method. A point is filled "
        "where its change is settled: before and after are of the same words, so that two lines may overlap although "
        "the change is settled."
    )
    said = {part.title: part.statements for part in report.parts}
    answers = [each.text for part in report.parts for each in part.statements if each.kind == ASSOCIATION][:_MOST]
    scores = [each for part in report.parts for each in part.statements if each.kind == "score"]
    answers += [each.text for each in scores if each.numbers["rows"][0]["kind"] == "quality"][:_MOST]
    sections = [
        Section(*_TITLES[kind], [_table(rows, prob)])
        for kind in _TITLES
        if not (rows := table[table["kind"] == kind]).empty
    ]
    sections += _correlations(report)
    missing = tuple(each.text for each in said.get("Beware", ()))
    limits = [each.text for each in said["What it does not show"]]
    sections.append(Section("limits", "What it does not show", [Bullets((*missing, *limits))]))
    sections.append(
        Section(
            "settings",
            "How it was made",
            [fact_table("All that was asked", report.settings, header=("Setting", "Value"))],
        )
    )
    content = filled_page(
        title=f"Did debiasing work? {len(methods)} methods",
        description=f"Debiasing methods compared: {', '.join(methods)}.",
        subtitle=f"Model {report.settings.get('Model', '')}.",
        alerts=[Notice(" ".join(missing[:3]))] if missing else [],
        verdict=report.verdict.text,
        sections=sections,
        lead=(figure(plot_debias_report(report), caption, "The numbers are in the tables."), Bullets(tuple(answers))),
    )
    return write_page(target, content, overwrite=overwrite)


def _table(rows: "pd.DataFrame", prob: str) -> Table:
    rows = rows.sort_values(["measure", "embedding"], key=lambda names: names.map(_places(names)), kind="stable")
    rows = rows.assign(interval=[_interval_text(*ends) for ends in rows[["change_low", "change_high"]].to_numpy()])
    columns: dict[str, tuple[str, Format | None]] = {
        "method": ("Method", None),
        "embedding": ("Embedding", None),
        "measure": ("Measure", None),
        "value": ("Value", _value_text),
        "value_low:value_high": (f"{prob} interval", _value_text),
        "value_plain": ("Plain", _change_text),
        "change": ("Change", _change_text),
        "interval": ("Its interval", str),
        "change_plain": ("Plain change", _change_text),
        "items": ("Items", str),
        "lost": ("Lost", str),
    }
    if rows["embedding"].nunique() == 1:
        del columns["embedding"]
    return frame_table(rows, "Before and after, on the same words", columns)


def _places(names: "pd.Series[str]") -> dict[str, int]:
    """Return the place of each name by where it comes first."""
    return {name: at for at, name in enumerate(dict.fromkeys(names))}


def _value_text(value: float) -> str:
    return f"{value:.3f}"


def _change_text(value: float) -> str:
    return signed_text(value) if value == value else ""


def _interval_text(low: float, high: float) -> str:
    return interval_text(low, high) if low == low else ""


def _correlations(report: DebiasReport) -> list[Section]:
    """Return how measures go together over the embeddings, if there are enough of them."""
    try:
        frame = measure_correlations(report)
    except ReportError:
        return []  # too few embeddings or measures, which is no fault
    columns = {
        "first": ("Measure", None),
        "second": ("And", None),
        "embeddings": ("Embeddings", str),
        "correlation": ("Correlation", signed_text),
        "hdi_low:hdi_high": (f"{percent_text(report.hdi_prob)} interval", signed_text),
        "probability_of_positive": ("Probability that it is above 0", probability_text),
    }
    said = (
        "Pearson's correlation of values over original and debiased embeddings. Embeddings that one original was made "
        "into are not independent: the intervals are the shortest that can be defended."
    )
    return [
        Section(
            "correlations", "Do the measures agree?", [Paragraph(said), frame_table(frame, "Correlations", columns)]
        )
    ]
