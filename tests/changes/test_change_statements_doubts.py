"""Doubts about changes, from rows made by hand."""

from typing import Any

import pandas as pd
import pytest

from bayesbias.base.results import alerts_and_others
from bayesbias.base.statements import Statement
from bayesbias.changes.change_statements import change_doubts, equalized_words
from bayesbias.models.covariates import NO_NUMBER

PROTECTED, ATTRIBUTES = ["he", "she", "boy", "aunt"], ["king", "queen", "prince", "duke"]
FACTS: dict[str, Any] = {
    "unit": 1.0,
    "conditions": ["old", "new"], "convergence_problems": [], "equalized": {}, "tied": {}, "short_controls": {},
    "hdi_prob": 0.89, "compared_words": {"protected": PROTECTED, "attribute": ATTRIBUTES},
}  # fmt: skip
NONE_LACKING = pd.DataFrame(columns=["word", "role", "list", "conditions", "lacks", "reason"])


def distances(connection: str = "neutral", **changed: Any) -> pd.DataFrame:
    labels = {"first": "old", "second": "new", "protected_word": ""}
    row = labels | {"mean": 0.1, "hdi_low": 0.05, "hdi_high": 0.15, "borderline": False, "direction": "farther"}
    return pd.DataFrame([{**row, "connection": "associated"}, {**row, "connection": connection, **changed}])


def kinds(rows: pd.DataFrame, lacking: pd.DataFrame = NONE_LACKING, **facts: Any) -> list[str]:
    return [doubt.kind for doubt in change_doubts(rows, lacking, FACTS | facts)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (distances(), ["controls differ"]),
        (distances("human"), ["controls differ"]),
        (distances("different"), []),
        (distances(hdi_low=-0.1), []),
        (distances(borderline=True), []),
        (distances(probability_in_rope=0.95), []),
        (distances(probability_in_rope=0.5), ["controls differ"]),
        (distances().iloc[1:], []),
    ],
)
def test_control_words_that_moved_are_a_doubt(rows: pd.DataFrame, expected: list[str]) -> None:
    assert kinds(rows) == expected


def test_controls_that_alone_moved_are_said_to() -> None:
    rows = distances()
    rows.loc[0, "direction"] = "equal"
    (doubt,) = change_doubts(rows, NONE_LACKING, FACTS)
    assert doubt.text == (
        "From 'old' to 'new', the mean distance to neutral words changed by +0.100, although no distance to "
        "other words did."
    )


def test_words_that_were_equalized_are_named_by_role() -> None:
    equalized = {"new": (("he", "she"), ("king", "queen"))}
    protected, attributes = change_doubts(distances("different"), NONE_LACKING, FACTS | {"equalized": equalized})
    assert [protected.kind, attributes.kind] == ["equalized words", "equalized attribute words"]
    assert protected.text.startswith("In 'new', 2 of 4 protected words were equalized (he, she)")
    assert "2 of 4 attribute words were equalized (king, queen)" in attributes.text
    assert "unlike in 'old'" in attributes.text
    assert protected.text.endswith(
        "words that were not equalized, of which these lists have only boy, aunt: use others, such as first names."
    )
    assert attributes.text.endswith(
        "words that were not equalized, of which these lists have only prince, duke: use others, such as first names."
    )
    every = {"new": (tuple(PROTECTED), ())}
    (none_left,) = change_doubts(distances("different"), NONE_LACKING, FACTS | {"equalized": every})
    assert none_left.text.endswith("of which these lists have none: use others, such as first names.")
    assert kinds(distances("different"), equalized={"new": ((), ("king", "queen"))}) == ["equalized attribute words"]


def test_where_most_words_were_equalized_the_contrast_closes_by_construction_which_precedes_the_answer() -> None:
    most = FACTS | {"equalized": {"new": (("he", "she", "boy"), ())}}
    (doubt,) = change_doubts(distances("different"), NONE_LACKING, most)
    assert doubt.kind == "zero by construction"
    assert "3 of 4 protected words" in doubt.text
    assert alerts_and_others([doubt]) == ((doubt,), ())


def test_lacking_words_ties_and_convergence() -> None:
    lacking = pd.DataFrame(
        [
            ("Lisa", "protected", "women", 2, "1900", "not in the embedding"),
            ("zyx", "attribute", "work", 0, "all", "not in the embedding"),
            ("Ann", "protected", "women", 2, "1910", NO_NUMBER),
            ("Eve", "protected", "women", 0, "all", NO_NUMBER),
        ],
        columns=NONE_LACKING.columns,
    )
    found = kinds(distances("different"), lacking, tied={"new": 2}, convergence_problems=["The fit of 'new': R-hat."])
    assert found == ["convergence", "lacking words", "lost words", "lost words", "tied words"]
    some, nowhere, unrated = (doubt for doubt in change_doubts(distances("different"), lacking, FACTS))
    assert "Lisa (not in 1900), Ann (without a number in 1910)" in some.text
    assert some.numbers == {"words": ["Lisa", "Ann"], "list": "women"}
    assert nowhere.text == "1 word of work is missing in every condition: zyx."
    assert unrated.text == "Words without a number in the covariates were left out of all conditions: Eve."


def test_of_many_lost_words_a_few_are_named_with_the_count() -> None:
    words = [f"w{number}" for number in range(50)]
    rows = [(word, "attribute", "neutral", 0, "all", "not in the embedding") for word in words]
    (doubt,) = change_doubts(distances("different"), pd.DataFrame(rows, columns=NONE_LACKING.columns), FACTS)
    assert "w11" in doubt.text
    assert "w12" not in doubt.text
    assert "38 more" in doubt.text
    assert doubt.numbers == {"words": words, "list": "neutral"}


def test_slopes_between_distances_of_another_scale_are_doubted() -> None:
    rows = distances("different", mean=0.4)
    assert kinds(rows) == []
    (doubt,) = change_doubts(rows, NONE_LACKING, FACTS | {"word_covariates": ["share"]})
    assert "mean distances changed by +0.250. A change of a slope may then be a matter of scale" in doubt.text
    assert kinds(distances("different", mean=-0.1), word_covariates=["share"]) == []


def test_equalized_words_are_those_that_are_tied_only_after() -> None:
    rows = [
        (word, attribute, connection, 0.1 * place + 0.01 * number)
        for place, word in enumerate(("he", "she", "king"))
        for number, (attribute, connection) in enumerate(
            (("work", "associated"), ("pay", "associated"), ("home", "different"), ("wash", "different"))
        )
    ]
    before = pd.DataFrame(rows, columns=["protected_word", "attribute_word", "connection", "cosine_distance"])
    after = before.copy()
    same = after["protected_word"] == "she"
    after.loc[same, "cosine_distance"] = after.loc[after["protected_word"] == "he", "cosine_distance"].to_numpy()
    assert equalized_words(before, after, "protected_word") == ("he", "she")
    assert equalized_words(before, after, "attribute_word") == ()
    assert equalized_words(after, after, "protected_word") == ()


def test_a_word_that_decides_slopes_is_named_once_with_its_periods() -> None:
    influence, lost = Statement("influence", "Without 'nurse', it has the other sign."), Statement("lost words", "One.")
    by_period = {"1900": (lost, influence), "1950": (lost,), "1990": (influence,)}
    first, doubt = change_doubts(distances("different"), NONE_LACKING, FACTS | {"slope_doubts": by_period})
    assert first.text == "One. (In 1900 and 1950.)"
    assert doubt.text == "Without 'nurse', it has the other sign. (In 1900 and 1990.)"
    assert doubt.numbers == {"periods": ["1900", "1990"]}
