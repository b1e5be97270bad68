"""The registry of debiasing methods: what each of them has to be."""

from dataclasses import is_dataclass

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError, MeasureError
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


def test_what_a_method_needs_is_a_line_for_each() -> None:
    for name in bb.debias.METHODS:
        said = bb.debias.what_it_needs(name)
        assert said.endswith(".")
        assert "\n" not in said


def test_methods_by_name() -> None:
    found = bb.debias.methods_from_names(["soft", "gn_glove+misp"], {"strength": 2.0})
    assert found["soft"] == bb.debias.SoftDebias(strength=2.0)
    assert found["gn_glove+misp"] == bb.debias.Chain(bb.debias.GNGloVe(), bb.debias.MISP())
    for names, settings, message in (
        (["mips"], {}, "did you mean 'misp'"),
        (["misp", "misp"], {}, "give each method once"),
        (
            ["hard"],
            {"strength": 1.0},
            "hard has no strength. Leave --strength out, or take a method that has it: soft.",
        ),
    ):
        with pytest.raises(ArgumentError, match=message):
            bb.debias.methods_from_names(names, settings)


def test_a_chain_fits_each_method_to_what_the_one_before_it_made() -> None:
    embedding = made_embedding()
    chain = bb.debias.Chain(bb.debias.GNGloVe(components=2), bb.debias.LinearProjection(), bb.debias.HardDebias())
    found = chain.fit(embedding, PAIRS).transform(embedding)
    current = bb.Embedding(embedding.words, embedding.vectors[:, :-2], name="made, without its last 2 components")
    for method in chain.methods[1:]:
        current = method.fit(current, PAIRS).transform(current)
    np.testing.assert_array_equal(found.vectors, current.vectors)
    assert found.name.startswith("made, without its last 2 components, linear-debiased (custom words), hard-debiased (")
    for wrong in ((), (bb.debias.MISP,), ("misp",)):
        with pytest.raises(ArgumentError, match="Chain"):
            bb.debias.Chain(*wrong)


def test_gn_glove_drops_its_last_components_and_needs_some_left() -> None:
    embedding = made_embedding()
    after = bb.debias.GNGloVe().fit(embedding, PAIRS).transform(embedding, target=["word1"])
    np.testing.assert_array_equal(after.vectors, embedding.vectors[:, :11])
    with pytest.raises(MeasureError, match="have 12 components"):
        bb.debias.GNGloVe(components=12).fit(embedding, PAIRS)
    words = {"he": [1.0, 0.5, 0.5], "she": [-1.0, 0.5, 0.5], "cook": [1.0, 1.0, 0.5]}
    with pytest.raises(MeasureError, match="the same for all words"):
        bb.debias.GNGloVe().fit(words, [["he", "she"]])
    with pytest.raises(MeasureError, match="the same for the words of each set of 'custom words'"):
        bb.debias.GNGloVe(components=2).fit(words | {"cook": [1.0, 1.0, 2.0]}, [["he", "she"]])
    bb.debias.GNGloVe(components=2).fit(words | {"she": [-1.0, 0.5, 0.4]}, [["he", "she"]])


@pytest.mark.parametrize(
    ("name", "field"), [("misp", "names"), ("mhd", "names"), ("oscar", "concept"), ("gender_preserving", "sides")]
)
def test_words_that_a_method_lacks_are_asked_for(name: str, field: str) -> None:
    with pytest.raises(MeasureError, match=rf"have none\. Give `{field}`"):
        bb.debias.METHODS[name]().fit(made_embedding(), PAIRS)


def test_every_method_is_offered_by_its_class_too() -> None:
    assert {method.__name__ for method in bb.debias.METHODS.values()} <= set(bb.debias.__all__)
