"""CSV files as people and spreadsheets write them, as frames: texts of words, and numbers in any usual spelling."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.files.foreign import foreign_kind
from bayesbias.base.files.inputs import MemoryCost, read_utf8
from bayesbias.base.files.stored_frames import CSV_TEXT, check_csv, check_distinct
from bayesbias.base.number_text import counted
from bayesbias.errors import (
    BayesBiasError,
    InputFileError,
    QuestionWarning,
    TableError,
    did_you_mean,
    name_some,
    setting,
    warn_user,
)

if TYPE_CHECKING:
    import pandas as pd

PERCENT = "bayesbias_percent"
"""Key of the attributes of a frame: names of the columns whose numbers are percentages, as ``12.5%`` is written."""
_MISSING = frozenset(
    {
        "na",
        "n/a",
        "n.a.",
        "k. a.",
        "k.a.",
        "#n/a",
        "nan",
        "null",
        "-",
        "\u2013",
        "\u2014",
        ".",
        "..",
        "...",
        "\u2026",
        ":",
    }
)
_LONGEST_LINE = 100_000
_MOST_CELLS, _MOST_COLUMNS = 1_000_000, 1000  # each column takes about a millisecond
_MOST_TITLES = 20  # rows above the names of columns
_BYTES_A_CELL = 280  # short texts of Python with their places in lists, and what they are read as
_SPREADSHEET = MemoryCost(CSV_TEXT.a_byte, _BYTES_A_CELL, b",;\t\n\r")
_SEPARATOR = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)  # Excel's first line
_DIGIT, _WHOLE = re.compile(r"\d"), re.compile(r"[-+]?\d+")
_GAPS = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")  # between thousands
# Decimal sign -> what a number with it looks like; the other sign is between thousands.
_NUMBERS = {
    decimal: re.compile(rf"[-+]?(?:\d+|[1-9]\d{{0,2}}(?:{other}\d{{3}})+)?(?:{sign}\d*)?(?:[eE][-+]?\d+)?")
    for decimal, sign, other in ((".", r"\.", ","), (",", ",", r"\."))
}
_TRUTHS = {"true": True, "false": False}


def read_csv(
    path: Path,
    advice: str,
    *,
    keys: Sequence[str] = (),
    texts: Sequence[str] = (),
    given: Mapping[str, str | None] | None = None,
    mixed: bool = False,
) -> "pd.DataFrame":
    """Return a CSV file of people, which may be packed, as a frame.

    Commas, semicolons or tabs separate cells. Titles above the names of columns, rows and columns without content, and
    row numbers without a name, as pandas writes them, are left out. How numbers may be written: see `plain_numbers`.

    - `keys`: names of columns of texts, such as words, one of which must be there. In any case: "Word" is "word".
    - `texts`: further columns that hold texts, whatever they look like.
    - `given`: names in this file of columns such as `word`, or None, by the usual name. The setting for a name, such as
      `word_column`, is recommended where one of `keys` is not there.
    - `mixed`: whether a column in which most cells are no numbers may have some.

    Raises `InputFileError` if the file cannot be read, is not UTF-8, or is no CSV, has more than 1,000,000 cells or
    1,000 columns, or a cell of a column of numbers is none; the message has the number of its row as a spreadsheet
    shows it. Raises `NotEnoughMemoryError` if the frame would take more memory than is free.
    """
    import pandas as pd

    text = read_utf8(path, _SPREADSHEET)
    if kind := foreign_kind(text[:1000].encode()):
        raise InputFileError(f"{path} is {kind}")
    separator = _SEPARATOR.match(text)
    delimiter = separator[1] if separator else _delimiter(text)
    cell_count = text.count(delimiter) + max(text.count("\n"), text.count("\r"))
    if cell_count > _MOST_CELLS:
        raise InputFileError(
            f"{path} has about {cell_count:,} cells, more than {_MOST_CELLS:,}. Keep the rows and columns that you "
            "need."
        )
    wanted, given = {*keys, *texts}, given or {}
    own_names = {name.strip(): usual for usual, name in given.items() if name is not None}
    try:
        check_csv(text, path, delimiter, _BYTES_A_CELL)
        stream = io.StringIO(text[separator.end() if separator else 0 :], newline="")
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        stripped = ((row, [cell.strip() for cell in cells]) for row, cells in enumerate(reader, start=1))
        records = [(row, cells) for row, cells in stripped if any(cells)]
    except (csv.Error, ValueError) as error:  # such as a cell that is too long
        raise InputFileError(f"{path} is not a CSV file: {error}. {advice}") from error
    if not records:
        raise InputFileError(f"{path} is empty. {advice}")
    named_keys = {name for name, usual in own_names.items() if usual in keys}
    place = _place_of_names(records, named_keys or {*own_names, *wanted})
    names, records = records[place][1], records[place + 1 :]
    listed = list(_columns(names, records, path))
    if len(listed) > _MOST_COLUMNS:
        raise InputFileError(
            f"{path} has {len(listed):,} columns, more than {_MOST_COLUMNS:,}. Keep those that you need; a row is one "
            "word, period or question."
        )
    columns = dict(listed)
    if absent := next((name for name in named_keys if name not in columns), None):
        raise InputFileError(
            f"{path} has no column {absent!r}{did_you_mean(absent, columns)}; it has {name_some(columns)}."
        )
    renamed = {name: name.casefold() for name in columns if name.casefold() in wanted} | own_names
    try:
        check_distinct([renamed.get(name, name) for name, _ in listed], path)
    except TableError as error:
        raise InputFileError(str(error)) from error
    frame = pd.DataFrame({renamed.get(name, name): pd.Series(cells, dtype="str") for name, cells in columns.items()})
    places = [f"row {row} of" for row, _ in records]
    frame = without_row_numbers(
        plain_numbers(frame, str(path), but=wanted, delimiter=delimiter, places=places, strict=not mixed)
    )
    key = next((name for name in keys if name in frame), None)
    if keys and key is None:
        hint = ""
        if any(_is_datum(name) for name in columns):
            hint = " Its first row seems to hold data: put the names of columns above it."
        elif usual := next((name for name in keys if name in given), ""):
            # Words are texts; periods may be numbers.
            others = (str(name) for name in frame if frame[name].dtype == "str" or usual != "word")
            other = next(others, "")
            hint = f" If the {usual}s are in {other!r}, give {setting(f'{usual}_column', other)}." if other else ""
        raise InputFileError(f"{path} has the columns {list(map(str, frame.columns))}. {advice}{hint}")
    unnamed = (name for name in frame if str(name).startswith("Unnamed:"))
    nameless = next((name for name in unnamed if frame[name].dtype != "str"), None)
    if nameless is not None:
        row = records[int(frame[nameless].notna().argmax())][0]
        raise InputFileError(
            f"{path}: row {row} has a number in a column without a name. Name the column, or empty it."
        )
    return frame if key is None else _with_key(frame, key, path, [row for row, _ in records])


def _with_key(frame: "pd.DataFrame", key: str, path: Path, rows: Sequence[int]) -> "pd.DataFrame":
    """Return a frame without rows that have no word, such as notes; one with a number is an `InputFileError`."""
    nameless = frame[key].isna()
    numbered = frame.select_dtypes("number").notna().any(axis=1) & nameless
    if numbered.any():
        raise InputFileError(
            f"{path}: row {rows[int(numbered.argmax())]} has a number, but its column {key!r} is empty. Fill it, or "
            "remove the row."
        )
    plain = frame[~nameless].reset_index(drop=True)
    plain.attrs = frame.attrs
    return plain


def _delimiter(text: str) -> str:
    """Return what separates the cells of most lines, in a number that most of them share: titles may hold others."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in text[:_LONGEST_LINE].splitlines()]

    def lines_alike(separator: str) -> int:
        counts = Counter(count for line in lines if (count := line.count(separator)))
        return max(counts.values(), default=0)

    return max("\t;,", key=lines_alike)


