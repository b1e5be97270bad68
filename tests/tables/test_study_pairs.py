"""Pairs of a study's words, whatever is measured."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsError, NotEnoughMemoryError
from bayesbias.tables.study_pairs import StudyPairs, judge_lost, lists_of, lost_entries

STUDY = bb.Study(
    name="pets",
    protected={"cats": ["cat", "tom"], "dogs": ["dog"]},
    attributes={"quiet": ["purr", "nap"], "loud": ["bark"]},
    associated=[("cats", "quiet"), ("dogs", "loud")],
    human="none",
    neutral="none",
)


def test_rows_are_in_the_order_of_the_study() -> None:
    pairs = StudyPairs.from_words(STUDY, {"cat", "dog", "purr", "bark"})
    frame = pairs.frame({"score": np.array([[1.0, 2.0], [3.0, 4.0]])})
    assert frame["protected_word"].tolist() == ["cat", "cat", "dog", "dog"]
    assert frame["connection"].tolist() == ["associated", "different", "different", "associated"]
    assert frame["score"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert list(lists_of(STUDY)["quiet"]) == ["purr", "nap"]


def test_lost_words_and_empty_lists_are_named() -> None:
    lost = lost_entries(STUDY, {"tom": "no score"})
    assert lost == [{"word": "tom", "role": "protected", "list": "cats", "reason": "no score"}]
    with pytest.raises(LostWordsError, match="The frame lacks too many words: 1 of the 2 of 'cats'"):
        judge_lost(STUDY, lost, "The frame", hint="", max_lost=0.2)
    with pytest.raises(LostWordsError, match=r"The frame has no word of list 'loud' .* Add some"):
        StudyPairs.from_words(STUDY, {"cat", "dog", "purr"}).raise_if_a_list_is_empty("The frame", "Add some.")
    with pytest.raises(LostWordsError, match="none of the 6 words"):
        StudyPairs.from_words(STUDY, set()).raise_if_a_list_is_empty("The frame", "Add some.")


def test_memory_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbias.tables.study_pairs._BYTES_A_PAIR", 1 << 60)
    with pytest.raises(NotEnoughMemoryError, match="3 protected and 3 attribute words"):
        StudyPairs.from_words(STUDY, set(STUDY.words)).check_memory()
