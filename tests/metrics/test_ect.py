import numpy as np
import pytest
from scipy.stats import spearmanr

from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.ect import ect, rank_correlation
from tests.metrics.made import PETS, cosine, vectors


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_scipy(seed, normalize):
    found = vectors(seed=seed)
    scaled = {word: v / np.sqrt(v @ v) if normalize else v for word, v in found.items()}
    means = [np.mean([scaled[word] for word in group], axis=0) for group in PETS.protected.values()]
    words = [word for group in PETS.attributes.values() for word in group]
    similarities = [[cosine(scaled[word], mean) for word in words] for mean in means]
    result = ect(found, PETS, normalize=normalize)
    assert result.ect == result.value == pytest.approx(spearmanr(*similarities).statistic)
    np.testing.assert_allclose(result.words[["similarity_x", "similarity_y"]].T, similarities)


def test_ties_as_scipy():
    first, second = [1, 2, 2, 3, 3, 3], [2, 1, 2, 2, 5, 4]
    assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic)


def test_by_hand():
    found = {"x": [1.0, 0.0], "u": [1.0, 0.0], "y": [0.0, 1.0], "v": [0.0, 1.0],
             "a": [3.0, 1.0], "b": [1.0, 1.0], "c": [1.0, 3.0]}  # fmt: skip
    lists = {"X": ["x", "u"], "Y": ["y", "v"], "A": ["a", "b", "c"]}
    assert ect(found, lists).ect == pytest.approx(-1)  # opposite orders
    assert ect(found | {"y": [1.0, 0.1], "v": [1.0, 0.1]}, lists).ect == pytest.approx(1)


def test_lost_words():
    with pytest.warns(LostWordsWarning):
        assert ect(vectors("howl"), PETS).lost_words == {"loud": ("howl",)}


def test_bad_input():
    with pytest.raises(MeasureError, match="at least three"):
        ect(vectors(), PETS, attributes="quiet")
    lists = {"X": ["x", "u"], "Y": ["y", "v"], "A": ["a", "b", "c"]}
    flat = {"x": [1.0, 0, 0], "u": [1.0, 0, 0], "y": [0, 1.0, 0], "v": [0, 1.0, 0.5],
            "a": [0, 1.0, 0], "b": [0, 2.0, 1], "c": [0, 1.0, 3]}  # fmt: skip
    with pytest.raises(MeasureError, match="equally similar"):
        ect(flat, lists)
    with pytest.raises(MeasureError, match="no direction"):
        ect(flat | {"u": [-1.0, 0, 0]}, lists)


@pytest.mark.shared
def test_google_news_groups_alike(shared):
    vectors = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    with pytest.warns(LostWordsWarning):
        result = ect(vectors, "weat7", attributes=("male", "female", "human"))
    words = result.words
    assert result.ect == pytest.approx(spearmanr(words["similarity_x"], words["similarity_y"]).statistic)
