"""Sections of the page of any result."""

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from re import sub
from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import counted
from bayesbias.base.results import SHOWS, Contents, ContentsSection, Result, ResultFigure, ResultTable
from bayesbias.base.statements import rows_of
from bayesbias.delivery.glossary import MISSING, column, intervals_joined, value_writer
from bayesbias.delivery.page.blocks import (
    Beside,
    Block,
    Bullets,
    Figure,
    Heading,
    Notice,
    Paragraph,
    Section,
    Table,
    Verbatim,
    fact_table,
    figure,
)
from bayesbias.tables.measures import COSINE_DISTANCE, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

# Pages cut longer tables, and say so.
MOST_ROWS = 400
SETTINGS = "How to repeat it"


def drawn(result: Result, request: ResultFigure) -> "Drawing":
    """Return the drawing of a figure of a result."""
    room, _, name = request.plot.rpartition(".")
    plot = getattr(import_module(f"bayesbias.{room or 'delivery.plots'}"), name)
    drawing: Drawing = plot(result if request.data is None else request.data, **request.options)
    return drawing


def first_figure(result: Result, contents: Contents) -> tuple[Figure, ...]:
    """Return the figure that leads a page, if the result has one."""
    return tuple(
        figure(drawn(result, request), request.caption, request.alt) for request in list(contents.figures.values())[:1]
    )


def opened_sections(result: Result, contents: Contents) -> list[Section]:
    """Return the sections that a page shows unfolded: groups, words and doubts."""
    return _sections(result, contents, folded=False)


def folded_sections(result: Result, contents: Contents) -> list[Section]:
    """Return the sections that a page folds, of which the last repeats the result."""
    shown_tables = [table for table in contents.tables.values() if table.on_page and len(table.frame)]
    repeat = Section(_slug(SETTINGS), SETTINGS, [*_settings(contents), *_meanings(result, shown_tables)])
    return [*_sections(result, contents, folded=True), repeat]


def _sections(result: Result, contents: Contents, *, folded: bool) -> list[Section]:
    sections = [
        Section(_slug(section.title), section.title, _section_blocks(result, section))
        for section in contents.sections
        if section.folded == folded
    ]
    return [section for section in sections if section.blocks]


def _section_blocks(result: Result, section: ContentsSection) -> list[Block]:
    """Return the blocks of a section: statements, then figures and tables, a lone figure beside the first table."""
    blocks: list[Block] = []
    for part in section.parts:
        texts = tuple(statement.text for statement in part.statements)
        blocks += [Bullets(texts)] if part.bulleted else [Paragraph(text) for text in texts]
    figures = [figure(drawn(result, request), request.caption, request.alt) for request in section.figures]
    tables = [table for table in section.tables if table.on_page]
    blocks += [Paragraph(table.note) for table in tables[:1] if table.note]
    if len(figures) == 1 and tables and not (section.folded or tables[0].folded):
        blocks.append(Beside(table_block(tables[0]), figures[0]))
    else:
        blocks += [*figures, *map(table_block, tables[:1])]
    for table in tables[1:]:
        blocks += [*([Paragraph(table.note)] if table.note else []), table_block(table)]
    return blocks


def embedded(result: Result, slug: str, title: str, headlines: Sequence[str] = ()) -> Section:
    """Return a result as a section of the page of another one: its contents in their order."""
    contents = result.contents
    blocks: list[Block] = [Notice(alert.text) for alert in contents.alerts]
    blocks += [Paragraph(text) for text in (contents.answer, contents.estimate) if text]
    blocks += first_figure(result, contents)
    for section in (*opened_sections(result, contents), *folded_sections(result, contents)[:-1]):
        if section.title == SHOWS:
            blocks += [Paragraph(statement.text) for statement in contents.answers]
        else:
            blocks += [Heading(section.title), *section.blocks]
    if settings := "; ".join(f"{name.lower()} {text}" for name, text in contents.settings.items()):
        blocks.append(Paragraph(f"Settings: {settings}."))
    return Section(slug, title, blocks, headlines)


def table_block(table: ResultTable) -> Table:
    """Return a table of a result as a block of a page, with at most `MOST_ROWS` rows."""
    rows = table.frame.head(MOST_ROWS)
    names = _shown_columns(table)
    columns = [column(ends[0], table.frame) for ends in names]
    headings = [table.headings.get(ends[0], shown.heading) for ends, shown in zip(names, columns, strict=True)]
    texts = [shown.form in ("text", "words") for shown in columns]
    cells = []
    for ends, shown in zip(names, columns, strict=True):
        write = value_writer(shown.form, differences=table.differences, digits=table.digits)
        written = zip(*(map(write, rows[end]) for end in ends), strict=True)
        cells.append([MISSING if MISSING in parts else " to ".join(parts) for parts in written])
    caption = table.caption
    if len(rows) < len(table.frame):
        caption = f"{caption} (the first {len(rows):,} of {counted(len(table.frame), 'row')})"
    if table.mark is not None:
        headings.insert(1, "Answer")
        texts.insert(1, True)
        cells.insert(1, [table.mark(row) for row in rows_of(rows)])
    rows_of_texts = tuple(zip(*cells, strict=True))
    return Table(caption, tuple(headings), rows_of_texts, tuple(texts), table.folded, _legend(table, cells))


def _legend(table: ResultTable, cells: Sequence[Sequence[str]]) -> str:
    """Return the text below a table: the meanings of its marks, then its own sentences."""
    written = cells[1] if table.mark is not None else ()
    shown = {cell[:1] for cell in written if cell[2:] != table.marks.get(cell[:1])}
    marks = "; ".join(f"{sign} {meaning}" for sign, meaning in table.marks.items() if sign in shown)
    if any(cell[2:3] in ("←", "→") for cell in written):
        marks = "; ".join(filter(None, (marks, "← below 0; → above 0")))
    return " ".join(filter(None, (f"{marks}." if marks else "", table.legend)))


def _shown_columns(table: ResultTable) -> list[tuple[str, ...]]:
    """Return the columns that a page shows: those with a value, with interval ends joined."""
    frame = table.frame
    names = [str(name) for name in table.columns or frame.columns if name in frame]
    return intervals_joined([name for name in names if (frame[name].notna() & (frame[name].astype(str) != "")).any()])


def _settings(contents: Contents) -> list[Block]:
    facts = {**contents.settings, "bayesbias": version("bayesbias")}
    blocks: list[Block] = [fact_table("Settings", facts, header=("Setting", "Value"))]
    if contents.code:
        blocks += [Heading("In Python"), Verbatim(contents.code)]
    return blocks


def _meanings(result: Result, tables: list[ResultTable]) -> list[Block]:
    """Return a table of the meanings of the shown columns, in the words of the result's measure, or nothing."""
    meanings: dict[str, str] = {}
    measure = getattr(result, "measure", COSINE_DISTANCE)
    for table in tables:
        for ends in _shown_columns(table):
            shown: Any = column(ends[0], table.frame)
            if meaning := table.meanings.get(ends[0], shown.meaning):
                meaning = measure.phrase(meaning) if isinstance(measure, Measure) else meaning
                meanings[table.headings.get(ends[0], shown.heading)] = meaning
    if not meanings:
        return []
    return [fact_table("What the columns mean", meanings, header=("Column", "Meaning"), folded=True)]


def _slug(title: str) -> str:
    return sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
