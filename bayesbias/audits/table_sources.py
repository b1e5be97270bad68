"""Tables in place of vectors: surprisals of a language model, or scores of one's own, each in its unit."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.lost_words import WordList
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import (
    BayesBiasError,
    LostWordsWarning,
    ReportError,
    TableError,
    collected_warnings,
    name_some,
    worded,
)
from bayesbias.reports.plans.record import DEPENDENCE, SENTENCES
from bayesbias.studies.study import Study
from bayesbias.tables.measures import COSINE_DISTANCE, Measure, measure_of
from bayesbias.tables.schema import FrameLike, as_frame, table_facts, validate_table, with_provenance
from bayesbias.tables.word_worths import KEY as DEPENDENT_WORDS
from bayesbias.workers.cells import content_digest

type TableFunction = Callable[[Study], FrameLike]
"""A function of a study that returns its table, such as one made from `surprisal_table` or `score_table`."""
type TableSource = FrameLike | Sequence[FrameLike] | TableFunction
"""A table, tables of several studies, or a function that returns the table of a study."""

_WORDS = {"protected_word", "attribute_word"}
_CONTROLS = ("human", "neutral")
_ROLES = ("protected", "attribute")
# What a table says of the words and sentences that were asked.
_ASKED = ("templates", "baseline")


@dataclass(frozen=True, eq=False)
class StudyTables:
    """The tables of the studies of an audit, in place of an embedding.

    - `name`: name of what gave the numbers.
    - `tables`: study -> table; studies without one have no answer.
    - `measure`: what the numbers of all of them are.
    """

    name: str
    tables: Mapping[str, pd.DataFrame]
    measure: Measure

    def facts(self, study: Study) -> dict[str, Any]:
        """Return the provenance of the table of a study; empty if there is no table."""
        return table_facts(self.tables[study.name]) if study.name in self.tables else {}

    def lists(self, study: Study) -> Iterator[WordList]:
        """Yield the lists of a study's groups with the words that its table lacks; none without a table."""
        if study.name not in self.tables:
            return
        for role, lists in zip(_ROLES, (study.protected, study.attributes), strict=True):
            present = set(self.tables[study.name][f"{role}_word"].astype(str))
            for name, words in lists.items():
                yield WordList(name, len(words), [word for word in words if word not in present])

    def connections(self, study: Study) -> list[str]:
        """Return the connections that the table of a study has."""
        return list(self.tables[study.name]["connection"].astype(str).unique()) if study.name in self.tables else []

    def digest(self, study: Study) -> str:
        """Return a hash of all of a table that can enter an answer: rows, errors, measure, model and templates."""
        if study.name not in self.tables:
            return ""
        table = self.tables[study.name]
        columns = [
            [name, _numbers_digest(values) if values.dtype.kind == "f" else list(map(str, values))]
            for name, values in table.items()
        ]
        return content_digest([self.facts(study), columns])

    def words_hash(self, study: Study) -> str:
        """Return a hash of the words that the table has, and of the sentences in which they were asked."""
        if study.name not in self.tables:
            return ""
        pairs = self.tables[study.name][["protected_word", "attribute_word"]].astype(str)
        facts = self.facts(study)
        kind = facts.get("embedding", {}).get("kind", "")
        sentences = {name: facts[name] for name in _ASKED if name in facts}
        return content_digest([sorted(map(list, pairs.to_numpy().tolist())), sentences, kind])[:16]

    @property
    def interval_includes(self) -> str:
        """What an interval includes besides the choice of independent words, by what all tables say."""
        facts = list(map(table_facts, self.tables.values()))
        parts = ((DEPENDENCE, DEPENDENT_WORDS), (SENTENCES, "context_errors"))
        return ", ".join(part for part, key in parts if facts and all(of_table.get(key) for of_table in facts))

    def __str__(self) -> str:
        """Return what the numbers are and what gave them, for the settings of an audit."""
        facts = list(map(table_facts, self.tables.values()))
        embedding = facts[0].get("embedding", {}) if facts else {}
        model = f"hash {embedding['hash']}" if "hash" in embedding else ""
        count = len(facts[0].get("templates", ())) if facts else 0
        templates = f"{count} template{'s' if count > 1 else ''}" if count else ""
        return "; ".join(
            filter(None, (self.measure.in_units, embedding.get("kind", ""), model, templates, embedding.get("steps")))
        )


type Source = Embedding | StudyTables
"""What an audit asks: vectors, or tables in their place."""


def measure_of_source(source: Source) -> Measure:
    """Return what the contrasts of an embedding, or of tables in its place, are differences of."""
    return source.measure if isinstance(source, StudyTables) else COSINE_DISTANCE


def is_table_source(source: Any) -> bool:
    """Whether a source of an audit is a table, a list of tables, or a function of a study that returns its table.

    >>> is_table_source(table), is_table_source([table]), is_table_source({"cat": [1.0, 0.0]})
    (True, True, False)
    """
    if isinstance(source, list | tuple):
        return len(source) > 0 and all(map(_is_table, source))
    return _is_table(source) or _is_table_function(source)


def _is_table(source: Any) -> bool:
    return hasattr(type(source), "columns") and set(source.columns) >= _WORDS


def _is_table_function(source: Any) -> bool:
    return callable(source) and not isinstance(source, type) and not hasattr(source, "encode")


