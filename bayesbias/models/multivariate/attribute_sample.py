"""A distance table as a sample of attribute words, each with one vector of distances to all protected words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from bayesbias.errors import FitError, ReportError, did_you_mean
from bayesbias.estimates.dependence import LinkedWords
from bayesbias.models.data import ModelData, attribute_lists, list_kinds
from bayesbias.tables.word_worths import links_of_distances

_BOTH = ("associated", "different")


@dataclass(frozen=True, eq=False)
class AttributeSample:
    """The attribute words of a distance table, their lists, and the connection of each list to each protected word.

    `distances` (attribute words, protected words) are cosine distances, NaN for lost pairs. `list_of` (attribute
    words,) is the position of each word's list in `lists`: words of one list share its name and their connections.
    `list_kind` (lists,) is the position of each list's kind in `kinds`, those of ``"stereotype"``, ``"human"`` and
    ``"neutral"`` that the table has; `group_of` (protected words,) is each word's group, and `pattern_of` that of the
    words of its group that have the same connections to all lists: commonly the same. `connection_weights`
    (protected words, connections, lists) are weights of lists in a word's mean distance for a connection. Lists weigh
    the same, so that a list's distance to all words cancels over groups. All 0 if the word has no list of the
    connection. `compared` (protected words,) is whether a word's group is one of those that the means of connections
    are averages over (`ModelData.compared`). `covariates` (protected words, covariates) are the words' values, or None.
    `protected_links` are the links between the protected words of a group, `attribute_links` those between the
    attribute words of a list; None: words are independent.
    """

    distances: np.ndarray
    list_of: np.ndarray
    lists: tuple[str, ...]
    list_kind: np.ndarray
    kinds: tuple[str, ...]
    group_of: np.ndarray
    pattern_of: np.ndarray
    connection_weights: np.ndarray
    compared: np.ndarray
    covariates: np.ndarray | None = None
    protected_links: LinkedWords = None  # type: ignore[assignment]
    attribute_links: LinkedWords = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name, labels in (("protected_links", self.group_of), ("attribute_links", self.list_of)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, LinkedWords.none(len(labels)))

    @cached_property
    def list_effects(self) -> np.ndarray:
        """Design effect of each list: n dependent words are worth n over it independent ones, shape (lists,)."""
        return design_effects(self.attribute_links, self.list_of)

    @cached_property
    def group_effects(self) -> np.ndarray:
        """Design effect of each protected group, shape (groups,)."""
        return design_effects(self.protected_links, self.group_of)

    @property
    def word_shares(self) -> np.ndarray:
        """What each attribute word is worth beside an independent one, shape (attribute words,)."""
        return np.asarray(1 / self.list_effects[self.list_of])

    @property
    def list_worths(self) -> np.ndarray:
        """Number of independent words that each list is worth, shape (lists,)."""
        return np.asarray(np.bincount(self.list_of) / self.list_effects)

    @property
    def group_worths(self) -> np.ndarray:
        """Number of independent words that each protected group is worth, shape (groups,)."""
        return np.asarray(np.bincount(self.group_of) / self.group_effects)


class _Words(Protocol):
    """Protected words of a sample: the weights of lists in their means, and whether they are compared."""

    @property
    def connection_weights(self) -> np.ndarray: ...

    @property
    def compared(self) -> np.ndarray: ...


def has_both(sample: _Words, first: int, second: int) -> np.ndarray:
    """Return whether each word is compared and has lists of two connections, shape (words,)."""
    measured = sample.connection_weights.any(axis=2)
    return np.asarray(sample.compared & measured[:, first] & measured[:, second])


def group_shares(sample: AttributeSample) -> np.ndarray:
    """Return the weight of each group in the mean of a connection, shape (groups, connections).

    The groups that are compared and have the connection weigh the same, the others nothing.
    """
    member = np.eye(sample.group_of.max() + 1, dtype=bool)[sample.group_of]
    counted = member.T @ (sample.connection_weights.any(axis=2) & sample.compared[:, None])
    return np.asarray(counted / counted.sum(axis=0))


@lru_cache(maxsize=2)
def attribute_sample(data: ModelData) -> AttributeSample:
    """Return the rows of a table as vectors of attribute words.

    A lost pair gets the connection of its protected word to other words of the list; failing that, the connection of
    its attribute word to other words of the group. Raises `FitError` if an attribute word is in lists of two kinds, or
    a pair occurs twice.

    >>> from bayesbias.models.data import model_data
    >>> sample = attribute_sample(model_data(table))
    >>> sample.lists, sample.distances.shape, sample.connection_weights[0, :2].tolist()
    (('male', 'female', 'human', 'neutral'), (177, 16), [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    """
    kind_of = attribute_lists(data)
    shape = len(data.attribute_words), len(data.protected_words)
    distances, connection = np.full(shape, np.nan), np.full(shape, -1)
    distances[data.attribute, data.protected] = data.distance
    connection[data.attribute, data.protected] = data.connection
    if np.count_nonzero(connection >= 0) < len(data.distance):
        raise FitError(
            "Rows repeat a pair, but the multivariate model takes each attribute word as one vector of distances. Drop "
            "the repetitions, or use the model 'crossed'."
        )
    group_of = np.unique(data.protected_groups, return_inverse=True)[1]
    names, name_of = list(list_kinds(data)), kind_of
    if data.attribute_groups is not None:
        names = list(dict.fromkeys(data.attribute_groups.tolist()))
        place_of = {name: place for place, name in enumerate(names)}
        name_of = np.array([place_of[name] for name in data.attribute_groups.tolist()])
    lists, list_of = np.unique(
        np.column_stack([kind_of, name_of, _completed(connection, name_of, group_of)]), axis=0, return_inverse=True
    )
    list_of = list_of.reshape(-1)
    order = np.argsort([np.flatnonzero(list_of == place)[0] for place in range(len(lists))])
    lists, list_of = lists[order], np.argsort(order)[list_of]
    labels = [names[name] for name in lists[:, 1]]
    if data.attribute_groups is None:
        lists[:, 1] = np.arange(len(lists))
    # Control words change nothing that concerns stereotype lists.
    stereotype = kind_of == kind_of.min()
    protected_links = known_links(data.protected_links, distances[stereotype].T, group_of)
    attribute_links = known_links(data.attribute_links, distances, list_of, kind_of)
    return AttributeSample(
        distances=distances,
        list_of=list_of,
        lists=tuple(
            label if labels.count(label) == 1 else f"{label} ({labels[:place].count(label) + 1})"
            for place, label in enumerate(labels)
        ),
        list_kind=lists[:, 0].copy(),
        kinds=list_kinds(data),
        group_of=group_of,
        pattern_of=np.unique(np.column_stack([group_of, lists[:, 2:].T]), axis=0, return_inverse=True)[1].reshape(-1),
        connection_weights=_connection_weights(lists, np.bincount(list_of), len(data.connections)),
        compared=data.compared,
        covariates=data.covariates,
        protected_links=protected_links,
        attribute_links=attribute_links,
    )


def without_attribute_words(sample: AttributeSample, keep: np.ndarray) -> AttributeSample | None:
    """Return a sample without the words that a mask does not keep; None if a list would be lost, or change its place.

    Lists must have different names, and their links must be recorded: both then do not depend on the words left out.
    """
    list_of = sample.list_of[keep]
    left, first = np.unique(list_of, return_index=True)
    if len(left) < len(sample.lists) or (np.diff(first) < 0).any():
        return None
    links = sample.attribute_links.keep(np.flatnonzero(keep))
    part = replace(sample, distances=sample.distances[keep], list_of=list_of, attribute_links=links)
    part.__dict__["group_effects"] = sample.group_effects  # those of the protected words, which are the same
    return part


def known_links(
    links: LinkedWords | None, distances: np.ndarray, list_of: np.ndarray, kind_of: np.ndarray | None = None
) -> LinkedWords:
    """Return the recorded links of words (rows); if these are unknown, those that their distances show.

    `kind_of` is the kind of each word's list, as in `links_of_distances`.
    """
    if links is None:
        measured = np.isfinite(distances)
        values = np.where(measured, distances, 0.0)
        of_word = values.sum(axis=1, keepdims=True) / measured.sum(axis=1, keepdims=True).clip(1)
        whole = np.where(measured, distances, of_word)
        links = links_of_distances(whole, list_of, kind_of)
    return LinkedWords.none(len(list_of)) if links is None else links


def design_effects(links: LinkedWords, list_of: np.ndarray) -> np.ndarray:
    """Return the design effect of each list of words."""
    return np.array([links.design_effect(np.flatnonzero(list_of == place)) for place in range(int(list_of.max()) + 1)])


def _completed(connection: np.ndarray, name_of: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Return the connections of attribute words (rows); unknown ones (-1) are those of the list, or of the group."""
    if (connection >= 0).all():
        return connection
    patterns: list[tuple[int, np.ndarray]] = []
    pattern_of = np.empty(len(connection), dtype=np.int64)
    # The most complete rows come first, so that the others can be matched with them.
    for word in np.argsort((connection < 0).sum(axis=1), kind="stable"):
        row = connection[word]
        for place, (name, pattern) in enumerate(patterns):
            if name == name_of[word] and ((pattern == row) | (pattern < 0) | (row < 0)).all():
                pattern[pattern < 0] = row[pattern < 0]
                pattern_of[word] = place
                break
        else:
            pattern_of[word] = len(patterns)
            patterns.append((int(name_of[word]), row.copy()))
    for _, pattern in patterns:
        for group in np.unique(group_of):
            members, unknown = group_of == group, pattern < 0
            pattern[members & unknown] = [*pattern[members & ~unknown], -1][0]
        pattern[pattern < 0] = pattern[pattern >= 0][-1]
    return np.stack([patterns[place][1] for place in pattern_of])


def _connection_weights(lists: np.ndarray, counts: np.ndarray, connections: int) -> np.ndarray:
    """Return the weights of lists, rows of (kind, name, connection to each word), in each word's connection means."""
    columns, column_of = np.unique(lists[:, 2:], axis=1, return_inverse=True)
    weights = np.zeros((columns.shape[1], connections, len(lists)))
    for place, column in enumerate(columns.T):
        for connection in range(connections):
            members = np.flatnonzero(column == connection)
            names = np.unique(lists[members, 1])
            for name in names:
                same = members[lists[members, 1] == name]
                weights[place, connection, same] = counts[same] / counts[same].sum() / len(names)
    return weights[column_of.reshape(-1)]


def observed_list_means(sample: AttributeSample) -> np.ndarray:
    """Return the plain mean distance of each list to each word, NaN without pairs, shape (lists, words)."""
    lists = np.eye(len(sample.lists))[sample.list_of].T
    pairs = lists @ np.isfinite(sample.distances)
    means = lists @ np.nan_to_num(sample.distances) / np.maximum(pairs, 1)
    return np.asarray(np.where(pairs > 0, means, np.nan))


def list_weights(sample: AttributeSample, rows: ModelData, name: str) -> np.ndarray:
    """Return the weights of the model's lists in the list `name`, which lost pairs may have split, shape (lists,)."""
    if rows.attribute_groups is None:
        raise ReportError("The fit has no names of attribute lists. Build its table with bb.distance_table.")
    names = rows.attribute_groups
    choices = list(dict.fromkeys(names.tolist()))
    if name not in choices:
        raise ReportError(f"The fit has no attribute list {name!r}{did_you_mean(name, choices)}: {', '.join(choices)}.")
    counts = np.bincount(sample.list_of[names == name], minlength=len(sample.lists))
    return np.asarray(counts / counts.sum())


def effect_names(connections: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a word's effects; level and contrast need associated and different attribute words.

    >>> effect_names(("associated", "different", "human"))
    ('level', 'contrast', 'human')
    """
    both = tuple(connections[:2]) == _BOTH
    return ("level", "contrast", *connections[2:]) if both else tuple(connections)


def effects_basis(connections: Sequence[str]) -> np.ndarray:
    """Return B, shape (connections, effects): associated = level + contrast / 2, different = level - contrast / 2.

    >>> effects_basis(("associated", "different", "human"))
    array([[ 1. ,  0.5,  0. ],
           [ 1. , -0.5,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    matrix = np.eye(len(connections))
    if tuple(connections[:2]) == _BOTH:
        matrix[:2, :2] = [[1, 0.5], [1, -0.5]]
    return matrix
