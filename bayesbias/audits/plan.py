"""What an audit asks: measures, studies and embeddings, checked before any work; and its plan as a TOML file."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Required, TypedDict

from bayesbias.audits.audit_frame import CONTRAST
from bayesbias.audits.table_plan import TableOfPlan, is_table_section, section_faults
from bayesbias.audits.table_sources import Source, StudyTables, is_table_source, read_tables
from bayesbias.base.checks import check_items, is_text, shown
from bayesbias.base.files.inputs import read_toml
from bayesbias.base.files.settings import toml_faults
from bayesbias.base.lost_words import WordList, allowance
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import is_encoder, load_embedding
from bayesbias.embeddings.vocabularies import Case
from bayesbias.errors import (
    BayesBiasError,
    LostWordsError,
    ReportError,
    collected_warnings,
    name_some,
    raise_faults,
    setting,
    worded,
)
from bayesbias.metrics.registry import find_measure
from bayesbias.models.spec import ModelSpec, list_models
from bayesbias.studies.study import Study, list_studies, load_study
from bayesbias.tables.build import distance_table, matched_pairs

if TYPE_CHECKING:
    import pandas as pd


# Words of each list that most measures need; the model's own answer needs one.
_FEWEST = 2
AUDIT_MEASURES = (CONTRAST, "weat", "weat_score", "mac", "rnd", "ect")
_MOST = 1000  # of the embeddings, studies, models or measures of an audit
_EXCLUSIVE = (("model", "models"), ("random_seed", "seeds"))


def check_measures(measures: Sequence[str], models: Sequence[ModelSpec | None]) -> tuple[str, ...]:
    """Return the names of the measures, which the models must be able to answer."""
    names = (measures,) if isinstance(measures, str) else tuple(check_items("measures", measures, "a list of measures"))
    check_few("measures", names)
    for name in names:
        if name != CONTRAST:
            find_measure(name, "association")
    if not names or len(set(names)) < len(names):
        raise ReportError(
            f"measures={shown(measures)}: name each measure once, such as {', '.join(AUDIT_MEASURES[:3])}."
        )
    if None in models and CONTRAST in names:
        raise ReportError("measures: 'contrast' is the answer of a model. Give a model, or leave it out.")
    return names


def check_few(what: str, items: Sized) -> None:
    """Raise `ReportError` if an audit is to ask for more of something than it can load in a moment."""
    if len(items) > _MOST:
        raise ReportError(f"{what}: {len(items):,} are more than {_MOST:,}. Divide the audit.")


def read_studies(studies: Any) -> list[Study]:
    """Return the studies, which need different names."""
    single = isinstance(studies, Study | str | os.PathLike | Mapping)
    sources = [studies] if single else check_items("studies", studies, "a list of studies")
    check_few("studies", sources)
    raise_if_repeated("studies", [source for source in sources if isinstance(source, str)])  # before any is read
    read = [load_study(source) for source in sources]
    raise_unless_distinct("studies", [study.name for study in read])
    return read


def raise_unless_distinct(what: str, names: Sequence[object]) -> None:
    """Raise `ReportError` if there is no name, or one twice."""
    if not names:
        raise ReportError(f"{what}: give at least one.")
    raise_if_repeated(what, names)


def raise_if_repeated(what: str, names: Sequence[object]) -> None:
    """Raise `ReportError` if there is one name twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ReportError(f"{what}: two are called {repeated[0]!r}. Give different names.")


def named_embeddings(embeddings: Any) -> list[tuple[str | None, Any]]:
    """Return embeddings with the names that the user gave them, if any."""
    if isinstance(embeddings, str | os.PathLike | Embedding) or (
        is_table_source(embeddings) and not isinstance(embeddings, list | tuple)
    ):
        return [(None, embeddings)]
    if not isinstance(embeddings, Mapping):
        sources = check_items("embeddings", embeddings, "embeddings by name, or a list of them")
        check_few("embeddings", sources)
        return [(None, source) for source in sources]
    check_few("embeddings", embeddings)
    for name in embeddings:
        if not (is_text(name) and name.strip()):
            raise ReportError(f"embeddings: {name!r} is not a name. Give a text that is not blank.")
    return list(embeddings.items())


def load_named_embeddings(
    named: Iterable[tuple[str | None, Any]],
    words: Sequence[str] | None,
    case: Case,
    *,
    all_needed: bool = False,
) -> tuple[dict[str, Embedding], dict[str, BayesBiasError]]:
    """Return embeddings by name, with the words given or with all, and the errors of those that cannot be read.

    An `Embedding` keeps its own case rule. Errors are those of `_read_each`.
    """
    return _read_each(named, lambda name, source: _load(name, source, words, case), all_needed=all_needed)


