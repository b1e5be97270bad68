"""What the lists of a distance table are worth in independent words, and the links between words behind it.

`distance_table` measures it with the words' vectors, beside random words of the same vocabulary, and the table keeps
it. Without these, `links_of_distances` learns a part of it from the distances.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import is_count, is_number, is_text
from bayesbias.base.machine import threadpool_limits
from bayesbias.estimates.dependence import (
    ChanceCorrelations,
    LinkedWords,
    check_room_for_pairs,
    linked_words,
    residual_correlations,
)
from bayesbias.studies.faults import CONTROLS

KEY = "dependent_words"
# Random words whose pairs show what chance links; more change nothing.
_CHANCE_WORDS = 500
# Lists whose mean correlation is above this quantile of that of random lists are about one topic.
_TOPIC_QUANTILE, _RANDOM_LISTS = 0.99, 100
_FEWEST_PAIRS = 50
# Distances to fewer words say too little of what two words have in common.
_FEWEST_COORDINATES = 4

Record = dict[str, Any]
"""A list in a table's attrs: `role` (``"protected"`` or ``"attribute"``), `list`, `words`, `links` (rows of two
positions in `words` and a strength), `chance`, and whether the list is a `topic`."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What random words of a vocabulary have in common.

    `reference` (words, dimensions) are their unit vectors, `centre` (dimensions,) is their mean, `metric` the root of
    their covariance, and `correlations` (words, words) are those of `_CHANCE_WORDS` of them.
    """

    reference: Floats
    centre: Floats
    metric: Floats
    correlations: Floats

    @classmethod
    def from_reference(cls, reference: Floats) -> "Vocabulary":
        """Return the statistics of unit vectors of random words, shape (words, dimensions)."""
        deviations = reference - reference.mean(axis=0)
        with threadpool_limits(1, "blas"):  # threads cost more than they save with matrices of this size
            variances, axes = np.linalg.eigh(deviations.T @ deviations / len(reference))
        metric = (axes * np.sqrt(np.maximum(variances, 0))) @ axes.T
        chosen = np.unique(np.linspace(0, len(reference) - 1, _CHANCE_WORDS).astype(np.intp))
        return cls(reference, reference.mean(axis=0), metric, residual_correlations(reference[chosen], metric))

    @cached_property
    def chance(self) -> ChanceCorrelations:
        """Correlations of pairs of random words."""
        return ChanceCorrelations.from_pairs(self.correlations[np.triu_indices(len(self.correlations), 1)])

    def links(self, vectors: Floats) -> LinkedWords:
        """Return the links among the words of a list, from their unit vectors (words, dimensions)."""
        return linked_words(residual_correlations(vectors, self.metric), self.chance)

    def is_topic(self, vectors: Floats) -> bool:
        """Return whether the words of a list resemble each other more than those of nearly all random lists."""
        words = len(vectors)
        if not 1 < words <= len(self.correlations):
            return False
        products = (vectors - self.centre) @ self.metric @ (vectors - self.centre).T
        lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
        rng = np.random.default_rng(0)
        random_lists = rng.integers(len(self.correlations), size=(_RANDOM_LISTS, words))
        sums = [self.correlations[np.ix_(rows, rows)].sum() for rows in random_lists]
        return bool((products / lengths[:, None] / lengths).sum() > np.quantile(sums, _TOPIC_QUANTILE))


def lists_of_pairs(table: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Return the words of a table by role and list."""
    lists = {}
    for role in ("protected", "attribute"):
        column = f"{role}_group"
        members = table[[column, f"{role}_word"]].drop_duplicates()
        for name, rows in members.groupby(column, sort=False):
            lists[role, str(name)] = rows[f"{role}_word"].tolist()
    return lists


