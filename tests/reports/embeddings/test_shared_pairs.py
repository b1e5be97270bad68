"""The pairs that tables share, and tables that share too few."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning, LostWordsWarning, ReportError, TableError
from bayesbias.reports.embeddings.comparison import compare_embeddings
from bayesbias.reports.embeddings.shared_pairs import difference_table, pair_differences
from bayesbias.tables.schema import validate_table
from tests.reports.embedding_tables import QUICK, before_table, changed_table


def test_tables_that_share_no_pairs() -> None:
    table = before_table()
    other = table.assign(protected_word=table["protected_word"].str.upper())
    with pytest.raises(TableError, match=r"'old' .* 'w0' .* 'associated0'"):
        compare_embeddings({"old": table, "new": other}, **QUICK)


def test_tables_that_share_control_pairs_only() -> None:
    table = before_table()
    stereotypes = table["connection"].isin(["associated", "different"])
    other = table.copy()
    other.loc[stereotypes, "attribute_word"] = other.loc[stereotypes, "attribute_word"].str.upper()
    message = (
        r"128 pairs.* associated .*'old' has 64 \(.*'associated0', .* and 3 more of 'associated'\); "
        r"'new' has 64 \(.*'ASSOCIATED0'"
    )
    with pytest.raises(TableError, match=message):
        compare_embeddings({"old": table, "new": other}, **QUICK)
    with pytest.raises(TableError, match=r"'old' .* 64 .*; 'new' .*none"):
        compare_embeddings({"old": table, "new": table[~stereotypes]}, **QUICK)
    # The same words, but never the same two together.
    first = table["protected_group"] == "group 0"
    even = table["attribute_word"].str[-1].isin(list("02468"))
    halves = [table[~stereotypes | (first == even)], table[~stereotypes | (first != even)]]
    with pytest.raises(TableError, match=r"'old' .* 32 .* 'w0' .* 'associated0'.*; 'new' .* 32"):
        compare_embeddings(dict(zip(("old", "new"), halves, strict=True)), **QUICK)


def test_tables_that_differ_in_part_go_on_with_the_common_pairs() -> None:
    table = before_table()
    after = changed_table(table)[(table["protected_word"] != "w0")]
    after = after.drop(index=after.index[[-1]])
    shuffled = after.sample(frac=1, random_state=1)
    with pytest.warns(LostWordsWarning, match=r" 223 .* 33 of 'old' \(.*'w0'\)"):
        comparison = compare_embeddings({"old": table, "new": shuffled}, "hierarchical", **QUICK)
    assert comparison.facts["left_out"] == {"old": 33, "new": 0}
    assert "w0" not in set(comparison.side_by_side["protected_word"])
    assert comparison.differences["pairs"].tolist() == [56, 56, 56, 55]
    about = comparison.conclusions.embeddings["new"].about
    assert about.numbers["left_out"] == {"old": 33, "new": 0}
    assert about.text.endswith("33 of 'old'.")
    # In another order of rows, each pair still meets itself.
    assert np.allclose(
        comparison.differences["mean"],
        comparison.differences["average_other"] - comparison.differences["average_baseline"],
        atol=0.005,
    )


def test_changes_are_a_table_that_says_so() -> None:
    """A change may be negative, and is not simulated unless the distances were."""
    table = before_table()
    rows = pair_differences(table.assign(cosine_similarity=0.0), changed_table(table), "new")
    moved = difference_table(rows, source="a test", simulated=False)
    assert moved["cosine_distance"].min() < 0
    assert moved.attrs["bayesbias"] == {"quantity": "change of cosine distance", "source": "a test"}
    assert len(validate_table(moved)) == len(table)
    assert difference_table(rows, source="a test", simulated=True).attrs["bayesbias"]["simulated"] is True
    moved.loc[0, "cosine_distance"] = -2.1
    with pytest.raises(TableError, match="-2 to 2"):
        validate_table(moved)


def test_changes_of_simulated_distances_are_simulated() -> None:
    simulated = [bb.models.simulate_table(before_table(), "hierarchical", random_seed=seed) for seed in (1, 2)]
    comparison = compare_embeddings(dict(zip(("old", "new"), simulated, strict=True)), "hierarchical", **QUICK)
    assert bb.models.fit_attribute(comparison.difference_fits["new"], "table")["simulated"] is True


def test_duplicates_are_dropped_with_a_warning() -> None:
    table = before_table()
    after = changed_table(table)
    repeated = pd.concat([table, table.head(10)])
    with pytest.warns(DuplicatesWarning, match="10 .* 266 rows"):
        comparison = compare_embeddings({"old": repeated, "new": after}, "hierarchical", **QUICK)
    assert comparison.facts["pairs"] == 256


def test_a_pair_with_two_connections() -> None:
    table = before_table()
    after = changed_table(table)
    after.loc[3, "connection"] = "different"
    with pytest.raises(TableError, match=r"1 pair .* 'w0' .* 'associated3' .*associated .* different"):
        compare_embeddings({"old": table, "new": after}, **QUICK)


def test_changes_that_are_all_the_same() -> None:
    table = before_table()
    after = table.assign(cosine_distance=table["cosine_distance"] + 0.1)
    with pytest.raises(ReportError, match=r"64 .*'associated' .* 0\.1 .*'new'"):
        compare_embeddings({"old": table, "new": after}, **QUICK)


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ({}, ReportError, "tables is a mapping of 0"),
        ({"old": before_table()}, ReportError, "tables is a mapping of 1"),
        ([before_table(), before_table()], ReportError, "tables is a list"),
        ({"old": before_table(), " ": before_table()}, ReportError, "' '"),
        ({"old": before_table(), "new": [1, 2]}, TableError, "'new'.* DataFrame"),
        (
            {"old": before_table(), "new": before_table().drop(columns="connection")},
            TableError,
            r"(?s)'new': .*'connection'",
        ),
    ],
)
def test_bad_tables(tables: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare_embeddings(tables, **QUICK)
