"""Frames from CSV and Parquet files, whose memory is checked before they are made: a few bytes may become many rows."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.base.files.foreign import foreign_kind
from bayesbias.base.files.inputs import MemoryCost, read_utf8
from bayesbias.base.machine import check_memory
from bayesbias.errors import InputFileError, TableError, did_you_mean, name_some

if TYPE_CHECKING:
    import pandas as pd

CSV_TEXT = MemoryCost(7)  # content, text, a stream of it (4), and the parser's copy
_THOUSANDS = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?%?")
_MISSING = ("NA", "N/A", "n/a", "NaN", "nan")
_LONGEST_NAMES = 100_000
_MOST_COLUMNS = 10_000  # each takes pandas a while, also an empty one
_MOST_EMPTY, _MOST_EMPTY_A_LETTER = 1_000_000, 10  # cells that are not written, which take time and memory
_BYTES_A_CELL = 16
_BYTES_A_COLUMN = 2_000
_BYTES_A_PARQUET_CELL = 40
_ADVICE = "Check whether it is the right file, or allow more memory."


def read_csv(path: Path, advice: str, *, texts: Sequence[str] = (), word_column: str | None = None) -> "pd.DataFrame":
    """Return a CSV file of people, which may be packed, as a frame.

    Commas, semicolons or tabs separate cells; numbers may have a percent sign, a decimal comma, or commas between
    thousands (`plain_numbers`). Row numbers without a name, as pandas writes them, are left out. Names of the columns
    `texts`, which hold texts whatever they look like, are recognised in any case: "Word" is the column "word".

    - `word_column`: name of the column of words, the first of `texts`, if it has another.

    Raises `InputFileError` if the file cannot be read, is not UTF-8, or is no CSV; the message ends with `advice`.
    Raises `NotEnoughMemoryError` if the frame would take more memory than is free.
    """
    text = read_utf8(path, CSV_TEXT)
    if kind := foreign_kind(text[:1000].encode()):
        raise InputFileError(f"{path} is {kind}")
    delimiter = _delimiter(text)
    try:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        names = next((record for record in records if record), [])
    except csv.Error as error:  # such as a cell that is too long
        raise InputFileError(f"{path} is not a CSV file: {error}. {advice}") from error
    renamed = {name: plain for name in names for plain in texts if name.strip().casefold() == plain}
    if word_column is not None:
        if word_column not in names:
            raise InputFileError(
                f"{path} has no column {word_column!r}{did_you_mean(word_column, names)}; it has {name_some(names)}."
            )
        renamed[word_column] = texts[0]
    try:
        # "null" is a word; only an empty cell is a missing value.
        frame = csv_frame(
            text,
            path,
            delimiter,
            keep_default_na=False,
            na_values=[""],
            dtype=dict.fromkeys([name for name in (*renamed, *texts) if name in names], str),
        )
        frame = frame.rename(columns=renamed)
        _check_distinct(frame.columns, path)
        return plain_numbers(without_row_numbers(frame), str(path), decimal_comma=delimiter == ";", but=texts)
    except TableError as error:
        raise InputFileError(str(error)) from error
    except (csv.Error, ValueError) as error:
        raise InputFileError(f"{path} is not a CSV file: {error}. {advice}") from error


def _delimiter(text: str) -> str:
    """Return what separates the cells of the first line."""
    line = next((line for line in text[:_LONGEST_NAMES].splitlines() if line.strip()), "")
    return max(",;\t", key=re.sub(r'"[^"]*"', "", line).count)


def without_row_numbers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame without the column of row numbers that pandas writes, and reads as "Unnamed: 0".

    >>> import pandas as pd
    >>> without_row_numbers(pd.DataFrame({"Unnamed: 0": [0, 1], "word": ["nurse", "clerk"]})).columns.tolist()
    ['word']
    """
    first = frame.columns[0] if len(frame.columns) else None
    if not str(first).startswith("Unnamed:") or not len(frame):
        return frame
    column = frame[first].tolist()
    is_numbered = any(column == list(range(start, start + len(column))) for start in (0, 1))
    return frame.drop(columns=first) if is_numbered else frame


