"""Consistency against the definition, by brute force, and on the word lists of WEAT in Google News."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.geometry import canonical_subspace_similarity, condition_number
from bayesbias.metrics.subspaces.lattice import subset_consistency
from bayesbias.metrics.subspaces.similarity_metrics import METRICS
from tests.metrics.made import mean_cosine

GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")
RNG = np.random.default_rng(0)
GIVEN = {f"w{number}": RNG.normal(size=20) + 0.9 * (number + 1) / 2 for number in range(7)}
WORDS = list(GIVEN)


def weat_word_lists(embedding: bb.Embedding) -> list[tuple[str, ...]]:
    """Return the different lists of WEAT 1 to 10, without the words that the embedding lacks."""
    studies = [bb.load_study(f"weat{number}") for number in range(1, 11)]
    lists = [words for study in studies for words in (*study.protected.values(), *study.attributes.values())]
    held = {tuple(word for word in words if word in embedding) for words in lists}
    return sorted(words for words in held if len(words) >= 3)


def brute_force(similarity: object, words: list[str], size: int) -> dict[tuple[str, ...], bool]:
    """Return whether each sub-list is most similar to itself, by the definition."""
    subsets = list(combinations(words, size))
    consistent = {}
    for one in subsets:
        values = [float(similarity([GIVEN[w] for w in one], [GIVEN[w] for w in other])) for other in subsets]  # type: ignore[operator]
        consistent[one] = values[subsets.index(one)] >= max(values) - 1e-9
    return consistent


@pytest.mark.parametrize(
    ("metric", "similarity"), [("mean_cosine", mean_cosine), ("canonical_subspace", canonical_subspace_similarity)]
)
def test_by_the_definition(metric: str, similarity: object) -> None:
    frame = subset_consistency(GIVEN, WORDS, metric).subsets
    indices = subset_consistency(GIVEN, WORDS, metric).sizes.set_index("q")["index"]
    assert indices.index.tolist() == [1, 2, 3, 4, 5, 6]
    for size in (1, 2, 3, 4, 6):
        expected = brute_force(similarity, WORDS, size)
        rows = frame[frame["size"] == size]
        assert dict(zip(rows["subset"], rows["consistent"], strict=True)) == expected
        assert indices[size] == np.mean(list(expected.values()))
    if metric == "mean_cosine":
        assert 0 < indices[4] < 1
    else:
        assert (indices == 1).all()


def test_each_sub_list_names_its_nearest() -> None:
    frame = subset_consistency(GIVEN, WORDS, sizes=[4]).subsets
    for row in frame.itertuples():
        subset_vectors, nearest_vectors = ([GIVEN[word] for word in words] for words in (row.subset, row.nearest))
        assert row.self_similarity == pytest.approx(mean_cosine(subset_vectors, subset_vectors), abs=1e-6)
        assert row.nearest_similarity == pytest.approx(mean_cosine(subset_vectors, nearest_vectors), abs=1e-6)
        assert row.subset != row.nearest
        assert row.condition_number == pytest.approx(float(condition_number(subset_vectors)), rel=1e-5)


def test_the_mean_cosine_fails_for_pairs_of_three_words_already() -> None:
    """Two words with a third between them: (1 + cos 2t) / 2 < (1 + 2 cos t + cos 2t) / 4 for any angle t < 90."""
    for degrees in (5, 30, 80):
        t = np.deg2rad(degrees)
        given = {"low": [np.cos(t), -np.sin(t)], "middle": [1.0, 0.0], "high": [np.cos(t), np.sin(t)]}
        frame = subset_consistency(given, list(given), sizes=[2]).subsets.set_index("subset")
        assert not frame.loc[[("low", "high")], "consistent"].iloc[0]
        assert subset_consistency(given, list(given), sizes=[1]).sizes["index"].tolist() == [1]


@pytest.mark.parametrize("metric", ["mean_cosine", "mean_squared_cosine"])
def test_neighbours_find_every_inconsistency_of_a_mean(metric: str) -> None:
    every = subset_consistency(GIVEN, WORDS, metric).subsets.set_index("subset")["consistent"]
    drawn = subset_consistency(GIVEN, WORDS, metric, samples=15, random_seed=1).subsets.set_index("subset")[
        "consistent"
    ]
    assert len(drawn) == 7 + 15 + 15 + 15 + 15 + 7
    assert drawn.equals(every[drawn.index])
    if metric == "mean_cosine":
        assert 0 < drawn.mean() < 1


def test_samples_estimate_the_index() -> None:
    given = {f"w{number}": RNG.normal(size=20) + 0.4 for number in range(12)}
    of_all = subset_consistency(given, list(given), sizes=[5])
    of_draws = subset_consistency(given, list(given), sizes=[5], samples=300, random_seed=2)
    every, drawn = of_all.sizes, of_draws.sizes
    assert every["index_mcse"].tolist() == [0]
    assert (drawn["subsets"][0], drawn["possible"][0]) == (300, 792)
    assert 0.005 < drawn["index_mcse"][0] < 0.03
    assert 0.05 < every["index"][0] < 0.95
    assert abs(every["index"][0] - drawn["index"][0]) < 4 * drawn["index_mcse"][0]
    again = subset_consistency(given, list(given), sizes=[5], samples=300, random_seed=2).sizes
    assert again.equals(drawn)
    assert (of_draws.random_seed, of_all.random_seed) == (2, None)
    assert "300 sub-lists drawn are" in str(of_draws)
    assert "792 sub-lists are" in str(of_all)


@pytest.mark.parametrize("metric", METRICS)
def test_the_index_is_a_share_for_every_metric(metric: str) -> None:
    frame = subset_consistency(GIVEN, WORDS[:5], metric).sizes
    assert frame["index"].between(0, 1).all()
    assert (frame["k"] == 5).all()
    vectors = [GIVEN[word] for word in WORDS[:5]]
    np.testing.assert_allclose(frame["condition_number"], float(condition_number(vectors)), rtol=1e-5)


def test_a_metric_of_ones_own() -> None:
    index = subset_consistency(GIVEN, WORDS, mean_cosine, sizes=[3]).sizes
    assert index["index"].tolist() == subset_consistency(GIVEN, WORDS, sizes=[3]).sizes["index"].tolist()
    drawn = subset_consistency(GIVEN, WORDS, mean_cosine, sizes=[3], samples=5, random_seed=1).subsets
    named = subset_consistency(GIVEN, WORDS, sizes=[3], samples=5, random_seed=1).subsets
    assert drawn["nearest"].tolist() == named["nearest"].tolist()
    with pytest.raises(MeasureError, match="1,000,000"):
        subset_consistency(
            {f"w{number}": RNG.normal(size=20) for number in range(13)}, [f"w{number}" for number in range(13)], max
        )  # type: ignore[arg-type]


def test_dependent_words_are_ties_under_the_canonical_metric() -> None:
    given = GIVEN | {"w5": GIVEN["w0"] + GIVEN["w1"], "w6": -GIVEN["w0"]}
    frame = subset_consistency(given, WORDS, "canonical_subspace").sizes
    assert (frame["index"] == 1).all()
    assert (frame["condition_number"] == np.inf).all()


def test_too_many_sub_lists() -> None:
    given = {f"w{number}": RNG.normal(size=30) for number in range(25)}
    with pytest.raises(MeasureError, match=r"25 words have sub-lists that make 126,410,606,437,750 pairs.*samples="):
        subset_consistency(given, list(given))
    with pytest.raises(ArgumentError, match="samples=0"):
        subset_consistency(given, list(given), samples=0)
    with pytest.raises(MeasureError, match=r"sizes=.* 6 "):
        subset_consistency(GIVEN, WORDS, sizes=[7])


@pytest.mark.shared
def test_short_lists_of_weat_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    short = [words for words in weat_word_lists(embedding) if 4 <= len(words) <= 8]
    assert len(short) == 21
    for words in short:
        canonical = subset_consistency(embedding, words, "canonical_subspace").sizes
        assert (canonical["index"] == 1).all(), words
        cosine = subset_consistency(embedding, words).sizes.set_index("q")["index"]
        assert cosine[1] == 1
        assert cosine.loc[3:].min() < 1, words


@pytest.mark.shared
def test_long_lists_of_weat_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    long = [words for words in weat_word_lists(embedding) if len(words) > 8]
    assert len(long) == 8
    for words in long:
        options = {"sizes": [2, 3, 8, len(words) - 1], "samples": 10, "random_seed": 1}
        canonical = subset_consistency(embedding, words, "canonical_subspace", **options).sizes  # type: ignore[arg-type]
        assert (canonical["index"] == 1).all(), words
        cosine = subset_consistency(embedding, words, **options).sizes.set_index("q")["index"]  # type: ignore[arg-type]
        assert cosine[8] < 0.5


@pytest.mark.shared
def test_badly_conditioned_lists_are_the_inconsistent_ones(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    frames = [
        subset_consistency(embedding, words, sizes=[4]).sizes for words in weat_word_lists(embedding) if len(words) == 8
    ]
    condition = [frame["condition_number"][0] for frame in frames]
    index = [frame["index"][0] for frame in frames]
    ranks = [np.argsort(np.argsort(values)) for values in (condition, index)]
    assert np.corrcoef(*ranks)[0, 1] < -0.7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_words_are_ties_in_any_precision(dtype: type) -> None:
    """A sub-list is most similar to itself, beside sub-lists of words that differ from its own by their length."""
    base = np.random.default_rng(0).normal(size=(4, 30))
    vectors = {"a": base[0], "b": base[1], "c": 1.7 * base[1], "d": base[2], "e": 0.37 * base[2], "f": base[3]}
    given = {word: vector.astype(dtype) for word, vector in vectors.items()}
    frame = subset_consistency(given, list(given), "canonical_subspace", sizes=[1, 2], progress=False).subsets
    assert frame["consistent"].all()
    single = subset_consistency(given, list(given), "mean_cosine", sizes=[1, 2], progress=False).subsets
    assert single["consistent"].all()
