"""The three estimators against loops over their definitions."""

from statistics import mean

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.metrics.associations.weat import weat
from bayesbias.metrics.look_up import find_lists, four_lists
from bayesbias.metrics.subspaces.mean_cosine import (
    COMPONENTS,
    Estimator,
    component_lists,
    component_vectors,
    score_of_components,
    score_result,
    score_statistics,
    weat_score,
    word_cosines,
)
from tests.metrics.made import PETS, cosine, vectors

LISTS = {
    "cats": ("cat", "kitten"), "dogs": ("dog", "puppy"), "quiet": ("purr", "nap"), "loud": ("bark", "howl")
}  # fmt: skip

ESTIMATORS: tuple[Estimator, ...] = ("grand_mean", "paired", "centroid")


def rows(given: dict[str, np.ndarray], name: str) -> np.ndarray:
    return np.array([given[word] for word in LISTS[name]])


def test_estimators_are_those_of_the_definitions() -> None:
    given = vectors()
    a, b = rows(given, "cats"), np.array([given[word] for word in ("bark", "howl", "growl")])
    assert word_cosines(a, b).mean() == pytest.approx(mean(cosine(x, y) for x in a for y in b))
    assert word_cosines(a, b, "centroid").mean() == pytest.approx(mean(cosine(x, b.sum(axis=0)) for x in a))
    assert word_cosines(a, b[:2], "paired").mean() == pytest.approx(mean([cosine(a[0], b[0]), cosine(a[1], b[1])]))


def test_the_grand_mean_is_the_difference_of_means_of_weat() -> None:
    score = weat_score(vectors(), PETS)
    assert score.score == score.value == pytest.approx(weat(vectors(), PETS, statistic="mean").test_statistic)
    given = vectors()
    cats, loud = PETS.protected["cats"], PETS.attributes["loud"]
    assert score.a_d == pytest.approx(mean(cosine(given[x], given[y]) for x in cats for y in loud))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_score_is_made_of_means_of_words(estimator: Estimator) -> None:
    result = weat_score(vectors(), LISTS, estimator=estimator)
    by_group = result.scores.groupby("group", sort=False)["score"].mean()
    assert [result.a_c - result.a_d, result.b_c - result.b_d] == pytest.approx(by_group[["cats", "dogs"]].tolist())
    assert result.score == pytest.approx(result.a_c + result.b_d - result.b_c - result.a_d)
    assert estimator in result.conventions
    assert "A = cats" in result.conventions


def test_only_the_paired_estimator_depends_on_the_order() -> None:
    turned = LISTS | {"quiet": ("nap", "purr")}
    changes = {
        estimator: weat_score(vectors(), LISTS, estimator=estimator).score
        - weat_score(vectors(), turned, estimator=estimator).score
        for estimator in ESTIMATORS
    }
    assert abs(changes["paired"]) > 0.01
    assert changes["grand_mean"] == pytest.approx(0, abs=1e-12)
    assert changes["centroid"] == pytest.approx(0, abs=1e-12)


def test_only_the_centroid_depends_on_the_length_of_vectors() -> None:
    longer = vectors() | {"purr": 9 * vectors()["purr"]}
    for estimator, same in (("grand_mean", True), ("paired", True), ("centroid", False)):
        scores = [weat_score(given, LISTS, estimator=estimator).score for given in (vectors(), longer)]  # type: ignore[arg-type]
        assert (scores[0] == pytest.approx(scores[1], abs=1e-10)) is same


def test_kernels_keep_leading_axes() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4, 6)), rng.normal(size=(3, 4, 6))
    for estimator in ESTIMATORS:
        assert word_cosines(a, b, estimator).shape == (2, 3, 4)
        assert word_cosines(a, b, estimator)[1, 2] == pytest.approx(word_cosines(a[1, 2], b[2], estimator))


def test_lists_that_cannot_be_paired() -> None:
    with pytest.raises(MeasureError, match="2 and 3 words"):
        word_cosines(np.ones((2, 3)), np.ones((3, 3)), "paired")
    with pytest.raises(MeasureError, match=r"\('cats' 3, 'dogs' 3, 'quiet' 2, 'loud' 3 words\)"):
        weat_score(vectors(), PETS, estimator="paired")


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_lost_words_leave_wrong_partners() -> None:
    given = vectors("cat", "nap")
    with pytest.raises(MeasureError, match=r"'cats' kept 1 of 2; 'quiet' kept 1 of 2 words"):
        weat_score(given, LISTS, estimator="paired", max_lost=0.5)
    assert weat_score(given, LISTS, max_lost=0.5).lost_words == {"cats": ("cat",), "quiet": ("nap",)}


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'centroid'"):
        weat_score(vectors(), LISTS, estimator="centroids")  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="centroid"):
        word_cosines([[1.0, 0.0]], [[1.0, 0.1], [-1.0, -0.1]], "centroid")
    with pytest.raises(MeasureError, match="zero"):
        word_cosines([[1.0, 0.0]], [[0.0, 0.0]])
    with pytest.raises(MeasureError, match="2 and 3 dimensions"):
        word_cosines(np.ones((1, 2)), np.ones((1, 3)))
    with pytest.raises(MeasureError, match="3 protected groups"):
        weat_score({word: [1.0, number] for number, word in enumerate(bb.load_study("religion").words)}, "religion")


def test_lists_come_with_their_vectors_as_stored() -> None:
    given, lists = vectors(), four_lists(PETS)
    assert component_lists(lists)["b_c"] == ("dogs", "quiet")
    pairs = dict(zip(COMPONENTS, component_vectors(lists, find_lists(given, lists.by_name)), strict=True))
    np.testing.assert_allclose(pairs["a_d"][1], [given[word] for word in PETS.attributes["loud"]], rtol=1e-6)
    np.testing.assert_allclose(pairs["b_c"][0], [given[word] for word in PETS.protected["dogs"]], rtol=1e-6)


def test_score_keeps_leading_axes() -> None:
    components = np.array([[0.1, 0.2, 0.4, 0.8], [1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(score_of_components(components), [0.1 + 0.4 - 0.8 - 0.2, 1.0])
    statistics = score_statistics(list(components.T))
    assert list(statistics) == ["score", *COMPONENTS]
    np.testing.assert_array_equal(statistics["score"], score_of_components(components))
    np.testing.assert_array_equal(statistics["b_d"], [0.4, 0.0])


def test_result_of_any_similarity() -> None:
    lists = four_lists(PETS)
    with pytest.warns(LostWordsWarning, match="tom"):
        embedded_lists = find_lists(vectors("tom", "kitten"), lists.by_name, max_lost=1, least=1)
    result = score_result(
        "sizes", lists, embedded_lists, "a test", lambda x, y: len(x) * len(y), lambda x, y: np.full(len(x), len(y))
    )
    assert [result.statistics[name] for name in COMPONENTS] == [2, 3, 9, 6]
    assert result.value == 2 + 9 - 6 - 3
    assert result.scores["score"].tolist() == [2 - 3] * 4
    assert result.scores["group"].tolist() == ["cats"] + ["dogs"] * 3
    assert result.lost_words == {"cats": ("kitten", "tom")}
    assert result.conventions.startswith("A = cats, B = dogs, C = quiet, D = loud")


def test_a_list_without_words() -> None:
    with pytest.raises(MeasureError, match=r"'cats' .* 0 .* 3 "):
        find_lists(vectors("tom", "kitten", "cat"), four_lists(PETS).by_name, max_lost=1, least=1)
