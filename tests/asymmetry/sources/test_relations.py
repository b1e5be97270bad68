"""Relations of pairs: the order that they say, several relations of a pair, pairs without one."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.asymmetry.sources.relations import chosen_relations
from bayesbias.errors import ArgumentError, MeasureError

RELATIONS = pd.DataFrame(
    [("cat", "IsA", "pet"), ("cat", "RelatedTo", "pet"), ("hot", "Antonym", "cold"), ("cold", "Antonym", "hot")],
    columns=["head", "relation", "tail"],
)


def test_pairs_are_turned_as_their_relation_says() -> None:
    pairs = pd.DataFrame({"a": ["pet", "cold", "sun"], "b": ["cat", "hot", "moon"], "n": [1, 2, 3]})
    frame = bb.asymmetry.with_relations(pairs, RELATIONS, unlisted="none")
    assert frame.values.tolist() == [
        ["cat", "pet", "IsA", True, 1],
        ["cat", "pet", "RelatedTo", True, 1],
        ["cold", "hot", "Antonym", False, 2],  # listed in both orders: it has no direction
        ["sun", "moon", "none", False, 3],
    ]
    assert len(bb.asymmetry.with_relations(pairs, RELATIONS, unlisted=None)) == 3
    again = bb.asymmetry.with_relations(frame.drop_duplicates(["a", "b"]), RELATIONS)
    assert again.drop(columns="n")["relation"].tolist() == ["IsA", "RelatedTo", "Antonym", "RelatedTo"]


@pytest.mark.parametrize(
    ("relations", "error", "message"),
    [
        (RELATIONS.drop(columns="tail"), MeasureError, "columns tail"),
        (RELATIONS.iloc[:0], MeasureError, "relations .*rows"),
        (RELATIONS.assign(head=None), MeasureError, "Row 0 .*relations .*None as head"),
        (RELATIONS.assign(head="x"), MeasureError, " 1 pairs .*pet - cat"),
        ("relations.csv", ArgumentError, "bb.asymmetry.read_relations"),
    ],
)
def test_relations_that_are_none(relations: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bb.asymmetry.with_relations([("pet", "cat")], relations)


def test_a_relation_that_is_unknown() -> None:
    frame = bb.asymmetry.with_relations([("pet", "cat")], RELATIONS)
    with pytest.raises(MeasureError, match=r"'RelatdTo' .*'RelatedTo'"):
        chosen_relations(frame, "RelatdTo")
    with pytest.raises(MeasureError, match=r"relation.*bb\.asymmetry\.with_relations"):
        chosen_relations(frame.drop(columns="relation"), None)


@pytest.mark.shared
def test_evalution(shared: Path) -> None:
    frame = bb.asymmetry.read_relations(shared / "data" / "relations" / "evalution_1.0.csv.gz")
    assert len(frame) == 7_492
    assert frame["relation"].value_counts()["IsA"] == 1_880


def test_counts_follow_the_order_of_the_pair() -> None:
    """30 of 100 answer pet with cat, 5 of 80 cat with pet; the relation turns the pair."""
    table = pd.DataFrame(
        [("cat", "pet", 5, 80), ("pet", "cat", 30, 100), ("cold", "hot", 7, 90), ("hot", "cold", 9, 70)],
        columns=["cue", "response", "count", "participants"],
    )
    source = bb.asymmetry.evocation(table)
    relations = pd.DataFrame([("pet", "Has", "cat"), ("cold", "Antonym", "hot")], columns=["head", "relation", "tail"])
    frame = bb.asymmetry.lar(source, bb.asymmetry.with_relations(source.pairs(), relations)).set_index("a")
    counts = ["forward", "backward", "forward_participants", "backward_participants"]
    assert frame.loc["pet", counts].tolist() == [30, 5, 100, 80]
    assert frame.loc["cold", counts].tolist() == [7, 9, 90, 70]
    assert frame.loc["pet", "lar_from_counts"] == pytest.approx(np.log(0.3 / (5 / 80)))
