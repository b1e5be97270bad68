"""The contract of results: every result of a report is printed, shown, written and read by the same code."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bayesbias.base.number_text import interval_text, signed_text
from bayesbias.base.statements import Conclusions, Rendered, Statement, StatementList, plain

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = [
    "Conclusions",
    "Contents",
    "ContentsSection",
    "LinkedPage",
    "Result",
    "ResultFigure",
    "ResultGroup",
    "ResultTable",
    "Statement",
    "StatementList",
    "contents_of",
    "forest_figure",
]
NO_PROOF = (
    "An association does not prove a bias. Nor does an unsettled result show that there is none: its interval shows "
    "which sizes remain possible."
)
BEFORE_ANSWER = "Before the answer"
"""Title of the part with doubts that change the answer."""
ALERTS = frozenset(
    {"convergence", "nothing to compare", "no axis", "weak trainings", "many lost words", "zero by construction"}
)
"""Kinds of doubts that change the answer, so that they precede it."""
MOST_WORDS = 30
"""Most words of the answer of a page."""
MOST_LINES = 12
"""Most lines of the first figure of a page."""
SHOWS, DOUBTS, LIMITS = "What it shows", "Doubts", "What it does not show"
VERDICTS = {
    "settled": "the interval excludes 0 by more than three Monte Carlo errors of its ends",
    "borderline": "an end of the interval is within three Monte Carlo errors of 0",
    "not settled": "the interval contains 0",
}
"""What an interval can show, and the meaning of each verdict, which texts and pages quote."""
MORE_DRAWS = "more draws (--draws N, draws=N) can decide"
"""What to do about a borderline verdict, on the command line and in Python; commands print the option alone."""
MARKS = {"●": "settled", "⊙": "borderline", "○": "not settled"}
"""Meaning of the marks in a table."""
_HEADINGS = {"hdi_prob": "probability inside the intervals"}
_LIMITS = (LIMITS, "Data and limits", "Left out")


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table of a result: a data frame and how a page shows it.

    Parameters
    ----------
    frame
        The numbers, unrounded. `bayesbias.delivery.glossary` has the headings, formats and meanings of columns.
    section
        Title of the section that holds the table.
    caption
        Content of the rows, with units.
    columns
        Columns that a page shows; all if empty.
    headings
        Headings of columns whose names come from data, so that the glossary lacks them.
    meanings
        Meanings of columns that differ from the glossary's.
    differences
        Whether the estimates are differences, which are shown with their sign.
    digits
        Whether estimates have three significant digits in place of three decimals, as slopes for a small unit need.
    note
        Paragraph above the table.
    folded
        Whether the table is folded until the reader opens it.
    on_page
        Whether a page shows the table. Data that only a file needs, such as densities, are not shown.
    mark
        Function of a row that returns its mark, such as `bayesbias.estimates.intervals.mark`: a circle (settled,
        borderline or not settled), an arrow and a word. Marks are the second column.
    marks
        Meanings of the marks, which begin the legend of a table that has them.
    legend
        Sentences below the table: what its rows are about, and what its columns mean.
    in_folder
        Whether the table is also data: a file of a folder, and part of the JSON. Rows of another table are not.
    """

    frame: "pd.DataFrame"
    section: str
    caption: str
    columns: tuple[str, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    differences: bool = False
    digits: bool = False
    note: str = ""
    folded: bool = False
    on_page: bool = True
    mark: Callable[[Mapping[str, Any]], str] | None = None
    marks: Mapping[str, str] = field(default_factory=lambda: MARKS)
    legend: str = ""
    in_folder: bool = True


@dataclass(frozen=True, eq=False)
class ResultFigure:
    """A figure of a result: the function that draws it, and its texts.

    Parameters
    ----------
    plot
        Name of a function in `bayesbias.delivery.plots`, or in another room, such as ``"asymmetry.plot_relations"``.
    caption
        Content of the figure, with units.
    data
        First argument of the function; None for the result itself.
    options
        Further arguments of the function.
    section
        Title of the section that holds the figure. The first figure of a page leads it and needs none.
    alt
        Text for readers who do not see the figure.
    """

    plot: str
    caption: str
    data: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""
    alt: str = "The numbers are in the tables."


def forest_figure(caption: str, rows: "pd.DataFrame", **options: Any) -> ResultFigure:
    """Return a figure of one line a row, at most `MOST_LINES`, with all numbers as text for who does not see it.

    Parameters
    ----------
    caption
        Caption of the figure; the figure adds how many of all rows it shows, if it leaves out some.
    rows
        One row a line, the most important ones first: `label`, `mean`, `hdi_low`, `hdi_high`, and `filled`, whether the
        point is filled; `borderline`, where there is one, whether it has a dot.
    options
        Options of `bayesbias.delivery.plots.style.forest`: `label` of the x axis, and `rope`.

    Returns
    -------
    ResultFigure
        A figure that a page draws.

    Examples
    --------
    >>> rows = pd.DataFrame({"label": ["she"], "mean": [-0.05], "hdi_low": [-0.09], "hdi_high": [-0.01]})
    >>> forest_figure("Differences", rows.assign(filled=True), label="Difference").alt
    'Points with intervals. she: -0.050 (-0.090 to -0.010).'
    """
    texts = []
    for row in rows.head(MOST_LINES).to_dict("records"):
        has_interval = row["hdi_low"] == row["hdi_low"]
        ends = f" ({interval_text(row['hdi_low'], row['hdi_high'])})" if has_interval else ""
        texts.append(f"{row['label']}: {signed_text(row['mean'])}{ends}")
    alt = "; ".join(texts)
    if (count := len(rows)) > MOST_LINES:
        caption = f"{caption} {MOST_LINES} of {count:,} lines are shown; the tables have all."
    return ResultFigure("delivery.plots.style.forest", caption, rows, options, alt=f"Points with intervals. {alt}.")


@dataclass(frozen=True, eq=False)
class LinkedPage:
    """A result with a page of its own in the folder of another result, and the sentence that links to it.

    Parameters
    ----------
    file
        Name of the page's file.
    text
        Sentence before the link.
    label
        Text of the link.
    result
        Result that the page shows.
    """

    file: str
    text: str
    label: str
    result: "Result"


def alerts_and_others(doubts: Iterable[Statement]) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return the doubts that change the answer, so that they precede it, and the other ones.

    >>> alerts, others = alerts_and_others([Statement("lost words", "A word was lost."), Statement("no axis", "None.")])
    >>> [doubt.kind for doubt in alerts], [doubt.kind for doubt in others]
    (['no axis'], ['lost words'])
    """
    every = tuple(doubts)
    return tuple(one for one in every if one.kind in ALERTS), tuple(one for one in every if one.kind not in ALERTS)


def call_options(**options: tuple[Any, Any]) -> str:
    """Return the keyword arguments of a call that differ from their defaults; `options` are (value, default).

    >>> call_options(walk=(True, False), hdi_prob=(0.89, 0.89))
    ', walk=True'
    """
    return "".join(f", {name}={value!r}" for name, (value, default) in options.items() if value != default)


@dataclass(frozen=True, eq=False)
class ContentsSection:
    """A section of a result: statements, figures and tables with the same title.

    Parameters
    ----------
    title
        Title of the section.
    folded
        Whether a page folds the section.
    parts, figures, tables
        Its contents; the parts with their own titles.
    """

    title: str
    folded: bool = False
    parts: tuple[StatementList, ...] = ()
    figures: tuple[ResultFigure, ...] = ()
    tables: tuple[ResultTable, ...] = ()


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a result, in the order of a page: the first screen, then `sections`.

    Parameters
    ----------
    title, about
        The question in the words of the user, and the line below it.
    answer
        The answer in a sentence of at most `MOST_WORDS` words, or an empty text.
    estimate
        The number of the answer with its interval and unit.
    answers
        Statements that say more than the answer: the section `SHOWS`.
    parts
        Further statements, one section per part.
    tables, figures
        Tables and figures by the names of their files in a folder, without endings. The first figure, of at most
        `MOST_LINES` lines, stands below the answer.
    opened
        Titles of the sections that a page shows unfolded, in order: what holds of groups, then of words.
    doubts
        Doubts about the numbers. Those of the kinds in `ALERTS` change the answer and precede it.
    limits
        Statements on what the result does not show.
    settings
        Names and values of the settings that repeat the result.
    code
        Python code that repeats the result.
    files
        Further files of a folder: name -> function that writes it.
    pages
        Results with pages of their own in the folder.
    details
        Name of a function in `bayesbias.delivery.page` that returns the folded sections of the page, such as checks
        that take seconds; by default, the other sections of these contents.
    """

    title: str
    about: str = ""
    answer: str = ""
    estimate: str = ""
    answers: tuple[Statement, ...] = ()
    parts: tuple[StatementList, ...] = ()
    tables: Mapping[str, ResultTable] = field(default_factory=dict)
    figures: Mapping[str, ResultFigure] = field(default_factory=dict)
    opened: tuple[str, ...] = (SHOWS, "Groups", "Words")
    doubts: tuple[Statement, ...] = ()
    limits: tuple[Statement, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    files: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    pages: tuple[LinkedPage, ...] = ()
    details: str = ""

    @property
    def alerts(self) -> tuple[Statement, ...]:
        """The doubts that change the answer."""
        return alerts_and_others(self.doubts)[0]

    @property
    def sections(self) -> tuple[ContentsSection, ...]:
        """Sections below the first screen: opened ones, doubts, then folded ones, of which limits are the last."""
        doubts = alerts_and_others(self.doubts)[1]
        parts = [StatementList(SHOWS, self.answers), *self.parts]
        parts += [StatementList(DOUBTS, doubts), StatementList(LIMITS, self.limits)]
        parts = [part for part in parts if part.statements]
        figures = [replace(figure, section=figure.section or "Figures") for figure in list(self.figures.values())[1:]]
        tables = [table for table in self.tables.values() if len(table.frame)]
        titles = [part.title for part in parts]
        titles += [*(figure.section for figure in figures), *(table.section for table in tables)]
        unfolded = (*self.opened, DOUBTS)

        def place(title: str) -> tuple[bool, bool, int]:
            return title not in unfolded, title == LIMITS, unfolded.index(title) if title in unfolded else 0

        return tuple(
            ContentsSection(
                title,
                title not in unfolded,
                tuple(part for part in parts if part.title == title),
                tuple(figure for figure in figures if figure.section == title),
                tuple(table for table in tables if table.section == title),
            )
            for title in sorted(dict.fromkeys(titles), key=place)
        )

    @property
    def data(self) -> "dict[str, pd.DataFrame]":
        """The frames of the tables that are data, by name."""
        return {name: table.frame for name, table in self.tables.items() if table.in_folder}

    @property
    def file_names(self) -> list[str]:
        """Names of the files of data, tables, figures and further pages in a folder."""
        tables, figures = [f"{name}.csv" for name in self.data], [f"{name}.png" for name in self.figures]
        return [*self.files, *tables, *figures, *(page.file for page in self.pages)]

    def to_dict(self) -> dict[str, Any]:
        """Return title, statements, tables and settings as plain Python, for JSON."""
        tables = {name: plain(frame) for name, frame in self.data.items()}
        parts = [{"title": part.title, "statements": plain(part.statements)} for part in self.parts]
        texts = {
            name: plain(getattr(self, name))
            for name in ("answer", "estimate", "answers", "doubts", "limits", "settings")
        }
        return {"title": self.title, "about": self.about, **texts, "parts": parts, "tables": tables}


class Result(Rendered):
    """Result of a report. `print` and notebooks show its statements; `bayesbias.write` writes it."""

    page_in_folder: ClassVar[bool] = True
    """Whether the folder of the result includes its page."""

    @property
    @abstractmethod
    def contents(self) -> Contents:
        """Title, statements, tables, figures and settings."""

    def to_dict(self) -> dict[str, Any]:
        """Return title, statements, tables and settings as plain Python, for JSON."""
        return self.contents.to_dict()


class ComparedConditions(Result):
    """Contrasts of one study under several conditions, of which the first may be that of a fit's report."""

    fits: "dict[str, xr.DataTree]"
    facts: dict[str, Any]

    @property
    @abstractmethod
    def conditions(self) -> tuple[str, ...]:
        """Names of the conditions; changes are from the first."""

    @cached_property
    @abstractmethod
    def doubts(self) -> tuple[Statement, ...]:
        """Reasons why a change may not be one of the association alone."""

    @property
    @abstractmethod
    def verdicts(self) -> tuple[Statement, ...]:
        """The first answer about each condition."""


def contents_of(
    result: Result,
    *,
    title: str,
    about: str = "",
    captions: Mapping[str, str] | None = None,
    differences: Collection[str] = (),
    data: Collection[str] = (),
    figures: Mapping[str, ResultFigure] | None = None,
    headings: Mapping[str, str] | None = None,
    answer: str = "",
    estimate: str = "",
    opened: tuple[str, ...] = (SHOWS, "Groups", "Words"),
) -> Contents:
    """Return the contents of a dataclass: its frames become tables; its texts, numbers and mappings become settings.

    Parameters
    ----------
    result
        Result whose parts have the usual titles, such as ``"Doubts"`` and ``"What it does not show"``.
    title, about, figures, estimate, opened
        As in `Contents`.
    answer
        As in `Contents`; by default the first statement of the part without a title if it is short enough.
    captions
        Name of a frame -> its caption; by default the name.
    differences
        Names of the frames whose estimates are differences.
    data
        Names of the frames that a page does not show.
    headings
        Headings of columns that differ from the glossary's, or that it lacks.
    """
    parts = result.parts
    texts = captions or {}
    tables: dict[str, ResultTable] = {}
    settings: dict[str, str] = {}
    for name, value in vars(result).items():
        words = _HEADINGS.get(name, name).replace("_", " ")
        heading = words[:1].upper() + words[1:]
        if hasattr(value, "columns"):
            caption, signed = texts.get(name, heading), name in differences
            tables[name] = ResultTable(
                value, heading, caption, headings=headings or {}, differences=signed, on_page=name not in data
            )
        elif isinstance(value, Mapping):
            entries = {f"{heading}: {key}": entry for key, entry in value.items()}
            settings |= {place: text for place, entry in entries.items() if (text := _setting(entry))}
        elif not isinstance(value, tuple) and (text := _setting(value)):
            settings[heading] = text
    answers = tuple(text for part in parts if not part.title for text in part.statements)
    if not answer and answers and len(answers[0].text.split()) <= MOST_WORDS:
        answer, answers = answers[0].text, answers[1:]
    return Contents(
        title=title,
        about=about,
        answer=answer,
        estimate=estimate,
        answers=answers,
        opened=opened,
        doubts=tuple(text for part in parts if part.title in (BEFORE_ANSWER, DOUBTS) for text in part.statements),
        parts=tuple(part for part in parts if part.title not in ("", BEFORE_ANSWER, DOUBTS, *_LIMITS)),
        tables=tables,
        figures=figures or {},
        limits=tuple(text for part in parts if part.title in _LIMITS for text in part.statements),
        settings=settings,
    )


def _setting(value: Any) -> str:
    """Return a text, a number, or a tuple of them as text; empty for anything else."""
    if isinstance(value, tuple):
        return ", ".join(filter(None, map(_setting, value)))
    return str(value) if isinstance(value, str | float | int) else ""


@dataclass(frozen=True, eq=False, repr=False)
class ResultGroup(Result):
    """Several results that are written together, such as the checks of a fit.

    Parameters
    ----------
    title
        Title of the page.
    results
        Results by name. The name precedes a file name that two results share.
    """

    title: str
    results: Mapping[str, Result]

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return tuple(part for result in self.results.values() for part in result.parts)

    @cached_property
    def contents(self) -> Contents:
        """Contents of all results, in order."""
        every = {name: result.contents for name, result in self.results.items()}
        tables: dict[str, ResultTable] = {}
        figures: dict[str, ResultFigure] = {}
        for name, contents in every.items():
            for key, table in contents.tables.items():
                section = f"{contents.title}: {table.section.lower()}"
                tables[f"{name}_{key}" if len(every) > 1 else key] = replace(table, section=section)
            for key, figure in contents.figures.items():
                data = self.results[name] if figure.data is None else figure.data
                section = f"{contents.title}: {figure.section.lower() or 'figure'}"
                figures[key if key not in figures else f"{name}_{key}"] = replace(figure, data=data, section=section)
        parts = [
            StatementList(
                contents.title if not part.title else f"{contents.title}: {part.title}", part.statements, part.bulleted
            )
            for contents in every.values()
            for part in contents.parts
        ]
        answered = [contents.answer for contents in every.values() if contents.answer]
        joined = " ".join(answered)
        leading = answered if len(joined.split()) <= MOST_WORDS else answered[:1]
        return Contents(
            title=self.title,
            about=" ".join(dict.fromkeys(contents.about for contents in every.values() if contents.about)),
            answer=" ".join(leading),
            answers=(
                *(Statement("answer", text) for text in answered[len(leading) :]),
                *(text for contents in every.values() for text in contents.answers),
            ),
            doubts=tuple(text for contents in every.values() for text in contents.doubts),
            parts=tuple(parts),
            tables=tables,
            figures=figures,
            limits=tuple(text for contents in every.values() for text in contents.limits),
            settings={
                f"{name}: {key}": text for name, contents in every.items() for key, text in contents.settings.items()
            },
        )
