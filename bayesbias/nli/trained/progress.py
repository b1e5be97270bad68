"""The progress of a training: epochs, and the accuracy so far."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bayesbias.base.checks import can_draw


@contextmanager
def epochs_bar(epochs: int, *, progress: bool) -> Iterator[Callable[[Sequence[float]], None]]:
    """Yield a function that shows the accuracies of the epochs that are done."""
    if not can_draw(progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Training", total=epochs)

        def show(accuracies: Sequence[float]) -> None:
            best = f"Training, best accuracy {max(accuracies):.3f}" if accuracies else "Training"
            bar.update(task, completed=len(accuracies), description=best)

        yield show
