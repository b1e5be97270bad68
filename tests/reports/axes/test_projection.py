"""A projection as a result: draws against the plain means and errors over pairs."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from bayesbias.reports.axes.projection import Projection
from tests.reports.axes.test_project import PAIRS, WORDS, planted


@pytest.fixture(scope="module")
def projected() -> Projection:
    return bb.project(planted(), WORDS, {"height": PAIRS}, random_seed=1)


def test_draws_have_the_mean_and_the_error_of_the_scores_over_pairs(projected: Projection) -> None:
    scores = projected.scores["height"]
    draws = projected.draws("height", draws=20_000, random_seed=3)
    pairs = len(PAIRS)
    errors = scores.std(axis=1, ddof=1) / np.sqrt(pairs)
    student_sd = errors * np.sqrt((pairs - 1) / (pairs - 3))
    assert draws.dims == ("chain", "draw", "word")
    assert draws["word"].values.tolist() == WORDS
    np.testing.assert_allclose(draws.mean(("chain", "draw")), scores.mean(axis=1), atol=5 * errors.max() / 140)
    np.testing.assert_allclose(draws.std(("chain", "draw")), student_sd, rtol=0.1)


def test_draws_of_two_words_share_the_error_of_the_pairs(projected: Projection) -> None:
    scores = projected.scores["height"]
    draws = projected.draws("height", draws=20_000, random_seed=3).to_numpy()[0]
    drawn = np.corrcoef(draws.T)[0, 1]
    assert drawn == pytest.approx(np.corrcoef(scores[:2])[0, 1], abs=0.05)


def test_draws_repeat_by_their_seed_and_need_an_axis(projected: Projection) -> None:
    first, second = (projected.draws("height", draws=5, random_seed=1) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.attrs == {"random_seed": 1}
    with pytest.raises(ArgumentError, match="height"):
        projected.draws("width")


def test_statements_name_the_words_on_each_side(projected: Projection) -> None:
    texts = {part.title: " ".join(text.text for text in part.statements) for part in projected.parts}
    sides = texts["Where the words lie"]
    assert WORDS[0] in sides
    assert WORDS[-1] in sides
    assert f"{len(PAIRS)} pairs" in texts["Do the pairs name one axis?"]
    assert "What it does not show" in texts
    assert all(texts.values())