def load_sources(
    named: Iterable[tuple[str | None, Any]],
    studies: Sequence[Study],
    words: Sequence[str] | None,
    case: Case,
    *,
    encoded: Sequence[str] | None = None,
) -> tuple[dict[str, Source], dict[tuple[str, str], str]]:
    """Return embeddings and tables of studies by name, and the errors of questions that have neither.

    An `Embedding` keeps its own case rule. The folder of an encoder gives vectors to the words `encoded` only, since
    each of its vectors takes time. Errors are those of `_read_each`.
    """
    errors: dict[tuple[str, str], str] = {}

    def read(name: str | None, source: Any) -> Source:
        if not is_table_source(source):
            return _load(name, source, encoded if is_encoder(source) else words, case)
        tables, lacking = read_tables(name, source, studies)
        errors.update({(tables.name, study): text for study, text in lacking.items()})
        return tables

    sources, unread = _read_each(named, read)
    return sources, errors | {(name, study.name): str(error) for name, error in unread.items() for study in studies}


def _load(name: str | None, source: Any, words: Sequence[str] | None, case: Case) -> Embedding:
    rule = source.case if isinstance(source, Embedding) else case
    return load_embedding(source, words=words, case=rule, name=name)


def _read_each[AnySource: Source](
    named: Iterable[tuple[str | None, Any]],
    read_one: Callable[[str | None, Any], AnySource],
    *,
    all_needed: bool = False,
) -> tuple[dict[str, AnySource], dict[str, BayesBiasError]]:
    """Return sources by name, and the errors of those that cannot be read.

    Raises the first error if none can be read, but for those that have none of the words; at once if one cannot that
    has no name, or any if `all_needed`. Raises `ReportError` if two have one name.
    """
    sources: list[AnySource] = []
    unread: dict[str, BayesBiasError] = {}
    for name, source in named:
        try:
            sources.append(read_one(name, source))
        except BayesBiasError as error:
            if name is None or all_needed:
                raise
            unread[name] = error
    if not sources and (faults := [error for error in unread.values() if not isinstance(error, LostWordsError)]):
        raise faults[0]
    raise_unless_distinct("embeddings", [*(source.name for source in sources), *unread])
    return {source.name: source for source in sources}, unread


def question_table(source: Source, study: Study, max_lost: float) -> "pd.DataFrame":
    """Return the table of a study from its source; raise `ReportError` if it has nothing to compare."""
    if isinstance(source, StudyTables):
        table = source.tables[study.name]
    else:
        table = distance_table(source, study, max_lost=max_lost)
    _check_compared(study, table["connection"])
    return table


def _check_compared(study: Study, connections: Iterable[str]) -> None:
    if not {"associated"} < set(connections):
        raise ReportError(f"The study {study.name!r} has nothing to compare.")


def question_errors(
    sources: Mapping[str, Embedding] | Mapping[str, Source], studies: Sequence[Study], max_lost: float
) -> list[BayesBiasError]:
    """Return the errors of the questions that no model can answer, without building tables from vectors."""
    errors = []
    with collected_warnings():
        for source, study in product(sources.values(), studies):
            try:
                if isinstance(source, StudyTables):
                    _check_compared(study, source.connections(study))
                    continue
                pairs, _, _ = matched_pairs(source, study, max_lost=max_lost)
                _check_compared(study, pairs.connections.values())
            except BayesBiasError as error:
                errors.append(error)
    return errors


def lost_lists(source: Source | None, study: Study) -> list[WordList]:
    """Return the lists of a study's groups with the words that an embedding or a table lacks; none without either."""
    if source is None:
        return []
    if isinstance(source, StudyTables):
        return list(source.lists(study))
    lists = (*study.protected.items(), *study.attributes.items())
    return [WordList(name, len(words), source.lookup(words).lost) for name, words in lists]


def unanswerable_questions(
    sources: Mapping[str, Embedding] | Mapping[str, Source],
    studies: Sequence[Study],
    max_lost: float,
    measures: Sequence[str],
    *,
    modelled: bool,
) -> dict[tuple[str, str], str]:
    """Return the errors of the questions that sources cannot answer, by source and study, before any work.

    `modelled` says whether models are fitted, which need something to compare.
    """
    errors: dict[tuple[str, str], str] = {}
    for source, study in product(sources.values(), studies):
        question = source.name, study.name
        lists = [words for words in lost_lists(source, study) if words.is_over(max_lost)]
        if lists:
            allowed = allowance(lists, 1 if CONTRAST in measures else _FEWEST)
            other_forms = f"Look the words up in other forms ({setting('case', 'lower')}), or leave"
            errors[question] = (
                f"{counted(len(lists), 'list')} lost more than {100 * max_lost:g}% of the words"
                f"{worded(f' (max_lost={max_lost:g})', '')}: {name_some(lists, 20)}. "
                f"{'Leave' if isinstance(source, StudyTables) else other_forms} the study or the "
                f"{source.measure.source if isinstance(source, StudyTables) else 'embedding'} out{allowed}."
            )
        elif modelled and (error := question_errors({source.name: source}, [study], max_lost)):
            errors[question] = str(error[0])
    return errors


