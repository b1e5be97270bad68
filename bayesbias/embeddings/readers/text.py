"""Readers of text files: word2vec and fastText ``.vec`` (with a header line), and GloVe (without)."""

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import open_content
from bayesbias.base.number_text import counted
from bayesbias.embeddings.rows import (
    BYTES_A_WORD,
    Rows,
    Wanted,
    check_header,
    check_room,
    decode,
    in_sample,
    may_skip,
    row_allowance,
)
from bayesbias.errors import EmbeddingError

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
    count = 0
    for field in reversed(line.rstrip(b" \r\n").split(b" ")[1:]):
        if not _is_number(field):
            break
        count += 1
    return count


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
        scan = _Scan(path, dimensions, first_line=2, promised=words)
        return scan.rows(_lines(stream), wanted)


def read_glove(path: Path, wanted: Wanted) -> Rows:
    """Read GloVe text: lines of a word, which may hold spaces, and its numbers.

    The number of dimensions is that of the numbers at the end of the first line.

    Raises `EmbeddingError` if the file has another format, or does not end with a line end. A file that was cut exactly
    between two lines cannot be recognised, because the format has no count.
    """
    with open_content(path) as stream:
        first = stream.readline(_LONGEST_LINE).removeprefix(_BOM)
        dimensions = count_numbers(first)
        if dimensions == 0:
            raise EmbeddingError(
                f"{path}: its first line begins {first[:40]!r} and does not end in numbers, so it is no GloVe file."
            )
        check_header(1, dimensions, str(path))
        check_room(path.stat().st_size // len(first), dimensions, wanted, path)
        scan = _Scan(path, dimensions, first_line=1, promised=None)
        return scan.rows(chain([first], _lines(stream)), wanted)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    return iter(partial(stream.readline, _LONGEST_LINE), b"")


class _Scan:
    """One pass over the rows of a text file; the attributes are for error messages."""

    def __init__(self, source: Path, dimensions: int, *, first_line: int, promised: int | None) -> None:
        self.source = str(source)
        self.allowance = row_allowance(source)
        self.dimensions = dimensions
        self.first_line = first_line
        self.promised = promised
        self.pack = struct.Struct(f"<{dimensions}f").pack

    def rows(self, lines: Iterable[bytes], wanted: Wanted) -> Rows:
        """Return the rows of wanted words, after checking length and word of every row."""
        words: list[str] = []
        places: list[int] = []
        sampled: list[tuple[str, int, bytes]] = []
        data = bytearray()
        row_count, blank = 0, 0
        dimensions = self.dimensions
        bytes_a_row, take = 4 * dimensions + BYTES_A_WORD, self.allowance.take
        for number, line in enumerate(lines, self.first_line):
            if line[-1] != 10:
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
            cut = row.find(b" ") if row.count(b" ") == dimensions else self._word_end(row, number)
            if b"\t" in row and _is_number(row[:cut].rpartition(b"\t")[2]):
                raise EmbeddingError(
                    f"{self.source}: line {number} ({row[:30]!r}...) has a tab before a number: fields are "
                    "separated by single spaces. Replace the tabs, or correct the line."
                )
            try:
                word = row[:cut].decode()
            except UnicodeDecodeError:
                word = decode(row[:cut], source=self.source, where=f"at line {number}")
            if (
                wanted is None
                or (word if word.isascii() else normalized(word, where=f"{self.source}, line {number}: ")) in wanted
            ):
                if may_skip(word, wanted):
                    take(BYTES_A_WORD + len(row))
                    sampled.append((word, number, row[cut + 1 :]))
                else:
                    take(bytes_a_row + cut)
                    words.append(word)
                    places.append(number)
                    data += self._numbers(row[cut + 1 :], word, number)
            row_count += 1
        self._check_count(row_count)
        # Most words that are drawn on the way are not in the final sample, so that their numbers are never read.
        for word, number, text in sampled:
            if in_sample(word, wanted):
                with suppress(EmbeddingError):
                    data += self._numbers(text, word, number)
                    words.append(word)
                    places.append(number)
        vectors = np.frombuffer(data, dtype="<f4").reshape(len(words), dimensions)
        return Rows(words, vectors, places, "line")

    def _word_end(self, row: bytes, number: int) -> int:
        """Return the end of the word in a row with an unusual number of spaces."""
        head, *numbers = row.rsplit(b" ", self.dimensions)
        word = head.split(b" ")
        whole = len(numbers) == self.dimensions and all(map(_is_number, numbers))
        if whole and all(word) and not any(map(_is_number, word[1:])):
            return len(head)
        field_count = row.count(b" ")
        source_of_count = "its header promises" if self.promised else "its first line has"
        raise EmbeddingError(
            f"{self.source}: line {number} ({row[:30].decode('utf-8', 'backslashreplace')!r}...) has "
            f"{counted(field_count, 'field')} after its word where {source_of_count} "
            f"{counted(self.dimensions, 'number')}. The line or the header is damaged, "
            "or the file is in another format: see the formats of load_embedding."
        )

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
        wrong = next((field for field in fields if not _is_number(field)), None)
        fault = "a number too large for 32 bits" if wrong is None else f"{wrong[:40]!r}, which is no number"
        return EmbeddingError(
            f"{self.source}: the vector of {word!r} at line {number} holds {fault}. Correct the line, or leave "
            "the word out with words=[...]."
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


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field
