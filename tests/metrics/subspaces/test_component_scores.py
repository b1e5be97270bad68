"""The four components of a score, their lists and vectors."""

import numpy as np
import pytest

from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.look_up import find_lists, four_lists
from bayesbias.metrics.subspaces.component_scores import (
    COMPONENTS,
    component_lists,
    component_vectors,
    score,
    score_result,
    score_statistics,
)
from tests.metrics.made import PETS, vectors


def test_lists_come_with_their_vectors_as_stored() -> None:
    given, lists = vectors(), four_lists(PETS)
    assert component_lists(lists)["b_c"] == ("dogs", "quiet")
    pairs = dict(zip(COMPONENTS, component_vectors(lists, find_lists(given, lists.by_name)), strict=True))
    np.testing.assert_allclose(pairs["a_d"][1], [given[word] for word in PETS.attributes["loud"]], rtol=1e-6)
    np.testing.assert_allclose(pairs["b_c"][0], [given[word] for word in PETS.protected["dogs"]], rtol=1e-6)


def test_score_keeps_leading_axes() -> None:
    components = np.array([[0.1, 0.2, 0.4, 0.8], [1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(score(components), [0.1 + 0.4 - 0.8 - 0.2, 1.0])
    statistics = score_statistics(list(components.T))
    assert list(statistics) == ["score", *COMPONENTS]
    np.testing.assert_array_equal(statistics["score"], score(components))
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
