"""The progress of long training: words per second and the time that is left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bayesbias.base.checks import can_draw

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def words_bar(
    words: float, *, progress: bool, console: "Console | None" = None
) -> Iterator[tuple[Callable[[str], None], Callable[[float], None]]]:
    """Yield two functions: one says what is done now, the other that so many more words have been gone through."""
    if console is None and not can_draw(progress):
        yield lambda _: None, lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn

    class Speed(ProgressColumn):
        def render(self, task: Task) -> str:
            return f"{task.speed:,.0f} words/s" if task.speed else ""

    columns = (TextColumn("{task.description}"), BarColumn(), Speed(), TimeRemainingColumn(), TextColumn("left"))
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=words)
        yield lambda text: bar.update(task, description=text), lambda more: bar.advance(task, more)
