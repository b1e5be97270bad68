"""The Embedding itself: what it checks, how it looks words up."""

import hashlib
import struct
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsError
from tests.refusals import refusals


def make(words=("king", "Queen", "queen"), case="exact", dtype=np.float32) -> Embedding:
    vectors = np.arange(1, 2 * len(words) + 1, dtype=dtype).reshape(len(words), 2)
    return Embedding(words=words, vectors=vectors, case=case)


def test_length_membership_vector_and_dimensions():
    embedding = make()
    assert len(embedding) == 3
    assert "king" in embedding
    assert "man" not in embedding
    assert 3 not in embedding
    assert embedding["Queen"].tolist() == [3, 4]
    assert embedding.dimensions == 2


def test_words_may_come_as_any_series_and_vectors_as_lists():
    embedding = Embedding(words=["a", "b"], vectors=[[1.0, 2.0], [3.0, 4.0]])
    assert embedding.words == ("a", "b")
    assert embedding.vectors.dtype == np.float64


@pytest.mark.parametrize(
    ("given", "expected_dtype"),
    [("f4", "f4"), ("f8", "f8"), ("f2", "f4"), ("i8", "f4"), (">f4", "f4"), (">f8", "f8"), ("?", "f4")],
)
def test_numbers_are_float32_or_float64_in_native_order(given, expected_dtype):
    embedding = Embedding(words=("a",), vectors=np.ones((1, 2), dtype=given))
    assert embedding.vectors.dtype == np.dtype(expected_dtype)
    assert embedding.vectors.dtype.isnative


def test_vectors_are_read_only_and_the_given_array_is_not_touched():
    given = np.ones((1, 2), dtype=np.float32)
    embedding = Embedding(words=("a",), vectors=given)
    with pytest.raises(ValueError, match="read-only"):
        embedding.vectors[0, 0] = 2
    given[0, 0] = 5
    assert given.flags.writeable
    with pytest.raises(FrozenInstanceError):
        embedding.name = "other"


@pytest.mark.parametrize(
    ("case", "word", "form"),
    [
        ("exact", "Queen", "Queen"),
        ("exact", "QUEEN", None),
        ("exact", "King", None),
        ("lower", "Queen", "queen"),
        ("lower", "KING", "king"),
        (("exact", "lower"), "Queen", "Queen"),
        (("exact", "lower"), "QUEEN", "queen"),
        (("exact", "lower"), "man", None),
    ],
)
def test_case_rules(case, word, form):
    embedding = make(case=case)
    assert embedding.match(word) == form
    assert (word in embedding) == (form is not None)


def test_lookup_reports_the_form_that_matched_and_each_lost_word_once():
    lookup = make(case="exact, lower").lookup(["KING", "man", "Queen", "man"])
    assert lookup.matches == {"KING": "king", "Queen": "Queen"}
    assert lookup.lost == ("man",)


def test_matrix_follows_the_words_given():
    embedding = make(case="lower")
    assert embedding.matrix(["QUEEN", "king", "king"]).tolist() == [[5, 6], [1, 2], [1, 2]]
    assert embedding.matrix([]).shape == (0, 2)


test_refusals = refusals(
    (lambda: make().matrix(["king", "man", "child", "man"]), LostWordsError, r"'embedding' .* 'man', 'child'\."),
    (lambda: make()["KING"], LostWordsError, r"'king'; .* 'exact', .* case=\('exact', 'lower'\)"),
    (
        lambda: make(("Paris",), case="lower")["paris"],
        LostWordsError,
        r"'Paris'; .* 'lower', .* case=\('lower', 'title'\)",
    ),
    (lambda: make()["kimg"], LostWordsError, r"'kimg' .*'king'"),
    (lambda: make()[0], EmbeddingError, "words"),
    (lambda: make(case="lover"), ArgumentError, r"'lover' .*'lower'"),
    (lambda: make(("he\0",)), EmbeddingError, "NUL"),
)


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (("a", "b"), [[1.0, 2.0]], r"2 words .* 1 vectors"),
        (("a",), [1.0, 2.0], r"shape \(2,\)"),
        ((), np.empty((0, 3)), r"shape \(0, 3\)"),
        (("a",), np.empty((1, 0)), r"shape \(1, 0\)"),
        (("a", "b"), [[1.0], [1.0, 2.0]], "numbers"),
        (("a",), [["x"]], "numbers"),
        (("a",), [[1j]], "numbers"),
        (("a", "b", "a"), [[1.0], [2.0], [1.0]], r"'a' .* row 0"),
        (("a", 3), [[1.0], [2.0]], r"3 .* int"),
        (("a\ud800",), [[1.0]], "surrogate"),
        ("ab", [[1.0], [2.0]], "'ab'"),
        (("a", "b"), [[1.0], [0.0]], r"'b' .* row 1 .* zero"),
        (("a", "b"), [[np.nan], [1.0]], r"'a' .* row 0 .* NaN"),
        (("a", "b"), [[1.0], [-np.inf]], r"'b' .* row 1 .* infinity"),
        (("a",), [[np.inf, np.nan]], "NaN"),
        (("a",), [[1e-200, 0.0]], "zero"),
        (("a",), [[1e200, 0.0]], "too large"),
    ],
)
def test_unusable_words_and_vectors_are_refused(words, vectors, message):
    with pytest.raises(EmbeddingError, match=message):
        Embedding(words=words, vectors=vectors)


def test_digest_depends_on_words_and_vectors_only():
    embedding = make()
    assert len(embedding.digest) == 16
    assert embedding.digest == replace(embedding, name="other", case="lower").digest
    assert embedding.digest == replace(embedding, vectors=np.asfortranarray(embedding.vectors)).digest
    assert embedding.digest != replace(embedding, words=("king", "queen", "Queen")).digest
    assert embedding.digest != replace(embedding, vectors=embedding.vectors * 2).digest


def test_digest_is_the_same_on_every_machine():
    content = b"3 2 float32\n" + b"king\0Queen\0queen" + struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    assert make().digest == hashlib.sha256(content).hexdigest()[:16] == "58c51f172243722e"


def test_repr_is_short():
    assert repr(make()) == "Embedding(name='embedding', words=3, dimensions=2, case='exact')"


def test_masked_vectors_are_refused():
    masked = np.ma.masked_array([[1.0, 99.0]], mask=[[False, True]])
    with pytest.raises(EmbeddingError, match="masked"):
        Embedding(("he",), masked)
    assert Embedding(("he",), np.ma.masked_array([[1.0, 2.0]])).vectors.tolist() == [[1.0, 2.0]]


WORDS = ("guerra", "civil", "paz", "New York", "New", "York", "zurück")
VECTORS = np.array([[3, 4], [1, 0], [0, 1], [1, 1], [2, 0], [0, 5], [1, 2]], dtype=np.float32)


@pytest.mark.gensim
def test_the_mean_of_parts_is_gensims() -> None:
    from gensim.models import KeyedVectors

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
