"""Stability over seeds: rotations of one embedding, noise of known size, and SciPy's own Procrustes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from bayesbias.errors import EmbeddingError, LostWordsError, ReportError
from bayesbias.reliability.consistency import word_features
from bayesbias.reliability.driver_rows import load_word_properties

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


def test_senses_and_parts_of_speech_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("word,senses,part_of_speech,concreteness\nw5,1,noun,0.5\nw3,8,verb,\nnull,2,noun,1\n")
    seeds = {1: (WORDS, FIRST), 2: (WORDS, FIRST + 1)}
    features = word_features(seeds, words=["w3", "w5", "w7"], properties=path)
    assert features["log_senses"].tolist() == pytest.approx([np.log(8), 0, np.nan], nan_ok=True)
    assert features["part_of_speech"].tolist()[:2] == ["verb", "noun"]
    assert features["concreteness"].isna().tolist() == [True, False, True]
    frame = load_word_properties(path)
    assert frame["word"].tolist() == ["w5", "w3", "null"]
    pd.testing.assert_frame_equal(features, word_features(seeds, words=["w3", "w5", "w7"], properties=frame))


def test_a_word_without_senses_is_refused() -> None:
    with pytest.raises(ReportError, match="1 words have 0"):
        word_features(
            {1: (WORDS, FIRST), 2: (WORDS, FIRST + 1)}, properties=pd.DataFrame({"word": ["w1"], "senses": [0]})
        )


def test_what_cannot_be_described() -> None:
    with pytest.raises(ReportError, match="2 seeds"):
        word_features({1: (WORDS, FIRST)})
    with pytest.raises(EmbeddingError, match="dimensions: 1 has 8, 2 has 7"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST[:, :7])})
    with pytest.raises(LostWordsError, match="'w0'"):
        word_features({1: (WORDS, FIRST), 2: (WORDS[1:], FIRST[1:])}, words=["w0", "w1"])
    with pytest.raises(ReportError, match=r"counts .* 59 of 60"):
        word_features({1: (WORDS, FIRST), 2: (WORDS, FIRST)}, counts={"w1": 3})
