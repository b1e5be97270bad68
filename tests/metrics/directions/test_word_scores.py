import json

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, DuplicatesWarning, LostWordsWarning, MeasureError
from bayesbias.metrics.directions.word_scores import load_base_pairs, nbm, word_scores
from tests.metrics.made import PETS, cosine

RULES = ("db_wa", "ripa", "ripa_unit", "nbm")


def made(count=40, seed=0):
    """Return random vectors of words w0, w1, ..., of many lengths."""
    rng = np.random.default_rng(seed)
    return {f"w{i}": rng.normal(size=6) * rng.uniform(0.2, 5) for i in range(count)}


def by_rule(*arguments, k=None):
    """Return the scores by every rule, of shape (rules, words, pairs); `k` is for "nbm"."""
    frames = [word_scores(*arguments, rule=rule, k=k if rule == "nbm" else None).scores for rule in RULES]
    return np.stack([frame["score"].to_numpy().reshape(-1, frame["base_pair"].nunique()) for frame in frames])


def plain_scores(vectors, target, pair, k):
    """Work the three equations of the paper out, one word at a time."""
    w, m, f = (vectors[word] for word in (target, *pair))

    def db_wa(v):
        return cosine(v, m) - cosine(v, f)

    direction = (m - f) / np.sqrt(((m - f) ** 2).sum())
    others = sorted((word for word in vectors if word != target), key=lambda word: -cosine(vectors[word], w))
    near = [db_wa(vectors[word]) for word in others[:k]]
    nbm = (sum(score > 0 for score in near) - sum(score < 0 for score in near)) / k
    return [db_wa(w), w @ direction, (w / np.sqrt(w @ w)) @ direction, nbm]


def test_equals_the_equations():
    vectors = made()
    pairs, targets = [("w0", "w1"), ("w2", "w3"), ("w1", "w5")], ["w10", "w11", "w12", "w0"]
    scores = by_rule(vectors, targets, pairs, k=9)
    for p, pair in enumerate(pairs):
        for t, target in enumerate(targets):
            np.testing.assert_allclose(scores[:, t, p], plain_scores(vectors, target, pair, 9), atol=1e-12)


def test_rows_are_words_by_base_pairs():
    vectors = made()
    result = word_scores(vectors, ["w10", "w11"], [("w0", "w1"), ("w2", "w3")], rule="ripa")
    rows = result.scores.drop(columns="score").to_numpy().tolist()
    assert rows == [[word, "", "", pair] for word in ("w10", "w11") for pair in ("w0 ~ w1", "w2 ~ w3")]
    assert result.measure == "ripa"
    assert result.value == result.mean == pytest.approx(result.scores["score"].mean())
    assert result.mean_absolute == pytest.approx(result.scores["score"].abs().mean())


def test_by_hand():
    vectors = {"m": [2.0, 0.0], "f": [0.0, 1.0], "w": [3.0, 4.0], "a": [1.0, 0.9], "b": [0.8, 1.0], "c": [0.1, 1.0]}
    # cos(w, m) = 0.6, cos(w, f) = 0.8; (m - f) = (2, -1); nearest to w: b, a, c and f, of which a leans to m.
    expected = [-0.2, 2 / np.sqrt(5), 0.4 / np.sqrt(5), (1 - 3) / 4]
    np.testing.assert_allclose(by_rule(vectors, ["w"], [("m", "f")], k=4).ravel(), expected)


def test_the_sign_is_that_of_the_first_word():
    vectors = made()
    forward = by_rule(vectors, ["w9", "w8"], [("w0", "w1")], k=5)
    backward = by_rule(vectors, ["w9", "w8"], [("w1", "w0")], k=5)
    np.testing.assert_allclose(forward, -backward, atol=1e-12)
    assert "first word of the pair" in word_scores(vectors, ["w9"], [("w0", "w1")]).conventions


