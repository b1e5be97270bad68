"""A result as a Word document: its statements, tables and settings; figures stay in pages and folders."""

from pathlib import Path
from typing import Any

from bayesbias.base.escapes import visible
from bayesbias.base.machine.extras import require
from bayesbias.base.results import Result
from bayesbias.delivery.markdown import statement_lists
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.page.sections import SETTINGS, table_block
from bayesbias.errors import OutputError


def docx_module(name: str = "docx") -> Any:
    """Return a module of python-docx; raise an `OutputError` that names the extra if it is not installed."""
    return require(name, "docx", "A .docx file", error=OutputError, advice="Or write .md, which Word can open.")


def write_docx(result: Result, path: Path) -> None:
    """Write a result as a Word document."""
    document, contents = docx_module().Document(), result.contents

    def add(text: str, style: str | None = None) -> None:
        if text:
            document.add_paragraph(visible(text), style)

    document.add_heading(visible(contents.title), 0)
    add(contents.about)
    for statement in contents.diagnostics:
        add(f"Note. {statement.text}", "Intense Quote")
    add(contents.verdict)
    for part in statement_lists(contents):
        add(part.title if part.statements else "", "Heading 1")
        for statement in part.statements:
            add(statement.text, "List Bullet" if part.bulleted else None)
    for table in contents.tables.values():
        if len(table.frame):
            add(table.section, "Heading 1")
            add(table.note)
            add(table.caption, "Caption")
            _add_table(document, table_block(table))
    if contents.settings or contents.code:
        add(SETTINGS, "Heading 1")
    for name, text in contents.settings.items():
        add(f"{name}: {text}", "List Bullet")
    add(contents.code)
    document.save(str(path))


def _add_table(document: Any, table: Table) -> None:
    """Add a table with numbers aligned to the right."""
    right = docx_module("docx.enum.text").WD_ALIGN_PARAGRAPH.RIGHT
    grid = document.add_table(rows=0, cols=len(table.header), style="Light List")
    for row in (table.header, *table.rows):
        for cell, text, is_text in zip(grid.add_row().cells, row, table.texts, strict=True):
            cell.text = visible(text)
            if not is_text:
                cell.paragraphs[0].alignment = right
