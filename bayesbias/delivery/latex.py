"""A result's tables as LaTeX, for a paper: booktabs, with every word escaped."""

from bayesbias.base.results import Result
from bayesbias.delivery.page.blocks import Table
from bayesbias.delivery.sections import table_block

_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\n": " ",
}


def latex(result: Result) -> str:
    """Return the tables of a result as LaTeX, which needs the package booktabs."""
    filled_tables = [table for table in result.contents.tables.values() if len(table.frame)]
    return "\n".join(latex_table(table_block(table)) for table in filled_tables)


def latex_table(table: Table) -> str:
    r"""Return a table as LaTeX, with its caption and with numbers aligned to the right.

    >>> print(latex_table(Table("89 % HPDI", ("Word", "Mean"), (("she_1", "0.1"),), (True, False))))
    \begin{table}
    \centering
    \caption{89 \% HPDI}
    \begin{tabular}{lr}
    \toprule
    Word & Mean \\
    \midrule
    she\_1 & 0.1 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    rows = [f"{' & '.join(map(escaped, row))} \\\\" for row in table.rows]
    lines = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{escaped(table.caption)}}}"),
        rf"\begin{{tabular}}{{{''.join('l' if text else 'r' for text in table.texts)}}}",
        *(r"\toprule", f"{' & '.join(map(escaped, table.header))} \\\\", r"\midrule", *rows, r"\bottomrule"),
        *(r"\end{tabular}", r"\end{table}", ""),
    ]
    return "\n".join(lines)


def escaped(text: str) -> str:
    r"""Return a text in which no character is a command of LaTeX.

    >>> escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in text)
