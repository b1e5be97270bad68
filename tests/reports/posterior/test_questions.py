"""Questions of lists, against what the draws say by hand."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ReportError


def test_a_difference_is_that_of_the_words_means(fit: xr.DataTree, table: pd.DataFrame) -> None:
    found = bb.contrast(fit, ("math", "male"), ("arts", "male")).iloc[0]
    means = fit["posterior"]["word_mean"]
    groups = np.asarray(fit["constant_data"]["protected_group"], dtype=str)
    words = np.asarray(means["protected_word"])
    math = means.sel(protected_word=words[groups == "math"], connection="associated").mean("protected_word")
    arts = means.sel(protected_word=words[groups == "arts"], connection="different").mean("protected_word")
    draws = (math - arts).to_numpy().ravel()
    assert found["mean"] == pytest.approx(draws.mean())
    assert found["sd"] == pytest.approx(draws.std(ddof=1))
    male = table[table["attribute_group"] == "male"]
    plain = male.groupby("protected_group", observed=True)["cosine_distance"].mean()
    assert found["observed"] == pytest.approx(plain["math"] - plain["arts"])
    assert found["pairs"] == len(male)
    assert found["question"] == "math to male - arts to male"


def test_a_difference_of_differences_is_the_sum_of_its_sides(fit: xr.DataTree) -> None:
    sides = [("math", "male"), ("math", "female"), ("arts", "male"), ("arts", "female")]
    whole = bb.contrast(fit, *sides).iloc[0]
    parts = [bb.contrast(fit, *sides[at : at + 2]).iloc[0] for at in (0, 2)]
    assert whole["mean"] == pytest.approx(parts[0]["mean"] - parts[1]["mean"])
    assert whole["unpooled"] == pytest.approx(whole["observed"])  # a whole table: the words' effects cancel


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([("math", "male")], "1 sides: give two or four"),
        ([("math", "males"), ("math", "female")], "did you mean 'male'"),
        ([("maths", "male"), ("math", "female")], "did you mean 'math'"),
        ([("math", "male"), ("math", "male")], "0 by assumption"),
    ],
)
def test_questions_that_cannot_be_asked(fit: xr.DataTree, sides: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ReportError, match=message):
        bb.contrast(fit, *sides)


def test_the_study_s_own_questions_are_asked_where_none_is_given(fit: xr.DataTree, table: pd.DataFrame) -> None:
    facts = {
        **table.attrs["bayesbias"],
        "questions": {"math": [["math", "male"], ["math", "female"]], "<b>": [["arts", "male"], ["arts", "neutral"]]},
    }
    asked = fit.copy()
    asked.attrs["table"] = json.dumps(facts)
    found = bb.contrast(asked)
    assert found["question"].tolist() == ["math", "<b>"]
    given = bb.contrast(fit, ("math", "male"), ("math", "female"))
    pd.testing.assert_frame_equal(found.iloc[:1].drop(columns="question"), given.drop(columns="question"))


def test_without_any_question_it_says_where_to_write_one(fit: xr.DataTree) -> None:
    with pytest.raises(ReportError, match=r"\[questions\]"):
        bb.contrast(fit)
