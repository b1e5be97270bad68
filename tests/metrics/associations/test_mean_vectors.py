"""RND and ECT against plain loops over their definitions and SciPy."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.metrics.associations.mean_vectors import ect, rank_correlation, rnd
from tests.metrics.made import PETS, cosine, vectors

TINY = {"x1": [1.0, 0.0], "x2": [3.0, 0.0], "y1": [0.0, 4.0], "y2": [0.0, 2.0], "a": [2.0, 4.0], "b": [0.0, 3.0]}
LISTS = {"X": ["x1", "x2"], "Y": ["y1", "y2"], "A": ["a", "b"]}


def plain(embedding, distance, normalize):
    """Garg's sum, one word at a time."""

    def length_one(v):
        return v / np.sqrt(v @ v) if normalize else v

    def far(v, mean):
        return np.sqrt(((v - mean) ** 2).sum()) if distance == "norm" else 1 - cosine(v, mean)

    x, y = (
        np.mean([length_one(embedding[word]) for word in PETS.protected[group]], axis=0) for group in PETS.protected
    )
    words = [word for group in PETS.attributes.values() for word in group]
    return [far(length_one(embedding[word]), x) - far(length_one(embedding[word]), y) for word in words]


@pytest.mark.parametrize("distance", ["norm", "cosine"])
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_a_plain_loop(distance, normalize):
    embedding = vectors()
    result = rnd(embedding, PETS, distance=distance, normalize=normalize)
    terms = plain(embedding, distance, normalize)
    np.testing.assert_allclose(result.scores["score"], terms)
    assert result.rnd_sum == pytest.approx(sum(terms))
    assert result.rnd == result.value == pytest.approx(np.mean(terms))
    assert result.rnd_quiet == pytest.approx(np.mean(terms[:2]))
    assert result.rnd_loud == pytest.approx(np.mean(terms[2:]))


def test_by_hand():
    # Means (2, 0) and (0, 3): a is 4 from X and sqrt(5) from Y; b is sqrt(13) from X and 0 from Y.
    result = rnd(TINY, LISTS, normalize=False)
    np.testing.assert_allclose(result.scores["score"], [4 - np.sqrt(5), np.sqrt(13)])
    assert result.rnd > 0
    assert "positive is nearer to Y" in result.conventions
    # Length 1: the means are (1, 0) and (0, 1).
    np.testing.assert_allclose(rnd(TINY, LISTS).scores["score"].iloc[1], np.sqrt(2))
    # Cosine distances of b: 1 and 0.
    assert rnd(TINY, LISTS, distance="cosine").scores["score"].iloc[1] == pytest.approx(1)


def test_swapping_the_groups_turns_the_sign():
    embedding = vectors()
    swapped = rnd(embedding, PETS, targets=("dogs", "cats"))
    assert swapped.rnd == pytest.approx(-rnd(embedding, PETS).rnd)


def test_one_list_of_attributes():
    embedding = vectors()
    result = rnd(embedding, PETS, attributes="neutral")
    assert result.scores["word"].tolist() == ["stone", "door"]
    assert list(result.statistics) == ["rnd", "rnd_sum"]


def test_lost_words():
    with pytest.warns(LostWordsWarning):
        result = rnd(vectors("tom"), PETS, max_lost=0.5)
    assert result.lost_words == {"cats": ("tom",)}


def test_bad_input():
    embedding = vectors()
    with pytest.raises(ArgumentError, match=r"'cosin'.*'cosine'"):
        rnd(embedding, PETS, distance="cosin")
    with pytest.raises(MeasureError, match=r"'dog'.*'dogs'"):
        rnd(embedding, PETS, targets=("cats", "dog"))
    with pytest.raises(MeasureError, match="targets="):
        rnd(embedding, PETS, targets=("cats", "cats"))
    with pytest.raises(MeasureError, match="targets="):
        rnd(embedding, PETS, targets=("cats",))
    with pytest.raises(MeasureError, match="protected groups"):
        rnd(embedding, bb.load_study("religion"))
    with pytest.raises(MeasureError, match="2 word lists"):
        rnd(embedding, {"a": ["cat"], "b": ["dog"]})
    with pytest.raises(MeasureError, match=" 2"):
        rnd(vectors("cat", "kitten"), PETS, max_lost=1)
    opposed = TINY | {"x2": [-1.0, 0.0]}
    with pytest.raises(MeasureError, match="direction"):
        rnd(opposed, LISTS, distance="cosine")
    same = bb.Study(name="s", protected={"p": ["a", "b"], "q": ["c", "d"]}, attributes={"p": ["e", "f"]},
                    associated=[("p", "p")], human="none", neutral="none")  # fmt: skip
    with pytest.raises(MeasureError, match="'p'"):
        rnd(embedding, same)


