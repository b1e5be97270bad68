"""Comparisons of embeddings: changes of contrasts and of mean distances, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.changes.change_statements import change_answer, change_estimate
from bayesbias.changes.compare import compare_embeddings
from bayesbias.changes.result import Changes
from bayesbias.errors import ArgumentError, DuplicatesWarning, ReportError, TableError
from tests import third_group
from tests.audits import pets
from tests.changes.changed_tables import MEANS, QUICK, before_table, changed_table, compared


@pytest.fixture(scope="module")
def comparison() -> Changes:
    return compared()


def of_all(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the rows of all words."""
    every = frame["protected_word"] == ""
    if "protected_group" in frame:
        every &= frame["protected_group"] == ""
    return frame[every].set_index(key)


def test_changes_follow_the_truth(comparison: Changes) -> None:
    distances = of_all(comparison.distances, "connection")
    assert (distances.loc[["associated", "different"], "direction"] == "farther").all()
    assert (distances.loc[["associated", "different"], "hdi_low"] > 0).all()
    changes = of_all(comparison.changes, "contrast")
    truth = {name: MEANS["associated"] - MEANS[name.split(" - ")[1]] for name in changes.index}
    assert changes["mean"].to_dict() == pytest.approx(truth, abs=0.03)
    assert len(comparison.changes) == 3 * (1 + 2 + 8)


def test_observed_changes_are_those_of_the_plain_averages(comparison: Changes) -> None:
    table = before_table()
    moved = changed_table(table)["cosine_distance"] - table["cosine_distance"]
    means = moved.groupby([table["protected_group"], table["connection"]]).mean().unstack().mean()
    distances = of_all(comparison.distances, "connection")["observed"]
    assert distances.to_dict() == pytest.approx(means.to_dict())
    changes = of_all(comparison.changes, "contrast")
    for name, row in changes.iterrows():
        assert row["observed"] == pytest.approx(means["associated"] - means[str(name).split(" - ")[1]])
        assert row["mean"] == row["observed"]


def test_contrasts_are_the_contrasts_of_a_fit_of_each_table(comparison: Changes) -> None:
    table = before_table()
    for name, of_condition in {"old": table, "new": changed_table(table)}.items():
        fitted = bb.fit(of_condition, **QUICK)
        expected = bb.contrasts(fitted, level="all")
        shown = comparison.contrasts[comparison.contrasts["condition"] == name].drop(columns="condition")
        pd.testing.assert_frame_equal(
            pd.DataFrame(shown.reset_index(drop=True)), pd.DataFrame(expected), check_dtype=False
        )


def test_swapping_the_tables_turns_the_sign(comparison: Changes) -> None:
    table = before_table()
    swapped = compare_embeddings({"new": changed_table(table), "old": table}, **QUICK)
    np.testing.assert_allclose(
        of_all(swapped.changes, "contrast")["mean"], -of_all(comparison.changes, "contrast")["mean"]
    )


def test_the_same_seed_gives_the_same_numbers(comparison: Changes) -> None:
    pd.testing.assert_frame_equal(compared().changes, comparison.changes)
    assert not compared(random_seed=2).changes["sd"].equals(comparison.changes["sd"])


def test_a_rope(comparison: Changes) -> None:
    assert "probability_in_rope" not in comparison.changes
    wide = compared(rope=0.06)
    inside = of_all(wide.distances, "connection")["probability_in_rope"]
    assert inside["neutral"] > 0.95
    assert inside["associated"] < 0.05
    limits = [{limit.kind for limit in changes.contents.limits} for changes in (comparison, wide)]
    assert limits[0] - limits[1] == {"size"}


