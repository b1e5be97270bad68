"""Questions of lists, against what the draws say by hand."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import ReportError


def test_a_difference_is_that_of_the_words_means(fit: xr.DataTree, table: pd.DataFrame) -> None:
    found = bb.contrast(fit, ("male", "math"), ("male", "arts")).iloc[0]
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
    assert found["question"] == "male to math - male to arts"


def test_a_difference_of_differences_is_the_sum_of_its_sides(fit: xr.DataTree) -> None:
    sides = [("male", "math"), ("female", "math"), ("male", "arts"), ("female", "arts")]
    whole = bb.contrast(fit, *sides).iloc[0]
    parts = [bb.contrast(fit, *sides[at : at + 2]).iloc[0] for at in (0, 2)]
    assert whole["mean"] == pytest.approx(parts[0]["mean"] - parts[1]["mean"])
    assert whole["unpooled"] == pytest.approx(whole["observed"])  # a whole table: the words' effects cancel


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([("male", "math")], "1 sides: give two or four"),
        ([("males", "math"), ("female", "math")], "did you mean 'male'"),
        ([("male", "maths"), ("female", "math")], "did you mean 'math'"),
        ([("male", "math"), ("male", "math")], "0 by assumption"),
    ],
)
def test_questions_that_cannot_be_asked(fit: xr.DataTree, sides: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ReportError, match=message):
        bb.contrast(fit, *sides)
