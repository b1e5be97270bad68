"""From an embedding and lists to unit vectors."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning, EmbeddingError, LostWordsWarning, MeasureError
from bayesbias.metrics.look_up import weat_lists, word_sets
from tests.metrics.made import PETS, cosine, vectors


def test_vectors_have_length_one_and_keep_the_order() -> None:
    given = vectors()
    sets = word_sets(given, PETS.protected)
    assert sets.words == PETS.protected
    for name, words in PETS.protected.items():
        assert sets.units[name].dtype == np.float64
        for unit, word in zip(sets.units[name], words, strict=True):
            np.testing.assert_allclose(unit, given[word] / np.sqrt((given[word] ** 2).sum()), atol=1e-12)
    similarity = sets.similarity("cats", "dogs")
    assert similarity[1, 2] == pytest.approx(cosine(given["kitten"], given["hound"]))


def test_lost_words_are_recorded_and_warned_of_once() -> None:
    with pytest.warns(LostWordsWarning, match=r"2 words: 1 of the 3 of 'cats' \(tom\); 1 of the 3 of 'dogs'") as warned:
        sets = word_sets(vectors("tom", "dog"), PETS.protected)
    assert len(warned) == 1
    assert sets.lost == {"cats": ("tom",), "dogs": ("dog",)}
    assert sets.words["cats"] == ("cat", "kitten")


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_too_few_words_left() -> None:
    with pytest.raises(MeasureError, match="'cats' has 1 of its 3 words, but at least 2"):
        word_sets(vectors("tom", "kitten"), PETS.protected)
    assert len(word_sets(vectors("tom", "kitten"), PETS.protected, least=1).units["cats"]) == 1


def test_words_that_match_the_same_vector() -> None:
    embedding = bb.Embedding(("cat", "dog", "owl"), np.eye(3), case="lower")
    with pytest.warns(DuplicatesWarning, match=r"1 of the 3 words of 'pets'.*Cat"):
        sets = word_sets(embedding, {"pets": ["cat", "Cat", "dog"]})
    assert sets.words["pets"] == ("cat", "dog")
    with pytest.warns(DuplicatesWarning, match="1 of the 3"):
        word_sets(embedding, {"pets": ["cat", "cat", "dog"]})
    with pytest.raises(MeasureError, match=r"'cat' \(in 'a'\) and 'Cat' \(in 'b'\) are the same vector"):
        word_sets(embedding, {"a": ["cat", "owl"], "b": ["Cat", "dog"]})


def test_lists_must_be_lists_of_words() -> None:
    with pytest.raises(MeasureError, match="Give a list of words"):
        word_sets(vectors(), {"cats": "cat"})
    with pytest.raises(MeasureError, match="Give a list of words"):
        word_sets(vectors(), {"cats": ["cat", 3]})  # type: ignore[list-item]


def test_a_zero_vector_is_refused_by_name() -> None:
    with pytest.raises(EmbeddingError, match=r"'kitten'.*zero"):
        word_sets(vectors() | {"kitten": np.zeros(5)}, PETS.protected)


def test_lists_of_all_bundled_tests_are_determined() -> None:
    for number in range(1, 11):
        study = bb.load_study(f"weat{number}")
        lists = weat_lists(study)
        assert list(lists)[:2] == list(study.protected)
        assert list(zip(list(lists)[:2], list(lists)[2:], strict=True)) == list(study.associated)
