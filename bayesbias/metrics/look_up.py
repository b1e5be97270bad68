"""Look-up of word lists and their vectors, shared by all measures."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import shown
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost, judge_lost_words, list_labels
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import (
    Embedding,
    EmbeddingLike,
    same_vectors_hint,
    unit_rows_of,
    words_with_same_vectors,
)
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import (
    DuplicatesWarning,
    LostWordsWarning,
    MeasureError,
    did_you_mean,
    name_some,
    setting,
    warn_user,
)
from bayesbias.studies.study import Study, StudyLike, load_study

WordLists = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddedLists(Described):
    """Word lists as they were found in an embedding.

    Parameters
    ----------
    source
        Embedding that was searched.
    words
        Words that the embedding has, by list, in their order.
    lost
        Words that the embedding lacks, by list; only lists that lost any.
    """

    source: Embedding
    words: Mapping[str, tuple[str, ...]]
    lost: Mapping[str, tuple[str, ...]]

    @property
    def _facts(self) -> Facts:
        return {"source": self.source.name, "words": self.words, "lost": self.lost}

    def names(self, study_name: str) -> dict[str, Any]:
        """Return the fields of a measure's result that say of what it is."""
        return {"study": study_name, "embedding": self.source.name, "lost_words": self.lost}

    @cached_property
    def units(self) -> Mapping[str, Floats]:
        """Vectors by list, scaled to length 1: float64, of shape (words, dimensions)."""
        return {name: unit_rows_of(self.source, words) for name, words in self.words.items()}

    @cached_property
    def vectors(self) -> Mapping[str, Floats]:
        """Vectors by list, as stored: float64, of shape (words, dimensions)."""
        return {name: self.source.matrix(words).astype(np.float64) for name, words in self.words.items()}

    @property
    def every_word(self) -> list[str]:
        """The words of all lists, list after list."""
        return [word for words in self.words.values() for word in words]

    def labels(self, names: Iterable[str], column: str) -> dict[str, list[str]]:
        """Return the words of some lists, and the list of each word, as columns `word` and `column`."""
        rows = [(word, name) for name in names for word in self.words[name]]
        return {"word": [word for word, _ in rows], column: [name for _, name in rows]}

    def similarity(self, first: str, second: str) -> Floats:
        """Return the cosine similarities of two lists, of shape (words of first, words of second)."""
        product: Floats = np.clip(self.units[first] @ self.units[second].T, -1.0, 1.0)
        return product


def find_lists(
    embedding: EmbeddingLike,
    lists: WordLists,
    *,
    max_lost: float = MAX_LOST,
    least: int = 2,
    others: Iterable[str] | None = (),
) -> EmbeddedLists:
    """Return word lists (list name -> words) as they are found in an embedding.

    Each list must keep at least `least` words and may lose at most the share `max_lost`. `others` are further words to
    read if the embedding is still a file; None: all words. A warning names the words that the embedding lacks, and
    those that match the same vector as an earlier word of their list, which are left out. Two lists that share a vector
    raise a `MeasureError`.

    >>> vectors = {"cat": [2.0, 0.0], "dog": [0.0, 1.0], "purr": [3.0, 4.0], "nap": [1.0, 0.0]}
    >>> lists = find_lists(vectors, {"pets": ["cat", "dog"], "sounds": ["purr"]}, least=1)
    >>> lists.similarity("pets", "sounds").round(3)
    array([[0.6],
           [0.8]])
    """
    check_max_lost(max_lost)
    lists = {name: checked_words(f"The list {name!r}", words) for name, words in lists.items()}
    all_words = [word for words in lists.values() for word in words]
    source = as_embedding(embedding, None if others is None else [*all_words, *checked_words("The vocabulary", others)])
    forms = source.lookup(all_words).matches
    same = words_with_same_vectors(source, forms, lists)
    forms = {word: form for word, form in forms.items() if word not in same}
    lost_words = {
        name: missing
        for name, words in lists.items()
        if (missing := tuple(word for word in words if word not in forms))
    }
    distinct = {name: _distinct(name, words, forms) for name, words in lists.items()}
    too_short = [
        f"{name!r} has {len(words)} of its {len(lists[name])}" for name, words in distinct.items() if len(words) < least
    ]
    if too_short:
        raise MeasureError(
            f"In the embedding {source.name!r}, {'; '.join(too_short)} words, but each list needs at least {least}. "
            f"Add words, or change the case rule, which is {source.case_text!r}."
        )
    judge_lost_words(
        f"The embedding {source.name!r}",
        [WordList(name, len(words), lost_words.get(name, ())) for name, words in lists.items()],
        "The measure uses the other words; its result lists the lost ones (lost_words)." + same_vectors_hint(same),
        max_lost=max_lost,
    )
    _raise_if_lists_share_a_vector(distinct, forms)
    return EmbeddedLists(source, distinct, lost_words)