class _PlanFile(TypedDict, total=False):
    embeddings: Required[dict[str, str]]
    studies: Required[list[str]]
    measures: list[str]
    model: str
    models: list[str]
    random_seed: int
    seeds: list[int]
    case: str
    prefix: str
    suffix: str
    max_lost: float
    controls: bool
    hdi_prob: float
    rope: float | list[float] | dict[str, float | list[float]]
    draws: int
    tune: int
    chains: int
    workers: int


@dataclass(frozen=True)
class AuditPlan:
    """Arguments of `bayesbias.audit` that a file names.

    - `embeddings`: name -> path of vectors, or a section that names tables.
    - `studies`: names of bundled studies, or paths.
    - `measures`: names of measures.
    - `settings`: other arguments by name, as far as the file has them.
    """

    embeddings: Mapping[str, Path | TableOfPlan]
    studies: tuple[str, ...]
    measures: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def sources(self, *, progress: bool) -> dict[str, Any]:
        """Return the embeddings and tables, as `bayesbias.audit` takes them; `progress` is for language models."""
        return {
            name: replace(entry, progress=progress) if isinstance(entry, TableOfPlan) else entry
            for name, entry in self.embeddings.items()
        }


def read_audit_plan(path: str | os.PathLike[str]) -> AuditPlan:
    """Return the plan of an audit in a TOML file; its paths are relative to the folder of the file.

    The file has a table ``[embeddings]`` of names and paths and a list `studies`; in place of a path, a section names a
    language model, scores or tables (`TableOfPlan`). It may have `measures`, `model` or a
    list `models` (``"none"``: no model), `random_seed` or a list `seeds`, `workers`, `case`, `prefix`, `suffix`,
    `max_lost`, `controls`, `hdi_prob`, `rope`, `draws`, `tune` and `chains`. It names no Dask scheduler, which could
    run code here.

    Raises `InputFileError` if the file cannot be read. Raises `ReportError` if it is not TOML, or not a plan; all
    faults are listed.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "audit.toml")
    ...     written = path.write_text("embeddings = {GloVe = 'glove.txt'}; studies = ['weat7']".replace("; ", chr(10)))
    ...     read_audit_plan(path).studies
    ('weat7',)
    """
    content = read_toml(path, ReportError)
    if "scheduler" in content:
        raise ReportError(
            f"The audit {path} names a Dask scheduler, which could run any program here, and plans come from anyone. "
            "Remove the line. If you trust it, give its address: " + setting("scheduler") + "."
        )
    both = [f"{one} and {other}: give one of the two." for one, other in _EXCLUSIVE if {one, other} <= content.keys()]
    entries: Any = content.get("embeddings")
    named = entries.items() if isinstance(entries, dict) else ()
    sections = {name: entry for name, entry in named if is_table_section(entry)}
    as_paths = content | ({"embeddings": entries | dict.fromkeys(sections, "")} if sections else {})
    faults = (fault for name, section in sections.items() for fault in section_faults(name, section))
    raise_faults(ReportError, f"The audit {path}", chain(toml_faults(as_paths, _PlanFile), faults, both))
    folder = Path(path).resolve().parent  # so that no path is taken for a name
    settings = {key: value for key, value in content.items() if key not in ("embeddings", "studies", "measures")}
    bundled_models, bundled_studies = list_models(), list_studies()
    if "model" in settings:
        settings["model"] = _model(content["model"], folder, bundled_models)
    if "models" in settings:
        settings["models"] = [_model(name, folder, bundled_models) for name in content["models"]]
    no_model = None in settings.get("models", [settings.get("model", "")])
    return AuditPlan(
        embeddings={
            name: TableOfPlan(folder, name, entry) if name in sections else folder / entry
            for name, entry in content["embeddings"].items()
        },
        studies=tuple(name if name in bundled_studies else str(folder / name) for name in content["studies"]),
        measures=tuple(content.get("measures", AUDIT_MEASURES[1:] if no_model else AUDIT_MEASURES)),
        settings=settings,
    )


def _model(name: str, folder: Path, bundled_models: list[str]) -> str | None:
    if name == "none":
        return None
    return name if name in bundled_models else str(folder / name)
