"""The bias subspace, against the definition of the paper written out."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import DebiasWords, bias_subspace, name_subspace
from bayesbias.debias.subspace import neutral_word_bias, without_differences
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsWarning, MeasureError
from tests.debias.made import PAIRS, TRIPLES, made_embedding, unit


@pytest.mark.parametrize("sets", [PAIRS, TRIPLES, [*PAIRS, *TRIPLES]])
def test_directions_are_the_leading_eigenvectors_of_the_paper(sets: list[list[str]]) -> None:
    """Bolukbasi et al., section 5, step 1: C = sum over sets and words of (w - mu)(w - mu)' / number of words."""
    embedding = made_embedding()
    covariance = np.zeros((12, 12))
    for words in sets:
        center = sum(unit(embedding[word]) for word in words) / len(words)
        for word in words:
            shift = unit(embedding[word]) - center
            covariance += np.outer(shift, shift) / len(words)
    values, vectors = np.linalg.eigh(covariance)
    subspace = bias_subspace(embedding, DebiasWords("x", sets), components=2)
    assert np.allclose(np.abs(np.sum(subspace.directions * vectors.T[[-1, -2]], axis=1)), 1)
    assert np.allclose(subspace.explained, values[[-1, -2]] / values.sum())


def test_components_are_one_fewer_than_the_largest_set_has_words() -> None:
    embedding = made_embedding()
    assert len(bias_subspace(embedding, DebiasWords("x", PAIRS)).directions) == 1
    assert len(bias_subspace(embedding, DebiasWords("x", TRIPLES)).directions) == 2


def test_the_first_words_lie_on_the_positive_side() -> None:
    embedding = made_embedding()
    forth = bias_subspace(embedding, DebiasWords("x", PAIRS)).directions[0]
    back = bias_subspace(embedding, DebiasWords("x", [pair[::-1] for pair in PAIRS])).directions[0]
    assert np.allclose(forth, -back)
    assert sum(forth @ (unit(embedding[a]) - unit(embedding[b])) for a, b in PAIRS) > 0


def test_sets_that_lost_a_word_are_left_out_and_named() -> None:
    embedding = made_embedding()
    with pytest.warns(LostWordsWarning, match=r" 1 .* \(heroine\).* 1 of 4 "):
        subspace = bias_subspace(embedding, DebiasWords("x", [*PAIRS, ["king", "heroine"]]))
    assert subspace.sets == tuple(map(tuple, PAIRS))


def test_too_many_components_and_no_sets() -> None:
    embedding = made_embedding()
    with pytest.raises(MeasureError, match=r"components=4.* 3 directions"):
        bias_subspace(embedding, DebiasWords("x", PAIRS), components=4)
    with pytest.warns(LostWordsWarning), pytest.raises(MeasureError, match=r"'made' .*'x'"):
        bias_subspace(embedding, DebiasWords("x", [["a", "b"]]))
    for components in (0, -1, 1.5, True, "two"):
        with pytest.raises(ArgumentError, match="components"):
            bias_subspace(embedding, DebiasWords("x", PAIRS), components=components)  # type: ignore[arg-type]


def test_words_of_the_same_direction_are_an_error() -> None:
    embedding = bb.Embedding(("he", "she", "nurse"), [[1.0, 0.5], [2.0, 1.0], [0.0, 1.0]])
    with pytest.raises(MeasureError, match="'he', 'she'"):
        bias_subspace(embedding, DebiasWords("x", [["he", "she"]]))


def test_what_stands_for_an_embedding_is_taken() -> None:
    embedding = made_embedding()
    vectors = {word: embedding[word] for word in embedding.words}
    mapped, whole = (bias_subspace(given, DebiasWords("x", PAIRS)) for given in (vectors, embedding))
    np.testing.assert_array_equal(mapped.directions, whole.directions)
    with pytest.raises(EmbeddingError):
        bias_subspace(3, DebiasWords("x", PAIRS))


def test_neutral_words_are_those_of_no_set_in_any_spelling() -> None:
    embedding = made_embedding(neutral=7)
    sets = DebiasWords("x", PAIRS, specific=["Word2", "rabbi"])
    rows, bias, count = neutral_word_bias(embedding, sets, classes=3, words=100, least=3)
    words = [embedding.words[row] for row in rows]
    assert set(embedding.words) - set(words) == {*(word for pair in PAIRS for word in pair), "word2", "rabbi"}
    assert count == len(words) // 3
    (direction,) = bias_subspace(embedding, sets, components=1).directions
    assert np.allclose(bias, unit(embedding.matrix(words)) @ direction)
    assert neutral_word_bias(embedding, sets, classes=3, words=2, least=2)[2] == 2
    with pytest.raises(MeasureError, match=r"'made' .* words=2 .*3 classes .*; 3 "):
        neutral_word_bias(embedding, sets, classes=3, words=2, least=3)


def test_sets_without_differences() -> None:
    embedding = bb.Embedding(("he", "she", "man", "woman"), [[1.0, 5], [1.0, 5], [2.0, 6], [2.0, 7]])
    assert without_differences(embedding, DebiasWords("x", [["he", "she"]]))
    assert not without_differences(embedding, DebiasWords("x", [["he", "she"], ["man", "woman"]]))
    assert without_differences(embedding, DebiasWords("x", [["he", "she"], ["man", "woman"]]), slice(0, 1))
    assert not without_differences(embedding, DebiasWords("x", [["he", "absent"]])), "no set has two words"


def test_sets_are_taken_as_methods_take_them() -> None:
    vectors = {"he": [1.0, 2.0], "she": [-1.0, 2.0]}
    plain = bias_subspace(vectors, [["he", "she"]])
    named = bias_subspace(vectors, bb.debias.DebiasWords("gender", [["he", "she"]]))
    np.testing.assert_array_equal(plain.directions, named.directions)
    with pytest.raises(MeasureError, match="names"):
        name_subspace(vectors, [["he", "she"]])