@pytest.mark.shared
def test_google_news_gender_of_family_and_career(shared):
    vectors = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    lists = {"male": ["he", "man", "boy", "father"], "female": ["she", "woman", "girl", "mother"],
             "family": ["home", "parents", "children", "family", "cousins", "marriage", "wedding"]}  # fmt: skip
    assert rnd(vectors, lists).rnd > 0  # nearer to female words
    assert rnd(vectors, lists, distance="cosine").rnd > 0


def test_ranks_of_many_draws_at_once_are_those_of_each():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 20, 3, 9)).round(1)
    correlations = rank_correlation(first, second)
    assert correlations.shape == (20, 3)
    assert correlations[7, 2] == rank_correlation(first[7, 2], second[7, 2])
    assert correlations[7, 2] == pytest.approx(spearmanr(first[7, 2], second[7, 2]).statistic)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("normalize", [True, False])
def test_ect_equals_scipy(seed, normalize):
    embedding = vectors(seed=seed)
    scaled = {word: v / np.sqrt(v @ v) if normalize else v for word, v in embedding.items()}
    means = [np.mean([scaled[word] for word in group], axis=0) for group in PETS.protected.values()]
    words = [word for group in PETS.attributes.values() for word in group]
    similarities = [[cosine(scaled[word], mean) for word in words] for mean in means]
    result = ect(embedding, PETS, normalize=normalize)
    assert result.ect == result.value == pytest.approx(spearmanr(*similarities).statistic)
    for group, expected in zip(PETS.protected, similarities, strict=True):
        np.testing.assert_allclose(result.scores.loc[result.scores["group"] == group, "score"], expected)
    assert result.scores["attribute_group"].tolist() == ["quiet"] * 4 + ["loud"] * 6


def test_ties_as_scipy():
    first, second = [1, 2, 2, 3, 3, 3], [2, 1, 2, 2, 5, 4]
    assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic)


def test_ect_by_hand():
    embedding = {"x": [1.0, 0.0], "u": [2.0, 0.0], "y": [0.0, 1.0], "v": [0.0, 2.0],
             "a": [3.0, 1.0], "b": [1.0, 1.0], "c": [1.0, 3.0]}  # fmt: skip
    lists = {"X": ["x", "u"], "Y": ["y", "v"], "A": ["a", "b", "c"]}
    assert ect(embedding, lists).ect == pytest.approx(-1)  # opposite orders
    assert ect(embedding | {"y": [1.0, 0.1], "v": [2.0, 0.2]}, lists).ect == pytest.approx(1)


def test_lost_words_of_ect():
    with pytest.warns(LostWordsWarning):
        assert ect(vectors("howl"), PETS, max_lost=0.5).lost_words == {"loud": ("howl",)}


def test_bad_input_of_ect():
    with pytest.raises(MeasureError, match="2 words"):
        ect(vectors(), PETS, attributes="quiet")
    lists = {"X": ["x", "u"], "Y": ["y", "v"], "A": ["a", "b", "c"]}
    flat = {"x": [1.0, 0, 0], "u": [2.0, 0, 0], "y": [0, 1.0, 0], "v": [0, 1.0, 0.5],
            "a": [0, 2.0, 0], "b": [0, 2.0, 1], "c": [0, 1.0, 3]}  # fmt: skip
    with pytest.raises(MeasureError, match="rank correlation"):
        ect(flat, lists)
    with pytest.raises(MeasureError, match="direction"):
        ect(flat | {"u": [-1.0, 0, 0]}, lists)


@pytest.mark.shared
def test_google_news_groups_alike(shared):
    vectors = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    with pytest.warns(LostWordsWarning):
        result = ect(vectors, "weat7", attributes=("male", "female", "human"))
    x, y = (part["score"] for _, part in result.scores.groupby("group", sort=False))
    assert result.ect == pytest.approx(spearmanr(x, y).statistic)
