"""From an embedding and a study to sets of unit vectors: the one way in which every measure gets its words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.embeddings import Embedding, load_embedding
from bayesbias.embeddings.embedding import unit_rows
from bayesbias.errors import (
    DuplicatesWarning,
    LostWordsWarning,
    MeasureError,
    did_you_mean,
    name_some,
    warn_user,
)
from bayesbias.studies import Study, load_study

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class WordSets:
    """Lists of words with their unit vectors.

    Parameters
    ----------
    words
        List -> its words that the embedding has, in their order.
    units
        List -> their vectors, scaled to length 1: float64, of shape (words, dimensions).
    lost
        List -> its words that the embedding lacks; only lists that lost any.
    embedding
        Name of the embedding.
    """

    words: Mapping[str, tuple[str, ...]]
    units: Mapping[str, Floats]
    lost: Mapping[str, tuple[str, ...]]
    embedding: str

    def similarity(self, first: str, second: str) -> Floats:
        """Return the cosine similarities of two lists, of shape (words of first, words of second)."""
        product: Floats = np.clip(self.units[first] @ self.units[second].T, -1.0, 1.0)
        return product


def word_sets(embedding: Any, lists: Mapping[str, Sequence[str]], *, least: int = 2) -> WordSets:
    """Look up lists of words in an embedding.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    lists
        List name -> words.
    least
        How many words of each list must be left.

    Raises
    ------
    MeasureError
        If a list is not a list of words, has fewer than `least` words left, or shares a vector with another list.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.
    DuplicatesWarning
        If several words of a list match the same vector; the first of them is kept.

    Examples
    --------
    >>> vectors = {"cat": [2.0, 0.0], "dog": [0.0, 1.0], "purr": [3.0, 4.0], "nap": [1.0, 0.0]}
    >>> sets = word_sets(vectors, {"pets": ["cat", "dog"], "sounds": ["purr"]}, least=1)
    >>> sets.similarity("pets", "sounds").round(3)
    array([[0.6],
           [0.8]])
    """
    for name, words in lists.items():
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise MeasureError(f"The list {name!r} is {words!r}. Give a list of words, which are text.")
    source = as_embedding(embedding, (word for words in lists.values() for word in words))
    found = source.lookup(word for words in lists.values() for word in words).found
    lost = {name: tuple(word for word in words if word not in found) for name, words in lists.items()}
    lost = {name: words for name, words in lost.items() if words}
    _warn_of_lost_words(lost, lists, source)
    kept = {name: _distinct(name, words, found) for name, words in lists.items()}
    _raise_if_too_few(kept, lists, least, source)
    _raise_if_lists_share_a_vector(kept, found)
    return WordSets(
        words=kept, units={name: unit_rows(source, words) for name, words in kept.items()}, lost=lost,
        embedding=source.name,
    )  # fmt: skip


def as_embedding(embedding: Any, words: Iterable[str]) -> Embedding:
    """Return an embedding as it is, or read the vectors of `words` from anything that `load_embedding` takes."""
    return embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=tuple(words))


def checked_pairs(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return pairs of words if they are such; raise `MeasureError` if not, or if one stands twice."""
    checked: list[tuple[str, str]] = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise MeasureError(f"{pair!r} is not a pair of words. Give pairs such as ('he', 'she').")
        if (pair[0], pair[1]) in checked:
            raise MeasureError(f"The pair {pair[0]!r}, {pair[1]!r} stands twice. Keep one.")
        checked.append((pair[0], pair[1]))
    if not checked:
        raise MeasureError("There are no pairs. Give at least one, such as ('he', 'she').")
    return tuple(checked)


