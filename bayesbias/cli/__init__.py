"""The command line: each command calls public functions and computes nothing itself.

Each module holds the commands under one heading of `bayesbias --help`. `options` has all options, `base` makes a
function a command, and `called` reads the defaults of the functions that commands call.
"""

import sys
import warnings
from contextlib import ExitStack
from io import TextIOWrapper
from typing import Any, TextIO

from bayesbias.base.exit_codes import EXIT_CODES, FAULT, MISTAKE, failure
from bayesbias.base.files.settings import ignore_foreign_settings
from bayesbias.base.machine import INTERRUPTED, TERMINATED, open_closed_streams, show
from bayesbias.cli import (  # noqa: F401 - each room adds its commands
    asymmetry_and_reliability,
    debiasing,
    first_answer,
    lists_and_fits,
    many_questions,
    measures,
    own_embeddings,
)
from bayesbias.cli.base import app, held_outputs
from bayesbias.cli.messages import of_command, spoken
from bayesbias.errors import BayesBiasError, BayesBiasWarning, command_line_messages

__all__ = ["app", "main"]

# The groups under which `bayesbias --help` lists the commands, in the order of use: a room each.
_GROUPS = {
    "From an embedding to an answer": ("demo", "table", "fit", "report"),
    "Word lists, models, more of a fit": (
        *("studies", "models", "plan", "words", "summary", "contrast", "factors", "covariate", "methods", "check"),
    ),
    "Many embeddings and questions": ("audit", "gate", "compare", "trend", "trainings", "random-lists"),
    "Measures": ("measures", "measure", "weat", "project", "null", "intrinsic", "quality"),
    "Debiasing and its consequences": ("debias", "nli"),
    "Asymmetry and reliability": ("asymmetry", "reliability"),
    "Embeddings of your own": ("train", "index-contexts", "contextual", "encode", "common-part"),
}
_PLACES = {name: (place, group) for place, (group, name) in enumerate((g, n) for g, ns in _GROUPS.items() for n in ns)}


def _arrange_commands() -> None:
    """Sort the commands into their groups, in the order of use."""
    registered: tuple[Any, ...] = (*app.registered_groups, *app.registered_commands)
    for command in registered:
        command.rich_help_panel = _PLACES[command.name][1]
    app.registered_commands.sort(key=lambda command: _PLACES[str(command.name)][0])


_arrange_commands()


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, BayesBiasWarning):
        text = spoken(message).replace("\n", "\n  ")  # words of a file cannot look like another message
        show(f"warning: {text}", file or sys.stderr)
    else:
        show(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n"), file or sys.stderr)


def _output_status() -> str:
    """Return which outputs the stopped command had finished."""
    from bayesbias.base.files.outputs import written

    paths = ", ".join(map(str, written()))
    return f"{paths} is complete" if paths else "nothing was written"


def _interrupt_behind(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    """Return the interrupt behind an error: a compiled module that one stops while it is imported is an ImportError."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt | SystemExit):
        behind = behind.__cause__ or behind.__context__
    return behind


def main(held: ExitStack | None = None) -> None:
    """Run the command line; a mistake or a fault of the machine prints one message and ends with its exit code.

    `held` is what holds interrupts back, until here.
    """
    open_closed_streams()
    if sys.flags.optimize > 1:
        print("error: Python runs without docstrings (-OO), which ArviZ needs. Use -O or no option.", file=sys.stderr)
        sys.exit(EXIT_CODES[MISTAKE].code)
    warnings.showwarning = _show_warning
    warnings.filterwarnings(
        "default", category=BayesBiasWarning
    )  # warnings belong to the answer, whatever `python -W` says
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that lacks a character must not stop the command
            stream.reconfigure(errors="backslashreplace")
    try:
        ignore_foreign_settings()
        with command_line_messages(of_command), held_outputs:
            if held is not None:
                held.close()
            app()
    except BayesBiasError as error:
        show(f"error: {spoken(error)}", sys.stderr)
        sys.exit(EXIT_CODES[failure(error)].code)
    except (KeyboardInterrupt, SystemExit, ImportError) as error:
        if (stop := _interrupt_behind(error)) is None:
            raise
        # Typer turns an interrupt into an exit code without a message.
        code = INTERRUPTED if isinstance(stop, KeyboardInterrupt) else stop.code
        if code in (INTERRUPTED, TERMINATED):
            sys.unraisablehook = lambda _: None  # files open at the interrupt cannot always be closed
            show(f"{'interrupted' if code == INTERRUPTED else 'terminated'}: {_output_status()}", sys.stderr)
            sys.exit(code)
        if code == EXIT_CODES[MISTAKE].code:  # Typer has said what is wrong
            many_questions.record_misread_gate(sys.argv[1:])
        raise
    except MemoryError as error:
        print(
            f"error: out of memory ({str(error) or 'no memory left'}). Use fewer words or fewer draws.",
            file=sys.stderr,
        )
        sys.exit(EXIT_CODES[FAULT].code)
    except OSError as error:
        # Only the terminal or the pipe of the output can fail here: it is full or closed.
        show(f"error: {error.strerror or error}", sys.stderr)
        sys.exit(EXIT_CODES[FAULT].code)
