"""Direct bias of a vocabulary against the measure of lists, MIDB against plain loops and principal components."""

from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.embedding_scores.drawn_directions import posterior_along
from bayesbias.metrics.intrinsic.drawn_names import drawn_weighted_directions

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


PAIRS = list(zip(FEMALE[:4], MALE[:4], strict=True))
CHANGED = {word: vector * np.array([0.2, *6 * [1.0]]) for word, vector in VECTORS.items()}


def units(vectors: dict[str, np.ndarray], words: list[str]) -> np.ndarray:
    return np.array([vectors[word] / np.linalg.norm(vectors[word]) for word in words])


def draws_of(score: bb.metrics.EmbeddingScore, at: int, after: bb.metrics.EmbeddingScore | None = None) -> np.ndarray:
    """Return the draws of one of a score's quantities, of which its interval is, or of its change."""
    assert score.along is not None
    change = None if after is None else after.along
    draws = posterior_along(score.quantities[at], score.along, change, np.random.default_rng(score.random_seed))
    row = (
        score.estimates if after is None else bb.metrics.paired_change(score, after, random_seed=score.random_seed)
    ).iloc[at]
    assert row[["hdi_low", "hdi_high"]].tolist() == pytest.approx(list(az.hdi(draws, prob=0.89)), abs=0.02)
    return draws


def alike(draws: np.ndarray, others: np.ndarray) -> bool:
    """Whether draws have one distribution; of 1,000 draws of names, since those of 2,000 are each there twice."""
    return bool(ks_2samp(draws[:1000], others).pvalue > 1e-4)


def test_direct_bias_carries_the_spread_of_its_direction_and_its_words_jointly() -> None:
    """Against the plain product of all words with all draws of `direction_posterior`, and weights of another seed."""
    score = bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, c=0.7, random_seed=1)
    draws = bb.metrics.direction_posterior(VECTORS, PAIRS, random_seed=1).draws
    words = ["nurse", "clerk", "cook", "she", "he"]  # of letters alone
    weights = np.random.default_rng(5).dirichlet(np.ones(len(words)), size=len(draws))
    assert score.items["item"].tolist() == words
    cosines = units(VECTORS, words) @ draws.T
    for at, values in enumerate((np.abs(cosines) ** 0.7, cosines)):
        assert alike(draws_of(score, at), np.einsum("ji,ij->j", weights, values))
    assert not alike(draws_of(score, 0), np.einsum("ji,i->j", weights, np.abs(cosines[:, 0]) ** 0.7))
    given = bb.metrics.vocabulary_direct_bias(
        VECTORS, words, direction=bb.metrics.direction_posterior(VECTORS, PAIRS, random_seed=1), c=0.7, random_seed=1
    )
    pd.testing.assert_frame_equal(given.estimates, score.estimates)


def test_a_change_along_drawn_directions_is_of_the_same_draws() -> None:
    before = bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, random_seed=1)
    after = bb.metrics.vocabulary_direct_bias(CHANGED, pairs=PAIRS, reference=VECTORS, random_seed=1)
    with pytest.raises(MeasureError, match="made in different ways"):
        bb.metrics.paired_change(before, after)
    before = bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, reference=VECTORS, random_seed=1)
    draws = bb.metrics.direction_posterior(VECTORS, PAIRS, random_seed=1).draws
    words = before.items["item"].tolist()
    weights = np.random.default_rng(5).dirichlet(np.ones(len(words)), size=len(draws))
    first, second = (np.abs(units(vectors, words) @ draws.T) for vectors in (VECTORS, CHANGED))
    assert alike(draws_of(before, 0, after), np.einsum("ji,ij->j", weights, second - first))
    same = bb.metrics.paired_change(before, before, random_seed=2)
    assert (same[["hdi_low", "hdi_high"]] == 0).all(axis=None)
    other = bb.metrics.vocabulary_direct_bias(CHANGED, pairs=PAIRS, reference=VECTORS, random_seed=2)
    with pytest.raises(MeasureError, match="in 2000 draws of seed 2"):
        bb.metrics.paired_change(before, other, random_seed=1)


