"""Frames from CSV and Parquet files, whose memory is checked before they are made: a few bytes may become many rows."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.base.files.inputs import MemoryCost
from bayesbias.base.machine import check_memory
from bayesbias.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

CSV_TEXT = MemoryCost(7)  # content, text, a stream of it (4), and the parser's copy
_MOST_COLUMNS = 10_000  # each takes pandas a while, also an empty one
_MOST_EMPTY, _MOST_EMPTY_A_LETTER = 1_000_000, 10  # cells that are not written, which take time and memory
_BYTES_A_CELL = 16
_BYTES_A_COLUMN = 2_000
_BYTES_A_PARQUET_CELL = 80  # 63 of an empty cell, or of one that names a text of a dictionary
_ADVICE = "Check whether it is the right file, or allow more memory."


def csv_frame(text: str, path: Path, delimiter: str = ",", **options: Any) -> "pd.DataFrame":
    """Return a CSV text as a frame, with `options` of ``pandas.read_csv``; raise `ValueError` if it is no CSV.

    A repeated column is a `TableError`: pandas would rename it.
    """
    import pandas as pd

    names = check_csv(text, path, delimiter)
    check_distinct(filter(None, names), path)
    frame: pd.DataFrame = pd.read_csv(io.StringIO(text, newline=""), sep=delimiter, **options)
    return frame


def check_csv(text: str, path: Path, delimiter: str, bytes_a_cell: int = _BYTES_A_CELL) -> list[str]:
    """Return the names of columns; raise `NotEnoughMemoryError` or `ValueError` if there are too many cells."""
    stream = io.StringIO(text, newline="")
    # The first row may have more cells than the line of names; a later one may not.
    records = (record for record in csv.reader(stream, delimiter=delimiter) if record)
    names = next(records, [])
    columns = max(len(names), len(next(records, [])))
    rows = text.count("\n") + text.count("\r") - text.count("\r\n")
    check_memory(
        CSV_TEXT.a_byte * len(text) + columns * (_BYTES_A_COLUMN + bytes_a_cell * rows),
        f"{path}: {rows:,} rows of {columns:,} columns",
        _ADVICE,
    )
    if columns > _MOST_COLUMNS:
        raise ValueError(f"it has {columns:,} columns, more than {_MOST_COLUMNS:,}")
    if rows * columns > _MOST_EMPTY + _MOST_EMPTY_A_LETTER * len(text):
        raise ValueError(f"most of its {rows:,} rows lack cells of the {columns:,} columns")
    return names


def check_distinct(names: Iterable[str], path: Path) -> None:
    """Raise `TableError` if two columns have the same name."""
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise TableError(f"{path}: there are several columns {repeated[0]!r:.60}. Keep the one that is right.")


def parquet_frame(
    content: bytes, path: Path, check: Callable[[list[str], dict[bytes, bytes]], object] = lambda *_: None
) -> "tuple[pd.DataFrame, dict[bytes, bytes]]":
    """Return the frame of a Parquet file and its metadata; `check` is called with names and metadata before the rows.

    Raises `NotEnoughMemoryError` if the frame would take more memory than is free. Raises `TableError` if a column is
    repeated, or holds times with a time zone: pandas would open the system's file of its name. Raises
    `pyarrow.ArrowException` or `OSError` or `ValueError` if the file is damaged.
    """
    from pyarrow import concat_tables, parquet

    with parquet.ParquetFile(io.BytesIO(content)) as file:
        metadata, kinds = file.metadata, file.schema_arrow
        leaves = [file.schema.column(place) for place in range(len(file.schema))]
    check_distinct(kinds.names, path)
    check(kinds.names, metadata.metadata or {})
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
    table.validate(full=True)  # such as texts that are not UTF-8, which pandas would keep until one is shown
    check_memory(2 * sum(_text_size(chunk) for column in table.columns for chunk in column.chunks), what, _ADVICE)
    for place, kind in enumerate(kinds):
        wanted = kind.type.value_type if _is_coded_number(kind.type) else kind.type
        if table.schema.field(place).type != wanted:
            table = table.set_column(place, kind.name, table.column(place).cast(wanted))
    # Arrow parses what pandas wrote about a table, even when it ignores it.
    return table.replace_schema_metadata(None).to_pandas(ignore_metadata=True), metadata.metadata or {}


def _has_zone(kind: Any) -> bool:
    """Whether a type of Arrow has times with a time zone, at any depth."""
    import pyarrow

    if pyarrow.types.is_timestamp(kind):
        return kind.tz is not None
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return any(map(_has_zone, [kind.value_type] if pyarrow.types.is_dictionary(kind) else inner))


def _is_coded_number(kind: Any) -> bool:
    """Whether a type of Arrow has codes of numbers, which can be chosen so that pandas takes quadratic time."""
    import pyarrow

    return bool(pyarrow.types.is_dictionary(kind) and pyarrow.types.is_primitive(kind.value_type))


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
