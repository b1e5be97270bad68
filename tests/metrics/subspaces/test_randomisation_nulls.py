"""Randomisation nulls against SciPy's angles, exact expectations, and exhaustive enumeration."""

from itertools import permutations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import bayesbias as bb
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsWarning, MeasureError
from bayesbias.metrics.subspaces.canonical_subspace import canonical_subspace
from bayesbias.metrics.subspaces.mean_cosine import COMPONENTS
from bayesbias.metrics.subspaces.randomisation_nulls import (
    DRAWN,
    list_statistics,
    quantile_with_error,
    randomisation_nulls,
    study_nulls,
)
from tests.metrics.made import PETS, cosine

DIMENSIONS = 12
WORDS = tuple(f"w{number}" for number in range(400))
ISOTROPIC = bb.Embedding(words=WORDS, vectors=np.random.default_rng(0).normal(size=(400, DIMENSIONS)))
LISTS = {"a": ["w0", "w1", "w2"], "b": ["w3", "w4", "w5", "w6"]}


def _by_scipy(a: np.ndarray, b: np.ndarray) -> list[float]:
    congruences = np.sort(np.cos(subspace_angles(a.T, b.T)))[::-1]
    similarity = (congruences**2).sum()
    mean = np.mean([cosine(one, other) for one in a for other in b])
    return [similarity, similarity / np.sqrt(len(a) * len(b)), mean, *congruences]


def test_statistics_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    first = rng.permuted(np.tile(np.arange(400), (150, 1)), axis=1)[:, :3]
    second = np.array([rng.choice(np.setdiff1d(np.arange(400), row), 4, replace=False) for row in first])
    vectors = ISOTROPIC.vectors
    frame = list_statistics(ISOTROPIC, first, second)
    expected = [_by_scipy(vectors[a], vectors[b]) for a, b in zip(first, second, strict=True)]
    assert list(frame) == ["similarity", "scaled", "mean_cosine", "congruence_1", "congruence_2", "congruence_3"]
    np.testing.assert_allclose(frame, expected, atol=1e-8)  # SciPy's angles lose digits near 0
    statistics = list_statistics(ISOTROPIC, first[:1], second)
    np.testing.assert_allclose(statistics, [_by_scipy(vectors[first[0]], vectors[b]) for b in second], atol=1e-8)


def test_statistics_of_dependent_vectors() -> None:
    vectors = np.vstack([np.eye(4), [[1.0, 1.0, 0.0, 0.0]]])
    embedding = bb.Embedding(words=tuple("abcde"), vectors=vectors)
    row = list_statistics(embedding, np.array([[0, 1, 4]]), np.array([[0, 1, 2]])).iloc[0]
    assert row["similarity"] == pytest.approx(2)
    assert row["scaled"] == pytest.approx(2 / np.sqrt(2 * 3))
    assert row[["congruence_1", "congruence_2", "congruence_3"]].tolist() == pytest.approx([1, 1, 0])


def test_expectations_in_isotropic_vectors() -> None:
    """Random subspaces of dimensions p and q in d have a mean similarity of p q / d, and cosines of mean 0."""
    words = tuple(f"w{number}" for number in range(10_000))
    embedding = bb.Embedding(words=words, vectors=np.random.default_rng(8).normal(size=(10_000, DIMENSIONS)))
    nulls = randomisation_nulls(embedding, LISTS, samples=4000, random_seed=1)
    frame = nulls.frame().set_index(["drawn", "statistic"])
    for drawn in DRAWN:
        values = nulls.samples[drawn]["similarity"]
        # The vocabulary is itself a sample, hence 0.02 beside the error of the draws.
        assert values.mean() == pytest.approx(3 * 4 / DIMENSIONS, abs=0.02 + 3 * values.std() / np.sqrt(4000))
        assert frame.loc[(drawn, "similarity"), "mean"] == values.mean()
        assert abs(nulls.samples[drawn]["mean_cosine"].mean()) < 0.02


def test_draws_agree_with_all_possible_ones() -> None:
    embedding = bb.Embedding(words=WORDS[:11], vectors=ISOTROPIC.vectors[:11])
    nulls = randomisation_nulls(embedding, LISTS, drawn="first", samples=6000, random_seed=2)
    assert list(nulls.samples) == ["first"]
    assert nulls.vocabulary == 4
    vectors = embedding.vectors
    every = [_by_scipy(vectors[list(rows)], vectors[3:7])[0] for rows in permutations(range(7, 11), 3)]
    values, counts = np.unique(nulls.samples["first"]["similarity"].round(9), return_counts=True)
    np.testing.assert_allclose(values, np.unique(np.round(every, 9)), atol=1e-8)
    assert counts / 6000 == pytest.approx([1 / 4] * 4, abs=0.03)  # four sets of three words


def test_intervals_position_and_errors() -> None:
    nulls = randomisation_nulls(ISOTROPIC, LISTS, samples=999, random_seed=3)
    frame = nulls.frame()
    assert len(frame) == 3 * 6
    for row in frame.to_dict("records"):
        values = np.sort(nulls.samples[row["drawn"]][row["statistic"]])
        # 999 draws: the 2.5 % quantile lies between the 25th and the 26th.
        assert values[24] <= row["low"] <= values[25]
        assert values[973] <= row["high"] <= values[974]
        assert row["observed"] == nulls.observed[row["statistic"]]
        assert row["share_below"] == np.mean(values < row["observed"])
        inside = row["low"] <= row["observed"] <= row["high"]
        assert row["position"] == ("inside" if inside else "below" if row["observed"] < row["low"] else "above")
        assert row["share_mcse"] > 0


