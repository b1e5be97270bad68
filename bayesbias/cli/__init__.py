"""The command line: thin commands over the public names, no arithmetic.

A command stands in the file of its stage (`data`, `fits`, ...); `base` holds what they share.
"""

import signal
import sys
import warnings
from io import TextIOWrapper
from typing import TextIO

from bayesbias.cli import (
    asymmetry,
    audits,
    checks,
    contextual,
    data,
    debiasing,
    fits,
    inference,
    measures,
    reliability,
    scores,
    seeds,
    training,
)
from bayesbias.cli.base import app, held_outputs
from bayesbias.errors import BayesBiasError, BayesBiasWarning

__all__ = [
    "app",
    "asymmetry",
    "audits",
    "checks",
    "contextual",
    "data",
    "debiasing",
    "fits",
    "inference",
    "main",
    "measures",
    "reliability",
    "scores",
    "seeds",
    "training",
]


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, BayesBiasWarning):
        print(f"warning: {message}", file=file or sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


_INTERRUPTED, _TERMINATED = 130, 143


def _what_is_there() -> str:
    from bayesbias.base.outputs import written

    there = ", ".join(map(str, written()))
    return f"{there} is written, whole" if there else "nothing was written"


def main() -> None:
    """Run the command line; a user's mistake ends in one message and exit code 2."""
    if sys.flags.optimize > 1:
        print("error: Python runs without docstrings (-OO). ArviZ needs them: use -O at most.", file=sys.stderr)
        sys.exit(2)
    warnings.showwarning = _show_warning
    warnings.filterwarnings("default", category=BayesBiasWarning)  # they are part of the answer, `python -W` or not
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a letter that a terminal cannot show is no reason to stop
            stream.reconfigure(errors="backslashreplace")
    # As an error does, so that what is half done is cleared.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        with held_outputs:
            app()
    except BayesBiasError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as stop:
        # The framework turns an interrupt into its exit code, and says nothing.
        code = _INTERRUPTED if isinstance(stop, KeyboardInterrupt) else stop.code
        if code in (_INTERRUPTED, _TERMINATED):
            sys.unraisablehook = lambda _: None  # what was being made when it came cannot always be closed
            print(f"{'interrupted' if code == _INTERRUPTED else 'terminated'}: {_what_is_there()}", file=sys.stderr)
            sys.exit(code)
        raise
    except MemoryError as error:
        print(
            f"error: the memory is used up ({error or 'no more is given'}). Take fewer words, or draws.",
            file=sys.stderr,
        )
        sys.exit(1)
    except OSError as error:
        # What is left here is the terminal or the pipe that the output goes to: it is full, or gone.
        print(f"error: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
