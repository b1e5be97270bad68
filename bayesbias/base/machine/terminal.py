"""Text for a terminal, in which words and names that others wrote cannot move its cursor or change its colours."""

import sys
from typing import TextIO

from bayesbias.base.escapes import visible


def show(text: object, file: TextIO | None = None) -> None:
    """Print a text with its control characters visible; readers of a pipe see it at once."""
    print(visible(text), file=file or sys.stdout, flush=True)
