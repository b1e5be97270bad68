"""A result as Markdown: its statements, tables and settings; figures stay in pages and folders."""

import re

from bayesbias.base.escapes import visible
from bayesbias.base.results import Contents, Result
from bayesbias.base.statements import StatementList, markdown_sentence, markdown_text
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.page.sections import SETTINGS, table_block


def markdown(result: Result) -> str:
    """Return a result as Markdown."""
    contents = result.contents
    lines = [f"# {markdown_text(contents.title)}", "", markdown_sentence(contents.about), ""]
    lines += [f"> **Note.** {markdown_sentence(statement.text)}\n" for statement in contents.diagnostics]
    lines += [markdown_sentence(contents.verdict), ""] if contents.verdict else []
    for part in statement_lists(contents):
        lines += _part_lines(part)
    for table in contents.tables.values():
        if len(table.frame):
            lines += [f"## {markdown_text(table.section)}", ""] + (
                [markdown_sentence(table.note), ""] if table.note else []
            )
            lines += table_lines(table_block(table))
    if contents.settings or contents.code:
        lines += [f"## {SETTINGS}", "", *_setting_lines(contents)]
    return "\n".join(lines)


def statement_lists(contents: Contents) -> tuple[StatementList, ...]:
    """Return all statements of a result below its verdict, in reading order."""
    limits = StatementList("What it does not show", contents.limits)
    return (StatementList("", contents.answers), *contents.parts, limits)


def table_lines(table: Table) -> list[str]:
    """Return a table as lines of Markdown, with numbers aligned to the right.

    >>> table_lines(Table("Two words", ("Word", "Mean"), (("he", "0.1"),), (True, False)))[2:5]
    ['| Word | Mean |', '| --- | ---: |', '| he | 0.1 |']
    """
    rule = ["---" if text else "---:" for text in table.texts]
    rows = [table.header, rule, *table.rows]
    return [markdown_sentence(table.caption), "", *(f"| {' | '.join(map(markdown_text, row))} |" for row in rows), ""]


def _part_lines(part: StatementList) -> list[str]:
    if not part.statements:
        return []
    title = [f"## {markdown_text(part.title)}", ""] if part.title else []
    return [
        *title,
        *(f"{'- ' if part.bulleted else ''}{markdown_sentence(statement.text)}" for statement in part.statements),
        "",
    ]


def _setting_lines(contents: Contents) -> list[str]:
    settings = [f"- {markdown_text(name)}: {markdown_text(text)}" for name, text in contents.settings.items()]
    # No name in the code can close it.
    fence = "`" * (1 + max(map(len, ["``", *re.findall("`+", contents.code)])))
    return [*settings, *(["", f"{fence}python", visible(contents.code), fence] if contents.code else []), ""]
