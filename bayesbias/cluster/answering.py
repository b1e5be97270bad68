"""Cells answered by whoever is asked, each once, and their answers kept, so that a run goes on after a stop."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_count, check_path, check_type, resolve_seed, with_progress
from bayesbias.base.memory import check_memory, free_memory
from bayesbias.base.outputs import atomic_path, check_folder, claimed, clear_workshops
from bayesbias.cluster.cell_files import read_answer, write_answer
from bayesbias.cluster.workers import Ask, Asked, Workers, cluster_of, processes, this_process
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import ArgumentError, ClusterError, InputFileError
from bayesbias.reports.audits.cells import Answer

type Team = Callable[[], AbstractContextManager[Workers]]
"""What starts those who answer."""

_SEED = "seed.txt"
_BYTES_A_WORKER = 150_000_000  # of a process, before it works


def answer_all[Cell: Asked](
    cells: Sequence[Cell],
    sources: Mapping[str, Embedding],
    answer: Ask,
    team: Team,
    folder: Path | None,
    *,
    check: Callable[[Sequence[Cell], Workers], None],
    progress: bool,
) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers of cells and the errors of those that failed, both by digest and in the order of the cells.

    Parameters
    ----------
    cells
        What is asked; equal ones are answered once. They are taken in this order, in which a cell that others need
        (`Asked.after`) stands before them.
    sources
        The embeddings by name.
    answer
        A function of a module, of an embedding and a cell.
    team
        What starts those who answer, if anything is left to do.
    folder
        Where answers are kept, or None. `held` holds it.
    check
        Given what is left to do, and those who answer, raises an error if it is too much.
    """
    answers = {cell.digest: found for cell in cells if folder and (found := read_answer(folder, cell.digest))}
    todo = list({cell.digest: cell for cell in cells if cell.digest not in answers}.values())
    failed: dict[str, str] = {}
    if todo:
        with team() as those:
            check(todo, those)
            steps = with_progress(range(len(todo)), "Cells", progress=progress)
            try:
                for _, (cell, outcome) in zip(steps, those.outcomes(answer, sources, todo, answers), strict=True):
                    if isinstance(outcome, str):
                        failed[cell.digest] = outcome
                        continue
                    answers[cell.digest] = outcome
                    if folder:
                        write_answer(folder, cell.digest, outcome)
            except ClusterError as error:
                kept = f"kept in {folder}: run it again, and it goes on" if folder else "lost: no folder keeps them"
                raise ClusterError(f"{error} {len(answers):,} of {len(cells):,} cells are {kept}.") from error
    return {cell.digest: answers[cell.digest] for cell in cells if cell.digest in answers}, failed


def checked_team(workers: Any, scheduler: Any, *, say: bool) -> Team:
    """Return what starts the workers that are asked for."""
    if scheduler is not None:
        check_type("scheduler", scheduler, str, "the address of a Dask scheduler, such as 'tcp://10.0.0.1:8786'")
        if workers is not None:
            raise ArgumentError("workers: those of a scheduler answer. Give workers or scheduler, not both.")
        return partial(cluster_of, scheduler, say=say)
    if workers is None:
        count = min(os.cpu_count() or 1, max(1, free_memory() // _BYTES_A_WORKER))
    else:
        count = check_count("workers", workers)
        check_memory(count * _BYTES_A_WORKER, f"{count:,} workers", "Give fewer.")
    return this_process if count == 1 else partial(processes, count, say=say)


def checked_folder(cells: Any) -> Path:
    """Return the folder of cells, which may be new, in a folder that may be new."""
    folder = check_path(cells, "cells")
    check_folder(folder if folder.parent.is_dir() else folder.parent, overwrite=True)
    return folder


@contextmanager
def held(folder: Path | None) -> Iterator[None]:
    """Hold the folder of cells, so that no other run works there, and clear what one that was killed left."""
    if folder is None:
        yield
        return
    new = not folder.parent.exists()
    folder.parent.mkdir(exist_ok=True)
    try:
        with claimed(folder):
            folder.mkdir(exist_ok=True)
            clear_workshops(folder)
            begun = (folder / _SEED).exists()
            try:
                yield
            finally:  # where nothing was answered, nothing is left
                if not begun and not any(folder.glob("*.npz")):
                    (folder / _SEED).unlink(missing_ok=True)
                with suppress(OSError):
                    folder.rmdir()
    finally:
        with suppress(OSError):
            if new:
                folder.parent.rmdir()


def own_seed(folder: Path | None) -> int:
    """Return the seed that was drawn when the folder was begun, or a new one."""
    if folder is None:
        return resolve_seed(None)
    path = folder / _SEED
    if not path.exists():
        with atomic_path(path) as new:
            new.write_text(f"{resolve_seed(None)}\n", encoding="ascii")
    text = path.read_bytes()[:20].decode("ascii", "replace").strip()
    if not text.isdecimal():
        raise InputFileError(f"{path} holds no seed. Remove it, or give random_seed.")
    return resolve_seed(int(text))
