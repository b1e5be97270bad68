"""Many studies of many embeddings with many measures, in one tidy frame."""

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.audits.audit_cell import (
    AuditCell,
    interval_includes,
    make_cells,
    needed_words,
    needs_pairs,
    words_hash,
)
from bayesbias.audits.audit_frame import (
    COLUMNS,
    CONTRAST,
    NUMBERS,
    PAIR_SD,
    STANDARDISED,
    AuditFrame,
    AuditRecord,
)
from bayesbias.audits.coherence import Coherence
from bayesbias.audits.plan import (
    AUDIT_MEASURES,
    check_few,
    check_measures,
    load_sources,
    lost_lists,
    named_embeddings,
    raise_if_repeated,
    raise_unless_distinct,
    read_studies,
    unanswerable_questions,
)
from bayesbias.audits.running import Failures, check_cells_folder, keep_answers, run_cells
from bayesbias.audits.table_sources import Source, StudyTables, TableSource, measure_of_source
from bayesbias.audits.word_contributions import WordContributions
from bayesbias.base.checks import (
    HDI_PROB,
    check_count,
    check_flag,
    check_items,
    check_probability,
    resolve_seed,
    shown,
)
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import counted
from bayesbias.base.statements import rows_of
from bayesbias.embeddings.embedding import OF_WORDS, Embedding, EmbeddingLike
from bayesbias.embeddings.vocabularies import Case, spelling_rule
from bayesbias.errors import (
    ArgumentError,
    BayesBiasWarning,
    ConvergenceWarning,
    LostWordsWarning,
    NotEnoughMemoryError,
    ReportError,
    name_some,
    warn_user,
)
from bayesbias.models.coordinates import bytes_of_draws
from bayesbias.models.samplers.registry import SAMPLERS, sampler_for
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.plans.record import RopeLike, check_region, check_region_unit, study_hash
from bayesbias.studies.study import Study, StudyLike
from bayesbias.workers.cells import Answer, package_version
from bayesbias.workers.choice import choose_workers
from bayesbias.workers.workers import Workers

# Seconds that a cell of 4,000 draws takes at least on a slow core, to tell minutes from years before any work.
_SECONDS_OF_NUTS = 20.0
_SECONDS_WITHOUT_MODEL = 0.02
_USUAL_DRAWS = 4000
_LONGEST_YEARS = 1.0
_MOST_CELLS = 100_000
_BYTES_A_ROW = 2000  # of the frame, and of what its page needs
_BYTES_A_WORD, _BYTES_A_PAIR = 100, 24


@dataclass(frozen=True, eq=False)
class AuditGrid:
    """What an audit asks, of whom, and which of it no embedding can answer.

    - `cells`: cells of all questions, models and seeds.
    - `sources`: embeddings, and tables in their place, by name.
    - `lost`: words of the study's groups that were lost, by embedding and study: all questions, in their order.
    - `unanswerable`: errors of questions that cannot be answered, by embedding and study.
    - `words`: hashes of the words with a vector of their own, by embedding and study.
    """

    cells: Sequence[AuditCell]
    sources: Mapping[str, Source]
    lost: Mapping[tuple[str, str], tuple[str, ...]]
    unanswerable: Mapping[tuple[str, str], str] = field(default_factory=dict)
    words: Mapping[tuple[str, str], str] = field(default_factory=dict)


def audit_frame(grid: AuditGrid, answers: Mapping[str, Answer], failed: Failures) -> AuditFrame:
    """Return the frame of an audit with its record, and warn of what was lost, left out, or failed.

    - `answers`, `failed`: answers of the cells by digest, and errors of those that have none.
    """
    variants: dict[tuple[str, int], list[AuditCell]] = {}
    for cell in grid.cells:
        variants.setdefault(cell.variant, []).append(cell)
    first, *others = [_record(variant, answers, failed, grid) for variant in variants.values()]
    rows = [
        {
            **dict(zip(("embedding", "study", "model", "random_seed"), (*cell.question, *cell.variant), strict=True)),
            "lost_words": len(grid.lost[cell.question]),
            **row,
        }
        for cell in grid.cells
        if cell.digest in answers
        for row in rows_of(answers[cell.digest].frames["rows"])
    ]
    records = (first, *others)
    _warn(records, grid, {(row["embedding"], row["study"]) for row in rows})
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float))
    frame = AuditFrame(_in_units(frame, first))
    frame.record = replace(first, others=tuple(others))
    return frame


