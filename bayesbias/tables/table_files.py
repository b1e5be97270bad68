"""Reading and writing of distance tables: CSV and Parquet, gzipped or not, with provenance."""

import csv
import gzip
import io
import json
import os
import re
from codecs import BOM_UTF8
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import (
    SEAL_SIZE,
    MemoryCost,
    check_seal,
    input_file,
    open_content,
    parse_json,
    printable,
    read_content,
    readable,
    sealed,
    utf8_text,
)
from bayesbias.base.files.openings import Opening
from bayesbias.base.files.outputs import atomic_path, check_output
from bayesbias.base.files.stored_frames import CSV_TEXT, csv_frame, parquet_frame
from bayesbias.base.machine import require
from bayesbias.errors import InputFileError, OutputError, TableError, raise_faults
from bayesbias.tables.codes import WORD_COLUMNS, no_words, to_numbers, words_as_texts
from bayesbias.tables.measures import NUMBER_COLUMNS
from bayesbias.tables.schema import (
    ATTRS_KEY,
    Duplicates,
    FrameLike,
    Provenance,
    as_frame,
    drop_duplicates,
    judge_lost_entries,
    provenance,
    provenance_faults,
    table_hash,
    validate_table,
)

Format = Literal["csv", "parquet"]

# A CSV file carries a checksum and its provenance as JSON in its first line, behind this mark.
_MARK = "# bayesbias: "
_FIRST_LINE = re.compile(rf"{_MARK}(?:([0-9a-f]{{64}}) )?(\{{.*)")
_LONGEST_HEADER = 10_000
# Position of the checksum in a Parquet file: after its first four bytes.
_GAP = 4
_PARQUET = MemoryCost(2)
# Names and codes of the tables that Dobrzeniecka and Urbaniak published.
_PUBLISHED_COLUMNS = {"word_to_compare": "attribute_word", "word_class": "attribute_group"}
_PUBLISHED_CONNECTIONS = {"none": "neutral"}
_LOST_CODE = -100.0


