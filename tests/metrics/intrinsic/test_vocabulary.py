"""Direct bias of a vocabulary against the measure of lists, MIDB against plain loops and principal components."""

import tracemalloc
from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError, NotEnoughMemoryError
from bayesbias.metrics.intrinsic import vocabulary
from bayesbias.metrics.intrinsic.name_directions import NAME_DRAWS
from bayesbias.metrics.intrinsic.vocabulary import _name_weights
from bayesbias.metrics.quantities import posterior_along

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
    without_reference = bb.metrics.vocabulary_direct_bias(source, random_seed=1)
    given = bb.metrics.vocabulary_direct_bias(
        source, without_reference.scores["item"], direction=direction, random_seed=1
    )
    assert given.value == pytest.approx(without_reference.value, abs=1e-12)
    assert not {"she", "he"} & set(without_reference.scores["item"])


@pytest.mark.parametrize("centred", [False, True])
def test_midb_is_that_of_plain_loops(centred: bool) -> None:
    differences = np.array([VECTORS[f] - VECTORS[m] for f in FEMALE for m in MALE])
    if centred:
        components = PCA(3).fit(differences)
        directions, weights = components.components_, components.explained_variance_ratio_
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
    np.testing.assert_allclose(score.scores["bias"], expected, atol=1e-10)
    assert score.estimates["observed"].item() == pytest.approx(np.mean(expected), abs=1e-10)


def test_midb_of_units_does_not_depend_on_lengths() -> None:
    longer = {word: vector * (1 + len(word)) for word, vector in VECTORS.items()}
    first, second = (
        bb.metrics.midb(vectors_of_words, (FEMALE, MALE), ["nurse", "clerk", "cook"], normalize=True, random_seed=1)
        for vectors_of_words in (VECTORS, longer)
    )
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_lost_names_take_no_memory_and_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = bb.load_embedding(VECTORS).lookup(FEMALE), bb.load_embedding(VECTORS).lookup([*MALE, "Zoe"])
    drawn = _name_weights(lookups, 1)
    random = np.random.default_rng([1, 1])
    for lookup, weights in zip(lookups, drawn, strict=True):
        names = sorted([*lookup.matches, *lookup.lost])
        rows = dict(zip(names, random.standard_exponential((len(names), NAME_DRAWS)), strict=True))
        np.testing.assert_array_equal(weights, np.array([rows[name] for name in lookup.matches]).T)
    many = bb.load_embedding(VECTORS).lookup([*FEMALE, *map(str, range(2000))])
    tracemalloc.start()
    assert _name_weights([many, lookups[1]], 1)[0].shape == (NAME_DRAWS, len(FEMALE))
    assert tracemalloc.get_traced_memory()[1] < 2_000_000  # lost names would take 16 MB
    tracemalloc.stop()
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match="Weights of 6 names in 1,000 draws would need"):
        _name_weights(lookups, 1)


def test_lost_words_and_names_are_warned_of() -> None:
    with pytest.warns(LostWordsWarning) as warned:
        score = bb.metrics.midb(
            VECTORS, ([*FEMALE, "Zoe"], MALE), ["nurse", "clerk", "tailor"], components=2, random_seed=1
        )
    of_names, of_words = (str(warning.message) for warning in warned)
    assert "6 of 7 and 5 of 5 names" in of_names
    assert "Zoe" in of_names
    assert "lacks 1 of the words" in of_words
    assert "6 of 7 and 5 of 5 names" in score.conventions
    assert score.lost_words == {"words": ("tailor",)}
    assert score.coverage == pytest.approx(2 / 3)


PAIRS = list(zip(FEMALE[:4], MALE[:4], strict=True))
CHANGED = {word: vector * np.array([0.6, *6 * [1.0]]) for word, vector in VECTORS.items()}


def units(vectors: dict[str, np.ndarray], words: list[str]) -> np.ndarray:
    return np.array([vectors[word] / np.linalg.norm(vectors[word]) for word in words])


def draws_of(score: bb.metrics.MeasureResult, index: int, after: bb.metrics.MeasureResult | None = None) -> np.ndarray:
    """Return the draws of one of a score's quantities, of which its interval is, or of its change."""
    assert score.along is not None
    quantity, seed = score.quantities[index], score.random_seed
    draws = posterior_along(quantity, score.along, np.random.default_rng(seed))
    if after is not None:
        assert after.along is not None
        draws = posterior_along(quantity, after.along, np.random.default_rng(seed)) - draws
    row = (
        score.estimates if after is None else bb.metrics.paired_change(score, after, random_seed=score.random_seed)
    ).iloc[index]
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
    assert score.scores["item"].tolist() == words
    cosines = units(VECTORS, words) @ draws.T
    for index, values in enumerate((np.abs(cosines) ** 0.7, cosines)):
        assert alike(draws_of(score, index), np.einsum("ji,ij->j", weights, values))
    assert not alike(draws_of(score, 0), np.einsum("ji,i->j", weights, np.abs(cosines[:, 0]) ** 0.7))
    given = bb.metrics.vocabulary_direct_bias(
        VECTORS, words, direction=bb.metrics.direction_posterior(VECTORS, PAIRS, random_seed=1), c=0.7, random_seed=1
    )
    pd.testing.assert_frame_equal(given.estimates, score.estimates)