def _record(
    cells: Sequence[AuditCell],
    answers: Mapping[str, Answer],
    failed: Failures,
    grid: AuditGrid,
) -> AuditRecord:
    first = cells[0]
    answered = [(cell.question, answers[cell.digest]) for cell in cells if cell.digest in answers]
    fits = {question: answer.objects for question, answer in answered if answer.objects}
    embeddings = [source for source in grid.sources.values() if isinstance(source, Embedding)]
    case_rules = ", ".join(dict.fromkeys(source.case_text for source in embeddings))
    settings = {
        "Package": f"bayesbias {package_version()}",
        "Embeddings": ", ".join(f"{name} ({_source_text(source)})" for name, source in grid.sources.items()),
        **({"Case rules": case_rules} if case_rules else {}),
        "Studies": ", ".join(dict.fromkeys(cell.study.name for cell in cells)),
        "Measures": ", ".join(first.measures),
        "Largest share of lost words": f"{first.max_lost:g}",
        "Model": f"{first.model.name} (hash {first.model.digest})" if first.model else "none",
        "Draws": f"{first.draws:,} in each of {first.chains} chains" if first.model else "none",
        "Seed": str(first.random_seed),
        **({"Region of practical equivalence": str(first.region)} if first.region else {}),
    }
    errors = dict(grid.unanswerable)
    for cell in cells:
        if (cell.source, cell.digest) in failed:
            errors[cell.question] = failed[cell.source, cell.digest]
        elif cell.digest in answers and answers[cell.digest].frames["rows"].empty:  # every measure was left out
            left_out = answers[cell.digest].facts["left_out"].items()
            errors[cell.question] = "; ".join(f"{measure}: {reason.rstrip('.')}" for measure, reason in left_out)
    return AuditRecord(
        draws={
            (*question, str(measure)): draws.to_numpy(copy=True)
            for question, answer in answered
            for measure, draws in answer.frames["draws"].items()
        },
        lost_words=grid.lost,
        left_out={
            (*question, measure): reason
            for question, answer in answered
            for measure, reason in answer.facts["left_out"].items()
        },
        hdi_prob=first.hdi_prob,
        model=first.variant[0],
        settings=settings,
        questions={cell.study.name: cell.study.description for cell in cells},
        fits={question: objects["fit"] for question, objects in fits.items()},
        tables={question: objects["table"] for question, objects in fits.items()},
        random_seed=first.random_seed,
        failed={question: errors[question] for question in grid.lost if question in errors},
        region=first.region,
        words_hashes=grid.words,
        interval_includes={name: interval_includes(source) for name, source in grid.sources.items()},
        study_hashes={cell.study.name: study_hash(cell.study) for cell in cells},
        model_hash=first.model.digest if first.model else "",
        coherences={q: one for q, facts in _facts(answered, "coherence").items() if (one := Coherence.read(facts))},
        vectors_hashes={cell.question: cell.vectors for cell in cells},
        contributions={
            (*question, measure): contributions
            for question, answer in answered
            for measure, contributions in _contributions(answer).items()
        },
        units={name: measure_of_source(source) for name, source in grid.sources.items()},
        tables_of=frozenset(name for name, source in grid.sources.items() if isinstance(source, StudyTables)),
        spreads=_facts(answered, "spreads"),
        list_means=_facts(answered, "list_means"),
        studies={cell.study.name: cell.study for cell in cells},
        spec=first.model,
        unconverged=frozenset(
            question
            for question, answer in answered
            if any(category == ConvergenceWarning.__name__ for category, _ in answer.warned)
        ),
    )


