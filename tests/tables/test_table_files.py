"""Reading and writing distance tables."""

import gzip
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import bayesbias as bb
from bayesbias.errors import (
    BayesBiasError,
    DuplicatesWarning,
    InputFileError,
    LostWordsWarning,
    OutputError,
    TableError,
)
from bayesbias.tables import table_files

ENDINGS = (".csv", ".csv.gz", ".parquet", ".parquet.gz")


def small_table(words: tuple[str, ...] = ("he", "null", "nan", "a,b", 'say "x"', "# not", "Müller")) -> pd.DataFrame:
    rows = [
        {
            "protected_word": word,
            "protected_group": "g",
            "attribute_word": attribute,
            "attribute_group": "x",
            "connection": connection,
            "cosine_distance": (place + 0.1) / 7,
        }
        for place, word in enumerate(words)
        for attribute, connection in (("NA", "associated"), ("kind", "human"))
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("ending", ENDINGS)
def test_everything_survives_a_round_trip(ending: str, tmp_path: Path, table: pd.DataFrame) -> None:
    path = bb.write_table(table, tmp_path / f"t{ending}")
    again = bb.read_table(path)
    pd.testing.assert_frame_equal(again, table)
    assert again.attrs == table.attrs
    assert len(bb.lost_words(again)) == len(bb.lost_words(table)) > 0
    first = path.read_bytes()
    bb.write_table(again, path, overwrite=True)
    assert path.read_bytes() == first, "the same table gives the same bytes"


@pytest.mark.parametrize("ending", ENDINGS)
def test_words_that_look_like_missing_values_survive(ending: str, tmp_path: Path) -> None:
    path = bb.write_table(small_table(), tmp_path / f"t{ending}")
    again = bb.read_table(path)
    assert again["protected_word"].unique().tolist() == ["he", "null", "nan", "a,b", 'say "x"', "# not", "Müller"]
    assert again["attribute_word"].unique().tolist() == ["NA", "kind"]


@pytest.mark.parametrize("words", [("007", "08"), ("1.0", "1.50"), ("1e5", "2e5"), ("TRUE", "FALSE")])
def test_words_that_look_like_numbers_stay_words(words: tuple[str, ...], tmp_path: Path) -> None:
    path = bb.write_table(small_table(words), tmp_path / "t.csv")
    assert bb.read_table(path)["protected_word"].unique().tolist() == list(words)
    small_table(words).to_csv(tmp_path / "own.csv", index=False)
    assert bb.read_table(tmp_path / "own.csv")["protected_word"].unique().tolist() == list(words)


def test_repetitions_kept_by_the_reader_are_kept_by_the_fit(tmp_path: Path, table: pd.DataFrame) -> None:
    from bayesbias.models.data import model_data

    path = bb.write_table(pd.concat([table, table.head(5)]), tmp_path / "t.csv")
    with pytest.warns(DuplicatesWarning, match="Kept 5"):
        repeated = bb.read_table(path, duplicates="keep")
    assert len(model_data(repeated).distance) == len(table) + 5


def test_a_table_that_was_edited_says_so_for_good(tmp_path: Path, table: pd.DataFrame) -> None:
    fewer = table[table["connection"] != "human"]
    read = bb.read_table(bb.write_table(fewer, tmp_path / "t.parquet"))
    assert read.attrs["bayesbias"]["edited"]
    assert "edited" not in bb.read_table(bb.write_table(table, tmp_path / "u.parquet")).attrs["bayesbias"]


def test_a_foreign_table_does_not_claim_that_no_word_was_lost(tmp_path: Path) -> None:
    small_table().to_csv(tmp_path / "own.csv", index=False)
    assert "lost_words" not in bb.read_table(tmp_path / "own.csv").attrs["bayesbias"]


def test_other_programs_can_skip_the_provenance(tmp_path: Path, table: pd.DataFrame) -> None:
    path = bb.write_table(table, tmp_path / "t.csv")
    assert pd.read_csv(path, skiprows=1).columns.tolist() == table.columns.tolist()


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, table: pd.DataFrame) -> None:
    broken = table.assign(cosine_distance=5.0)
    with pytest.raises(TableError, match=r"0 .* 2"):
        bb.write_table(broken, tmp_path / "t.csv")
    with pytest.raises(OutputError, match=r"\.csv, \.csv\.gz, \.parquet"):
        bb.write_table(table, tmp_path / "t.xlsx")
    with pytest.raises(OutputError, match="exist"):
        bb.write_table(table, tmp_path / "no" / "t.csv")
    assert list(tmp_path.iterdir()) == []
    path = bb.write_table(table, tmp_path / "t.csv")
    before = path.read_bytes()
    with pytest.raises(OutputError, match="exists"):
        bb.write_table(table, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", [1j, object(), [1, "a"], b"x"])
def test_a_column_that_parquet_cannot_hold_is_a_fault(value: Any, tmp_path: Path) -> None:
    table = small_table().assign(note=[value, 1] * 7)
    with pytest.raises(TableError, match=r"Parquet .*note"):
        bb.write_table(table, tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.truth)])
