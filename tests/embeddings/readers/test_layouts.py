"""Layouts of text files: what is recognised, and what is no layout."""

import pytest

from bayesbias.embeddings.readers.layouts import layout_of, unusual_layout


@pytest.mark.parametrize(
    ("lines", "split", "dimensions"),
    [
        ([b"king 0.1 0.2\n"], "spaces", 2),
        ([b"king 0.1  -0.2\n"], "blanks", 2),
        ([b"king\t0.1\t0.2\n"], "tabs", 2),
        ([b"king,0.1,0.2\n"], "commas", 2),
        ([b"king;0.1;0.2\n"], "semicolons", 2),
        ([b"a\tb 1 2\n", b"c 1 2\n"], "spaces", 2),
        ([b", 1 2\n"], "spaces", 2),
    ],
)
def test_what_separates_fields(lines: list[bytes], split: str, dimensions: int) -> None:
    layout = layout_of(lines)
    assert layout is not None
    assert (layout.split, layout.dimensions, layout.names, layout.row_numbers) == (split, dimensions, False, False)


def test_names_and_row_numbers() -> None:
    layout = layout_of([b",word,x,y\n", b"0,king,0.1,0.2\n", b"1,queen,0.1,0.2\n", b"2,man,0.1,0.2\n"])
    assert layout is not None
    assert (layout.names, layout.row_numbers) == (True, True)
    assert list(layout.plain(iter([b"7,new york,1,2\r\n"]))) == [b"new york 1 2\r\n"]


@pytest.mark.parametrize("lines", [[], [b"\n"], [b"once upon a time\n", b"there was a king\n"]])
def test_what_is_no_layout(lines: list[bytes]) -> None:
    assert layout_of(lines) is None


def test_a_long_line_without_brackets_takes_no_quadratic_time() -> None:
    assert unusual_layout(b"," * 500_000) == ""  # with backtracking it would take hours
    assert all("brackets" in unusual_layout(line) for line in (b"new york [0.1, 0.2]\n", b"king;[.1 2]\n"))
