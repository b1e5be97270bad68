"""Readers of text files: word2vec and fastText ``.vec`` (with a header line), and GloVe (without)."""

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import file_size, open_content
from bayesbias.base.number_text import counted
from bayesbias.embeddings.readers.layouts import PEEKED, Layout, is_number, layout_of, trailing_numbers
from bayesbias.embeddings.rows import (
    BYTES_A_WORD,
    KeptRows,
    Rows,
    SkippedRows,
    Wanted,
    check_header,
    check_room,
    decode,
    in_sample,
    may_skip,
    row_allowance,
)
from bayesbias.errors import EmbeddingError, worded

# Longest line in bytes; without a limit, a file without line ends would fill the memory.
_LONGEST_LINE = 1 << 22
# Most empty lines at the end.
_MOST_BLANK = 1000
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]*\r?\n?")


def parse_header(line: bytes) -> tuple[int, int] | None:
    r"""Return the numbers of words and dimensions in a header line, or None if the line is no header.

    >>> parse_header(b"3000000 300\n")
    (3000000, 300)
    >>> parse_header(b"the 0.1 0.2\n")
    """
    match = _HEADER.fullmatch(line.removeprefix(_BOM))
    return (int(match[1]), int(match[2])) if match else None


def count_numbers(line: bytes) -> int:
    r"""Return how many fields at the end of a line are numbers, ignoring the first field.

    >>> count_numbers(b". . 0.1 0.2\n")
    2
    """
    return trailing_numbers(line.rstrip(b" \r\n").split(b" "))


def read_text(path: Path, wanted: Wanted) -> Rows:
    """Read word2vec text or fastText ``.vec``: a line ``words dimensions``, then lines of a word and its numbers.

    Raises `EmbeddingError` if the file has another format, is cut short, or has more rows than its header promises.
    """
    with open_content(path) as stream:
        line = stream.readline(_LONGEST_LINE)
        header = parse_header(line)
        if header is None or not line.endswith(b"\n"):
            raise EmbeddingError(
                f"{path}: its first line is {line[:40]!r}, not two whole numbers (words and dimensions). "
                "If it is a GloVe file, give format='glove'; otherwise it is damaged or cut short."
            )
        words, dimensions = header
        check_header(words, dimensions, str(path))
        check_room(words, dimensions, wanted, path)
        lines, number = _after_blank_lines(_lines(stream), 2)
        layout, lines = _peeked(lines)
        scan = _Scan(path, dimensions, first_line=number, promised=words)
        return scan.rows(lines if layout is None else layout.plain(lines), wanted)


