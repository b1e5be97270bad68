"""The bias subspace, against the definition of the paper written out."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import DebiasWords, bias_subspace
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
    found = bias_subspace(embedding, DebiasWords("x", sets), components=2)
    assert np.allclose(np.abs(np.sum(found.directions * vectors.T[[-1, -2]], axis=1)), 1)
    assert np.allclose(found.explained, values[[-1, -2]] / values.sum())


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
    with pytest.warns(LostWordsWarning, match=r"lacks 1 of the definitional words \(heroine\), so 1 of 4 sets"):
        found = bias_subspace(embedding, DebiasWords("x", [*PAIRS, ["king", "heroine"]]))
    assert found.sets == tuple(map(tuple, PAIRS))


def test_too_many_components_and_no_sets() -> None:
    embedding = made_embedding()
    with pytest.raises(MeasureError, match="differ in only 3 directions"):
        bias_subspace(embedding, DebiasWords("x", PAIRS), components=4)
    with pytest.warns(LostWordsWarning), pytest.raises(MeasureError, match="no definitional set of 'x' whole"):
        bias_subspace(embedding, DebiasWords("x", [["a", "b"]]))
    for components in (0, -1, 1.5, True, "two"):
        with pytest.raises(ArgumentError, match="whole number"):
            bias_subspace(embedding, DebiasWords("x", PAIRS), components=components)  # type: ignore[arg-type]


def test_words_of_the_same_direction_are_an_error() -> None:
    embedding = bb.Embedding(("he", "she", "nurse"), [[1.0, 0.5], [2.0, 1.0], [0.0, 1.0]])
    with pytest.raises(MeasureError, match="'he', 'she' have vectors of the same direction"):
        bias_subspace(embedding, DebiasWords("x", [["he", "she"]]))


def test_what_stands_for_an_embedding_is_taken() -> None:
    embedding = made_embedding()
    vectors = {word: embedding[word] for word in embedding.words}
    found, same = (bias_subspace(given, DebiasWords("x", PAIRS)) for given in (vectors, embedding))
    np.testing.assert_array_equal(found.directions, same.directions)
    with pytest.raises(EmbeddingError):
        bias_subspace(3, DebiasWords("x", PAIRS))