def test_all_others_are_compared_with_the_first() -> None:
    table = before_table()
    others = {"b": changed_table(table), "c": changed_table(table, means=dict.fromkeys(MEANS, -0.1), seed=2)}
    three = compare_embeddings({"a": table, **others}, **QUICK)
    assert three.conditions == ("a", "b", "c")
    pairs = three.changes[["first", "second"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["a", "b"], ["a", "c"]]
    nearer = of_all(three.distances, "second").loc["c"]
    assert (nearer["direction"] == "nearer").all()
    assert list(three.contents.figures) == ["change", "change_1", "change_2"]
    assert [verdict.numbers["second"] for verdict in three.verdicts] == ["b", "c"]
    assert {(verdict.numbers["contrast"], verdict.numbers["protected_group"]) for verdict in three.verdicts} == {
        ("associated - different", "")
    }
    readings = {verdict.numbers["second"]: verdict.numbers["reading"] for verdict in three.verdicts}
    assert three.contents.answer == change_answer("associated - different", "a", readings)
    assert three.contents.estimate == change_estimate(three.verdicts[0].numbers, three.contrasts, three.facts)
    assert three.contents.answers == three.answers


def test_identical_tables_are_equal() -> None:
    table = before_table()
    same = compare_embeddings({"old": table, "new": table.copy()}, **QUICK)
    assert same.doubts == ()
    for frame in (same.changes, same.distances):
        assert (frame["direction"] == "equal").all()
        assert (frame[["mean", "hdi_low", "hdi_high"]].abs() < 1e-12).all().all()
    assert (same.changes["reading"] == "no change").all()
    assert "the same in both" in str(same)


def test_a_list_that_did_not_change_is_equal() -> None:
    table = before_table()
    after = changed_table(table)
    still = table["connection"] == "neutral"
    after.loc[still, "cosine_distance"] = table.loc[still, "cosine_distance"] + 1e-9
    distances = of_all(compare_embeddings({"old": table, "new": after}, **QUICK).distances, "connection")
    assert distances.loc["neutral", ["direction", "mean"]].tolist()[0] == "equal"
    assert distances.loc["associated", "direction"] == "farther"


def test_tables_without_a_contrast_are_compared_by_distances_alone() -> None:
    table = before_table()
    controls = table[table["connection"].isin(["human", "neutral"])].reset_index(drop=True)
    alone = compare_embeddings({"old": controls, "new": changed_table(controls)}, **QUICK)
    assert alone.changes.empty
    assert alone.contrasts.empty
    assert set(alone.distances["connection"]) == {"human", "neutral"}
    assert {statement.kind for statement in alone.answers} == {"distance"}
    assert "Human control words" in str(alone)
    study = bb.Study(
        name="one list",
        protected={"cats": pets.WORDS[:3], "dogs": pets.WORDS[3:6]},
        attributes={"quiet": pets.WORDS[6:9]},
        associated=[("cats", "quiet")],
        human="none",
        neutral="none",
    )
    tables = {name: bb.distance_table(pets.embedding(seed), study) for name, seed in (("old", 1), ("new", 2))}
    one_list = compare_embeddings(tables, **QUICK)
    assert one_list.changes.empty
    assert not one_list.distances.empty


def test_words_that_one_table_lacks_are_named() -> None:
    table = before_table()
    after = changed_table(table)
    partly = compare_embeddings({"old": table, "new": after[after["protected_word"] != "w0"]}, **QUICK)
    (doubt,) = [doubt for doubt in partly.doubts if doubt.kind == "lacking words"]
    assert "w0 (not in new)" in doubt.text
    assert "w0" not in set(partly.changes["protected_word"])


def test_duplicates_are_dropped_with_a_warning(comparison: Changes) -> None:
    table = before_table()
    with pytest.warns(DuplicatesWarning, match="10 .* 266 rows"):
        repeated = compare_embeddings({"old": pd.concat([table, table.head(10)]), "new": changed_table(table)}, **QUICK)
    pd.testing.assert_frame_equal(repeated.changes, comparison.changes)


@pytest.mark.parametrize("third", ["none", "both"])
def test_a_group_without_a_side_is_in_no_change_and_is_named(third: str) -> None:
    table = third_group.table(third)
    other = table.drop(columns="cosine_similarity")
    other["cosine_distance"] += 0.01 * np.sin(np.arange(len(other)) % 7)
    beside = compare_embeddings({"one": table, "other": other}, **QUICK)
    words = set(third_group.table("")["protected_word"].astype(str))
    assert set(beside.changes["protected_word"]) - {""} <= words
    limits = [limit for limit in beside.contents.limits if limit.kind == "group without contrast"]
    assert any("people" in limit.text for limit in limits)


def bad(**changed: Any) -> dict[str, Any]:
    return {"old": before_table(), "new": before_table(), **changed}


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ({}, ReportError, "tables is a mapping of 0"),
        ({"old": before_table()}, ReportError, "tables is a mapping of 1"),
        ([before_table(), before_table()], ReportError, "tables is a list"),
        (bad(**{" ": before_table()}), ReportError, "' '"),
        (bad(new=[1, 2]), TableError, "'new'.* DataFrame"),
        (bad(new=before_table().drop(columns="connection")), TableError, r"(?s)'new': .*'connection'"),
        (bad(new=before_table().assign(connection="different")), TableError, "different"),
        (bad(new=before_table().drop(index=[3])), TableError, "without some of their pairs"),
        (
            bad(new=before_table().assign(protected_word=before_table()["protected_word"].str.upper())),
            TableError,
            "No word of the protected group",
        ),
        (
            {name: table.query("attribute_word.str.endswith('0')") for name, table in bad().items()},
            TableError,
            "at least 2",
        ),
    ],
)
def test_unusable_tables_are_refused(tables: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare_embeddings(tables, **QUICK)


@pytest.mark.parametrize("settings", [{"hdi_prob": 89}, {"rope": -1}, {"random_seed": True}, {"draws": 10}])
def test_unusable_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(settings))):
        compared(**settings)
