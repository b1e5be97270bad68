"""GN-GloVe as a whole: what tells the sides apart moves to the last component, and other words lose it elsewhere."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.training.corpus import read_corpus
from bayesbias.embeddings.training.glove import glove, gn_glove, pairs_and_sides, penalties_of, start_numbers
from bayesbias.errors import EmbeddingError, LostWordsWarning
from tests.embeddings.training.texts import PAIRS, WORDS, sided_documents

GLOVE = {
    "dimensions": 6,
    "min_count": 1,
    "window": 5,
    "epochs": 40,
    "x_max": 10.0,
    "alpha": 0.75,
    "learning_rate": 0.05,
}
SIDES = [["king", "man"], ["queen", "woman"]]
SETTINGS = {**GLOVE, "pairs": PAIRS, "sides": SIDES, "apart_weight": 0.8, "neutral_weight": 0.8}
CORPUS = read_corpus(sided_documents(), min_count=1)


def vectors_of(trainer, settings, seed=1, threads=1):
    arrays = trainer(CORPUS, settings, threads)(seed, lambda words: None)
    return bb.Embedding(words=CORPUS.words, vectors=arrays["vectors"].astype(float))


def lean(embedding: bb.Embedding, word: str, components: slice) -> float:
    """Product of a word and the mean difference of the pairs, in some components."""
    differences = [embedding[one][components] - embedding[other][components] for one, other in PAIRS]
    return float(embedding[word][components] @ np.mean(differences, axis=0))


def test_what_tells_the_sides_apart_moves_to_the_last_component():
    plain, neutral = vectors_of(glove, GLOVE), vectors_of(gn_glove, SETTINGS)
    firsts, seconds = ([neutral[word][-1] for word in side] for side in SIDES)
    assert min(firsts) > 1.5  # W and C have 1 each
    assert max(seconds) < -1.5
    for one, other in PAIRS:
        differences = [embedding[one] - embedding[other] for embedding in (plain, neutral)]
        elsewhere = [np.linalg.norm(difference[:-1]) / np.linalg.norm(difference) for difference in differences]
        assert elsewhere[1] < 0.5 < elsewhere[0]


def test_the_lean_of_other_words_moves_there_too():
    """By each of three seeds: "sun" stands with kings and "rain" with queens, and GloVe knows it."""
    for seed in (1, 2, 3):
        plain, neutral = vectors_of(glove, GLOVE, seed), vectors_of(gn_glove, SETTINGS, seed)
        assert lean(plain, "sun", slice(None)) - lean(plain, "rain", slice(None)) > 0.3
        assert abs(lean(neutral, "sun", slice(-1)) - lean(neutral, "rain", slice(-1))) < 0.05
        assert neutral["sun"][-1] > 1 > -1 > neutral["rain"][-1]


def test_the_debiasing_method_takes_what_was_trained():
    trained = vectors_of(gn_glove, SETTINGS)
    debiased = bb.debias.GNGloVe().fit(trained, PAIRS).transform(trained)
    np.testing.assert_array_equal(debiased.vectors, trained.vectors[:, :-1])


def test_without_weights_it_is_glove():
    """The penalties' sums are in other orders, so the numbers agree to rounding."""
    plain = vectors_of(glove, {**GLOVE, "epochs": 3})
    same = vectors_of(gn_glove, {**SETTINGS, "epochs": 3, "apart_weight": 0.0, "neutral_weight": 0.0})
    np.testing.assert_allclose(plain.vectors, same.vectors, atol=1e-4)


def test_any_number_of_threads_gives_the_same_bits():
    one, three = (vectors_of(gn_glove, {**SETTINGS, "epochs": 3}, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.vectors, three.vectors)


def test_the_direction_is_the_mean_difference_of_the_sums():
    words, contexts = start_numbers(len(WORDS), 6, np.random.default_rng(1))
    rows, sides = pairs_and_sides(WORDS, PAIRS, SIDES)
    assert dict(zip(WORDS, sides.tolist(), strict=True)) == {**dict.fromkeys(WORDS, 0), "king": 1, "man": 1} | {
        "queen": -1,
        "woman": -1,
    }
    found = penalties_of(words, contexts, rows, sides, SETTINGS)
    expected = np.zeros(words.shape[2])
    for one, other in ((0, 1), (2, 3)):
        for k in range(5):
            expected[k] += (words[one, 0, k] + contexts[one, 0, k] - words[other, 0, k] - contexts[other, 0, k]) / 2
    np.testing.assert_allclose(found.direction, expected, atol=1e-7)
    assert found.last.tolist() == [float(k == 5) for k in range(words.shape[2])]


def test_lost_words_are_named_and_pairs_are_needed():
    with pytest.warns(LostWordsWarning, match=r"duke.*aunt"):
        rows, _ = pairs_and_sides(WORDS, [["KING", "queen"], ["duke", "woman"]], [["king"], ["queen", "aunt"]])
    assert rows.tolist() == [[0, 1]]  # also in lower case
    with pytest.raises(EmbeddingError, match=r"1 pairs.*duke-woman"):
        pairs_and_sides(WORDS, [["duke", "woman"]], SIDES)
    with pytest.raises(EmbeddingError, match="2 dimensions"):
        gn_glove(CORPUS, {**SETTINGS, "dimensions": 1}, 1)
