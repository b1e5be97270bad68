"""Design effects of lists: twins count as one, independent words as all, whatever the vectors."""

from collections.abc import Callable

import numpy as np
import pytest

from bayesbias.base import machine as memory
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.estimates.dependence import (
    FEWEST_EFFECTIVE,
    ChanceCorrelations,
    LinkedWords,
    clusters,
    linked_words,
    residual_correlations,
)
from bayesbias.tables.word_worths import links_of_distances

DIMENSIONS = 60


@pytest.fixture(scope="module")
def chance() -> ChanceCorrelations:
    random_words = np.random.default_rng(0).standard_normal((400, DIMENSIONS))
    return ChanceCorrelations.from_pairs(residual_correlations(random_words)[np.triu_indices(400, 1)])


def effect(vectors: np.ndarray, chance: ChanceCorrelations) -> float:
    links = linked_words(residual_correlations(vectors), chance)
    return links.design_effect(np.arange(len(vectors)))


@pytest.mark.parametrize("words", [8, 24, 60])
def test_independent_words_are_worth_all(chance: ChanceCorrelations, words: int) -> None:
    rng = np.random.default_rng(words)
    effects = [effect(rng.standard_normal((words, DIMENSIONS)), chance) for _ in range(40)]
    assert 1 <= np.mean(effects) < 1.06


@pytest.mark.parametrize(("concepts", "copies"), [(12, 2), (6, 4), (20, 3)])
def test_copies_of_a_word_are_worth_one(chance: ChanceCorrelations, concepts: int, copies: int) -> None:
    rng = np.random.default_rng(copies)
    vectors = np.repeat(rng.standard_normal((concepts, DIMENSIONS)), copies, axis=0)
    vectors += 0.05 * rng.standard_normal(vectors.shape)
    assert effect(vectors, chance) == pytest.approx(copies, rel=0.2)


def test_a_list_of_copies_keeps_a_spread(chance: ChanceCorrelations) -> None:
    vectors = np.repeat(np.random.default_rng(1).standard_normal((2, DIMENSIONS)), 4, axis=0)
    assert effect(vectors, chance) == pytest.approx(4, rel=0.1)
    alike = LinkedWords(np.column_stack(np.triu_indices(8, 1)), np.ones(28), np.zeros(8))
    assert alike.design_effect(np.arange(8)) == pytest.approx(8 / FEWEST_EFFECTIVE)


def test_the_metric_counts_directions_by_the_spread_of_the_vocabulary() -> None:
    scales = np.linspace(3, 0.1, DIMENSIONS)
    vectors = np.random.default_rng(2).standard_normal((9, DIMENSIONS))
    whitened = residual_correlations(vectors * scales)
    np.testing.assert_allclose(residual_correlations(vectors, np.diag(scales**2)), whitened, atol=1e-12)


def test_words_that_equal_their_mean_are_linked_with_none() -> None:
    assert (residual_correlations(np.ones((4, 3))) == 0).all()


def test_fewer_than_three_words_say_nothing(chance: ChanceCorrelations) -> None:
    for words in (1, 2):
        assert effect(np.ones((words, DIMENSIONS)), chance) == 1


def test_long_lists_have_few_chance_links() -> None:
    chance = ChanceCorrelations.from_pairs(np.linspace(-1, 1, 100_001))
    for words in (100, 500, 5_000):
        threshold, share = chance.level(words)
        linked = (1 - threshold) / 2 * words
        assert linked <= max(0.04 * words, 10) * 1.01
        assert share == pytest.approx((1 - threshold) / 2, rel=0.03)  # nearly all S above it are near 1


def test_links_of_some_words_are_those_of_the_whole_list(chance: ChanceCorrelations) -> None:
    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.standard_normal((6, DIMENSIONS)), 3, axis=0) + 0.3 * rng.standard_normal((18, DIMENSIONS))
    links = linked_words(residual_correlations(vectors), chance)
    places = np.arange(0, 18, 3)  # one word of each cluster
    assert links.design_effect(np.arange(18)) > 2
    assert links.keep(places).design_effect(np.arange(6)) == links.design_effect(places) == 1
    kept = links.keep(np.arange(3, 18))
    assert kept.design_effect(np.arange(15)) == pytest.approx(links.design_effect(np.arange(3, 18)))


def test_clusters_are_joined_by_strong_links_alone() -> None:
    links = LinkedWords(np.array([[0, 1], [1, 2], [3, 4], [4, 5]]), np.array([0.9, 0.8, 0.9, 0.3]), np.zeros(7))
    assert clusters(links, 0.7) == [[0, 1, 2], [3, 4]]
    assert clusters(LinkedWords.none(3), 0.7) == []


def test_long_lists_are_counted_before_their_words_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    short, long = (rng.standard_normal((words, 6)) for words in (100, 200))
    compare: dict[str, Callable[[np.ndarray], object]] = {
        "vectors": residual_correlations,
        "distances": lambda rows: links_of_distances(rows, np.arange(len(rows)) % 2),
        "links": lambda rows: LinkedWords.none(len(rows)).correlations(np.zeros(len(rows))),
    }
    monkeypatch.setattr(memory, "free_memory", lambda: 40 * 100**2)
    for compare_words in compare.values():
        compare_words(short)
        with pytest.raises(NotEnoughMemoryError, match="200 words with each other"):
            compare_words(long)
