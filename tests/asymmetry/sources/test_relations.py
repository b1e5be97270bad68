"""Relations of pairs: the order that they say, several relations of a pair, pairs without one."""

from pathlib import Path
from typing import Any

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
    found = bb.asymmetry.with_relations(pairs, RELATIONS, rest="none")
    assert found.values.tolist() == [
        ["cat", "pet", "IsA", True, 1],
        ["cat", "pet", "RelatedTo", True, 1],
        ["cold", "hot", "Antonym", False, 2],  # listed in both orders: it has no direction
        ["sun", "moon", "none", False, 3],
    ]
    assert len(bb.asymmetry.with_relations(pairs, RELATIONS, rest=None)) == 3
    again = bb.asymmetry.with_relations(found.drop_duplicates(["a", "b"]), RELATIONS)
    assert again.drop(columns="n")["relation"].tolist() == ["IsA", "RelatedTo", "Antonym", "RelatedTo"]


@pytest.mark.parametrize(
    ("relations", "error", "said"),
    [
        (RELATIONS.drop(columns="tail"), MeasureError, "lack the columns tail"),
        (RELATIONS.iloc[:0], MeasureError, "There are no relations"),
        (RELATIONS.assign(head=None), MeasureError, "Row 0 of the relations has None as head"),
        (RELATIONS.assign(head="x"), MeasureError, "None of the 1 pairs has a relation, such as pet - cat"),
        ("relations.csv", ArgumentError, "bb.asymmetry.read_relations"),
    ],
)
def test_relations_that_are_none(relations: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        bb.asymmetry.with_relations([("pet", "cat")], relations)


def test_a_relation_that_is_unknown() -> None:
    frame = bb.asymmetry.with_relations([("pet", "cat")], RELATIONS)
    with pytest.raises(MeasureError, match=r"no relation 'RelatdTo' \(did you mean 'RelatedTo'\?\): "):
        chosen_relations(frame, "RelatdTo")
    with pytest.raises(MeasureError, match="The pairs have no relation"):
        chosen_relations(frame.drop(columns="relation"), None)


@pytest.mark.shared
def test_evalution(shared: Path) -> None:
    found = bb.asymmetry.read_relations(shared / "data" / "relations" / "evalution_1.0.csv.gz")
    assert len(found) == 7_492
    assert found["relation"].value_counts()["IsA"] == 1_880
