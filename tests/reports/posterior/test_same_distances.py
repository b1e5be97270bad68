"""Words of a table with the same distances under other names."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.reports.posterior.doubts import data_doubts
from bayesbias.reports.posterior.same_distances import same_distances_doubts
from tests.models.tables import small


def copied(table: pd.DataFrame, column: str, word: str, name: str) -> pd.DataFrame:
    """Return the table with a word that repeats another one's distances up to rounding."""
    rows = table[table[column] == word].copy()
    rows[column] = name
    rows["cosine_distance"] += np.random.default_rng(1).uniform(-2e-7, 2e-7, len(rows))
    return pd.concat([table, rows], ignore_index=True)


def test_attribute_words_with_the_same_distances_are_named() -> None:
    table = copied(copied(small(4, 6), "attribute_word", "x1", "copy"), "attribute_word", "x1", "again")
    fit = bb.fit(table, draws=50, chains=1, random_seed=1, progress=False)
    (doubt,) = [doubt for doubt in data_doubts(fit) if doubt.kind == "same distances"]
    assert doubt.numbers == {"words": [["x1", "copy", "again"]], "side": "attribute"}
    assert "x1 = copy = again" in doubt.text


def test_protected_words_with_the_same_distances_are_named() -> None:
    (doubt,) = same_distances_doubts(model_data(copied(small(4, 6), "protected_word", "p0", "copy")))
    assert doubt.numbers == {"words": [["p0", "copy"]], "side": "protected"}


@pytest.mark.parametrize("table", [small(4, 6), small(5, 6, missing=0.2), small(1, 6)])
def test_other_words_raise_no_doubt(table: pd.DataFrame) -> None:
    assert same_distances_doubts(model_data(table)) == []


def test_equal_words_of_other_lists_or_groups_and_single_distances_are_none() -> None:
    """After equalizing, he and she are as near to neutral words; of one distance, equality says nothing."""
    table = small(4, 6)
    other_list, other_group = table["attribute_word"] == "x1", table["protected_word"] == "p0"
    moved = table[other_list].assign(attribute_word="copy", attribute_group="y")
    moved["connection"] = moved["connection"].map({"associated": "different", "different": "associated"})
    turned = table[other_group].assign(protected_word="copy", protected_group="group z")
    one = small(1, 4)
    one.loc[one["attribute_word"].isin(["x0", "x1"]), "cosine_distance"] = 0.9
    for rows in (pd.concat([table, moved]), pd.concat([table, turned]), one):
        assert same_distances_doubts(model_data(rows.reset_index(drop=True))) == []
