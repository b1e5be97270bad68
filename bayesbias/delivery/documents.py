"""A result as a document without figures: Markdown, LaTeX tables for a paper, and Word."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from bayesbias.base.machine import require
from bayesbias.base.number_text import visible
from bayesbias.base.results import Contents, ContentsSection, Result
from bayesbias.base.statements import StatementList, markdown_sentence, markdown_text
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.page.sections import SETTINGS, table_block
from bayesbias.errors import OutputError
from bayesbias.reports.guidelines import ReportingItem, guideline_rows
from bayesbias.reports.posterior.references import Bibliography

_PACKAGES = r"% \usepackage{{booktabs, {more}}}"
# A float of more rows does not fit on a page.
_MOST_ROWS_OF_A_PAGE = 40
# A table that is wider than the text is scaled down to it.
_TO_TEXT_WIDTH = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_NARROW = r"\begingroup\scriptsize\setlength{\tabcolsep}{2pt}"


def markdown(result: Result) -> str:
    """Return a result as Markdown."""
    contents = result.contents
    lines = [f"# {markdown_text(contents.title)}", "", markdown_sentence(contents.about), ""]
    lines += [f"> **Note.** {markdown_sentence(statement.text)}\n" for statement in contents.alerts]
    for text in (contents.answer, contents.estimate):
        lines += [markdown_sentence(text), ""] if text else []
    for section in _written_sections(contents):
        lines += [f"## {markdown_text(section.title)}", ""]
        for part in section.parts:
            lines += _part_lines(part)
        for table in section.tables:
            lines += [markdown_sentence(table.note), ""] if table.note else []
            lines += table_lines(table_block(table))
    if contents.settings or contents.code:
        lines += [f"## {SETTINGS}", "", *_setting_lines(contents)]
    return "\n".join(lines)


def _written_sections(contents: Contents) -> list[ContentsSection]:
    """Return the sections that have more than figures."""
    return [section for section in contents.sections if section.parts or section.tables]


def table_lines(table: Table) -> list[str]:
    """Return a table as lines of Markdown, with numbers aligned to the right.

    >>> table_lines(Table("Two words", ("Word", "Mean"), (("he", "0.1"),), (True, False)))[2:5]
    ['| Word | Mean |', '| --- | ---: |', '| he | 0.1 |']
    """
    rule = ["---" if text else "---:" for text in table.texts]
    rows = [table.header, rule, *table.rows]
    lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in rows]
    legend = [markdown_sentence(table.legend), ""] if table.legend else []
    return [markdown_sentence(table.caption), "", *lines, "", *legend]


def terminal_table(table: Table) -> str:
    """Return a table as text for a terminal, between its caption and its legend.

    >>> print(terminal_table(Table("Two words", ("Word", "Mean"), (("he", "0.1"), ("she", "-0.2")), (True, False))))
    Two words
    Word  Mean
    he     0.1
    she   -0.2
    """
    rows = [[visible(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, table.texts, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([visible(table.caption), *lines, *filter(None, [visible(table.legend)])])


def _part_lines(part: StatementList) -> list[str]:
    texts = [markdown_sentence(statement.text) for statement in part.statements]
    return [*(f"- {text}" for text in texts), ""] if part.bulleted else [line for text in texts for line in (text, "")]


def _setting_lines(contents: Contents) -> list[str]:
    settings = [f"- {markdown_text(name)}: {markdown_text(text)}" for name, text in contents.settings.items()]
    # No name in the code can close it.
    fence = "`" * (1 + max(map(len, ["``", *re.findall("`+", contents.code)])))
    return [*settings, *(["", f"{fence}python", visible(contents.code), fence] if contents.code else []), ""]


_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    "|": r"\textbar{}",
    **{sign: f"{{{sign}}}" for sign in "[*"},  # after a line break, these would be its options
    ">": r"\textgreater{}",
    '"': r"\char34{}",  # a command in German documents
    "\n": " ",
    # marks of a table, which the fonts of pdflatex lack
    **{"●": r"$\bullet$", "⊙": r"$\odot$", "○": r"$\circ$", "←": r"$\leftarrow$", "→": r"$\rightarrow$"},
}


def latex(result: Result, name: str, *, full: bool = False) -> str:
    """Return the tables of a result as LaTeX, after a comment that names the packages they need.

    These are the tables that a page shows unfolded, if it has any and not all are wanted (`full`). Their labels are
    `name`, with the name of a table if there are several.
    """
    contents = result.contents
    shown = {key: table for key, table in contents.tables.items() if table.on_page and len(table.frame)}
    unfolded = {key: table for key, table in shown.items() if table.section in contents.opened and not table.folded}
    shown = shown if full else unfolded or shown
    tables = {key: table_block(table) for key, table in shown.items()}
    labels = [name if len(tables) == 1 else f"{name}-{key}" for key in tables]
    texts = [latex_table(table, label) for table, label in zip(tables.values(), labels, strict=True)]
    kinds = {"graphicx": r"\begin{table}", "longtable": r"\begin{longtable}"}
    more = ", ".join(package for package, begin in kinds.items() if any(begin in text for text in texts))
    return "\n".join([_PACKAGES.format(more=more), *texts])


def latex_table(table: Table, label: str) -> str:
    r"""Return a table as LaTeX, with its caption, label and legend, and with numbers aligned to the right.

    A table that is longer than a page becomes a `longtable`.

    >>> print(latex_table(Table("89 % HPDI", ("Word", "Mean"), (("she_1", "0.1"),), (True, False)), "my_words"))
    \begin{table}
    \centering
    \caption{89 \% HPDI}
    \label{tab:my-words}
    \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
    \begin{tabular}{lr}
    \toprule
    Word & Mean \\
    \midrule
    she\_1 & 0.1 \\
    \bottomrule
    \end{tabular}}
    \end{table}
    <BLANKLINE>
    """
    rows = [f"{' & '.join(_cells(table, row))} \\\\" for row in table.rows]
    columns = "".join("l" if text else "r" for text in table.texts)
    caption, header = rf"\caption{{{typeset(table.caption)}}}", f"{' & '.join(map(escaped, table.header))} \\\\"
    legend = [rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {typeset(table.legend)}}}"] if table.legend else []
    # In a label, other characters are commands or do not reach the .aux file as they are.
    reference = rf"\label{{tab:{re.sub(r'[^A-Za-z0-9]+', '-', label).strip('-')}}}"
    if len(rows) > _MOST_ROWS_OF_A_PAGE:
        begin = [_NARROW, rf"\begin{{longtable}}{{{columns}}}", rf"{caption}{reference} \\"]
        end = [r"\end{longtable}", r"\endgroup", *legend, ""]
        lines = [*begin, r"\toprule", header, r"\midrule", r"\endhead", *rows, r"\bottomrule", *end]
    else:
        begin = [r"\begin{table}", r"\centering", caption, reference, _TO_TEXT_WIDTH]
        begin.append(rf"\begin{{tabular}}{{{columns}}}")
        end = [r"\end{tabular}}", *legend, r"\end{table}", ""]
        lines = [*begin, r"\toprule", header, r"\midrule", *rows, r"\bottomrule", *end]
    return "\n".join(lines)


def _cells(table: Table, row: tuple[str, ...]) -> list[str]:
    r"""Return the cells of a row, with signs of numbers as mathematics sets them.

    >>> _cells(Table("", ("Word", "Interval"), (), (True, False)), ("x-1", "-0.5 to +0.1"))
    ['x-1', '$-$0.5 to $+$0.1']
    """
    return [
        escaped(cell).replace(" - ", " $-$ ") if text else typeset(cell)
        for cell, text in zip(row, table.texts, strict=True)
    ]


def typeset(text: str) -> str:
    """Return an escaped text with signs and differences as in mathematics, and with opening quotation marks.

    >>> typeset("'arts' has -0.1")
    "`arts' has $-$0.1"
    """
    quoted = re.sub(r"(?<!\w)'(?=\w)", "`", escaped(text))
    return re.sub(r"(?<!\w)([+-])(?=\d)", r"$\1$", quoted).replace(" - ", " $-$ ")


def escaped(text: str) -> str:
    r"""Return a text in which no character is a command of LaTeX or invisible.

    >>> escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in visible(text))


