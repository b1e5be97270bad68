"""A result's tables as LaTeX, for a paper: booktabs, with every word escaped."""

import re

from bayesbias.base.escapes import visible
from bayesbias.base.results import Result
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.page.sections import table_block

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
}


_PACKAGES = r"% \usepackage{booktabs, graphicx, longtable}"
# A float of more rows does not fit on a page.
_MOST_ROWS_OF_A_PAGE = 40
# A table that is wider than the text is scaled down to it.
_TO_TEXT_WIDTH = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_NARROW = r"\begingroup\scriptsize\setlength{\tabcolsep}{2pt}"


def latex(result: Result) -> str:
    """Return the tables of a result as LaTeX, after a comment that names the packages they need."""
    filled_tables = [table for table in result.contents.tables.values() if len(table.frame)]
    return "\n".join([_PACKAGES, *(latex_table(table_block(table)) for table in filled_tables)])


def latex_table(table: Table) -> str:
    r"""Return a table as LaTeX, with its caption and with numbers aligned to the right.

    A table that is longer than a page becomes a `longtable`.

    >>> print(latex_table(Table("89 % HPDI", ("Word", "Mean"), (("she_1", "0.1"),), (True, False))))
    \begin{table}
    \centering
    \caption{89 \% HPDI}
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
    caption, header = rf"\caption{{{escaped(table.caption)}}}", f"{' & '.join(map(escaped, table.header))} \\\\"
    if len(rows) > _MOST_ROWS_OF_A_PAGE:
        begin = [_NARROW, rf"\begin{{longtable}}{{{columns}}}", rf"{caption} \\"]
        end = [r"\end{longtable}", r"\endgroup", ""]
        lines = [*begin, r"\toprule", header, r"\midrule", r"\endhead", *rows, r"\bottomrule", *end]
    else:
        begin = [r"\begin{table}", r"\centering", caption, _TO_TEXT_WIDTH, rf"\begin{{tabular}}{{{columns}}}"]
        end = [r"\end{tabular}}", r"\end{table}", ""]
        lines = [*begin, r"\toprule", header, r"\midrule", *rows, r"\bottomrule", *end]
    return "\n".join(lines)


def _cells(table: Table, row: tuple[str, ...]) -> list[str]:
    r"""Return the cells of a row, with signs of numbers as mathematics sets them.

    >>> _cells(Table("", ("Word", "Interval"), (), (True, False)), ("x-1", "-0.5 to +0.1"))
    ['x-1', '$-$0.5 to $+$0.1']
    """
    return [
        escaped(cell) if text else re.sub(r"(?<!\w)([+-])(?=\d)", r"$\1$", escaped(cell))
        for cell, text in zip(row, table.texts, strict=True)
    ]


def escaped(text: str) -> str:
    r"""Return a text in which no character is a command of LaTeX or invisible.

    >>> escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in visible(text))