def test_every_truncation_of_our_csv_is_noticed(step: int, tmp_path: Path) -> None:
    path = bb.write_table(small_table(), tmp_path / "t.csv")
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, step):
        path.write_bytes(whole[:length])
        with pytest.raises(BayesBiasError):
            bb.read_table(path)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.truth)])
@pytest.mark.parametrize("ending", [".csv.gz", ".parquet", ".parquet.gz"])
def test_every_truncation_of_a_packed_file_is_noticed(ending: str, step: int, tmp_path: Path) -> None:
    path = bb.write_table(small_table(("he", "she")), tmp_path / f"t{ending}")
    whole = path.read_bytes()
    for length in range(0, len(whole), step):
        path.write_bytes(whole[:length])
        with pytest.raises(BayesBiasError):
            bb.read_table(path)


@settings(max_examples=150, deadline=None)
@given(content=st.binary(max_size=200), ending=st.sampled_from(ENDINGS))
def test_random_bytes_end_in_one_of_our_errors(content: bytes, ending: str, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("random") / f"t{ending}"
    path.write_bytes(content)
    with pytest.raises(BayesBiasError):
        bb.read_table(path)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_changed_byte_gives_one_of_our_errors_or_a_valid_table(data: st.DataObject, tmp_path_factory) -> None:
    path = bb.write_table(small_table(("he", "she")), tmp_path_factory.mktemp("changed") / "t.csv")
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        read = bb.read_table(path)
    except BayesBiasError:
        return
    except DuplicatesWarning:
        return
    assert read["cosine_distance"].between(0, 2).all()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", InputFileError, "empty"),
        (gzip.compress(b"", mtime=0), InputFileError, "empty"),
        (gzip.compress(b"protected_word", mtime=0)[:-9], InputFileError, "compressed data are damaged"),
        (b"protected_word,\xff\n", InputFileError, "byte 15 is not UTF-8"),
        (b"protected_word,atribute_word\nhe,kind\n", TableError, "column 'attribute_word'"),
        (b"protected_word,attribute_word,connection,cosine_distance\n", TableError, "rows"),
        (
            b"protected_word,attribute_word,connection,cosine_distance\nhe,kind,associate,0.5\n",
            TableError,
            "did you mean 'associated'",
        ),
        (
            b"protected_word,attribute_word,connection,cosine_distance\nhe,kind,human,2.5\n",
            TableError,
            r"1 distances .* 0 .* 2, .* first .* 2.5 .* 'he' .* 'kind'",
        ),
        (
            b"protected_word,attribute_word,connection,cosine_distance\nhe,kind,human,\n",
            TableError,
            r"first .* row 1",
        ),
        (
            b"protected_word,attribute_word,connection,cosine_distance\nhe,kind,human,0.5\nhe,kind,human,0.6\n",
            TableError,
            "distance",
        ),
    ],
)
def test_faults_are_explained(content: bytes, error: type[Exception], message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        bb.read_table(path)


def test_a_missing_file_a_folder_and_another_ending(tmp_path: Path) -> None:
    (tmp_path / "religion.csv").touch()
    with pytest.raises(InputFileError, match=r"religon\.csv.*'religion\.csv'"):
        bb.read_table(tmp_path / "religon.csv")
    with pytest.raises(InputFileError, match="folder"):
        bb.read_table(tmp_path)
    (tmp_path / "t.xls").touch()
    with pytest.raises(InputFileError, match=r"\.parquet\.gz"):
        bb.read_table(tmp_path / "t.xls")


def test_repetitions_are_dropped_or_kept_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    twice = pd.concat([small_table(("he", "she"))] * 2)
    twice.to_csv(path, index=False)
    with pytest.warns(DuplicatesWarning, match=r"Dropped 4 .* 8 rows \(50%\)"):
        assert len(bb.read_table(path)) == 4
    with pytest.warns(DuplicatesWarning, match="Kept 4 .* 8 rows"):
        repeated = bb.read_table(path, duplicates="keep")
    assert len(repeated) == 8
    assert repeated.attrs["bayesbias"]["duplicates"]["policy"] == "keep"


@pytest.mark.shared
def test_all_published_tables_are_read_as_they_are(shared: Path) -> None:
    paths = sorted((shared / "data" / "published" / "tables").glob("*.csv.gz"))
    assert len(paths) == 15
    for path in paths:
        raw = pd.read_csv(path, keep_default_na=False)
        lost = int((raw["cosine_similarity"] == -100).sum())
        if lost:
            with pytest.warns(LostWordsWarning, match="literaly"):
                read = bb.read_table(path)
            assert bb.lost_words(read)["word"].tolist() == ["literaly"]
        elif path.name.startswith("race"):
            with pytest.warns(DuplicatesWarning, match=r"Dropped 2,272 .* 5,112 rows \(44%\)"):
                read = bb.read_table(path)
        else:
            read = bb.read_table(path)
        distinct = raw.drop_duplicates(["protected_word", "word_to_compare"])
        assert len(read) == len(distinct) - lost
        assert set(read["connection"].unique()) == {"associated", "different", "human", "neutral"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('",b,associated,0.5\n",c,different,0.6\nx,b,associated,0.5\nx,c,different,0.6\n', "lines"),
        ("New,York,b,associated,0.5\nNew,York,c,different,0.5\n", r"fields .* columns"),
    ],
)
def test_rows_that_pandas_would_shift_or_swallow_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(f"protected_word,attribute_word,connection,cosine_distance\n{text}")
    with pytest.raises(TableError, match=message):
        bb.read_table(path)