def test_a_change_along_drawn_directions_is_of_the_same_draws() -> None:
    before = bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, random_seed=1)
    after = bb.metrics.vocabulary_direct_bias(CHANGED, pairs=PAIRS, reference=VECTORS, random_seed=1)
    with pytest.raises(MeasureError, match="conventions"):
        bb.metrics.paired_change(before, after)
    before = bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, reference=VECTORS, random_seed=1)
    draws = bb.metrics.direction_posterior(VECTORS, PAIRS, random_seed=1).draws
    words = before.scores["item"].tolist()
    weights = np.random.default_rng(5).dirichlet(np.ones(len(words)), size=len(draws))
    first, second = (np.abs(units(vectors, words) @ draws.T) for vectors in (VECTORS, CHANGED))
    assert alike(draws_of(before, 0, after), np.einsum("ji,ij->j", weights, second - first))
    same = bb.metrics.paired_change(before, before, random_seed=2)
    assert (same[["hdi_low", "hdi_high"]] == 0).all(axis=None)
    other = bb.metrics.vocabulary_direct_bias(CHANGED, pairs=PAIRS, reference=VECTORS, random_seed=2)
    with pytest.raises(MeasureError, match="in 2000 draws of seed 2"):
        bb.metrics.paired_change(before, other, random_seed=1)


def test_midb_carries_the_spread_of_its_names_and_so_does_its_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against plain loops with names drawn by the bootstrap of other numbers (weights that are exponential)."""
    words = ["nurse", "clerk", "cook", "she", "he"]
    monkeypatch.setattr(vocabulary, "NAMES_OF_MEAN_ABSOLUTE", 5)
    before, after = (
        bb.metrics.midb(vectors, (FEMALE, MALE), words, components=3, random_seed=1) for vectors in (VECTORS, CHANGED)
    )
    random = np.random.default_rng(7)
    weights = random.standard_exponential((2000, 6)), random.standard_exponential((2000, 5))
    of_words = random.dirichlet(np.ones(5), size=2000)
    drawn = []
    for vectors in (VECTORS, CHANGED):
        rows = np.zeros((2000, 7))
        for draw, (first_weights, second_weights) in enumerate(zip(*weights, strict=True)):
            root = np.sqrt(np.outer(first_weights, second_weights).ravel())[:, np.newaxis]
            differences = np.array([vectors[f] - vectors[m] for f in FEMALE for m in MALE])
            _, sizes, directions = np.linalg.svd(root * differences, full_matrices=False)
            sides = np.sign(directions @ (root**2 * differences).sum(axis=0))
            rows[draw] = (sides * sizes**2 / (sizes**2).sum())[:3] @ directions[:3]
        drawn.append(np.array([vectors[word] for word in words]) @ rows.T)
    for index, function in enumerate((np.asarray, np.abs)):
        first, second = (np.einsum("ji,ij->j", of_words, function(columns)) for columns in drawn)
        assert alike(draws_of(before, index), first)
        assert alike(draws_of(after, index), second)
        assert alike(draws_of(before, index, after), second - first)
    other = bb.metrics.midb(CHANGED, (FEMALE, MALE), words, components=3, random_seed=2)
    with pytest.raises(MeasureError, match="seeds 1 and 2"):
        bb.metrics.paired_change(before, other)


def test_bad_input_says_what_to_give() -> None:
    with pytest.raises(MeasureError, match=r"3 dimensions.*components=4"):
        bb.metrics.midb(VECTORS, (FEMALE[:2], MALE[:2]), ["nurse", "clerk"])
    with pytest.raises(MeasureError, match="'amy0'"):
        bb.metrics.midb(VECTORS, (FEMALE, [*MALE, "amy0"]))
    with pytest.raises(MeasureError, match="lacks Zoe"):
        bb.metrics.midb(VECTORS, (["Zoe"], MALE))
    with pytest.raises(MeasureError, match="1 of the words"):
        bb.metrics.vocabulary_direct_bias(VECTORS, ["nurse", "she", "he"])
    with pytest.raises(MeasureError, match="lacks hers"):
        bb.metrics.vocabulary_direct_bias(VECTORS, pair=("hers", "he"))
    with pytest.raises(MeasureError, match="c=0"):
        bb.metrics.vocabulary_direct_bias(VECTORS, c=0)
    with pytest.raises(MeasureError, match="pairs and direction"):
        bb.metrics.vocabulary_direct_bias(VECTORS, pairs=PAIRS, direction=np.ones(7))


@pytest.mark.shared
def test_google_news_has_the_direct_bias_that_the_paper_says(shared: Path) -> None:
    """Dawkins (2021), table 6: 0.052 for word2vec over 46,960 words, here over the 13,601 that are of letters."""
    path = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    assert bb.metrics.vocabulary_direct_bias(path, random_seed=1).value == pytest.approx(0.052, abs=0.006)


def test_mean_absolute_needs_400_names_of_each_list() -> None:
    names = [[f"{side}{number}" for number in range(400)] for side in ("amy", "bob")]
    vectors = dict(zip([*names[0], *names[1], "nurse", "clerk"], RANDOM.normal(size=(802, 7)), strict=True))
    for first, quantities in ((names[0], ["midb", "mean_absolute"]), (names[0][1:], ["midb"])):
        score = bb.metrics.midb(vectors, (first, names[1]), random_seed=1)
        assert score.estimates["quantity"].tolist() == quantities


def test_a_value_lies_inside_its_interval_where_names_disagree() -> None:
    """Components nearly at right angles to the lists' difference, whose sides other names would turn round."""
    random = np.random.default_rng(0)
    outside, names = 0, random.normal(size=(40, 10, 6)) * [5, 4, 1, 1, 1, 1]
    for seed in range(0, 40, 4):  # one in forty has a value of equal weights outside, number 36
        vectors = dict(zip([*FEMALE[:5], *MALE], names[seed], strict=True)) | {"nurse": [3.0, 3, 0, 0, 0, 0]}
        vectors |= {"clerk": [3.0, 2.9, 0.1, 0, 0, 0]}
        score = bb.metrics.midb(vectors, (FEMALE[:5], MALE), ["nurse", "clerk"], components=2, random_seed=seed)
        (row,) = score.estimates.to_dict("records")
        outside += not row["hdi_low"] <= row["observed"] <= row["hdi_high"]
        assert row["hdi_low"] <= row["value"] <= row["hdi_high"]
        after = {word: np.asarray(vector) * [1, 0.9, 1, 1, 1, 1] for word, vector in vectors.items()}
        again = bb.metrics.midb(after, (FEMALE[:5], MALE), ["nurse", "clerk"], components=2, random_seed=seed)
        (change,) = bb.metrics.paired_change(score, again, random_seed=seed).to_dict("records")
        assert change["hdi_low"] <= change["change"] <= change["hdi_high"]
        assert change["observed"] == pytest.approx(again.scores["bias"].mean() - score.scores["bias"].mean())
        assert (change["before"], change["after"]) == pytest.approx((score.value, again.value))
    assert outside > 0, "the test has cases in which equal weights give a value outside"


