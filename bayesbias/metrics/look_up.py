"""The word lists of a measure and their vectors: the one way in which every measure gets its words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost, judge_lost_words, list_labels
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, unit_rows
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import DuplicatesWarning, MeasureError, did_you_mean, name_some, warn_user
from bayesbias.studies.study import Study, StudyLike, load_study

WordLists = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False, repr=False)
class FoundLists(Described):
    """Lists of words that were looked up in an embedding.

    Parameters
    ----------
    source
        The embedding.
    words
        List -> its words that the embedding has, in their order.
    lost
        List -> its words that the embedding lacks; only lists that lost any.
    """

    source: Embedding
    words: Mapping[str, tuple[str, ...]]
    lost: Mapping[str, tuple[str, ...]]

    @property
    def _facts(self) -> Facts:
        return {"source": self.source.name, "words": self.words, "lost": self.lost}

    @cached_property
    def units(self) -> Mapping[str, Floats]:
        """List -> its vectors, scaled to length 1: float64, of shape (words, dimensions)."""
        return {name: unit_rows(self.source, words) for name, words in self.words.items()}

    @cached_property
    def vectors(self) -> Mapping[str, Floats]:
        """List -> its vectors as they are stored: float64, of shape (words, dimensions)."""
        return {name: self.source.matrix(words).astype(np.float64) for name, words in self.words.items()}

    @property
    def every_word(self) -> list[str]:
        """The words of all lists, list after list."""
        return [word for words in self.words.values() for word in words]

    def labels(self, names: Iterable[str], column: str) -> dict[str, list[str]]:
        """Return the words of some lists as labels of scores, and in a column the list of each."""
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
) -> FoundLists:
    """Look up lists of words (list name -> words) in an embedding.

    Of each list at least `least` words must be left, and at most the share `max_lost` may be lost. `others` are words
    to read besides, where the embedding is still to be read; None: all words. Warns of words that the embedding lacks,
    and of words of a list that match the same vector, of which the first is kept; two lists that share a vector are an
    error.

    >>> vectors = {"cat": [2.0, 0.0], "dog": [0.0, 1.0], "purr": [3.0, 4.0], "nap": [1.0, 0.0]}
    >>> found = find_lists(vectors, {"pets": ["cat", "dog"], "sounds": ["purr"]}, least=1)
    >>> found.similarity("pets", "sounds").round(3)
    array([[0.6],
           [0.8]])
    """
    check_max_lost(max_lost)
    lists = {name: checked_words(f"The list {name!r}", words) for name, words in lists.items()}
    every = [word for words in lists.values() for word in words]
    source = as_embedding(embedding, None if others is None else [*every, *checked_words("The vocabulary", others)])
    found = source.lookup(every).found
    lost = {name: gone for name, words in lists.items() if (gone := tuple(word for word in words if word not in found))}
    kept = {name: _distinct(name, words, found) for name, words in lists.items()}
    few = [f"{name!r} has {len(words)} of its {len(lists[name])}" for name, words in kept.items() if len(words) < least]
    if few:
        raise MeasureError(
            f"In the embedding {source.name!r}, {'; '.join(few)} words, but at least {least} of each list are needed. "
            f"Add words, or look them up in another way (the case rule is {source.case_text!r})."
        )
    judge_lost_words(
        f"The embedding {source.name!r}",
        [WordList(name, len(words), lost.get(name, ())) for name, words in lists.items()],
        "The measure is about the words that are left; its result keeps the whole list (lost_words).",
        max_lost=max_lost,
    )
    _raise_if_lists_share_a_vector(kept, found)
    return FoundLists(source, kept, lost)


def find_two_lists(
    embedding: EmbeddingLike, lists: WordLists, *, max_lost: float = MAX_LOST, others: Iterable[str] | None = ()
) -> FoundLists:
    """Look up two lists of words, of which one word each must be left; the rest is as in `find_lists`."""
    if len(lists) != 2:
        raise MeasureError(f"Found {len(lists)} word lists. Give two by name.")
    return find_lists(embedding, lists, max_lost=max_lost, least=1, others=others)


def as_embedding(embedding: EmbeddingLike | Callable[..., Embedding], words: Iterable[str] | None = None) -> Embedding:
    """Return an embedding as it is, or read the vectors of `words` (None: of all words) from what stands for one.

    A function is called with ``words=``: so the command line reads from a file no more than a measure asks for.
    """
    if isinstance(embedding, Embedding):
        return embedding
    wanted = None if words is None else tuple(words)
    return embedding(words=wanted) if callable(embedding) else load_embedding(embedding, words=wanted)


def checked_words(what: str, words: Any) -> tuple[str, ...]:
    """Return a list of words as a tuple; raise `MeasureError` if it is something else."""
    listed = tuple(words) if isinstance(words, Iterable) and not isinstance(words, str) else (None,)
    if not all(issubclass(kind, str) for kind in set(map(type, listed))):
        raise MeasureError(f"{what} is {words!r}. Give a list of words, which are text.")
    return listed


def checked_pairs(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return pairs of words if they are such; raise `MeasureError` if not, or if one is listed twice."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise MeasureError(f"{pairs!r} are no pairs of words. Give pairs such as [('he', 'she')].")
    checked: list[tuple[str, str]] = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise MeasureError(f"{pair!r} is not a pair of words. Give pairs such as ('he', 'she').")
        if (pair[0], pair[1]) in checked:
            raise MeasureError(f"The pair {pair[0]!r}, {pair[1]!r} is listed twice. Keep one.")
        checked.append((pair[0], pair[1]))
    if not checked:
        raise MeasureError("There are no pairs. Give at least one, such as ('he', 'she').")
    return tuple(checked)


@dataclass(frozen=True)
class StudyLists:
    """The word lists of a study that a measure compares.

    Parameters
    ----------
    study
        Name of the study.
    protected, attributes
        List -> its words.
    associated
        The pairs of a protected and an attribute list that the study takes for associated.
    """

    study: str
    protected: WordLists
    attributes: WordLists
    associated: frozenset[tuple[str, str]] = frozenset()

    @property
    def by_name(self) -> dict[str, Sequence[str]]:
        """All lists, the protected ones first; of two of the same name each with its kind."""
        labels = list_labels(self.protected, self.attributes)
        kinds = (("protected", self.protected), ("attribute", self.attributes))
        return {labels[kind, name]: words for kind, lists in kinds for name, words in lists.items()}

    @property
    def title(self) -> str:
        """The names of the lists."""
        return f"{', '.join(self.protected)} by {', '.join(self.attributes)}"


def four_lists(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return the lists X, Y (protected) and A, B (attributes) of an association test.

    By default the attribute lists are the one associated with X and the one with Y (see `bayesbias.metrics`).

    >>> four_lists(bb.load_study("weat7")).title
    'math, arts by male, female'
    """
    loaded = load_study(study)
    pair = _target_pair(loaded, targets)
    if attributes is None:
        attributes = tuple(_associated_list(loaded, group) for group in pair)
    return chosen_lists(loaded, pair, list_names(attributes, loaded.attribute_lists, "attributes", loaded, count=2))


