"""Blocks: tables of frames, and figures as data."""

import base64
import struct

import pandas as pd
import pytest

from bayesbias.page.blocks import MOST_ROWS, figure, frame_table
from bayesbias.plots.style import new_figure
from bayesbias.statements import count_text, distance_text, probability_text, share_text, signed_text


def test_long_tables_say_what_they_leave_out() -> None:
    frame = pd.DataFrame({"word": [f"w{place}" for place in range(MOST_ROWS + 1)]})
    cut = frame_table(frame, "Words", {"word": ("Word", None)})
    assert len(cut.rows) == MOST_ROWS
    assert cut.caption == f"Words (the first {MOST_ROWS} of {MOST_ROWS + 1} rows)"
    assert frame_table(frame.head(3), "Words", {"word": ("Word", None)}).caption == "Words"


def test_both_ends_of_an_interval_stand_in_one_cell() -> None:
    frame = pd.DataFrame({"word": ["a", "b"], "low": [-0.1, 0.0], "high": [0.25, 0.5]})
    made = frame_table(frame, "t", {"word": ("Word", None), "low:high": ("Interval", signed_text)})
    assert made.header == ("Word", "Interval")
    assert made.rows == (("a", "-0.100 to +0.250"), ("b", "+0.000 to +0.500"))
    assert made.texts == (True, False)


@pytest.mark.parametrize("write", [distance_text, signed_text, share_text, count_text])
def test_what_is_no_number_is_said(write: object) -> None:
    assert callable(write)
    assert write(float("nan")) == "undefined"


def test_a_probability_is_never_certain() -> None:
    assert [probability_text(value) for value in (1.0, 0.0, 0.5)] == ["above 0.99", "below 0.01", "0.50"]


def test_a_figure_is_a_png_with_its_own_size() -> None:
    made = figure(new_figure(2, 1), "caption", "alt")
    content = base64.b64decode(made.source.removeprefix("data:image/png;base64,"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (made.width, made.height) == (300, 150)
