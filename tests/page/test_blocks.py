"""Blocks: tables of frames, and figures as data."""

import base64
import struct
from pathlib import Path
from typing import get_args

import pandas as pd

from bayesbias.page import blocks
from bayesbias.page.blocks import MOST_ROWS, figure, frame_table
from bayesbias.plots.style import new_figure
from bayesbias.statements import signed_text


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


def test_a_figure_is_a_png_with_its_own_size() -> None:
    made = figure(new_figure(2, 1), "caption", "alt")
    content = base64.b64decode(made.source.removeprefix("data:image/png;base64,"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (made.width, made.height) == (300, 150)


def test_the_template_knows_every_block_by_its_kind() -> None:
    template = (Path(blocks.__file__).parent / "report.html.j2").read_text(encoding="utf-8")
    kinds = [block.__name__.lower() for block in get_args(blocks.Block)]
    assert len(kinds) == 7
    assert all(f'item.kind == "{kind}"' in template for kind in kinds)
    assert blocks.Notice("x").kind == "notice"


def test_facts_are_rows_of_texts() -> None:
    made = blocks.fact_table("Settings", {"Seed": "4"}, header=("Setting", "Value"))
    assert (made.header, made.rows, made.texts) == (("Setting", "Value"), (("Seed", "4"),), (True, True))