def test_a_neighbour_on_neither_side_counts_for_neither():
    vectors = {"m": [1.0, 0, 0], "f": [0, 1.0, 0], "w": [0, 0, 1.0], "even": [1.0, 1.0, 9.0], "lean": [1.0, 0.5, 9.0]}
    assert word_scores(vectors, ["w"], [("m", "f")], rule="nbm", k=2).scores["score"].tolist() == [0.5]


def test_lengths_matter_to_ripa_alone():
    vectors = made()
    twice = {word: vector * (2 if word == "w9" else 1) for word, vector in vectors.items()}
    one, two = (by_rule(given, ["w9"], [("w0", "w1")], k=5).ravel() for given in (vectors, twice))
    np.testing.assert_allclose(two, one * [1, 2, 1, 1], atol=1e-12)


def test_a_vocabulary_bounds_the_neighbours():
    vectors = made()
    vocabulary = [f"w{i}" for i in range(0, 40, 2)]
    result = word_scores(vectors, ["w9", "w10"], [("w0", "w1")], rule="nbm", k=6, vocabulary=vocabulary)
    scores = result.scores.set_index("word")["score"]
    for target in ("w9", "w10"):
        held = {word: vectors[word] for word in {*vocabulary, "w0", "w1", target}}
        known_vectors = {word: held[word] for word in vocabulary} | {target: held[target]}
        near = sorted(
            (word for word in known_vectors if word != target),
            key=lambda word: -cosine(known_vectors[word], known_vectors[target]),
        )
        sides = [np.sign(cosine(vectors[w], vectors["w0"]) - cosine(vectors[w], vectors["w1"])) for w in near[:6]]
        assert scores[target] == pytest.approx(sum(sides) / 6)
    assert "the 6 nearest neighbours by cosine among 20 words" in result.conventions


def test_groups_of_a_study_and_of_lists():
    rng = np.random.default_rng(3)
    vectors = {word: rng.normal(size=4) for word in (*PETS.words, "he", "she")}
    result = word_scores(vectors, PETS, [("he", "she")])
    labels = result.scores.set_index("word")[["group", "attribute_group"]]
    assert labels.loc["nap"].tolist() == ["", "quiet"]
    assert labels.loc["tom"].tolist() == ["cats", ""]
    assert "stone" not in labels.index
    assert result.study == "pets"
    by_name = word_scores(vectors, {"work": ["nap", "purr"], "cats": ["cat"]}, [("he", "she")]).scores
    assert by_name["attribute_group"].tolist() == ["work", "work", "cats"]


def test_lost_words_are_named_not_scored():
    vectors, vocabulary = made(), ["w5", "w6", "w7", "w8", "far"]
    pairs = [("w0", "w1"), ("w0", "away")]
    with pytest.warns(LostWordsWarning) as warned:
        result = word_scores(vectors, ["w9", "gone"], pairs, rule="nbm", k=3, vocabulary=vocabulary, max_lost=0.5)
    for word in ("gone", "away", "far"):
        assert any(word in str(warning.message) for warning in warned)
    assert result.scores["word"].tolist() == ["w9"]
    lost = {"target words": ("gone",), "base pairs": ("w0 ~ away",), "vocabulary": ("far",)}
    assert result.lost_words == lost


def test_case_forms_of_one_word_are_one_target():
    embedding = bb.Embedding(words=("he", "she", "nurse", "pilot"), vectors=np.eye(4), case="lower")
    with pytest.warns(DuplicatesWarning):
        scores = word_scores(embedding, ["Nurse", "nurse"], [("He", "She")], rule="nbm", k=3).scores
    # The word itself is left out in whatever form it is asked for: he and she are neighbours, of one side each.
    assert scores["score"].tolist() == [0]


