"""Lattices against loops over all pairs of sub-lists."""

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.geometry import canonical_subspace_similarity
from bayesbias.metrics.subspaces.lattice import (
    all_subsets,
    checked_samples,
    checked_sizes,
    draw_subsets,
    lattice,
    one_word_changed,
    raise_if_too_many,
)
from tests.metrics.made import mean_cosine

GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")
RNG = np.random.default_rng(0)
GIVEN = {f"{letter}{number}": RNG.normal(size=20) + 0.5 for letter in "xy" for number in range(6)}
X, Y = [word for word in GIVEN if word[0] == "x"], [word for word in GIVEN if word[0] == "y"]
BY_PAIR = {"canonical_subspace": canonical_subspace_similarity, "mean_cosine": mean_cosine}


def loop(metric: str, x: list[str], y: list[str], size: int) -> list[list[float]]:
    return [
        [float(BY_PAIR[metric]([GIVEN[w] for w in a], [GIVEN[w] for w in b])) for b in combinations(y, size)]
        for a in combinations(x, size)
    ]


@pytest.mark.parametrize("metric", BY_PAIR)
def test_lattices_are_loops(metric: str) -> None:
    within, between = lattice(GIVEN, X, metric=metric), lattice(GIVEN, X, Y[:4], metric=metric)
    assert list(within.similarities) == [1, 2, 3, 4, 5]
    assert list(between.similarities) == [1, 2, 3, 4]
    for size in (1, 3, 4):
        np.testing.assert_allclose(within.similarities[size], loop(metric, X, X, size), atol=1e-6)
        np.testing.assert_allclose(between.similarities[size], loop(metric, X, Y[:4], size), atol=1e-6)
    assert (within.within, between.within) == (True, False)
    assert within.random_seed is between.random_seed is None


def test_frames_and_summary() -> None:
    made = lattice(GIVEN, X, Y, metric="mean_cosine", sizes=[2])
    frame = made.frame(2)
    assert frame.shape == (15, 15)
    assert frame.loc["x0, x3", "y1, y2"] == pytest.approx(
        mean_cosine([GIVEN["x0"], GIVEN["x3"]], [GIVEN["y1"], GIVEN["y2"]]), abs=1e-6
    )
    assert made.summary().iloc[0].tolist() == pytest.approx(
        [2, 225, frame.to_numpy().min(), frame.to_numpy().mean(), frame.to_numpy().max()]
    )
    with pytest.raises(MeasureError, match=r"size 3.* 2"):
        made.frame(3)


def test_single_words_have_the_squared_cosine() -> None:
    squares = lattice(GIVEN, X, Y, metric="mean_squared_cosine").similarities[1]
    np.testing.assert_allclose(lattice(GIVEN, X, Y).similarities[1], squares, atol=1e-12)
    np.testing.assert_allclose(squares, lattice(GIVEN, X, Y, metric="mean_cosine").similarities[1] ** 2, atol=1e-12)


def test_what_grows_and_what_stays() -> None:
    canonical = lattice(GIVEN, X, Y).summary()
    assert (np.diff(canonical[["lowest", "mean", "highest"]], axis=0) > 0).all()
    # Between two lists each pair of words is in as many pairs of sub-lists: the mean over all of them cannot change
    # with the size. Only the highest falls, and the lowest rises, to it.
    cosine = lattice(GIVEN, X, Y, metric="mean_cosine").summary()
    np.testing.assert_allclose(cosine["mean"], cosine["mean"][0], atol=1e-12)
    assert (np.diff(cosine["highest"]) < 0).all()
    assert (np.diff(cosine["lowest"]) > 0).all()


def test_a_metric_of_ones_own() -> None:
    by_function = lattice(GIVEN, X[:4], Y[:4], metric=lambda a, b: float((a @ b.T).max()), sizes=[2])
    assert by_function.similarities[2][0, 0] == pytest.approx(
        max(GIVEN[a] @ GIVEN[b] for a in X[:2] for b in Y[:2]), rel=1e-6
    )


def test_lists_may_share_words() -> None:
    made = lattice(GIVEN, X[:4], X[2:], sizes=[1])
    assert made.frame(1).loc["x3", "x3"] == pytest.approx(1)


def test_samples() -> None:
    drawn = lattice(GIVEN, X, Y, samples=10, random_seed=4)
    assert {size: cells.shape for size, cells in drawn.similarities.items()} == {
        1: (6, 6), 2: (10, 10), 3: (10, 10), 4: (10, 10), 5: (6, 6), 6: (1, 1)
    }  # fmt: skip
    every = lattice(GIVEN, X, Y)
    cells = drawn.frame(3)
    assert np.allclose(cells, every.frame(3).loc[cells.index, cells.columns], atol=1e-12)
    again = lattice(GIVEN, X, Y, samples=10, random_seed=4)
    assert drawn.random_seed == again.random_seed == 4
    assert all(np.array_equal(drawn.similarities[size], again.similarities[size]) for size in drawn.similarities)
    unnamed = lattice(GIVEN, X, Y, samples=10)
    repeated = lattice(GIVEN, X, Y, samples=10, random_seed=unnamed.random_seed)
    assert np.array_equal(unnamed.similarities[3], repeated.similarities[3])


