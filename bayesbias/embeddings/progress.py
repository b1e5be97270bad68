"""Progress bars of long work on words or texts, with time left."""

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
    """Yield two functions: one sets the description, the other adds a number of processed words."""
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


@contextmanager
def steps_bar(total: int, what: str, *, progress: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds a number of finished steps to a bar, which shows their count and the time left."""
    if not total or not can_draw(progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda more: bar.advance(task, more)