# Bold type, code, and what `markdown_text` writes for a sign that is markup.
_BOLD, _CODE, _SIGN = re.compile(r"(?<!\\)\*\*"), re.compile(r"(?<!\\)`"), re.compile(r"\\([!-/:-@\[-`{-~])")


def latex_methods(prose: str, cited: Bibliography, items: Sequence[ReportingItem] = ()) -> str:
    """Return the methods section as LaTeX that cites the entries of its .bib file by natbib.

    Tables answer the `items` of reporting guidelines.
    """
    text = latex_prose(prose)
    for citation, command in cited.commands.items():
        # No longer name of an author may end with a shorter one.
        text = re.sub(rf"(?<!\w){re.escape(escaped(citation))}", command.replace("\\", r"\\"), text)
    packages = (
        r"% \usepackage{natbib}; after the text: \bibliographystyle{plainnat} \bibliography{NAME of the .bib file}"
    )
    tables = list(_guideline_lines(items))
    packages = rf"{packages}{'; packages booktabs, longtable' if tables else ''}"
    return "\n".join([packages, text, "", *tables, rf"\nocite{{{','.join(cited.keys)}}}"])


def _guideline_lines(items: Sequence[ReportingItem]) -> Iterator[str]:
    """Yield the lines of a longtable of each guideline, whose answers are paragraphs."""
    for guideline, rows in guideline_rows(items):
        yield from (
            r"\begin{longtable}{lp{0.25\linewidth}p{0.6\linewidth}}",
            rf"\caption{{{typeset(guideline)}}} \\",
            r"\toprule",
            r"Item & Asks for & Answer \\",
            r"\midrule",
            r"\endhead",
            *(rf"{' & '.join(map(typeset, row))} \\" for row in rows),
            r"\bottomrule",
            r"\end{longtable}",
            "",
        )