def test_positions_of_lists_that_share_everything_and_nothing() -> None:
    twin = ISOTROPIC.vectors.copy()
    twin[3:6] = twin[:3] + 0.01
    same = randomisation_nulls(bb.Embedding(words=WORDS, vectors=twin), LISTS, samples=200, random_seed=1)
    rows = same.frame().set_index(["drawn", "statistic"])
    assert (rows["position"].xs("similarity", level="statistic") == "above").all()
    assert rows.loc[("both", "similarity"), "share_below"] == 1
    assert 0 < rows.loc[("both", "similarity"), "share_mcse"] < 0.01
    apart = ISOTROPIC.vectors.copy()
    apart[:3], apart[3:7] = np.eye(DIMENSIONS)[:3], np.eye(DIMENSIONS)[3:7]
    none = randomisation_nulls(bb.Embedding(words=WORDS, vectors=apart), LISTS, samples=200, random_seed=1)
    assert (none.frame().query("statistic == 'similarity'")["position"] == "below").all()


def test_monte_carlo_error_of_a_quantile() -> None:
    results = [quantile_with_error(np.random.default_rng(seed).normal(size=2000), 0.975) for seed in range(200)]
    quantiles, errors = np.array(results).T
    assert quantiles.mean() == pytest.approx(1.96, abs=0.02)
    assert errors.mean() == pytest.approx(quantiles.std(ddof=1), rel=0.2)


def test_seed_repeats_exactly() -> None:
    one, other = (randomisation_nulls(ISOTROPIC, LISTS, samples=200, random_seed=5) for _ in range(2))
    new = randomisation_nulls(ISOTROPIC, LISTS, samples=200)
    for drawn in DRAWN:
        assert one.samples[drawn].equals(other.samples[drawn])
        assert not one.samples[drawn].equals(new.samples[drawn])
    again = randomisation_nulls(ISOTROPIC, LISTS, samples=200, random_seed=new.random_seed)
    assert again.samples["both"].equals(new.samples["both"])


def test_matched_words_move_the_null() -> None:
    """The first half of the vocabulary points one way: words matched on rank are alike, others are not."""
    vectors = np.random.default_rng(6).normal(size=(400, DIMENSIONS))
    vectors[:200] += 3
    embedding = bb.Embedding(words=WORDS, vectors=vectors)
    by_rank = randomisation_nulls(embedding, LISTS, samples=300, match="rank", window=50, random_seed=1)
    free = randomisation_nulls(embedding, LISTS, samples=300, random_seed=1)
    assert (by_rank.match, by_rank.window, free.window) == ("rank", 50, None)
    assert by_rank.samples["both"]["mean_cosine"].min() > free.samples["both"]["mean_cosine"].mean()


def test_the_four_comparisons_of_a_study() -> None:
    rng = np.random.default_rng(7)
    words = (*PETS.words, *WORDS[:60])
    embedding = bb.Embedding(words=words, vectors=rng.normal(size=(len(words), 6)))
    nulls = study_nulls(embedding, PETS, samples=50, random_seed=1)
    assert tuple(nulls) == COMPONENTS
    assert [null.lists for null in nulls.values()] == [
        ("cats", "quiet"), ("cats", "loud"), ("dogs", "loud"), ("dogs", "quiet")]  # fmt: skip
    # The words of all four lists are left out; the control words are not.
    study_words = {word for group in (*PETS.protected.values(), *PETS.attributes.values()) for word in group}
    assert {null.vocabulary for null in nulls.values()} == {len(words) - len(study_words)}
    score = canonical_subspace(embedding, PETS)
    for component, null in nulls.items():
        assert null.observed["scaled"] == pytest.approx(score.statistics[component])
    lists = {**PETS.protected, **PETS.attributes}
    assert (
        study_nulls(embedding, lists, samples=50, random_seed=1)["a_c"]
        .samples["both"]
        .equals(nulls["a_c"].samples["both"])
    )


def test_lost_words_are_kept_in_the_result() -> None:
    lists = {**LISTS, "a": ["w0", "absent"]}
    with pytest.warns(LostWordsWarning, match="absent"):
        nulls = randomisation_nulls(ISOTROPIC, lists, samples=10, random_seed=1, max_lost=0.5)
    assert nulls.words[0] == ("w0",)
    assert nulls.lost_words == {"a": ("absent",)}


def test_bad_input() -> None:
    with pytest.raises(MeasureError, match="1 word list"):
        randomisation_nulls(ISOTROPIC, {"a": ["w0"]})
    with pytest.raises(MeasureError, match=r"4 words.* 3 "):
        randomisation_nulls(ISOTROPIC, LISTS, drawn="second", vocabulary=WORDS[:10])
    with pytest.raises(MeasureError, match="window=5: 7 words"):
        randomisation_nulls(ISOTROPIC, LISTS, drawn="both", match="norm", window=5)
    with pytest.raises(ArgumentError, match=r"drawn='bath' .*'both'"):
        randomisation_nulls(ISOTROPIC, LISTS, drawn="bath")
    for options in ({"samples": 0}, {"random_seed": -1}, {"random_seed": True}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            randomisation_nulls(ISOTROPIC, LISTS, **options)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="drawn="):
        randomisation_nulls(ISOTROPIC, LISTS, drawn=())
    with pytest.raises(EmbeddingError, match="zero"):
        randomisation_nulls({"a": [0.0, 0.0], "b": [1.0, 0.0]}, {"x": ["a"], "y": ["b"]})
