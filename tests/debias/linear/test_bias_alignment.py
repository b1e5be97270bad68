"""Bias alignment: the rotation, beside SciPy's, and what is left open by few pairs."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

import bayesbias as bb
from bayesbias.debias import BiasAlignment
from bayesbias.debias.linear.bias_alignment import rotation_onto
from bayesbias.errors import MeasureError
from tests.debias.made import PAIRS, TRIPLES, made_embedding, unit


def test_the_rotation_is_procrustes_where_there_are_enough_rows() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 30, 8))
    np.testing.assert_allclose(rotation_onto(first, second), orthogonal_procrustes(first, second)[0], atol=1e-10)


def test_few_rows_are_rotated_as_well_as_by_procrustes_and_the_rest_least() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 3, 8))
    rotation, other = rotation_onto(first, second), orthogonal_procrustes(first, second)[0]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(8), atol=1e-12)
    assert np.linalg.norm(first @ rotation - second) == pytest.approx(np.linalg.norm(first @ other - second))
    assert np.trace(rotation) > np.trace(other)
    # What is orthogonal to all rows and turned onto by none stays where it is.
    free = np.linalg.svd(np.concatenate([first, second]))[2][6:]
    np.testing.assert_allclose(free @ rotation, free, atol=1e-10)
    # Any other rotation that does the same to the rows has a smaller trace.
    spaces = np.linalg.svd(first)[2][3:], np.linalg.svd(second)[2][3:]
    for turn in ortho_group.rvs(5, size=20, random_state=1):
        another = orthogonal_procrustes(first, second)[0]
        another = another - spaces[0].T @ spaces[0] @ another + spaces[0].T @ turn @ spaces[1]
        assert np.trace(another) <= np.trace(rotation) + 1e-9


def test_each_word_becomes_the_mean_of_itself_and_of_its_image() -> None:
    """Lauscher et al. (2020), section 3, with the pairs' unit vectors."""
    embedding = made_embedding()
    first, second = (np.array([unit(embedding[pair[side]]) for pair in PAIRS]) for side in (0, 1))
    after = BiasAlignment().fit(embedding, PAIRS).transform(embedding)
    rotation = rotation_onto(first, second)
    for word in embedding.words:
        assert np.allclose(after[word], (embedding[word] + embedding[word] @ rotation) / 2)
    before = [unit(embedding[a]) @ unit(embedding[b]) for a, b in PAIRS]
    assert np.mean([unit(after[a]) @ unit(after[b]) for a, b in PAIRS]) > np.mean(before) + 0.3


def test_sets_of_different_sizes_and_equal_pairs_are_refused() -> None:
    with pytest.raises(MeasureError, match="2 words and another set 3"):
        BiasAlignment().fit(made_embedding(), [*TRIPLES, *PAIRS])
    with pytest.raises(MeasureError, match="'he', 'she'"):
        BiasAlignment().fit(bb.load_embedding({"he": [1.0, 0], "she": [2.0, 0]}), [["he", "she"]])


def test_three_groups_move_towards_each_other() -> None:
    """Each word becomes the mean of itself and of SciPy's two rotations of it, which many sets determine."""
    random = np.random.default_rng(3)
    sets = [[f"{group}{number}" for group in "abc"] for number in range(12)]
    words = [word for listed in sets for word in listed]
    common = np.repeat(random.normal(size=(12, 5)), 3, axis=0)
    vectors = common + np.tile(2 * random.normal(size=(3, 5)), (12, 1)) + 0.1 * random.normal(size=(36, 5))
    embedding = bb.Embedding(tuple(words), vectors)
    after = BiasAlignment().fit(embedding, sets).transform(embedding)
    groups = [unit(embedding.matrix([listed[group] for listed in sets])) for group in range(3)]
    rotations = [orthogonal_procrustes(groups[0], other)[0] for other in groups[1:]]
    np.testing.assert_allclose(after.vectors, vectors @ (np.eye(5) + sum(rotations)) / 3, atol=1e-10)
    assert "bam-debiased" in after.name
