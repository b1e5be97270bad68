r"""Words and names of others as texts that mislead no reader, terminal, spreadsheet or parser.

Control characters, and characters that are invisible or change the direction of a text, are shown as Python writes
them: ``\x1b``, ``\u202e``. Markup is escaped by the function of each form: HTML and Markdown in `statements`, LaTeX in
`bayesbias.delivery.latex`.
"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Control characters but tabs and ends of lines; what is invisible, ends lines or changes the direction of a text, but
# joiners, which scripts and emoji need; halves of surrogate pairs, and what XML has not.
_HIDDEN = (
    "\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff"
)
_HIDDEN_SIGN = re.compile(f"[{_HIDDEN}]")
# A spreadsheet takes these signs for the beginning of a formula, in a cell, and after a semicolon, where it may begin
# another cell.
_IN_CELL = re.compile(f'[{_HIDDEN}\t\n\\\\]|(?:^|(?<=;))[ "]*[=+@\uff0b\uff0d\uff1d\uff20-]')


def visible(text: object) -> str:
    r"""Return a text in which control characters and invisible ones are shown as Python writes them.

    >>> print(visible("\x1b[31mred \u202eturned"))
    \x1b[31mred \u202eturned
    """
    return _HIDDEN_SIGN.sub(lambda match: ascii(match[0])[1:-1], str(text))


def csv_cell(text: str) -> str:
    r"""Return a text as a cell of a CSV, in which it is no formula; as in a Python literal, a backslash is doubled.

    >>> print(csv_cell("=1+1"), csv_cell("-lrb-"), csv_cell("'s"), csv_cell("a\\b"))
    \x3d1+1 \x2dlrb- 's a\\b
    """
    return _IN_CELL.sub(lambda match: match[0][:-1] + _literal(match[0][-1]), text)


def _literal(sign: str) -> str:
    shown = ascii(sign)[1:-1]
    return f"\\x{ord(sign):02x}" if shown == sign else shown


def write_csv(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table of a report as CSV: numbers unrounded, texts and the names of columns as `csv_cell` shows them."""
    import pandas as pd

    def cell(value: Any) -> Any:
        return csv_cell(value) if isinstance(value, str) else value

    columns = [
        column if pd.api.types.is_numeric_dtype(column) else column.astype(object).map(cell)
        for _, column in frame.items()
    ]
    texts = pd.concat(columns, axis=1) if columns else pd.DataFrame(frame)
    texts.columns = texts.columns.map(cell)
    texts.to_csv(path, index=False)


def json_text(data: Any, *, indent: int = 2) -> str:
    r"""Return data as JSON, in which control characters and invisible ones are escapes, which readers decode.

    >>> print(json_text(["caf\u00e9 \u202e"], indent=0))
    [
    "café \u202e"
    ]
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    return _HIDDEN_SIGN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