def write_table(table: FrameLike, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a distance table with its provenance, atomically.

    Parameters
    ----------
    table
        A distance table; it is validated first.
    path
        Ends in ``.csv``, ``.csv.gz``, ``.parquet`` or ``.parquet.gz`` (the extra ``parquet``). The same table gives the
        same bytes.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file that was written. A CSV begins with one line of provenance; other programs skip it, for
        example with ``pandas.read_csv(path, skiprows=1)``. Words stand in it as they are: import
        those of strangers into a spreadsheet as text, since it takes ``=1+1`` for a formula.

    Raises
    ------
    OutputError
        If the path cannot be written, exists and must not be replaced, has another ending, or needs an extra that is
        not installed.
    TableError
        If the table breaks the schema.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = bb.read_table(bb.write_table(table, Path(folder) / "weat7.parquet"))
    >>> again.equals(table) and again.attrs == table.attrs
    True
    """
    table = as_frame(table)
    kind, zipped = check_table_output(path, overwrite=overwrite)
    table = validate_table(table)
    current = table_hash(table)
    facts = {**provenance(table, current_hash=current), "hash": current}
    table.attrs = {}
    content = _csv_bytes(table, facts) if kind == "csv" else _parquet_bytes(table, facts)
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(gzip.compress(content, mtime=0) if zipped else content)
    return Path(path)


def read_table(path: str | os.PathLike[str], *, duplicates: Duplicates = "drop") -> pd.DataFrame:
    """Return a distance table from a file: ours, a user's own, or one of those that the paper published.

    Parameters
    ----------
    path
        A CSV or Parquet file (the extra ``parquet``), gzipped or not. Columns may have the names of the schema or those
        of the published tables (``word_to_compare``, ``word_class``, connection ``none`` for neutral).
    duplicates
        ``"drop"`` removes exact repetitions of a pair and warns; ``"keep"`` reproduces results that counted
        them (44 % of the rows of the published race tables are repetitions).

    Returns
    -------
    pandas.DataFrame
        A validated distance table. Rows coded -100 are words that the embedding lacked: they are taken out
        and listed by `lost_words`. Where the file names no protected groups, a word's group is named after
        the attribute groups it is associated with.

    Raises
    ------
    InputFileError
        If the file is absent, empty, truncated, not what its name says, or needs an extra that is not installed.
    TableError
        If the table breaks the schema.

    Warns
    -----
    LostWordsWarning, DuplicatesWarning
        If a foreign table held lost words, or any table held repetitions.

    Examples
    --------
    >>> table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    >>> table["connection"].value_counts().sort_index().to_dict()
    {'associated': 128, 'different': 128, 'human': 1248, 'neutral': 1328}
    """
    return read_opened_table(input_file(path), duplicates)


def read_opened_table(path: Path, duplicates: Duplicates, opening: Opening = os.open) -> pd.DataFrame:
    """Return a distance table as `read_table` does from an existing file, opened as by `open_input`."""
    kind, _ = _format(path, InputFileError)
    if kind == "csv":
        _check_head(path, opening)
    content = read_content(path, CSV_TEXT if kind == "csv" else _PARQUET, opening=opening)
    if not content:
        raise InputFileError(f"{path} is empty. Write the table again.")
    # Hashes of Python's texts are random; those of Arrow's can be chosen, so that reading takes quadratic time.
    with pd.option_context("mode.string_storage", "python"):
        table = _checked_table(content, path, kind, duplicates)
    texts = {name: "str" for name in table.columns if table[name].dtype == "str"}
    table = table.astype(texts)
    table.columns = table.columns.astype("str")
    return table


def _checked_table(content: bytes, source: Path, kind: Format, duplicates: Duplicates) -> pd.DataFrame:
    table, facts = _parse_csv(content, source) if kind == "csv" else _parse_parquet(content, source)
    table = table.rename(columns={old: new for old, new in _PUBLISHED_COLUMNS.items() if new not in table})
    raise_faults(TableError, f"{source}: The distance table", no_words(table))
    table = _without_published_codes(words_as_texts(table))
    sizes = _list_sizes(table)
    table, lost = _take_out_lost_words(table)
    table.attrs[ATTRS_KEY] = Provenance(facts)  # they say which numbers are possible
    try:
        table = validate_table(table)
        _check_hash(table, facts, kind)
        repeated = len(table) - len(table.drop_duplicates(["protected_word", "attribute_word"]))
        table, dropped = drop_duplicates(table, duplicates)
    except TableError as error:
        raise TableError(f"{source}: {error}") from error
    if not facts:
        judge_lost_entries(lost, str(source), sizes=sizes)
        # A foreign table that codes no word as lost may have left its lost words out: that is not known.
        facts = {"source": printable(source.name), **({"lost_words": lost} if lost else {})}
    if repeated or "duplicates" not in facts:
        facts["duplicates"] = {"policy": duplicates, "dropped": dropped}
    table = table.reset_index(drop=True)
    table.attrs[ATTRS_KEY] = Provenance({**facts, "hash": table_hash(table)})
    return table


def check_table_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Format, bool]:
    """Return the format that a path asks for; raise `OutputError` before any work if no table can be written there."""
    form = _format(path, OutputError)
    check_output(path, overwrite=overwrite)
    return form


# --- formats ----------------------------------------------------------------------------------------------


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has the ending of a distance table.

    >>> is_table_name("weat7.csv.gz"), is_table_name("vectors.npz")
    (True, False)
    """
    return Path(path).name.lower().removesuffix(".gz").endswith((".csv", ".parquet"))


def _format(path: str | os.PathLike[str], error: type[InputFileError | OutputError]) -> tuple[Format, bool]:
    name = check_path(path).name.lower()
    zipped = name.endswith(".gz")
    stem = name.removesuffix(".gz")
    if stem.endswith(".csv"):
        return "csv", zipped
    if stem.endswith(".parquet"):
        require("pyarrow", "parquet", f"{path}, a table in Parquet,", error=error, advice="Or use .csv.gz.")
        return "parquet", zipped
    raise error(
        f"{path}: a distance table is a .csv, .csv.gz, .parquet or .parquet.gz file, such as `bayesbias table` writes."
    )


def _csv_bytes(table: pd.DataFrame, facts: dict[str, Any]) -> bytes:
    content = json.dumps(facts, ensure_ascii=False) + "\n" + table.to_csv(index=False, lineterminator="\n")
    return f"{_MARK}{_checksum(content)} {content}".encode()


def _parquet_bytes(table: pd.DataFrame, facts: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    try:
        arrow = pyarrow.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    except (pyarrow.ArrowException, TypeError, OverflowError) as error:
        reason = "; ".join(map(str, error.args)).splitlines()[0]
        raise TableError(f"A column holds what Parquet cannot: {reason}. Leave it out, or make it texts.") from error
    buffer = io.BytesIO()
    stream = pyarrow.PythonFile(buffer, mode="w")
    with parquet.ParquetWriter(stream, arrow.schema, write_page_checksum=True) as writer:
        stream.write(bytes(SEAL_SIZE))  # a gap, in which no reader looks
        writer.write_table(arrow)
        writer.add_key_value_metadata({ATTRS_KEY: json.dumps(facts)})
    content = buffer.getvalue()
    return sealed(content[:_GAP] + content[_GAP + SEAL_SIZE :], _GAP)


def _checksum(content: str) -> str:
    """Return the checksum of the provenance and rows of a CSV, independent of line ends, which editors change."""
    return sha256(content.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


def _parse_csv(content: bytes, path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    text = utf8_text(content, path)
    facts: Any = {}
    if text.startswith(_MARK):
        first, _, rows = text.partition("\n")
        match = _FIRST_LINE.fullmatch(first.rstrip("\r"))
        try:
            facts = parse_json(match[2]) if match else None
        except ValueError as error:
            raise InputFileError(
                f"{path}: the provenance in line 1 is not valid JSON ({error}). Write the table again."
            ) from error
        if match and match[1] and match[1] != _checksum(text[match.start(2) :]):
            raise _edited(path)
        _check_facts(facts, path)
        text = rows
    try:
        _check_header(text, path)
        # "null" and "nan" are words here, and not missing values.
        table = csv_frame(text, path, keep_default_na=False, na_values=_MISSING_NUMBERS, dtype=_TEXTS)
        _check_fields(table, path, written=bool(facts))
    except TableError:
        raise
    except (pd.errors.EmptyDataError, pd.errors.ParserError, csv.Error, ValueError) as error:
        raise InputFileError(f"{path} is not a CSV table: {error}. Write the table again.") from error
    return table, facts


def _edited(path: Path) -> InputFileError:
    return InputFileError(
        f"{path} is not what was written: it is cut short, damaged, or was edited. Write the table again; if the edit "
        "is meant, delete line 1, which describes the old rows."
    )


def _check_head(path: Path, opening: Opening) -> None:
    """Raise `TableError` if a CSV names no columns of words, before its rows, which may be many, are held in memory."""
    with readable(path), open_content(path, opening) as stream:
        head = stream.read(_LONGEST_HEADER)
        written = head.removeprefix(BOM_UTF8).startswith(_MARK.encode())
        if written:
            while b"\n" not in head and (piece := stream.read(_LONGEST_HEADER)):
                head = piece
            head = head.partition(b"\n")[2] + stream.read(_LONGEST_HEADER)
    if len(head) < _LONGEST_HEADER and not head.strip():
        return  # an empty table
    text = head.decode("utf-8-sig", "replace")
    _check_header(text, path)
    names = next((line for line in csv.reader(io.StringIO(text, newline="")) if line), [])
    try:
        _check_names(list(filter(None, names)), path, {})
    except TableError as error:
        utf8_text(head[: head.rfind(b"\n") + 1], path)
        raise _edited(path) if written else error from None


def _check_names(names: list[str], path: Path, facts: dict[str, Any]) -> None:
    """Raise the `TableError` of `validate_table` if columns of words or connections are missing."""
    renamed = [_PUBLISHED_COLUMNS.get(name, name) for name in names]
    if {"protected_word", "attribute_word", "connection"} <= {*renamed}:
        return
    empty = pd.DataFrame(columns=[name for name in renamed if not name.startswith("Unnamed:")])
    empty.attrs[ATTRS_KEY] = Provenance(facts)
    try:
        validate_table(empty)
    except TableError as error:
        raise TableError(f"{path}: {error}") from error


def _check_header(text: str, path: Path) -> None:
    """Raise `TableError` if the first line of a CSV names no columns."""
    first = next((line for line in csv.reader(io.StringIO(text[:_LONGEST_HEADER], newline="")) if line), [])
    if len(",".join(first)) >= _LONGEST_HEADER - 1:
        raise TableError(f"{path}: its first line has over {_LONGEST_HEADER:,} characters, and names no columns.")


def _check_fields(table: pd.DataFrame, path: Path, *, written: bool) -> None:
    """Raise `TableError` if rows have more fields than columns, or words hold lines, which ours alone may (`written`).

    pandas would read the first fields as row names, and an open quotation mark as a word over several lines.
    """
    if not isinstance(table.index, pd.RangeIndex):
        raise TableError(
            f"{path}: its rows have more fields than there are columns, the first is {str(table.index[0])[:60]!r}. Put "
            "words that hold commas between quotation marks."
        )
    for name in () if written else WORD_COLUMNS:
        if name in table and (lines := table[name].astype(str).str.contains("\n", regex=False)).any():
            row = int(lines.to_numpy().argmax())
            raise TableError(
                f"{path}: {name} in row {row + 1} runs over several lines, {str(table[name].iloc[row])[:60]!r}: a "
                "quotation mark is not closed. Write a word that is one as four of them."
            )


# A word such as "007" or "1e5" is a text and no number.
_TEXTS = dict.fromkeys((*WORD_COLUMNS, *_PUBLISHED_COLUMNS, "connection"), str)
_MISSING_NUMBERS = {name: ["", "nan", "NaN", "NA"] for name in NUMBER_COLUMNS}


def _parse_parquet(content: bytes, path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    import pyarrow

    check_seal(path, content, _GAP)
    facts: Any = {}

    def check(names: list[str], metadata: dict[bytes, bytes]) -> None:
        nonlocal facts
        facts = parse_json(metadata.get(ATTRS_KEY.encode(), b"{}"))
        _check_facts(facts, path)
        _check_names(names, path, facts)

    try:
        table, _ = parquet_frame(content, path, check)
    except TableError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputFileError(f"{path} is not a Parquet table: {reason}. Write the table again.") from error
    return table, facts


def _check_facts(facts: object, path: Path) -> None:
    """Raise `InputFileError` if a table's provenance is not valid."""
    raise_faults(InputFileError, f"{path}, whose provenance says where it comes from,", list(provenance_faults(facts)))


def _check_hash(table: pd.DataFrame, facts: dict[str, Any], kind: Format) -> None:
    meant = "delete line 1, which describes the old rows" if kind == "csv" else "write it with write_table"
    if "hash" in facts and facts["hash"] != table_hash(table):
        raise TableError(
            f"the {len(table):,} rows are not those that were written: the file is cut short or was edited. Write "
            f"the table again; if the edit is meant, {meant}."
        )


# --- the published tables ---------------------------------------------------------------------------------


def _without_published_codes(table: pd.DataFrame) -> pd.DataFrame:
    unnamed = [column for column in table.columns if str(column).startswith("Unnamed:")]
    table = table.drop(columns=unnamed)
    if "connection" in table:
        table["connection"] = table["connection"].astype(str).replace(_PUBLISHED_CONNECTIONS)
    return table


def _list_sizes(table: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Return the number of words of each (role, list), or of a role whose lists have no names."""
    sizes: dict[tuple[str, str], int] = {}
    for role in ("protected", "attribute"):
        if f"{role}_word" in table:
            words = table[f"{role}_word"].groupby(_lists(table, role)).nunique()
            sizes |= {(role, str(name)): int(count) for name, count in words.items()}
    return sizes


def _lists(table: pd.DataFrame, role: str) -> pd.Series:
    """Return the list of each row's word, or its role if the list has no name."""
    if f"{role}_group" not in table:
        return pd.Series(role, index=table.index)
    return table[f"{role}_group"].astype(object).where(table[f"{role}_group"].notna(), role).astype(str)


def _take_out_lost_words(table: pd.DataFrame) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return a table without rows coded -100, and its lost words: those without any other row."""
    measured = [name for name in ("cosine_distance", "cosine_similarity") if name in table]
    coded = pd.Series(False, index=table.index)
    for name in measured:
        coded |= to_numbers(table[name]) == _LOST_CODE
    if not coded.any() or not {"protected_word", "attribute_word"} <= set(table.columns):
        return table, []
    lost_rows, measured_rows = table[coded], table[~coded]
    lost = []
    for role in ("protected", "attribute"):
        words = lost_rows[~lost_rows[f"{role}_word"].isin(measured_rows[f"{role}_word"])].drop_duplicates(
            f"{role}_word"
        )
        reason = f"coded {_LOST_CODE:g} in the table"
        lost += [
            {"word": str(word), "role": role, "list": name, "reason": reason}
            for word, name in zip(words[f"{role}_word"], _lists(words, role), strict=True)
        ]
    # If every row is lost, it is unknown which of the two words was missing.
    return measured_rows.reset_index(drop=True), lost
