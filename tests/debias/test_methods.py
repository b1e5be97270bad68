"""The registry of debiasing methods: what each of them has to be."""

from dataclasses import is_dataclass

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsError, MeasureError
from tests.debias.made import PAIRS, WORDS, made_embedding


@pytest.mark.parametrize("name", bb.debias.METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_method_makes_another_embedding_of_the_same_words(name: str, dtype: type) -> None:
    method = bb.debias.METHODS[name]
    assert is_dataclass(method)
    embedding = made_embedding(neutral=120, dtype=dtype)
    before = embedding.vectors.copy()
    debiased = method().fit(embedding, WORDS, name="gender").transform(embedding)
    assert debiased.words == embedding.words
    assert debiased.vectors.dtype == dtype
    assert np.isfinite(debiased.vectors).all()
    assert (embedding.vectors == before).all()
    if name != "gn_glove":
        assert f"{name}-debiased (gender" in debiased.name
        assert (debiased.vectors != before).any()


@pytest.mark.parametrize("name", [name for name in bb.debias.METHODS if name != "gn_glove"])
def test_words_that_are_no_targets_and_ignored_words_keep_their_numbers(name: str) -> None:
    embedding = made_embedding(neutral=120)
    fitted = bb.debias.METHODS[name]().fit(embedding, WORDS)
    some = fitted.transform(embedding, target=["word1", "word2"], ignore=["word2"])
    assert {word for word in embedding.words if (some[word] != embedding[word]).any()} == {"word1"}
    with pytest.raises(MeasureError, match="12 dimensions"):
        fitted.transform({"a": [1.0, 2.0]})
    with pytest.raises(LostWordsError, match="absent"):
        fitted.transform(embedding, target=["absent"])


@pytest.mark.parametrize(
    ("name", "field"), [("misp", "names"), ("mhd", "names"), ("oscar", "concept"), ("gender_preserving", "sides")]
)
def test_words_that_a_method_lacks_are_asked_for(name: str, field: str) -> None:
    method = bb.debias.METHODS[name]
    assert field in method.needs
    with pytest.raises(MeasureError, match=rf"{method.__name__} .* none.*`{field}`"):
        method().fit(made_embedding(), PAIRS)
