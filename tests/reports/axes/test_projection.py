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
    assert projection.contents.diagnostics[0].kind == "agreement"
    assert "none" not in projection.contents.diagnostics[0].text


def test_words_of_pairs_and_words_in_several_pairs_are_named() -> None:
    projection = bb.project(planted(), [*WORDS, "high1"], [*PAIRS, ("high0", "low3")])
    kinds = {statement.kind: statement.text for statement in projection.contents.diagnostics}
    assert kinds["words in pairs"].startswith("high1 is")
    assert kinds["shared words"].startswith("high0, low3 are in several pairs")
