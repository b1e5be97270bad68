"""MIDB's directions in clustering, GIPE and SemBias, against plain loops over all differences between names."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.errors import MeasureError

NAMES = ([f"Amy{letter}" for letter in "abcdef"], [f"Bob{letter}" for letter in "abcde"])
WORDS = [f"word{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(77, 8)) + np.repeat([1.0, -1.0, 0.0], [6, 5, 66])[:, np.newaxis] * RANDOM.normal(size=8)
VECTORS = dict(zip([*NAMES[0], *NAMES[1], "he", "she", *WORDS], ROWS, strict=True))


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def directions_of_names() -> tuple[np.ndarray, np.ndarray]:
    """Return three directions and their weights, by scikit-learn from all differences and their opposites."""
    differences = np.array([unit(VECTORS[a]) - unit(VECTORS[b]) for a in NAMES[0] for b in NAMES[1]])
    components = PCA(3).fit(np.vstack([differences, -differences]))  # of both signs, so that nothing is centred away
    sides = np.sign(components.components_ @ differences.mean(axis=0))
    return components.components_ * sides[:, np.newaxis], components.explained_variance_ratio_


def test_clusters_are_of_the_words_with_the_largest_midb() -> None:
    directions, weights = directions_of_names()
    midb = {word: sum(weights * (directions @ unit(VECTORS[word]))) for word in ["he", "she", *WORDS]}
    ordered = sorted(midb, key=lambda word: -midb[word])
    score = bb.metrics.clustering(VECTORS, names=NAMES, components=3, words_in_all=20, random_seed=1)
    assert score.scores["item"].tolist() == [*ordered[:10], *ordered[-10:]]
    assert score.scores["side"].tolist() == [0] * 10 + [1] * 10
    assert "6 of 6 and 5 of 5 names" in score.conventions
    with pytest.raises(MeasureError, match="words_in_all=90"):
        bb.metrics.clustering(VECTORS, names=NAMES, components=3, words_in_all=90, random_seed=1)


def test_gipe_judges_neighbours_by_what_misp_would_take() -> None:
    directions, weights = directions_of_names()
    units = {word: unit(vector) for word, vector in VECTORS.items()}
    left = {
        word: unit(w - sum(a * (g @ w) * g for a, g in zip(weights, directions, strict=True)))
        for word, w in units.items()
    }
    eta, illicit_of, near_of = {}, dict.fromkeys(VECTORS, 0), dict.fromkeys(VECTORS, 0)
    for word in WORDS:
        near = sorted((other for other in VECTORS if other != word), key=lambda other: -units[word] @ units[other])[:6]
        biased = 0
        for other in near:
            similarity = units[word] @ units[other]
            beta = (similarity - left[word] @ left[other]) / similarity
            near_of[other] += 1
            biased += beta > 0.03
            illicit_of[other] += beta > 0.03
        eta[word] = biased / 6
    gamma = {word: 1 + illicit_of[word] / max(near_of[word], 1) for word in WORDS}
    expected = sum(eta[word] * gamma[word] for word in WORDS) / sum(gamma.values())
    score = bb.metrics.gipe(VECTORS, WORDS, names=NAMES, components=3, neighbours=6, random_seed=1)
    assert score.value == pytest.approx(expected)
    assert 0 < expected < 1
    plain = bb.metrics.gipe(VECTORS, WORDS, pairs=[("she", "he")], neighbours=6, random_seed=1)
    assert plain.value != pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]])
def test_sembias_chooses_along_the_names_whichever_list_is_first(names: tuple[list[str], ...], tmp_path: Path) -> None:
    directions, weights = directions_of_names()
    target = weights @ directions
    target = target * np.sign(target @ (VECTORS["he"] - VECTORS["she"]))
    rows = [[(WORDS[8 * row + 2 * n], WORDS[8 * row + 2 * n + 1]) for n in range(4)] for row in range(8)]
    path = tmp_path / "sembias.txt"
    path.write_text("\n".join(" ".join(f"{a}:{b}" for a, b in row) for row in rows))
    expected = [max(range(4), key=lambda n: unit(VECTORS[row[n][0]] - VECTORS[row[n][1]]) @ target) for row in rows]
    score = bb.metrics.sembias(VECTORS, path, names=(names[0], names[1]), components=3, random_seed=1)
    kinds = ["definition", "none", "none", "stereotype"]
    assert score.scores["chosen"].tolist() == [kinds[n] for n in expected]
    assert len(set(expected)) > 1
