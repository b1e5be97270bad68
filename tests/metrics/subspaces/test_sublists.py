"""Sub-lists: all, drawn, and neighbours."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.metrics.subspaces.sublists import (
    all_subsets,
    checked_samples,
    checked_sizes,
    draw_subsets,
    one_word_changed,
    raise_if_too_many,
)


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
