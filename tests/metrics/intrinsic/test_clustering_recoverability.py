"""Recoverability: scikit-learn's own accuracy, what is there and what is not."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.metrics.intrinsic.clustering import most_biased_words

RANDOM = np.random.default_rng(3)
WORDS = ("she", "he", *(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)))
VECTORS = RANDOM.normal(size=(402, 20))
VECTORS[0], VECTORS[1] = np.eye(20)[0] * 3, -np.eye(20)[0] * 3
ORIGINAL = bb.Embedding(WORDS, VECTORS, name="original")
# Without its first dimension, which is the axis, random vectors say nothing of the side.
DEBIASED = bb.Embedding(WORDS, np.c_[np.full(402, 0.1), VECTORS[:, 1:]], name="debiased")
QUICK = {"words_in_all": 200, "classifiers": ["logistic_regression"], "random_seed": 2, "progress": False}


def test_a_bias_that_is_there_is_recovered_and_one_that_is_not_is_at_chance() -> None:
    before = bb.metrics.recoverability(ORIGINAL, **QUICK)
    after = bb.metrics.recoverability(DEBIASED, reference=ORIGINAL, **QUICK)
    assert before.value > 0.9
    low, high = after.interval
    assert low < 0.5 < high
    (change,) = bb.metrics.paired_change(before, after, random_seed=1).to_dict("records")
    assert change["hdi_high"] < 0
    assert change["change"] == pytest.approx(after.value - before.value)


def test_the_accuracy_of_a_split_is_scikit_learns() -> None:
    """The split is made again, and the classifier's own `score` taken."""
    from sklearn.linear_model import LogisticRegression

    score = bb.metrics.recoverability(ORIGINAL, splits=2, train=0.3, **QUICK)
    sides = most_biased_words(ORIGINAL, WORDS[2:], ("she", "he"), 200)
    units = [ORIGINAL.matrix(side) for side in sides]
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in units]
    random = np.random.default_rng(np.random.SeedSequence([2, 1]))
    orders = [random.permutation(100) for _ in units]
    train = np.concatenate([rows[order[:30]] for rows, order in zip(units, orders, strict=True)])
    test = np.concatenate([rows[order[30:]] for rows, order in zip(units, orders, strict=True)])
    model = LogisticRegression(max_iter=1000).fit(train, [0] * 30 + [1] * 30)
    assert score.scores["logistic_regression"].iloc[1] == model.score(test, [0] * 70 + [1] * 70)


@pytest.mark.parametrize("name", bb.metrics.CLASSIFIERS)
def test_every_classifier_repeats_itself_with_the_same_seed(name: str) -> None:
    settings = QUICK | {"classifiers": [name], "splits": 2}
    first, second = (bb.metrics.recoverability(ORIGINAL, **settings) for _ in range(2))
    assert first.estimates.equals(second.estimates)
    assert first.value > 0.8


def test_splits_of_other_seeds_are_not_compared() -> None:
    first = bb.metrics.recoverability(ORIGINAL, splits=2, **QUICK)
    second = bb.metrics.recoverability(ORIGINAL, splits=2, **(QUICK | {"random_seed": 3}))
    with pytest.raises(MeasureError, match="random_seed"):
        bb.metrics.paired_change(first, second)


def test_bad_input_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeasureError, match="lacks she"):
        bb.metrics.recoverability({"cat": [1.0, 2.0], "dog": [2.0, 1.0], "cow": [3.0, 1.0], "hen": [1.0, 1.0]},
                                  words_in_all=4)  # fmt: skip
    with pytest.raises(MeasureError, match="'original'"):
        bb.metrics.recoverability((WORDS[:300], VECTORS[:300]), reference=ORIGINAL, **QUICK)
    with pytest.raises(ArgumentError, match=r"rbf_svn.*'rbf_svm'"):
        bb.metrics.recoverability(ORIGINAL, classifiers=["rbf_svn"])
    monkeypatch.setitem(__import__("sys").modules, "sklearn.linear_model", None)
    with pytest.raises(MeasureError, match="scikit-learn"):
        bb.metrics.recoverability(ORIGINAL, **QUICK)


@pytest.mark.shared
@pytest.mark.slow
def test_google_news_is_recovered_as_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: 0.992 for word2vec by logistic regression, here on 13,784 of its words."""
    score = bb.metrics.recoverability(
        shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz",
        classifiers=["logistic_regression"], splits=3, random_seed=1, progress=False,
    )  # fmt: skip
    assert score.value == pytest.approx(0.992, abs=0.008)
