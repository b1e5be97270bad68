"""Blocks: figures as data."""

import base64
from pathlib import Path
from typing import get_args

import numpy as np

from bayesbias.delivery.page import blocks
from bayesbias.delivery.page.blocks import figure
from bayesbias.delivery.plots.style import new_figure


def test_a_figure_is_an_svg_that_a_phone_shows_legibly() -> None:
    drawn = new_figure(8, 2)
    drawn.subplots().plot([1, 2])
    drawn.suptitle("A title of its own")
    made = figure(drawn, "caption", "alt")
    content = base64.b64decode(made.source.removeprefix("data:image/svg+xml;base64,"))
    assert b"<svg" in content[:1000]
    assert (made.width, made.height, made.wide) == (518, 192, False)
    assert drawn.get_suptitle() == ""


def test_a_figure_of_several_columns_keeps_its_width_and_a_large_one_is_a_png() -> None:
    drawn = new_figure(8, 2)
    for axes in drawn.subplots(1, 2):
        axes.scatter(*np.random.default_rng(1).normal(size=(2, 5000)))
    made = figure(drawn, "caption", "alt")
    assert (made.width, made.wide) == (768, True)
    content = base64.b64decode(made.source.removeprefix("data:image/png;base64,"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_title_that_warns_is_kept() -> None:
    drawn = new_figure(2, 1)
    drawn.suptitle("X\nNOT CONVERGED: do not report")
    figure(drawn, "caption", "alt")
    assert "NOT CONVERGED" in drawn.get_suptitle()


def test_the_template_knows_every_block_by_its_kind() -> None:
    template = (Path(blocks.__file__).parent / "report.html.j2").read_text(encoding="utf-8")
    kinds = [block.__name__.lower() for block in get_args(blocks.Block)]
    assert len(kinds) == 8
    assert all(f'item.kind == "{kind}"' in template for kind in kinds)
    assert blocks.Notice("x").kind == "notice"


def test_facts_are_rows_of_texts() -> None:
    made = blocks.fact_table("Settings", {"Seed": "4"}, header=("Setting", "Value"))
    assert (made.header, made.rows, made.texts) == (("Setting", "Value"), (("Seed", "4"),), (True, True))