def _facts(answered: Sequence[tuple[tuple[str, str], Answer]], name: str) -> dict[tuple[str, str], Any]:
    return {question: facts for question, answer in answered if (facts := answer.facts.get(name))}


def _contributions(answer: Answer) -> dict[str, WordContributions]:
    """Return what words contribute to the errors of an answer, by measure."""
    words, pairs = answer.frames["contributions"], answer.frames["pair_contributions"]
    return {
        str(measure): WordContributions(
            rows.drop(columns="measure"),
            answer.facts["own_errors"][measure],
            pairs if measure == CONTRAST and len(pairs) else None,
        )
        for measure, rows in words.groupby("measure")
    }


def _source_text(source: Source) -> str:
    """Return what the settings of a report say of an embedding, or of tables in its place."""
    if isinstance(source, StudyTables):
        return str(source)
    return "; ".join((f"hash {source.digest}, {OF_WORDS}", *source.steps))


def _in_units(frame: pd.DataFrame, record: AuditRecord) -> pd.DataFrame:
    """Return rows with the unit of each contrast; of an audit of tables, contrasts are standardised by `PAIR_SD`.

    Tables seldom have control words, and standardised contrasts of one audit must be divided by one kind of deviation.
    """
    contrasts = (frame["measure"] == CONTRAST).to_numpy()
    units = [record.unit_of(name).unit_name for name in frame["embedding"]]
    frame = frame.assign(contrast_unit=np.where(contrasts, units, ""))
    if record.tables_of:
        for standardised, raw in zip(STANDARDISED[1:], ("mean", "hdi_low", "hdi_high"), strict=True):
            frame.loc[contrasts, standardised] = frame.loc[contrasts, raw] / frame.loc[contrasts, PAIR_SD]
    return frame


def _warn_of_errors(errors: Mapping[Any, str], count: int, what: str) -> None:
    if errors:
        texts = dict.fromkeys(f"{', '.join(key)}: {text.rstrip('.')}" for key, text in errors.items())
        warn_user(
            f"{len(errors):,} of {counted(count, 'question')} {what}. {'; '.join(list(texts)[:3])}.", BayesBiasWarning
        )


def _omissions(records: Sequence[AuditRecord]) -> str:
    """Return what was left out, with reasons, as one text."""
    left_out: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        for (embedding, study, measure), reason in record.left_out.items():
            if (embedding, study) not in record.failed:
                left_out.setdefault((study, reason.rstrip(".")), {})[measure] = None
    texts = [f"{', '.join(measures)} of {study} ({reason})" for (study, reason), measures in left_out.items()]
    return name_some(sorted(texts), 5)


def _warn(records: Sequence[AuditRecord], grid: AuditGrid, answered: Collection[tuple[str, str]]) -> None:
    """Warn of cells that failed, of what was left out, and of lost words of questions with an answer."""
    errors = {
        (*key, record.model, str(record.random_seed))[: 2 if len(records) == 1 else 4]: text
        for record in records
        for key, text in record.failed.items()
        if key not in grid.unanswerable
    }
    _warn_of_errors(errors, len(grid.lost) * len(records), "without an answer")
    if reasons := _omissions(records):
        warn_user(f"Left out what has no answer: {reasons}.", BayesBiasWarning)
    lost = grid.lost
    if lossy := {question: words for question, words in lost.items() if words and question in answered}:
        named = "; ".join(
            f"{embedding}, {study}: {name_some(words, 3)}" for (embedding, study), words in list(lossy.items())[:5]
        )
        warn_user(
            f"In {len(lossy)} of {counted(len(answered), 'answered question')} words of the study's groups were lost "
            f"(column lost_words): {named}. The answers are about the words that are left.",
            LostWordsWarning,
        )


