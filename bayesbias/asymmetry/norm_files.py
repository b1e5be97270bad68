"""`read_evocation` and `read_relations`: free association norms and relation tables in the formats of their sources."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.parsers import expat

import pandas as pd

from bayesbias.asymmetry.relation_means import RELATION_COLUMNS
from bayesbias.base.files.inputs import MemoryCost, input_file, read_content, read_lines, utf8_text
from bayesbias.base.machine import Allowance
from bayesbias.errors import InputFileError, MeasureError, name_some, raise_faults

Row = tuple[int, str, str, str, str]
_ROWS = MemoryCost(8, 700, b"\n\r<")
_BYTES_A_RELATION = 400
_MOST_KINDS = 100  # of relations; each has rows in the tables, and draws
_USF, _EAT = "USF", "EAT"
_WHOLE = re.compile(r"[0-9]{1,15}")
_CONCEPT = re.compile(r"/c/([^/]+)/([^/]+)")
# Columns; the number of participants is that of people or, in SWOW, of answers, up to three per person.
_HEADS: dict[str, tuple[str, tuple[str, str, str, str], int]] = {
    "USF": ("USF", ("cue", "target", "responses", "participants"), 2),
    "SWOW R1": ("SWOW R1", ("cue", "response", "R1", "N"), 1),
    "SWOW R123": ("SWOW R123", ("cue", "response", "R123", "N"), 1),
    "table": ("evocation", ("cue", "response", "count", "participants"), 1),
}


def read_evocation(path: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Return free association norms from a file of USF, EAT or SWOW, or from your own table; optionally gzipped.

    ======== ======================================================================================================
    norms    file
    ======== ======================================================================================================
    USF      The files of appendix A, ``CUE, TARGET, NORMED?, #G, #P, ...`` (concatenate the files or the frames), or a
             table with the columns ``cue, target, participants, responses``. Words become lower case. Answers of a
             single person are not listed. For research, with citation.
    EAT      ``eat-stimulus-response.xml``. Words become lower case; truncated words (``%``) are left out.
             Participants are the answers counted. For non-commercial use, with citation.
    SWOW     ``strength.SWOW-EN.R1.csv`` (first answers) and ``strength.SWOW-EN.R123.csv`` (all three): columns
             ``cue response R1 N R1.Strength``, separated by tabs. N counts answers. CC BY-NC-ND 3.0.
    own      A table with the columns ``cue, response, count, participants``, separated by commas or tabs.
    ======== ======================================================================================================

    Parameters
    ----------
    path
        Path of the downloaded file; none of these data are part of the package.

    Returns
    -------
    pandas.DataFrame
        One row per cue and response: `cue`, `response`, `count`, `participants`; for `evocation`. Further facts are in
        ``attrs["bayesbias"]``: `name`, `least_count`, and `left_out`, the number of rows with truncated words.

    Raises
    ------
    MeasureError
        If a line is invalid; all such lines are listed.
    InputFileError
        If the file cannot be read, or is of another kind.

    Notes
    -----
    ``NA`` is a word. In USF, the participants are those who were shown a cue (#G); many gave answers that nobody else
    gave and that are not listed, so the shares of a cue sum to less than 1.

    References
    ----------
    Nelson, McEvoy and Schreiber (2004). G. R. Kiss, C. Armstrong, R. Milroy and J. Piper (1973). An associative
    thesaurus of English and its computer analysis. Simon De Deyne and others (2019). The "Small World of Words" English
    word association norms for over 12,000 cue words. Behavior Research Methods 51, 987-1006.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "strength.SWOW-EN.R1.csv"
    >>> _ = path.write_text("cue\tresponse\tR1\tN\tR1.Strength\nguitar\tmusic\t22\t98\t0.224\n")
    >>> bb.asymmetry.read_evocation(path)
          cue response  count  participants
    0  guitar    music     22            98
    """
    source = input_file(path)
    content = read_content(source, _ROWS)
    start = content[:4096].lstrip()
    if start.startswith(b"<?xml") or b"<stimulus" in start or b"<eat" in start:
        return _frame(source, _EAT, _eat_rows(source, content), 1)
    text = _decoded(source, content)
    lines = text.split("\n")
    head = next((number for number, line in enumerate(lines) if "cue" in line.lower()), None)
    if head is None or head > 50:
        raise InputFileError(
            f"{source} has no line with the names of columns. Give the norms of USF, EAT (XML) or SWOW, or a table "
            "with the columns cue, response, count and participants."
        )
    if re.match(r"\s*CUE\s*,\s*TARGET\s*,\s*NORMED\?", lines[head], re.IGNORECASE):
        return _frame(source, _USF, _appendix_rows(lines, head), 2)
    return _table(source, lines, head)


