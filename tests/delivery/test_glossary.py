"""The glossary: headings are short, interval ends share a cell, and values keep their formats."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.results import VERDICTS
from bayesbias.delivery.glossary import COLUMNS, FORMS, MISSING, column, intervals_joined, value_writer


def test_headings_are_short_and_formats_exist() -> None:
    assert max(len(entry.heading) for entry in COLUMNS.values()) <= 28
    assert {entry.form for entry in COLUMNS.values()} <= set(FORMS)
    assert not [name for name, entry in COLUMNS.items() if entry.meaning.endswith(".")]


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        (["mean", "hdi_low", "hdi_high"], [("mean",), ("hdi_low", "hdi_high")]),
        (["low_89", "low_50", "high_50", "high_89"], [("low_89", "high_89"), ("low_50", "high_50")]),
        (["low", "high"], [("low", "high")]),
        (["low_se", "high_se"], [("low_se",), ("high_se",)]),
        (["hdi_low", "k_high"], [("hdi_low",), ("k_high",)]),
    ],
)
def test_ends_of_an_interval_share_a_cell(names: list[str], joined: list[tuple[str, ...]]) -> None:
    assert intervals_joined(names) == joined


def test_an_unknown_column_is_written_by_its_type() -> None:
    frame = pd.DataFrame({"own_words": ["he"], "own_count": [1_000], "own_share": [0.25]})
    shown = {name: (column(name, frame).heading, column(name, frame).form) for name in frame}
    assert shown == {
        "own_words": ("Own words", "text"),
        "own_count": ("Own count", "count"),
        "own_share": ("Own share", "digits"),
    }


def test_values_are_written_by_their_format() -> None:
    assert value_writer("estimate", differences=True)(0.1234) == "+0.123"
    assert value_writer("estimate", differences=False)(0.1234) == "0.123"
    assert value_writer("share", differences=False)(np.nan) == MISSING
    assert value_writer("digits", differences=False)("a text") == "a text"


@pytest.mark.parametrize(
    "name", ["reading", "rank_low", "probability", "quantity", "probability_of_direction", "outcome"]
)
def test_what_a_heading_does_not_say_has_a_meaning(name: str) -> None:
    assert COLUMNS[name].meaning


def test_the_strength_of_mac_is_no_absolute_value() -> None:
    assert "1 for MAC" in COLUMNS["strength"].meaning


def test_settled_and_borderline_are_defined_once_and_quoted_elsewhere() -> None:
    """A borderline verdict is within Monte Carlo error of the draws: no text says that another seed settles it."""
    guide = Path(bb.__file__).parents[1] / "docs" / "guide"
    for name in ("glossary.md", "pages.md"):
        text = (guide / name).read_text(encoding="utf-8")
        for verdict in ("settled", "borderline"):
            assert VERDICTS[verdict] in text, name
    assert VERDICTS["borderline"] in COLUMNS["borderline"].meaning
    assert VERDICTS["settled"] in COLUMNS["reading"].meaning
    sources = [*guide.glob("*.md"), *Path(bb.__file__).parent.rglob("*.py")]
    wrong = [path.name for path in sources if re.search(r"seed (?:may|can) (?:settle|judge)", path.read_text("utf-8"))]
    assert wrong == []
