"""Studies of many cells: answered by many workers, each cell once, and gone on with after a stop."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.arguments import (
    HDI_PROB,
    check_count,
    check_items,
    check_path,
    check_probability,
    check_type,
    resolve_seed,
    shown,
    with_progress,
)
from bayesbias.cluster.cell_files import read_answer, write_answer
from bayesbias.cluster.workers import Workers, cluster_of, processes, this_process
from bayesbias.embeddings import EmbeddingLike
from bayesbias.embeddings.case_rules import Case
from bayesbias.errors import ArgumentError, ClusterError, InputFileError, NotEnoughMemoryError, ReportError
from bayesbias.losses import MAX_LOST, check_max_lost
from bayesbias.memory import check_memory, free_memory
from bayesbias.models.quick import sampler_for
from bayesbias.models.sampling import bytes_of_draws
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.outputs import atomic_path, check_folder, claimed, clear_workshops
from bayesbias.reports.audits.asked import (
    AUDIT_MEASURES,
    check_measures,
    lost_lists,
    named_embeddings,
    raise_unless_distinct,
    read_embeddings,
    read_studies,
)
from bayesbias.reports.audits.assembly import audit_frame
from bayesbias.reports.audits.audit_frame import AuditFrame
from bayesbias.reports.audits.cells import Cell, make_cells
from bayesbias.studies import StudyLike

type Models = str | os.PathLike[str] | ModelSpec | None
"""What stands for a model, or None for no model."""

# Seconds that a cell of 4,000 draws takes at least, by the sampler of its model, on a slow core; to tell minutes from
# years before any work.
_SECONDS = {"exact": 0.3, "collapsed": 1.0, "gibbs": 10.0}
_SECONDS_OF_NUTS = 20.0
_SECONDS_WITHOUT_MODEL = 0.02
_USUAL_DRAWS = 4000
_LONGEST_YEARS = 1.0
_YEAR = 365.25 * 24 * 3600
_BYTES_A_ROW = 2000  # of the frame, and of what its page needs
_BYTES_A_WORKER = 150_000_000  # of a process, before it works
_SEED = "seed.txt"
_PARTS = ("embeddings", "studies", "models", "seeds")


def run_study(
    embeddings: Mapping[str, EmbeddingLike] | Sequence[EmbeddingLike],
    studies: Sequence[StudyLike] | StudyLike,
    measures: Sequence[str] = AUDIT_MEASURES,
    *,
    models: Models | Sequence[Models] = DEFAULT_MODEL,
    random_seed: int | Sequence[int] | None = None,
    cells: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    case: Case = "exact",
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    tune: int = 2000,
    chains: int = 4,
    progress: bool = True,
) -> AuditFrame:
    """Ask every study of every embedding by every model with every seed, on many workers.

    What `audit` does, for thousands of fits. A cell is one study of one embedding by one model with one seed, and all
    measures of it. A cell that fails is recorded with its error, and the others go on.

    Parameters
    ----------
    embeddings, studies, measures, case, max_lost, hdi_prob, draws, tune, chains
        As for `audit`. Files are read once, here, and workers are sent the words that are needed, once each.
    models
        One model or several, as for `fit`; None: no model.
    random_seed
        One seed or several. Draws depend on it, words, vectors and model alone: equal ones give equal numbers
        whichever worker answers, in whatever order, and after a stop. None: drawn, and kept in the folder `cells`.
    cells
        A folder that keeps the answer of each cell, under a hash of all that enters it: vectors, study, model,
        measures, settings, seed and the version of this package. What is there is not computed again: a run that was
        stopped goes on, and one that grew computes what is new. Cells that failed are tried again. None: nothing is
        kept.
    workers
        Processes of this machine, of one thread each, which share its free memory. None: one for each core, as far as
        there is memory. 1: this process, without Dask.
    scheduler
        The address of a Dask scheduler whose workers are to answer, such as ``"tcp://10.0.0.1:8786"``. Whoever reaches
        a Dask scheduler can run programs there: give only an address that you trust, inside a network that is closed.
    progress
        Show a progress bar where there is somebody to see it, and say where Dask's dashboard is.

    Returns
    -------
    AuditFrame
        As `audit` gives it, with rows for each model and seed. `rank` and `plot_audit` take those of one model and
        seed; `write_audit_page` takes them all. Cells that failed are in `record.failed`.

    Raises
    ------
    ClusterError
        If a scheduler does not answer, has no workers, or is gone with them; or Dask is not installed.
    ReportError
        If the cells would take more than a year, or none has an answer; and as for `audit`.
    NotEnoughMemoryError
        If cells need more memory than a worker has, or their draws or the workers more than there is here.
    ArgumentError, MeasureError, StudyError, ModelError, EmbeddingError, OutputError
        As for `audit`, or if another run works in `cells`. All of these before any work.

    Warns
    -----
    BayesBiasWarning
        Once, if cells failed; and as `audit` does.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> found = bb.run_study({"Wikipedia": vectors}, ["gender", "weat7"], ["mac"], models=None, workers=1)
    >>> found[["study", "observed", "lost_words"]].round(3)
        study  observed  lost_words
    0  gender     0.604           0
    1   weat7     0.756           0
    """
    seeds = _checked_seeds(random_seed)
    settings: dict[str, Any] = {"max_lost": check_max_lost(max_lost)}
    settings |= {"hdi_prob": check_probability("hdi_prob", hdi_prob)}
    counts = {"draws": draws, "tune": tune, "chains": chains}
    settings |= {name: check_count(name, value) for name, value in counts.items()}
    folder = None if cells is None else _checked_folder(cells)
    team = _checked_team(workers, scheduler, say=bool(progress))
    specs = _checked_models(models)
    settings["measures"] = check_measures(measures, specs)
    asked = read_studies(studies)
    sizes = len(named_embeddings(embeddings)), len(asked), len(specs), len(seeds or "?")
    _check_room(sizes, settings)
    sources = read_embeddings(embeddings, asked, settings["measures"], case)
    lists = lost_lists(sources, asked)
    with _held(folder):
        every = make_cells(sources.values(), asked, specs, seeds or [_own_seed(folder)], **settings)
        answers = {cell.digest: found for cell in every if folder and (found := read_answer(folder, cell.digest))}
        todo = list({cell.digest: cell for cell in every if cell.digest not in answers}.values())
        failed: dict[str, str] = {}
        if todo:
            with team() as those:
                _check_work(todo, sizes, those)
                steps = with_progress(range(len(todo)), "Cells", progress=progress)
                try:
                    for _, (cell, outcome) in zip(steps, those.outcomes(sources, todo), strict=True):
                        if isinstance(outcome, str):
                            failed[cell.digest] = outcome
                            continue
                        answers[cell.digest] = outcome
                        if folder:
                            write_answer(folder, cell.digest, outcome)
                except ClusterError as error:
                    kept = f"kept in {folder}: run it again, and it goes on" if folder else "lost: no folder keeps them"
                    raise ClusterError(f"{error} {len(answers):,} of {len(every):,} cells are {kept}.") from error
        answers = {cell.digest: answers[cell.digest] for cell in every if cell.digest in answers}  # in one order
        return audit_frame(every, answers, failed, sources, lists)


def _checked_seeds(random_seed: Any) -> list[int]:
    """Return the seeds; none if they are to be drawn."""
    if random_seed is None:
        return []
    several = isinstance(random_seed, list | tuple | range | np.ndarray)
    given = check_items("random_seed", random_seed, "a list of whole numbers") if several else [random_seed]
    seeds = [resolve_seed(seed) for seed in given if seed is not None]
    if len(seeds) < len(given):
        raise ArgumentError(f"random_seed={shown(random_seed)}: give a list of whole numbers, or None alone.")
    raise_unless_distinct("random_seed", seeds)
    return seeds


def _checked_models(models: Any) -> list[ModelSpec | None]:
    given = [models] if models is None or isinstance(models, str | os.PathLike | ModelSpec) else models
    specs = [
        None if each is None else load_model(each) for each in check_items("models", given, "a model or a list of them")
    ]
    raise_unless_distinct("models", [spec.name if spec else "none" for spec in specs])
    return specs


def _checked_team(workers: Any, scheduler: Any, *, say: bool) -> Callable[[], AbstractContextManager[Workers]]:
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


def _checked_folder(cells: Any) -> Path:
    """Return the folder of cells, which may be new, in a folder that may be new."""
    folder = check_path(cells, "cells")
    check_folder(folder if folder.parent.is_dir() else folder.parent, overwrite=True)
    return folder


@contextmanager
def _held(folder: Path | None) -> Iterator[None]:
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


def _own_seed(folder: Path | None) -> int:
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


# --- what is too much -------------------------------------------------------------------------------------


def _check_room(sizes: tuple[int, ...], settings: Mapping[str, Any]) -> None:
    """Raise `NotEnoughMemoryError` if the answers of all cells would not fit in the memory of this process."""
    bytes_of_draws_kept = 8 * settings["draws"] * settings["chains"]
    needed = math.prod(sizes) * len(settings["measures"]) * (_BYTES_A_ROW + bytes_of_draws_kept)
    check_memory(needed, f"The answers of {_count_text(sizes)}", "Ask less, or take fewer draws.")


def _check_work(todo: Sequence[Cell], sizes: tuple[int, ...], those: Workers) -> None:
    """Raise if cells would need more memory than a worker has, or more than a year."""
    whole = _count_text(sizes)
    needed = [_bytes(cell) for cell in todo]
    if large := [each for each in needed if each > those.memory]:
        raise NotEnoughMemoryError(
            f"{len(large):,} of {whole} need up to {max(large) / 1e9:,.1f} GB each, and a worker has "
            f"{those.memory / 1e9:,.1f} GB. Take fewer draws, or fewer workers."
        )
    years = sum(map(_seconds, todo)) / those.count / _YEAR
    if years > _LONGEST_YEARS:
        raise ReportError(
            f"{len(todo):,} of {whole} are to be computed, which would take about {years:,.1f} years of "
            f"{those.count} worker{'s' * (those.count > 1)}. Ask less, or another model."
        )


def _count_text(sizes: tuple[int, ...]) -> str:
    parts = " x ".join(
        f"{size:,} {name if size > 1 else one}"
        for size, name, one in zip(sizes, _PARTS, ("embedding", "study", "model", "seed"), strict=True)
    )
    return f"{math.prod(sizes):,} cells ({parts})"


def _bytes(cell: Cell) -> int:
    if cell.model is None:
        return 0
    study = cell.study
    attributes = sum(map(len, study.attribute_lists.values()))
    sizes = len(study.protected_words), len(study.connections), attributes
    return bytes_of_draws(cell.model, cell.draws * cell.chains, *sizes)


def _seconds(cell: Cell) -> float:
    if cell.model is None:
        return _SECONDS_WITHOUT_MODEL
    return _SECONDS.get(sampler_for(cell.model), _SECONDS_OF_NUTS) * cell.draws * cell.chains / _USUAL_DRAWS