def two_groups(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return two protected groups and the attribute lists that they are compared on, by default all but the controls.

    Lists by name, three or more, are two groups and then the attribute lists.

    >>> two_groups("weat7", attributes="male").title
    'math, arts by male'
    """
    if isinstance(study, Mapping):
        return lists_by_name(study, 2, "two groups and one or more attribute lists", targets, attributes)
    loaded = load_study(study)
    names = tuple(loaded.attributes) if attributes is None else attributes
    return chosen_lists(
        loaded, _target_pair(loaded, targets), list_names(names, loaded.attribute_lists, "attributes", loaded)
    )


def groups_on_two_lists(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return protected groups, by default all, and two attribute lists, by default the study's own two.

    Lists by name, three or more, are the groups and then the two attribute lists.

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
        list_names(groups, loaded.protected, "targets", loaded),
        list_names(two, loaded.attribute_lists, "attributes", loaded, count=2),
    )


def every_group(study: StudyLike, targets: Any = None, attributes: Any = None) -> StudyLists:
    """Return all protected and all attribute groups, without the control words."""
    if targets is not None or attributes is not None:
        raise MeasureError("MAC takes every group of a study. Leave targets and attributes out.")
    loaded = load_study(study)
    return StudyLists(loaded.name, loaded.protected, loaded.attributes, frozenset(loaded.associated))


def lists_by_name(lists: WordLists, protected: int, wanted: str, targets: Any, attributes: Any) -> StudyLists:
    """Return lists given by name, the first `protected` (or all but the last) of them protected."""
    if len(lists) < 3 or targets or attributes:
        raise MeasureError(
            f"Found {len(lists)} word lists. Give {wanted} by name, in this order, without targets or attributes; or "
            "give a study."
        )
    names = tuple(lists)
    first, rest = ({name: lists[name] for name in part} for part in (names[:protected], names[protected:]))
    return StudyLists("word lists", first, rest)


def chosen_lists(study: Study, targets: Sequence[str], attributes: Sequence[str]) -> StudyLists:
    """Return some lists of a study; raise `MeasureError` if a protected and an attribute list bear the same name."""
    if shared := set(targets) & set(attributes):
        raise MeasureError(
            f"The study {study.name!r} has a protected and an attribute group {min(shared)!r}: rename one."
        )
    return StudyLists(
        study.name,
        {name: study.protected[name] for name in targets},
        {name: study.attribute_lists[name] for name in attributes},
        frozenset(study.associated),
    )


def list_names(names: Any, known: WordLists, what: str, study: Study, *, count: int | None = None) -> tuple[str, ...]:
    """Return the names of lists of a study; raise `MeasureError` unless they are known, different and `count`."""
    chosen = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Sequence) else ()
    for name in chosen:
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(str(name), known)
            raise MeasureError(
                f"{what}={names!r}: the study {study.name!r} has no {name!r}{hint}; it has {name_some(known, 20)}."
            )
    if not chosen or len(set(chosen)) < len(chosen) or len(chosen) != (count or len(chosen)):
        raise MeasureError(
            f"{what}={names!r}: name {'two ' if count else ''}different groups of the study {study.name!r}, out of "
            f"{name_some(known, 20)}."
        )
    return chosen


def _target_pair(study: Study, targets: Any) -> tuple[str, ...]:
    if targets is None and len(study.protected) != 2:
        raise MeasureError(
            f"The study {study.name!r} has {len(study.protected)} protected groups ({name_some(study.protected)}), "
            f"but two are compared. Name them: targets={tuple(study.protected)[:2]!r}."
        )
    names = tuple(study.protected) if targets is None else targets
    return list_names(names, study.protected, "targets", study, count=2)


def _associated_list(study: Study, target: str) -> str:
    """Return the one attribute group that a protected group is associated with."""
    groups = [attribute for protected, attribute in study.associated if protected == target]
    if len(groups) != 1:
        raise MeasureError(
            f"The study {study.name!r} associates {target!r} with {len(groups)} attribute groups"
            f"{f' ({name_some(groups)})' if groups else ''}, but the test needs one. "
            f"Name both: attributes=(...), out of {name_some(study.attribute_lists, 20)}."
        )
    return groups[0]


def _distinct(name: str, words: Sequence[str], found: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that were found, without those that match the vector of an earlier one."""
    first: dict[str, str] = {}
    dropped = []
    for word in (word for word in words if word in found):
        if found[word] in first:
            dropped.append(word)
        else:
            first[found[word]] = word
    if dropped:
        warn_user(
            f"Left {len(dropped)} of the {len(words)} words of {name!r} out, because they match the same vector as an "
            f"earlier word of the list: {name_some(dropped)}.",
            DuplicatesWarning,
        )
    return tuple(first.values())


def _raise_if_lists_share_a_vector(kept: Mapping[str, Sequence[str]], found: Mapping[str, str]) -> None:
    home: dict[str, tuple[str, str]] = {}
    for name, words in kept.items():
        for word in words:
            other, its_list = home.setdefault(found[word], (word, name))
            if its_list != name:
                raise MeasureError(
                    f"{other!r} (in {its_list!r}) and {word!r} (in {name!r}) are the same vector. Keep it in one list."
                )