def plain_numbers(
    frame: "pd.DataFrame", source: str, *, decimal_comma: bool = False, strict: bool = True, but: Sequence[str] = ()
) -> "pd.DataFrame":
    """Return a frame whose columns of numbers that people write as texts are numbers: ``"12.5%"`` is 12.5.

    Commas are between thousands where each has three digits after it, and `decimal_comma` is not set; otherwise a comma
    is a decimal sign. A column without any number stays as it is. Raises `InputFileError` for the first cell that is no
    number in a column where most are, unless `strict` is False: such a column then stays as it is.

    - `but`: names of columns to leave as they are.

    >>> import pandas as pd
    >>> plain_numbers(pd.DataFrame({"share": ["12.5%", "8%"], "people": ["1,012", "970"]}), "f").to_dict("list")
    {'share': [12.5, 8.0], 'people': [1012.0, 970.0]}
    """
    import pandas as pd

    changed = {}
    for name in frame.columns:
        cells = frame[name]
        if name in but or not isinstance(cells, pd.Series) or cells.dtype.kind in "biufcmM":
            continue
        texts = {row: str(cell).strip() for row, cell in enumerate(cells) if isinstance(cell, str) and cell.strip()}
        thousands = not decimal_comma and all(
            map(_THOUSANDS.fullmatch, (text for text in texts.values() if "," in text))
        )
        numbers = {row: _number(text, thousands=thousands) for row, text in texts.items()}
        wrong = [row for row, number in numbers.items() if number is None]
        if not texts or len(wrong) == len(texts):
            continue
        percent = [
            text.endswith("%") for row, text in texts.items() if numbers[row] is not None and text not in _MISSING
        ]
        if wrong and not strict:
            continue
        if any(percent) and not all(percent):
            row = next(row for row, text in texts.items() if not text.endswith("%"))
            raise InputFileError(f"{source}: row {row + 1} of {name!r} is {texts[row]!r}, but other cells have a %.")
        if wrong and 2 * len(wrong) < len(texts):
            row = wrong[0]
            raise InputFileError(
                f"{source}: row {row + 1} of the column {name!r} is {texts[row]!r:.60}, which is no number, but most "
                "of its cells are. Correct it, or leave it empty."
            )
        if not wrong:
            converted = [numbers.get(row, cell) for row, cell in enumerate(cells)]
            changed[name] = pd.to_numeric(pd.Series(converted, index=frame.index), errors="coerce")
    return frame.assign(**changed) if changed else frame


def _number(text: str, *, thousands: bool) -> float | None:
    """Return the number that a text is, NaN if it marks a missing one, None if it is something else."""
    if text in _MISSING:
        return math.nan
    plain = text.removesuffix("%").strip()
    if thousands:
        plain = plain.replace(",", "")
    elif "," in plain:
        plain = plain.replace(".", "").replace(",", ".") if plain.count(",") == 1 else "x"
    try:
        return float(plain) if "_" not in plain else None
    except ValueError:
        return None


def csv_frame(text: str, path: Path, delimiter: str = ",", **options: Any) -> "pd.DataFrame":
    """Return a CSV text as a frame, with `options` of ``pandas.read_csv``; raise `ValueError` if it is no CSV.

    A repeated column is a `TableError`: pandas would rename it.
    """
    import pandas as pd

    stream = io.StringIO(text, newline="")
    # The first row may have more cells than the line of names; a later one may not.
    records = (record for record in csv.reader(stream, delimiter=delimiter) if record)
    names = next(records, [])
    columns = max(len(names), len(next(records, [])))
    rows = text.count("\n") + text.count("\r") - text.count("\r\n")
    check_memory(
        CSV_TEXT.a_byte * len(text) + columns * (_BYTES_A_COLUMN + _BYTES_A_CELL * rows),
        f"{path}: {rows:,} rows of {columns:,} columns",
        _ADVICE,
    )
    if columns > _MOST_COLUMNS:
        raise ValueError(f"it has {columns:,} columns, more than {_MOST_COLUMNS:,}")
    if rows * columns > _MOST_EMPTY + _MOST_EMPTY_A_LETTER * len(text):
        raise ValueError(f"most of its {rows:,} rows lack cells of the {columns:,} columns")
    _check_distinct(filter(None, names), path)
    stream.seek(0)
    frame: pd.DataFrame = pd.read_csv(stream, sep=delimiter, **options)
    return frame