type ModelLike = str | os.PathLike[str] | ModelSpec | None
"""Name or file of a model, or a model; None: no model."""

_YEAR = 365.25 * 24 * 3600


def audit(
    embeddings: Mapping[str, EmbeddingLike | TableSource]
    | Sequence[EmbeddingLike | TableSource]
    | Embedding
    | str
    | os.PathLike[str],
    studies: Sequence[StudyLike] | StudyLike,
    measures: Sequence[str] = AUDIT_MEASURES,
    *,
    model: ModelLike = DEFAULT_MODEL,
    models: Sequence[ModelLike] | None = None,
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
    max_lost: float = MAX_LOST,
    controls: bool = True,
    hdi_prob: float = HDI_PROB,
    rope: RopeLike | None = None,
    draws: int = 2000,
    tune: int = 2000,
    chains: int = 4,
    keep_fits: bool = False,
    random_seed: int | None = None,
    seeds: Sequence[int] | None = None,
    workers: int | Workers | None = None,
    scheduler: str | None = None,
    cells: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> AuditFrame:
    """Return the answers of every measure to every study of every embedding.

    A cell is one study of one embedding by one model with one seed, and all measures of it. Every file of an embedding
    is read once, for the words of all studies; workers are sent these words, and need no access to the files.

    Parameters
    ----------
    embeddings
        Mapping of names in the frame to embeddings, or a list of embeddings, which keep their own names. Each is an
        `Embedding`, a path, or anything else that `load_embedding` takes. Or one `Embedding` or path. In place of
        vectors, tables of every measure: a table, a list of tables of different studies, or a function of a study that
        returns its table, such as ``partial(bb.surprisal_table, "bert/", templates="pronouns")``. Of tables,
        ``"contrast"`` is the only measure, in the unit of the table.
    studies
        Studies, names of bundled ones, or paths of TOML files; each needs a name of its own.
    measures
        ``"contrast"``, the model's own answer (see `contrasts`), and names in `bayesbias.metrics.MEASURES`.
    model
        Model of each study in each embedding, as for `fit`. None: no model, no contrasts and no intervals; such an
        audit takes a moment.
    models
        Several models in place of `model`.
    case, prefix, suffix
        Forms of a word that are looked up in embeddings that are not yet an `Embedding`, and text before and after
        each word of these, as for `load_embedding`.
    max_lost
        Largest share of a group's words that an embedding may lack, from 0 to 1.
    controls
        Whether human and neutral control words are part of the studies. Most words are such controls: without them an
        encoder has far fewer texts to encode, but contrasts are not standardised, and estimates of single words change.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Region of practical equivalence of contrasts: a half-width, or (low, high), in units of cosine distance; in
        another unit ``{"nats": 0.1}``. Embeddings whose contrasts have another unit are refused. `gate` passes or fails
        questions by it. ``{"standardised": 0.3}`` has units of coherence, by which a study's contrast is divided: the
        mean cosine of two words of one of its lists minus that of a protected and an attribute word. Control words do
        not enter it. Of tables, that unit is `pair_sd`.
    draws, tune, chains
        As for `fit`.
    keep_fits
        Whether to keep every fit with all its draws (`record.fits`) and its table (`record.tables`), for example for a
        page of each. Not with `cells`, which keeps no fits.
    random_seed
        Seed, as for `fit`: an answer has the numbers of `fit` and `contrasts` with this seed, whatever else is asked,
        whichever worker answers, and after a stop. None: drawn, and kept in the folder `cells`.
    seeds
        Several seeds in place of `random_seed`.
    workers
        Number of processes of this machine, of one core each, which share its free memory. They have pipes to this
        process and no port, so that no other user reaches them. 1: this process, with one core. None: this process,
        with all cores. Or workers that have started already, which several audits can share.
    scheduler
        Address of a Dask scheduler whose workers answer, such as ``"tls://10.0.0.1:8786"``, with the certificates of
        Dask's configuration. Whoever reaches a Dask scheduler can run programs there and here: one without certificates
        (``tcp://``) is for a network in which you trust everybody.
    cells
        Folder that keeps the answer of each cell, under a hash of all that enters it: vectors, study, model, measures,
        settings, seed and the version of this package. Kept answers are not computed again: a run that was stopped
        goes on, and one that grew computes what is new. Cells that failed are tried again. None: nothing is kept.
    progress
        Whether to show a progress bar, and the address of the dashboard that a scheduler has.

    Returns
    -------
    AuditFrame
        A pandas frame: one row per embedding, study, model, seed and measure, and for ``"contrast"`` one more for each
        protected group. Values that do not exist are missing. The attribute `record` keeps draws, lost words, settings,
        and cells that failed (`AuditRecord`). `rank` and `plot_audit` take the rows of one model and seed; `bb.write`
        takes all. Columns:

        - `embedding`, `study`, `model` (empty if there is none), `random_seed`, `measure`, `quantity`,
          `protected_group` (empty: all of them); `contrast_unit`: of a contrast, such as ``"cosine distance"``;
        - `observed`: the measure's value as it is defined; of a contrast the difference of plain averages;
        - `mean`, `hdi_low` to `hdi_high`: the posterior mean, of a contrast in its unit, negative is nearer or
          likelier; of another measure that of the value without the noise of single pairs (`measure_posterior`);
          missing for measures without a posterior;
        - `context_low` to `context_high`: of a contrast of vectors that are means over contexts or templates, the
          interval that includes their choice;
        - `reading`: of a contrast, ``"nearer"``, ``"farther"``, ``"borderline"``, or ``"not settled"``, which it is too
          if the choice of contexts decides; `probability_of_direction`, and with `rope` `probability_in_rope`: of a
          contrast;
        - `p_value`: one-sided, of `weat`; `p_value_mcse`: its Monte Carlo error, 0 if it is exact;
        - `ess_bulk`, `ess_tail`, `r_hat`; `lost_words`: how many of the study's groups were lost;
        - `control_sd`: of a contrast, the standard deviation of single distances to the neutral control words (to the
          human ones without these); `standardised`, `standardised_low` to `standardised_high`: the contrast and its
          interval divided by it, to compare embeddings whose distances spread differently. If any embedding is a table,
          they are all divided by `pair_sd`: the standard deviation of single numbers of the study's own pairs, without
          the mean of each word in each pair of lists. Where contrasts have several units, figures have the
          standardised ones, and nothing is a mean over raw contrasts of two units. Ranks are of contrasts that are
          divided by `pair_sd`, whatever their units.

    Raises
    ------
    ReportError, MeasureError, StudyError, ArgumentError, ModelError, EmbeddingError, InputFileError
        If names are not distinct, or a measure, study, model or setting is not usable; if no embedding can be read; if
        there are more than 1,000 embeddings, studies, models or measures, or 100,000 cells; or if the cells would take
        more than a year.
    NotEnoughMemoryError
        If cells need more memory than a worker has, or their draws or the workers more than there is.
    ClusterError
        If a scheduler does not answer, has no workers, or is gone with them; or Dask, which it needs, is not installed;
        or no process can be started here.
    OutputError
        If `cells` cannot be written, or another run works there.

    Warns
    -----
    LostWordsWarning
        Once, if words were lost.
    BayesBiasWarning
        Once before any work, if questions cannot be answered, since an embedding cannot be read, or lacks more than
        `max_lost` of a group of the study; once, if others have no answer. Their errors are in `record.failed`, and
        the other questions go on. Once, if kept answers are damaged: they are computed again. Once, if a scheduler is
        open to others. Once, if a measure has no answer to a study, such as `weat` to one of three groups: it is left
        out there.
    ConvergenceWarning
        As by `fit`.

    Notes
    -----
    Intervals are those of single questions. The report says how many of the settled ones are expected to have no effect
    or the other sign, and which can be decided at a rate of 10 % wrong ones (`validation/decisions`). `rank` compares
    embeddings in pairs, by the words that they share; `compare_embeddings` compares two with each other, by group and
    word, in the unit of distances.

    References
    ----------
    Badilla, Bravo-Marquez and Perez (2020), WEFE: The word embeddings fairness evaluation framework. IJCAI 2020, for
    queries in many models, without posteriors and intervals.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> frame = bb.audit({"Wikipedia": vectors}, ["gender", "weat7"], ["mac"], model=None)
    >>> frame[["study", "observed", "lost_words"]].round(3)
        study  observed  lost_words
    0  gender     0.604           0
    1   weat7     0.756           0
    """
    settings: dict[str, Any] = {"max_lost": check_max_lost(max_lost)}
    settings |= {"hdi_prob": check_probability("hdi_prob", hdi_prob)}
    counts = {"draws": draws, "tune": tune, "chains": chains}
    settings |= {name: check_count(name, count) for name, count in counts.items()}
    settings["region"] = check_region(rope)
    settings["keep_fit"] = check_flag("keep_fits", keep_fits)
    if keep_fits and cells is not None:
        raise ArgumentError("keep_fits: the folder of cells keeps no fits. Leave out one of the two.")
    random_seeds = _checked_seeds(random_seed, seeds)
    folder = check_cells_folder(cells)
    start_workers = choose_workers(workers, scheduler, verbose=bool(progress))
    specs = _checked_models(model, models)
    settings["measures"] = check_measures(measures, specs)
    read = read_studies(studies)
    if not check_flag("controls", controls):
        read = [study.without_controls() for study in read]
    named = named_embeddings(embeddings)
    shape = {"embedding": len(named), "study": len(read), "model": len(specs), "seed": len(random_seeds) or 1}
    _check_room(shape, settings, read)
    words = needed_words(read, settings["measures"])
    encoded = words if needs_pairs(settings["measures"]) else [word for study in read for word in study.words]
    sources, without = load_sources(named, read, words, spelling_rule(case, prefix, suffix), encoded=encoded)
    check_region_unit(settings["region"], {name: measure_of_source(source) for name, source in sources.items()})
    limits = settings["max_lost"], settings["measures"]
    unanswerable = unanswerable_questions(sources, read, *limits, modelled=any(specs)) | without
    unread = list(dict.fromkeys(name for name, _ in without if name not in sources))
    lost = {
        (name, study.name): tuple(word for words in lost_lists(sources.get(name), study) for word in words.lost)
        for name in dict.fromkeys([*(name for name, _ in named if name), *sources])
        for study in read
    }
    _warn_of_errors(unanswerable, len(lost), "cannot be answered, and the others go on")
    with keep_answers(folder) as store:
        random_seeds = random_seeds or [store.seed() if store else resolve_seed(None)]
        variants = list(product(read, specs, random_seeds))
        grid = AuditGrid(
            (
                *make_cells(sources.values(), read, specs, random_seeds, **settings),
                *(AuditCell(name, "", *variant, **settings) for name in unread for variant in variants),
            ),
            sources,
            lost,
            unanswerable,
            {(name, study.name): words_hash(source, study) for name, source in sources.items() for study in read},
        )
        waiting = [cell for cell in grid.cells if cell.question not in unanswerable]
        check = partial(_check_work, shape=shape)
        answers, failed = run_cells(
            waiting, sources, workers=start_workers, store=store, progress=progress, check=check
        )
    return audit_frame(grid, answers, failed)


def _checked_seeds(random_seed: Any, seeds: Any) -> list[int]:
    """Return the seeds; an empty list if one is to be drawn."""
    if seeds is None:
        return [] if random_seed is None else [resolve_seed(random_seed)]
    if random_seed is not None:
        raise ArgumentError("random_seed and seeds: give one of the two.")
    listed = check_items("seeds", seeds, "a list of whole numbers")
    if None in listed:
        raise ArgumentError(f"seeds={shown(seeds)}: give a list of whole numbers.")
    if listed:
        check_count("seeds", len(listed))
    resolved = [resolve_seed(seed) for seed in listed]
    raise_unless_distinct("seeds", resolved)
    return resolved


def _checked_models(model: Any, models: Any) -> list[ModelSpec | None]:
    if models is not None and model != DEFAULT_MODEL:
        raise ArgumentError("model and models: give one of the two.")
    listed = [model] if models is None else check_items("models", models, "a list of models")
    check_few("models", listed)
    raise_if_repeated("models", [source for source in listed if isinstance(source, str)])  # before any is read
    specs = [None if source is None else load_model(source) for source in listed]
    raise_unless_distinct("models", [spec.name if spec else "none" for spec in specs])
    return specs


# --- limits of memory and time ----------------------------------------------------------------------------


def _check_room(shape: Mapping[str, int], settings: Mapping[str, Any], studies: Sequence[Study]) -> None:
    """Raise if there are too many cells, or their answers would not fit in the memory of this process."""
    if math.prod(shape.values()) > _MOST_CELLS:
        raise ReportError(f"{_count_text(shape)} are more than {_MOST_CELLS:,}. Divide the audit.")
    bytes_of_kept_draws = 8 * settings["draws"] * settings["chains"]
    needed = math.prod(shape.values()) * len(settings["measures"]) * (_BYTES_A_ROW + bytes_of_kept_draws)
    # What words contribute to each measure, and pairs to the contrast.
    for study in studies:
        protected, attributes = (sum(map(len, side.values())) for side in (study.protected, study.attributes))
        of_words, of_pairs = _BYTES_A_WORD * (protected + attributes), _BYTES_A_PAIR * protected * attributes
        needed += math.prod(shape.values()) / len(studies) * (len(settings["measures"]) * of_words + of_pairs)
    check_memory(needed, f"The answers of {_count_text(shape)}", "Ask less, or take fewer draws.")


def _check_work(waiting: Sequence[AuditCell], team: Workers, *, shape: Mapping[str, int]) -> None:
    """Raise if cells would need more memory than a worker has, or more than a year."""
    needed = [_bytes(cell) for cell in waiting]
    if large := [size for size in needed if size > team.memory]:
        raise NotEnoughMemoryError(
            f"{len(large):,} of {_count_text(shape)} need up to {max(large) / 1e9:,.1f} GB each, and a worker has "
            f"{team.memory / 1e9:,.1f} GB. Take fewer draws, or fewer workers."
        )
    years = sum(map(_seconds, waiting)) / team.count / _YEAR
    if years > _LONGEST_YEARS:
        raise ReportError(
            f"{len(waiting):,} of {_count_text(shape)} are to be computed, which would take about {years:,.1f} years "
            f"of {counted(team.count, 'worker')}. Ask less, or another model."
        )


def _count_text(shape: Mapping[str, int]) -> str:
    plurals = {"study": "studies"}
    parts = [f"{count:,} {plurals.get(name, f'{name}s') if count > 1 else name}" for name, count in shape.items()]
    return f"{math.prod(shape.values()):,} cells ({' x '.join(parts)})"


def _bytes(cell: AuditCell) -> int:
    if cell.model is None:
        return 0
    study = cell.study
    attributes = sum(map(len, study.attribute_lists.values()))
    sizes = len(study.protected_words), len(study.connections), attributes
    return bytes_of_draws(cell.model, cell.draws * cell.chains, *sizes)


def _seconds(cell: AuditCell) -> float:
    if cell.model is None:
        return _SECONDS_WITHOUT_MODEL
    name = sampler_for(cell.model)
    seconds = SAMPLERS[name].seconds if name in SAMPLERS else _SECONDS_OF_NUTS
    return seconds * cell.draws * cell.chains / _USUAL_DRAWS
