"""What a projection says: draws, warnings, and axes without agreement."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.reports.axes.test_project import PAIRS, WORDS, planted


def test_draws_share_the_error_of_the_pairs() -> None:
    projection = bb.project(planted(), WORDS, PAIRS)
    draws = projection.draws("pairs", draws=4000, random_seed=1)
    assert draws.dims == ("chain", "draw", "word")
    np.testing.assert_array_equal(draws, projection.draws("pairs", draws=4000, random_seed=1))
    low, high = np.quantile(draws[0], [0.055, 0.945], axis=0)
    width = (projection.words["hdi_high"] - projection.words["hdi_low"]).to_numpy()
    np.testing.assert_allclose(high - low, width, rtol=0.1)
    np.testing.assert_allclose(draws.mean(("chain", "draw")), projection.words["mean"], atol=0.01)
    with pytest.raises(ArgumentError, match="axis='other'"):
        projection.draws("other")


def test_pairs_that_do_not_agree_have_no_cosines_and_a_warning() -> None:
    rng = np.random.default_rng(3)
    vectors = bb.Embedding((*WORDS, *(word for pair in PAIRS for word in pair)), rng.normal(size=(24, 30)))
    projection = bb.project(vectors, WORDS, PAIRS, random_seed=1)
    assert projection.words[["cosine", "cosine_low", "cosine_high"]].isna().all(axis=None)
    assert projection.contents.alerts[0].kind == "no axis"
    assert "none" not in projection.contents.doubts[0].text


def test_words_of_pairs_and_words_in_several_pairs_are_named() -> None:
    projection = bb.project(planted(), [*WORDS, "high1"], [*PAIRS, ("high0", "low3")])
    kinds = {statement.kind: statement.text for statement in projection.contents.doubts}
    assert kinds["words in pairs"].startswith("high1 is")
    assert kinds["shared words"].startswith("high0, low3 are in several pairs")


def test_a_correlation_that_is_undefined_is_not_printed() -> None:
    """Random pairs order these words in opposite ways."""
    vectors = bb.Embedding(
        (*WORDS, *(word for pair in PAIRS for word in pair)), np.random.default_rng(2).normal(size=(24, 30))
    )
    ratings = dict(zip(WORDS, range(len(WORDS)), strict=True))
    projection = bb.project(vectors, WORDS, {"mood": PAIRS}, ratings=ratings, random_seed=1)
    assert projection.ratings[["correlation", "correlation_low", "correlation_high"]].isna().all(axis=None)
    assert "is undefined" in str(projection).replace("\n  ", " ")
    assert "nan" not in str(projection)


@pytest.mark.parametrize(("hdi_prob", "pairs", "said"), [(0.6, 4, False), (0.89, 4, True), (0.95, 5, True)])
def test_what_few_pairs_cannot_show_depends_on_the_level(hdi_prob: float, pairs: int, said: bool) -> None:
    """Signs of n pairs have a two-sided p-value of 2 / 2^n at least."""
    rng = np.random.default_rng(3)
    vectors = bb.Embedding((*WORDS, *(word for pair in PAIRS for word in pair)), rng.normal(size=(24, 30)))
    for first in range(len(PAIRS) - pairs + 1):
        projection = bb.project(vectors, WORDS, PAIRS[first : first + pairs], hdi_prob=hdi_prob, random_seed=1)
        for statement in projection.contents.doubts:
            if " name one axis" in statement.text:
                assert ("so few pairs" in statement.text) == said
                return
    raise AssertionError("all pairs agree")


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_axes_that_share_pairs_and_code_that_repeats_the_numbers() -> None:
    axes = {"gender": PAIRS, "other": [PAIRS[0][::-1], *[(f"high{n}", f"low{n + 1}") for n in range(3)]]}
    projection = bb.project(planted(), WORDS, axes, hdi_prob=0.8, random_seed=7)
    shared = [text for text in projection.contents.doubts if text.kind == "shared pairs"]
    assert [text.numbers["axes"] for text in shared] == [("gender", "other")]
    assert "share 1 pair," in shared[0].text
    assert "WORDS, PAIRS, hdi_prob=0.8, random_seed=7)" in projection.contents.code
    path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    bundled = bb.project(path, ["nurse", "doctor"], "gender", max_lost=0.9, random_seed=1)
    assert "WORDS, ['gender'], random_seed=1)" in bundled.contents.code


def test_extreme_ratings_are_doubted() -> None:
    values = np.exp(np.cos(np.arange(12.0)))
    values[4] = 20
    projection = bb.project(planted(), WORDS, PAIRS, ratings=dict(zip(WORDS, values, strict=True)), random_seed=1)
    assert projection.ratings["kurtosis"].iloc[0] > 6
    assert [text.numbers["rating"] for text in projection.contents.doubts if text.kind == "extreme ratings"] == [
        "rating"
    ]
    logarithms = dict(zip(WORDS, np.log(values), strict=True))
    same = bb.project(planted(), WORDS, PAIRS, ratings=logarithms, random_seed=1)
    assert "extreme" not in str(same)