def _check_distinct(names: Iterable[str], path: Path) -> None:
    """Raise `TableError` if two columns have the same name."""
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise TableError(f"{path}: there are several columns {repeated[0]!r:.60}. Keep the one that is right.")


def parquet_frame(content: bytes, path: Path) -> "tuple[pd.DataFrame, dict[bytes, bytes]]":
    """Return the frame of a Parquet file and its metadata.

    Raises `NotEnoughMemoryError` if the frame would take more memory than is free. Raises `TableError` if a column is
    repeated, or holds times with a time zone: pandas would open the system's file of its name. Raises
    `pyarrow.ArrowException` or `OSError` or `ValueError` if the file is damaged.
    """
    from pyarrow import concat_tables, parquet

    with parquet.ParquetFile(io.BytesIO(content)) as file:
        metadata, kinds = file.metadata, file.schema_arrow
        leaves = [file.schema.column(place) for place in range(len(file.schema))]
    _check_distinct(kinds.names, path)
    if zoned := [kind.name for kind in kinds if _has_zone(kind.type)]:
        what = "times with a time zone. Write it without the zone."
        raise TableError(f"{path}: the column {zoned[0]!r:.60} holds {what}")
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    cells = max(rows * len(leaves), sum(chunk.num_values for chunk in chunks))
    fixed = sum(rows * max(leaf.length, 0) for leaf in leaves)
    needed = 2 * sum(chunk.total_uncompressed_size for chunk in chunks) + _BYTES_A_PARQUET_CELL * cells + fixed
    what = f"{path}: {rows:,} rows of {len(leaves):,} columns"
    check_memory(needed, what, _ADVICE)
    # A text of a dictionary, which stands once in the file, may be in any number of cells.
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL"]
    options: dict[str, Any] = {"read_dictionary": texts, "page_checksum_verification": True}
    with parquet.ParquetFile(io.BytesIO(content), **options) as file:
        # Arrow joins such texts inside of lists only in one group of rows.
        table = concat_tables([file.read_row_group(place) for place in range(len(groups))] or [file.read()])
    check_memory(2 * sum(_text_size(chunk) for column in table.columns for chunk in column.chunks), what, _ADVICE)
    for place, kind in enumerate(kinds):
        if table.schema.field(place).type != kind.type:
            table = table.set_column(place, kind, table.column(place).cast(kind.type))
    return table.to_pandas(ignore_metadata=True), metadata.metadata or {}


def _has_zone(kind: Any) -> bool:
    """Whether a type of Arrow has times with a time zone, at any depth."""
    import pyarrow

    if pyarrow.types.is_timestamp(kind):
        return kind.tz is not None
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return any(map(_has_zone, [kind.value_type] if pyarrow.types.is_dictionary(kind) else inner))


def _text_size(values: Any) -> int:
    """Return the bytes of all texts in an array of Arrow whose texts are numbers of a dictionary."""
    import pyarrow
    from pyarrow import compute

    if pyarrow.types.is_dictionary(values.type):
        if pyarrow.types.is_primitive(values.type.value_type):
            return 0
        lengths = compute.binary_length(values.dictionary).take(values.indices)
        return compute.sum(lengths).as_py() or 0
    if pyarrow.types.is_struct(values.type):
        return sum(map(_text_size, values.flatten()))
    return _text_size(values.flatten()) if pyarrow.types.is_nested(values.type) else 0
