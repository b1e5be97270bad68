"""Words of a table whose distances are the same: one word that counts twice under two names."""

from collections.abc import Iterator

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.models.data import ModelData

# Two distances of three digits can be equal by chance; so many words are not.
_LEAST_SHARED = 2


def same_distances_doubts(rows: ModelData) -> list[Statement]:
    """Return the doubts that words of one list or group have the same distances, up to rounding.

    One doubt names the attribute words whose distances to all protected words are equal, another the protected words
    with equal distances to all attribute words.
    """
    if len(rows.distance) == 0:
        return []
    shape = len(rows.attribute_words), len(rows.protected_words)
    distances = np.full(shape, np.nan)
    distances[rows.attribute, rows.protected] = rows.distance
    # Words that differ in their connections, as those of two lists, are not the same evidence.
    connections = np.full(shape, -1)
    connections[rows.attribute, rows.protected] = rows.connection
    lists = [()] * shape[0] if rows.attribute_groups is None else [(name,) for name in rows.attribute_groups.tolist()]
    attribute_sets = _same_rows(
        distances, [(*name, row.tobytes()) for name, row in zip(lists, connections, strict=True)]
    )
    protected_sets = _same_rows(distances.T, rows.protected_groups.tolist())
    return [
        _doubt(kind, others, [[str(names[place]) for place in places] for places in sets])
        for kind, others, names, sets in (
            ("attribute", "protected", rows.attribute_words, attribute_sets),
            ("protected", "attribute", rows.protected_words, protected_sets),
        )
        if sets
    ]


def _doubt(kind: str, others: str, sets: list[list[str]]) -> Statement:
    named = name_some([" = ".join(words) for words in sets], 6)
    of_what = "list" if kind == "attribute" else "group"
    text = (
        f"Words of one {of_what} have the same distances to all {others} words: {named}. They count as independent "
        f"{kind} words, so every interval here is too narrow. Keep one of each, if they are one word under several "
        "names."
    )
    return Statement("same distances", text, {"words": sets, "side": kind})


def _same_rows(distances: np.ndarray, label_of: list[object]) -> list[list[int]]:
    """Return the places of rows with one label that are equal up to rounding, set by set, in the order of the table."""
    sets = []
    for label in dict.fromkeys(label_of):
        places = np.array([place for place, other in enumerate(label_of) if other == label])
        sets += [sorted(places[members].tolist()) for members in _equal(distances[places])]
    return sorted(sets)


def _equal(distances: np.ndarray) -> Iterator[list[int]]:
    """Yield the places of equal rows. Those with the same lost pairs and nearly the same sum are compared."""
    lost = np.isnan(distances)
    shared = (~lost).sum(axis=1)
    order = np.argsort(np.where(lost, 0, distances).sum(axis=1), kind="stable")
    sums = np.where(lost, 0, distances).sum(axis=1)
    taken: set[int] = set()
    for position, first in enumerate(order):
        if first in taken or shared[first] < _LEAST_SHARED:
            continue
        members = [int(first)]
        for second in order[position + 1 :]:
            if sums[second] - sums[first] > ROUNDING * distances.shape[1]:
                break
            same = (lost[first] == lost[second]).all()
            if same and np.nanmax(np.abs(distances[first] - distances[second])) <= ROUNDING:
                members.append(int(second))
        if len(members) > 1:
            taken.update(members)
            yield members
