"""Random words: without replacement, matched by brute force, and never the lists' own."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError, NotEnoughMemoryError
from bayesbias.metrics.subspaces.randomisation_nulls import draw_rows, replacements, vocabulary_rows, word_rows

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(50, 4)) * RNG.uniform(0.2, 3, size=(50, 1))
EMBEDDING = bb.Embedding(words=tuple(f"w{number}" for number in range(50)), vectors=VECTORS)


def test_draws_are_uniform_and_without_replacement() -> None:
    draws = 24_000
    rows = draw_rows(np.broadcast_to(np.arange(4), (3, 4)), draws, np.random.default_rng(1))
    counts = Counter(map(tuple, rows.tolist()))
    assert set(counts) == set(permutations(range(4), 3))
    expected = draws / 24
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 49.73  # the 99.9 % quantile of 23 degrees of freedom


def test_draws_take_each_place_from_its_own_candidates() -> None:
    candidates = np.array([[1, 2, 3], [2, 3, 4], [3, 4, 5]])
    rows = draw_rows(candidates, 2000, np.random.default_rng(2))
    for place in range(3):
        assert set(rows[:, place]) == set(candidates[place])
    assert all(len(set(row)) == 3 for row in rows.tolist())


def test_the_whole_vocabulary_can_be_drawn() -> None:
    rows = draw_rows(np.broadcast_to(np.arange(6), (6, 6)), 100, np.random.default_rng(3))
    assert (np.sort(rows) == np.arange(6)).all()


@pytest.mark.parametrize("match", ["rank", "norm"])
def test_matched_words_are_the_nearest(match: str) -> None:
    replaced_rows = np.array([0, 25, 49])
    vocabulary = np.setdiff1d(np.arange(50), replaced_rows)
    key = np.arange(50.0) if match == "rank" else np.linalg.norm(VECTORS, axis=1)
    candidates = replacements(EMBEDDING, replaced_rows, vocabulary, match, 7)
    for row, chosen in zip(replaced_rows, candidates, strict=True):
        distances = np.abs(key[vocabulary] - key[row])
        assert sorted(np.abs(key[chosen] - key[row])) == pytest.approx(sorted(distances)[:7])
        assert len(set(chosen)) == 7
        assert row not in chosen


def test_vocabulary() -> None:
    assert vocabulary_rows(EMBEDDING, None, ["w3"]).tolist() == [number for number in range(50) if number != 3]
    assert vocabulary_rows(EMBEDDING, ["w9", "w3", "w4"], ["w3"]).tolist() == [4, 9]
    with pytest.warns(LostWordsWarning, match=r"1 .* 2 .*\(absent\)"):
        assert vocabulary_rows(EMBEDDING, ["w1", "absent"], []).tolist() == [1]
    lower = bb.Embedding(words=("king", "queen"), vectors=np.eye(2), case=("exact", "lower"))
    assert word_rows(lower, ["Queen", "king"]).tolist() == [1, 0]
    assert vocabulary_rows(lower, None, ["Queen"]).tolist() == [0]


def test_bad_input() -> None:
    replaced_rows, vocabulary = np.arange(5), np.arange(5, 9)
    with pytest.raises(MeasureError, match=r"5 words.* 4 "):
        replacements(EMBEDDING, replaced_rows, vocabulary, None, 100)
    many = np.arange(5, 50)
    with pytest.raises(MeasureError, match=r"window=4: 5 .* 5 to 45"):
        replacements(EMBEDDING, replaced_rows, many, "rank", 4)
    with pytest.raises(MeasureError, match="window=46"):
        replacements(EMBEDDING, replaced_rows, many, "norm", 46)
    with pytest.raises(MeasureError, match=r"match='ranks' .*'rank'"):
        replacements(EMBEDDING, replaced_rows, many, "ranks", 10)


def test_more_draws_than_fit_are_refused() -> None:
    with pytest.raises(NotEnoughMemoryError, match="1,000,000,000,000 draws"):
        draw_rows(np.array([[5, 6], [5, 6]]), 10**12, np.random.default_rng(1))
