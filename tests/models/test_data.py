"""Distance tables as arrays."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import DuplicatesWarning, FitError, TableError
from bayesbias.models.data import compared_part, groups_not_compared, lacking_sides, model_data, subset
from bayesbias.tables.codes import PAIR_COLUMNS, WORD_COLUMNS
from bayesbias.tables.schema import drop_duplicates, table_hash, validate_table
from tests import third_group
from tests.comparisons import CountedArray
from tests.models.tables import small


def test_codes_give_back_the_table(table: pd.DataFrame) -> None:
    data = model_data(table)
    assert (data.protected_words[data.protected] == table["protected_word"]).all()
    assert (data.attribute_words[data.attribute] == table["attribute_word"]).all()
    assert (np.array(data.connections)[data.connection] == table["connection"].astype(str)).all()
    np.testing.assert_array_equal(data.distance, table["cosine_distance"])
    assert data.pair_counts.sum() == len(table)
    groups = table.drop_duplicates("protected_word").set_index("protected_word")["protected_group"]
    assert (groups[data.protected_words].to_numpy() == data.protected_groups).all()


def test_only_the_connections_of_the_table_are_modelled(table: pd.DataFrame) -> None:
    some = table[table["connection"].isin(["neutral", "associated"])]
    assert model_data(some).connections == ("associated", "neutral")


def test_order_and_index_of_the_rows_do_not_matter_for_the_words(table: pd.DataFrame) -> None:
    shuffled = table.sample(frac=1, random_state=1)
    assert model_data(shuffled).protected_words.tolist() == shuffled["protected_word"].unique().tolist()
    assert set(model_data(shuffled).attribute_words) == set(model_data(table).attribute_words)


def test_faults_end_before_sampling(table: pd.DataFrame) -> None:
    twice = pd.concat([table, table.head(3)], ignore_index=True)
    with pytest.raises(FitError, match="Of 2,835 rows, 3 repeat"):
        model_data(twice)
    equal = table.assign(
        cosine_distance=table["cosine_distance"].where(table["connection"] != "human", 0.5),
        cosine_similarity=table["cosine_similarity"].where(table["connection"] != "human", 0.5),
    )
    with pytest.raises(FitError, match=r"1,248 .*'human' .*0\.5"):
        model_data(equal)
    with pytest.raises(TableError, match="cosine_distance"):
        model_data(table.assign(cosine_distance=np.nan))
    with pytest.raises(FitError, match="list"):
        model_data([1, 2])  # type: ignore[arg-type]


def test_duplicates_kept_on_purpose_are_fitted(table: pd.DataFrame) -> None:
    twice = validate_table(pd.concat([table, table.head(3)], ignore_index=True))
    with pytest.warns(DuplicatesWarning):
        doubled, _ = drop_duplicates(twice, "keep")
    doubled.attrs["bayesbias"] = {"duplicates": {"policy": "keep", "dropped": 0}}
    assert len(model_data(doubled).distance) == len(table) + 3


@pytest.mark.parametrize("kind", ["object", "category", "shuffled categories"])
def test_texts_and_categories_are_the_same_table(table: pd.DataFrame, kind: str) -> None:
    other = table.astype(dict.fromkeys(WORD_COLUMNS, kind.split()[-1].replace("categories", "category")))
    if kind == "shuffled categories":
        for name in WORD_COLUMNS:
            other[name] = other[name].cat.add_categories(["unused"])
            other[name] = other[name].cat.reorder_categories(list(other[name].cat.categories[::-1]))
    assert table_hash(other) == table_hash(validate_table(other)) == table_hash(table)
    one, two = model_data(table), model_data(other)
    assert one.table_hash == two.table_hash == table_hash(table)
    for name in ("distance", "protected", "connection", "attribute", "protected_words", "protected_groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.attribute_words, two.attribute_words)
    some = other[other["protected_word"] != other["protected_word"].iloc[0]]
    assert model_data(some).protected_words.tolist() == one.protected_words[1:].tolist()


@pytest.mark.parametrize("column", [*PAIR_COLUMNS, "cosine_distance", "cosine_similarity"])
def test_every_column_and_the_order_are_in_the_hash(table: pd.DataFrame, column: str) -> None:
    values = table[column].to_numpy().copy()
    values[[0, -1]] = values[[-1, 0]]
    other = table.assign(**{column: pd.Series(values, index=table.index).astype(table[column].dtype)})
    assert table_hash(other) != table_hash(table)
    assert table_hash(table.iloc[::-1]) != table_hash(table)


def test_repetitions_are_found_by_bitmap_and_by_sorting(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbias.tables.codes._LARGEST_BITMAP", 0)
    monkeypatch.setattr("bayesbias.tables.codes._BLOCK", 100)
    assert model_data(table).pair_counts.sum() == len(table)
    assert model_data(table.iloc[::-1]).protected_words.tolist() == table["protected_word"][::-1].unique().tolist()
    with pytest.raises(FitError, match="Of 2,835 rows, 3 repeat"):
        model_data(pd.concat([table, table.head(3)], ignore_index=True))


def test_a_fit_keeps_its_own_distances(table: pd.DataFrame) -> None:
    mine = table.copy()
    data = model_data(mine)
    mine.loc[0, "cosine_distance"] = 0.123
    assert data.distance[0] == table["cosine_distance"].iloc[0]


def test_a_subset_is_the_data_of_the_reduced_table(table: pd.DataFrame) -> None:
    keep = (table["attribute_word"] != table["attribute_word"].iloc[0]).to_numpy() & (
        table["connection"] != "human"
    ).to_numpy()
    ours, expected = subset(model_data(table), keep), model_data(table[keep])
    for name in ("distance", "protected", "connection", "attribute", "protected_words", "attribute_words"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))
    assert ours.connections == expected.connections
    assert ours.protected_groups.tolist() == expected.protected_groups.tolist()
    assert ours.table_hash != model_data(table).table_hash


def test_provenance_that_cannot_be_is_a_fault(table: pd.DataFrame) -> None:
    given = table.copy()
    given.attrs = {"bayesbias": 5}
    with pytest.raises(TableError, match="provenance"):
        model_data(given)


def test_distances_that_differ_by_the_rounding_of_float32_are_equal() -> None:
    table = small(4, 3)
    noise = np.random.default_rng(1).uniform(-6e-8, 6e-8, len(table))
    with pytest.raises(FitError, match="rounding"):
        model_data(table.assign(cosine_distance=0.7 + noise))


@pytest.mark.parametrize("third", ["none", "both"])
def test_groups_with_both_sides_are_compared(third: str) -> None:
    data = model_data(third_group.table(third))
    assert set(data.protected_groups[data.compared]) == {"math", "arts"}
    assert groups_not_compared(data) == third_group.LACKING[third]
    part, without = compared_part(data), model_data(third_group.table())
    assert part.table_hash == data.table_hash
    assert part.protected_words.tolist() == without.protected_words.tolist()
    np.testing.assert_array_equal(part.distance, without.distance)


def test_all_groups_are_compared_if_none_has_both_sides() -> None:
    rows = third_group.table("none").query("attribute_group != 'male'")
    data = model_data(rows)
    assert data.compared.all()
    assert groups_not_compared(data) == {}
    assert compared_part(data) is data


def test_a_word_that_lost_a_side_stays_in_its_group() -> None:
    rows = third_group.table("none")
    rows = rows[~((rows["protected_word"] == "algebra") & (rows["connection"] == "associated"))]
    data = model_data(rows)
    assert data.compared[data.protected_words == "algebra"].all()
    assert groups_not_compared(data) == {"people": "no associated list"}


def test_what_groups_lack_takes_no_pass_over_all_words_for_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountedArray, "comparisons", 0)
    groups = np.array([f"group {place // 2}" for place in range(100)]).view(CountedArray)
    measured = np.tile([[False, True], [False, False]], (50, 1))
    lacking = lacking_sides(np.zeros(100, dtype=bool), measured, groups, ("associated", "different"))
    assert lacking == {f"group {place}": "no associated list" for place in range(50)}
    assert CountedArray.comparisons == 0
