"""Frames from files: few bytes that would become many rows are refused, and sound ones are those of pandas."""

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet

from bayesbias.base import machine as memory
from bayesbias.base.files import inputs
from bayesbias.base.files.spreadsheets import read_csv, without_row_numbers
from bayesbias.base.files.stored_frames import parquet_frame
from bayesbias.errors import InputFileError, NotEnoughMemoryError, TableError
from bayesbias.models.covariates import read_covariates

FRAME = pd.DataFrame({"word": ["null", "a, b", 'x"y', "two\nlines", ""], "number": [1.5, 2, 3, 4, np.nan]})


def written(frame: pyarrow.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(frame, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_csv_is_that_of_pandas(ends: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = FRAME.to_csv(index=False, lineterminator=ends)
    path.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    expected = pd.read_csv(io.StringIO(text, newline=""), keep_default_na=False, na_values=[""])
    pd.testing.assert_frame_equal(read_csv(path, ""), expected.dropna(how="all"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b'a,b\n"1,2\n', "unexpected end of data"),
        (b"a\n1\n1,2,3\n", "row 3 has 3 cells, but 1 column has a name"),
        (b"a\n\xff\n", "UTF-8"),
        (b"a,b,a\n1,2,3\n", "several columns 'a'"),
        (b"," * 20_000, "20,001 columns"),
        (b"a\n" + b"," * 20_000, "20,001 columns"),
        (b"," * 9000 + b"\n1" * 1000, "1,000 rows lack cells of the 9,001 columns"),
        (b"a" * 200_000 + b",b\n1,2\n", "field larger"),
        (b"Word,word\ncat,dog\n", "several columns 'word'"),
    ],
)
def test_what_is_no_csv(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputFileError, match=rf"t\.csv.*{message}"):
        read_csv(tmp_path / "t.csv", "Give another.", texts=("word",))


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"c{number}" for number in range(1000)) + "\n" + "1\n" * 10_000,
        "a\n" + "," * 1000 + "\n" + "1\n" * 10_000,  # the first row has more cells than there are names
        '"a\n\n\n"' + "," * 1000 + "\n" + "1\n" * 10_000,  # a name of several lines
        "," * 50_000,
    ],
)
def test_rows_and_columns_are_counted_before_a_frame_is_made(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(memory, "free_memory", lambda: 20_000_000)
    monkeypatch.setattr(pd, "read_csv", None)
    with pytest.raises(NotEnoughMemoryError, match=r"t\.csv: .* rows of .* columns would need about \d\.\d GB"):
        read_csv(tmp_path / "t.csv", "")


@pytest.mark.parametrize("text", ["a" + "\r1" * 1_000_000, "\n" * 1_000_000, "a\n" + ",;\t" * 300_000])
def test_cells_are_counted_before_a_text_is_made(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(memory, "free_memory", lambda: 20_000_000)
    monkeypatch.setattr(inputs, "utf8_text", None)
    with pytest.raises(NotEnoughMemoryError, match=r"t\.csv: its contents would need 0\.[23] GB or more"):
        read_csv(tmp_path / "t.csv", "")


def test_parquet_is_that_of_arrow() -> None:
    table = pyarrow.table(
        {
            "word": pyarrow.array(["he", None, "naïve", "he"]),
            "large": pyarrow.array(["a", "b", "c", "d"], pyarrow.large_string()),
            "category": pyarrow.array(["x", "y", "x", None]).dictionary_encode(),
            "years": pyarrow.array([1990, 2000, None, 1990]).dictionary_encode(),
            "number": [0.5, 1.5, None, 2.5],
            "whole": [1, 2, 3, 4],
            "flag": [True, False, None, True],
            "bytes": [b"a", b"\xff", b"", None],
            "list": [["a", "b"], [], None, ["c"]],
            "record": [{"a": "x", "b": 1}] * 4,
            "time": pd.date_range("2020-01-01", periods=4),
            "decimal": pyarrow.array([1, 2, 3, 4]).cast(pyarrow.decimal128(30, 2)),
        }
    ).replace_schema_metadata({"about": "it"})
    for rows in (4, 0):
        content = written(table.slice(0, rows), row_group_size=3)
        frame, metadata = parquet_frame(content, Path("t.parquet"))
        expected = parquet.read_table(io.BytesIO(content)).to_pandas(ignore_metadata=True)
        pd.testing.assert_frame_equal(frame, expected)
        assert metadata[b"about"] == b"it"


@pytest.mark.parametrize(
    "columns",
    [
        {"word": pyarrow.array(["he"] * 500_000)},
        {"number": np.zeros(500_000)},
        {"long": pyarrow.array(["x" * 100_000] * 1_000)},
        {"long": pyarrow.array(["x" * 100_000] * 1_000).dictionary_encode()},
        {"list": pyarrow.array([["x" * 100_000] * 10] * 100)},
        {"record": pyarrow.array([{"a": "x" * 100_000}] * 1000)},
        {"fixed": pyarrow.array([b"x" * 10_000] * 2_000, pyarrow.binary(10_000))},
    ],
    ids=["rows", "numbers", "texts", "categories", "lists", "records", "fixed"],
)
def test_what_a_parquet_file_becomes_is_counted_before_it_is_made(
    columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = written(pyarrow.table(columns))
    assert len(content) < 1_000_000
    monkeypatch.setattr(memory, "free_memory", lambda: 19_000_000)
    before = pyarrow.total_allocated_bytes()
    pyarrow.default_memory_pool().release_unused()
    with pytest.raises(NotEnoughMemoryError, match=r"^t\.parquet: [\d,]+ rows of 1 columns would need about 0\.[0-2]"):
        parquet_frame(content, Path("t.parquet"))
    assert pyarrow.total_allocated_bytes() - before < 5_000_000


@pytest.mark.parametrize(
    "column",
    [pyarrow.nulls(500_000), pyarrow.array(["he"] * 500_000).dictionary_encode()],
    ids=["empty", "categories"],
)
def test_rows_that_take_no_room_in_a_parquet_file_are_counted_before_they_are_read(
    column: pyarrow.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = written(pyarrow.table({"word": column}))
    monkeypatch.setattr(memory, "free_memory", lambda: 63 * 500_000)  # what pandas takes
    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", None)
    with pytest.raises(NotEnoughMemoryError, match=r"500,000 rows of 1 columns"):
        parquet_frame(content, Path("t.parquet"))


def test_what_pandas_wrote_about_a_table_is_not_parsed() -> None:
    nested = b'{"index_columns":' + b"[" * 100_000
    table = pyarrow.table({"word": ["he"]}).replace_schema_metadata({"pandas": nested})
    frame, metadata = parquet_frame(written(table), Path("t.parquet"))
    assert frame.to_dict("list") == {"word": ["he"]}
    assert metadata[b"pandas"] == nested


@pytest.mark.parametrize("nested", [False, True])
def test_a_zone_of_times_opens_no_file(nested: bool) -> None:
    times = pyarrow.array([0], type=pyarrow.timestamp("us", tz="../../etc/passwd"))
    column = pyarrow.ListArray.from_arrays([0, 1], times) if nested else times
    with pytest.raises(TableError, match=r"t\.parquet: the column 'when' .* without the zone"):
        parquet_frame(written(pyarrow.table({"word": ["he"], "when": column})), Path("t.parquet"))


PEOPLE = {
    "percent": "word,share\nnurse,12.5%\npilot,8%\n",
    "thousands": 'word,share\nnurse,"12,500"\npilot,"8,000"\n',
    "semicolons": "word;share\nnurse;12,5\npilot;8\n",
    "tabs": "Word\tShare\nnurse\t12.5\npilot\t8\n",
    "Excel": "\ufeffWord;Share\r\nnurse;12,5\r\npilot;8,0\r\n",
    "row numbers": ",word,share\n0,nurse,12.5\n1,pilot,8\n",
}


@pytest.mark.parametrize("name", PEOPLE)
def test_csv_as_people_write_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_bytes(PEOPLE[name].encode())
    frame = read_covariates(path)
    factor = 1000 if name == "thousands" else 1
    assert frame.rename(columns=str.lower).to_dict("list") == {
        "word": ["nurse", "pilot"], "share": [12.5 * factor, 8.0 * factor]
    }  # fmt: skip
    other = path.read_text(encoding="utf-8-sig").replace("word", "job").replace("Word", "job")
    path.write_text(other)
    with pytest.raises(InputFileError, match=r"If the words are in 'job', give word_column='job'\."):
        read_covariates(path)
    assert read_covariates(path, "job")["word"].tolist() == ["nurse", "pilot"]
    with pytest.raises(InputFileError, match=r"no column 'jobb' .did you mean 'job'"):
        read_covariates(path, "jobb")


def test_the_cell_that_is_no_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("word,share\nnurse,0.9\npilot,about 5\nclerk,0.5\n")
    with pytest.raises(InputFileError, match=r"row 3 of the column 'share' is 'about 5'"):
        read_covariates(path)
    path.write_text("word,share\nnurse,9%\npilot,0.5\nclerk,5%\n")
    with pytest.raises(
        InputFileError, match=r"row 3 of the column 'share' is '0.5', but other cells of the column have a %"
    ):
        read_covariates(path)


def test_row_numbers_of_a_frame_are_no_covariate() -> None:
    frame = pd.read_csv(io.StringIO(PEOPLE["row numbers"]))
    assert without_row_numbers(frame).columns.tolist() == ["word", "share"]