def dependence_record(
    lists: Mapping[tuple[str, str], Sequence[str]], vectors: Mapping[str, Floats], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Return the record of dependent words for a table's attrs.

    `lists` are words by role and name, `vectors` their unit vectors.
    """
    records = []
    for (role, name), words in lists.items():
        rows = np.stack([vectors[word] for word in words])
        links = vocabulary.links(rows)
        topic = name not in CONTROLS and vocabulary.is_topic(rows)
        records.append(_record(role, name, words, links, topic=topic))
    return {"measured": f"vectors of {len(vocabulary.reference):,} random words", "lists": records}


def _record(role: str, name: str, words: Sequence[str], links: LinkedWords, *, topic: bool) -> Record:
    triples = zip(*links.pairs.T.tolist(), links.strengths.round(4).tolist(), strict=True)
    return {
        "role": role,
        "list": name,
        "words": list(words),
        "links": [list(triple) for triple in triples],
        "chance": round(float(links.chance.mean()), 6) if len(words) else 0.0,
        "topic": bool(topic),
    }


def recorded_links(facts: Mapping[str, Any], role: str, words: np.ndarray, lists: np.ndarray) -> LinkedWords | None:
    """Return the links among a table's words of a role from its attrs; None if it has no record of them.

    `words` (words,) are all words of the role, `lists` (words,) the name of the list of each; names of several lists
    are joined, and the links of all of them count. Words without a record are taken as independent.
    """
    if KEY not in facts:
        return None
    position = {str(word): place for place, word in enumerate(words)}
    chance, strengths = np.zeros(len(words)), {}
    for record in facts[KEY]["lists"]:
        if record["role"] != role:
            continue
        places = [position.get(word, -1) for word in record["words"]]
        chance[[place for place in places if place >= 0]] = record["chance"]
        for first, second, strength in record["links"]:
            pair = tuple(sorted((places[first], places[second])))
            if pair[0] >= 0 and lists[pair[0]] == lists[pair[1]]:
                strengths[pair] = strength
    pairs = np.array(list(strengths), dtype=np.intp).reshape(-1, 2)
    return LinkedWords(pairs, np.array(list(strengths.values()), dtype=float), chance)


def links_of_distances(distances: Floats, list_of: np.ndarray, kind_of: np.ndarray | None = None) -> LinkedWords | None:
    """Return links of words from their distances alone, shape (words, distances), None if they cannot show them.

    The correlations are those of the words' distances around the means of their lists. Words of different lists show
    what chance links: of lists of the same kind, `kind_of` (words,), where there are several, so that control words do
    not change what stereotype lists are worth. A few protected words span few directions, so that this finds about half
    of the dependence.

    >>> rng = np.random.default_rng(1)
    >>> concepts = rng.standard_normal((6, 12))
    >>> links = links_of_distances(np.repeat(concepts, 4, axis=0), np.repeat([0, 1], 12))  # 3 concepts a list, 4 times
    >>> round(links.design_effect(np.arange(12)), 1)
    4.0
    """
    if distances.shape[1] < _FEWEST_COORDINATES or list_of.max(initial=0) == 0:
        return None
    check_room_for_pairs(len(distances))
    members = [np.flatnonzero(list_of == place) for place in range(list_of.max() + 1)]
    units = np.zeros_like(distances)
    for rows in members:
        residuals = distances[rows] - distances[rows].mean(axis=0)
        lengths = np.linalg.norm(residuals, axis=1, keepdims=True)
        units[rows] = residuals / np.where(lengths > 0, lengths, 1.0)
    products, vary = units @ units.T, units.any(axis=1)
    apart = (list_of[:, None] != list_of) & vary[:, None] & vary
    kinds = np.zeros(len(list_of), dtype=int) if kind_of is None else kind_of
    chances: dict[int, ChanceCorrelations] = {}
    for kind in np.unique(kinds).tolist():
        alike = apart & (kinds == kind) & (kinds == kind)[:, None]
        others = alike if alike.any() else apart
        if others.sum() < 2 * _FEWEST_PAIRS:
            return None
        chances[kind] = ChanceCorrelations.from_pairs(products[others])
    pairs, strengths, share = [], [], np.zeros(len(list_of))
    for rows in members:
        links = linked_words(products[np.ix_(rows, rows)], chances[int(kinds[rows[0]])])
        pairs.append(rows[links.pairs])
        strengths.append(links.strengths)
        share[rows] = links.chance
    return LinkedWords(np.concatenate(pairs), np.concatenate(strengths), share)


def dependence_faults(record: Any) -> Iterator[str]:
    """Yield the fault of a record of dependent words from a file, if it has one."""
    lists = record.get("lists") if isinstance(record, Mapping) else None
    if not isinstance(lists, list) or not is_text(record.get("measured")) or not all(map(_is_record, lists)):
        yield f"{KEY} must say how it was `measured`, and hold `lists` with role, list, words, links, chance and topic"


def _is_record(record: Any) -> bool:
    if not isinstance(record, Mapping) or not all(is_text(record.get(name)) for name in ("role", "list")):
        return False
    words, links = record.get("words"), record.get("links")
    if not isinstance(words, list) or not all(map(is_text, words)) or not isinstance(links, list):
        return False
    return (
        is_number(record.get("chance"))
        and 0 <= record["chance"] <= 1
        and isinstance(record.get("topic"), bool)
        and all(_is_link(link, len(words)) for link in links)
    )


def _is_link(link: Any, words: int) -> bool:
    return (
        isinstance(link, list)
        and len(link) == 3
        and all(is_count(place) and place < words for place in link[:2])
        and link[0] != link[1]
        and is_number(link[2])
        and 0 <= link[2] <= 1.001
    )
