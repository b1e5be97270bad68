"""The engine of changes: which pairs of conditions it compares, and what it keeps."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.engine import Lines, Periods, changes_of, covariates_by_period, tables_by_period, times_of
from bayesbias.changes.result import Changes, Estimation
from bayesbias.errors import (
    ArgumentError,
    InputFileError,
    LostWordsWarning,
    NotEnoughMemoryError,
    ReportError,
    TableError,
)
from bayesbias.models.periods.contrast_draws import period_sample
from tests.changes.changed_tables import before_table, changed_table
from tests.models.periods.made import made_tables

WORDS = ("w0", "w1", "w2", "w3")
CONDITIONS = ("a", "b", "c")


def tables() -> dict[str, pd.DataFrame]:
    table = before_table(WORDS, attributes=4)
    return {name: table if place == 0 else changed_table(table, seed=place) for place, name in enumerate(CONDITIONS)}


ESTIMATION = Estimation(draws=100, seed=1, hdi_prob=0.89)


def periods(given: dict[str, pd.DataFrame], lines: Lines = lambda *_: {}) -> Periods:
    return Periods(period_sample(given), np.arange(float(len(given))), lines, {})


@cache
def changes(*names: str) -> Changes:
    return changes_of({name: table for name, table in tables().items() if name in (names or CONDITIONS)}, ESTIMATION)


@cache
def moves(*names: str, **settings: Lines) -> Changes:
    given = {name: table for name, table in tables().items() if name in (names or CONDITIONS)}
    return changes_of(given, ESTIMATION, periods=periods(given, **settings))


def pairs_of(frame: pd.DataFrame) -> list[str]:
    contrast = frame.iloc[:, 0].iloc[0]
    rows = frame[frame.iloc[:, 0] == contrast]
    return (rows["first"] + rows["second"]).tolist()


def split(result: Changes) -> list[list[str]]:
    """Return the pairs of conditions of all words, of groups and of single words."""
    rows, is_word, is_group = (
        result.changes,
        result.changes["protected_word"] != "",
        result.changes["protected_group"] != "",
    )
    return [pairs_of(rows[where]) for where in (~is_word & ~is_group, is_group, is_word)]


def test_conditions_are_compared_with_the_first_and_periods_with_each_other() -> None:
    compared, moved = changes(), moves()
    from_first = ["ab", "ac"]
    assert [sorted(pairs) for pairs in split(compared)] == [sorted(from_first * count) for count in (1, 2, 4)]
    assert [sorted(pairs) for pairs in split(moved)] == [["ab", "ac", "bc"], 2 * ["ac"], 4 * ["ac"]]
    assert (compared.facts["times"], moved.facts["times"]) == (None, [0.0, 1.0, 2.0])


def test_a_change_does_not_depend_on_the_other_embeddings_and_is_that_of_two_periods() -> None:
    every = changes()
    for name in ("b", "c"):
        for alone in (changes("a", name), moves("a", name)):
            for frame in ("changes", "distances"):
                rows = getattr(every, frame)
                shared = rows[rows["second"] == name].reset_index(drop=True)
                pd.testing.assert_frame_equal(pd.DataFrame(shared), pd.DataFrame(getattr(alone, frame)))


def test_the_result_keeps_the_fits_the_draws_and_the_frames_of_lines() -> None:
    result = moves(lines=lambda drawn, _: {"lines": pd.DataFrame({"periods": [drawn.observed.shape[0]]})})
    assert tuple(result.fits) == result.conditions == CONDITIONS
    assert dict(result.draws["population"].sizes) == {"chain": 4, "draw": 100, "contrast": 3, "condition": 3}
    change = result.draws["population"].sel(condition="c") - result.draws["population"].sel(condition="a")
    row = result.changes[(result.changes["second"] == "c") & (result.changes["protected_group"] == "")].iloc[0]
    assert change.sel(contrast=row["contrast"]).std() == pytest.approx(row["sd"], rel=0.01)
    assert result.lines.values.tolist() == [[f"associated - {name}", 3] for name in ("different", "human", "neutral")]
    assert result.slopes.empty
    assert not changes().draws


def test_periods_without_a_contrast_are_refused_and_conditions_have_distances_alone() -> None:
    given = {name: table[table["connection"] == "neutral"].reset_index(drop=True) for name, table in tables().items()}
    with pytest.raises(ReportError, match="associated"):
        changes_of(given, ESTIMATION, periods=periods(given))
    result = changes_of(given, ESTIMATION)
    assert (len(result.changes), set(result.distances["connection"])) == (0, {"neutral"})


def test_draws_that_do_not_fit_into_memory_are_refused_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    given = tables()
    monkeypatch.setattr("bayesbias.changes.engine.fit", lambda *_, **__: pytest.fail("a table was fitted"))
    with pytest.raises(NotEnoughMemoryError, match="4 words under 3 conditions"):
        changes_of(given, Estimation(draws=10**12, seed=1, hdi_prob=0.89), periods=periods(given))


def test_a_control_list_that_one_embedding_has_too_little_of_is_left_out_there_and_named() -> None:
    given = tables()
    given["b"] = given["b"].loc[~given["b"]["attribute_word"].isin(["human1", "human2", "human3"])]
    result = changes_of(given, ESTIMATION)
    of_all = result.distances.loc[result.distances["protected_word"] == "", ["second", "connection"]]
    missing = {(second, name) for second in "bc" for name in ("associated", "different", "human", "neutral")}
    assert missing - set(of_all.itertuples(index=False, name=None)) == {("b", "human")}
    assert set(result.changes.loc[result.changes["second"] == "b", "contrast"]) == {
        "associated - different",
        "associated - neutral",
    }
    (doubt,) = (doubt for doubt in result.doubts if doubt.kind == "short control list")
    assert "lacking words" in {doubt.kind for doubt in result.doubts}, "the change from a to c has the list"
    alone = changes_of({name: given[name] for name in "ab"}, ESTIMATION)
    assert [doubt.kind for doubt in alone.doubts if "human" in doubt.text] == ["short control list"]
    assert doubt.text == (
        "From 'a' to 'b', no change of the mean distance to human words is estimated: one of the two has 1 word of "
        "that list, and the error of a mean needs at least two. Choose control words that both have."
    )


def test_other_lists_of_one_word_are_refused_and_so_are_tables_of_short_controls_alone() -> None:
    given = tables()
    one_word = given["b"].loc[~given["b"]["attribute_word"].isin(["first1", "first2", "first3"])]
    with pytest.raises(TableError, match="'first' has 1 of 4 words in b"):
        changes_of({"a": given["a"], "b": one_word}, ESTIMATION)
    alone = {name: table.loc[table["attribute_word"] == "human0"] for name, table in given.items()}
    with pytest.raises(TableError, match="'human' has 1 of 1 word in a, b, and at least 2 are needed"):
        changes_of({"a": alone["a"], "b": alone["b"]}, ESTIMATION)


PERIODS = ("1900", "1910", "1920")


def test_periods_that_are_numbers_are_sorted() -> None:
    tables = made_tables()
    given = {int(name): tables[name] for name in reversed(PERIODS)}
    assert tuple(tables_by_period(given, None, "exact", 1.0)) == PERIODS
    named = {"original": tables["1920"], "debiased": tables["1900"]}
    assert list(tables_by_period(named, None, "exact", 1.0)) == ["original", "debiased"]


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
    tables = tables_by_period({"1950": folder / "1950.npz", "1990": tmp_path / "1990.csv"}, study, "exact", 1.0)
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
        tables_by_period(periods, None, "exact", 1.0)


def test_tables_of_different_studies_are_refused() -> None:
    tables = made_tables()
    swap = {"associated": "different", "different": "associated"}
    tables["1920"] = tables["1920"].assign(connection=tables["1920"]["connection"].map(swap))
    with pytest.raises(TableError, match="'1920'"):
        tables_by_period(tables, None, "exact", 1.0)
    tables = made_tables()
    moved = tables["1910"]["protected_group"].where(tables["1910"]["protected_word"] != "w0", "group1")
    tables["1910"] = tables["1910"].assign(protected_group=moved)
    with pytest.raises(TableError, match=r"'w0'.*'group1'"):
        tables_by_period(tables, None, "exact", 1.0)


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
