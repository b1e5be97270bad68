"""Linear maps: the papers' equations, a word at a time, and what a large embedding costs."""

import tracemalloc

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import MISP, LinearProjection
from bayesbias.errors import LostWordsWarning, MeasureError
from tests.debias.made import made_embedding


def test_names_are_found_in_other_spellings_and_lost_ones_named() -> None:
    vectors = {"MARY": [1.0, 1], "Ann": [1.0, 2], "JOHN": [-1.0, 1], "Bob": [-1.0, 2]}
    words = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Ann", "Zoe"], ["John", "Bob"]])
    with pytest.warns(LostWordsWarning, match=r"2 of 3 and 2 of 2 names.* Zoe"):
        subspace = bb.debias.name_subspace(vectors, words, components=1)
    assert subspace.sets == (("MARY", "Ann"), ("JOHN", "Bob"))
    few = bb.debias.DebiasWords("x", [["a", "b"]], names=[["Mary", "Zoe"], ["John", "Bob"]])
    with pytest.raises(MeasureError, match=r"1 of 2 and 2 of 2 names, .*2 .*Zoe"):
        MISP(components=1).fit(vectors, few)
    with pytest.raises(MeasureError, match="components=4"):
        MISP().fit({**vectors, "Zoe": [2.0, 1]}, words)


def test_lists_of_names_are_checked() -> None:
    for names, message in (
        ([["a", "b"]], "`names`"),
        ([["a", "b"], ["b", "c"]], "'b' .* lists 1 and 2 of `names`"),
        ([["a", "a"], ["b", "c"]], r"names set 1 .*\['a', 'a'\]"),
        ([["a"], ["b", "c"]], r"names set 1 .*\['a'\]"),
    ):
        with pytest.raises(MeasureError, match=message):
            bb.debias.DebiasWords("x", [["he", "she"]], names=names)
    with pytest.raises(MeasureError, match=r"'she' .*`concept`"):
        bb.debias.DebiasWords("x", [["he", "she"]], concept=["cook", "she"])
    with pytest.raises(MeasureError, match=r"none.*`names`"):
        MISP().fit(made_embedding(), bb.debias.DebiasWords("x", [["he", "she"]]))


def test_a_word_of_which_nothing_is_left_is_named() -> None:
    vectors = {"he": [1.0, 1], "she": [-1.0, 1], "beard": [2.0, 0]}
    fitted = LinearProjection().fit(vectors, [["he", "she"]])
    with pytest.raises(MeasureError, match="'beard'"):
        fitted.transform(vectors)
    assert fitted.transform(vectors, ignore=["beard"])["beard"].tolist() == [2.0, 0.0]


@pytest.mark.slow
def test_many_words_take_two_copies_of_memory() -> None:
    """Blocks beside them have one size whatever the number of words: of more words they are a smaller share."""
    count = 120_000
    vectors = np.random.default_rng(1).standard_normal((count, 300), dtype=np.float32)
    embedding = bb.Embedding(tuple(f"word{number}" for number in range(count)), vectors)
    fitted = LinearProjection().fit(embedding, [["word0", "word1"]])
    tracemalloc.start()
    after = fitted.transform(embedding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after.vectors.dtype == np.float32
    assert peak < 1.25 * vectors.nbytes  # beside the original's own


def test_lengths_beyond_the_squares_of_float32_are_compared():
    vectors = {"he": [3e19, 1e19, 0.0], "she": [-3e19, 1e19, 0.0], "nurse": [1e19, 1e19, 1e19]}
    large = bb.Embedding(tuple(vectors), np.array(list(vectors.values()), dtype=np.float32))
    small = bb.Embedding(tuple(vectors), (large.vectors / np.float32(1e19)).astype(np.float32))
    changed, same = (
        bb.debias.LinearProjection().fit(source, [["he", "she"]]).transform(source) for source in (large, small)
    )
    np.testing.assert_allclose(changed.vectors / np.float32(1e19), same.vectors, atol=1e-6)
