"""How the rows of a text file are laid out, and the same rows in one layout: a word and its numbers after spaces."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

_BLANKS = re.compile(rb" +")
_DECIMAL_COMMA = re.compile(rb"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
PEEKED = 5  # lines
_FEWEST_INDEXED = 3


def is_number(field: bytes) -> bool:
    """Return whether a field is a number with a decimal point.

    >>> is_number(b"-1e-3"), is_number(b"1_0")
    (True, False)
    """
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def trailing_numbers(fields: Sequence[bytes]) -> int:
    """Return how many fields at the end of a row are numbers, ignoring the first field."""
    count = 0
    for field in reversed(fields[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def _spaced(line: bytes) -> list[bytes]:
    return line.rstrip(b" \r\n").split(b" ")


def _blanked(line: bytes) -> list[bytes]:
    return _BLANKS.split(line.strip(b" \r\n"))


def _tab_after_word(line: bytes) -> list[bytes]:
    word, tab, numbers = line.strip(b" \r\n").partition(b"\t")
    return [word, *_blanked(numbers)] if tab and b"\t" not in numbers else [word]


def _separated(line: bytes, delimiter: str) -> list[bytes]:
    """Return the cells of a row of CSV, without the quotation marks around them."""
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    try:
        cells = next(csv.reader([text], delimiter=delimiter)) or [""]
    except csv.Error:  # a lone quotation mark, or a cell that is too long
        cells = text.split(delimiter)
    return [cell.strip(" ").encode("utf-8", "surrogateescape") for cell in cells]


_SPLITS: dict[str, Callable[[bytes], list[bytes]]] = {
    "spaces": _spaced,
    "blanks": _blanked,
    "tab after the word": _tab_after_word,
    "tabs": lambda line: _separated(line, "\t"),
    "commas": lambda line: _separated(line, ","),
    "semicolons": lambda line: _separated(line, ";"),
    "quoted": lambda line: _separated(_BLANKS.sub(b" ", line.strip(b" ")), " "),
}


@dataclass(frozen=True)
class Layout:
    """How rows are laid out.

    - `split`: name of what splits a line into fields; ``"spaces"`` are single ones.
    - `decimal_comma`: whether numbers have a comma in place of a point.
    - `row_numbers`: whether a row begins with its number.
    - `names`: whether the first line has the names of the columns.
    - `dimensions`: number of the numbers of the first row.
    """

    split: str
    decimal_comma: bool
    row_numbers: bool
    names: bool
    dimensions: int

    @property
    def is_plain(self) -> bool:
        """Whether lines are words and numbers after single spaces already."""
        return self.split == "spaces" and not (self.decimal_comma or self.row_numbers)

    def fields(self, line: bytes) -> list[bytes]:
        """Return the word and the numbers of a line."""
        fields = _SPLITS[self.split](line)
        if self.row_numbers and fields[0].isdigit():
            fields = fields[1:]
        if self.decimal_comma:
            fields = fields[:1] + [field.replace(b",", b".") for field in fields[1:]]
        return fields

    def plain(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Yield lines as words and numbers after single spaces, with their line ends."""
        if self.is_plain:
            yield from lines
            return
        for line in lines:
            yield b" ".join(self.fields(line)) + line[len(line.rstrip(b"\r\n")) :]


def layout_of(lines: Sequence[bytes]) -> Layout | None:
    r"""Return the layout of rows from the first lines, None if they are no words with numbers.

    >>> layout_of([b"king\t0,1\t0,2\n"])
    Layout(split='tabs', decimal_comma=True, row_numbers=False, names=False, dimensions=2)
    >>> layout_of([b",0,1\n", b"new york,0.1,0.2\n"]).names
    True
    """
    rows = [line for line in lines if line.strip()][:PEEKED]
    if not rows:
        return None
    layout = _best(rows)
    if len(rows) > 1 and _are_names(rows[0], rows[1]):
        layout, rows = replace(_best(rows[1:]), names=True), rows[1:]
        if layout.split in ("spaces", "blanks") and rows[0].lstrip().startswith(b'"'):
            layout = replace(layout, split="quoted")
    if not layout.dimensions:
        return None
    first_fields = [layout.fields(row)[:2] for row in rows]
    if len(rows) >= _FEWEST_INDEXED and any(
        all(
            len(fields) == 2 and fields[0] == b"%d" % (place + start) and not is_number(fields[1])
            for place, fields in enumerate(first_fields)
        )
        for start in (0, 1)
    ):
        layout = replace(layout, row_numbers=True)
    return layout


