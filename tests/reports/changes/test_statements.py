"""Sentences of a trend, from rows made by hand."""

import pandas as pd
import pytest

from bayesbias.reports.periods.trend_statements import (
    convergence_statements,
    group_statements,
    lacking_statements,
    limits,
    line_statements,
    methods,
    neighbour_statements,
    verdict,
    word_statements,
)

NAME = "associated - different"
CHANGES = pd.DataFrame(
    [
        (NAME, "1900", "1910", "", 0.01, -0.02, 0.04, "not settled"),
        (NAME, "1900", "1920", "", 0.05, 0.02, 0.08, "narrower"),
        (NAME, "1910", "1920", "", 0.04, 0.01, 0.07, "neither"),
        (NAME, "1900", "1920", "men", -0.06, -0.09, -0.03, "wider"),
        ("associated - human", "1900", "1920", "", 0.0, 0.0, 0.0, "equal"),
    ],
    columns=["contrast", "first", "second", "protected_group", "mean", "hdi_low", "hdi_high", "reading"],
)
FACTS = {
    "groups_not_compared": {},
    "hdi_prob": 0.89, "lacking": 0, "protected_words": 8, "attribute_words": 12, "periods": ["1900", "1910", "1920"],
    "scope": "population", "trend": True, "walk": False, "word_covariates": [],
    "covariates": [], "draws": 4000, "random_seed": 7,
    "version": "0.1",
}  # fmt: skip


def test_the_verdict_is_about_the_first_and_the_last_period_of_all_words() -> None:
    statement = verdict(CHANGES, NAME)
    assert (statement.numbers["first"], statement.numbers["second"]) == ("1900", "1920")
    assert statement.text.startswith(f"{NAME}, from 1900 to 1920: The gap became narrower: ")
    assert "+0.050 (+0.020 to +0.080)" in statement.text
    assert verdict(CHANGES, "associated - human").numbers["reading"] == "equal"


def test_groups_have_a_statement_each() -> None:
    (statement,) = group_statements(CHANGES, NAME)
    assert statement.text == "men, from 1900 to 1920: change -0.060 (-0.090 to -0.030)."
    assert group_statements(CHANGES, "associated - human") == ()


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
            "parameter": ["line", "wealth", "sd"],
            "observed": [0.1, 0.2, float("nan")],
            "mean": [0.11, 0.02, 0.03],
            "hdi_low": [0.05, -0.1, 0.01],
            "hdi_high": [0.17, 0.14, 0.06],
            "settled": [True, False, False],
        }
    )
    settled, open_, spread = (statement.text for statement in line_statements(lines, walk=walk))
    assert settled == f"{NAME}: line 0.11 (0.05 to 0.17)."
    assert open_.endswith("which is not settled.")
    assert words in spread
    assert "of 0.03 (median; 0.01 to 0.06)" in spread


def test_words_that_moved_most_come_first_and_settled_ones_are_counted() -> None:
    words = pd.DataFrame(
        {
            "contrast": NAME,
            "protected_word": ["he", "she"],
            "mean": [-0.2, 0.1],
            "hdi_low": [-0.3, -0.1],
            "hdi_high": [-0.1, 0.3],
        }
    )
    (statement,) = word_statements(words, NAME)
    assert statement.numbers == {"settled": ["he"], "words": 2}
    assert statement.text.index("he -0.200") < statement.text.index("she +0.100")
    assert "1 of 2" in statement.text
    assert word_statements(words, "associated - human") == ()


def test_words_that_periods_lack_are_named_by_list_and_those_without_a_period_apart() -> None:
    rows = [
        ("Lisa", "protected", "women", 2, "1900"),
        ("Donna", "protected", "women", 1, "1900, 1910"),
        ("zyx", "attribute", "work", 0, "all periods"),
    ]
    lacking = pd.DataFrame(rows, columns=["word", "role", "list", "periods", "lacks"])
    some, nowhere = lacking_statements(lacking)
    assert some.numbers == {"words": ["Lisa", "Donna"], "list": "women"}
    assert "Lisa (1900)" in some.text
    assert nowhere.numbers == {"words": ["zyx"]}


def test_limits_and_methods_follow_the_facts() -> None:
    assert [statement.kind for statement in limits(FACTS)] == ["causes", "many changes", "bias"]
    assert "lacking words" in [statement.kind for statement in limits({**FACTS, "lacking": 2})]
    text = methods(FACTS).text
    assert "8 protected words with 12 attribute words over 3 periods" in text
    assert "4,000 draws (seed 7; bayesbias 0.1)" in text
    assert "The trend is a line" in text
    assert "random walk" in methods({**FACTS, "walk": True}).text
    assert "exactly these protected words" in methods({**FACTS, "scope": "these_words", "trend": False}).text


def test_words_with_few_effective_draws_are_counted() -> None:
    words = pd.DataFrame({"protected_word": ["he", "she", "they"], "ess_bulk": [399.0, 400.0, 12.0]})
    (statement,) = convergence_statements(words, 1000)
    assert statement.numbers == {"words": ["he", "they"]}
    assert "2 of 3 words" in statement.text
    assert "draws=4000, --draws 4000" in statement.text, "four times as many as there were"
    assert convergence_statements(words[1:2], 1000) == ()
