"""Exit codes of every command, in one table: the help of `bayesbias gate` and the guide show it."""

from dataclasses import dataclass
from sqlite3 import OperationalError

from bayesbias.base.machine import INTERRUPTED, TERMINATED
from bayesbias.errors import BayesBiasError, ClusterError


@dataclass(frozen=True)
class ExitCode:
    """An exit code, the outcome that it stands for, and what this means."""

    code: int
    outcome: str
    meaning: str


PASS, FAIL, UNDECIDED, UNANSWERED = "pass", "fail", "undecided", "unanswered"
INCOMPARABLE, CHANGED = "not comparable", "changed plan"
FAULT, MISTAKE = "fault", "mistake"

_TABLE = (
    ExitCode(0, PASS, "the whole interval of each question lies inside the region; of other commands: done"),
    ExitCode(1, FAULT, "a file, the disk, memory, a service or a cluster failed: nothing was decided"),
    ExitCode(2, MISTAKE, "in the plan, the options or the content of a file: nothing was decided"),
    ExitCode(3, FAIL, "the whole interval of a question lies beyond the region"),
    ExitCode(4, UNDECIDED, "an interval is partly outside; more words narrow it"),
    ExitCode(5, UNANSWERED, "an embedding lacks a list or cannot be read; the other questions have answers"),
    ExitCode(6, INCOMPARABLE, "the vectors hide associations, or have another scale than those of the baseline"),
    ExitCode(7, CHANGED, "the plan asks less than that of the baseline, or something else"),
    ExitCode(INTERRUPTED, "interrupted", "by Ctrl-C"),
    ExitCode(TERMINATED, "terminated", "by SIGTERM, or by SIGHUP at the end of a terminal"),
)
EXIT_CODES = {row.outcome: row for row in _TABLE}
"""Outcome -> its exit code."""
SEVERITY = (FAIL, CHANGED, UNANSWERED, INCOMPARABLE, UNDECIDED, PASS)
"""Outcomes of a gate, the most severe one first: the first that holds is that of the whole gate."""


def failure(error: BaseException) -> str:
    """Return the outcome of a command that an error ended: a fault of the machine, or a mistake.

    A fault is a lack of memory, the loss of workers, or an error that the system or a service caused; the same command
    can succeed later.

    >>> from bayesbias.errors import ArgumentError, NotEnoughMemoryError
    >>> failure(ArgumentError("rope=-1: give a half-width.")), failure(NotEnoughMemoryError("Take fewer draws."))
    ('mistake', 'fault')
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError | ClusterError | ConnectionError | TimeoutError | OperationalError):
            return FAULT
        if isinstance(cause, OSError) and cause.errno is not None and not isinstance(cause, BayesBiasError):
            return FAULT  # an OSError without a number is one of a library on damaged content
        cause = cause.__cause__
    return MISTAKE


def exit_code_lines() -> str:
    """Return the table as paragraphs of a help text: those of a gate by severity, then the others."""
    names = (*SEVERITY, *(name for name in EXIT_CODES if name not in SEVERITY))
    width = max(map(len, names))
    return "\n\n".join(f"    {EXIT_CODES[name].code:>3}  {name:<{width}}  {EXIT_CODES[name].meaning}" for name in names)


def exit_code_markdown() -> str:
    """Return the table in Markdown, as the guide has it."""
    rows = [f"| {row.code} | {row.outcome} | {row.meaning} |" for row in _TABLE]
    return "\n".join(["| exit code | outcome | meaning |", "|---|---|---|", *rows])
