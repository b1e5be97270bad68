"""Inputs of comparisons: tables by condition, times and covariates."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, InputFileError, LostWordsWarning, ReportError, TableError
from bayesbias.reports.changes.conditions import covariates_by_period, tables_by_period, times_of
from tests.models.periods.made import made_tables

PERIODS = ("1900", "1910", "1920")


def test_periods_that_are_numbers_are_sorted() -> None:
    tables = made_tables()
    given = {int(name): tables[name] for name in reversed(PERIODS)}
    assert tuple(tables_by_period(given, None, "exact")) == PERIODS
    named = {"original": tables["1920"], "debiased": tables["1900"]}
    assert list(tables_by_period(named, None, "exact")) == ["original", "debiased"]


def test_times() -> None:
    assert times_of(["1900", "1950.5"]).tolist() == [1900.0, 1950.5]
    assert (
        times_of(["a", "1950"]).tolist() == times_of(["1", "1.0"]).tolist() == times_of(["1", "nan"]).tolist() == [0, 1]
    )


def test_files_of_tables_and_embeddings(tmp_path: Path) -> None:
    study = bb.load_study("weat6")
    folder = bb.bundled("data", "vectors", "planted_drift")
    with pytest.warns(LostWordsWarning):
        table = bb.distance_table(bb.load_embedding(folder / "1990.npz"), study, max_lost=1)
    bb.write_table(table, tmp_path / "1990.csv")
    tables = tables_by_period({"1950": folder / "1950.npz", "1990": tmp_path / "1990.csv"}, study, "exact")
    pd.testing.assert_frame_equal(tables["1990"], table, check_categorical=False)
    assert any(entry["word"] == "Lisa" for entry in bb.lost_words(tables["1950"]).to_dict("records"))


@pytest.mark.parametrize(
    ("periods", "error", "message"),
    [
        ([1], ReportError, "a list"),
        ({"1900": 1}, ReportError, "a mapping of 1"),
        ({"1900": {"a": [1.0]}, "1910": {"a": [1.0]}}, ReportError, "study"),
        ({1900: None, "1900 ": None}, ReportError, "names of periods"),
    ],
)
def test_unusable_periods_are_refused(periods: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tables_by_period(periods, None, "exact")


def test_tables_of_different_studies_are_refused() -> None:
    tables = made_tables()
    swap = {"associated": "different", "different": "associated"}
    tables["1920"] = tables["1920"].assign(connection=tables["1920"]["connection"].map(swap))
    with pytest.raises(TableError, match="'1920'"):
        tables_by_period(tables, None, "exact")
    tables = made_tables()
    moved = tables["1910"]["protected_group"].where(tables["1910"]["protected_word"] != "w0", "group1")
    tables["1910"] = tables["1910"].assign(protected_group=moved)
    with pytest.raises(TableError, match=r"'w0'.*'group1'"):
        tables_by_period(tables, None, "exact")


@pytest.mark.parametrize(
    "covariates",
    [
        {"share": {1900: 0.1, 1910: 0.2, 1920: 0.4}},
        pd.DataFrame({"period": [1920, 1910, 1900], "share": [0.4, 0.2, 0.1]}),
        pd.DataFrame({"share": [0.1, 0.2, 0.4, 0.9]}, index=["1900", "1910", "1920", "1930"]),
        pd.Series({1900.0: 0.1, 1910.0: 0.2, 1920.0: 0.4}, name="share"),
    ],
)
def test_covariates(covariates: Any, tmp_path: Path) -> None:
    frame = covariates_by_period(covariates, PERIODS)
    assert frame.index.tolist() == list(PERIODS)
    assert frame["share"].tolist() == [0.1, 0.2, 0.4]
    frame.rename_axis("period").to_csv(tmp_path / "shares.csv")
    np.testing.assert_array_equal(covariates_by_period(tmp_path / "shares.csv", PERIODS), frame)


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ({"share": {1900: 0.1, 1910: 0.2}}, "'1920'"),
        ({"share": {1900: 0.1, 1910: 0.2, 1920: float("nan")}}, "'share'"),
        ({"share": {1900: 0.1, 1910: "many", 1920: 1}}, "'share'"),
        ({"share": dict.fromkeys(PERIODS, 0.5)}, "0.5 in all periods"),
        (5, "a int"),
    ],
)
def test_unusable_covariates_are_refused(covariates: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        covariates_by_period(covariates, PERIODS)


def test_a_damaged_file_of_covariates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shares.csv").write_bytes(b"\xff\xfe\x00period")
    with pytest.raises(InputFileError, match=r"shares\.csv"):
        covariates_by_period(tmp_path / "shares.csv", PERIODS)


def test_a_covariate_that_rounding_alone_moves_is_constant() -> None:
    numbers = dict(zip(PERIODS, [0.3, 0.1 + 0.2, *[0.3] * len(PERIODS)], strict=False))
    with pytest.raises(ArgumentError, match="all periods"):
        covariates_by_period({"share": numbers}, PERIODS)
