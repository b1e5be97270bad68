"""Direct bias of a vocabulary against the measure of lists, MIDB against plain loops and principal components."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError

SEED1 = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
RANDOM = np.random.default_rng(4)
FEMALE, MALE = [f"amy{n}" for n in range(6)], [f"bob{n}" for n in range(5)]
WORDS = [*FEMALE, *MALE, "nurse", "clerk", "cook", "she", "he"]
VECTORS = dict(zip(WORDS, RANDOM.normal(size=(len(WORDS), 7)), strict=True))


def test_direct_bias_of_a_vocabulary_is_that_of_a_list() -> None:
    words = ["nurse", "doctor", "art", "math"]
    expected = bb.metrics.direct_bias(SEED1, words, pairs=[("she", "he")], c=0.5)
    score = bb.metrics.vocabulary_direct_bias(SEED1, words, c=0.5, random_seed=1)
    assert score.value == pytest.approx(expected.direct_bias, abs=1e-12)
    cosines = score.estimates.set_index("quantity").loc["mean_cosine", "value"]
    assert cosines == pytest.approx(expected.mean_cosine, abs=1e-12)


def test_a_direction_can_be_given_and_words_of_the_pair_are_left_out() -> None:
    source = bb.load_embedding(SEED1)
    direction = bb.metrics.gender_direction(source, [("she", "he")])
    own = bb.metrics.vocabulary_direct_bias(source, random_seed=1)
    given = bb.metrics.vocabulary_direct_bias(source, own.items["item"], direction=direction, random_seed=1)
    assert given.value == pytest.approx(own.value, abs=1e-12)
    assert not {"she", "he"} & set(own.items["item"])


@pytest.mark.parametrize("centred", [False, True])
def test_midb_is_that_of_plain_loops(centred: bool) -> None:
    differences = np.array([VECTORS[f] - VECTORS[m] for f in FEMALE for m in MALE])
    if centred:
        found = PCA(3).fit(differences)
        directions, weights = found.components_, found.explained_variance_ratio_
    else:
        _, sizes, directions = np.linalg.svd(differences)
        directions, weights = directions[:3], sizes[:3] ** 2 / (sizes**2).sum()
    mean = differences.mean(axis=0)
    for row in range(3):
        towards = directions[row][np.abs(directions[row]).argmax()] if centred else directions[row] @ mean
        directions[row] *= np.sign(towards)
    words = ["nurse", "clerk", "cook"]
    expected = [
        sum(a * sum(g[i] * VECTORS[word][i] for i in range(7)) for a, g in zip(weights, directions, strict=True))
        for word in words
    ]
    score = bb.metrics.midb(VECTORS, (FEMALE, MALE), words, components=3, centred=centred, random_seed=1)
    np.testing.assert_allclose(score.items["bias"], expected, atol=1e-10)
    assert score.value == pytest.approx(np.mean(expected), abs=1e-10)


def test_midb_of_units_does_not_heed_lengths() -> None:
    longer = {word: vector * (1 + len(word)) for word, vector in VECTORS.items()}
    first, second = (
        bb.metrics.midb(each, (FEMALE, MALE), ["nurse", "clerk", "cook"], normalize=True, random_seed=1)
        for each in (VECTORS, longer)
    )
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_lost_words_and_names_are_warned_of() -> None:
    with pytest.warns(LostWordsWarning) as warned:
        score = bb.metrics.midb(
            VECTORS, ([*FEMALE, "Zoe"], MALE), ["nurse", "clerk", "tailor"], components=2, random_seed=1
        )
    assert [str(each.message).split(":")[0] for each in warned] == [
        "The embedding 'embedding' lacks 1 names",
        "The embedding 'embedding' lacks 1 of the words",
    ]
    assert score.lost == {"words": ("tailor",)}
    assert score.coverage == pytest.approx(2 / 3)


def test_bad_input_says_what_to_give() -> None:
    with pytest.raises(MeasureError, match="span 3 dimensions, but components=4"):
        bb.metrics.midb(VECTORS, (FEMALE[:2], MALE[:2]), ["nurse", "clerk"])
    with pytest.raises(MeasureError, match="'amy0' is in both lists"):
        bb.metrics.midb(VECTORS, (FEMALE, [*MALE, "amy0"]))
    with pytest.raises(MeasureError, match="no name of one of the lists: it lacks Zoe"):
        bb.metrics.midb(VECTORS, (["Zoe"], MALE))
    with pytest.raises(MeasureError, match="1 of the words are left"):
        bb.metrics.vocabulary_direct_bias(VECTORS, ["nurse", "she", "he"])
    with pytest.raises(MeasureError, match="lacks hers"):
        bb.metrics.vocabulary_direct_bias(VECTORS, pair=("hers", "he"))
    with pytest.raises(MeasureError, match="c=0"):
        bb.metrics.vocabulary_direct_bias(VECTORS, c=0)


@pytest.mark.shared
def test_google_news_has_the_direct_bias_that_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: 0.052 for word2vec over 46,960 words, here over the 13,601 that are of letters."""
    path = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    assert bb.metrics.vocabulary_direct_bias(path, random_seed=1).value == pytest.approx(0.052, abs=0.006)