def read_glove(path: Path, wanted: Wanted) -> Rows:
    """Read GloVe text: lines of a word, which may hold spaces, and its numbers.

    The number of dimensions is that of the numbers at the end of the first line.

    Raises `EmbeddingError` if the file has another format, or does not end with a line end. A file that was cut exactly
    between two lines cannot be recognised, because the format has no count.
    """
    with open_content(path) as stream:
        first = stream.readline(_LONGEST_LINE).removeprefix(_BOM)
        layout, lines = _peeked(chain([first], _lines(stream)))
        if layout is None:
            raise EmbeddingError(
                f"{path}: its first line begins {first[:40]!r} and does not end in numbers, so it is no GloVe file."
            )
        check_header(1, layout.dimensions, str(path))
        check_room(file_size(path) // len(first), layout.dimensions, wanted, path)
        if layout.names:
            next(lines)
        scan = _Scan(path, layout.dimensions, first_line=1 + layout.names, promised=None)
        return scan.rows(layout.plain(lines), wanted)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    return iter(partial(stream.readline, _LONGEST_LINE), b"")


def _after_blank_lines(lines: Iterator[bytes], number: int) -> tuple[Iterator[bytes], int]:
    """Return lines from the first that is not blank, and its number; `number` is that of the first."""
    for place, line in enumerate(lines):
        if line.strip() or place == _MOST_BLANK:
            return chain([line], lines), number + place
    return iter(()), number


def _peeked(lines: Iterator[bytes]) -> tuple[Layout | None, Iterator[bytes]]:
    """Return the layout of lines, and all of them."""
    first = list(islice(lines, PEEKED))
    return layout_of(first), chain(first, lines)


class _Scan:
    """One pass over the rows of a text file; the attributes are for error messages."""

    def __init__(self, source: Path, dimensions: int, *, first_line: int, promised: int | None) -> None:
        self.source, self.path = str(source), source
        self.allowance = row_allowance(source)
        self.dimensions = dimensions
        self.first_line = first_line
        self.promised = promised
        self.skipped = SkippedRows(self.source)
        self.numbered: list[EmbeddingError] = []  # the fault of the first row whose word ends in numbers
        self.numbered_count = 0
        self.pack = struct.Struct(f"<{dimensions}f").pack

    def rows(self, lines: Iterable[bytes], wanted: Wanted) -> Rows:
        """Return the rows of wanted words, after checking length and word of every row."""
        wanted_rows = KeptRows(self.path, self.dimensions, "line")
        sampled: dict[str, tuple[int, bytes]] = {}
        row_count, blank = 0, 0
        dimensions = self.dimensions
        take = self.allowance.take
        for number, line in enumerate(lines, self.first_line):
            if line[-1:] != b"\n":
                raise self._cut(line, number, row_count)
            row = line.rstrip(b" \r\n")
            if not row:
                blank = blank or number
                if number - blank > _MOST_BLANK:
                    raise EmbeddingError(
                        f"{self.source}: line {blank} is empty, and so are more than {_MOST_BLANK:,} lines after it. "
                        "Remove them, or restore their rows."
                    )
                continue
            if blank:
                raise EmbeddingError(f"{self.source}: line {blank} is empty. Remove it, or restore its row.")
            if row.count(b" ") == dimensions:
                cut = row.find(b" ")
            else:
                row, cut = self._odd_row(row, number)
            if b"\t" in row and is_number(row[:cut].rpartition(b"\t")[2]):
                raise EmbeddingError(
                    f"{self.source}: line {number} ({row[:30]!r}...) has a tab before a number: fields are "
                    "separated by single spaces. Replace the tabs, or correct the line."
                )
            try:
                word = row[:cut].decode()
            except UnicodeDecodeError:
                try:
                    word = decode(row[:cut], source=self.source, where=f"at line {number}")
                except EmbeddingError as error:
                    self.skipped.add(error)
                    row_count += 1
                    continue
            if (
                wanted is None
                or (word if word.isascii() else normalized(word, where=f"{self.source}, line {number}: ")) in wanted
            ):
                if may_skip(word, wanted):
                    if word not in sampled:
                        take(BYTES_A_WORD + len(row))
                        sampled[word] = number, row[cut + 1 :]
                else:
                    wanted_rows.add(word, number, self._numbers(row[cut + 1 :], word, number))
            row_count += 1
        self._check_count(row_count)
        self._check_numbered(row_count)
        self.skipped.settle(row_count)
        # Most words that are drawn on the way are not in the final sample, so that their numbers are never read.
        for word, (number, text) in sampled.items():
            if in_sample(word, wanted):
                with suppress(EmbeddingError):
                    wanted_rows.add(word, number, self._numbers(text, word, number))
        return wanted_rows.rows()

    def _odd_row(self, row: bytes, number: int) -> tuple[bytes, int]:
        """Return a row with an unusual number of spaces, and the end of its word, which may hold spaces."""
        head, *numbers = row.rsplit(b" ", self.dimensions)
        if b"" in numbers or head.endswith(b" "):  # runs of spaces
            row = b" ".join(filter(None, row.split(b" ")))
            head, *numbers = row.rsplit(b" ", self.dimensions)
        field_count = row.count(b" ")
        source_of_count = "its header promises" if self.promised else "its first line has"
        fault = EmbeddingError(
            f"{self.source}: line {number} ({row[:30].decode('utf-8', 'backslashreplace')!r}...) has "
            f"{counted(field_count, 'field')} after its word where {source_of_count} "
            f"{counted(self.dimensions, 'number')}. The line or the header is damaged, a column between them, "
            "such as a count, must be removed, or the file is in another format: see the formats of load_embedding."
        )
        word = head.split(b" ")
        if len(numbers) < self.dimensions or not all(map(is_number, numbers)) or not all(word):
            raise fault
        if any(map(is_number, word[1:])):  # "world war 2", or a column too many
            self.numbered = self.numbered or [fault]
            self.numbered_count += 1
        return row, len(head)

    def _check_numbered(self, row_count: int) -> None:
        """Raise the fault of a row whose word ends in numbers if there are many: they are a column."""
        many = 2 if self.promised else 100
        if self.numbered_count * many > row_count:
            raise self.numbered[0]

    def _numbers(self, text: bytes, word: str, number: int) -> bytes:
        fields = text.split(b" ")
        try:
            packed = self.pack(*map(float, fields))
        except (ValueError, OverflowError) as error:
            raise self._no_numbers(fields, word, number) from error
        if b"_" in text:  # Python reads 1_0 as 10
            raise self._no_numbers(fields, word, number)
        return packed

    def _no_numbers(self, fields: list[bytes], word: str, number: int) -> EmbeddingError:
        wrong = next((field for field in fields if not is_number(field)), None)
        fault = "a number too large for 32 bits" if wrong is None else f"{wrong[:40]!r}, which is no number"
        return EmbeddingError(
            f"{self.source}: the vector of {word!r} at line {number} holds {fault}. Correct the line"
            f"{worded(', or leave the word out with words=[...]', '')}."
        )

    def _cut(self, line: bytes, number: int, row_count: int) -> EmbeddingError:
        if len(line) == _LONGEST_LINE:
            return EmbeddingError(
                f"{self.source}: line {number} has no end within {_LONGEST_LINE} bytes, so this is no text "
                "file of vectors. Give its format, or leave format='auto'."
            )
        promised = f" (the header promises {self.promised} words)" if self.promised else ""
        return EmbeddingError(
            f"{self.source} ends within line {number}, after {row_count} whole rows{promised}: it seems to be "
            "cut short. Download or write it again, or add the missing line end."
        )

    def _check_count(self, row_count: int) -> None:
        if self.promised is not None and row_count != self.promised:
            raise EmbeddingError(
                f"{self.source}: the header promises {self.promised} words, but {row_count} rows follow. The "
                "file is cut short, or its first line is wrong."
            )