def latex_prose(prose: str) -> str:
    r"""Return paragraphs of Markdown that have no more than bold type and code, as those of `bb.methods`, as LaTeX.

    >>> print(latex_prose(r"**Note:** code has a 50% HPDI from -0.1 to +0.2 of the word \*a\_b\*."))
    \textbf{Note:} code has a 50\% HPDI from $-$0.1 to $+$0.2 of the word {*}a\_b{*}.
    """
    return "\n\n".join(
        "".join(
            rf"\textbf{{{_latex_code(part)}}}" if place % 2 else _latex_code(part)
            for place, part in enumerate(_BOLD.split(paragraph))
        )
        for paragraph in prose.split("\n\n")
    )


def _latex_code(text: str) -> str:
    """Return a text of Markdown without bold type as LaTeX."""
    parts = [unescape(_SIGN.sub(r"\1", part)) for part in _CODE.split(text)]
    return "".join(rf"\texttt{{{escaped(part)}}}" if place % 2 else typeset(part) for place, part in enumerate(parts))


def docx_module(name: str = "docx") -> Any:
    """Return a module of python-docx; raise an `OutputError` that names the extra if it is not installed."""
    return require(name, "docx", "A .docx file", error=OutputError, advice="Or write .html, which Word opens too.")


def write_docx(result: Result, path: Path) -> None:
    """Write a result as a Word document."""
    document, contents = docx_module().Document(), result.contents

    def add(text: str, style: str | None = None) -> None:
        if text:
            document.add_paragraph(visible(text), style)

    document.add_heading(visible(contents.title), 0)
    add(contents.about)
    for statement in contents.alerts:
        add(f"Note. {statement.text}", "Intense Quote")
    add(contents.answer)
    add(contents.estimate)
    for section in _written_sections(contents):
        add(section.title, "Heading 1")
        for part in section.parts:
            for statement in part.statements:
                add(statement.text, "List Bullet" if part.bulleted else None)
        for table in section.tables:
            add(table.note)
            block = table_block(table)
            add(block.caption, "Caption")
            _add_table(document, block)
            add(block.legend)
    if contents.settings or contents.code:
        add(SETTINGS, "Heading 1")
    for name, text in contents.settings.items():
        add(f"{name}: {text}", "List Bullet")
    add(contents.code)
    document.save(str(path))


def _add_table(document: Any, table: Table) -> None:
    right = docx_module("docx.enum.text").WD_ALIGN_PARAGRAPH.RIGHT
    grid = document.add_table(rows=0, cols=len(table.header), style="Light List")
    for row in (table.header, *table.rows):
        for cell, text, is_text in zip(grid.add_row().cells, row, table.texts, strict=True):
            cell.text = visible(text)
            if not is_text:
                cell.paragraphs[0].alignment = right
