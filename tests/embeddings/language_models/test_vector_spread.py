"""Errors of vectors and cosines over contexts, and files that keep them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.vector_spread import GROUPS, cosine_errors, jackknife
from bayesbias.errors import BayesBiasWarning, EmbeddingError, InputFileError, LostWordsError

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


def test_groups_of_many_contexts_give_the_variance_but_for_noise() -> None:
    rng = np.random.default_rng(4)
    variances = [(jackknife(rng.normal(size=(90, 1)))[1] ** 2).sum() for _ in range(2_000)]
    # Of 20 groups a variance is known to sqrt(2 / 19): the mean of 2,000 to 0.7 %. Groups of 4 and 5 add about 1 %.
    assert np.mean(variances) == pytest.approx(1 / 90, rel=0.04)


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
        cosines.append(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
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
