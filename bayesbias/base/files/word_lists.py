"""Word lists in text files: a word a line, words between commas, or columns of a CSV file, a column a list."""

import csv
import io
import os
import re
from collections.abc import Sequence

from bayesbias.base.files.inputs import MemoryCost, read_utf8
from bayesbias.errors import InputFileError, worded

_CELLS = MemoryCost(8, 250, b",;\t\n\r")
_WORD_NAMES = ("word", "words", "term", "terms", "token")
_LIST_NAMES = ("list", "group", "category")
_NUMBER = re.compile(r"[-+\u2212]?[.,]?\d[\d.,'\u2019\s]*(?:[eE][-+]?\d+)?%?")  # in any usual spelling


def read_word_lists(path: str | os.PathLike[str], *, numbers: bool = True) -> dict[str, list[str]]:
    r"""Return the word lists of a text file by name, ``""`` for the words of a file without names.

    Raises `InputFileError` if the file cannot be read, two lists have one name, or rows are words and numbers.

    - Cells in columns, between commas, semicolons or tabs: the first line names the lists.
      Of a column "word" beside a column "list" or "group", each word is in the list that its row names; beside any
      other columns, it is the only list. If `numbers` is False, these other columns may not be numbers.
    - Other lines: each cell is a word. A first line "word" is a name. Lines that begin with ``#`` do not count.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "lists.csv")
    >>> _ = path.write_text("math,arts\nalgebra,poetry\ngeometry,\n")
    >>> read_word_lists(path)
    {'math': ['algebra', 'geometry'], 'arts': ['poetry']}
    """
    lines = io.StringIO(read_utf8(path, _CELLS), newline=None)
    text = "".join(line for line in lines if line.strip() and not line.startswith("#"))
    delimiter = max(";,\t", key=text.count)  # of as many, a comma is a decimal sign
    try:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        records = [[cell.strip() for cell in row] for row in rows]
    except csv.Error as error:
        raise InputFileError(f"{path} is no list of words: {error}. Write one word per line.") from error
    if not records:
        return {}
    names = [name.casefold() for name in records[0]]
    is_table = len(records) > 1 and len(names) > 1 and {len(record) for record in records} == {len(names)}
    word = next((place for place, name in enumerate(names) if name in _WORD_NAMES), None)
    if not (numbers and is_table and word is not None) and _has_numbers(records[1:], names):
        raise InputFileError(_covariates_text(path))
    if not is_table:
        begin = 1 if word is not None and len(names) == 1 else 0
        return {"": [cell for record in records[begin:] for cell in record if cell]}
    if len(set(names)) < len(names):
        raise InputFileError(f"{path} has two columns of one name in its first line. Name each list once.")
    lists: dict[str, list[str]] = {}
    if word is not None:
        group = next((place for place, name in enumerate(names) if name in _LIST_NAMES), None)
        for record in records[1:]:
            lists.setdefault("" if group is None else record[group], []).append(record[word])
        return lists
    return {name: [record[place] for record in records[1:] if record[place]] for place, name in enumerate(records[0])}


def _has_numbers(records: Sequence[Sequence[str]], names: Sequence[str]) -> bool:
    """Return whether at least half of the rows below the first have a word and numbers, as covariates have."""
    if len(names) > 1 and {*names} & {*_WORD_NAMES} and {*names} & {*_LIST_NAMES}:
        return False  # lists that numbers may name
    rows = [[bool(_NUMBER.fullmatch(cell)) for cell in record if cell] for record in records]
    return 2 * sum(any(row) and not all(row) for row in rows) >= len(rows) > 0


def _covariates_text(path: str | os.PathLike[str]) -> str:
    """Return the error for a file of words and numbers in place of word lists."""
    given = worded("as bb.fit(table, covariates=...)", "with --covariates of `bayesbias fit` or `bayesbias covariate`")
    return (
        f"{path} is no list of words: its rows are words and numbers. Give numbers of words, such as covariates, "
        f"{given}. A list of words has one word a line. A study as CSV has a column for each list of words, below its "
        "name: two groups of protected words, then two attribute lists; or one group and two attribute lists."
    )
