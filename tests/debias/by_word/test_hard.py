"""Hard debiasing: the papers' equations, written out, and what they promise."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import DebiasWords, HardDebias
from bayesbias.errors import EmbeddingError, LostWordsWarning, MeasureError
from tests.debias.made import PAIRS, TRIPLES, made_embedding, unit


def neutral_words(embedding: bb.Embedding) -> list[str]:
    return [word for word in embedding.words if word.startswith("word")]


def test_the_equations_of_the_paper() -> None:
    """Bolukbasi et al., section 5, step 2a, with one direction, one word and one pair at a time."""
    embedding = made_embedding()
    fitted = HardDebias().fit(embedding, PAIRS)
    after = fitted.transform(embedding)
    g = fitted.subspace.directions[0]
    for word in (*neutral_words(embedding), "rabbi"):
        w = unit(embedding[word])
        assert np.allclose(after[word], unit(w - (w @ g) * g))
    for pair in PAIRS:
        first, second = (unit(embedding[word]) for word in pair)
        mu = (first + second) / 2
        nu = mu - (mu @ g) * g
        for word, vector in zip(pair, (first, second), strict=True):
            along = (vector @ g) * g - (mu @ g) * g
            assert np.allclose(after[word], nu + np.sqrt(1 - nu @ nu) * along / np.linalg.norm(along))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sets", [PAIRS, TRIPLES])
def test_neutral_words_are_orthogonal_and_equalized_words_equally_near(sets: list[list[str]], dtype: type) -> None:
    embedding = made_embedding(dtype=dtype)
    fitted = HardDebias().fit(embedding, sets)
    after = fitted.transform(embedding)
    neutral = after.matrix(neutral_words(embedding))
    assert np.abs(neutral @ fitted.subspace.directions.T).max() < 1e-6
    for words in sets:
        near = unit(after.matrix(words)) @ neutral.T
        assert np.ptp(near, axis=0).max() < 1e-6
    assert np.allclose(np.linalg.norm(after.vectors, axis=1), 1)
    assert after.vectors.dtype == dtype


def test_the_input_is_not_touched() -> None:
    embedding = made_embedding()
    before, digest = embedding.vectors.tobytes(), embedding.digest
    after = HardDebias().fit(embedding, PAIRS).transform(embedding)
    assert embedding.vectors.tobytes() == before
    assert after.digest != digest
    assert not np.shares_memory(after.vectors, embedding.vectors)


def test_only_targets_change_and_ignored_words_are_not_neutralized() -> None:
    embedding = made_embedding()
    fitted = HardDebias().fit(embedding, PAIRS)

    def changed(**choice: list[str]) -> set[str]:
        rows = (fitted.transform(embedding, **choice).vectors != embedding.vectors).any(axis=1)
        return {word for word, differs in zip(embedding.words, rows, strict=True) if differs}

    assert changed(target=["word1", "word2"]) == {"word1", "word2"}
    assert changed(target=["word1", "he"]) == {"word1"}  # a set is equalized whole or not at all
    assert changed(target=["he", "she"]) == {"he", "she"}
    assert changed(target=["word1", "word2"], ignore=["word2"]) == {"word1"}
    assert changed(target=[]) == set()
    assert set(embedding.words) - changed(ignore=["word3", "he"]) == {"word3"}


def test_specific_words_are_ignored_unless_the_user_says_otherwise() -> None:
    embedding = made_embedding()
    sets = DebiasWords("x", PAIRS, specific=["word1", "absent"])
    fitted = HardDebias().fit(embedding, sets)
    assert (fitted.transform(embedding)["word1"] == embedding["word1"]).all()
    assert (fitted.transform(embedding, ignore=())["word1"] != embedding["word1"]).any()


def test_a_definitional_word_whose_partner_is_lost_is_not_neutralized() -> None:
    embedding = made_embedding()
    fitted = HardDebias().fit(embedding, PAIRS, equalize=[["he", "she"], ["rabbi", "absent"]])
    with pytest.warns(LostWordsWarning, match="absent"):
        after = fitted.transform(embedding)
    assert (after["rabbi"] == embedding["rabbi"]).all()


def test_rotation_equivariance() -> None:
    """Debiasing rotated vectors gives the rotated debiased vectors."""
    embedding = made_embedding()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    turned = bb.Embedding(embedding.words, embedding.vectors @ turn)
    for sets in (PAIRS, TRIPLES):
        one = HardDebias().fit(embedding, sets).transform(embedding).vectors @ turn
        other = HardDebias().fit(turned, sets).transform(turned).vectors
        assert np.allclose(one, other)


def test_lengths_do_not_matter() -> None:
    embedding = made_embedding()
    lengths = np.random.default_rng(1).uniform(1e-3, 1e3, (len(embedding), 1))
    scaled = bb.Embedding(embedding.words, embedding.vectors * lengths)
    one = HardDebias().fit(embedding, PAIRS).transform(embedding)
    assert np.allclose(one.vectors, HardDebias().fit(scaled, PAIRS).transform(scaled).vectors)


def test_neutralizing_twice_changes_nothing_more() -> None:
    embedding = made_embedding()
    fitted = HardDebias().fit(embedding, PAIRS, equalize=())
    once = fitted.transform(embedding)
    words = neutral_words(embedding)
    assert np.allclose(once.matrix(words), fitted.transform(once).matrix(words))


def test_names_case_rule_and_word_order_are_kept() -> None:
    embedding = bb.Embedding(("he", "she", "x"), [[1, 0.1, 0], [-1, 0, 0.2], [1, 1, 1.0]], name="toy", case="lower")
    after = HardDebias().fit(embedding, [["He", "She"]], name="gender").transform(embedding)
    assert (after.words, after.case_text, after.name) == (embedding.words, "lower", "toy, hard-debiased (gender)")
    assert bb.debias.HardDebias is HardDebias


def test_bad_targets_and_embeddings() -> None:
    embedding = made_embedding()
    fitted = HardDebias().fit(embedding, PAIRS)
    with pytest.raises(EmbeddingError, match=r"'quean' .*'queen'"):
        fitted.transform(embedding, target=["quean"])
    with pytest.raises(MeasureError, match="`target`"):
        fitted.transform(embedding, target="nurse")
    with pytest.warns(LostWordsWarning, match=r" 1 .*absent"):
        fitted.transform(embedding, ignore=["absent"])
    with pytest.raises(MeasureError, match=r"12 dimensions.* 'made' .*5"):
        fitted.transform(made_embedding(5))


def test_a_word_that_lies_in_the_subspace() -> None:
    words, vectors = ("he", "she", "gender"), [[1.0, 0.3, 0], [-1.0, 0.3, 0], [5.0, 0, 0]]
    embedding = bb.Embedding(words, vectors)
    fitted = HardDebias().fit(embedding, [["he", "she"]])
    with pytest.raises(MeasureError, match=r"'gender' .*`ignore`"):
        fitted.transform(embedding)
    assert (fitted.transform(embedding, ignore=["gender"])["gender"] == embedding["gender"]).all()


def test_a_word_in_two_sets_to_equalize() -> None:
    embedding, sets = made_embedding(), [*PAIRS, ["king", "rabbi"]]
    with pytest.raises(MeasureError, match=r"'king' .*`equalize`"):
        HardDebias().fit(embedding, sets)
    assert HardDebias().fit(embedding, sets, equalize=PAIRS).sets.equalize == tuple(map(tuple, PAIRS))


def test_a_pair_that_cannot_be_equalized() -> None:
    embedding = bb.Embedding(("he", "she", "a", "b"), [[1, 0.3, 0], [-1, 0.3, 0], [0.2, 1, 0.5], [0.2, 0.5, 1.0]])
    fitted = HardDebias().fit(embedding, [["he", "she"]], equalize=[["a", "b"]])
    with pytest.raises(MeasureError, match=r"'a', 'b'.*`equalize`"):
        fitted.transform(embedding)


# --- real vectors -----------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize(
    ("file", "sets"),
    [
        ("googlenews_word2vec_300d_13784.npz", "gender_bolukbasi"),
        ("googlenews_word2vec_300d_13784.npz", "gender_manzini"),
        ("glove_6b_50d_10382.txt", "gender_bolukbasi"),
        ("glove_6b_50d_10382.txt", "gender_manzini"),
        ("glove_6b_50d_10382.txt", "religion_manzini"),
        ("glove_6b_50d_10382.txt", "race_manzini"),
    ],
)
def test_real_vectors(file: str, sets: str, shared: Path) -> None:
    embedding = bb.load_embedding(shared / "data" / "embeddings" / file)
    before = embedding.vectors.tobytes()
    fitted = HardDebias().fit(embedding, sets)
    after = fitted.transform(embedding)
    assert embedding.vectors.tobytes() == before
    others = {word for words in fitted.sets.equalize or () for word in words} | set(fitted.sets.specific)
    others = {form for word in others for form in (word, word.lower(), word.title(), word.upper())}
    rows = [row for row, word in enumerate(embedding.words) if word not in others]
    directions = fitted.subspace.directions
    assert np.abs(after.vectors[rows] @ directions.T).max() < 1e-6
    whole = [words for words in fitted.sets.equalize or () if set(words) <= set(embedding.words)]
    assert whole
    for words in whole:
        near = after.matrix(words).astype(float) @ after.vectors[rows].astype(float).T
        assert np.ptp(near, axis=0).max() < 1e-6


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_direct_bias_of_occupations(shared: Path) -> None:
    """Bolukbasi et al., section 4: the direct bias (c = 1) of occupations in the Google News vectors is 0.08.

    The selection holds 120 of their 320 occupations, whose mean has a standard error of 0.005.
    """
    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    fitted = HardDebias().fit(embedding, "gender_bolukbasi")
    content = json.loads((shared / "data" / "wordlists" / "bolukbasi_professions.json").read_text())
    words = [word for word, *_ in content if word in embedding]
    assert len(words) == 120
    g = fitted.subspace.directions[0]
    direct_bias = np.abs(unit(embedding.matrix(words)) @ g)
    assert direct_bias.mean() == pytest.approx(0.08, abs=0.015)
    neutral = [word for word in words if word not in fitted.sets.specific]
    assert len(neutral) > 100
    assert np.abs(unit(fitted.transform(embedding).matrix(neutral)) @ g).mean() < 1e-6


def test_words_are_equalized_and_spared_in_every_spelling() -> None:
    rng = np.random.default_rng(4)
    words = ("he", "she", "He", "She", "HE", "actress", "Actress", "nurse", "Nurse", "man", "Woman", "woman")
    embedding = bb.Embedding(words, rng.normal(size=(len(words), 8)), case="exact")
    sets = DebiasWords("gender", [["he", "she"]], equalize=[["he", "she"], ["man", "woman"]], specific=["actress"])
    fitted = HardDebias().fit(embedding, sets)
    after = fitted.transform(embedding)
    (g,) = fitted.subspace.directions
    for word in ("actress", "Actress", "HE", "Woman"):  # specific, or of a set that lacks its other word
        np.testing.assert_array_equal(after[word], embedding[word])
    for word in ("nurse", "Nurse"):
        assert abs(after[word] @ g) < 1e-9
    for first, second in (("he", "she"), ("He", "She"), ("man", "woman")):
        assert after[first] @ after["nurse"] == pytest.approx(after[second] @ after["nurse"], abs=1e-9)
        assert after[first] @ g == pytest.approx(-after[second] @ g)
    spared = fitted.transform(embedding, ignore=["nurse"])
    np.testing.assert_array_equal(spared["Nurse"], embedding["Nurse"])
    assert abs(spared["Actress"] @ g) < 1e-9


def test_a_set_that_is_whole_in_no_spelling_is_left_out_and_said() -> None:
    embedding = bb.Embedding(("he", "she", "Boy", "Girl", "King"), np.random.default_rng(1).normal(size=(5, 6)))
    fitted = HardDebias().fit(embedding, [["he", "she"]], equalize=[["boy", "girl"], ["king", "queen"]])
    with pytest.warns(LostWordsWarning, match=r"\(king\): left out 1 of 2 sets to equalize"):
        fitted.transform(embedding)