def test_a_column_given_twice_is_seen_below_an_empty_line(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("\n\nprotected_word,attribute_word,connection,cosine_distance,cosine_distance\nx,b,human,0.5,0.6\n")
    with pytest.raises(TableError, match="columns 'cosine_distance'"):
        bb.read_table(path)


def test_a_file_whose_name_is_not_utf8_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"own\xff.csv")
    path.write_text("protected_word,attribute_word,connection,cosine_distance\nx,b,human,0.5\ny,b,human,0.6\n")
    table = bb.read_table(path)
    assert table.attrs["bayesbias"]["source"] == "own\\xff.csv"
    assert bb.read_table(bb.write_table(table, tmp_path / os.fsdecode(b"t\xff.csv"))).equals(table)


@pytest.mark.parametrize("name", ["protected_word", "cosine_distance", "note"])
def test_texts_of_a_parquet_that_are_not_utf8_are_refused(name: str, tmp_path: Path) -> None:
    columns = {column: pyarrow.array(["he", "she"]) for column in ("protected_word", "attribute_word")}
    columns["connection"], columns["cosine_distance"] = columns["protected_word"], pyarrow.array([0.5, 0.6])
    columns[name] = pyarrow.array([b"he", b"\xff"]).view(pyarrow.string())
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    with pytest.raises(InputFileError, match="Invalid UTF8"):
        bb.read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("word", [b"he", ["he"]])
def test_words_of_a_parquet_that_are_no_texts_are_refused(word: Any, tmp_path: Path) -> None:
    foreign = small_table()
    foreign.assign(protected_word=[word] * len(foreign)).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"'protected_word'"):
        bb.read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("connection", [b"\xff"] * 4),
        ("protected_word", [b"\xff"] * 4),
        ("attribute_word", [["a"]] * 4),
        *(
            (name, pyarrow.array([2**62] * 4, type=pyarrow.timestamp("us", tz="UTC")))
            for name in ("connection", "protected_word", "attribute_group", "cosine_distance")
        ),
        ("again", ["a"] * 4),
    ],
)
def test_columns_of_parquet_that_are_no_words_or_repeated_are_named(name: str, values: Any, tmp_path: Path) -> None:
    columns = {
        "protected_word": ["he", "she"] * 2,
        "attribute_word": [*"aabb"],
        "attribute_group": [*"xxyy"],
        "connection": ["associated", "different", "different", "associated"],
        "cosine_distance": [0.5, 0.6, 0.7, 0.8],
        name: values,
    }
    table = pyarrow.table(columns).rename_columns(["protected_word" if name == "again" else name for name in columns])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(BayesBiasError, match="protected_word" if name == "again" else name):
        bb.read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "start", ["math,1\n", "\n" * 10_000, "# bayesbias: {}\nmath,1\n", "# bayesbias: " + "x" * 20_000 + "\nmath,1\n"]
)
def test_names_of_columns_are_judged_before_the_rows_of_a_csv(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((start + "math,1\n" * 100_000).encode()))
    monkeypatch.setattr(table_files, "read_content", None)
    error, message = TableError, "no column 'connection'"
    if "#" in start:
        error, message = InputFileError, "is not what was written"
    with pytest.raises(error, match=rf"t\.csv\.gz[\s\S]*{message}"):
        bb.read_table(tmp_path / "t.csv.gz")


def test_names_of_columns_are_judged_before_the_rows_of_a_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet.write_table(pyarrow.table({"word_to_compare": pyarrow.nulls(1000)}), tmp_path / "t.parquet")
    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", None)
    with pytest.raises(TableError, match=r"3 faults:\n- no column 'protected_word'.*the columns are attribute_word"):
        bb.read_table(tmp_path / "t.parquet")
