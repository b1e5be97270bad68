"""From four lists to rows: which words are paired, on which side, and which rows share a word."""

import numpy as np
import pytest

from bayesbias.cosine_regressions.study_rows import DESIGNS, ListVectors
from bayesbias.errors import MeasureError


def lists(*sizes: int) -> ListVectors:
    rng = np.random.default_rng(1)
    words = tuple(tuple(f"{name}{number}" for number in range(size)) for name, size in zip("XYAB", sizes, strict=True))
    vectors = tuple(rng.normal(0.3, 1, (size, 5)) * rng.lognormal(0, 0.3, (size, 1)) for size in sizes)
    return ListVectors(tuple("XYAB"), words, vectors)


def test_binary_rows_have_each_pair_of_a_side_once() -> None:
    rows = DESIGNS["binary"](lists(3, 4, 5, 6))
    assert len(rows.first) == len(set(zip(rows.first, rows.second, strict=True))) == 3 * 5 + 4 * 6
    assert rows.design.side is not None
    triples = zip(rows.first, rows.second, rows.design.side.tolist(), strict=True)
    assert {(a[0], b[0], side) for a, b, side in triples} == {("X", "A", 1), ("Y", "B", 0)}
    assert rows.sides == ("Y with B", "X with A")
    assert list(rows.effects["target_word"].words) == rows.first


def test_overlapping_rows_have_each_word_on_both_sides() -> None:
    rows = DESIGNS["overlapping"](lists(3, 4, 5, 6))
    assert rows.design.side is not None
    assert len(rows.first) == (3 + 4) * (5 + 6)
    for words in (rows.first, rows.second):
        assert len(set(zip(words, rows.design.side.tolist(), strict=True))) == 2 * len(set(words))
    assert set(rows.effects) == {"target_word", "attribute_word", "target_word_by_side", "attribute_word_by_side"}
    np.testing.assert_array_equal(rows.effects["target_word_by_side"].by, rows.design.side - 0.5)


def test_centroid_rows_are_the_target_words() -> None:
    made = lists(8, 7, 5, 6)
    rows = DESIGNS["centroid"](made)
    assert rows.first == [*made.words[1], *made.words[0]]
    omega = [made.vectors[which].sum(axis=0) for which in (3, 2)]
    for row, word in enumerate(rows.first):
        vector = made.vectors["XY".index(word[0])][int(word[1:])]
        centre = omega[word[0] == "X"]
        cosine = vector @ centre / np.sqrt((vector @ vector) * (centre @ centre))
        assert rows.design.pairs.cosine[row] == pytest.approx(cosine)


@pytest.mark.parametrize("name", ["bivariate", "bivariate_centroid"])
def test_lists_that_are_matched_by_position_have_one_length(name: str) -> None:
    assert any(note.kind == "matching" for note in DESIGNS[name](lists(12, 12, 5, 5)).notes)
    with pytest.raises(MeasureError, match=r"'X' .*12 .*'Y' .*11"):
        DESIGNS[name](lists(12, 11, 5, 5))
