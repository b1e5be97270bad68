"""The registry of debiasing methods: what each of them has to be."""

from dataclasses import fields, is_dataclass

import pytest

import bayesbias as bb
from tests.debias.made import PAIRS, made_embedding


@pytest.mark.parametrize("name", bb.debias.METHODS)
def test_a_method_makes_another_embedding_of_the_same_words(name: str) -> None:
    method = bb.debias.METHODS[name]
    assert is_dataclass(method)
    assert "components" in {field.name for field in fields(method)}
    embedding = made_embedding()
    before = embedding.vectors.copy()
    debiased = method().fit(embedding, PAIRS, name="gender").transform(embedding)
    assert debiased.words == embedding.words
    assert f"{name}-debiased (gender" in debiased.name
    assert (embedding.vectors == before).all()
    assert (debiased.vectors != before).any()


def test_every_method_is_offered_by_its_class_too() -> None:
    assert {method.__name__ for method in bb.debias.METHODS.values()} <= set(bb.debias.__all__)