def read_tables(name: str | None, source: Any, studies: Sequence[Study]) -> tuple[StudyTables, dict[str, str]]:
    """Return the tables of a source, and the errors of the studies that have none, by study.

    A list of tables has one for each of some studies, and is called as its first table says if it has no name.

    Raises `ReportError` if a function has no name, if tables measure different things, or if two are of one study.
    Raises the first error if a function has a table for none of the studies.
    """
    tables: dict[str, pd.DataFrame] = {}
    errors: dict[str, str] = {}
    if _is_table_function(source) and not _is_table(source):
        if name is None:
            raise ReportError("embeddings: a function has no name in reports. Give it one: {'BERT': function}.")
        failures: list[BayesBiasError] = []
        for study in studies:
            try:
                with collected_warnings(LostWordsWarning):  # the audit sums up what was lost
                    answer = source(study)
                tables[study.name] = _of_study(name, answer, study)
            except BayesBiasError as error:
                failures.append(error)
                errors[study.name] = str(error)
        if not tables:
            raise failures[0]
    else:
        listed = list(source) if isinstance(source, list | tuple) else [source]
        name = name or _name_of(listed[0])
        given = tables_by_study(name, listed)
        for study in studies:
            if study.name not in given:
                errors[study.name] = lacking_table(name, study, given)
                continue
            tables[study.name] = _of_study(name, given[study.name], study)
    measures = list(dict.fromkeys(measure_of(table_facts(table)) for table in tables.values()))
    if len(measures) > 1:
        raise ReportError(
            f"{name!r} has tables of different measures: {name_some((one.in_units for one in measures), 3)}. Give each "
            "a name of its own."
        )
    return StudyTables(name, tables, measures[0] if measures else COSINE_DISTANCE), errors


def _name_of(table: Any) -> str:
    facts = table_facts(as_frame(table)) if hasattr(as_frame(table), "attrs") else {}
    named = facts.get("embedding", {}).get("name", "")
    if not named:
        raise ReportError("embeddings: a table does not say what gave its numbers. Give it a name: {'name': table}.")
    return str(named)


def lacking_table(name: str, study: Study, given: Iterable[str]) -> str:
    """Return why a study has no table; `given` are the studies that have one."""
    return (
        f"{name!r} has no table of the study {study.name!r}, only of {name_some(map(repr, given), 5)}. Give its table "
        "too, or leave one of the two out."
    )


def tables_by_study(name: str, tables: Sequence[Any]) -> dict[str, Any]:
    """Return tables by their studies; raise `ReportError` if one names none, or two are of one study."""
    given: dict[str, Any] = {}
    for table in tables:
        study = table_facts(as_frame(table)).get("study", "")
        if not study:
            raise ReportError(
                f"{name!r}: a table does not say of which study it is. Build it from a study, such as by "
                f"{worded('bb.score_table', '`bayesbias table --scores`')}, or read the file that it was written to."
            )
        if study in given:
            raise ReportError(f"{name!r} has two tables of the study {study!r}. Give one of them.")
        given[study] = table
    return given


def _of_study(name: str, answer: Any, study: Study) -> pd.DataFrame:
    """Return a valid table of a study; raise an error if what was given is none.

    Control words that the study does not have are left out of it.
    """
    if not _is_table(answer):
        raise ReportError(
            f"embeddings: the function {name!r} returned a {type(answer).__name__} for the study {study.name!r}. It "
            "takes a study and returns its table, as partial(bb.surprisal_table, 'bert/', templates='pronouns') does. "
            "For vectors of a function use bb.encode."
        )
    table = validate_table(as_frame(answer))
    facts = table_facts(table)
    if facts.get("study") != study.name:
        raise ReportError(
            f"{name!r} gave a table of {facts.get('study', 'no study')!r} for the study {study.name!r}. Build the "
            "table from this study."
        )
    absent = [control for control in _CONTROLS if control not in study.attribute_lists]
    extra = table["connection"].isin(absent)
    if extra.any():
        table = with_provenance(table[~extra].reset_index(drop=True), facts)
    for strange in _strange_pairs(table, study):
        raise TableError(
            f"The table of {name!r} is not of the word lists of the study {study.name!r}: {strange}. Build it again "
            "from this study."
        )
    return table


def _strange_pairs(table: pd.DataFrame, study: Study) -> Iterator[str]:
    """Yield what of a table is not in the lists and comparisons of a study."""
    for role, lists in zip(_ROLES, (study.protected, study.attribute_lists), strict=True):
        columns = [f"{role}_word", f"{role}_group"]
        for word, group in table[columns].drop_duplicates().astype(str).itertuples(index=False):
            if word not in lists.get(group, ()):
                yield f"{word!r} is not in its list {group!r}"
    groups = ["protected_group", "attribute_group", "connection"]
    for group, attributes, connection in table[groups].drop_duplicates().astype(str).itertuples(index=False):
        if study.connection(group, attributes) != connection:
            yield f"{attributes!r} is {connection} for {group!r}"


def _numbers_digest(values: "pd.Series[float]") -> str:
    content = np.ascontiguousarray(values.to_numpy(dtype="<f8"))
    return f"{content.shape} {hashlib.sha256(content.data).hexdigest()}"
