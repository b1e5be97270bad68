"""Methods that are compared: each is fitted to the embedding, which is the first of the comparison."""

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError

WORDS = ["he", "she", "man", "woman", "apple", "soup"]
SETS = bb.debias.DebiasWords("gender", [["he", "she"], ["man", "woman"]])


def vectors() -> bb.Embedding:
    return bb.Embedding(tuple(WORDS), np.random.default_rng(1).standard_normal((6, 4)))


def test_each_method_makes_an_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("bayesbias.nli.answers.debias_and_compare")
    calls: list[Any] = []
    monkeypatch.setattr(module, "train_and_compare", lambda *given, **options: calls.append((given, options)))
    method = bb.debias.METHODS["hard"]()
    bb.nli.debias_and_compare(vectors(), {"mine": method}, SETS, pd.DataFrame(), seeds=3)
    ((embeddings, _, test_set), options) = calls[0]
    assert (list(embeddings), test_set, options) == (["original", "mine"], "explicit", {"score": "error", "seeds": 3})
    np.testing.assert_array_equal(embeddings["original"].vectors, vectors().vectors)
    expected = method.fit(vectors(), SETS).transform(vectors())
    np.testing.assert_array_equal(embeddings["mine"].vectors, expected.vectors)


def test_what_is_no_method_is_named() -> None:
    for methods, facts in (({"original": bb.debias.MISP()}, "'original'"), ({"x": 5}, "'x' is 5")):
        with pytest.raises(MeasureError, match=facts):
            bb.nli.debias_and_compare(vectors(), methods, SETS, pd.DataFrame())
    with pytest.raises(ArgumentError, match="'msip'"):
        bb.nli.debias_and_compare(vectors(), ["msip"], SETS, pd.DataFrame())
