"""From an embedding and lists to unit vectors."""

import time

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning, LostWordsError, LostWordsWarning, MeasureError
from bayesbias.metrics.look_up import (
    StudyLists,
    as_embedding,
    checked_base_pairs,
    checked_words,
    find_lists,
    four_lists,
    judge_lost_rows,
    two_groups,
)
from tests.metrics.made import PETS, cosine, vectors


def test_vectors_have_length_one_and_keep_the_order() -> None:
    given = vectors()
    embedded_lists = find_lists(given, PETS.protected)
    assert embedded_lists.words == PETS.protected
    for name, words in PETS.protected.items():
        assert embedded_lists.units[name].dtype == np.float64
        for unit, word in zip(embedded_lists.units[name], words, strict=True):
            np.testing.assert_allclose(unit, given[word] / np.sqrt((given[word] ** 2).sum()), atol=1e-12)
    similarity = embedded_lists.similarity("cats", "dogs")
    assert similarity[1, 2] == pytest.approx(cosine(given["kitten"], given["hound"]))


def test_lost_words_are_recorded_and_warned_of_once() -> None:
    with pytest.warns(LostWordsWarning, match=r"2 .*: 1 .* 3 .* 'cats' \(tom\); 1 .* 3 .* 'dogs'") as warned:
        embedded_lists = find_lists(vectors("tom", "dog"), PETS.protected, max_lost=0.5)
    assert len(warned) == 1
    assert embedded_lists.lost == {"cats": ("tom",), "dogs": ("dog",)}
    assert embedded_lists.words["cats"] == ("cat", "kitten")


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_too_few_words_left() -> None:
    with pytest.raises(MeasureError, match=r"'cats' .* 1 .* 3 .* 2"):
        find_lists(vectors("tom", "kitten"), PETS.protected)
    assert len(find_lists(vectors("tom", "kitten"), PETS.protected, max_lost=1, least=1).units["cats"]) == 1


def test_words_that_match_the_same_vector() -> None:
    embedding = bb.Embedding(("cat", "dog", "owl"), np.eye(3), case="lower")
    with pytest.warns(DuplicatesWarning, match=r"1 .* 3 .*'pets'.*Cat"):
        embedded_lists = find_lists(embedding, {"pets": ["cat", "Cat", "dog"]})
    assert embedded_lists.words["pets"] == ("cat", "dog")
    with pytest.warns(DuplicatesWarning, match="1 .* 3"):
        find_lists(embedding, {"pets": ["cat", "cat", "dog"]})
    with pytest.raises(MeasureError, match=r"'cat' .*'a'.* 'Cat' .*'b'"):
        find_lists(embedding, {"a": ["cat", "owl"], "b": ["Cat", "dog"]})


def test_lists_must_be_lists_of_words() -> None:
    with pytest.raises(MeasureError, match="'cats' is 'cat'"):
        find_lists(vectors(), {"cats": "cat"})
    with pytest.raises(MeasureError, match=r"'cats'.* 3"):
        find_lists(vectors(), {"cats": ["cat", 3]})  # type: ignore[list-item]


def test_a_zero_vector_is_refused_by_name() -> None:
    with pytest.warns(LostWordsWarning, match=r"'kitten'.*zero"), pytest.raises(LostWordsError, match="1 of the 3"):
        find_lists(vectors() | {"kitten": np.zeros(5)}, PETS.protected)


def test_lists_of_all_bundled_tests_are_determined() -> None:
    for number in range(1, 11):
        study = bb.load_study(f"weat{number}")
        lists = four_lists(study)
        assert list(lists.protected) == list(study.protected)
        assert list(zip(lists.protected, lists.attributes, strict=True)) == list(study.associated)


def test_lists_by_name_are_as_good_as_a_study() -> None:
    given = {**PETS.protected, **PETS.attributes}
    assert four_lists(given).by_name == four_lists(PETS).by_name
    assert four_lists(given).associated == four_lists(PETS).associated
    turned = four_lists(PETS, ("dogs", "cats"), ("quiet", "loud"))
    assert list(turned.by_name) == ["dogs", "cats", "quiet", "loud"]
    assert two_groups({**given, "more": ["owl"]}).title == "cats, dogs by quiet, loud, more"
    with pytest.raises(MeasureError, match="1 protected group"):
        four_lists({name: given[name] for name in list(given)[:3]})
    with pytest.raises(MeasureError, match=r"targets .*attributes"):
        two_groups(given, targets=("cats", "dogs"))


def test_lists_of_the_same_name_are_told_apart_by_their_kind() -> None:
    lists = StudyLists("same", {"cats": ["cat"], "dogs": ["dog"]}, {"cats": ["purr"]})
    assert list(lists.by_name) == ["protected group cats", "dogs", "attribute group cats"]


@pytest.mark.parametrize("words", [3, None, [1], b"ab", {"a mapping": ["whose", "keys", "are", "names"]}])
def test_what_is_no_list_of_words(words: object) -> None:
    with pytest.raises(MeasureError, match="The list is "):
        checked_words("The list", words)


def test_many_pairs_take_no_longer_than_they_are_many() -> None:
    """With each pair compared with all others it took minutes."""
    pairs = [(f"he {number}", f"she {number}") for number in range(60_000)]
    started = time.process_time()
    assert checked_base_pairs(pairs) == tuple(pairs)
    with pytest.raises(MeasureError, match="twice"):
        checked_base_pairs([*pairs, pairs[7]])
    assert time.process_time() - started < 10


def test_an_embedding_is_read_for_the_words_that_are_needed() -> None:
    requests = []

    def read(words: tuple[str, ...] | None) -> bb.Embedding:
        requests.append(words)
        return bb.load_embedding(vectors(), words=words)

    find_lists(read, {"cats": ["cat", "tom"]}, others=["dog"])  # type: ignore[arg-type]
    find_lists(read, {"cats": ["cat", "tom"]}, others=None)  # type: ignore[arg-type]
    assert requests == [("cat", "tom", "dog"), None]
    with pytest.raises(MeasureError, match=r"vocabulary .*'dog'"):
        find_lists(read, {"cats": ["cat", "tom"]}, others="dog")  # type: ignore[arg-type]


def test_rows_of_a_file_that_are_lost_are_counted_and_too_few_are_refused() -> None:
    source = as_embedding({"he": [1.0, 0.0], "she": [0.0, 1.0]})
    judge_lost_rows(source, "pairs.txt", 3, [], "pairs", least=3)
    with pytest.warns(LostWordsWarning, match=r"1 of the 4 pairs: he ~ xe\."):
        judge_lost_rows(source, "pairs.txt", 4, ["he ~ xe"], "pairs", least=3)
    with pytest.raises(MeasureError, match=r"2 of the 3 pairs of pairs\.txt.* at least 3"):
        judge_lost_rows(source, "pairs.txt", 3, ["he ~ xe"], "pairs", least=3)