def unusual_layout(start: bytes) -> str:
    r"""Return what is unusual about a text of vectors that is not read, and the next step; empty if nothing is.

    >>> unusual_layout(b"king [0.1, 0.2]\n")
    "text with each vector in brackets. Remove them: tr -d '[],' < FILE > NEW_FILE."
    """
    if b"\0" in start:
        return ""
    if b"\r" in start and b"\n" not in start:
        return r"text whose lines end as on old Macintoshes. Convert it: tr '\r' '\n' < FILE > NEW_FILE."
    lines = [line for line in start.splitlines() if line.strip()][:PEEKED]
    first = lines[0] if lines else b""
    if re.match(rb"[^\s\[(][^\[(]*[\s,:;][\[(]\s*[-+.\d]", first):
        separators = "[]" if b"," not in first else "[],"
        return f"text with each vector in brackets. Remove them: tr -d '{separators}' < FILE > NEW_FILE."
    fields = [re.split(rb"[\s,;]+", line.strip()) for line in lines]
    numbers = [[is_number(field) for field in row] for row in fields]
    later = layout_of(lines[1:])
    if first.startswith((b"#", b"%", b"//")) and later and _count(later, first) != later.dimensions:
        return "text that begins with a comment. Remove its first line."
    if all(len(row) > 2 and all(row[:-1]) and not row[-1] for row in numbers):
        return "text with the word after its numbers. Write each word first."
    if len(lines) >= _FEWEST_INDEXED and all(
        all(row) and b"." in row_fields[0] for row, row_fields in zip(numbers[1:], fields[1:], strict=True)
    ):
        return "text with numbers in place of words, as a table with a column a word. Write a row a word: transpose it."
    return ""


def _best(rows: Sequence[bytes]) -> Layout:
    """Return the layout with which the first row has most numbers, the plainest of several."""
    splits = [(name, False) for name in _SPLITS if name != "quoted"]
    if len(rows) < 2 or not all(row.count(b"\t") == 1 for row in rows):
        splits.remove(("tab after the word", False))  # one word may end in a tab and a number
    splits += [(name, True) for name in ("blanks", "tabs", "semicolons")]
    layouts = [Layout(name, comma, row_numbers=False, names=False, dimensions=0) for name, comma in splits]
    counted = [replace(layout, dimensions=_count(layout, rows[0])) for layout in layouts]
    return max(counted, key=lambda layout: layout.dimensions)


def _count(layout: Layout, row: bytes) -> int:
    if not layout.decimal_comma:
        return trailing_numbers(layout.fields(row))
    cells = _SPLITS[layout.split](row)[1:]
    has_commas = any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any(b"." in cell for cell in cells[-1:])
    return trailing_numbers(layout.fields(row)) if has_commas else 0


def _are_names(first: bytes, second: bytes) -> bool:
    """Return whether the first line has the names of the columns of the second."""
    layout = _best([second])
    if not layout.dimensions:
        return False
    names, fields = layout.fields(first), layout.fields(second)
    if len(names) not in (len(fields), len(fields) - 1) or len(names) < 2:
        return False
    if not any(map(is_number, names[1:])):
        return layout.dimensions > 1
    last = names[-layout.dimensions :]
    numbered = any(last == [b"%d" % (start + place) for place in range(layout.dimensions)] for start in (0, 1))
    return layout.split in ("tabs", "commas", "semicolons") and numbered and layout.dimensions > 1
