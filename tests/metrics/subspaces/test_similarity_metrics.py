"""Every named similarity against a loop over pairs of lists."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.geometry import canonical_subspace_similarity
from bayesbias.metrics.subspaces.canonical_subspace import subspace_similarity
from bayesbias.metrics.subspaces.mean_cosine import word_cosines
from bayesbias.metrics.subspaces.similarity_metrics import (
    METRICS,
    all_similarities,
    leave_one_word_out,
    list_vectors,
    metric_name,
)
from tests.metrics.made import PETS, cosine, mean_cosine, vectors


def mean_squared(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean([cosine(x, y) ** 2 for x in a for y in b]))


BY_PAIR = {
    "canonical_subspace": canonical_subspace_similarity,
    "mean_cosine": mean_cosine,
    "mean_squared_cosine": mean_squared,
    "paired_cosine": lambda a, b: word_cosines(a, b, "paired").mean(),
    "centroid_cosine": lambda a, b: word_cosines(a, b, "centroid").mean(),
}


@pytest.mark.parametrize("metric", METRICS)
def test_all_pairs_are_loops_over_pairs(metric: str) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(4, 3, 7)), rng.normal(size=(5, 3, 7))
    first[0, 2] = first[0, 0]  # a dependent list among the others
    looped = [[float(BY_PAIR[metric](a, b)) for b in second] for a in first]
    np.testing.assert_allclose(all_similarities(metric, first, second), looped, atol=1e-12)
    np.testing.assert_allclose(all_similarities(BY_PAIR[metric], first, second), looped, atol=1e-12)


def test_names() -> None:
    assert metric_name(mean_cosine) == "mean_cosine"
    with pytest.raises(MeasureError, match=r"'mean_cosines'.*'mean_cosine'"):
        metric_name("mean_cosines")


def test_functions_get_the_vectors_as_they_are() -> None:
    given = vectors()
    lists = {"cats": PETS.protected["cats"][:2]}
    words, (rows,) = list_vectors(given, lists, mean_cosine)
    np.testing.assert_allclose(rows, [given["cat"], given["kitten"]], rtol=1e-6)
    _, (reduced,) = list_vectors(given, lists, "mean_cosine")
    assert words == (("cat", "kitten"),)
    assert reduced.shape == (2, 2)
    np.testing.assert_allclose(reduced @ reduced.T, rows @ rows.T, atol=1e-10)


WORDS = tuple(f"w{number}" for number in range(200))
EMBEDDING = bb.Embedding(words=WORDS, vectors=np.random.default_rng(0).normal(size=(200, 8)))
LISTS = {"a": ["w0", "w1", "w2"], "b": ["w3", "w4"]}


def test_values_without_each_word() -> None:
    frame = leave_one_word_out(EMBEDDING, LISTS, samples=50, random_seed=1).words
    assert frame[["list", "word"]].drop_duplicates().to_numpy().tolist() == [
        ["a", "w0"], ["a", "w1"], ["a", "w2"], ["b", "w3"], ["b", "w4"]]  # fmt: skip
    whole = subspace_similarity(EMBEDDING, LISTS)
    for row in frame.to_dict("records"):
        left = {name: [word for word in words if word != row["word"]] for name, words in LISTS.items()}
        without = dict(subspace_similarity(EMBEDDING, left).statistics)
        without["mean_cosine"] = mean_cosine(*(EMBEDDING.matrix(words) for words in left.values()))
        assert row["without"] == pytest.approx(without[row["statistic"]])
        if row["statistic"] != "mean_cosine":
            assert row["observed"] == pytest.approx(whole.statistics[row["statistic"]])
    similarity = frame[frame["statistic"] == "similarity"]
    assert (similarity["without"] < similarity["observed"]).all()
    # A random word adds to what the others have in common with the other list, and never takes away.
    assert (similarity["low"] > similarity["without"]).all()


def test_only_the_word_itself_is_replaced() -> None:
    """Of an orthonormal basis, each word in the other list is worth 1, and a random one at most 1."""
    words = (*"abcd", *WORDS)
    vectors = np.vstack([np.eye(8)[:2], np.eye(8)[:2] * 2, EMBEDDING.vectors])
    embedding = bb.Embedding(words=words, vectors=vectors)
    frame = leave_one_word_out(embedding, {"x": ["a", "b"], "y": ["c", "d"]}, samples=400, random_seed=1).words
    similarity = frame[frame["statistic"] == "similarity"]
    assert similarity["observed"].tolist() == pytest.approx([2] * 4)
    assert similarity["without"].tolist() == pytest.approx([1] * 4)
    assert similarity["low"].between(1, 1.1).all()
    assert similarity["high"].between(1.3, 2).all()
    assert (similarity[["low_mcse", "high_mcse"]] > 0).all(axis=None)


def test_seed_and_single_words() -> None:
    one, other = (leave_one_word_out(EMBEDDING, LISTS, samples=20, random_seed=4) for _ in range(2))
    assert one.words.equals(other.words)
    assert (one.random_seed, one.samples, one.lists) == (4, 20, ("a", "b"))
    single = leave_one_word_out(EMBEDDING, {"a": ["w0"], "b": ["w3", "w4"]}, samples=20, random_seed=1)
    assert single.words["list"].unique().tolist() == ["b"]


def test_bad_input() -> None:
    with pytest.raises(MeasureError, match="3 word lists"):
        leave_one_word_out(EMBEDDING, {**LISTS, "c": ["w9"]})
    for options in ({"samples": 0}, {"random_seed": -1}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            leave_one_word_out(EMBEDDING, LISTS, **options)
    with pytest.raises(MeasureError, match=r"1 words.* 0 "):
        leave_one_word_out(EMBEDDING, LISTS, vocabulary=WORDS[:5])


@pytest.mark.parametrize("lists", ["weat7", ["he", "she"], None])
def test_lists_are_a_mapping(lists):
    with pytest.raises(MeasureError, match="a mapping of two list names"):
        bb.metrics.leave_one_word_out({"he": [1.0, 0.0]}, lists)