def test_bad_input():
    vectors = made()
    vectors["same"], vectors["longer"] = vectors["w0"], vectors["w0"] * 3
    for pair in (("w0", "same"), ("w0", "longer"), ("w0", "w0")):
        with pytest.raises(MeasureError, match="direction"):
            word_scores(vectors, ["w9"], [pair])
    with pytest.raises(MeasureError, match=" 41 words"):
        word_scores(vectors, ["w9"], [("w0", "w1")], rule="nbm", k=42)
    with pytest.raises(ArgumentError, match=r"'rippa'.*'ripa'"):
        word_scores(vectors, ["w9"], [("w0", "w1")], rule="rippa")
    with pytest.raises(MeasureError, match="twice"):
        word_scores(vectors, ["w9"], [("w0", "w1"), ("w0", "w1")])
    with pytest.raises(MeasureError, match="pair"):
        word_scores(vectors, ["w9"], ["he"])
    with pytest.raises(MeasureError, match=r" 0 pairs|pairs = "):
        word_scores(vectors, ["w9"], [])
    with pytest.raises(MeasureError, match="lacks "):
        word_scores(vectors, ["w9"], [("x", "y")])
    with pytest.raises(MeasureError, match=r"'gendre'.*'gender'"):
        word_scores(vectors, ["w9"], "gendre")
    with pytest.raises(MeasureError, match="0 target words"):
        word_scores(vectors, [], [("w0", "w1")])
    with pytest.raises(MeasureError, match="vocabulary"):
        word_scores(vectors, ["w9"], [("w0", "w1")], rule="nbm", vocabulary=[])
    with pytest.raises(MeasureError, match="vocabulary is 'w5'"):
        word_scores(vectors, ["w9"], [("w0", "w1")], rule="nbm", vocabulary="w5")
    for options in ({"k": 100}, {"vocabulary": ["w5"]}):
        with pytest.raises(MeasureError, match=r"'ripa'.*'nbm'"):
            word_scores(vectors, ["w9"], [("w0", "w1")], rule="ripa", **options)


@pytest.mark.shared
def test_bundled_pairs_hold_those_of_the_published_code(shared):
    published = json.loads((shared / "data" / "wordlists" / "nlpsoc_gender_base_pairs.json").read_text())
    assert {(m, f) for f, m in published} <= set(load_base_pairs())
    assert len(set(load_base_pairs())) == 23


@pytest.mark.shared
def test_google_news(shared):
    """Against a brute-force pass over the whole selection; signs that any reader would expect."""
    vectors = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    targets = ["nurse", "engineer", "king", "queen", "algebra"]
    pairs = [("he", "she"), ("man", "woman")]
    scores = by_rule(vectors, targets, pairs)
    unit = vectors.vectors.astype(float) / np.linalg.norm(vectors.vectors.astype(float), axis=1, keepdims=True)
    row = {word: i for i, word in enumerate(vectors.words)}
    for p, (m, f) in enumerate(pairs):
        leaning = unit @ unit[row[m]] - unit @ unit[row[f]]
        for t, target in enumerate(targets):
            similarity = unit @ unit[row[target]]
            similarity[row[target]] = -9
            near = np.argsort(-similarity)[:100]
            assert scores[RULES.index("nbm"), t, p] == pytest.approx(np.sign(leaning[near]).mean())
    mean = scores.mean(axis=2)
    assert (mean[:, targets.index("king")] > mean[:, targets.index("queen")]).all()
    assert (mean[:, targets.index("nurse")] < 0).all()


def test_after_hard_debiasing_no_neighbour_leans_in_float32() -> None:
    """All neighbours are orthogonal to the direction but for rounding, so that none counts on either side."""
    rng = np.random.default_rng(4)
    he, she = rng.normal(size=(2, 1, 50)).astype(np.float32)
    he, she = he / np.linalg.norm(he), she / np.linalg.norm(she)
    axis = ((he - she) / np.linalg.norm(he - she))[0]
    words = rng.normal(size=(60, 50)).astype(np.float32)
    words -= np.outer(words @ axis, axis)
    assert np.abs(words @ (he - she)[0]).max() > 1e-9
    assert (nbm(words[:5], he, she, vocabulary=words, k=20) == 0).all()
