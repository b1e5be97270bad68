"""Studies of many cells: answered by many workers, each cell once, and gone on with after a stop."""

import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    check_count,
    check_items,
    check_probability,
    resolve_seed,
    shown,
)
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.memory import check_memory
from bayesbias.cluster.answering import answer_all, checked_folder, checked_team, held, own_seed
from bayesbias.cluster.workers import Workers
from bayesbias.embeddings.case_rules import Case
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import ArgumentError, NotEnoughMemoryError, ReportError
from bayesbias.models.quick import sampler_for
from bayesbias.models.sampling import bytes_of_draws
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
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
from bayesbias.reports.audits.audit import answer_cell
from bayesbias.reports.audits.audit_frame import AuditFrame
from bayesbias.reports.audits.cells import Cell, make_cells
from bayesbias.studies.study import StudyLike

type Models = str | os.PathLike[str] | ModelSpec | None
"""What stands for a model, or None for no model."""

# Seconds that a cell of 4,000 draws takes at least, by the sampler of its model, on a slow core; to tell minutes from
# years before any work.
_SECONDS = {"exact": 0.3, "collapsed": 1.0, "conjugate": 1.5}
_SECONDS_OF_NUTS = 20.0
_SECONDS_WITHOUT_MODEL = 0.02
_USUAL_DRAWS = 4000
_LONGEST_YEARS = 1.0
_YEAR = 365.25 * 24 * 3600
_BYTES_A_ROW = 2000  # of the frame, and of what its page needs
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
    folder = None if cells is None else checked_folder(cells)
    team = checked_team(workers, scheduler, say=bool(progress))
    specs = _checked_models(models)
    settings["measures"] = check_measures(measures, specs)
    asked = read_studies(studies)
    sizes = len(named_embeddings(embeddings)), len(asked), len(specs), len(seeds or "?")
    _check_room(sizes, settings)
    sources = read_embeddings(embeddings, asked, settings["measures"], case)
    lists = lost_lists(sources, asked)
    with held(folder):
        every = make_cells(sources.values(), asked, specs, seeds or [own_seed(folder)], **settings)
        check = partial(_check_work, sizes=sizes)
        answers, failed = answer_all(every, sources, answer_cell, team, folder, check=check, progress=progress)
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


# --- what is too much -------------------------------------------------------------------------------------


def _check_room(sizes: tuple[int, ...], settings: Mapping[str, Any]) -> None:
    """Raise `NotEnoughMemoryError` if the answers of all cells would not fit in the memory of this process."""
    bytes_of_draws_kept = 8 * settings["draws"] * settings["chains"]
    needed = math.prod(sizes) * len(settings["measures"]) * (_BYTES_A_ROW + bytes_of_draws_kept)
    check_memory(needed, f"The answers of {_count_text(sizes)}", "Ask less, or take fewer draws.")


def _check_work(todo: Sequence[Cell], those: Workers, *, sizes: tuple[int, ...]) -> None:
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
