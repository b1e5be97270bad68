"""Embeddings from objects that are in memory already."""

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import EmbeddingError, LostWordsError
from tests.embeddings.files import VECTORS, WORDS, fasttext_model, keyed_vectors

TABLE = dict(zip(WORDS, VECTORS, strict=True))
OBJECTS = {
    "keyed vectors": keyed_vectors(),
    "mapping": TABLE,
    "read-only mapping": MappingProxyType(TABLE),
    "lists": {word: vector.tolist() for word, vector in TABLE.items()},
    "pair": (WORDS, VECTORS),
    "pair of lists": (list(WORDS), VECTORS.tolist()),
    "pair of arrays": (np.array(WORDS), VECTORS),
    "generator": (iter(WORDS), VECTORS),
    "embedding": Embedding(words=WORDS, vectors=VECTORS),
}


@pytest.mark.parametrize("name", [name for name in OBJECTS if name != "generator"])
def test_objects(name):
    embedding = load_embedding(OBJECTS[name])
    assert embedding.words == WORDS
    assert all(type(word) is str for word in embedding.words)
    np.testing.assert_array_equal(embedding.vectors.astype(np.float32), VECTORS)
    assert embedding.name == "embedding"
    few = load_embedding(OBJECTS[name], words=["MAN", "child"], case="lower", name="few")
    assert few.words == ("man",)
    assert few.name == "few"
    with pytest.raises(LostWordsError, match=r"'child'"):
        load_embedding(OBJECTS[name], words=["child"])


def test_a_frame_has_its_words_in_the_index():
    frame = pd.DataFrame(VECTORS, index=list(WORDS))
    np.testing.assert_array_equal(load_embedding(frame)["king"], VECTORS[WORDS.index("king")])


def test_words_may_be_any_series():
    assert load_embedding(OBJECTS["generator"]).words == WORDS


def test_models_give_only_the_words_that_they_learned():
    model = fasttext_model()
    for source in (model, model.wv):
        embedding = load_embedding(source, words=["king", "kingdom"])
        assert embedding.words == ("king",)
        np.testing.assert_array_equal(embedding["king"], model.wv["king"])


def test_keyed_vectors_whose_rows_are_in_another_order():
    vectors = keyed_vectors()
    vectors.key_to_index = {"man": 4, "king": 0}
    embedding = load_embedding(vectors)
    assert embedding.words == ("man", "king")
    np.testing.assert_array_equal(embedding.vectors, VECTORS[[4, 0]])


def test_an_embedding_keeps_its_name():
    source = Embedding(words=("a",), vectors=[[1.0]], name="mine")
    assert load_embedding(source, case="lower").name == "mine"
    assert load_embedding(source, name="other").name == "other"


def test_a_repeat_with_the_same_vector_is_kept_once():
    assert load_embedding((["a", "b", "a"], [[1.0], [2.0], [1.0]])).words == ("a", "b")
    with pytest.raises(EmbeddingError, match=r"'a' .* row 1 .* row 3"):
        load_embedding((["a", "b", "a"], [[1.0], [2.0], [3.0]]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "NoneType"),
        (3, "int"),
        (b"path", "bytes"),
        (VECTORS, "ndarray"),
        (("a",), "tuple"),
        ((["a", "b"], VECTORS), r"2 words .* 5 vectors"),
        (("ab", VECTORS[:2]), "'ab'"),
        ((3, VECTORS), "listed"),
        (([1], VECTORS[:1]), r"text.* 1"),
        ((VECTORS[:2], ["a", "b"]), r"\(words, matrix\)"),
        ((["a"], VECTORS[0]), r"shape \(4,\)"),
        ((["a"], [["x"]]), "numbers"),
        ({}, r"shape \(0,\)"),
        ({1: [1.0]}, "text"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "numbers"),
        ({"a": [1.0], "b": [0.0]}, r"'b' .* row 2 .* zero"),
        ({"a": 1.0}, r"shape \(1,\)"),
    ],
)
def test_objects_that_do_not_do(source, message):
    with pytest.raises(EmbeddingError, match=message):
        load_embedding(source)
