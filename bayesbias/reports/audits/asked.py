"""What an audit asks: measures, studies, models, seeds and embeddings, checked before any work."""

import os
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from bayesbias.base.checks import check_items, is_text
from bayesbias.base.lost_words import WordList, allowance
from bayesbias.embeddings.case_rules import Case
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import LostWordsError, ReportError, name_some
from bayesbias.metrics.registry import find_measure
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.audits.audit_frame import CONTRAST
from bayesbias.reports.audits.cells import needed_words
from bayesbias.studies.study import Study, load_study

# Words of each list that most measures need; the model's own answer needs one.
_FEWEST = 2
AUDIT_MEASURES = (CONTRAST, "weat", "weat_score", "mac", "rnd", "ect")


def check_measures(measures: Sequence[str], specs: Sequence[ModelSpec | None]) -> tuple[str, ...]:
    """Return the names of the measures, which the models must be able to answer."""
    names = (measures,) if isinstance(measures, str) else tuple(check_items("measures", measures, "a list of measures"))
    for name in names:
        if name != CONTRAST:
            find_measure(name)
    if not names or len(set(names)) < len(names):
        raise ReportError(f"measures={measures!r}: name each measure once, such as {', '.join(AUDIT_MEASURES[:3])}.")
    if None in specs and CONTRAST in names:
        raise ReportError("measures: 'contrast' is the answer of a model. Give a model, or leave it out.")
    return names


def read_studies(studies: Any) -> list[Study]:
    """Return the studies, each of which has a name of its own."""
    single = isinstance(studies, Study | str | os.PathLike | Mapping)
    asked = [
        load_study(each) for each in ([studies] if single else check_items("studies", studies, "a list of studies"))
    ]
    raise_unless_distinct("studies", [study.name for study in asked])
    return asked


def raise_unless_distinct(what: str, names: Sequence[object]) -> None:
    """Raise `ReportError` if there is no name, or one twice."""
    if not names:
        raise ReportError(f"{what}: give at least one.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReportError(f"{what}: two are called {twice!r}. Give each a name of its own.")


def named_embeddings(embeddings: Any) -> list[tuple[str | None, Any]]:
    """Return embeddings with the names that they are given, if any."""
    if isinstance(embeddings, str | os.PathLike | Embedding):
        return [(None, embeddings)]
    if not isinstance(embeddings, Mapping):
        return [(None, each) for each in check_items("embeddings", embeddings, "embeddings by name, or a list of them")]
    for name in embeddings:
        if not (is_text(name) and name.strip()):
            raise ReportError(f"embeddings: {name!r} is no name. Give a text that is not blank.")
    return list(embeddings.items())


def read_embeddings(embeddings: Any, asked: list[Study], names: tuple[str, ...], case: Case) -> dict[str, Embedding]:
    """Return the embeddings by name, each with the words of all studies (all its words for `nbm`, which needs them)."""
    wanted, read = needed_words(asked, names), []
    for name, source in named_embeddings(embeddings):
        # An embedding that is loaded already keeps its own look-up rule.
        rule = source.case if isinstance(source, Embedding) else case
        read.append(load_embedding(source, words=wanted, case=rule, name=name))
    raise_unless_distinct("embeddings", [source.name for source in read])
    return {source.name: source for source in read}


def lost_lists(sources: Mapping[str, Embedding], asked: list[Study]) -> dict[tuple[str, str], list[WordList]]:
    """Return the lists of the studies' groups, with the words that each embedding lost."""
    return {
        (source.name, study.name): [
            WordList(f"{source.name}, {study.name}: {name}", len(words), source.lookup(words).lost)
            for name, words in (*study.protected.items(), *study.attributes.items())
        ]
        for source, study in product(sources.values(), asked)
    }


def raise_if_too_many_lost(
    lists: Mapping[tuple[str, str], Sequence[WordList]], limit: float, names: Sequence[str]
) -> None:
    """Raise one `LostWordsError` that names all lists that lost too many words for the measures of these names."""
    too_many = [each for some in lists.values() for each in some if each.is_over(limit)]
    if too_many:
        raise LostWordsError(
            f"{len(too_many)} lists lost more than {100 * limit:g}% of their words (max_lost={limit:g}): "
            f"{name_some(too_many, 20)}. Look the words up in other forms (case), or leave these studies or embeddings "
            f"out{allowance(too_many, 1 if CONTRAST in names else _FEWEST)}."
        )
