"""The spread of a direction: weights that are known, pairs that were planted, and what rests on it."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsError, LostWordsWarning, MeasureError
from bayesbias.metrics.directions.direction import weighted_directions_of

PAIRS = [(f"a{number}", f"b{number}") for number in range(12)]


def planted(noise: float, *, dims: int = 15, seed: int = 1) -> bb.Embedding:
    rng = np.random.default_rng(seed)
    axis, words, rows = np.eye(dims)[0], [], []
    for first, second in PAIRS:
        common = rng.normal(size=dims)
        common[0] = 0.0
        for word, side in ((first, 1), (second, -1)):
            words.append(word)
            rows.append(common + 2 * side * axis + noise * rng.normal(size=dims))
    words += [f"word{number}" for number in range(30)]
    rows += list(rng.normal(size=(30, dims)))
    return bb.Embedding(tuple(words), np.array(rows))


def test_a_draw_is_the_first_component_of_repeated_pairs() -> None:
    """Whole weights are repeated rows: NumPy's SVD of them."""
    rng = np.random.default_rng(1)
    differences = rng.normal(size=(4, 9))
    counts = np.array([[1, 2, 0, 3], [1, 1, 1, 1], [0, 0, 0, 1]])
    directions = weighted_directions_of(differences, counts / 6.0, differences[0])
    for row, times in zip(directions, counts, strict=True):
        expected = np.linalg.svd(np.repeat(differences, times, axis=0))[2][0]
        assert abs(row @ expected) == pytest.approx(1)
        assert row @ differences[0] >= 0


def test_the_spread_grows_with_what_the_pairs_do_not_share() -> None:
    angles = [
        bb.metrics.direction_posterior(planted(noise), PAIRS, random_seed=1).angle["mean"].item()
        for noise in (0.01, 0.3, 1.0)
    ]
    assert angles[0] < 1 < angles[1] < angles[2]


def test_the_bootstrap_has_the_spread_of_new_pairs() -> None:
    """Over many embeddings of new pairs, the direction misses the planted axis as the draws miss the direction."""
    misses, angles = [], []
    for seed in range(30):
        posterior = bb.metrics.direction_posterior(planted(0.4, seed=seed), PAIRS, draws=300, random_seed=1)
        misses.append(np.degrees(np.arccos(abs(posterior.vector[0]))))
        angles.append(posterior.angle["mean"].item())
    assert 0.75 < np.mean(angles) / np.mean(misses) < 1.33


def test_words_look_less_biased_than_along_the_planted_axis_by_the_cosine_of_the_angle() -> None:
    """As the docstring says, for words that lie 0.5 along the axis."""
    axis, rng = np.eye(15)[0], np.random.default_rng(2)
    ratios, cosines = [], []
    for seed in range(30):
        posterior = bb.metrics.direction_posterior(planted(1.0, seed=seed), PAIRS, draws=300, random_seed=1)
        words = rng.normal(size=(400, 15))
        words[:, 0] = 0.0
        words = 0.5 * axis + np.sqrt(0.75) * words / np.linalg.norm(words, axis=1, keepdims=True)
        ratios.append(float((words @ posterior.vector).mean()) / 0.5)
        cosines.append(np.cos(np.radians(posterior.angle["mean"].item())))
    assert 0.8 < np.mean(ratios) < 0.97
    assert np.mean(ratios) == pytest.approx(np.mean(cosines), abs=0.04)


def test_direction_and_draws() -> None:
    embedding = planted(0.5)
    posterior = bb.metrics.direction_posterior(embedding, PAIRS, draws=400, random_seed=1)
    direction = bb.metrics.gender_direction(embedding, PAIRS)
    assert (posterior.vector == direction.vector).all()
    assert np.allclose(np.linalg.norm(posterior.draws, axis=1), 1)
    assert (posterior.draws @ posterior.vector > 0).all()
    again = bb.metrics.direction_posterior(embedding, PAIRS, draws=400, random_seed=1)
    assert (posterior.draws == again.draws).all()
    assert (posterior.draws != bb.metrics.direction_posterior(embedding, PAIRS, draws=400, random_seed=2).draws).any()


def test_words_on_the_direction() -> None:
    embedding = planted(0.5)
    posterior = bb.metrics.direction_posterior(embedding, PAIRS, draws=400, random_seed=1)
    cosines = posterior.cosines(embedding, ["word1", "a3"])
    unit = embedding["a3"] / np.linalg.norm(embedding["a3"])
    assert np.allclose(cosines[:, 1], posterior.draws @ unit)
    table = posterior.words(embedding, ["word1", "a3"])
    assert table["word"].tolist() == ["word1", "a3"]
    assert np.allclose(table["mean"], cosines.mean(axis=0))
    assert ((table["hdi_low"] < table["mean"]) & (table["mean"] < table["hdi_high"])).all()
    with pytest.raises(LostWordsError):
        posterior.cosines(embedding, ["absent"])
    with pytest.raises(MeasureError, match="15 dimensions"):
        posterior.cosines({"x": [1.0, 2.0], "y": [1.0, 1.0]}, ["x"])


@pytest.mark.parametrize("c", [1.0, 0.5])
def test_direct_bias_carries_it(c: float) -> None:
    embedding = planted(0.5)
    words = [f"word{number}" for number in range(30)]
    posterior = bb.metrics.direction_posterior(embedding, PAIRS, draws=700, random_seed=1)
    result = bb.metrics.direct_bias(embedding, words, direction=posterior, c=c)
    plain = bb.metrics.direct_bias(embedding, words, pairs=PAIRS, c=c)
    assert result.direct_bias == plain.direct_bias
    draws = (np.abs(posterior.cosines(embedding, words)) ** c).mean(axis=1)
    assert result.statistics["direct_bias_sd"] == pytest.approx(draws.std(ddof=1))
    low, high = (result.statistics[f"direct_bias_hdi_{end}"] for end in ("low", "high"))
    assert ((draws >= low) & (draws <= high)).mean() == pytest.approx(0.89, abs=0.01)
    with pytest.raises(MeasureError, match="dimensions"):
        bb.metrics.direct_bias({"x": [1.0, 2.0], "y": [1.0, 1.0]}, ["x", "y"], direction=posterior)


def test_pairs_that_are_lost_and_too_few_pairs() -> None:
    embedding = planted(0.5)
    with pytest.warns(LostWordsWarning):
        posterior = bb.metrics.direction_posterior(embedding, [*PAIRS, ("absent", "a1")], draws=10, random_seed=1)
    assert len(posterior.pairs) == 12
    with pytest.raises(MeasureError, match="Found 1 pair"):
        bb.metrics.direction_posterior(embedding, PAIRS[:1])
