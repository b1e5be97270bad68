"""Changes of studies and models, word by word."""

from typing import Any

import pytest

import bayesbias as bb
from bayesbias.reports.plans.changes import model_changes, study_changes
from bayesbias.reports.plans.record import study_hash
from tests.reports.plans.test_frozen_plan import pets

CATS = {"cats": ["cat", "tom"], "dogs": ["dog"]}


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"protected": {"cats": ["tom", "cat"], "dogs": ["dog"]}}, []),
        ({"protected": {"dogs": ["dog"], "cats": ["cat", "tom"]}, "neutral": ["chair"]}, []),
        ({"protected": CATS | {"cats": ["cat"]}}, ["'tom' was removed from 'cats'"]),
        ({"protected": CATS | {"dogs": ["dog", "pup"]}}, ["'pup' was added to 'dogs'"]),
        ({"neutral": ["table"]}, ["'table' was added to 'neutral'", "'chair' was removed from 'neutral'"]),
        ({"neutral": "none"}, ["the control list 'neutral' was removed"]),
        (
            {"attributes": {"quiet": ["purr", "nap"], "loud": ["bark"], "calm": ["rest"]}},
            ["the attribute list 'calm' was added"],
        ),
        (
            {"associated": [("cats", "loud"), ("dogs", "loud")]},
            ["the association of 'cats' with 'loud' was added", "the association of 'cats' with 'quiet' was removed"],
        ),
        ({"questions": {}}, ["the question 'own' was removed"]),
        ({"questions": {"own": [("dogs", "quiet"), ("cats", "quiet")]}}, ["the question 'own' was changed"]),
        ({"factors": {}}, ["the factors 'size' was removed"]),
    ],
)
def test_each_change_is_named_and_changes_the_hash(changes: dict[str, Any], texts: list[str]) -> None:
    now = pets(**changes)
    assert list(study_changes(pets(), now)) == texts
    assert (study_hash(now) != study_hash(pets())) == bool(texts)


def test_each_change_of_a_model_is_named() -> None:
    crossed = bb.load_model("crossed")
    assert list(model_changes(crossed, crossed)) == []
    texts = list(model_changes(crossed, bb.load_model("hierarchical")))
    assert texts[0] == "the model was 'crossed' and is 'hierarchical'"
    assert "attribute_effects was one and is none" in texts
    assert any(text.startswith("the prior of attribute_sd was Exponential") and "is none" in text for text in texts)
