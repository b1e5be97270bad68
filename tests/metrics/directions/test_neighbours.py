import numpy as np
import pytest

from bayesbias.errors import MeasureError
from bayesbias.metrics.directions.neighbours import nearest_neighbours


def brute_force(targets, vocabulary, k, target_rows):
    """Sort all similarities of each target, one pair at a time, in float64."""
    neighbours = []
    for target, mine in zip(np.asarray(targets, float), target_rows, strict=True):
        scored = []
        for row, word in enumerate(np.asarray(vocabulary, float)):
            if row != mine:
                cosine = (target * word).sum() / np.sqrt((target * target).sum() * (word * word).sum())
                scored.append((-cosine, row))
        neighbours.append(sorted(row for _, row in sorted(scored)[:k]))
    return np.array(neighbours)


@pytest.mark.parametrize(("words", "k"), [(40, 1), (40, 7), (40, 39), (1003, 5), (2600, 120)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_brute_force(words, k, dtype):
    vectors = np.random.default_rng(words + k).normal(size=(words, 8)).astype(dtype) * 3
    target_rows = np.arange(words)[:25]
    expected = brute_force(vectors[:25], vectors, k, target_rows)
    np.testing.assert_array_equal(nearest_neighbours(vectors[:25], vectors, k, target_rows=target_rows), expected)


def test_targets_outside_the_vocabulary_keep_every_word():
    rng = np.random.default_rng(4)
    vocabulary, targets = rng.normal(size=(60, 5)), rng.normal(size=(4, 5))
    target_rows = [-1, -1, 7, -1]
    targets[2] = vocabulary[7]
    expected = brute_force(targets, vocabulary, 6, target_rows)
    np.testing.assert_array_equal(nearest_neighbours(targets, vocabulary, 6, target_rows=target_rows), expected)
    # Left out of none, the word is its own neighbour.
    assert 7 in nearest_neighbours(targets, vocabulary, 6)[2]


def test_ties_go_to_the_words_further_up():
    # Whole numbers: many words have the very same cosine, also across the groups of the first pass.
    vectors = np.random.default_rng(2).integers(-1, 2, size=(3000, 3)).astype(float)
    vectors = vectors[vectors.any(axis=1)]
    target_rows = np.arange(20)
    neighbours = nearest_neighbours(vectors[:20], vectors, 30, target_rows=target_rows)
    for row, mine in zip(neighbours, target_rows, strict=True):
        same = [i for i in range(len(vectors)) if i != mine and (vectors[i] == vectors[mine]).all()]
        assert len(same) > 30
        assert row.tolist() == same[:30]


def test_similarities_that_float32_cannot_tell_apart():
    # Angles that differ by 1e-9: their cosines are equal in float32 and differ in float64.
    angles = 0.5 + 1e-9 * np.random.default_rng(5).permutation(400)
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    neighbours = nearest_neighbours([[1.0, 0.0]], vectors, 10)
    assert set(neighbours[0]) == set(np.argsort(angles)[:10])


def test_the_block_size_changes_nothing(monkeypatch):
    vectors = np.random.default_rng(6).normal(size=(700, 20)).astype(np.float32)
    whole = nearest_neighbours(vectors, vectors, 10, target_rows=range(700))
    for block_mb in (1e-6, 0.01, 0.3):  # one row, a few rows, a block that does not divide the rows
        monkeypatch.setattr("bayesbias.metrics.directions.neighbours._BLOCK_MB", block_mb)
        np.testing.assert_array_equal(nearest_neighbours(vectors, vectors, 10, target_rows=range(700)), whole)


def test_memory_is_bounded_by_the_block(monkeypatch):
    import tracemalloc

    monkeypatch.setattr("bayesbias.metrics.directions.neighbours._BLOCK_MB", 5)
    vectors = np.random.default_rng(7).normal(size=(6000, 10)).astype(np.float32)
    tracemalloc.start()
    nearest_neighbours(vectors, vectors, 10, target_rows=range(6000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # all similarities would be 144 MB


@pytest.mark.parametrize("k", [0, 10, 11, 2.5, True])
def test_k_must_fit_the_vocabulary(k):
    vectors = np.random.default_rng(1).normal(size=(10, 3))
    with pytest.raises(MeasureError, match=" 9 words"):
        nearest_neighbours(vectors, vectors, k, target_rows=range(10))


def test_without_own_rows_k_may_be_the_whole_vocabulary():
    vectors = np.random.default_rng(1).normal(size=(10, 3))
    assert nearest_neighbours(vectors[:1], vectors, 10).tolist() == [list(range(10))]


def test_bad_vectors():
    good = np.eye(3)
    with pytest.raises(MeasureError, match="vocabulary vector in row 1 "):
        nearest_neighbours(good, [[1.0, 0, 0], [0, 0, 0]], 1)
    with pytest.raises(MeasureError, match="target vector in row 0 "):
        nearest_neighbours([[np.nan, 0, 0]], good, 1)
    with pytest.raises(MeasureError, match="dimensions"):
        nearest_neighbours(np.eye(2), good, 1)
    with pytest.raises(MeasureError, match="dimensions"):
        nearest_neighbours(good, good, 1, target_rows=[0])
    with pytest.raises(MeasureError, match="shape"):
        nearest_neighbours(np.ones(3), good, 1)
