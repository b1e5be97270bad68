"""Double-hard debiasing: the steps of the source, and a component that was planted."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import DoubleHardDebias
from bayesbias.debias.by_word.double_hard import clustering_accuracy, vocabulary_components, without_component
from bayesbias.errors import MeasureError
from tests.debias.made import PAIRS, made_embedding, unit


def planted(words: int = 400) -> bb.Embedding:
    """Words whose side shows on an axis of its own, the second in size, beside the pairs' axis."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(words, 10))
    side = np.repeat([1.0, -1.0], words // 2)
    vectors[:, 0] *= 20  # frequency, say
    vectors[:, 1] += 6 * side
    vectors[:, 2] += 2 * side
    vectors[0], vectors[-1] = np.eye(10)[2] * 5, -np.eye(10)[2] * 5
    return bb.Embedding(("he", *(f"word{number}" for number in range(words - 2)), "she"), vectors)


def test_the_planted_component_is_found() -> None:
    embedding = planted()
    fitted = DoubleHardDebias(candidates=4).fit(embedding, [["he", "she"]])
    assert fitted.candidates["accuracy"].idxmin() == 1
    assert abs(fitted.component[1]) > 0.95
    assert fitted.candidates["accuracy"].iloc[1] < 0.65
    assert (fitted.candidates["accuracy"].drop(1) > 0.8).all()


def test_components_are_those_of_the_vocabulary() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 6))
    mean, components = vocabulary_components(vectors, 3)
    expected = np.linalg.svd(vectors - vectors.mean(axis=0))[2][:3]
    assert np.allclose(mean, vectors.mean(axis=0))
    assert np.allclose(np.abs((components * expected).sum(axis=1)), 1)


def test_words_lose_the_component_and_then_the_bias_direction() -> None:
    """Wang et al. (2020), algorithm 1, one word at a time."""
    embedding = made_embedding(neutral=60)
    fitted = DoubleHardDebias().fit(embedding, PAIRS)
    after = fitted.transform(embedding)
    u, g = fitted.component, fitted.hard.subspace.directions[0]
    for word in ("word1", "rabbi"):
        w = embedding[word] - fitted.mean - (u @ embedding[word]) * u
        assert np.allclose(after[word], unit(unit(w) - (unit(w) @ g) * g))
    assert np.allclose(np.abs(after.matrix([f"word{number}" for number in range(60)]) @ g), 0, atol=1e-12)


def test_clusters_are_compared_with_sides_either_way_round() -> None:
    sides = np.repeat([0, 1], 20)
    apart = np.random.default_rng(1).normal(size=(40, 3)) + 10 * sides[:, None]
    assert clustering_accuracy(apart, sides) == 1.0
    assert 0.5 <= clustering_accuracy(np.random.default_rng(2).normal(size=(40, 3)), sides) < 0.9
    assert without_component(np.array([[2.0, 3.0]]), np.zeros(2), np.array([0.6, 0.8])) == pytest.approx(
        np.array([[-0.16, 0.12]])
    )


def test_too_few_words() -> None:
    with pytest.raises(MeasureError, match=r"words=1000 .*4 classes .*; 5 "):
        DoubleHardDebias().fit(made_embedding(neutral=5), PAIRS)