def weat_lists(
    study: Study, targets: tuple[str, str] | None = None, attributes: tuple[str, str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the four lists X, Y, A, B of an association test by their names in a study.

    Parameters
    ----------
    study
        A study.
    targets
        The protected groups X and Y; may be left out where the study has exactly two.
    attributes
        The attribute groups (or control lists) A and B; by default the one associated with X and with Y.

    Raises
    ------
    MeasureError
        If the groups are not determined or there are none of these names.

    Examples
    --------
    >>> list(weat_lists(bb.load_study("weat7")))
    ['math', 'arts', 'male', 'female']
    """
    if targets is None and len(study.protected) != 2:
        raise MeasureError(
            f"The study {study.name!r} has {len(study.protected)} protected groups ({name_some(study.protected)}), "
            f"but the test compares two. Name them: targets={tuple(study.protected)[:2]!r}."
        )
    chosen = _two(tuple(study.protected) if targets is None else targets, study.protected, "targets", study)
    if attributes is None:
        attributes = tuple(_associated_group(study, group) for group in chosen)  # type: ignore[assignment]
    assert attributes is not None
    opposed = _two(attributes, study.attribute_lists, "attributes", study)
    lists = {name: tuple(study.protected[name]) for name in chosen}
    if shared := lists.keys() & set(opposed):
        raise MeasureError(
            f"The study {study.name!r} has a protected and an attribute group {min(shared)!r}: rename one."
        )
    return lists | {name: tuple(study.attribute_lists[name]) for name in opposed}


def named_lists(
    study: Any, targets: tuple[str, str] | None, attributes: tuple[str, str] | None, *, order: str = "X, Y, A, B"
) -> tuple[str, dict[str, Sequence[str]]]:
    """Return a name and four lists, from a study or from a mapping of four lists in `order`."""
    if not isinstance(study, Mapping):
        loaded = load_study(study)
        return loaded.name, dict(weat_lists(loaded, targets, attributes))
    if len(study) != 4 or targets or attributes:
        raise MeasureError(
            f"Found {len(study)} word lists. Give four by name, in the order {order}, without targets or "
            "attributes; or give a study."
        )
    return "four lists", dict(study)


def _two(names: Sequence[str], known: Mapping[str, object], what: str, study: Study) -> tuple[str, str]:
    """Return two distinct, known names."""
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise MeasureError(f"{what}={names!r}: name two different groups of the study {study.name!r}.")
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise MeasureError(
                f"{what}={tuple(names)!r}: the study {study.name!r} has no {name!r}{hint}; it has "
                f"{name_some(known, 20)}."
            )
    return names[0], names[1]


def _associated_group(study: Study, target: str) -> str:
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


def _warn_of_lost_words(
    lost: Mapping[str, Sequence[str]], lists: Mapping[str, Sequence[str]], source: Embedding
) -> None:
    if not lost:
        return
    named = "; ".join(
        f"{len(words)} of the {len(lists[name])} of {name!r} ({name_some(words, 5)})" for name, words in lost.items()
    )
    warn_user(
        f"The embedding {source.name!r} lacks {sum(map(len, lost.values()))} words: {named}. The measure is about "
        "the words that are left; its result keeps the whole list (lost_words).",
        LostWordsWarning,
    )


def _raise_if_too_few(
    kept: Mapping[str, Sequence[str]], lists: Mapping[str, Sequence[str]], least: int, source: Embedding
) -> None:
    few = [f"{name!r} has {len(words)} of its {len(lists[name])}" for name, words in kept.items() if len(words) < least]
    if few:
        raise MeasureError(
            f"In the embedding {source.name!r}, {'; '.join(few)} words, but at least {least} of each list are needed. "
            f"Add words, or look them up in another case (the case rule is {source.case!r})."
        )


def _raise_if_lists_share_a_vector(kept: Mapping[str, Sequence[str]], found: Mapping[str, str]) -> None:
    home: dict[str, tuple[str, str]] = {}
    for name, words in kept.items():
        for word in words:
            other, its_list = home.setdefault(found[word], (word, name))
            if its_list != name:
                raise MeasureError(
                    f"{other!r} (in {its_list!r}) and {word!r} (in {name!r}) are the same vector. Keep it in one list."
                )