def _place_of_names(records: Sequence[tuple[int, list[str]]], wanted: Iterable[str]) -> int:
    """Return the place of the names of columns: the first row that has a wanted name, or more than a title does."""
    folded = {name.strip().casefold() for name in wanted}
    for place, (_, cells) in enumerate(records[:_MOST_TITLES]):
        if folded & {cell.casefold() for cell in cells}:
            return place
        if any(cells[1:]):
            return 0 if any(map(_is_datum, cells)) else place
    return 0


def _columns(
    names: Sequence[str], records: Sequence[tuple[int, list[str]]], path: Path
) -> Iterator[tuple[str, list[str | None]]]:
    """Yield the name and the cells of each column that is not empty, None in place of an empty cell."""
    for row, cells in records:
        if len(cells) > len(names) and any(cells[len(names) :]):
            named = counted(len(names), "column has a name", "columns have names")
            raise InputFileError(
                f"{path}: row {row} has {len(cells)} cells, but {named}. Put a text that holds a separator between "
                "quotes."
            )
    for place, name in enumerate(names):
        column = [cells[place] or None if place < len(cells) else None for _, cells in records]
        if name or any(column):
            yield name or f"Unnamed: {place}", column


def without_row_numbers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame without the column of row numbers that pandas writes, and reads as "Unnamed: 0".

    >>> import pandas as pd
    >>> without_row_numbers(pd.DataFrame({"Unnamed: 0": [0, 1], "word": ["nurse", "clerk"]})).columns.tolist()
    ['word']
    """
    first = frame.columns[0] if len(frame.columns) else None
    if not str(first).startswith("Unnamed:") or not len(frame) or frame[first].dtype.kind not in "iu":
        return frame
    numbers = np.sort(frame[first].to_numpy())  # numbers can be chosen so that pandas' own check takes quadratic time
    return frame if (numbers[1:] == numbers[:-1]).any() else frame.drop(columns=first)


def plain_numbers(
    frame: "pd.DataFrame",
    source: str,
    *,
    but: Iterable[str] = (),
    delimiter: str = ",",
    places: Sequence[str] | None = None,
    strict: bool = True,
    error: type[BayesBiasError] = InputFileError,
) -> "pd.DataFrame":
    """Return a frame whose columns of numbers that people write as texts are numbers: ``"12.5%"`` is 12.5.

    Names of columns with a percent sign are in the attribute `PERCENT`. A decimal sign may be a point or a comma, and
    the other one, a space or an apostrophe may be between thousands. Cells such as ``n/a``, ``-`` and ``..`` are
    missing. A column without any number stays as it is. Raises `error` for a cell that is no number in a column that
    has some; unless `strict`, only where most are. Raises it too where ``1.012`` can be two numbers.

    - `but`: names of columns to leave as they are.
    - `delimiter`: what separates the cells of the file; a comma means decimal points.
    - `places`: place of each row in messages, such as ``"row 3 of"``; by default from its label.

    >>> import pandas as pd
    >>> numbers = plain_numbers(pd.DataFrame({"share": ["12.5%", "8%"], "people": ["1,012", "970"]}), "f")
    >>> numbers.to_dict("list"), numbers.attrs
    ({'share': [12.5, 8.0], 'people': [1012, 970]}, {'bayesbias_percent': ['share']})
    """
    import pandas as pd

    text_columns, places = set(but), places or [f"{label!r} of" for label in frame.index]
    texts = {
        name: {place: cell.strip() for place, cell in enumerate(frame[name].tolist()) if _is_number_text(cell)}
        for name in frame.columns
        if name not in text_columns and isinstance(frame[name], pd.Series) and frame[name].dtype.kind not in "biufcmM"
    }
    decimals = {name: _decimal_signs(cells.values()) for name, cells in texts.items()}
    clear = {signs[0] for signs in decimals.values() if len(signs) == 1}
    changed, percent = {}, list(frame.attrs.get(PERCENT, []))
    for name, cells in texts.items():

        def fault(place: int, what: str, cells: Mapping[int, str] = cells, name: object = name) -> BayesBiasError:
            return error(f"{source}: {places[place]} the column {str(name)!r} is {cells[place]!r:.60}, {what}")

        if len(cells) == len(frame) and all(text.casefold() in _TRUTHS for text in cells.values()):
            changed[name] = pd.Series([_TRUTHS[text.casefold()] for text in cells.values()], index=frame.index)
            continue
        sign = _decimal_sign(decimals[name], clear, cells, delimiter)
        numbers = {place: _number(text, sign or ".") for place, text in cells.items()}
        wrong = [place for place, number in numbers.items() if number is None]
        if not cells or len(wrong) == len(cells) or (wrong and not strict and 2 * len(wrong) >= len(cells)):
            continue
        if wrong:
            what = "which is no number, although other cells of the column are. Correct it, or leave it empty."
            if sign and _number(cells[wrong[0]], "." if sign == "," else ",") is not None:
                name_of_sign = "commas" if sign == "," else "points"
                what = f"but other cells of the column have decimal {name_of_sign}. Write all in the same way."
            raise fault(wrong[0], what)
        if not sign:
            place = next(place for place, text in cells.items() if re.search(r"[.,]", text))
            values = " or ".join(f"{_number(cells[place], sign):g}" for sign in _NUMBERS)
            raise fault(place, f"which can mean {values}. Write numbers without signs between thousands.")
        signed = {place for place, text in cells.items() if text.endswith("%")}
        if signed and len(signed) < len(cells):
            place = next(place for place in cells if place not in signed)
            raise fault(place, "but other cells of the column have a %. Write all with it, or none.")
        percent += [name] if signed else []
        others = {place: cell for place, cell in enumerate(frame[name].tolist()) if not isinstance(cell, str)}
        column = [numbers.get(place, others.get(place, math.nan)) for place in range(len(frame))]
        changed[name] = pd.to_numeric(pd.Series(column, index=frame.index), errors="coerce")
    if not changed:
        return frame
    plain = frame.assign(**changed)
    plain.attrs = {**frame.attrs, **({PERCENT: percent} if percent else {})}
    return plain


def _is_datum(name: str) -> bool:
    """Return whether the name of a column is a number that is no year."""
    value = _number(name, ".")
    return value is not None and not (1000 <= value < 3000 and value == int(value))


def _is_number_text(cell: object) -> bool:
    """Return whether a cell is a text that stands for something."""
    return isinstance(cell, str) and bool(cell.strip()) and cell.strip().casefold() not in _MISSING


def _decimal_signs(texts: Iterable[str]) -> list[str]:
    """Return the decimal signs with which most numbers of a column are numbers; none if they hold no such sign."""
    with_sign = [text for text in map(_bare, texts) if _DIGIT.search(text) and ("." in text or "," in text)]
    counts = {sign: sum(bool(form.fullmatch(text)) for text in with_sign) for sign, form in _NUMBERS.items()}
    most = max(counts.values())
    return [sign for sign, count in counts.items() if count == most] if most else []


def _decimal_sign(signs: Sequence[str], clear: Collection[str], cells: Mapping[int, str], delimiter: str) -> str:
    """Return the decimal sign of a column, given those of columns with only one; empty if there can be two."""
    if len(signs) < 2:
        return signs[0] if signs else "."
    if len(clear) == 1:
        return next(iter(clear))
    if delimiter == ",":
        return "."
    return "," if delimiter == ";" and any("," in text for text in cells.values()) else ""


def _bare(text: str) -> str:
    """Return a text without a percent sign, and without spaces and apostrophes between thousands."""
    return _GAPS.sub("", text.removesuffix("%").strip().replace("\u2212", "-"))


def _number(text: str, decimal: str) -> float | None:
    """Return the number that a text is, None if it is something else.

    >>> _number("1.012,5 %", ","), _number("1 012", "."), _number("12-13", ".")
    (1012.5, 1012, None)
    """
    bare = _bare(text)
    if not _NUMBERS[decimal].fullmatch(bare) or not _DIGIT.search(bare):
        return None
    bare = bare.replace("," if decimal == "." else ".", "").replace(",", ".")
    try:
        value = float(bare)
    except ValueError:  # such as e5
        return None
    whole = _WHOLE.fullmatch(bare) and abs(value) < 2**53 and not text.endswith("%")
    return int(bare) if whole else value


def numbers_only(frame: "pd.DataFrame", but: Iterable[str], source: str) -> "pd.DataFrame":
    """Return a frame without the columns that hold no number, such as notes, which a warning names.

    - `but`: names of columns to keep.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["nurse"], "share": [0.9]})
    >>> numbers_only(frame, ["word"], "f").columns.tolist()
    ['word', 'share']
    """
    import pandas as pd

    text_columns = set(but)
    without = [
        name
        for name in frame.columns
        if name not in text_columns
        and isinstance(frame[name], pd.Series)
        and frame[name].dtype.kind not in "mMc"
        and not pd.to_numeric(frame[name], errors="coerce").notna().any()
    ]
    if not without or not len(frame):
        return frame
    plain = frame.drop(columns=without)
    if {*plain.columns} - text_columns:  # otherwise there is an error
        plural = len(without) > 1
        warn_user(
            f"{source}: ignored the column{'s' if plural else ''} {name_some(map(repr, map(str, without)))}, which "
            f"hold{'' if plural else 's'} no numbers.",
            QuestionWarning,
        )
    return plain
