"""Stability over seeds: rotations of one embedding, noise of known size, and SciPy's own Procrustes."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from bayesbias.errors import EmbeddingError, LostWordsError, ReportError
from bayesbias.reliability.stability import word_features

RNG = np.random.default_rng(1)
WORDS = [f"w{at}" for at in range(60)]
FIRST = RNG.normal(size=(60, 8))


def test_a_rotation_is_no_change() -> None:
    turned = FIRST @ ortho_group.rvs(8, random_state=1)
    found = word_features({1: (WORDS, FIRST), 2: (WORDS, turned)})
    np.testing.assert_allclose(found["stability"], 1, atol=1e-6)
    np.testing.assert_allclose(found["norm"], np.linalg.norm(FIRST, axis=1), rtol=1e-6)


def test_three_seeds_as_scipy_turns_them() -> None:
    seeds = [FIRST, FIRST + RNG.normal(size=FIRST.shape), RNG.normal(size=FIRST.shape)]
    found = word_features({at: (WORDS, each) for at, each in enumerate(seeds)})
    cosines = []
    for one, other in ((0, 1), (0, 2), (1, 2)):
        turned = seeds[other] @ orthogonal_procrustes(seeds[other], seeds[one])[0]
        dots = (seeds[one] * turned).sum(axis=1)
        cosines.append(dots / np.linalg.norm(seeds[one], axis=1) / np.linalg.norm(turned, axis=1))
    np.testing.assert_allclose(found["stability"], np.mean(cosines, axis=0), atol=1e-6)
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in seeds]
    similar = [each @ each.T - 2 * np.eye(60) for each in unit]
    np.testing.assert_allclose(
        found["neighbour_similarity"], np.mean([s.max(axis=1) for s in similar], axis=0), atol=1e-6
    )


def test_words_in_common_and_counts() -> None:
    found = word_features(
        {1: (WORDS, FIRST), 2: (WORDS[1:], FIRST[1:])}, counts={"w3": 10, "w5": 1000}, words=["w5", "w3"]
    )
    assert list(found["word"]) == ["w5", "w3"]
    assert found["log_frequency"].tolist() == pytest.approx([np.log(1000), np.log(10)])
    assert found["log_frequency_squared"].tolist() == pytest.approx([np.log(10) ** 2] * 2)


def test_what_cannot_be_described() -> None:
    with pytest.raises(ReportError, match="two seeds at least"):
        word_features({1: (WORDS, FIRST)})
    with pytest.raises(EmbeddingError, match="other dimensions: 1 has 8, 2 has 7"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST[:, :7])})
    with pytest.raises(LostWordsError, match="'w0'"):
        word_features({1: (WORDS, FIRST), 2: (WORDS[1:], FIRST[1:])}, words=["w0", "w1"])
    with pytest.raises(ReportError, match="counts lacks 59 of 60"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST)}, counts={"w1": 3})
