"""Ask many studies of many embeddings with many measures, and return one tidy frame."""

import os
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_count, check_flag, check_probability, resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.embeddings.case_rules import Case
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, ReportError, collected_warnings
from bayesbias.estimates.intervals import contrast_name, estimates, independent_draws, settled
from bayesbias.metrics.registry import MEASURES
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.audits.asked import (
    AUDIT_MEASURES,
    check_measures,
    lost_lists,
    raise_if_too_many_lost,
    read_embeddings,
    read_studies,
)
from bayesbias.reports.audits.assembly import audit_frame, repeat
from bayesbias.reports.audits.audit_frame import BESIDE, CONTRAST, AuditFrame
from bayesbias.reports.audits.cells import Answer, Cell, make_cells
from bayesbias.reports.measures.measure_draws import expected_value
from bayesbias.studies.study import CONNECTIONS, Study, StudyLike
from bayesbias.tables.build import distance_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def audit(
    embeddings: Mapping[str, EmbeddingLike] | Sequence[EmbeddingLike],
    studies: Sequence[StudyLike] | StudyLike,
    measures: Sequence[str] = AUDIT_MEASURES,
    *,
    model: str | os.PathLike[str] | ModelSpec | None = DEFAULT_MODEL,
    case: Case = "exact",
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    tune: int = 2000,
    chains: int = 4,
    keep_fits: bool = False,
    random_seed: int | None = None,
    progress: bool = True,
) -> AuditFrame:
    """Ask every study of every embedding with every measure.

    Every file is read once, for the words of all studies.

    Parameters
    ----------
    embeddings
        Embeddings by the names that the frame calls them, or a list of them, which then have names of their own. Each
        is an `Embedding`, a path, or anything else that `load_embedding` takes.
    studies
        Studies, names of bundled ones, or paths of TOML files; each needs a name of its own.
    measures
        ``"contrast"``, the model's own answer (see `contrasts`), and names in `bayesbias.metrics.MEASURES`.
    model
        What is fitted to each study in each embedding, as for `fit`. None: no model. Then there are no contrasts and no
        intervals, and an audit takes a moment.
    case
        How words are looked up in what is not yet an `Embedding` (see there).
    max_lost
        The share of a group's words that an embedding may lack, from 0 to 1.
    hdi_prob
        Probability inside the highest posterior density intervals.
    draws, tune, chains, random_seed
        As for `fit`; each fit has a seed of its own, made from this one, its words, vectors and model
        (`record.seeds`), and so gives the same numbers whatever else is asked.
    keep_fits
        Keep every fit with all its draws (`record.fits`) and its table (`record.tables`), such as for a page of each.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    AuditFrame
        A pandas frame: one row an embedding, study and measure, and for ``"contrast"`` one more for each protected
        group: `embedding`, `study`, `model` (empty if there is none), `seed`, `measure`, `quantity`,
        `protected_group` (empty: all of them); `observed` (the measure's value as it is defined; of a contrast the
        difference of plain averages); `estimate` with `hdi_low` to `hdi_high` (of a contrast the posterior mean, in
        units of cosine distance, negative is nearer; of a measure that has a posterior that of the value which it would
        have without the noise of single pairs, see `measure_posterior`; of any other the observed value, without an
        interval); `conclusion` (of a contrast: ``"nearer"``, ``"farther"``, ``"borderline"``, or ``"not settled"``);
        `p_value` (one-sided, of `weat`) with its Monte Carlo error `p_value_mcse` (0: exact); the diagnostics
        `ess_bulk`, `ess_tail` and `r_hat`; and `lost_words` (how many of the study's groups).
        What does not exist is missing. Its attribute `record` keeps draws, lost words and settings (`AuditRecord`).

    Raises
    ------
    LostWordsError
        If embeddings lack more than `max_lost` of a group of a study: all of these are named, before any work.
    ReportError, MeasureError, StudyError, ArgumentError, ModelError, EmbeddingError
        If names are not distinct, or a measure, study, model, embedding or setting is not usable; or no measure has an
        answer.

    Warns
    -----
    LostWordsWarning
        Once, if words were lost.
    BayesBiasWarning
        Once, if a measure has no answer to a study, such as `weat` to one of three groups: it is left out there.
    ConvergenceWarning
        As by `fit`.

    Notes
    -----
    No correction for many questions is made: of 100 intervals of 89 %, 11 are expected to miss. Report how many were
    asked. For two embeddings with the same words, such as an original and a debiased one, `compare_embeddings` is
    sharper, since what they share cancels.

    References
    ----------
    Badilla, Bravo-Marquez and Perez (2020), WEFE: The word embeddings fairness evaluation framework. IJCAI 2020, for
    queries in many models; of these the posterior and its intervals are not a part.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> found = bb.audit({"Wikipedia": vectors}, ["gender", "weat7"], ["mac"], model=None)
    >>> found[["study", "observed", "lost_words"]].round(3)
        study  observed  lost_words
    0  gender     0.604           0
    1   weat7     0.756           0
    """
    seed, limit = resolve_seed(random_seed), check_max_lost(max_lost)
    check_probability("hdi_prob", hdi_prob)
    counts = {"draws": draws, "tune": tune, "chains": chains}
    settings: dict[str, Any] = {name: check_count(name, value) for name, value in counts.items()}
    check_flag("keep_fits", keep_fits)
    spec = None if model is None else load_model(model)
    names = check_measures(measures, [spec])
    asked = read_studies(studies)
    sources = read_embeddings(embeddings, asked, names, case)
    lists = lost_lists(sources, asked)
    raise_if_too_many_lost(lists, limit, names)
    settings |= {"measures": names, "max_lost": limit, "hdi_prob": hdi_prob}
    cells = make_cells(sources.values(), asked, [spec], [seed], **settings)
    answers: dict[str, Answer] = {}
    with collected_warnings() as caught:
        pairs = [] if spec is None else list(product(sources.values(), asked))
        tables = {(source.name, study.name): question_table(source, study, limit) for source, study in pairs}
        for cell in with_progress(cells, "Questions", progress=progress):
            table = tables.get(cell.question)
            answers[cell.digest] = answer_cell(sources[cell.embedding], cell, table, keep_fit=keep_fits)
    repeat([(each.category.__name__, str(each.message)) for each in caught])
    return audit_frame(cells, answers, {}, sources, lists)


