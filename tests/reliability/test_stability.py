"""Stability over seeds: rotations of one embedding, noise of known size, and SciPy's own Procrustes."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from bayesbias.errors import EmbeddingError, LostWordsError, ReportError
from bayesbias.reliability.stability import word_features

RNG = np.random.default_rng(1)
WORDS = [f"w{number}" for number in range(60)]
FIRST = RNG.normal(size=(60, 8))


def test_a_rotation_is_no_change() -> None:
    turned = FIRST @ ortho_group.rvs(8, random_state=1)
    features = word_features({1: (WORDS, FIRST), 2: (WORDS, turned)})
    np.testing.assert_allclose(features["stability"], 1, atol=1e-6)
    np.testing.assert_allclose(features["norm"], np.linalg.norm(FIRST, axis=1), rtol=1e-6)


def test_three_seeds_as_scipy_turns_them() -> None:
    seeds = [FIRST, FIRST + RNG.normal(size=FIRST.shape), RNG.normal(size=FIRST.shape)]
    features = word_features({number: (WORDS, matrix) for number, matrix in enumerate(seeds)})
    cosines = []
    for one, other in ((0, 1), (0, 2), (1, 2)):
        turned = seeds[other] @ orthogonal_procrustes(seeds[other], seeds[one])[0]
        dots = (seeds[one] * turned).sum(axis=1)
        cosines.append(dots / np.linalg.norm(seeds[one], axis=1) / np.linalg.norm(turned, axis=1))
    np.testing.assert_allclose(features["stability"], np.mean(cosines, axis=0), atol=1e-6)
    unit = [matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in seeds]
    similar = [matrix @ matrix.T - 2 * np.eye(60) for matrix in unit]
    np.testing.assert_allclose(
        features["neighbour_similarity"], np.mean([s.max(axis=1) for s in similar], axis=0), atol=1e-6
    )


def test_words_in_common_and_counts() -> None:
    features = word_features(
        {1: (WORDS, FIRST), 2: (WORDS[1:], FIRST[1:])}, counts={"w3": 10, "w5": 1000}, words=["w5", "w3"]
    )
    assert list(features["word"]) == ["w5", "w3"]
    assert features["log_frequency"].tolist() == pytest.approx([np.log(1000), np.log(10)])
    assert features["log_frequency_squared"].tolist() == pytest.approx([np.log(10) ** 2] * 2)


def test_what_cannot_be_described() -> None:
    with pytest.raises(ReportError, match="2 seeds"):
        word_features({1: (WORDS, FIRST)})
    with pytest.raises(EmbeddingError, match="dimensions: 1 has 8, 2 has 7"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST[:, :7])})
    with pytest.raises(LostWordsError, match="'w0'"):
        word_features({1: (WORDS, FIRST), 2: (WORDS[1:], FIRST[1:])}, words=["w0", "w1"])
    with pytest.raises(ReportError, match=r"counts .* 59 of 60"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST)}, counts={"w1": 3})
