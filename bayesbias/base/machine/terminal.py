r"""Text for a terminal, in which words and names that others wrote cannot move its cursor or change its colours."""

import re
import sys
from typing import TextIO

CONTROL_CHARACTERS = "\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
"""Ranges of a regular expression: control characters but tabs and ends of lines, and what overrides the direction."""

_CONTROL = re.compile(f"[{CONTROL_CHARACTERS}\u200e\u200f]")


def visible(text: object) -> str:
    r"""Return a text in which control characters are shown as Python writes them.

    >>> print(visible("\x1b[31mred"))
    \x1b[31mred
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], str(text))


def show(text: object, file: TextIO | None = None) -> None:
    """Print a text with its control characters visible; readers of a pipe see it at once."""
    print(visible(text), file=file or sys.stdout, flush=True)
