"""Words that an embedding lacks: when they get a message, when they are too many, and what the message asks for."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost, judge_lost_words, list_labels
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, command_line_messages


def losing(lost: int, size: int, *, name: str = "math", limited: bool = True) -> WordList:
    """Return a list that lost some of its words."""
    return WordList(name, size, [f"w{number}" for number in range(lost)], limited=limited)


@pytest.mark.parametrize("value", [True, -0.1, 1.1, np.nan, np.inf, "0.2", None, 20])
def test_what_is_no_share_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^max_lost=.*: .* 0 .* 1, .* 0\.2\.$"):
        check_max_lost(value)
    with pytest.raises(ArgumentError, match="max_lost="):
        judge_lost_words("X", [], "", max_lost=value)


@pytest.mark.parametrize("value", [0, 0.2, 1, np.float32(0.5), np.int64(1)])
def test_shares_are_floats(value: Any) -> None:
    assert check_max_lost(value) == value
    assert type(check_max_lost(value)) is float


@pytest.mark.parametrize(("lost", "size"), [(1, 5), (3, 15), (5, 25), (7, 35)])
def test_at_the_limit_words_are_told_and_past_it_they_are_too_many(lost: int, size: int) -> None:
    with pytest.warns(LostWordsWarning, match=rf"^X .* {lost} .*: {lost} .* {size} .* 'math' \(w0.*\. So\.$"):
        judge_lost_words("X", [losing(lost, size)], "So.", max_lost=MAX_LOST)
    with pytest.raises(LostWordsError, match=rf"^X .*: {lost + 1} .* {size} .* 'math' .* 20%"):
        judge_lost_words("X", [losing(lost + 1, size)], "So.", max_lost=MAX_LOST)


@pytest.mark.parametrize(("lost", "size"), [(1, 3), (1, 2), (2, 7), (1, 4), (7, 25), (29, 100), (45, 90)])
def test_the_share_that_is_named_is_enough(lost: int, size: int) -> None:
    lists = [losing(lost, size), losing(lost, 2 * size, name="arts"), losing(0, 9, name="male")]
    with pytest.raises(LostWordsError) as caught:
        judge_lost_words("X", lists, "", max_lost=0)
    (named,) = re.findall(r"allow it: max_lost=(\S+)\.$", str(caught.value))
    with command_line_messages(), pytest.raises(LostWordsError, match=rf"allow it: --max-lost {named}\.$"):
        judge_lost_words("X", lists, "", max_lost=0)
    assert lost / size <= float(named) < lost / size + 0.011
    with pytest.warns(LostWordsWarning):
        judge_lost_words("X", lists, "", max_lost=float(named))


@pytest.mark.parametrize(("lost", "size"), [(2, 3), (26, 50), (9, 10)])
def test_a_list_that_lost_more_than_half_is_not_to_be_allowed(lost: int, size: int) -> None:
    with pytest.raises(LostWordsError, match=r"or replace them\.$"):
        judge_lost_words("X", [losing(lost, size), losing(1, 4, name="arts")], "", max_lost=MAX_LOST)


def test_control_lists_may_lose_any_share() -> None:
    control = losing(3, 3, name="human", limited=False)
    with pytest.warns(LostWordsWarning, match=r"3 .* 3 .* 'human'"):
        judge_lost_words("X", [control], "", max_lost=0)
    with pytest.raises(LostWordsError) as caught:
        judge_lost_words("X", [control, losing(1, 4)], "", max_lost=0.2)
    assert "human" not in str(caught.value)
    assert str(caught.value).endswith("max_lost=0.25.")


def test_all_lists_that_lost_too_many_are_named_and_the_others_are_not() -> None:
    lists = [losing(6, 10), losing(1, 10, name="arts"), losing(1, 2, name="male")]
    with pytest.raises(LostWordsError) as caught:
        judge_lost_words("X", lists, "", max_lost=0.2)
    assert "6 of the 10 of 'math' (w0, w1, w2, w3, w4 and 1 more); 1 of the 2 of 'male' (w0)." in str(caught.value)
    assert "arts" not in str(caught.value)


def test_all_words_are_told_by_default() -> None:
    with pytest.warns(LostWordsWarning, match=r"3 words: 2 .* 2 .* 'math'.*; 1 .* 9 .* 'arts'"):
        judge_lost_words("X", [losing(2, 2), losing(1, 9, name="arts")], "")


def test_nothing_is_said_where_nothing_is_lost() -> None:
    with warnings.catch_warnings(action="error"):
        judge_lost_words("X", [], "", max_lost=0)
        judge_lost_words("X", [losing(0, 3), losing(0, 3, name="human", limited=False)], "", max_lost=0)


def test_lists_of_one_name_are_told_apart() -> None:
    labels = list_labels(["arts", "math"], ["arts", "male"])
    assert labels == {
        ("protected", "arts"): "protected group arts",
        ("protected", "math"): "math",
        ("attribute", "arts"): "attribute group arts",
        ("attribute", "male"): "male",
    }


def test_words_without_a_number_are_told_apart_from_those_that_the_embedding_lacks() -> None:
    lists = WordList("jobs", 9, ["nurse", "athlete"], without_number={"athlete"})
    assert str(lists) == "2 of the 9 of 'jobs' (nurse, athlete (no number))"
