"""Tables in the plan of an audit: a section in place of the path of vectors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from bayesbias.audits.table_sources import lacking_table, tables_by_study
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.files.settings import toml_faults
from bayesbias.base.files.spreadsheets import read_csv
from bayesbias.embeddings.language_models.texts import paragraphs
from bayesbias.errors import ReportError
from bayesbias.studies.study import Study
from bayesbias.tables.score_table import score_table
from bayesbias.tables.surprisal_table import surprisal_table
from bayesbias.tables.table_files import read_table

if TYPE_CHECKING:
    import pandas as pd


class _Section(TypedDict, total=False):
    surprisal: str
    templates: str | list[str]
    context: Literal["both", "left", "sentence"]
    baseline: str | list[str]
    scores: str
    value: str
    lower: Literal["nearer", "farther"]
    unit: str
    trials: str
    controls: bool
    table: str | list[str]


# The keys that a section of each kind needs, and those that it may have.
_KINDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "surprisal": (("templates",), ("context", "baseline", "controls")),
    "scores": (("value", "lower"), ("unit", "trials", "controls")),
    "table": ((), ()),
}
_WORDS = ("protected_word", "attribute_word")


@dataclass(frozen=True)
class TableOfPlan:
    """A section of a plan that names tables in place of vectors: called with a study, it returns the table of it.

    - ``{surprisal = "bert/", templates = "pronouns"}``: surprisals of a language model's folder, with the options of
      `surprisal_table`: `context`, `baseline`, `controls`. Templates are a bundled set, a text file, or sentences.
    - ``{scores = "times.csv", value = "time", unit = "ms", lower = "nearer"}``: as for `score_table`.
    - ``{table = "occupations.csv"}``: a table that was written, or a list of tables of several studies.

    Paths are relative to `folder`; `name` is that of the embedding; `progress` says whether to show a progress bar.
    """

    folder: Path
    name: str
    section: Mapping[str, Any]
    progress: bool = True

    def __call__(self, study: Study) -> "pd.DataFrame":
        """Return the table of a study; raise an error if there is none, or a file cannot be read."""
        section = self.section
        # The audit judges lost words by its own limit.
        settings: dict[str, Any] = {key: value for key, value in section.items() if key not in _KINDS}
        settings["max_lost"] = 1.0
        if "table" in section:
            if study.name not in self._tables:
                raise ReportError(lacking_table(self.name, study, self._tables))
            return self._tables[study.name]
        if "scores" in section:
            return score_table(self._scores, study, source=self.name, **settings)
        templates = settings["templates"]
        if isinstance(templates, str) and templates not in _bundled_sets():
            settings["templates"] = [line for line in paragraphs(self.folder / templates) if line]
        folder = self.folder / section["surprisal"]
        return surprisal_table(folder, study, name=self.name, progress=self.progress, **settings)

    # Files are read once, not for each study.
    @cached_property
    def _scores(self) -> "pd.DataFrame":
        advice = f"Give a row a pair, with the columns {' and '.join(_WORDS)}."
        return read_csv(self.folder / self.section["scores"], advice, keys=_WORDS, texts=_WORDS)

    @cached_property
    def _tables(self) -> "dict[str, pd.DataFrame]":
        named = self.section["table"]
        files = [named] if isinstance(named, str) else named
        return tables_by_study(self.name, [read_table(self.folder / file) for file in files])


def _bundled_sets() -> Mapping[str, Any]:
    sets: Mapping[str, Any] = read_toml(bundled("data", "templates", "pairs.toml"), ReportError)["templates"]
    return sets


def is_table_section(entry: Any) -> bool:
    """Whether an entry of a plan names a table; other sections are names with a dot that lack their quotes.

    >>> is_table_section({"surprisal": "bert/"}), is_table_section({"6B": "glove.txt"})
    (True, False)
    """
    return isinstance(entry, Mapping) and not entry.keys().isdisjoint(_Section.__annotations__)


def section_faults(name: str, section: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a section that names a table.

    >>> list(section_faults("BERT", {"surprisal": "bert/"}))
    ['embeddings.BERT: surprisal needs templates.']
    """
    place = f"embeddings.{name}"
    yield from toml_faults(section, _Section, section=place)
    kinds = [kind for kind in _KINDS if kind in section]
    if len(kinds) != 1:
        yield f"{place}: give one of {', '.join(_KINDS)}."
        return
    needed, possible = _KINDS[kinds[0]]
    if lacking := [key for key in needed if key not in section]:
        yield f"{place}: {kinds[0]} needs {' and '.join(lacking)}."
    others = [key for key in section if key in _Section.__annotations__ and key not in (*kinds, *needed, *possible)]
    if others:
        yield f"{place}: {' and '.join(others)} {'are' if len(others) > 1 else 'is'} not for {kinds[0]}. Leave it out."