def of_repeated_names(vectors: dict[str, np.ndarray], counts: np.ndarray) -> np.ndarray:
    """Return sum_i a_i g_i of names that stand as often as they are counted, by a plain decomposition."""
    female, male = np.repeat(FEMALE, counts[:6]), np.repeat(MALE, counts[6:])
    differences = np.array([vectors[f] - vectors[m] for f in female for m in male])
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    sides = np.sign(directions @ differences.mean(axis=0))
    return np.asarray((sides * sizes**2 / (sizes**2).sum())[:3] @ directions[:3])


@pytest.mark.parametrize("centred", [False, True])
def test_weights_of_names_are_names_repeated(centred: bool) -> None:
    counts = np.random.default_rng(1).integers(1, 4, size=(5, 11))
    female, male = (np.array([VECTORS[name] for name in names]) for names in (FEMALE, MALE))
    weights = counts[:, :6].astype(float), counts[:, 6:].astype(float)
    found = drawn_weighted_directions(female, male, weights, 3, centred=centred)
    for row, count in zip(found, counts, strict=True):
        repeated = [np.repeat(rows, some, axis=0) for rows, some in ((female, count[:6]), (male, count[6:]))]
        directions, shares = bb.geometry.weighted_directions(*repeated, components=3, centred=centred)
        np.testing.assert_allclose(row, shares @ directions, atol=1e-9)
        if not centred:
            np.testing.assert_allclose(row, of_repeated_names(VECTORS, count), atol=1e-9)


def test_midb_carries_the_spread_of_its_names_and_so_does_its_change() -> None:
    """Against plain loops with names drawn by the bootstrap of other numbers (weights that are exponential)."""
    words = ["nurse", "clerk", "cook", "she", "he"]
    before, after = (
        bb.metrics.midb(vectors, (FEMALE, MALE), words, components=3, random_seed=1) for vectors in (VECTORS, CHANGED)
    )
    random = np.random.default_rng(7)
    weights = random.standard_exponential((2000, 6)), random.standard_exponential((2000, 5))
    of_words = random.dirichlet(np.ones(5), size=2000)
    drawn = []
    for vectors in (VECTORS, CHANGED):
        rows = np.zeros((2000, 7))
        for at, (ours, theirs) in enumerate(zip(*weights, strict=True)):
            root = np.sqrt(np.outer(ours, theirs).ravel())[:, np.newaxis]
            differences = np.array([vectors[f] - vectors[m] for f in FEMALE for m in MALE])
            _, sizes, directions = np.linalg.svd(root * differences, full_matrices=False)
            sides = np.sign(directions @ (root**2 * differences).sum(axis=0))
            rows[at] = (sides * sizes**2 / (sizes**2).sum())[:3] @ directions[:3]
        drawn.append(np.array([vectors[word] for word in words]) @ rows.T)
    for at, function in enumerate((np.asarray, np.abs)):
        first, second = (np.einsum("ji,ij->j", of_words, function(each)) for each in drawn)
        assert alike(draws_of(before, at), first)
        assert alike(draws_of(after, at), second)
        assert alike(draws_of(before, at, after), second - first)
    other = bb.metrics.midb(CHANGED, (FEMALE, MALE), words, components=3, random_seed=2)
    with pytest.raises(MeasureError, match="drawn with the seeds 1 and 2"):
        bb.metrics.paired_change(before, other)


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
    with pytest.raises(MeasureError, match="pairs, or a direction, but not both"):
        bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, direction=np.ones(7))


@pytest.mark.shared
def test_google_news_has_the_direct_bias_that_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: 0.052 for word2vec over 46,960 words, here over the 13,601 that are of letters."""
    path = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    assert bb.metrics.vocabulary_direct_bias(path, random_seed=1).value == pytest.approx(0.052, abs=0.006)
