"""Errors of vectors and cosines over contexts, and files that keep them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.vector_spread import GROUPS, cosine_errors, cosines_of, jackknife
from bayesbias.errors import (
    BayesBiasWarning,
    EmbeddingError,
    InputFileError,
    LostWordsError,
    LostWordsWarning,
    TableError,
)
from bayesbias.tables.schema import validate_table

STUDY: dict[str, list[str]] = {"X": ["cat", "Dog"], "Y": ["bird", "fish"], "A": ["sing", "swim"], "B": ["bark", "run"]}
WORDS = tuple(word for words in STUDY.values() for word in words)


def made(paired: bool = False, seed: int = 1, **changes: Any) -> bb.embeddings.ContextualEmbedding:
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(len(WORDS), 6))
    common = rng.normal(size=(30, 6)) if paired else np.zeros((30, 6))
    vectors = [jackknife(mean + common + rng.normal(size=(30, 6))) for mean in means]
    given: dict[str, Any] = {
        "words": WORDS,
        "vectors": np.stack([mean for mean, _ in vectors]),
        "name": "made",
        "deviations": np.stack([deviations for _, deviations in vectors]).astype(np.float32),
        "contexts": np.full(len(WORDS), 30),
        "pieces": np.ones(len(WORDS), dtype=np.int64),
        "paired": paired,
        "left_out": (("zebra", "no context"),),
    }
    return bb.embeddings.ContextualEmbedding(**{**given, **changes})


@pytest.mark.parametrize("count", [2, 7, GROUPS])
def test_deviations_hold_the_covariance_of_the_mean(count: int) -> None:
    vectors = np.random.default_rng(3).normal(size=(count, 4))
    mean, deviations = jackknife(vectors)
    np.testing.assert_allclose(mean, vectors.mean(axis=0))
    np.testing.assert_allclose(deviations.T @ deviations, np.cov(vectors.T) / count)
    assert deviations.shape == (GROUPS, 4)


def test_groups_may_be_given() -> None:
    vectors = np.random.default_rng(3).normal(size=(3, 4))
    mean, deviations = jackknife(vectors, np.array([4, 0, 2]), 6)
    np.testing.assert_allclose(deviations.T @ deviations, np.cov(vectors.T) / 3)
    assert (deviations[[1, 3, 5]] == 0).all()
    np.testing.assert_allclose(mean, vectors.mean(axis=0))


@pytest.mark.parametrize("group", [np.array([0, 0, 1]), np.array([0] * 6 + [1, 2]), np.arange(30) % 20])
def test_groups_of_unequal_sizes_give_the_variance(group: np.ndarray) -> None:
    """Squared deviations are a quadratic form of independent vectors, whose expectation is the trace of its matrix."""
    _, deviations = jackknife(np.eye(len(group)), group)
    assert np.trace(deviations.T @ deviations) == pytest.approx(1 / len(group))


def test_contexts_of_one_group_take_turns() -> None:
    """As two templates of many, whose numbers are the same in 60 groups."""
    vectors = np.random.default_rng(3).normal(size=(2, 4))
    for ours, theirs in zip(jackknife(vectors, np.array([7, 7])), jackknife(vectors), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def different_contexts(first: np.ndarray, second: np.ndarray) -> float:
    """The mean inner product of vectors in different contexts, in a plain loop."""
    places = range(len(first))
    return float(np.mean([first[one] @ second[other] for one in places for other in places if one != other]))


@pytest.mark.parametrize("count", [2, 3, 14])
def test_cosines_over_templates_are_those_of_different_sentences(count: int) -> None:
    contexts = 1 + np.random.default_rng(6).normal(size=(3, count, 5))
    vectors, deviations = map(np.stack, zip(*map(jackknife, contexts), strict=True))
    products = np.array([[different_contexts(first, second) for second in contexts] for first in contexts])
    lengths = np.sqrt(np.diag(products))
    cosines = cosines_of(vectors, deviations, vectors, deviations, paired=True)
    np.testing.assert_allclose(cosines, products / np.outer(lengths, lengths))
    apart = cosines_of(
        vectors[:1], deviations[:1], vectors[1:], deviations[1:], paired=False
    )  # inner products of means
    np.testing.assert_allclose(apart, [vectors[0] @ vectors[1:].T / lengths[0] / lengths[1:]])


@pytest.mark.parametrize("paired", [False, True])
def test_few_contexts_do_not_make_cosines_smaller(paired: bool) -> None:
    """Vectors of 200 dimensions over 2 and 5 contexts, whose parts in sentences are shared in templates."""
    rng = np.random.default_rng(7)
    means = np.zeros((2, 200))
    means[:, 0], means[0, 1], means[1, 2] = 0.6, 0.8, 0.8
    plain, corrected = [], []
    size, shared_size = (0.03, 0.06) if paired else (0.05, 0)
    for _ in range(400):
        shared = rng.normal(size=(5, 200)) * shared_size
        counts = (5, 5) if paired else (2, 5)
        sides = [
            jackknife(mean + shared[:count] + rng.normal(size=(count, 200)) * size)
            for mean, count in zip(means, counts, strict=True)
        ]
        (u, du), (v, dv) = sides
        plain.append(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
        corrected.append(cosines_of(u[None], du[None], v[None], dv[None], paired=paired).item())
    error = np.std(corrected) / np.sqrt(len(corrected))
    assert abs(np.mean(corrected) - 0.36) < 4 * error + 0.002  # the rest of a ratio's bias
    assert abs(np.mean(plain) - 0.36) > 0.03


@pytest.mark.parametrize(("first", "second"), [((0, 1), (1, 2)), ((0, 1), range(1, 15)), (range(4), range(2, 6))])
def test_templates_that_only_some_words_share_are_corrected(first: Any, second: Any) -> None:
    """Means of words whose templates overlap in part share the variance 5 c / (a b) of vectors of 5 dimensions."""
    rng = np.random.default_rng(8)
    groups = [np.array(list(numbers)) for numbers in (first, second)]
    covariances = []
    for _ in range(4_000):
        shared = rng.normal(size=(GROUPS, 5))
        rows = [jackknife(shared[group] + rng.normal(size=(len(group), 5)), group)[1][None] for group in groups]
        # Lengths of 1 that the deviations leave: the cosine is minus the covariance.
        axes = [np.eye(5)[None, place] * np.sqrt(1 + (row**2).sum()) for place, row in enumerate(rows)]
        covariances.append(-cosines_of(axes[0], rows[0], axes[1], rows[1], paired=True).item())
    expected = 5 * len({*first} & {*second}) / len(groups[0]) / len(groups[1])
    assert np.mean(covariances) == pytest.approx(expected, abs=4 * np.std(covariances) / np.sqrt(4_000))


def noisy(*words: str) -> bb.embeddings.ContextualEmbedding:
    """Vectors of which 0.05 of the squared length is common to all contexts, of some words."""
    plain = made()
    deviations = 0.05 * plain.deviations
    for word in words:
        row, vector = WORDS.index(word), plain[word]
        deviations[row] = 0
        deviations[row, 0] = np.sqrt(0.95) * vector
    return made(deviations=deviations)


def test_a_word_whose_contexts_have_too_little_in_common_is_lost() -> None:
    embedding, study = noisy("Dog"), bb.load_study(STUDY)
    reason = "the vectors of its contexts have too little in common (0.05 of the squared length of their mean)"
    assert embedding.why_lost("Dog") == reason
    assert embedding.why_lost("zebra") == "no context"
    with pytest.raises(LostWordsError, match=r"no usable vector of 'Dog': the vectors .* Give more sentences"):
        embedding.cosines(["Dog"], ["cat"])
    for duplicates in ("drop", "keep"):
        with pytest.warns(LostWordsWarning, match=r"Of 'Dog' the vectors of its contexts have too little in common"):
            table = bb.distance_table(embedding, study, max_lost=0.5, duplicates=duplicates)
        assert bb.lost_words(table).to_dict("records") == [
            {"word": "Dog", "role": "protected", "list": "X", "reason": reason}
        ]
    with pytest.raises(LostWordsError, match=r"At most 20% .* Of 'Dog' the vectors .* Give more sentences"):
        bb.distance_table(embedding, study)
    with pytest.raises(LostWordsError, match=r"no word of protected group 'X'.* Of 'cat', 'Dog' the vectors"):
        bb.distance_table(noisy("cat", "Dog"), study)


def test_a_table_has_corrected_and_plain_distances(tmp_path: Path) -> None:
    study, embedding = bb.load_study(STUDY), made(paired=True)
    table = bb.distance_table(embedding, study)
    plain = bb.distance_table(bb.Embedding(WORDS, embedding.vectors), study)
    np.testing.assert_array_equal(table["plain_distance"], plain["cosine_distance"])
    corrected = embedding.cosines(table["protected_word"].unique(), table["attribute_word"].unique())
    np.testing.assert_array_equal(table["cosine_distance"], 1 - corrected.ravel())
    np.testing.assert_array_equal(table["cosine_similarity"], corrected.ravel())
    assert abs(table["cosine_distance"] - table["plain_distance"]).max() > 0.01
    assert table.attrs["bayesbias"]["contexts"]["corrected"] is True
    exact = bb.distance_table(made(deviations=np.zeros((8, GROUPS, 6), dtype=np.float32)), study)
    np.testing.assert_allclose(exact["cosine_distance"], exact["plain_distance"], atol=1e-12)


def test_corrected_distances_below_0_are_estimates(tmp_path: Path) -> None:
    """Words that are nearly alike: cut off at 0, their distances would be too large on average."""
    vectors = made().vectors.copy()
    vectors[4] = vectors[0]
    vectors[4, 0] += 0.1
    table = bb.distance_table(made(vectors=vectors), bb.load_study(STUDY))
    assert table["cosine_distance"].min() < 0 < table["plain_distance"].min()
    again = bb.read_table(bb.write_table(table, tmp_path / "table.csv"))
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    table.attrs = {}
    assert len(validate_table(table)) == len(table)
    with pytest.raises(TableError, match="outside 0 to 2"):
        validate_table(table.drop(columns="plain_distance"))
    with pytest.raises(TableError, match="outside -10 to 12"):
        validate_table(table.assign(cosine_distance=1e6).drop(columns="cosine_similarity"))


@pytest.mark.parametrize("paired", [False, True])
def test_errors_of_cosines_are_those_of_repeated_contexts(paired: bool) -> None:
    rng = np.random.default_rng(5)
    means = rng.normal(size=(2, 5)) * 2
    mixing = rng.normal(size=(5, 5))
    cosines, errors = [], []
    for _ in range(3_000):
        shared = rng.normal(size=(20, 5)) @ mixing
        noise = [shared, shared] if paired else [shared, rng.normal(size=(20, 5)) @ mixing]
        sides = [
            jackknife(mean + deviation + rng.normal(size=(20, 5))) for mean, deviation in zip(means, noise, strict=True)
        ]
        (u, du), (v, dv) = sides
        cosines.append(cosines_of(u[None], du[None], v[None], dv[None], paired=paired).item())
        errors.append(cosine_errors(u[None], du[None], v[None], dv[None], paired=paired)[0, 0])
    # The spread of 3,000 cosines is known to 1.3 %; the delta method leaves some more.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(cosines), rel=0.08)


def test_blocks_of_cosines_give_the_same_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = made()
    whole = embedding.cosine_errors(WORDS, WORDS[:3])
    monkeypatch.setattr("bayesbias.embeddings.language_models.vector_spread._BLOCK", 1)
    np.testing.assert_allclose(embedding.cosine_errors(WORDS, WORDS[:3]), whole, atol=1e-12)
    np.testing.assert_allclose(embedding.cosine_errors(["Dog"], ["cat"]), whole[1:2, :1])
    with pytest.raises(LostWordsError, match="'zebra'"):
        embedding.cosine_errors(["zebra"], ["cat"])


def test_the_relative_error_is_that_of_the_vector() -> None:
    embedding = made()
    spread = embedding.spread()
    variances = (embedding.deviations.astype(float) ** 2).sum(axis=(1, 2))
    np.testing.assert_allclose(spread["relative_error"], np.sqrt(variances) / np.linalg.norm(embedding.vectors, axis=1))
    assert spread["word"].tolist() == list(WORDS)
    assert spread["contexts"].eq(30).all()


def test_a_table_carries_the_error_of_each_pair(tmp_path: Path) -> None:
    study = bb.load_study(STUDY)
    embedding = made()
    table = bb.distance_table(embedding, study)
    for row in table.itertuples():
        (expected,) = embedding.cosine_errors([row.protected_word], [row.attribute_word]).ravel()
        assert row.cosine_sd == pytest.approx(expected)
    again = bb.read_table(bb.write_table(table, tmp_path / "table.csv"))
    np.testing.assert_allclose(again["cosine_sd"], table["cosine_sd"])
    assert "cosine_sd" not in bb.distance_table(bb.Embedding(WORDS, embedding.vectors), study)


@pytest.mark.parametrize("paired", [False, True])
def test_files_and_parts_keep_the_spread(tmp_path: Path, paired: bool) -> None:
    embedding = made(paired=paired)
    path = bb.write_embedding(embedding, tmp_path / "made.npz")
    whole = bb.load_embedding(path)
    assert isinstance(whole, bb.embeddings.ContextualEmbedding)
    assert (whole.words, whole.paired, whole.left_out) == (WORDS, paired, embedding.left_out)
    for name in ("vectors", "deviations", "contexts", "pieces"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(embedding, name))
    some = [bb.load_embedding(source, words=["swim", "DOG"], case=("exact", "title")) for source in (path, embedding)]
    for part in some:
        assert isinstance(part, bb.embeddings.ContextualEmbedding)
        assert part.words == ("Dog", "swim")
        np.testing.assert_array_equal(part.deviations, embedding.deviations[[1, 5]])
        np.testing.assert_allclose(
            part.cosine_errors(["dog"], ["swim"]), embedding.cosine_errors(["Dog"], ["swim"]), rtol=1e-6
        )
    with pytest.warns(BayesBiasWarning, match="does not keep how the vectors vary"):
        plain = bb.load_embedding(bb.write_embedding(embedding, tmp_path / "made.txt"))
    assert not isinstance(plain, bb.embeddings.ContextualEmbedding)


def test_files_whose_spread_does_not_fit_are_errors(tmp_path: Path) -> None:
    path = bb.write_embedding(made(), tmp_path / "made.npz")
    with np.load(path) as arrays:
        sound = dict(arrays)
    changes: list[dict[str, Any]] = [
        {"deviations": sound["deviations"][:, :, :3]},
        {"deviations": sound["deviations"][:3]},
        {"deviations": np.full_like(sound["deviations"], np.nan)},
        {"deviations": np.array([{}], dtype=object)},
        {"contexts": np.zeros(len(WORDS), dtype=np.int64)},
        {"contexts": np.int64(5)},
        {"pieces": None},
        {"paired": np.array([True, False])},
        {"left_out": np.array(["a"])},
    ]
    for change in changes:
        damaged = {name: values for name, values in {**sound, **change}.items() if values is not None}
        np.savez(tmp_path / "damaged.npz", **damaged)
        with pytest.raises((EmbeddingError, InputFileError)):
            bb.load_embedding(tmp_path / "damaged.npz")


@pytest.mark.parametrize(
    "wrong",
    [
        {"deviations": np.zeros((2, 20, 6))},
        {"deviations": np.full((8, 20, 6), np.inf)},
        {"deviations": None},
        {"contexts": np.ones(8)},
        {"pieces": np.zeros(8, dtype=np.int64)},
    ],
)
def test_a_spread_that_does_not_fit_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(EmbeddingError):
        made(**wrong)


@pytest.mark.parametrize("paired", [False, True])
def test_redrawn_vectors_part_as_far_as_the_error_of_their_cosines(paired: bool) -> None:
    embedding = made(paired)
    # Small errors, of which those of cosines are a linear function.
    embedding = made(paired, deviations=embedding.deviations / 10)
    cosines = []
    for seed in range(2_000):
        vectors = embedding.redrawn(random_seed=seed).vectors
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines.append(units[:4] @ units[4:].T)
    expected = embedding.cosine_errors(WORDS[:4], WORDS[4:])
    # An sd of 2,000 draws is known to 1.6 %.
    np.testing.assert_allclose(np.std(cosines, axis=0), expected, rtol=0.08)
    first, again = (embedding.redrawn(random_seed=3) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert first.words == embedding.words


@pytest.mark.slow
def test_models_say_what_contexts_leave_open() -> None:
    """Contexts that move vectors far are most of what parts the fits; of exact vectors nothing parts them."""
    small = {"model": "crossed", "draws": 400, "random_seed": 1, "progress": False}
    study = bb.load_study(STUDY)
    spread = {}
    for scale in (0.0, 1.0):
        embedding = made(deviations=made().deviations * np.float32(scale))
        tables = {seed: bb.distance_table(embedding.redrawn(random_seed=seed), study) for seed in range(4)}
        means = [bb.contrasts(bb.fit(table, **small))["mean"].iloc[0] for table in tables.values()]
        spread[scale] = np.std(means)
    assert spread[0.0] == 0
    assert spread[1.0] > 0.005
