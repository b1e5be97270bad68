"""Debiasing methods side by side."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.audits.debias_cell import DebiasCell, RequestedScore
from bayesbias.audits.debias_result import COLUMNS, ORIGINAL, VALUES, DebiasReport
from bayesbias.audits.plan import (
    load_named_embeddings,
    named_embeddings,
    question_errors,
    raise_unless_distinct,
    read_studies,
)
from bayesbias.audits.running import Failures, check_cells_folder, keep_answers, run_cells
from bayesbias.base.checks import HDI_PROB, check_count, check_items, check_probability, resolve_seed
from bayesbias.base.files.inputs import printable
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Statement, rows_of
from bayesbias.changes.change_code import DRAWS
from bayesbias.changes.result import CHAINS
from bayesbias.debias import METHODS, DebiasWords, methods_from_names
from bayesbias.debias.debias_words import Sets, as_debias_words, check_has
from bayesbias.embeddings.embedding import OF_WORDS, Embedding, EmbeddingLike
from bayesbias.embeddings.vocabularies import Case, spelling_rule
from bayesbias.errors import BayesBiasWarning, ConvergenceWarning, ReportError, warn_user, worded
from bayesbias.estimates.frames import EstimateFrame
from bayesbias.metrics.registry import find_measure
from bayesbias.studies.study import StudyLike
from bayesbias.workers.cells import Answer
from bayesbias.workers.choice import choose_workers
from bayesbias.workers.workers import started_once

type Measures = Sequence[str | tuple[str, Any] | tuple[str, Any, Mapping[str, Any]]]
"""Names in `bayesbias.metrics.MEASURES`, or such names with the data that they need, and options."""

DEFAULT_MEASURES = ("vocabulary_direct_bias", "recoverability")
# Options of measures that take long, unless the user gives others.
_OPTIONS: dict[str, dict[str, Any]] = {"recoverability": {"classifiers": ("logistic_regression",)}}
# The methods that take longest themselves, the slowest first.
_SLOW = ("ran", "gender_preserving", "inlp", "double_hard")


def debias_report(
    embeddings: Mapping[str, EmbeddingLike] | Sequence[EmbeddingLike] | str | os.PathLike[str] | Embedding,
    studies: Sequence[StudyLike] | StudyLike,
    methods: Mapping[str, Any] | Sequence[str] | str,
    *,
    sets: str | os.PathLike[str] | DebiasWords | Sets,
    measures: Measures = DEFAULT_MEASURES,
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    draws: int = DRAWS,
    random_seed: int | None = None,
    cells: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> DebiasReport:
    """Return which debiasing methods removed an association from embeddings, and what that cost.

    Parameters
    ----------
    embeddings
        As for `audit`, or one path or `Embedding`; they are read whole.
    studies
        Associations in question.
    methods
        Names in `bayesbias.debias.METHODS`, such as ``["hard", "inlp", "gn_glove+misp"]``; or methods by their names
        in the report, such as ``{"soft 5": bb.debias.SoftDebias(strength=5.0)}``.
    sets
        Words that methods need: a name of `bayesbias.debias.list_debias_words`, a path, or `DebiasWords`.
    measures
        Scores of whole embeddings: names in `bayesbias.metrics.MEASURES`, with their data where they need
        any, such as ``("word_similarity", "wordsim353.txt")``, and options of their own functions, such as
        ``("recoverability", None, {"words_in_all": 500})``. Recoverability is by default that of logistic regression;
        the names of MIDB are by default those of `sets`. MIDB and SemBias, which depend on the lengths of vectors, are
        computed from vectors of length 1.
    max_lost
        As for `audit`.
    hdi_prob, draws
        As for `compare_embeddings`.
    case, prefix, suffix
        Forms of a word that are looked up, and text around each word, as for `load_embedding`.
    random_seed
        Seed; the same seed gives the same numbers, whichever worker answers. None: drawn, and kept in the folder
        `cells`.
    workers, scheduler, cells
        As for `audit`. A cell is one embedding by one method, or the original embedding, which is answered first, since
        the others are compared with it. Workers on other machines read the files that measures need under the same
        paths.
    progress
        Whether to show a progress bar.

    Returns
    -------
    DebiasReport
        Report; its `table` has the values and their changes, with intervals. See
        `bb.write`, `plot_debias_report` and `measure_correlations`.

    Raises
    ------
    ReportError, MeasureError, ArgumentError, StudyError, ModelError, EmbeddingError
        If there is no such method, measure or study, data is missing, or nothing has an answer; before any work if
        possible.
    NotEnoughMemoryError, ClusterError, OutputError
        As for `audit`.

    Warns
    -----
    BayesBiasWarning
        If a method cannot be applied to an embedding, or a measure has no value there: the others go on.

    References
    ----------
    Dawkins (2021), table 3, has such a table without intervals.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> settings = {"measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report({"Wikipedia": vectors}, "gender", ["linear"], sets="gender_bolukbasi", **settings)
    >>> report.table[["method", "kind", "reading"]]
         method         kind     reading
    0  original  association
    1  original         bias
    2    linear  association  smaller, no longer settled
    3    linear         bias
    """
    check_probability("hdi_prob", hdi_prob)
    settings: dict[str, Any] = {
        "max_lost": check_max_lost(max_lost),
        "hdi_prob": hdi_prob,
        "draws": check_count("draws", draws, least=100),
    }
    seed = None if random_seed is None else resolve_seed(random_seed)
    folder = check_cells_folder(cells)
    start_workers = choose_workers(workers, scheduler, verbose=bool(progress))
    chosen_methods: dict[str, Any] = {ORIGINAL: None} | _checked_methods(methods)
    words = as_debias_words(sets)
    read, scores = tuple(read_studies(studies)), _checked_scores(measures, words)
    named, rule = named_embeddings(embeddings), spelling_rule(case, prefix, suffix)
    sources, _ = load_named_embeddings(named, None, rule, all_needed=True)
    errors = question_errors(sources, read, max_lost)
    if len(errors) == len(sources) * len(read):  # before methods do their work
        raise errors[0]
    with keep_answers(folder) as store, started_once(start_workers) as team:
        if seed is None:
            seed = store.seed() if store else resolve_seed(None)
        grid = [
            DebiasCell(*(name, source.digest, method, chosen, words, read, scores), **settings, random_seed=seed)
            for name, source in sources.items()
            for method, chosen in chosen_methods.items()
        ]
        settings_of_run: dict[str, Any] = {"workers": team, "store": store, "progress": progress}
        originals = {cell.embedding: cell for cell in grid if cell.chosen is None}
        first = _longest_first(list(originals.values()), sources)
        answers, failed = run_cells(first, sources, label="Embeddings", **settings_of_run)
        changed = []
        for cell in _longest_first([cell for cell in grid if cell.chosen is not None], sources):
            original = originals[cell.embedding].digest
            if (cell.source, original) in failed:
                failed[cell.source, cell.digest] = failed[cell.source, original]
            else:
                changed.append(replace(cell, before=answers[original]))
        answers_of_methods, failed_methods = run_cells(changed, sources, label="Methods", **settings_of_run)
    return _assembled(grid, answers | answers_of_methods, failed | failed_methods)


def _longest_first(cells: Sequence[DebiasCell], sources: Mapping[str, Embedding]) -> list[DebiasCell]:
    """Return the cells that take longest first, so that no worker waits at the end."""
    slow = tuple(METHODS[name] for name in _SLOW)

    def sort_key(cell: DebiasCell) -> tuple[int, int]:
        steps = getattr(cell.chosen, "methods", (cell.chosen,))
        speeds = [speed for speed, method in enumerate(slow) for step in steps if isinstance(step, method)]
        return -sources[cell.embedding].vectors.size, min(speeds, default=len(slow))

    return sorted(cells, key=sort_key)


def _checked_methods(methods: Any) -> dict[str, Any]:
    if isinstance(methods, Mapping):
        for name, method in methods.items():
            if name == ORIGINAL or not isinstance(name, str) or not callable(getattr(method, "fit", None)):
                raise ReportError(
                    f"methods: {name!r} is {method!r}. Give methods by name, such as {{'hard': HardDebias()}}; the "
                    f"name {ORIGINAL!r} is taken."
                )
        return dict(methods)
    names = [methods] if isinstance(methods, str) else check_items("methods", methods, "a list of methods")
    return methods_from_names(names, {})


def _checked_scores(measures: Any, words: DebiasWords) -> tuple[RequestedScore, ...]:
    """Return the scores, each with a different label."""
    requests = [measures] if isinstance(measures, str) else check_items("measures", measures, "a list of measures")
    scores = []
    for request in requests:
        name, data, options = (request, None, {}) if isinstance(request, str) else _parts(request)
        entry = find_measure(name, "bias", "quality")
        if entry.data == "names":
            data = _names(words if data is None else data)
        if data is None and entry.required:
            raise ReportError(
                f"measures: {name} needs {entry.needs}. Give "
                f"{worded(f'({name!r}, DATA) in place of {name!r}', f'--measure {name}=FILE')}."
            )
        if entry.read is not None:
            entry.read(data)  # so that faults of a file are raised before any work
        options = _OPTIONS.get(name, {}) | dict(options)
        if entry.depends_on_length and not options.setdefault("normalize", True):
            raise ReportError(
                f"measures: {name} of vectors as stored would change with their length alone. Leave normalize=False "
                "out: the report compares vectors of length 1."
            )
        label = f"{name} ({printable(Path(data).stem)})" if entry.data == "path" and data is not None else name
        scores.append(RequestedScore(name, label, data, tuple(options.items())))
    raise_unless_distinct("measures", [score.label for score in scores])
    return tuple(scores)


def _names(source: Any) -> Any:
    """Return lists of names as given, or those of word lists for debiasing: their name, a path, or `DebiasWords`."""
    if not isinstance(source, str | os.PathLike | DebiasWords):
        return source
    words = as_debias_words(source)
    check_has(words, "names", "MIDB")
    if len(words.names) != 2:
        raise ReportError(f"MIDB compares two lists of names, but {words.name!r} has {len(words.names)}. Give two.")
    return words.names


def _parts(request: Any) -> tuple[str, Any, dict[str, Any]]:
    """Return the name of a measure, its data and its options."""
    parts = request if isinstance(request, tuple) and len(request) in (2, 3) else (None, None, None)
    name, data, options = (*parts, {})[:3]
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise ReportError(
            f"measures: {request!r} is neither a name nor a name with data and, optionally, options, such as "
            "('sembias', PATH) or ('recoverability', None, {'words_in_all': 500})."
        )
    return name, data, dict(options)


def _assembled(cells: Sequence[DebiasCell], answers: Mapping[str, Answer], failed: Failures) -> DebiasReport:
    """Return the report on the answers of all cells, and warn of what was left out or failed."""
    answered = [(cell, answers[cell.digest]) for cell in cells if cell.digest in answers]
    rows = [
        {"embedding": cell.embedding, "method": cell.method, **row}
        for cell, answer in answered
        for row in rows_of(answer.frames["rows"])
    ]
    errors = {
        (cell.embedding, cell.method): failed[cell.source, cell.digest]
        for cell in cells
        if (cell.source, cell.digest) in failed
    }
    left_out = {
        (cell.embedding, cell.method, measure): reason
        for cell, answer in answered
        for measure, reason in answer.facts["left_out"].items()
    }
    reasons = list(dict.fromkeys([*errors.values(), *left_out.values()]))
    methods = {cell.method for cell in cells}
    if not rows or (methods > {ORIGINAL} and {row["method"] for row in rows} == {ORIGINAL}):
        raise ReportError(f"No method has an answer. {' '.join(reasons[:3])}")
    if reasons:
        missing = ((len(errors), "debiased embedding"), (len(left_out), "number"))
        counts = [counted(count, name) for count, name in missing if count]
        warn_user(
            f"The report lacks {' and '.join(counts)}, as it says under Doubts: {' '.join(reasons[:3])}",
            BayesBiasWarning,
        )
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(VALUES, float))
    frame["reading"] = frame["reading"].astype(object).fillna("")
    not_converged = {
        (cell.embedding, cell.method): text
        for cell, answer in answered
        for category, text in answer.warned
        if category == ConvergenceWarning.__name__
    }
    hdi_prob = cells[0].hdi_prob
    doubts = {
        (cell.embedding, cell.method, study): tuple(Statement(*pair) for pair in pairs)
        for cell, answer in answered
        for study, pairs in answer.facts["doubts"].items()
        if pairs
    }
    facts = (errors, left_out, not_converged, hdi_prob, _setting_texts(cells), doubts)
    questions = {study.name: study.description for study in cells[0].studies}
    return DebiasReport(EstimateFrame(frame), *facts, questions)


def _setting_texts(cells: Sequence[DebiasCell]) -> dict[str, str]:
    first = cells[0]
    methods = {cell.method: repr(cell.chosen) for cell in cells if cell.chosen is not None}
    return {
        "Embeddings": ", ".join(
            {cell.embedding: f"{cell.embedding} (hash {cell.vectors}, {OF_WORDS})" for cell in cells}.values()
        ),
        "Methods": "; ".join(f"{name}: {method}" for name, method in methods.items()),
        "Words of the methods": first.sets.name,
        "Studies": ", ".join(study.name for study in first.studies),
        "Measures": ", ".join(map(_score_text, first.scores)),
        "Largest share of lost words": f"{first.max_lost:g}",
        "Draws": f"{first.draws:,} in each of {CHAINS} chains",
        "Seed": str(first.random_seed),
    }


def _score_text(score: RequestedScore) -> str:
    options = ", ".join(f"{name}={option!r}" for name, option in score.options)
    return f"{score.label} ({options})" if options else score.label