def test_too_many_sub_lists() -> None:
    given = {f"w{number}": RNG.normal(size=30) for number in range(25)}
    with pytest.raises(MeasureError, match=r"25 .*126,410,606,437,750 pairs.*samples="):
        lattice(given, list(given))
    assert lattice(given, list(given), samples=5, random_seed=1).similarities[12].shape == (5, 5)
    with pytest.raises(ArgumentError, match="random_seed=-1"):
        lattice(GIVEN, X, Y, random_seed=-1)
    with pytest.raises(MeasureError, match=r"sizes=.* 5 "):
        lattice(GIVEN, X, sizes=[6])


def test_lost_words() -> None:
    with pytest.warns(LostWordsWarning, match="owl"):
        assert lattice(GIVEN, [*X[:3], "owl"], max_lost=0.5).words == tuple(X[:3])


@pytest.mark.shared
def test_figure_1_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    for words in bb.load_study("weat7").attributes.values():
        canonical, cosine = lattice(embedding, words), lattice(embedding, words, metric="mean_cosine")
        assert canonical.similarities[4].shape == (70, 70)
        for size in range(1, 8):
            cells = canonical.similarities[size]
            assert (cells.argmax(axis=1) == np.arange(len(cells))).all()
            np.testing.assert_allclose(np.diag(cells), size, atol=1e-10)
            cells = cosine.similarities[size]
            assert (cells.argmax(axis=1) == np.arange(len(cells))).all() == (size < 3)


def test_all_subsets() -> None:
    assert [tuple(row) for row in all_subsets(6, 3)] == list(combinations(range(6), 3))


@pytest.mark.parametrize(("words", "size", "samples"), [(8, 4, 30), (8, 4, 69), (40, 20, 50)])
def test_drawn_subsets_are_different_and_repeat_with_the_seed(words: int, size: int, samples: int) -> None:
    drawn = draw_subsets(words, size, samples, np.random.default_rng(1))
    assert drawn.shape == (samples, size)
    rows = [tuple(row) for row in drawn.tolist()]
    assert rows == sorted(set(rows))
    assert all(row == tuple(sorted(set(row))) for row in rows)
    np.testing.assert_array_equal(drawn, draw_subsets(words, size, samples, np.random.default_rng(1)))
    assert not np.array_equal(drawn, draw_subsets(words, size, samples, np.random.default_rng(2)))


def test_every_word_is_as_likely() -> None:
    for words in (10, 40):  # listed, and drawn one by one
        drawn = draw_subsets(words, words // 2, 200, np.random.default_rng(3))
        shares = np.bincount(drawn.ravel(), minlength=words) / 200
        np.testing.assert_allclose(shares, 0.5, atol=0.15)


def test_no_more_than_there_are() -> None:
    np.testing.assert_array_equal(draw_subsets(5, 2, 10, np.random.default_rng(0)), all_subsets(5, 2))
    with pytest.raises(ArgumentError, match="samples=0"):
        checked_samples(0)


def test_neighbours_differ_in_one_word() -> None:
    subset = np.array([1, 3, 4])
    neighbours = {tuple(row) for row in one_word_changed(subset, 7).tolist()}
    assert neighbours == {row for row in combinations(range(7), 3) if len(set(row) & {1, 3, 4}) == 2}
    assert len(one_word_changed(subset, 7)) == 3 * 4


def test_too_many_say_how_many() -> None:
    raise_if_too_many(10_000_000, 13, looped=False)
    with pytest.raises(MeasureError, match=r"13 .*10,000,001 pairs.*10,000,000.*samples=1000"):
        raise_if_too_many(10_000_001, 13, looped=False)
    with pytest.raises(MeasureError, match="1,000,000"):
        raise_if_too_many(comb(12, 6) ** 2 * 2, 12, looped=True)


@pytest.mark.parametrize("sizes", [[4], [2, 9], np.array([5]), []])
def test_sizes_that_there_are_not(sizes: list[int]) -> None:
    with pytest.raises(MeasureError, match=r"sizes=.* 3 "):
        checked_sizes(sizes, 3)


@pytest.mark.parametrize(
    ("sizes", "error"), [([0], ArgumentError), ([1.5], ArgumentError), ([True], ArgumentError), (3, MeasureError)]
)
def test_what_is_no_size(sizes: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="sizes="):
        checked_sizes(sizes, 3)
