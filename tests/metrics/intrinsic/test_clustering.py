"""Clusters: scikit-learn's own v-measure and accuracy, and the paper's word2vec."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.intrinsic.clustering import most_biased_words

RANDOM = np.random.default_rng(6)
WORDS = ("she", "he", *(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300)))
VECTORS = RANDOM.normal(size=(302, 8))
VECTORS[:, 0] *= 2
VECTORS[0], VECTORS[1] = np.eye(8)[0], -np.eye(8)[0]
ORIGINAL = bb.Embedding(WORDS, VECTORS, name="original")
DEBIASED = bb.Embedding(WORDS, np.c_[np.full(302, 0.1), VECTORS[:, 1:]], name="debiased")


@pytest.mark.parametrize("embedding", [ORIGINAL, DEBIASED], ids=lambda source: source.name)
def test_the_numbers_are_scikit_learns(embedding: bb.Embedding) -> None:
    score = bb.metrics.clustering(embedding, reference=ORIGINAL, words_in_all=150, random_seed=4)
    sides = most_biased_words(ORIGINAL, WORDS, ("she", "he"), 150)
    units = embedding.matrix([*sides[0], *sides[1]])
    units = units / np.linalg.norm(units, axis=1, keepdims=True)
    clusters = KMeans(2, n_init=10, random_state=4).fit_predict(units)
    side = np.repeat([0, 1], 75)
    assert score.value == pytest.approx(v_measure_score(side, clusters), abs=1e-12)
    accuracy = max((clusters == side).mean(), (clusters != side).mean())
    assert score.estimates.set_index("quantity").loc["accuracy", "value"] == accuracy
    low, high = score.interval
    assert low < score.value + 0.02
    assert score.value < high + 0.02


def test_debiasing_takes_the_clusters_apart() -> None:
    scores = [
        bb.metrics.clustering(source, reference=ORIGINAL, words_in_all=150, random_seed=4)
        for source in (ORIGINAL, DEBIASED)
    ]
    change = bb.metrics.paired_change(*scores, random_seed=1)
    assert (change["hdi_high"] < -0.2).all()


def test_lost_words_are_named_and_few_are_an_error() -> None:
    first, second = most_biased_words(ORIGINAL, WORDS, ("she", "he"), 100)
    fewer = bb.Embedding(WORDS, VECTORS).matrix([word for word in WORDS if word not in first[:3]])
    source = ([word for word in WORDS if word not in first[:3]], fewer)
    with pytest.warns(LostWordsWarning, match=f"lacks 3 .*: {', '.join(first[:3])}"):
        score = bb.metrics.clustering(source, reference=ORIGINAL, words_in_all=100, random_seed=4)
    assert score.lost_words == {"words": first[:3]}
    assert len(score.scores) == 97
    with pytest.raises(MeasureError, match="0 and 1 of the words"):
        bb.metrics.clustering({second[0]: [1.0, 2.0]}, reference=ORIGINAL, words_in_all=100, random_seed=4)


@pytest.mark.shared
def test_google_news_clusters_as_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: a v-measure of 0.933 for word2vec, here on its 12,810 words in lower case."""
    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    specific = json.loads((shared / "data" / "wordlists" / "bolukbasi_gender_specific_full.json").read_text())
    words = [word for word in bb.metrics.neutral_words(embedding, specific) if word.islower()]
    score = bb.metrics.clustering(embedding, words, words_in_all=1500, random_seed=1)
    assert score.value == pytest.approx(0.933, abs=0.01)