def find_two_lists(
    embedding: EmbeddingLike, lists: WordLists, *, max_lost: float = MAX_LOST, others: Iterable[str] | None = ()
) -> EmbeddedLists:
    """Return two word lists as `find_lists` does; each must keep at least one word."""
    if not isinstance(lists, Mapping):
        raise MeasureError(f"The lists are {shown(lists)}. Give a mapping of two list names to words.")
    if len(lists) != 2:
        raise MeasureError(f"Found {counted(len(lists), 'word list')}. Give a mapping of two list names to words.")
    return find_lists(embedding, lists, max_lost=max_lost, least=1, others=others)


def as_embedding(embedding: EmbeddingLike | Callable[..., Embedding], words: Iterable[str] | None = None) -> Embedding:
    """Return an embedding, loaded from its source if need be with the vectors of `words` only (None: all words).

    A function is called with ``words=``, so that the command line reads from a file only what a measure needs.
    """
    if isinstance(embedding, Embedding):
        return embedding
    wanted = None if words is None else tuple(words)
    return embedding(words=wanted) if callable(embedding) else load_embedding(embedding, words=wanted)


def judge_lost_rows(
    source: Embedding, path: str | os.PathLike[str], rows: int, lost: Sequence[str], what: str, *, least: int
) -> None:
    """Warn of the rows of a file, such as pairs, that an embedding lacks; raise `MeasureError` if too few are left."""
    if rows - len(lost) < least:
        raise MeasureError(
            f"The embedding {source.name!r} has the words of {rows - len(lost)} of the {rows:,} {what} of "
            f"{os.fspath(path)}, but at least {least} are needed. Change the case rule, which is {source.case_text!r}."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks a word of {len(lost):,} of the {rows:,} {what}: "
            f"{name_some(lost, 3)}. The score is that of the others; the result lists the lost ones (lost_words).",
            LostWordsWarning,
        )


def checked_words(what: str, words: Any) -> tuple[str, ...]:
    """Return a list of words as a tuple, or raise `MeasureError`."""
    is_list = isinstance(words, Iterable) and not isinstance(words, str | Mapping)  # a mapping would give its keys
    listed = tuple(words) if is_list else (None,)
    if not all(issubclass(kind, str) for kind in set(map(type, listed))):
        raise MeasureError(f"{what} is {words!r}. Give a list of strings.")
    return listed


