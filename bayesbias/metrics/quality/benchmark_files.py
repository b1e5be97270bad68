"""Readers of files of word similarity, analogies, SemBias and words."""

import os
import re
from collections.abc import Iterator, Sized

from bayesbias.base.files.contents import LINES
from bayesbias.base.files.inputs import read_utf8
from bayesbias.errors import MeasureError

SimilarityPairs = list[tuple[str, str, float]]
_SEPARATORS = ("\t", ";", ",")
_TAGGED = re.compile(r".+-[njv]")
_TUPLE = "priest:nun dog:bitch book:magazine doctor:nurse"


def read_similarity(path: str | os.PathLike[str]) -> SimilarityPairs:
    r"""Return the pairs of words in a file of word similarity, with people's scores.

    Each line holds two words and a score, possibly with other columns in between. Columns are separated by tabs,
    semicolons, commas or spaces. A first line without a score is a header, and lines that begin with ``#`` are
    comments. RG-65, MTurk, MEN (whose tags, as in ``sun-n``, are removed), SimLex-999 and WS-353 have this format.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not a pair with a score, or there are fewer than three.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("Word 1,Word 2,Human (mean)\nlove,sex,6.77\ntiger,cat,7.35\nbook,paper,7.46\n")
    >>> bb.metrics.read_similarity(path)
    [('love', 'sex', 6.77), ('tiger', 'cat', 7.35), ('book', 'paper', 7.46)]
    """
    pairs: SimilarityPairs = []
    column = None
    for number, line in _lines(path):
        cells = _cells(line)
        numeric = [place for place, cell in enumerate(cells) if place > 1 and _as_number(cell) is not None]
        if column is None and not numeric and not pairs and number == 1:
            continue  # the header
        column = numeric[0] if column is None and numeric else column
        score = _as_number(cells[column]) if column is not None and column < len(cells) else None
        if score is None or not cells[0] or not cells[1]:
            raise MeasureError(
                f"{path}, line {number}: {line[:60]!r} is not two words and a score. Write it as 'tiger cat 7.35'."
            )
        pairs.append((cells[0], cells[1], score))
    _raise_if_few(path, pairs, 3, "pairs of words with a score", "tiger cat 7.35")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair[:2]):
        return [(first[:-2], second[:-2], score) for first, second, score in pairs]
    return pairs


def read_analogies(path: str | os.PathLike[str]) -> list[tuple[str, tuple[str, str, str, str]]]:
    r"""Return the questions of a file of analogies, each with its section.

    Each line is a question of four words, such as ``Athens Greece Baghdad Iraq``, which asks for the last. A line that
    begins with a colon names the section of the lines below it. Google's and MSR's questions have this format.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not four words, or there are fewer than two.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "questions.txt"
    >>> _ = path.write_text(": family\nboy girl brother sister\nboy girl king queen\n")
    >>> bb.metrics.read_analogies(path)[0]
    ('family', ('boy', 'girl', 'brother', 'sister'))
    """
    section, questions = "", []
    for number, line in _lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise MeasureError(
                f"{path}, line {number}: {line[:60]!r} is not four words. Write it as 'Athens Greece Baghdad Iraq'."
            )
        questions.append((section, (words[0], words[1], words[2], words[3])))
    _raise_if_few(path, questions, 2, "questions", "Athens Greece Baghdad Iraq")
    return questions


def read_sembias(path: str | os.PathLike[str]) -> list[tuple[tuple[str, str], ...]]:
    r"""Return the tuples of a file of SemBias, each of four pairs of words.

    Each line is a tuple. Pairs are separated by tabs or spaces, the words of a pair by a colon. As in the authors'
    file, the first pair is a definition, the second and third are unrelated to gender, and the last is a stereotype.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not four pairs, or there are fewer than two.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "sembias.txt"
    >>> line = "priest:nun\tdog:bitch\tbook:magazine\tdoctor:nurse\n"
    >>> _ = path.write_text(2 * line)
    >>> bb.metrics.read_sembias(path)[0]
    (('priest', 'nun'), ('dog', 'bitch'), ('book', 'magazine'), ('doctor', 'nurse'))
    """
    tuples = []
    for number, line in _lines(path):
        pairs = [tuple(cell.split(":")) for cell in line.split()]
        if len(pairs) != 4 or any(len(pair) != 2 or not all(pair) for pair in pairs):
            raise MeasureError(f"{path}, line {number}: {line[:60]!r} is not four pairs. Write them as '{_TUPLE}'.")
        tuples.append(tuple((pair[0], pair[1]) for pair in pairs))
    _raise_if_few(path, tuples, 2, "lines of four pairs", _TUPLE)
    return tuples


def read_words(path: str | os.PathLike[str]) -> list[str]:
    r"""Return the words of a file with one word per line, or raise `MeasureError` if there are none.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "words.txt"
    >>> _ = path.write_text("nurse\n\nclerk\n")
    >>> read_words(path)
    ['nurse', 'clerk']
    """
    words = [line for _, line in _lines(path)]
    if not words:
        raise MeasureError(f"{path} has no words. Write one word per line.")
    return words


def benchmark_measure(path: str | os.PathLike[str]) -> str:
    """Return ``"analogies"`` if the first line of a file is a section or four words, else ``"word_similarity"``."""
    first = next((line for _, line in _lines(path)), "")
    words = first.split()
    four = len(words) == 4 and not any(_as_number(word) is not None for word in words) and "," not in first
    return "analogies" if first.startswith(":") or (four and "\t" not in first) else "word_similarity"


def _raise_if_few(path: str | os.PathLike[str], rows: Sized, least: int, what: str, example: str) -> None:
    if len(rows) < least:
        raise MeasureError(
            f"{path} has {len(rows)} {what}, but at least {least} are needed, one per line, such as '{example}'."
        )


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(re.split(r"\r?\n|\r", read_utf8(path, LINES)), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


def _cells(line: str) -> list[str]:
    separator = next((candidate for candidate in _SEPARATORS if line.count(candidate) > 1), None)
    cells = [cell.strip() for cell in line.split(separator)]
    return cells if len(cells) > 1 else [*cells, ""]


def _as_number(cell: str) -> float | None:
    """Return the number that a cell holds in decimal notation, or None."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", cell):
        return None
    value = float(cell)
    return value if abs(value) < 1e300 else None
