"""The four lists of a test, from studies and from mappings."""

import numpy as np
import pytest
from bayesbias.metrics.subspaces.association_lists import four_lists, score

from bayesbias.errors import LostWordsWarning, MeasureError
from tests.metrics.made import PETS, vectors


def test_lists_come_with_their_vectors_as_stored() -> None:
    given = vectors()
    lists = four_lists(given, PETS)
    assert lists.names == ("cats", "dogs", "quiet", "loud")
    np.testing.assert_allclose(lists.vectors[3], [given[word] for word in PETS.attributes["loud"]], rtol=1e-6)
    first, second = lists.pairs[3]
    assert first is lists.vectors[1]  # B:C
    assert second is lists.vectors[2]
    turned = four_lists(given, PETS, targets=("dogs", "cats"), attributes=("quiet", "loud"))
    assert turned.names == ("dogs", "cats", "quiet", "loud")


def test_four_lists_are_as_good_as_a_study() -> None:
    by_name = four_lists(vectors(), {**PETS.protected, **PETS.attributes})
    assert by_name.words == four_lists(vectors(), PETS).words
    with pytest.raises(MeasureError, match="Found 3 word lists"):
        four_lists(vectors(), {"a": ["cat"], "b": ["dog"], "c": ["nap"]})
    with pytest.raises(MeasureError, match="without targets"):
        four_lists(vectors(), {**PETS.protected, **PETS.attributes}, targets=("cats", "dogs"))


def test_lost_words() -> None:
    with pytest.warns(LostWordsWarning, match="tom"):
        lists = four_lists(vectors("tom", "kitten"), PETS)
    assert lists.words[0] == ("cat",)
    assert lists.given == (3, 3, 2, 3)
    assert lists.lost == {"cats": ("kitten", "tom")}
    with pytest.warns(LostWordsWarning), pytest.raises(MeasureError, match="'cats' has 0 of its 3 words"):
        four_lists(vectors("tom", "kitten", "cat"), PETS)


def test_score_keeps_leading_axes() -> None:
    components = np.array([[0.1, 0.2, 0.4, 0.8], [1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(score(components), [0.1 + 0.4 - 0.8 - 0.2, 1.0])
