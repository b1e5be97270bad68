"""Covariates in all their forms, and fits that keep them."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, FitError, InputFileError, LostWordsWarning, QuestionWarning
from bayesbias.models.covariates import (
    collinear_faults,
    columns_of_numbers,
    read_covariates,
    with_covariates,
    without_unrated,
)
from bayesbias.models.data import model_data, subset
from tests.reports.covariates.made import made_table

SPEC = bb.load_model("multivariate")


def values_of(covariates: object, table: pd.DataFrame | None = None) -> np.ndarray:
    table = made_table() if table is None else table
    data = with_covariates(model_data(table), covariates, table, SPEC)
    assert data.covariates is not None
    return data.covariates


def test_a_percent_sign_in_a_name_says_that_numbers_are_percentages() -> None:
    table = made_table()
    share = table.groupby("protected_word")["share"].first()
    both = {"women (%)": (100 * share).to_dict(), "% as a share": (share**2).to_dict()}
    assert with_covariates(model_data(table), both, table, SPEC).percent_covariates == ("women (%)",)


def test_all_forms_are_the_same() -> None:
    table = made_table()
    by_word = table.groupby("protected_word")["share"].first()
    frame = by_word.reset_index().rename(columns={"protected_word": "word"})
    expected = by_word.to_numpy()[:, None]
    # A file may have any rows of words that are not in the table.
    more = pd.concat([frame, pd.DataFrame({"word": ["other", "other", None, None], "share": [np.nan, 1, 2, 3]})])
    forms: list[object] = [by_word, frame, more.iloc[::-1], polars.from_pandas(frame), by_word.to_frame(), "share"]
    for form in (*forms, ["share"], {"share": by_word.to_dict()}):
        np.testing.assert_array_equal(values_of(form, table), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.drop("<b>w2"), "no number for 1 of 9 protected words: <b>w2"),
        (lambda values: values.replace(values.max(), np.inf), "no number for 1 of 9"),
        (lambda values: pd.concat([values, values.head(1)]), "more than once: <b>w0"),
        (lambda values: values * 0, "one value for all words"),
        (lambda values: pd.DataFrame({"a": values, "b": 2 * values + 1}), "'b' is a linear combination of 'a'"),
        (lambda values: values.to_frame()[[]], "no column of numbers"),
        (lambda values: "shares", "did you mean 'share'"),
        (lambda values: 5, "a frame with the column 'word'"),
        (lambda values: {"share": 0.5}, "a frame with the column 'word'"),
        (lambda values: {" ": values.to_dict()}, "' ' is not the name of a covariate"),
        (lambda values: values.map(lambda share: pd.Timestamp(2000 + int(9 * share), 1, 1)), "of type datetime"),
        (lambda values: values * 1e101, "another unit"),
        (lambda values: np.sign(values - values.mean()) * 1.5e308, "another unit"),
        (lambda values: values * 1e-101, "another unit"),
        (lambda values: pd.concat({"a": values}), "an index of 2 levels"),
    ],
)
def test_mistakes_are_named(change: object, message: str) -> None:
    table = made_table()
    values = table.groupby("protected_word")["share"].first()
    with pytest.raises(ArgumentError, match=message):
        bb.fit(table, covariates=change(values), progress=False)  # type: ignore[operator]


@pytest.mark.parametrize("value", [0.1, 0.7, 1.1, 1e160])
def test_a_constant_whose_mean_is_rounded_is_one_value(value: float) -> None:
    for words in range(3, 60):
        values = np.column_stack([np.full(words, value), np.arange(words)])
        assert collinear_faults(values, ("same", "other")) == ["'same' has one value for all words"], words


def test_other_models_take_none() -> None:
    with pytest.raises(FitError, match="'crossed' takes no covariates"):
        bb.fit(made_table(), "crossed", covariates="share")


def test_a_fit_and_its_file_keep_them(tmp_path: Path) -> None:
    table = made_table()
    fit = bb.fit(table, covariates="share", draws=50, chains=1, random_seed=1, progress=False)
    again = bb.read_fit(bb.write_fit(fit, tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again["constant_data"]["covariate_value"], fit["constant_data"]["covariate_value"])
    pd.testing.assert_frame_equal(bb.covariate_effect(again).effects, bb.covariate_effect(fit).effects)
    again["constant_data"]["covariate_value"].to_numpy()[0, 0] = np.nan
    with pytest.raises(FitError, match="covariate_value"):
        bb.read_fit(bb.write_fit(again, tmp_path / "fit.nc", overwrite=True))


def test_a_subset_keeps_the_values_of_its_words() -> None:
    table = made_table()
    data = with_covariates(model_data(table), "share", table, SPEC)
    keep = (table["protected_word"] != "<b>w0").to_numpy()
    part = subset(data, keep)
    assert data.covariates is not None
    np.testing.assert_array_equal(part.covariates, data.covariates[1:])


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("word,share\nnull,0.5\nnurse,0.9\n")
    assert read_covariates(path)["word"].tolist() == ["null", "nurse"]
    for content in ("", "share\n1\n", "word\nnurse\n", 'word,share\n"nurse'):
        path.write_text(content)
        with pytest.raises(InputFileError, match="shares"):
            read_covariates(path)


def test_words_without_a_number_are_left_out_on_request_and_recorded(table: pd.DataFrame) -> None:
    words = table["protected_word"].unique().tolist()
    rated = pd.DataFrame({"word": words, "letters": [len(word) for word in words]}).astype({"letters": float})
    rated.loc[1, "letters"] = np.nan
    with pytest.warns(LostWordsWarning, match=f"Left out 2 protected words of {len(words)}.*: {words[0]}, {words[1]}"):
        (part,) = without_unrated({"": table}, {"": rated.iloc[1:].set_index("word")}).values()
    assert part["protected_word"].unique().tolist() == words[2:]
    lost = bb.lost_words(part)
    assert lost.loc[lost["reason"] == "no number in the covariates", "word"].tolist() == words[:2]
    fit = bb.fit(part, covariates=rated, draws=50, random_seed=1, progress=False)
    assert "edited" not in bb.models.fit_attribute(fit, "table")
    assert without_unrated({"": part}, {"": rated.set_index("word")})[""] is part


def test_a_column_that_numbers_the_rows_is_no_covariate(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("Nr;Job;Women, %\n7;nurse;86,1\n8;clerk;30\n9;pilot;5,4\n")
    with pytest.warns(QuestionWarning, match=r"ignored the column 'Nr', which numbers the rows\..* columns="):
        read = read_covariates(path, "Job", columns=())
    assert list(read) == ["word", "Women, %"]
    assert list(columns_of_numbers(read)) == ["word", "Women, %"]
    assert list(read_covariates(path, "Job", columns=["Women, %"])) == ["word", "Women, %"]
    chosen = read_covariates(path, "Job", columns=["Nr"])
    assert list(columns_of_numbers(chosen)) == list(chosen) == ["Nr", "word"]
    with pytest.raises(InputFileError, match=r"no column of numbers 'women, %' .did you mean 'Women, %'"):
        read_covariates(path, "Job", columns=["women, %"])


def test_a_frame_whose_index_has_the_words_keeps_what_numbers_them() -> None:
    frame = pd.DataFrame({"word": ["nurse", "clerk", "pilot"], "rank": [1, 2, 3], "share": [0.9, 0.3, 0.1]})
    with pytest.warns(QuestionWarning, match=r"'rank', which numbers the rows.*set_index\('word'\)"):
        assert list(columns_of_numbers(frame)) == ["word", "share"]
    assert list(columns_of_numbers(frame.set_index("word"))) == ["rank", "share"]
    assert list(columns_of_numbers(frame[["word", "rank"]])) == ["word", "rank"]
