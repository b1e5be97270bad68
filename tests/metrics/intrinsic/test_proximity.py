"""GIPE against plain loops over its definition, and by hand."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.intrinsic.proximity import indirect_bias

RANDOM = np.random.default_rng(12)
PAIRS = [("she", "he"), ("woman", "man")]
WORDS = ("she", "he", "woman", "man", *(f"w{chr(97 + n)}" for n in range(26)))
VECTORS = RANDOM.normal(size=(30, 6)) + 0.8
DEBIASED = np.c_[VECTORS[:, :1] * 0.2, VECTORS[:, 1:]]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.sqrt((vector**2).sum())


def plain_gipe(vectors: np.ndarray, original: np.ndarray, words: list[str], k: int, threshold: float) -> float:
    """Return GIPE as Kumar et al. (2020) define it, word by word."""
    row = {word: number for number, word in enumerate(WORDS)}
    units, judge = [unit(v) for v in vectors], [unit(v) for v in original]
    differences = np.array([judge[row[a]] - judge[row[b]] for a, b in PAIRS])
    g = np.linalg.svd(differences)[2][0]
    illicit: dict[str, list[str]] = {}
    incoming: dict[str, list[bool]] = {word: [] for word in WORDS}
    for word in words:
        others = sorted((other for other in WORDS if other != word), key=lambda o: -(units[row[word]] @ units[row[o]]))
        illicit[word] = []
        for other in others[:k]:
            w, v = judge[row[word]], judge[row[other]]
            w_orth, v_orth = w - (w @ g) * g, v - (v @ g) * g
            beta = (w @ v - unit(w_orth) @ unit(v_orth)) / (w @ v)
            incoming[other].append(bool(beta > threshold))
            illicit[word] += [other] if beta > threshold else []
    gamma = {word: 1 + sum(incoming[word]) / (len(incoming[word]) + 1e-300) for word in words}
    return sum(gamma[word] * len(illicit[word]) / k for word in words) / sum(gamma.values())


@pytest.mark.parametrize("threshold", [0.03, 0.05, -0.2])
@pytest.mark.parametrize("vectors", [VECTORS, DEBIASED], ids=["original", "debiased"])
def test_gipe_is_that_of_plain_loops(vectors: np.ndarray, threshold: float) -> None:
    words = list(WORDS[4:20])
    score = bb.metrics.gipe(
        (WORDS, vectors), words, reference=(WORDS, VECTORS), neighbours=5, threshold=threshold, pairs=PAIRS,
        random_seed=1,
    )  # fmt: skip
    expected = plain_gipe(vectors, VECTORS, words, 5, threshold)
    assert 0 < expected < 1
    assert score.value == pytest.approx(expected, abs=1e-12)
    low, high = score.interval
    assert low < score.value < high


def test_the_indirect_bias_is_bolukbasis_own_example_of_its_ends() -> None:
    """Bolukbasi et al. (2016), section 5.3: 1 where all similarity is along g, 0 where the words have none of it."""
    g, a = np.eye(3)[:2]
    w, v = unit(0.6 * g + 0.8 * a), unit(0.6 * g + 0.8 * np.eye(3)[2])
    assert indirect_bias(w @ v, w @ g, v @ g) == pytest.approx(1.0)
    assert indirect_bias(0.3, 0.0, 0.0) == 0
    assert indirect_bias(1.0, 1.0, 1.0) == 1


def test_words_that_one_of_both_lacks_are_lost() -> None:
    small = (WORDS[:28], VECTORS[:28])
    with pytest.warns(LostWordsWarning, match="wy, wz"):
        score = bb.metrics.gipe((WORDS, VECTORS), reference=small, neighbours=5, pairs=PAIRS, random_seed=1)
    assert score.lost_words == {"words": ("wy", "wz")}
    alone = bb.metrics.gipe(small, neighbours=5, pairs=PAIRS, random_seed=1)
    assert score.value == alone.value
    with pytest.raises(MeasureError, match=r"k=100.* 29 words"):
        bb.metrics.gipe((WORDS, VECTORS), pairs=PAIRS, random_seed=1)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_google_news_has_the_proximity_that_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: 0.021 for word2vec, there over a larger vocabulary and so with other neighbours."""
    path = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    assert bb.metrics.gipe(path, random_seed=1).value == pytest.approx(0.021, abs=0.005)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_at_right_angles_are_not_illicit(dtype: type) -> None:
    turn = np.linalg.qr(RANDOM.normal(size=(20, 20)))[0]
    axes = {f"o{chr(97 + number)}": np.eye(20)[number + 2] for number in range(18)}
    axes |= {"she": np.eye(20)[0] + 0.1 * np.eye(20)[1], "he": -np.eye(20)[0] + 0.1 * np.eye(20)[1]}
    vectors = {word: (turn @ axis).astype(dtype) for word, axis in axes.items()}
    words = [word for word in axes if word.startswith("o")]
    result = bb.metrics.gipe(vectors, words, neighbours=5, pairs=[("she", "he")], random_seed=1)
    assert result.value == 0
