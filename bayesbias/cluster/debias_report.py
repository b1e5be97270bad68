"""Debiasing methods side by side, by many workers."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bayesbias.base.checks import HDI_PROB, check_count, check_items, check_probability, resolve_seed
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.cluster.answering import answer_all, checked_folder, checked_team, held, own_seed
from bayesbias.cluster.workers import this_process
from bayesbias.debias import METHODS, DebiasWords, methods_from_names
from bayesbias.debias.debias_words import Sets, as_debias_words
from bayesbias.embeddings.case_rules import Case
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import BayesBiasError, ReportError, collected_warnings
from bayesbias.metrics.embedding_registry import find_embedding_measure
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.audits.asked import named_embeddings, raise_unless_distinct, read_studies
from bayesbias.reports.audits.audit import question_table
from bayesbias.reports.debiasing.cells import ORIGINAL, AskedScore, DebiasCell, answer_debias_cell
from bayesbias.reports.debiasing.report import DebiasReport, assembled, setting_texts
from bayesbias.studies.study import Study, StudyLike

type Measures = Sequence[str | tuple[str, Any] | tuple[str, Any, Mapping[str, Any]]]
"""Names in `bayesbias.metrics.EMBEDDING_MEASURES`, or such names with the data that they need, and options."""

DEFAULT_MEASURES = ("vocabulary_direct_bias", "recoverability")
# What a report leaves out of what takes long, unless it is asked otherwise.
_OPTIONS: dict[str, dict[str, Any]] = {"recoverability": {"classifiers": ("logistic_regression",)}}
# The methods that take longest themselves, the slowest first.
_SLOW = ("ran", "gender_preserving", "inlp", "double_hard")


def debias_report(
    embeddings: Mapping[str, EmbeddingLike] | Sequence[EmbeddingLike] | str | os.PathLike[str] | Embedding,
    studies: Sequence[StudyLike] | StudyLike,
    methods: Mapping[str, Any] | Sequence[str] | str,
    sets: str | os.PathLike[str] | DebiasWords | Sets,
    *,
    measures: Measures = DEFAULT_MEASURES,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    case: Case = "exact",
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    draws: int = 2000,
    chains: int = 4,
    random_seed: int | None = None,
    cells: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> DebiasReport:
    """Debias embeddings by several methods, and say which took an association away and what it cost.

    Parameters
    ----------
    embeddings
        As for `audit`, or one path or `Embedding`; they are read whole.
    studies
        The associations that you ask about.
    methods
        Names in `bayesbias.debias.METHODS`, such as ``["hard", "inlp", "gn_glove+misp"]``; or methods by the names
        that the report is to call them, such as ``{"soft 5": bb.debias.SoftDebias(strength=5.0)}``.
    sets
        The words that methods need: a name of `bayesbias.debias.list_debias_words`, a path, or `DebiasWords`.
    measures
        Scores of whole embeddings: names in `bayesbias.metrics.EMBEDDING_MEASURES`, with their data where they need
        any, such as ``("word_similarity", "wordsim353.txt")``, and options of their own functions, such as
        ``("recoverability", None, {"words_in_all": 500})``. Recoverability is that of logistic regression, unless you
        say otherwise.
    model, max_lost, hdi_prob, draws, chains
        As for `audit` and `compare_embeddings`.
    case
        How words are looked up, as for `load_embedding`.
    random_seed
        Equal seeds give equal numbers whichever worker answers. None: drawn, and kept in the folder `cells`.
    cells, scheduler
        As for `run_study`: a cell is one embedding by one method, or as it is, which is asked first, since the others
        are compared with it. Workers of other machines read the files that measures need under the same paths.
    workers
        Processes of this machine, of one core each. 1: this process, with one core. None: this process, which draws
        chains on all that it has.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    DebiasReport
        Printed, the answer; `table` has the numbers, each with its interval and its change with its own. See
        `plot_debias_report`, `write_debias_page` and `measure_correlations`.

    Raises
    ------
    ReportError, MeasureError, ArgumentError, StudyError, ModelError, EmbeddingError
        If there is no such method, measure or study, data is missing, or nothing has an answer; before any work as far
        as it can be known.
    ClusterError, OutputError
        As for `run_study`.

    Warns
    -----
    BayesBiasWarning
        If a method cannot be applied to an embedding, or a measure has no number there: the others go on.

    References
    ----------
    Dawkins (2021), table 3, has such a table without intervals.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> asked = {"model": "no_pooling", "measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report({"Wikipedia": vectors}, "gender", ["linear"], "gender_bolukbasi", **asked)
    >>> report.table[["method", "kind", "reading"]]
         method         kind        reading
    0  original  association
    1  original         bias
    2    linear  association  baseline only
    3    linear         bias
    """
    check_probability("hdi_prob", hdi_prob)
    settings: dict[str, Any] = {
        "max_lost": check_max_lost(max_lost),
        "hdi_prob": hdi_prob,
        "draws": check_count("draws", draws),
        "chains": check_count("chains", chains),
    }
    seed = None if random_seed is None else resolve_seed(random_seed)
    folder = None if cells is None else checked_folder(cells)
    alone = workers is None and scheduler is None
    team = partial(this_process, every_core=True) if alone else checked_team(workers, scheduler, say=bool(progress))
    chosen: dict[str, Any] = {ORIGINAL: None} | _checked_methods(methods)
    words = as_debias_words(sets)
    asked, scores, spec = tuple(read_studies(studies)), _checked_scores(measures), load_model(model)
    sources = _read(embeddings, case)
    _check_studies(sources, asked, max_lost)
    with held(folder):
        seed = own_seed(folder) if seed is None else seed
        every = [
            DebiasCell(*(name, source.digest, method, how, words, asked, scores, spec), **settings, random_seed=seed)
            for name, source in sources.items()
            for method, how in chosen.items()
        ]
        ordered = _longest_first(every, sources)
        answers, failed = answer_all(
            ordered, sources, answer_debias_cell, team, folder, check=lambda *_: None, progress=progress
        )
    return assembled(every, answers, failed, setting_texts(every))


def _read(embeddings: Any, case: Case) -> dict[str, Embedding]:
    """Return the embeddings by name, whole."""
    single = isinstance(embeddings, str | os.PathLike | Embedding)
    read = [
        load_embedding(source, case=source.case if isinstance(source, Embedding) else case, name=name)
        for name, source in named_embeddings([embeddings] if single else embeddings)
    ]
    raise_unless_distinct("embeddings", [source.name for source in read])
    return {source.name: source for source in read}


def _check_studies(sources: Mapping[str, Embedding], studies: Sequence[Study], max_lost: float) -> None:
    """Raise why no study can be asked of any embedding, before methods do their work."""
    errors: list[BayesBiasError] = []
    for source, study in product(sources.values(), studies):
        try:
            with collected_warnings():
                question_table(source, study, max_lost)
        except BayesBiasError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _longest_first(cells: Sequence[DebiasCell], sources: Mapping[str, Embedding]) -> list[DebiasCell]:
    """Return cells as they are asked: what others need, then what takes long, so that no worker waits at the end."""
    slow = tuple(METHODS[name] for name in _SLOW)

    def place(cell: DebiasCell) -> tuple[bool, int, int]:
        steps = getattr(cell.chosen, "methods", (cell.chosen,))
        first = min((at for at, method in enumerate(slow) for step in steps if isinstance(step, method)), default=99)
        return bool(cell.after), -sources[cell.embedding].vectors.size, first

    return sorted(cells, key=place)


def _checked_methods(methods: Any) -> dict[str, Any]:
    """Return methods by name."""
    if isinstance(methods, Mapping):
        for name, method in methods.items():
            if name == ORIGINAL or not isinstance(name, str) or not callable(getattr(method, "fit", None)):
                raise ReportError(
                    f"methods: {name!r} is {method!r}. Give methods by name, such as {{'hard': HardDebias()}}, and "
                    f"none of the name {ORIGINAL!r}."
                )
        return dict(methods)
    names = [methods] if isinstance(methods, str) else check_items("methods", methods, "a list of methods")
    return methods_from_names(names, {})


def _checked_scores(measures: Any) -> tuple[AskedScore, ...]:
    """Return the scores that are asked for, each with a label of its own."""
    given = [measures] if isinstance(measures, str) else check_items("measures", measures, "a list of measures")
    scores = []
    for each in given:
        name, data, options = (each, None, {}) if isinstance(each, str) else _parted(each)
        entry = find_embedding_measure(name)
        if data is None and entry.required:
            raise ReportError(
                f"measures: {name} needs {entry.needs}. Give ({name!r}, DATA) in place of {name!r}, or --measure "
                f"{name}=FILE."
            )
        if entry.read is not None:
            entry.read(data)  # what is wrong with a file is told before any work
        label = f"{name} ({Path(data).stem})" if entry.data == "path" and data is not None else name
        scores.append(AskedScore(name, label, data, tuple((_OPTIONS.get(name, {}) | options).items())))
    raise_unless_distinct("measures", [score.label for score in scores])
    return tuple(scores)


def _parted(each: Any) -> tuple[str, Any, dict[str, Any]]:
    """Return a name, its data and its options."""
    name, data, options = (*each, {})[:3] if isinstance(each, tuple) and len(each) in (2, 3) else (None, None, None)
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise ReportError(
            f"measures: {each!r} is no name, nor a name with its data and, perhaps, options, such as "
            "('sembias', PATH) or ('recoverability', None, {'words_in_all': 500})."
        )
    return name, data, dict(options)
