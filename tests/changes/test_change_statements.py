"""Sentences on changes, from rows made by hand."""

from typing import Any

import pandas as pd
import pytest

from bayesbias.changes.change_statements import (
    SLOPE,
    change_limits,
    change_statement,
    distance_statement,
    line_statements,
    methods_statement,
    neighbour_statements,
    word_statements,
)
from bayesbias.tables.measures import COSINE_DISTANCE

NAME = "associated - different"
FACTS: dict[str, Any] = {
    "groups_not_compared": {}, "hdi_prob": 0.89, "rope": None, "protected_words": 8, "attribute_words": 12,
    "conditions": ["1900", "1910", "1920"], "scope": "population", "trend": True, "walk": False, "word_covariates": [],
    "covariates": [], "draws": 1000, "random_seed": 7, "version": "0.1",
    "unit": 1.0, "context_errors": False,
}  # fmt: skip
CHANGE = {
    "contrast": NAME, "first": "1900", "second": "1920", "protected_group": "", "protected_word": "",
    "mean": 0.05, "hdi_low": 0.02, "hdi_high": 0.08, "borderline": False, "direction": "farther",
    "probability_of_direction": 0.98, "reading": "smaller",
}  # fmt: skip


def contrasts(group: str = "") -> pd.DataFrame:
    labels = {"contrast": NAME, "protected_group": group, "protected_word": ""}
    rows = (("1900", -0.1, -0.15, -0.05), ("1920", -0.05, -0.08, -0.02))
    return pd.DataFrame(
        [
            {**labels, "condition": name, "mean": mean, "hdi_low": low, "hdi_high": high, "borderline": False}
            for name, mean, low, high in rows
        ]
    )


def test_a_change_has_its_reading_its_size_and_both_contrasts() -> None:
    statement = change_statement(CHANGE, contrasts())
    assert statement.text == (
        "The contrast associated - different, from 1900 to 1920: smaller in 1920. The change is +0.050, interval "
        "+0.020 to +0.080; the probability that it is above 0 is 0.98. The contrast is -0.100 (-0.150 to -0.050) in "
        "1900 and -0.050 (-0.080 to -0.020) in 1920."
    )
    assert statement.numbers == CHANGE
    borderline = change_statement(CHANGE, contrasts().assign(borderline=[False, True])).text
    assert borderline.endswith("in 1900 and -0.050 (-0.080 to -0.020, borderline) in 1920.")
    of_group = change_statement(CHANGE | {"protected_group": "men", "probability_in_rope": 0.2}, contrasts("men")).text
    assert of_group.startswith("The contrast associated - different of 'men', from")
    assert "The probability that the change is too small to matter (inside the rope) is 0.20." in of_group
    equal = change_statement(CHANGE | {"reading": "no change", "direction": "equal"}, contrasts()).text
    assert "the same in both. The contrast is" in equal
    assert "The contrast is" not in change_statement(CHANGE, contrasts("men")).text


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "farther in 1920 on average. The change is +0.050"),
        ({"hdi_low": -0.01}, "not settled whether they are nearer or farther. The change"),
        ({"borderline": True}, "borderline whether they are nearer or farther (more draws"),
        ({"direction": "equal"}, "from 1900 to 1920: no distance changed."),
    ],
)
def test_mean_distances(changed: dict[str, Any], expected: str) -> None:
    text = distance_statement(CHANGE | {"connection": "human"} | changed, 2, COSINE_DISTANCE).text
    assert text.startswith("Human control words, from 1900 to 1920")
    assert expected in text


def test_words_are_named_by_their_reading() -> None:
    readings = {"he": "smaller", "she": "not settled", "man": "smaller", "old": "no change"}
    rows = [CHANGE, *({**CHANGE, "protected_word": word, "reading": reading} for word, reading in readings.items())]
    rows += [{**CHANGE, "protected_word": "late", "first": "1910", "reading": "larger"}]
    (statement,) = word_statements(pd.DataFrame(rows))
    assert statement.text == (
        "The contrast associated - different of single words, from 1900 to 1920: smaller in 1920 for 2 (he, man); no "
        "settled change for 1; the same in both for 1."
    )
    assert statement.numbers["smaller"] == ["he", "man"]
    still = pd.DataFrame([CHANGE, {**CHANGE, "protected_word": "he", "reading": "not settled"}])
    assert next(word_statements(still)).text.endswith("no settled change for any.")


def test_contrasts_that_wander_have_an_advice_each_and_the_others_one_sentence() -> None:
    names = ["a - b", "a - c", "a - d"]
    neighbours = pd.DataFrame({"contrast": names, "durbin_watson": [0.8, 1.9, 2.2], "p_value": [0.01, 0.3, 0.6]})
    wandering, others = neighbour_statements(neighbours, 0.11)
    assert wandering.numbers == {"contrast": "a - b", "durbin_watson": 0.8, "p_value": 0.01}
    assert "walk=True" in wandering.text
    assert others.numbers == {"contrasts": names[1:], "p_value": 0.3}
    assert [len(neighbour_statements(neighbours, level)) for level in (0.001, 0.9)] == [1, 3]
    assert neighbour_statements(neighbours[:0], 0.11) == ()


@pytest.mark.parametrize(("walk", "words"), [(True, "steps of the random walk"), (False, "vary around the line")])
def test_coefficients_are_settled_or_not_and_the_sd_is_no_coefficient(walk: bool, words: str) -> None:
    lines = pd.DataFrame(
        {
            "contrast": NAME,
            "parameter": [SLOPE, "wealth", "sd"],
            "observed": [0.1, 0.2, float("nan")],
            "mean": [0.11, 0.02, 0.03],
            "hdi_low": [0.05, -0.1, 0.01],
            "hdi_high": [0.17, 0.14, 0.06],
            "settled": [True, False, False],
        }
    )
    settled, open_, spread = (statement.text for statement in line_statements(lines, walk=walk))
    along = "from the first to the last period, along the line"
    assert settled == f"{NAME}: {along}, the contrast changes by +0.110, interval +0.050 to +0.170."
    assert open_.startswith(f"{NAME}: for one unit of wealth, the contrast changes by +0.02, interval -0.1 to ")
    assert open_.endswith("which is not settled.")
    assert words in spread
    assert "of 0.030 (median; interval 0.010 to 0.060)" in spread


def test_limits_and_methods_follow_the_facts() -> None:
    kinds = [statement.kind for statement in change_limits(FACTS, 3)]
    assert kinds == ["size", "causes", "removed", "absence", "many changes", "bias"]
    assert "size" not in [statement.kind for statement in change_limits(FACTS | {"rope": (-0.1, 0.1)}, 1)]
    many = {pairs: change_limits(FACTS, pairs)[4].text for pairs in (1, 3)}
    assert many[3].startswith("Which of many changes are chance. The table has 3 pairs of conditions")
    assert many[1].startswith("Which of many changes are chance. Of many intervals of 89%, some exclude 0")
    text = methods_statement(FACTS).text
    assert "8 protected words with 12 attribute words, controls included, in 3 conditions" in text
    assert "1,000 draws of each chain (seed 7; bayesbias 0.1)" in text
    assert "The trend is a line" in text
    assert "random walk" in methods_statement({**FACTS, "walk": True}).text
    assert "exactly these protected words" in methods_statement({**FACTS, "scope": "these_words", "trend": False}).text