def question_table(source: Embedding, study: Study, max_lost: float) -> "pd.DataFrame":
    """Return the distance table of a study in an embedding; raise if it has nothing to compare."""
    table = distance_table(source, study, max_lost=max_lost)
    if not {"associated"} < set(table["connection"]):
        raise ReportError(f"The study {study.name!r} has nothing to compare.")
    return table


def answer_cell(
    source: Embedding, cell: Cell, table: "pd.DataFrame | None" = None, *, keep_fit: bool = False
) -> Answer:
    """Answer a cell from its embedding, and its distance table if that is made already.

    Linear algebra runs in one thread, so that the answer is the same, bit for bit, wherever on a machine it is made.
    """
    from threadpoolctl import threadpool_limits

    rows: list[Mapping[str, Any]] = []
    draws: dict[str, np.ndarray] = {}
    left_out: dict[tuple[str, str, str], str] = {}
    with threadpool_limits(1, "blas"), collected_warnings() as caught:
        fitted = None
        if cell.model is not None:
            # Samplers are heavy to import, and no model is fitted without need.
            from bayesbias.models.sampling import fit

            table = question_table(source, cell.study, cell.max_lost) if table is None else table
            sizes: dict[str, Any] = {"draws": cell.draws, "tune": cell.tune, "chains": cell.chains}
            fitted = fit(table, cell.model, progress=False, random_seed=cell.fit_seed, **sizes)
        shared = cell.max_lost, cell.hdi_prob, cell.fit_seed, left_out
        for row, found in _answers(source, cell.study, cell.measures, fitted, *shared):
            rows.append(row)
            if found is not None:
                draws[row["measure"]] = found
    warned = [(each.category.__name__, str(each.message)) for each in caught]
    reasons = {measure: reason for (*_, measure), reason in left_out.items()}
    kept = (fitted, table) if keep_fit and fitted is not None and table is not None else None
    return Answer(rows, draws, reasons, warned, kept)


# --- what is answered -------------------------------------------------------------------------------------


def _answers(
    source: Embedding,
    study: Study,
    names: tuple[str, ...],
    fitted: "xr.DataTree | None",
    limit: float,
    hdi_prob: float,
    seed: int,
    left_out: dict[tuple[str, str, str], str],
) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
    """Yield rows, each with the posterior draws of its estimate where it has some."""
    for name in names:
        if name == CONTRAST and fitted is not None:
            yield from _contrast_rows(fitted, hdi_prob)
            continue
        entry = MEASURES[name]
        options = {"random_seed": seed} if "random_seed" in signature(entry.function).parameters else {}
        try:
            result = entry.function(source, study, max_lost=limit, **entry.options, **options)
        except MeasureError as error:
            left_out[source.name, study.name, name] = str(error)
            continue
        row: dict[str, Any] = {"measure": name, "quantity": next(iter(result.statistics)), "protected_group": ""}
        row |= {"observed": result.value, "estimate": result.value, "conclusion": ""}
        row |= {key: result.statistics[key] for key in ("p_value", "p_value_mcse") if key in result.statistics}
        function, draws = entry.of_similarities, None
        # None is shown of a measure whose posterior is that of another variant of it, or whose lists have no contrast.
        comparable = {"associated", "different"} <= set(study.connections)
        if fitted is not None and function is not None and not function.same_as and comparable:
            value = expected_value(fitted, function)
            moments = estimates(value, hdi_prob=hdi_prob, independent=independent_draws(fitted)).iloc[0].to_dict()
            row |= {"estimate": moments["mean"], **{key: moments.get(key) for key in BESIDE}}
            draws = value.to_numpy().ravel()
        yield row, draws


def _contrast_rows(fitted: "xr.DataTree", hdi_prob: float) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
    """Yield the contrast of associated words with the first other connection: overall, then of each group."""
    from bayesbias.reports.posterior.contrasts import contrasts

    posterior = fitted["posterior"].to_dataset()
    present = [name for name in CONNECTIONS if name in posterior["connection"].to_numpy()]
    means = posterior["connection_mean"]
    overall = (means.sel(connection=present[0]) - means.sel(connection=present[1])).transpose("chain", "draw")
    for level in ("overall", "protected_group"):
        frame = contrasts(fitted, level=level, hdi_prob=hdi_prob)
        for row in frame[frame["contrast"] == contrast_name(*present[:2])].to_dict("records"):
            one = {
                "measure": CONTRAST,
                "quantity": row["contrast"],
                "protected_group": row["protected_group"],
                "observed": row["observed"],
                "estimate": row["mean"],
                "conclusion": _conclusion(row),
                **{key: row.get(key) for key in BESIDE},
            }
            yield one, overall.to_numpy().ravel() if level == "overall" else None


def _conclusion(row: Mapping[Any, Any]) -> str:
    if row["borderline"]:
        return "borderline"
    return str(row["direction"]) if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