def checked_base_pairs(pairs: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs of words, or raise `MeasureError` if they are something else or one is listed twice."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise MeasureError(f"{pairs!r} is not a list of pairs of words. Give pairs such as [('he', 'she')].")
    checked: dict[tuple[str, str], None] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise MeasureError(f"{pair!r} is not a pair of words. Give pairs such as ('he', 'she').")
        if (pair[0], pair[1]) in checked:
            raise MeasureError(f"The pair {pair[0]!r}, {pair[1]!r} is listed twice. Keep one.")
        checked[pair[0], pair[1]] = None
    if not checked:
        raise MeasureError("Found 0 pairs of words. Give at least 1, such as [('he', 'she')].")
    return tuple(checked)


@dataclass(frozen=True)
class StudyLists:
    """Word lists of a study that a measure compares.

    - `study`: name of the study.
    - `protected`, `attributes`: words of each list, by its name.
    - `associated`: pairs of a protected and an attribute list that the study calls associated.
    """

    study: str
    protected: WordLists
    attributes: WordLists
    associated: frozenset[tuple[str, str]] = frozenset()

    @property
    def by_name(self) -> dict[str, Sequence[str]]:
        """All lists by name, the protected ones first; two lists of the same name are distinguished by their kind."""
        labels = list_labels(self.protected, self.attributes)
        kinds = (("protected", self.protected), ("attribute", self.attributes))
        return {labels[kind, name]: words for kind, lists in kinds for name, words in lists.items()}

    @property
    def title(self) -> str:
        """The names of the lists."""
        return f"{', '.join(self.protected)} by {', '.join(self.attributes)}"


def four_lists(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return the lists X, Y (protected) and A, B (attributes) of an association test.

    By default A is the attribute list associated with X, and B the one associated with Y.

    >>> four_lists(bb.load_study("weat7")).title
    'math, arts by male, female'
    """
    loaded = load_study(study)
    pair = _target_pair(loaded, targets)
    if attributes is None:
        attributes = tuple(_associated_list(loaded, group) for group in pair)
    return chosen_lists(
        loaded, pair, checked_list_names(attributes, loaded.attribute_lists, "attributes", loaded, count=2)
    )


def two_groups(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return two protected groups and the attribute lists to compare them on, by default all but the control lists.

    Of lists by name, at least three, the first two are the groups.

    >>> two_groups("weat7", attributes="male").title
    'math, arts by male'
    """
    if isinstance(study, Mapping):
        return lists_by_name(study, 2, "two groups and one or more attribute lists", targets, attributes)
    loaded = load_study(study)
    names = tuple(loaded.attributes) if attributes is None else attributes
    return chosen_lists(
        loaded, _target_pair(loaded, targets), checked_list_names(names, loaded.attribute_lists, "attributes", loaded)
    )


def groups_on_two_lists(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return protected groups, by default all, and two attribute lists, by default the study's own.

    Of lists by name, at least three, the last two are the attribute lists.

    >>> groups_on_two_lists("weat7", targets="math").title
    'math by male, female'
    """
    if isinstance(study, Mapping):
        return lists_by_name(study, -2, "one or more groups, then two attribute lists,", targets, attributes)
    loaded = load_study(study)
    groups = tuple(loaded.protected) if targets is None else targets
    two = tuple(loaded.attributes) if attributes is None else attributes
    return chosen_lists(
        loaded,
        checked_list_names(groups, loaded.protected, "targets", loaded),
        checked_list_names(two, loaded.attribute_lists, "attributes", loaded, count=2),
    )


def every_group(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return all protected and attribute lists, without the control lists."""
    if targets is not None or attributes is not None:
        raise MeasureError("MAC compares all lists of a study. Leave targets and attributes out.")
    loaded = load_study(study)
    return StudyLists(loaded.name, loaded.protected, loaded.attributes, frozenset(loaded.associated))


def lists_by_name(lists: WordLists, protected: int, wanted: str, targets: Any, attributes: Any) -> StudyLists:
    """Return lists given by name, of which ``names[:protected]`` are the protected ones."""
    if len(lists) < 3 or targets or attributes:
        raise MeasureError(
            f"Found {len(lists)} word lists. Give {wanted} by name, in this order, without targets or attributes; or "
            "give a study."
        )
    names = tuple(lists)
    protected_by_name, attributes_by_name = (
        {name: lists[name] for name in part} for part in (names[:protected], names[protected:])
    )
    return StudyLists("word lists", protected_by_name, attributes_by_name)


def chosen_lists(study: Study, targets: Sequence[str], attributes: Sequence[str]) -> StudyLists:
    """Return the named lists of a study, or raise `MeasureError` if two of different kinds have the same name."""
    if shared := set(targets) & set(attributes):
        raise MeasureError(
            f"The study {study.name!r} has a protected and an attribute list called {min(shared)!r}. Rename one."
        )
    return StudyLists(
        study.name,
        {name: study.protected[name] for name in targets},
        {name: study.attribute_lists[name] for name in attributes},
        frozenset(study.associated),
    )


def checked_list_names(
    names: Any, available: WordLists, what: str, study: Study, *, count: int | None = None
) -> tuple[str, ...]:
    """Return names of lists of a study, or raise `MeasureError` unless they are available, different and `count`."""
    chosen = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Sequence) else ()
    for name in chosen:
        if not isinstance(name, str) or name not in available:
            hint = did_you_mean(str(name), available)
            raise MeasureError(
                f"{what}={names!r}: the study {study.name!r} has no {name!r}{hint}; it has {name_some(available, 20)}."
            )
    if not chosen or len(set(chosen)) < len(chosen) or len(chosen) != (count or len(chosen)):
        raise MeasureError(
            f"{what}={names!r}: give the names of {count or 'some'} different lists of the study {study.name!r}, out "
            f"of {name_some(available, 20)}."
        )
    return chosen


def _target_pair(study: Study, targets: Any) -> tuple[str, ...]:
    if len(study.protected) < 2:
        raise MeasureError(
            f"The study {study.name!r} has {counted(len(study.protected), 'protected group')} "
            f"({name_some(study.protected)}), but the measure compares 2. Give a study of two groups, or take "
            "'sc_weat', which is about one."
        )
    if targets is None and len(study.protected) != 2:
        raise MeasureError(
            f"The study {study.name!r} has {counted(len(study.protected), 'protected group')} "
            f"({name_some(study.protected)}), but the measure compares 2. Name two of them (targets), such as "
            f"{' and '.join(tuple(study.protected)[:2])}."
        )
    names = tuple(study.protected) if targets is None else targets
    return checked_list_names(names, study.protected, "targets", study, count=2)


def _associated_list(study: Study, target: str) -> str:
    """Return the only attribute list that a protected group is associated with, or raise `MeasureError`."""
    groups = [attribute for protected, attribute in study.associated if protected == target]
    if len(groups) != 1:
        raise MeasureError(
            f"The study {study.name!r} associates {target!r} with {counted(len(groups), 'attribute group')}"
            f"{f' ({name_some(groups)})' if groups else ''}, but the test needs 1. "
            f"Name two: {setting('attributes')}, out of {name_some(study.attribute_lists, 20)}."
        )
    return groups[0]


def _distinct(name: str, words: Sequence[str], forms: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that the embedding has, without those that match the vector of an earlier word."""
    first: dict[str, str] = {}
    dropped = []
    for word in (word for word in words if word in forms):
        if forms[word] in first:
            dropped.append(word)
        else:
            first[forms[word]] = word
    if dropped:
        warn_user(
            f"Left out {len(dropped)} of the {counted(len(words), 'word')} of {name!r}, because they match the same "
            f"vector as an earlier word of the list: {name_some(dropped)}.",
            DuplicatesWarning,
        )
    return tuple(first.values())


def _raise_if_lists_share_a_vector(lists: Mapping[str, Sequence[str]], forms: Mapping[str, str]) -> None:
    first_use: dict[str, tuple[str, str]] = {}
    for name, words in lists.items():
        for word in words:
            other, other_list = first_use.setdefault(forms[word], (word, name))
            if other_list != name:
                raise MeasureError(
                    f"{other!r} (in {other_list!r}) and {word!r} (in {name!r}) match the same vector. Keep one of them."
                )