def _table(source: Path, lines: list[str], head: int) -> pd.DataFrame:
    separator = "\t" if "\t" in lines[head] else ","
    ((_, columns),) = _csv_rows(source, lines[head : head + 1], head, separator)
    for name, wanted, least in _HEADS.values():
        if set(wanted) <= set(columns):
            places = [columns.index(column) for column in wanted]
            return _frame(source, name, _cells(lines, head, separator, places, source), least)
    formats = "; ".join(", ".join(wanted) for _, wanted, _ in _HEADS.values())
    raise InputFileError(
        f"{source} has the columns {name_some(columns, 12)}. Give a file with one of these sets of columns: {formats}."
    )


def _cells(lines: list[str], head: int, separator: str, places: list[int], source: Path) -> Iterator[Row]:
    for number, cells in _csv_rows(source, lines[head + 1 :], head + 1, separator):
        if cells:
            a, b, count, people = (cells[place] if place < len(cells) else "" for place in places)
            yield number, a, b, count, people


def _csv_rows(
    source: os.PathLike[str], lines: list[str], before: int, separator: str, quoting: int = csv.QUOTE_MINIMAL
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of a table; `before` is the number of the file's lines before them."""
    reader = csv.reader(lines, delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
    try:
        for cells in reader:
            yield before + reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as fault:
        raise MeasureError(f"{source}, line {before + reader.line_num}: {fault}. Correct this line.") from fault


def _appendix_rows(lines: list[str], head: int) -> Iterator[Row]:
    for number, line in enumerate(lines[head + 1 :], start=head + 2):
        if not line.strip() or line.lstrip().startswith("<"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if [cells[0].upper(), *cells[1:2]] == ["CUE", "TARGET"]:
            continue  # the header of the next of several files
        a, b, _, people, count = [*cells, *[""] * 5][:5]
        yield number, a.lower(), b.lower(), count, people


def _eat_rows(source: Path, content: bytes) -> Iterator[Row]:
    """Yield the rows of the XML file; the number of participants is the sum of a stimulus's counts."""
    answers: list[tuple[int, str, str, str]] = []
    current = ""
    parser = expat.ParserCreate()

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal current
        if name == "stimulus":
            current = attributes.get("word", "").strip().lower()
        elif name == "response":
            word = attributes.get("word", "").strip().lower()
            answers.append((parser.CurrentLineNumber, current, word, attributes.get("n", "")))

    def refuse(*_: object) -> None:
        raise InputFileError(f"{source} declares entities or attributes, which norms have not. Download it again.")

    parser.StartElementHandler = begin
    parser.EntityDeclHandler = parser.AttlistDeclHandler = refuse  # a few letters would stand for any number
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as fault:  # of a declared encoding, the last two
        raise InputFileError(f"{source} is not complete XML: {fault}. Download it again.") from fault
    totals: dict[str, int] = {}
    for _, cue, _, count in answers:
        totals[cue] = totals.get(cue, 0) + (int(count) if _WHOLE.fullmatch(count) else 0)
    for number, cue, response, count in answers:
        yield number, cue, response, count, str(totals[cue])


def _frame(source: Path, name: str, rows: Iterator[Row], least_count: int) -> pd.DataFrame:
    """Return rows as a frame; raise `MeasureError` with a list of the invalid lines."""
    faults: list[str] = []
    records: list[tuple[str, str, int, int]] = []
    first: dict[tuple[str, str], int] = {}
    cut_off = 0
    for number, cue, response, count, people in rows:
        if name == _EAT and "%" in (cue + response):
            cut_off += 1
            continue
        if fault := _fault(cue, response, count, people):
            faults.append(f"line {number}: {fault}")
            continue
        if (cue, response) in first:
            faults.append(f"line {number}: {cue} -> {response} is also in line {first[cue, response]}.")
            continue
        first[cue, response] = number
        records.append((cue, response, int(count), int(people)))
    raise_faults(MeasureError, f"{source}, read as {name},", faults)
    if not records:
        raise MeasureError(f"{source}, read as {name}, has no rows. Give a file with one row per cue and response.")
    frame = pd.DataFrame(records, columns=["cue", "response", "count", "participants"])
    frame.attrs["bayesbias"] = {"name": name, "least_count": least_count, "left_out": cut_off}
    return frame


def _fault(cue: str, response: str, count: str, people: str) -> str:
    if not cue or not response:
        return f"{cue!r} -> {response!r}: a word is missing."
    for what, number in (("count", count), ("number of participants", people)):
        if not _WHOLE.fullmatch(number) or int(number) < 1:
            return f"the {what} of {cue} -> {response} is {number!r}: a whole number of at least 1 is needed."
    if int(count) > int(people):
        return f"{cue} -> {response}: {count} answers, but {people} participants."
    return ""


def read_relations(path: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Return relations of words from a file of ConceptNet or EVALution, or from your own table; optionally gzipped.

    Parameters
    ----------
    path
        One of: a table with a header that names ``head, relation, tail``, separated by commas or tabs; three columns
        head, relation and tail without a header (as in EVALution); or ConceptNet's assertions, five columns separated
        by tabs (URI, relation, start, end, and JSON). From ConceptNet, relations of English words are read, line by
        line, ``/c/en/ice_cream/n`` as ``ice cream``; links to pages (``ExternalURL``) and words related to themselves
        are not. ConceptNet is CC BY-SA 4.0, EVALution CC BY-NC-SA; neither is part of the package.

    Returns
    -------
    pandas.DataFrame
        Each tuple once: `head`, `relation`, `tail`; for `with_relations`.

    Raises
    ------
    MeasureError
        If a line is invalid; all such lines are listed.
    InputFileError
        If the file cannot be read.

    References
    ----------
    Robyn Speer, Joshua Chin and Catherine Havasi (2017). ConceptNet 5.5. AAAI 2017. Enrico Santus, Frances Yung,
    Alessandro Lenci and Chu-Ren Huang (2015). EVALution 1.0. LDL-2015, 64-69.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "relations.tsv"
    >>> _ = path.write_text("guitar\tIsA\tinstrument\nstring\tPartOf\tguitar\n")
    >>> bb.asymmetry.read_relations(path)
         head relation        tail
    0  guitar      IsA  instrument
    1  string   PartOf      guitar
    """
    source = input_file(path)
    if next(read_lines(source), b"").startswith(b"/a/"):
        return _relations(source, _assertions(source), "English words")
    lines = _decoded(source, read_content(source, _ROWS)).split("\n")
    full = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not full:
        raise MeasureError(f"{source} is empty. Give a file of head, relation and tail.")
    separator = "\t" if "\t" in full[0][1] else ","
    # In tables with tabs, quotation marks are part of the words.
    quoting = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
    rows = [row for number, line in full for row in _csv_rows(source, [line], number - 1, separator, quoting)]
    places = [0, 1, 2]
    first = [cell.lower() for cell in rows[0][1]]
    named = set(RELATION_COLUMNS) <= set(first)
    if named:
        places = [first.index(name) for name in RELATION_COLUMNS]
        rows = rows[1:]
    return _relations(
        source, ((number, separator.join(cells), _three(cells, places, named)) for number, cells in rows), "words"
    )


def _relations(source: Path, rows: "Iterable[tuple[int, str, tuple[str, ...] | None]]", what: str) -> pd.DataFrame:
    """Return relations of lines, each with its number and its tuple, which is None if the line is invalid."""
    tuples: dict[tuple[str, ...], None] = {}
    faults = []
    allowance = Allowance(f"{source}: its relations", "Give only the part that you need.")
    for number, line, concept in rows:
        allowance.take(_BYTES_A_RELATION + sum(map(len, concept or ())))
        if concept is None:
            faults.append(f"line {number}: {line[:60]!r} is not head, relation and tail.")
        else:
            tuples[concept] = None
    raise_faults(MeasureError, f"{source}, read as relations,", faults)
    if len(kinds := {relation for _, relation, _ in tuples}) > _MOST_KINDS:
        raise MeasureError(
            f"{source} has {len(kinds):,} kinds of relations, at most {_MOST_KINDS:,} are compared. Check whether the "
            "columns are head, relation and tail, in this order, or name these in a first line."
        )
    if not tuples:
        raise MeasureError(f"{source} has no relations of {what}. Give head, relation and tail.")
    return pd.DataFrame(list(tuples), columns=list(RELATION_COLUMNS))


def _three(cells: list[str], places: list[int], named: bool) -> tuple[str, ...] | None:
    """Return head, relation and tail; None if one is missing, or there are other columns without names."""
    if not named and len(cells) > len(places):
        return None
    if max(places) >= len(cells) or not all(cells[place] for place in places):
        return None
    return tuple(cells[place] for place in places)


def _assertions(source: Path) -> "Iterator[tuple[int, str, tuple[str, ...] | None]]":
    """Yield ConceptNet's assertions of English words line by line: the whole file does not fit into memory."""
    for number, content in enumerate(read_lines(source), start=1):
        try:
            line = content.decode().rstrip("\r\n")
        except UnicodeDecodeError as fault:
            raise InputFileError(f"{source}: line {number} is not UTF-8. Download it again.") from fault
        concept = _assertion(line.split("\t", 4))
        if line.strip() and concept != ():
            yield number, line, concept


def _assertion(cells: list[str]) -> tuple[str, ...] | None:
    """Return an assertion of ConceptNet; an empty tuple if it is not of English words, None if it is invalid."""
    if len(cells) < 4 or not cells[1].startswith("/r/"):
        return None
    if cells[1] == "/r/ExternalURL":  # from a word to its page in other data
        return ()
    ends = [_CONCEPT.match(cell) for cell in cells[2:4]]
    if None in ends:
        return None
    languages = {end.group(1) for end in ends if end}
    if languages != {"en"}:
        return ()
    head, tail = (end.group(2).replace("_", " ") for end in ends if end)
    return (head, cells[1].removeprefix("/r/"), tail) if head != tail else ()


def _decoded(source: Path, content: bytes) -> str:
    """Return the text of content in UTF-8 or, for the files of USF, in Latin-1."""
    try:
        text = utf8_text(content, source)
    except InputFileError:
        if b"NORMED?" not in content[:4096]:
            raise
        text = content.decode("latin-1")
    return io.StringIO(text, newline=None).read()
