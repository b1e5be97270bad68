"""Frames of estimates as results, so that they are written like any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bayesbias.base.number_text import percent_text
from bayesbias.base.results import Contents, Result, ResultTable
from bayesbias.base.statements import Statement, StatementList
from bayesbias.errors import ReportError
from bayesbias.reports.posterior.summary import UNITS

if TYPE_CHECKING:
    import pandas as pd

# Columns of a table in a paper; its .csv has all columns.
_IN_PAPERS = (
    *("contrast", "question", "parameter", "connection", "effect", "attribute_list", "attribute_word"),
    *("protected_group", "protected_word", "pairs", "observed", "mean", "sd", "hdi_low", "hdi_high"),
    *("probability_of_direction", "probability_in_rope"),
)


def estimate_table(frame: "pd.DataFrame", columns: tuple[str, ...] = ()) -> ResultTable:
    """Return a frame of `summary`, `contrasts` or `planned_contrasts` with its caption, which states the interval.

    `columns` are those that a page shows; all if empty.

    >>> estimate_table(bb.contrasts(fit)).caption
    'Contrasts, 89% HPDI, ...; below 0, associated words are nearer; rows over all words are about words like these'
    """
    if "hdi_prob" not in frame.attrs or "mean" not in frame:
        raise ReportError(
            "The frame does not state the probability of its intervals (attrs['hdi_prob']). Write a frame that "
            "bb.summary, bb.contrasts or bb.planned_contrasts returned, or rows of it."
        )
    prob = f"{percent_text(frame.attrs['hdi_prob'])} HPDI, in units of cosine distance"
    if "contrast" in frame:
        caption = f"Contrasts, {prob}; below 0, {frame.attrs['baseline']} words are nearer{_about_rows(frame)}"
        return ResultTable(frame, "Contrasts", caption, columns, differences=True)
    if "question" in frame:
        return ResultTable(frame, "Questions", f"Questions of the study, {prob}", columns, differences=True)
    parameters = f"Parameters, {percent_text(frame.attrs['hdi_prob'])} HPDI, {UNITS}"
    return ResultTable(frame, "Parameters", parameters, columns)


def _about_rows(frame: "pd.DataFrame") -> str:
    """Return which words the rows over all words are about, and the region of practical equivalence, for a caption."""
    population = "words like these" if frame.attrs.get("scope") == "population" else "these very words"
    over_all = f"; rows over all words are about {population}" if (frame["protected_group"] == "").any() else ""
    if not (rope := frame.attrs.get("rope")):
        return over_all
    return f"{over_all}; from {rope[0]:g} to {rope[1]:g} a contrast is too small to matter"


@dataclass(frozen=True, eq=False, repr=False)
class EstimateTables(Result):
    """Frames of estimates by name, which `bayesbias.write` writes as tables."""

    frames: "Mapping[str, pd.DataFrame]"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        captions = tuple(Statement("caption", table.caption) for table in self.contents.tables.values())
        return (StatementList("", captions),)

    @cached_property
    def contents(self) -> Contents:
        """The tables."""
        tables = {name: estimate_table(frame, _IN_PAPERS) for name, frame in self.frames.items()}
        prob = ", ".join({f"{percent_text(frame.attrs['hdi_prob'])} HPDI": None for frame in self.frames.values()})
        title = " and ".join(table.section for table in tables.values())
        return Contents(title=title, tables=tables, settings={"Interval": prob})
