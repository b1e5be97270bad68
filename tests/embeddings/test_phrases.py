"""Entries of several words."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError

WORDS = ("guerra", "civil", "paz", "New York", "New", "York", "zurück")
VECTORS = np.array([[3, 4], [1, 0], [0, 1], [1, 1], [2, 0], [0, 5], [1, 2]], dtype=np.float32)


def test_the_mean_of_parts_is_gensims() -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(list(WORDS), VECTORS)
    words = ["guerra civil", "New York", "guerra fría", "paz"]
    embedding = bb.load_embedding((WORDS, VECTORS), words=words, phrases="mean")
    np.testing.assert_allclose(
        embedding["guerra civil"], keyed.get_mean_vector(["guerra", "civil"], pre_normalize=True), rtol=1e-6
    )
    np.testing.assert_array_equal(embedding["New York"], [1, 1])  # stored whole
    assert embedding.phrases == ("guerra civil",)
    assert embedding.lookup(words).lost == ("guerra fría",)
    assert "guerra civil" not in bb.load_embedding((WORDS, VECTORS), words=words)


def test_parts_are_looked_up_under_the_case_rule_and_in_normal_form() -> None:
    embedding = bb.load_embedding((WORDS, VECTORS), words=["Guerra ZURU\u0308CK"], phrases="mean", case="lower")
    expected = (np.array([0.6, 0.8]) + np.array([1, 2]) / np.sqrt(5)) / 2
    np.testing.assert_allclose(embedding["Guerra ZURÜCK"], expected, rtol=1e-6)


def test_opposite_parts_have_no_mean() -> None:
    vectors = {"a": [1.0, 0.0], "b": [-1.0, 0.0]}
    assert bb.load_embedding(vectors, words=["a b"], phrases="mean").lookup(["a b"]).lost == ("a b",)
    with pytest.raises(LostWordsError, match="'c d'"):
        bb.load_embedding(vectors, words=["c d"], phrases="mean")


def test_the_setting_is_checked() -> None:
    with pytest.raises(ArgumentError, match="words="):
        bb.load_embedding((WORDS, VECTORS), phrases="mean")
    with pytest.raises(ArgumentError, match="whole"):
        bb.load_embedding((WORDS, VECTORS), words=["a"], phrases="sum")  # type: ignore[arg-type]


def test_a_table_says_which_words_are_means() -> None:
    lists = {"x": ["guerra civil"], "y": ["New York"], "a": ["paz"], "b": ["guerra"]}
    words = [word for entries in lists.values() for word in entries]
    table = bb.distance_table(bb.load_embedding((WORDS, VECTORS), words=words, phrases="mean"), lists)
    assert table.attrs["bayesbias"]["embedding"]["means_of_words"] == "guerra civil"
    # The cosine of (0.6 + 1, 0.8) with (0, 1).
    cosine = table.set_index(["protected_word", "attribute_word"])["cosine_similarity"]["guerra civil", "paz"]
    assert cosine == pytest.approx(0.8 / np.hypot(1.6, 0.8), abs=1e-6)
