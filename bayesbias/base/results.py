"""The contract of results: whatever a report returns can be printed, shown, written and read by the same code."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bayesbias.base.statements import Rendered, Statement, StatementList, plain

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A frame of a result, and how a reader sees it.

    Parameters
    ----------
    frame
        The numbers, unrounded. The glossary of columns says how each is headed, rounded and explained.
    section
        Title of the section of a page in which the table stands.
    caption
        What the rows are, with units.
    columns
        Columns that a page shows; all if empty.
    headings
        Headings of columns that are named after data, which no glossary can know.
    differences
        Whether the estimates are differences, shown with their sign.
    note
        A paragraph above the table.
    folded
        Whether the reader of a page opens the table.
    """

    frame: "pd.DataFrame"
    section: str
    caption: str
    columns: tuple[str, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    differences: bool = False
    note: str = ""
    folded: bool = False


@dataclass(frozen=True, eq=False)
class ResultFigure:
    """A figure of a result: the function that draws it, and the words beside it.

    Parameters
    ----------
    plot
        Name of a function in `bayesbias.delivery.plots`.
    caption
        What is drawn, with units.
    drawn
        What the function is given first; the result itself if None.
    options
        Further arguments of the function.
    section
        Title of the section of a page in which the figure stands; the page's first figure needs none.
    alt
        Text that stands for the figure where it is not seen.
    """

    plot: str
    caption: str
    drawn: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""
    alt: str = "The numbers are in the tables."


@dataclass(frozen=True, eq=False)
class LinkedPage:
    """Another result that a folder holds as a page of its own, and the sentence that leads to it.

    Parameters
    ----------
    file
        Name of the page's file.
    text
        Sentence that a link follows.
    label
        Words of the link.
    result
        What the page shows.
    """

    file: str
    text: str
    label: str
    result: "Result"


@dataclass(frozen=True, eq=False)
class Contents:
    """What a result holds, in the order in which a page shows it.

    Parameters
    ----------
    title, about
        Title, and a line below it.
    diagnostics
        What speaks against the numbers, read first: draws that did not converge, doubtful data.
    verdict
        What the estimates mean together; empty if there is nothing to sum up.
    answers
        Statements beside the first figure.
    parts
        Further statements, each part a section.
    tables, figures
        By the names of the files that a folder holds them in.
    limits
        What the result does not show.
    settings
        What was asked, and what it takes to repeat it, by name.
    code
        Python that makes the result again.
    files
        Data that a folder holds besides: name of a file, and the function that writes it.
    pages
        Results that a folder holds as pages of their own.
    """

    title: str
    about: str = ""
    diagnostics: tuple[Statement, ...] = ()
    verdict: str = ""
    answers: tuple[Statement, ...] = ()
    parts: tuple[StatementList, ...] = ()
    tables: Mapping[str, ResultTable] = field(default_factory=dict)
    figures: Mapping[str, ResultFigure] = field(default_factory=dict)
    limits: tuple[Statement, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    files: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    pages: tuple[LinkedPage, ...] = ()

    @property
    def file_names(self) -> list[str]:
        """Names of the files of tables, figures, data and further pages in a folder."""
        tables, figures = [f"{name}.csv" for name in self.tables], [f"{name}.png" for name in self.figures]
        return [*self.files, *tables, *figures, *(page.file for page in self.pages)]

    def to_dict(self) -> dict[str, Any]:
        """Return title, statements, tables and settings as plain Python, for JSON."""
        tables = {name: plain(table.frame) for name, table in self.tables.items()}
        parts = [{"title": part.title, "statements": plain(part.statements)} for part in self.parts]
        texts = {
            name: plain(getattr(self, name)) for name in ("diagnostics", "verdict", "answers", "limits", "settings")
        }
        return {"title": self.title, "about": self.about, **texts, "parts": parts, "tables": tables}


NO_PROOF = "An association is no proof of bias, and where none is settled there may still be one: see the intervals."
BEWARE = "Beware"
"""Title of the statements that are read before any number."""
_LIMITS = ("What it does not show", "What it rests on", "Left out")


class Result(Rendered):
    """What a report returns. `print` gives its statements, a notebook shows them, and `bayesbias.write` writes it."""

    page_in_folder: ClassVar[bool] = True
    """Whether a folder of the result holds its page too."""

    @property
    @abstractmethod
    def contents(self) -> Contents:
        """Title, statements, tables, figures, settings and diagnostics."""

    def to_dict(self) -> dict[str, Any]:
        """Return title, statements, tables and settings as plain Python, for JSON."""
        return self.contents.to_dict()


def contents_of(
    result: Result,
    *,
    title: str,
    about: str = "",
    captions: Mapping[str, str] | None = None,
    differences: Collection[str] = (),
    figures: Mapping[str, ResultFigure] | None = None,
) -> Contents:
    """Return the contents of a result that is a dataclass: its frames are tables, its texts and numbers settings.

    Parameters
    ----------
    result
        A result whose parts are titled as usual: ``"Beware"`` for diagnostics, ``"What it does not show"``.
    title, about, figures
        As in `Contents`.
    captions
        Name of a frame -> its caption, for those whose name does not say what they are.
    differences
        Names of frames whose estimates are differences.
    """
    parts = result.parts
    texts = captions or {}
    tables, settings = {}, {}
    for name, value in vars(result).items():
        words = name.replace("_", " ")
        heading = words[:1].upper() + words[1:]
        if hasattr(value, "columns"):
            tables[name] = ResultTable(value, heading, texts.get(name, heading), differences=name in differences)
        elif isinstance(value, str | float | int) and value != "":
            settings[heading] = str(value)
    return Contents(
        title=title,
        about=about,
        diagnostics=tuple(text for part in parts if part.title == BEWARE for text in part.statements),
        answers=tuple(text for part in parts if not part.title for text in part.statements),
        parts=tuple(part for part in parts if part.title not in ("", BEWARE, *_LIMITS)),
        tables=tables,
        figures=figures or {},
        limits=tuple(text for part in parts if part.title in _LIMITS for text in part.statements),
        settings=settings,
    )


@dataclass(frozen=True, eq=False, repr=False)
class ResultGroup(Result):
    """Several results that are written together, such as the checks of a fit.

    Parameters
    ----------
    title
        Title of the page.
    results
        By name; a name that two results would give to a file of each precedes it.
    """

    title: str
    results: Mapping[str, Result]

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of all results, one after the other."""
        return tuple(part for result in self.results.values() for part in result.parts)

    @property
    def contents(self) -> Contents:
        """The contents of all results, one after the other."""
        every = {name: result.contents for name, result in self.results.items()}
        tables: dict[str, ResultTable] = {}
        figures: dict[str, ResultFigure] = {}
        for name, contents in every.items():
            for key, table in contents.tables.items():
                section = f"{contents.title}: {table.section.lower()}"
                tables[f"{name}_{key}" if len(every) > 1 else key] = replace(table, section=section)
            for key, figure in contents.figures.items():
                drawn = self.results[name] if figure.drawn is None else figure.drawn
                section = f"{contents.title}: {figure.section.lower() or 'figure'}"
                figures[key if key not in figures else f"{name}_{key}"] = replace(figure, drawn=drawn, section=section)
        parts = [
            StatementList(
                contents.title if not part.title else f"{contents.title}: {part.title}", part.statements, part.bulleted
            )
            for contents in every.values()
            for part in contents.parts
        ]
        return Contents(
            title=self.title,
            about=" ".join(dict.fromkeys(contents.about for contents in every.values() if contents.about)),
            diagnostics=tuple(text for contents in every.values() for text in contents.diagnostics),
            verdict=" ".join(contents.verdict for contents in every.values() if contents.verdict),
            parts=tuple(parts),
            tables=tables,
            figures=figures,
            limits=tuple(text for contents in every.values() for text in contents.limits),
            settings={
                f"{name}: {key}": text for name, contents in every.items() for key, text in contents.settings.items()
            },
        )
