"""OSCaR: a word at a time, in coordinates of the plane."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import OSCaR
from bayesbias.debias.by_word.oscar import rotated
from bayesbias.errors import MeasureError
from tests.debias.made import PAIRS, WORDS, made_embedding, unit


def theta_of_the_paper(x: np.ndarray, theta_1: float) -> float:
    """Dev et al. (2021), section 3: four cases, with theta_1 the angle of the two directions."""
    theta = np.pi / 2 - theta_1
    phi, d = np.arccos(x[0] / np.linalg.norm(x)), x[1]
    if d > 0 and phi < theta_1:
        return float(theta * phi / theta_1)
    if d > 0:
        return float(theta * (np.pi - phi) / (np.pi - theta_1))
    if phi >= np.pi - theta_1:
        return float(theta * (np.pi - phi) / theta_1)
    return float(theta * phi / (np.pi - theta_1))


@pytest.mark.parametrize("angle", [0.2, 1.0, np.pi / 2, 2.5])
def test_the_angle_of_the_paper(angle: float) -> None:
    points = np.random.default_rng(1).normal(size=(200, 2))
    for x, moved in zip(points, rotated(points, angle), strict=True):
        turn = theta_of_the_paper(x, angle)
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        assert np.allclose(moved, rotation @ x)


@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0])
def test_the_first_direction_stays_and_the_second_becomes_orthogonal(angle: float) -> None:
    concept = np.array([np.cos(angle), np.sin(angle)])
    moved = rotated(np.array([[1.0, 0.0], [-1.0, 0.0], concept, -concept]), angle)
    assert np.allclose(moved, [[1, 0], [-1, 0], [0, 1], [0, -1]], atol=1e-12)


def test_the_turn_is_continuous() -> None:
    around = np.linspace(-np.pi, np.pi, 100_001)
    points = rotated(np.stack([np.cos(around), np.sin(around)], axis=1), 0.7)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.max() < 5 * (around[1] - around[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_stay_and_the_concept_becomes_orthogonal(dtype: type) -> None:
    embedding = made_embedding(dtype=dtype)
    fitted = OSCaR().fit(embedding, WORDS)
    after = fitted.transform(embedding)
    lengths = np.linalg.norm(embedding.vectors, axis=1)
    assert np.allclose(np.linalg.norm(after.vectors, axis=1), lengths, rtol=1e-5)
    # The concept's direction, added as a word, ends at a right angle to the direction that is removed.
    rows = np.array([unit(embedding[word]) for word in WORDS.concept])
    concept = np.linalg.svd(rows - rows.mean(axis=0))[2][0]
    turned_concept = fitted.transform({"concept": concept})["concept"]
    assert abs(turned_concept @ fitted.plane[0]) < 1e-6 < abs(concept @ fitted.plane[0])
    # Outside of the plane nothing changes.
    outside = np.eye(12) - fitted.plane.T @ fitted.plane
    assert np.allclose(after.vectors @ outside, embedding.vectors @ outside, atol=1e-5)


def test_no_concept_parallel_directions_and_equal_words() -> None:
    with pytest.raises(MeasureError, match=r"none.*`concept`"):
        OSCaR().fit(made_embedding(), PAIRS)
    vectors = {"he": [1.0, 1], "she": [-1.0, 1], "cook": [2.0, 0], "nurse": [-2.0, 0], "a": [1.0, 2], "b": [2.0, 4]}
    for concept, message in ((["cook", "nurse"], "`concept` .*'x'"), (["a", "b"], "`concept`")):
        words = bb.debias.DebiasWords("x", [["he", "she"]], concept=concept)
        with pytest.raises(MeasureError, match=message):
            OSCaR().fit(vectors, words)
    lost = bb.debias.DebiasWords("x", [["he", "she"]], concept=["cook", "clerk"])
    with pytest.raises(MeasureError, match=r"1 of the 2 words of the concept, .* clerk"):
        OSCaR().fit(vectors, lost)
