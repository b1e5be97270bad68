"""Iterative nullspace projection: a planted attribute that is linear in several directions."""

import numpy as np
import pytest
from scipy.stats import beta

import bayesbias as bb
from bayesbias.debias import INLP
from bayesbias.errors import MeasureError
from bayesbias.estimates.intervals import share_interval

pytest.importorskip("sklearn")


def planted(words: int = 600, dims: int = 30, *, seed: int = 1) -> bb.Embedding:
    """Words whose side is on the first axis, and with noise on the second and third too."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(words, dims))
    side = np.sign(vectors[:, 0])
    vectors[:, 0] *= 4
    vectors[:, 1:3] += 1.5 * side[:, None]
    names = ["he", "she", *(f"word{number}" for number in range(words - 2))]
    vectors[0], vectors[1] = np.eye(dims)[0] * 3 + 0.1, -np.eye(dims)[0] * 3 + 0.1
    return bb.Embedding(tuple(names), vectors)


def test_the_planted_directions_are_found_and_the_held_out_words_at_chance() -> None:
    embedding = planted()
    fitted = INLP().fit(embedding, [["he", "she"]])
    before, after = fitted.held_out.to_dict("records")
    assert before["hdi_low"] > 0.6
    assert after["hdi_low"] <= after["chance"] == pytest.approx(1 / 3)
    # Most of each planted axis lies in the directions that were taken away.
    assert (np.linalg.norm(fitted.directions[:, :3], axis=0) > 0.8).all()
    assert np.allclose(fitted.directions @ fitted.directions.T, np.eye(len(fitted.directions)))
    assert np.abs(fitted.transform(embedding).vectors @ fitted.directions.T).max() < 1e-12
    assert np.allclose(fitted.matrix @ fitted.matrix, fitted.matrix)


def test_a_classifier_of_another_kind_finds_no_side_either() -> None:
    """Least squares, with labels of its own: the sign of the first axis before."""
    embedding = planted(1200)
    fitted = INLP().fit(embedding, [["he", "she"]])
    side = np.sign(embedding.vectors[2:, 0])
    for vectors, least, most in ((embedding.vectors, 0.95, 1.0), (fitted.transform(embedding).vectors, 0.35, 0.65)):
        rows = vectors[2:]
        weights = np.linalg.lstsq(rows[:600], side[:600], rcond=None)[0]
        right = (np.sign(rows[600:] @ weights) == side[600:]).mean()
        assert least <= right <= most


def test_it_stops_at_the_number_of_iterations() -> None:
    fitted = INLP(iterations=1).fit(planted(), [["he", "she"]])
    assert len(fitted.directions) == 3
    assert len(fitted.rounds) == 1


def test_definitional_and_specific_words_teach_nothing() -> None:
    embedding = planted()
    words = bb.debias.DebiasWords("x", [["he", "she"]], specific=["Word5"])
    changed = embedding.vectors.copy()
    changed[7] = -changed[7]  # word5
    other = bb.Embedding(embedding.words, changed)
    assert (INLP().fit(embedding, words).matrix == INLP().fit(other, words).matrix).all()


def test_too_few_words() -> None:
    with pytest.raises(MeasureError, match=r"50 words .*words=7500 .*; 20 "):
        INLP().fit(planted(52), [["he", "she"]])
    with pytest.raises(MeasureError, match=r"words=10 .*; 20 "):
        INLP(words=10).fit(planted(), [["he", "she"]])


@pytest.mark.parametrize(("right", "count"), [(0, 10), (40, 100), (100, 100)])
def test_the_interval_of_a_share_is_the_narrowest(right: int, count: int) -> None:
    low, high = share_interval(right, count, 0.89)
    posterior = beta(right + 1, count - right + 1)
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(0.89, abs=1e-9)
    if 0 < right < count:
        assert posterior.pdf(low) == pytest.approx(posterior.pdf(high), rel=0.02)
    else:
        assert (low, high)[right > 0] == right / count


def test_a_direction_is_weighted_by_what_its_classifier_knows() -> None:
    """The directions are those of INLP; each loses what the accuracies in `rounds` say, word by word."""
    embedding = planted()
    whole, weighted = (INLP(weighted=choice).fit(embedding, [["he", "she"]]) for choice in (False, True))
    assert np.array_equal(whole.directions, weighted.directions)
    assert whole.weights.tolist() == [1.0] * len(whole.directions)
    accuracies = np.clip((weighted.rounds["accuracy"].to_numpy() - 1 / 3) / (2 / 3), 0, None)
    assert set(np.round(weighted.weights, 12)) <= set(np.round(accuracies, 12))
    assert weighted.weights[0] == pytest.approx(accuracies[0])
    assert weighted.weights[0] > 3 * weighted.weights[-1]
    after = weighted.transform(embedding)
    for word in ("he", "word7"):
        expected = embedding[word].copy()
        for direction, weight in zip(weighted.directions, weighted.weights, strict=True):
            expected -= weight * (direction @ embedding[word]) * direction
        np.testing.assert_allclose(after[word], expected, atol=1e-10)
    # A soft projection leaves more than a hard one, and less than nothing done.
    before, left = (frame["accuracy"].to_numpy() for frame in (whole.held_out, weighted.held_out))
    assert before[1] < left[1] <= left[0] == before[0]
