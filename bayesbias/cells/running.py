"""Cells answered by workers, each once; the answers can be kept, so that a run goes on after a stop."""

import builtins
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bayesbias import errors
from bayesbias.base.progress import with_progress
from bayesbias.cells.kept_answers import KeptAnswers, KeptCell
from bayesbias.errors import BayesBiasWarning, ClusterError, LostWordsWarning, name_some, warn_user
from bayesbias.workers.cells import Answer
from bayesbias.workers.workers import StartWorkers, Workers


def run_cells[AnyCell: KeptCell](
    cells: Sequence[AnyCell],
    sources: Mapping[str, Any],
    *,
    workers: StartWorkers,
    store: KeptAnswers | None,
    progress: bool,
    label: str = "Cells",
    check: Callable[[Sequence[AnyCell], Workers], None] = lambda *_: None,
) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers of cells, and the errors of those that failed, both by digest, and give their warnings.

    Parameters
    ----------
    cells
        Cells in the order in which workers take them. Equal ones are answered once.
    sources
        Sources by name, such as embeddings.
    workers
        Function that starts the workers; called only if there is something to answer.
    store
        Folder of kept answers, or None.
    progress
        Whether to show a progress bar.
    label
        Text of the progress bar.
    check
        Function that raises an error if the cells to be answered are too much for the workers.

    Raises
    ------
    ClusterError
        If the workers are gone. What they had answered is kept.
    """
    answers = {cell.digest: answer for cell in cells if store and (answer := store.read(cell))}
    waiting = list({cell.digest: cell for cell in cells if cell.digest not in answers}.values())
    failed: dict[str, str] = {}
    if store and (damaged := [path for path in map(store.path, waiting) if path.exists()]):
        warn_user(
            f"{len(damaged):,} kept answer{'s are' if len(damaged) > 1 else ' is'} damaged or of another cell, and "
            f"computed again: {name_some(damaged, 1)}. If nobody changed them, check the disk.",
            BayesBiasWarning,
        )
    if waiting:
        with workers() as team:
            check(waiting, team)
            steps = with_progress(range(len(waiting)), label, progress=progress)
            try:
                for _, (cell, outcome) in zip(steps, team.outcomes(sources, waiting), strict=True):
                    if isinstance(outcome, str):
                        failed[cell.digest] = outcome
                        continue
                    answers[cell.digest] = outcome
                    if store:
                        store.write(cell, outcome)
            except ClusterError as error:
                fate = (
                    f"kept in {store.folder}: run it again, and it goes on" if store else "lost: no folder keeps them"
                )
                raise ClusterError(f"{error} {len(answers):,} of {len(cells):,} cells are {fate}.") from error
    ordered = {cell.digest: answers[cell.digest] for cell in cells if cell.digest in answers}
    _repeat(warned for answer in ordered.values() for warned in answer.warned)
    return ordered, failed


def _repeat(warned: Iterable[tuple[str, str]]) -> None:
    """Give each warning once, except those of lost words, which reports sum up."""
    for name, message in dict.fromkeys(warned):
        category = getattr(errors, name, getattr(builtins, name, None))
        if not (isinstance(category, type) and issubclass(category, Warning)):
            category = UserWarning
        if not issubclass(category, BayesBiasWarning):
            warnings.warn(message, category, 2)
        elif not issubclass(category, LostWordsWarning):
            warn_user(message, category)
