"""Words as codes, against pandas and plain loops."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.tables import codes
from bayesbias.tables.codes import CodedTable, WordCodes, blocks, code_type, code_words, count_codes, relabel


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "_BLOCK", 7)


def test_blocks_cover_all_rows_once() -> None:
    assert [row for part in blocks(23) for row in range(23)[part]] == list(range(23))
    assert list(blocks(0)) == []


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_words_come_back_from_their_codes(dtype: str) -> None:
    words = ["b", "a", "b", "c", "a"] * 9
    coded = code_words(pd.Series(words, dtype=dtype))
    assert coded.words[coded.codes].tolist() == words
    assert dict(zip(coded.words, coded.counts, strict=True)) == {"a": 18, "b": 18, "c": 9}


def test_missing_words_have_no_code_and_equal_texts_have_one() -> None:
    coded = code_words(pd.Series(["a", None, "a", 1, "1"], dtype=object))
    assert coded.words.tolist() == ["a", "1"]
    assert coded.codes.tolist() == [0, -1, 0, 1, 1]
    # Categories that are written alike.
    coded = code_words(pd.Series(pd.Categorical.from_codes([0, 1, -1, 0], pd.Index([1, "1"], dtype=object))))
    assert (coded.words.tolist(), coded.codes.tolist()) == (["1"], [0, 0, -1, 0])


def test_counts_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-1, 6, 100)
    np.testing.assert_array_equal(count_codes(values, 6), np.bincount(values[values >= 0], minlength=6))


def test_words_in_the_order_of_appearance() -> None:
    rng = np.random.default_rng(2)
    names = np.array(list("abcdefghij"), dtype=object)
    values = rng.integers(0, 8, 60)  # two words have no rows
    ordered = WordCodes(values, names).by_appearance()
    assert ordered.words.tolist() == list(dict.fromkeys(names[values]))
    np.testing.assert_array_equal(ordered.words[ordered.codes], names[values])


def test_relabelling_keeps_what_is_missing() -> None:
    position = np.array([2, 0, 1, -1])
    relabelled = relabel(np.array([0, 1, 2, -1, 0]), position, np.dtype(np.int8))
    assert (relabelled.tolist(), relabelled.dtype) == ([2, 0, 1, -1, 2], np.int8)
    assert [code_type(size) for size in (2**15, 2**15 + 1, 2**31 + 1)] == [np.int16, np.int32, np.int64]


def coded_table(rng: np.random.Generator, rows: int) -> CodedTable:
    names = np.array(list("abcdef"), dtype=object)
    words = {name: WordCodes(rng.integers(0, 6, rows), names) for name in codes.PAIR_COLUMNS}
    return CodedTable(words, rng.uniform(0, 2, rows), None)


@pytest.mark.parametrize("largest", [0, 10**6])
def test_repeated_pairs_are_those_of_pandas(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "_LARGEST_BITMAP", largest)
    table = coded_table(np.random.default_rng(3), 40)
    pairs = pd.DataFrame({name: table.words[name].codes for name in ("protected_word", "attribute_word")})
    assert table.repeated_pairs() == pairs.duplicated().sum() > 0


def test_the_hash_depends_on_rows_and_not_on_the_order_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    table = coded_table(np.random.default_rng(4), 30)
    first = table.hash()
    turned = {name: WordCodes(5 - coded.codes, coded.words[::-1]) for name, coded in table.words.items()}
    assert CodedTable(turned, table.distance, 1.0 - table.distance).hash() == first
    monkeypatch.setattr(codes, "_BLOCK", 2**18)
    assert table.hash() == first
    other = table.distance.copy()
    other[7] += 1e-12
    assert CodedTable(table.words, other, None).hash() != first


def test_an_example_names_both_words() -> None:
    words = {
        "protected_word": WordCodes(np.array([1, 0]), np.array(["he", "she"], dtype=object)),
        "attribute_word": WordCodes(np.array([0, 0]), np.array(["art"], dtype=object)),
    }
    assert CodedTable(words, np.zeros(2), None).example(0) == "'she' with 'art'"
