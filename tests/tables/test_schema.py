"""The schema of a distance table: what it takes, what it derives, and every fault that it names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import (
    ArgumentError,
    BayesBiasError,
    DuplicatesWarning,
    LostWordsError,
    LostWordsWarning,
    TableError,
)
from bayesbias.tables.codes import PAIR_COLUMNS
from bayesbias.tables.measures import CHANGE, COSINE_DISTANCE
from bayesbias.tables.schema import (
    ATTRS_KEY,
    code_table,
    drop_duplicates,
    judge_lost_entries,
    lost_by_list,
    number_columns,
    provenance,
    table_hash,
    validate_table,
)


def rows(**columns: Any) -> pd.DataFrame:
    """Two protected words with two attribute words each."""
    return pd.DataFrame(
        {
            "protected_word": ["he", "he", "she", "she"],
            "attribute_word": ["math", "art", "math", "art"],
            "attribute_group": ["science", "arts", "science", "arts"],
            "connection": ["associated", "different", "different", "associated"],
            "cosine_distance": [0.5, 0.7, 0.9, 0.6],
            **columns,
        }
    )


def test_what_is_absent_is_derived_and_what_is_more_is_kept() -> None:
    valid = validate_table(rows(note=["a", "b", "c", "d"])[["note", *rows().columns]])
    assert valid.columns.tolist() == [*PAIR_COLUMNS, *number_columns(COSINE_DISTANCE), "note"]
    assert valid["protected_group"].tolist() == ["science", "science", "arts", "arts"]
    np.testing.assert_array_equal(valid["cosine_similarity"], 1 - rows()["cosine_distance"])
    assert valid["connection"].dtype.ordered
    assert validate_table(rows().drop(columns="attribute_group"))["attribute_group"].tolist() == [*rows()["connection"]]
    similarity = rows().drop(columns="cosine_distance").assign(cosine_similarity=1 - rows()["cosine_distance"])
    np.testing.assert_allclose(validate_table(similarity)["cosine_distance"], rows()["cosine_distance"])


def test_categories_stay_and_the_given_table_is_not_touched() -> None:
    given = rows(protected_word=pd.Categorical(["he", "he", "she", "she"]))
    before = given.copy()
    assert validate_table(given)["protected_word"].dtype == given["protected_word"].dtype
    pd.testing.assert_frame_equal(given, before)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rows().drop(columns="connection"), "1 fault:\n- no column 'connection'"),
        (rows().rename(columns={"connection": "conection"}), "did you mean 'conection'"),
        (pd.concat([rows(), rows()[["connection"]]], axis=1), "columns 'connection'"),
        (rows().head(0), "rows"),
        (rows().set_axis(pd.MultiIndex.from_product([["a"], rows().columns]), axis=1), "several"),
        (rows(cosine_distance=np.full(4, 0.5 + 0.1j)), r"'cosine_distance' .* complex"),
        (rows(cosine_distance=np.array([0.5, 0.7, 0.9, 0.6 + 0j], dtype=object)), "complex"),
        (rows(cosine_similarity=np.full(4, 0.5 + 0j)), r"'cosine_similarity' .* complex"),
        (rows(cosine_distance=[0.5, np.nan, np.inf, 0.6]), r"2 values .* 'cosine_distance' .* first .* row 2"),
        (rows(protected_word=["he", " ", "she", "she"]), r"1 value .* 'protected_word' .* blank, .* first .* row 2"),
        (rows(connection=["associated", "humen", "human", "human"]), "'humen' .did you mean 'human'"),
        (rows(cosine_distance=[0.5, -0.1, 0.9, 2.1]), r"2 distances .* 0 .* 2, .* -0.1 .* 'he' .* 'art'"),
        (rows(cosine_similarity=[0.5, 0.3, 0.1, 0.5]), r"1 rows cosine_similarity .* 'she' .* 'art'"),
        (rows(attribute_word=["math", "math", "math", "art"]), "1 pair is"),
        (rows(protected_group=["m", "f", "f", "f"]), r"protected words he .* several"),
    ],
)
def test_faults(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        validate_table(table)


def test_all_faults_are_listed_at_once() -> None:
    with pytest.raises(TableError, match=r" 2 .*:\n- .* 0 to 2.*\n- .*protected group"):
        code_table(rows(cosine_distance=[0.5, 0.7, 0.9, 3.0], protected_group=["m", "f", "f", "f"]))


def test_the_range_is_that_of_the_quantity() -> None:
    changes = rows(cosine_distance=[-1.5, 0.7, 0.0, 1.9])
    changes.attrs = {"bayesbias": {"measure": CHANGE.record()}}
    assert validate_table(changes)["cosine_distance"].tolist() == [-1.5, 0.7, 0.0, 1.9]
    for values, attrs, message in (
        ([-2.5, 0, 0, 0], {"measure": CHANGE.record()}, "outside -2 to 2, the first is -2.5"),
        ([-0.5, 0, 0, 0], {"measure": COSINE_DISTANCE.record()}, "outside 0 to 2"),
        (
            [0.5, 0, 0, 0],
            {"measure": {**CHANGE.record(), "column": "cosine_distanse"}},
            "did you mean 'cosine_distance'",
        ),
    ):
        table = rows(cosine_distance=values)
        table.attrs = {"bayesbias": attrs}
        with pytest.raises(TableError, match=message):
            validate_table(table)
    # What was simulated follows a model, which no range holds; and nothing else is simulated.
    simulated = rows(cosine_distance=[-7.0, 0, 0, 7.0])
    simulated.attrs = {"bayesbias": {"simulated": True}}
    assert len(validate_table(simulated)) == 4
    simulated.attrs = {"bayesbias": {"simulated": "changes"}}
    with pytest.raises(TableError, match="simulated"):
        validate_table(simulated)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protected_word": ["he", "he ", "she", "she"]}, r"'he' .* 'he '"),
        ({"attribute_word": ["caf\u00e9", "cafe\u0301", "x", "y"]}, "alike"),
        ({"attribute_word": ["a\0", "b", "c", "d"]}, "NUL"),
        ({"attribute_word": pd.Series(["\ud800", "b", "c", "d"], dtype=object)}, "surrogate"),
        ({"Protected_Group ": ["a", "a", "b", "b"]}, r"column 'protected_group', .* 'Protected_Group '"),
    ],
)
def test_words_and_columns_that_look_alike_are_not_told_apart_in_silence(change: dict[str, Any], message: str) -> None:
    table = rows(**change)
    with pytest.raises(TableError, match=message):
        validate_table(table)


@pytest.mark.parametrize("attrs", [[], "mine", None, {"embedding": 5}, {"lost_words": "x"}, {"quantity": {1}}])
def test_provenance_that_cannot_be_is_refused_before_it_is_written(attrs: Any, tmp_path: Path) -> None:
    table = rows()
    table.attrs = {"bayesbias": attrs}
    for use in (validate_table, bb.lost_words, lambda table: bb.write_table(table, tmp_path / "t.csv")):
        with pytest.raises(TableError, match="provenance"):
            use(table)
    assert not (tmp_path / "t.csv").exists()


def test_the_hash_is_of_the_rows_and_not_of_how_they_are_kept(table: pd.DataFrame) -> None:
    same = table.astype({"protected_word": "category", "connection": str})
    same.index = same.index + 5
    same.attrs = {}
    assert table_hash(same) == table_hash(table) == table.attrs["bayesbias"]["hash"]
    assert table_hash(table.iloc[::-1]) != table_hash(table)
    assert table_hash(table.assign(protected_word=table["protected_word"].str.upper())) != table_hash(table)


def test_provenance_says_whether_the_rows_were_edited(table: pd.DataFrame) -> None:
    current = table_hash(table)
    assert provenance(table, current_hash=current) == table.attrs["bayesbias"]
    assert provenance(table, current_hash="another")["edited"] is True
    assert provenance(rows(), current_hash=current) == {}


def test_repetitions_are_dropped_or_kept() -> None:
    twice = validate_table(pd.concat([rows(), rows().head(1)], ignore_index=True))
    twice.attrs = {"bayesbias": {"study": "s"}}
    with pytest.warns(DuplicatesWarning, match=r"Dropped 1 .* 5 rows \(20%\)"):
        distinct, dropped = drop_duplicates(twice, "drop")
    assert (len(distinct), dropped, distinct.attrs) == (4, 1, twice.attrs)
    with pytest.warns(DuplicatesWarning, match="Kept 1 .* 5 rows"):
        assert drop_duplicates(twice, "keep")[1] == 0
    with pytest.raises(ArgumentError, match=r"duplicates='drp' .*'drop'"):
        drop_duplicates(twice, "drp")  # type: ignore[arg-type]


def test_lost_words_of_a_table_that_names_none() -> None:
    assert bb.lost_words(rows()).columns.tolist() == ["word", "role", "list", "reason"]
    assert bb.lost_words(rows()).empty


def test_a_warning_names_the_lists() -> None:
    lost = [
        {"word": word, "role": "attribute", "list": name, "reason": "r"}
        for name, words in (("arts", "ab"), ("science", "cdefgh"))
        for word in words
    ]
    message = (
        r"^X lacks 8 words: 2 of the 3 of 'arts' \(a, b\); 6 of the 9 of 'science' \(c, d, e, f, g and 1 more\)\. .*!"
    )
    with pytest.warns(LostWordsWarning, match=message):
        judge_lost_entries(lost, "X", sizes={("attribute", "arts"): 3, ("attribute", "science"): 9}, hint="!")
    judge_lost_entries([], "X", sizes={})


def test_lists_of_one_name_are_told_apart_and_control_words_are_not_limited() -> None:
    lost = [{"word": "a", "role": "attribute", "list": "arts", "reason": "r"}]
    sizes = {("protected", "arts"): 8, ("attribute", "arts"): 3, ("attribute", "human"): 1}
    with pytest.warns(LostWordsWarning, match=r"1 .* 3 .* 'attribute group arts' \(a\)\."):
        judge_lost_entries(lost, "X", sizes=sizes)
    assert lost_by_list(lost) == {"arts": ["a"]}
    both = [*lost, {**lost[0], "role": "protected"}]
    assert lost_by_list(both) == {"attribute group arts": ["a"], "protected group arts": ["a"]}
    with pytest.raises(LostWordsError, match=r"1 .* 3 .* max_lost=0\.34\."):
        judge_lost_entries(lost, "X", sizes=sizes, max_lost=0.2)
    control = [{**lost[0], "list": "human"}]
    with pytest.warns(LostWordsWarning, match=r"1 .* 1 .* 'human'"):
        judge_lost_entries(control, "X", sizes=sizes, max_lost=0)


@pytest.mark.parametrize("word", [b"he", ["he"], {"he": 1}, pd.Timestamp("2020-01-01"), object])
def test_words_are_texts_or_numbers(word: Any) -> None:
    """Bytes were taken for the word "b'he'"."""
    for words in ([word, word, "she", "she"], [word] * 4):
        with pytest.raises(TableError, match=rf"'protected_word' .* {type(word).__name__} "):
            validate_table(rows(protected_word=words))
    assert validate_table(rows(protected_word=[1990, 1990, "she", "she"]))["protected_word"].tolist()[0] == "1990"


@pytest.mark.parametrize("name", ["cosine_distance", "cosine_similarity"])
def test_numbers_beyond_floats_and_times_are_no_distances(name: str) -> None:
    given = rows().drop(columns="cosine_distance")
    with pytest.raises(TableError, match="missing"):
        validate_table(given.assign(**{name: [10**400, 1, 1, 1]}))
    with pytest.raises(TableError, match="times"):
        validate_table(rows(**{name: pd.to_timedelta([1, 2, 1, 2])}))


def test_a_copy_of_a_table_has_facts_of_its_own_that_share_their_lists(table: pd.DataFrame) -> None:
    """pandas copies attrs deeply at every step, which of thousands of lost words takes most of the time."""
    copied = table.copy()
    facts, others = table.attrs[ATTRS_KEY], copied.attrs[ATTRS_KEY]
    assert facts == others
    assert all(others[name] is value for name, value in facts.items())
    others["study"] = "another"
    assert table.attrs[ATTRS_KEY]["study"] != "another"


OTHERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": polars.from_pandas,
    "pyarrow": lambda table: pyarrow.Table.from_pandas(table, preserve_index=False),
    "narwhals": lambda table: narwhals.from_native(polars.from_pandas(table)),
}


@pytest.mark.parametrize("library", OTHERS)
def test_a_fit_is_the_same(library: str, short_table: pd.DataFrame) -> None:
    other = OTHERS[library](short_table)
    fits = [bb.fit(frame, "hierarchical", draws=50, random_seed=1, progress=False) for frame in (short_table, other)]
    xr.testing.assert_identical(*(fitted["posterior"].to_dataset() for fitted in fits))
    assert bb.models.fit_attribute(fits[0], "table_hash") == bb.models.fit_attribute(fits[1], "table_hash")


@pytest.mark.parametrize("library", OTHERS)
def test_other_functions_take_it_too(library: str, short_table: pd.DataFrame, tmp_path: Any) -> None:
    other = OTHERS[library](short_table)
    pd.testing.assert_frame_equal(bb.reports.mac_shares(other).shares, bb.reports.mac_shares(short_table).shares)
    assert len(bb.plots.plot_distances(table=other).axes) == 4
    written = bb.write_table(other, tmp_path / "table.csv")
    assert bb.read_table(written)["cosine_distance"].equals(short_table["cosine_distance"])
    pd.testing.assert_frame_equal(bb.metrics.t_tests(other), bb.metrics.t_tests(short_table))


def test_what_is_no_table(short_table: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"LazyFrame, .*collect\(\)"):
        bb.fit(polars.from_pandas(short_table).lazy())
    for value in (5, None, {"protected_word": ["he"]}):
        with pytest.raises(BayesBiasError, match="table"):
            bb.fit(value)


def test_words_of_any_index() -> None:
    study = bb.Study(
        name="pets",
        protected={"cats": pd.Series(["cat", "tom"], index=[7, 3]), "dogs": pd.Index(["dog"])},  # type: ignore[dict-item]
        attributes={"quiet": pd.Series(["purr"]).to_numpy()},  # type: ignore[dict-item]
        associated=[("cats", "quiet")],
        human=pd.Series(["door"], index=["x"]),  # type: ignore[arg-type]
        neutral="none",
    )
    assert study.protected == {"cats": ("cat", "tom"), "dogs": ("dog",)}
    assert (study.attributes, study.human) == ({"quiet": ("purr",)}, ("door",))
