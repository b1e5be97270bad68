import sys

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression

from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.metrics.associations.rnsb import divergence_from_uniform, rnsb
from tests.metrics.made import PETS, vectors

TARGETS = [word for group in PETS.protected.values() for word in group]


def examples(embedding):
    rows = [embedding[word] for group in PETS.attributes.values() for word in group]
    return np.array(rows), np.array([0, 0, 1, 1, 1])


def test_equals_scikit_learn():
    embedding = vectors(seed=3)
    model = LogisticRegression(solver="liblinear", max_iter=10_000, random_state=9).fit(*examples(embedding))
    probability = model.predict_proba([embedding[word] for word in TARGETS])[:, 1]
    result = rnsb(embedding, PETS, splits=0)
    assert result.scores["word"].tolist() == TARGETS
    np.testing.assert_allclose(result.scores["score"], probability)
    assert result.rnsb == result.value == pytest.approx(entropy(probability / probability.sum(), np.full(6, 1 / 6)))


def test_equals_the_penalised_likelihood():
    """Against SciPy's optimizer on log(1 + exp(-y f)) + |weights and intercept|^2 / 2."""
    embedding = vectors(seed=4)
    rows, label = examples(embedding)
    rows = np.column_stack([rows, np.ones(len(rows))])
    sign = 2 * label - 1
    best = minimize(lambda w: np.logaddexp(0, -sign * (rows @ w)).sum() + w @ w / 2, np.zeros(rows.shape[1]), tol=1e-10)
    targets = np.column_stack([[embedding[word] for word in TARGETS], np.ones(6)])
    expected = 1 / (1 + np.exp(-targets @ best.x))
    np.testing.assert_allclose(rnsb(embedding, PETS, splits=0).scores["score"], expected, rtol=0.01)


def test_divergence_equals_scipy():
    rng = np.random.default_rng(1)
    for size in (2, 5, 30):
        values = rng.uniform(size=size)
        assert divergence_from_uniform(values) == pytest.approx(entropy(values / values.sum(), np.full(size, 1 / size)))
    assert divergence_from_uniform([0.4, 0.4, 0.4, 0.4]) == pytest.approx(0)
    assert divergence_from_uniform([1, 0, 0, 0]) == pytest.approx(np.log(4))


def test_splits_repeat_with_their_seed_and_leave_numpy_alone():
    embedding = vectors(seed=5)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one = rnsb(embedding, PETS, splits=20, random_seed=1)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert one.statistics == rnsb(embedding, PETS, splits=20, random_seed=1).statistics
    other = rnsb(embedding, PETS, splits=20, random_seed=2)
    assert other.rnsb == one.rnsb
    assert other.split_mean != one.split_mean
    assert one.split_mcse == pytest.approx(one.split_sd / np.sqrt(20))
    assert "seed 1" in one.conventions


def test_accuracy_tells_a_classifier_that_learnt_from_one_that_did_not():
    rng = np.random.default_rng(6)
    words = {f"{kind}{i}": rng.normal(size=3) + shift for kind, shift in (("p", 4), ("n", -4)) for i in range(20)}
    words |= {f"t{i}": rng.normal(size=3) for i in range(4)}
    lists = {"T": [f"t{i}" for i in range(4)], "P": [f"p{i}" for i in range(20)], "N": [f"n{i}" for i in range(20)]}
    assert rnsb(words, lists, splits=20, random_seed=1).accuracy == 1
    noise = {word: rng.normal(size=3) for word in words}
    assert abs(rnsb(noise, lists, splits=50, random_seed=1).accuracy - 0.5) < 0.2


def test_the_negative_words_are_the_second_list():
    words = {"good": [3.0, 0], "fine": [2.0, 0.1], "bad": [-3.0, 0], "ill": [-2.0, 0.1], "t": [-2.0, 0], "u": [2.0, 0]}
    lists = {"T": ["t", "u"], "P": ["good", "fine"], "N": ["bad", "ill"]}
    probability = rnsb(words, lists, splits=0).scores.set_index("word")["score"]
    assert probability["t"] > 0.5 > probability["u"]


def test_lost_words():
    with pytest.warns(LostWordsWarning):
        assert rnsb(vectors("tom"), PETS, splits=0, max_lost=0.5).lost_words == {"cats": ("tom",)}


def test_bad_input(monkeypatch):
    embedding = vectors()
    for splits in (1, -1, 2.5, True):
        with pytest.raises((MeasureError, ArgumentError), match="splits="):
            rnsb(embedding, PETS, splits=splits)
    with pytest.raises(MeasureError, match="attributes="):
        rnsb(embedding, PETS, attributes=("quiet",))
    with pytest.raises(MeasureError, match="2 word lists"):
        rnsb(embedding, {"a": ["cat"], "b": ["dog"]})
    with pytest.warns(LostWordsWarning), pytest.raises(MeasureError, match="has 1 of the words"):
        rnsb(vectors("nap"), PETS, max_lost=0.5)
    with pytest.raises(MeasureError, match="1 target word"):
        rnsb(embedding, {"t": ["cat"], "p": ["purr", "nap"], "n": ["bark", "howl"]})
    with pytest.raises(MeasureError, match="distribution"):
        divergence_from_uniform([0.0, 0.0])
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(MeasureError, match=r"'bayesbias\[classifiers\]'"):
        rnsb(embedding, PETS)


def test_more_splits_than_fit_are_refused():
    with pytest.raises(ArgumentError, match="splits=1000000000000"):
        rnsb({}, PETS, splits=10**12)


@pytest.mark.shared
def test_google_news_flowers_and_insects(shared):
    vectors = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    result = rnsb(vectors, "weat1", random_seed=1)
    means = result.scores.groupby("group")["score"].mean()
    assert means["insects"] > means["flowers"]
    assert result.accuracy > 0.8
    assert abs(result.split_mean - result.rnsb) < 0.2
