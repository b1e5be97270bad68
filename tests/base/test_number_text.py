"""Numbers as readers see them."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.number_text import (
    count_text,
    csv_cell,
    distance_text,
    json_text,
    probability_text,
    share_text,
    signed_text,
    visible,
    write_csv,
)


@pytest.mark.parametrize("write", [distance_text, signed_text, share_text, count_text])
def test_what_is_no_number_is_said(write: Callable[[float], str]) -> None:
    assert write(float("nan")) == "undefined"


def test_a_probability_is_never_certain() -> None:
    assert [probability_text(value) for value in (1.0, 0.0, 0.5)] == ["over 0.99", "under 0.01", "0.50"]


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(1)",
    " =1",
    '"=1',
    "\uff1d1",
    "a;=1",
    'a; "-1',
    "\t=1",
    "\r@x",
    "=;=",
]


def python_text(cell: str) -> str:
    """Return a cell as the text that it stands for, by the rules of Python's literals."""
    return re.sub(
        r"\\(?:x(..)|u(....)|([\\ntr]))",
        lambda match: (
            {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}[match[3]] if match[3] else chr(int(match[1] or match[2], 16))
        ),
        cell,
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jcat", r"\x1b[2Jcat"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\x08\x7f\0", r"a\rb\x08\x7f\x00"),
        ("\u202eabc\u2066\u200e\u061c", r"\u202eabc\u2066\u200e\u061c"),
        ("\u200ba\ufeff\u2028\ud83d\uffff", r"\u200ba\ufeff\u2028\ud83d\uffff"),
        ("a\xadb\u3164\U000e0041", r"a\xadb\u3164\U000e0041"),
        ("\u2800\u180b", r"\u2800\u180b"),
        ("nurse\u034f\u17b4\ufe00\ufff0", r"nurse\u034f\u17b4\ufe00\ufff0"),
        ("nurse\U0001bca0\U0001d173\U000e0101", r"nurse\U0001bca0\U0001d173\U000e0101"),
        ("\u2764\ufe0f \u2764\ufe0e", "\u2764\ufe0f \u2764\ufe0e"),
        ("two\nlines\tand ünïcode \u200c\u200d 猫 \U0001f600", "two\nlines\tand ünïcode \u200c\u200d 猫 \U0001f600"),
    ],
)
def test_control_characters_are_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_each_is_read_back(text: str) -> None:
    cell = csv_cell(text)
    for part in cell.split(";"):  # which separates cells where a comma is the decimal sign
        assert part.lstrip(' "')[:1] not in [*"=+-@\t\r\uff1d"]
    assert python_text(cell) == text


@pytest.mark.parametrize("text", ["'s", "cat", "associated - different", "x=1", "a, -b", "naïve", "a@b", "''", ""])
def test_other_words_stay_as_they_are(text: str) -> None:
    assert csv_cell(text) == text


def test_a_table_has_its_numbers_and_its_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "word": [*FORMULAS, "back\\x3d", "a\nb", "\u202e\0"],
            "=number": -0.1 - np.arange(15) / 3,
            "kind": pd.Categorical(["-lrb-", "b", None] * 5),
            "mixed": [-1, -0.5, "-2"] * 5,
            "whole": np.arange(-7, 8),
        }
    )
    write_csv(frame, tmp_path / "words.csv")
    lines = (tmp_path / "words.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 16, "a row is a line"
    header, *rows = csv.reader(io.StringIO("\n".join(lines)))
    assert header == ["word", r"\x3dnumber", "kind", "mixed", "whole"]
    assert [python_text(row[0]) for row in rows] == frame["word"].tolist()
    assert [float(row[1]) for row in rows] == frame["=number"].tolist()
    assert [row[2] for row in rows[:3]] == [r"\x2dlrb-", "b", ""]
    assert [row[3] for row in rows[:3]] == ["-1", "-0.5", r"\x2d2"], "numbers have their signs"
    assert [int(row[4]) for row in rows] == frame["whole"].tolist()


def test_a_table_without_rows_or_columns_is_written(tmp_path: Path) -> None:
    write_csv(pd.DataFrame({"a": []}), tmp_path / "a.csv")
    write_csv(pd.DataFrame(), tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text().strip() == "a"
    assert (tmp_path / "b.csv").read_text().strip() == ""


def test_json_has_escapes_that_its_readers_decode() -> None:
    data = {"\u202ekey": ["caf\u00e9 \0 \x9b \u2066 \ufeff \ud83d \U000e0041", 0.1, None]}
    text = json_text(data)
    assert json.loads(text) == data
    assert visible(text) == text
    assert "café" in text