@pytest.mark.truth
def test_the_interval_of_midb_holds_that_of_all_names() -> None:
    """Names are drawn from normal distributions whose covariances NumPy decomposes; the words are all there are."""
    random, hits, errors = np.random.default_rng(2), [], []
    for seed in range(80):
        root = np.linalg.qr(random.normal(size=(50, 50)))[0] * np.arange(1, 51) ** -0.35
        difference = random.normal(size=50) * 0.15
        sizes, axes = np.linalg.eigh(2 * root @ root.T + np.outer(difference, difference))
        shares = sizes[:-5:-1] / sizes.sum()
        direction = (shares * np.sign(axes[:, :-5:-1].T @ difference)) @ axes[:, :-5:-1].T
        words = random.normal(size=(300, 50)) @ root.T + random.normal(size=50) * 0.1
        names = [random.normal(size=(20, 50)) @ root.T + side * difference / 2 for side in (1, -1)]
        labels = [[f"{side}{number}" for number in range(20)] for side in ("amy", "bob")]
        items = [f"word{number}" for number in range(300)]
        vectors = dict(zip([*labels[0], *labels[1], *items], np.vstack([*names, words]), strict=True))
        row = bb.metrics.midb(vectors, (labels[0], labels[1]), items, random_seed=seed).estimates.iloc[0]
        truth = (words @ direction).mean()
        hits.append(row["hdi_low"] <= truth <= row["hdi_high"])
        errors.append((row["value"] - truth, row["observed"] - truth))
    share = float(np.mean(hits))
    assert abs(share - 0.89) < 3 * np.sqrt(0.89 * 0.11 / 80)
    median_error, plain_error = np.sqrt(np.mean(np.square(errors), axis=0))
    assert median_error < plain_error


@pytest.mark.shared
def test_the_direction_of_unit_vectors_is_not_that_of_vectors_as_stored(shared: Path) -> None:
    """Numbers of the docstring, for Google News."""
    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    unit = bb.metrics.vocabulary_direct_bias(embedding, random_seed=1)
    she, he = embedding.matrix(["she", "he"]).astype(float)
    words = unit.scores["item"].tolist()
    stored = bb.metrics.vocabulary_direct_bias(embedding, words, direction=she - he, random_seed=1)
    assert len(words) == 13_601
    assert [unit.value, stored.value] == pytest.approx([0.0552, 0.0503], abs=0.0001)
