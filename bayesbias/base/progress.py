"""One progress bar for all long work, in a terminal and in a notebook; and what interrupted work says."""

import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from bayesbias.base.number_text import visible
from bayesbias.base.statements import Statement
from bayesbias.errors import StoppedWarning, warn_user

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0  # seconds before a notebook shows a bar


class Bar(Protocol):
    """Bar of one piece of work."""

    def advance(self, count: float = 1) -> None:
        """Add finished steps."""

    def describe(self, text: str) -> None:
        """Replace the description."""


def has_audience(progress: bool) -> bool:
    """Return whether a progress bar is wanted and visible: in a terminal or a notebook, not in a pipe."""
    return progress and (_is_terminal() or "ipykernel" in sys.modules)


def _is_terminal() -> bool:
    """Return whether bars go to a terminal; without a window, Python on Windows has no stream for them."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bar(total: float, description: str, *, progress: bool, unit: str = "") -> Iterator[Bar]:
    """Yield a bar with the time left, if it is wanted and visible.

    - `total`: steps of the whole work.
    - `unit`: what a step is, for work on very many: the bar shows them by the second, not their count.
    """
    if not total or not has_audience(progress):
        yield _Hidden()
    elif _is_terminal():
        with _terminal(unit) as shown:
            yield _InTerminal(shown, shown.add_task(_one_line(description), total=total))
    else:
        bar = _InNotebook(total, description)
        try:
            yield bar
        finally:
            bar.close()


def with_progress[Item](items: Sequence[Item], description: str, *, progress: bool) -> Generator[Item]:
    """Iterate over items with a progress bar, if it is wanted and visible."""
    with progress_bar(len(items), description, progress=progress) as bar:
        for item in items:
            yield item
            bar.advance()


def _one_line(text: str) -> str:
    """Return a description, which may name files and words of others, so that it changes nothing but its line."""
    return " ".join(visible(text).split())


class _Hidden:
    def advance(self, count: float = 1) -> None:
        pass

    def describe(self, text: str) -> None:
        pass


class _InTerminal:
    def __init__(self, shown: "Progress", task: Any) -> None:
        self._shown, self._task = shown, task

    def advance(self, count: float = 1) -> None:
        self._shown.advance(self._task, count)

    def describe(self, text: str) -> None:
        self._shown.update(self._task, description=_one_line(text))


class _InNotebook:
    """Bar below a notebook's cell, shown only if the work takes over a second."""

    def __init__(self, total: float, description: str) -> None:
        self._total, self._description, self._done = total, description, 0.0
        self._start = self._drawn = time.monotonic()
        self._shell: Any = import_module("IPython.display")
        self._display: Any = None

    def advance(self, count: float = 1) -> None:
        self._done += count
        self._draw()

    def describe(self, text: str) -> None:
        self._description = text
        self._draw()

    def close(self) -> None:
        if self._display is not None:
            self._display.update(self._shell.HTML(""))

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self._drawn < _PATIENCE:
            return
        self._drawn = now
        done, total = f"{self._done:,.0f}", f"{self._total:,.0f}"
        bar = f"<progress max={self._total} value={self._done}></progress>"
        text = f"{bar} {escape(_one_line(self._description))}: {done} of {total}"
        if self._done:
            text += f", about {(now - self._start) / self._done * (self._total - self._done):,.0f} s left"
        if self._display is None:
            self._display = self._shell.display(self._shell.HTML(text), display_id=True)
        else:
            self._display.update(self._shell.HTML(text))


def _terminal(unit: str) -> "Progress":
    """Return a bar of rich on stderr, which leaves nothing behind."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )

    class Speed(ProgressColumn):
        def render(self, task: Task) -> str:
            return f"{task.speed:,.0f} {unit}/s" if task.speed else ""

    count = Speed() if unit else MofNCompleteColumn()
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), count, TimeRemainingColumn(), TextColumn("left"))
    return Progress(*columns, console=Console(stderr=True), transient=True)


def stopped_statement(done: int, total: int, what: str) -> Statement:
    """Return the statement that work was interrupted, and warn with it; interrupt if nothing was done.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     print(stopped_statement(3, 9, "refits").text)
    Interrupted after 3 of 9 refits: the answer rests on these alone.
    """
    if not done:
        raise KeyboardInterrupt
    text = f"Interrupted after {done:,} of {total:,} {what}: the answer rests on these alone."
    warn_user(text, StoppedWarning)
    return Statement("stopped", text, {"done": done, "total": total})
