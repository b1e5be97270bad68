"""Tables of results as blocks of pages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from bayesbias.base.results import Contents, ResultTable
from bayesbias.base.statements import Statement, StatementList
from bayesbias.delivery.glossary import MISSING
from bayesbias.delivery.page.blocks import Paragraph
from bayesbias.delivery.page.sections import MOST_ROWS, embedded, table_block


def test_a_table_shows_its_values_in_the_formats_of_the_glossary() -> None:
    frame = pd.DataFrame({"word": ["he", "she"], "mean": [0.1, -0.2], "hdi_low": [0.0, None], "hdi_high": [0.2, None]})
    block = table_block(ResultTable(frame.assign(note=""), "Section", "Caption", differences=True))
    assert block.header == ("Word", "Mean", "Interval")
    assert block.rows == (("he", "+0.100", "0.000 to +0.200"), ("she", "-0.200", MISSING))
    assert block.texts == (True, False, False)


def test_a_long_table_is_cut_and_says_so() -> None:
    frame = pd.DataFrame({"pairs": range(MOST_ROWS + 1)})
    block = table_block(ResultTable(frame, "Section", "Caption", headings={"pairs": "Number"}))
    assert len(block.rows) == MOST_ROWS
    assert (str(MOST_ROWS) in block.caption, f"{MOST_ROWS + 1}" in block.caption) == (True, True)
    assert block.header == ("Number",)


def test_both_ends_of_an_interval_stand_in_one_cell_and_what_is_missing_is_a_dash() -> None:
    frame = pd.DataFrame({"word": ["a", "b"], "low": [-0.1, np.nan], "high": [0.25, 0.5], "settled": [True, False]})
    made = table_block(ResultTable(frame, "Words", "Words", headings={"low": "Ends"}, differences=True))
    assert made.header == ("Word", "Ends", "Settled")
    assert made.rows == (("a", "-0.100 to +0.250", "yes"), ("b", MISSING, "no"))
    assert made.texts == (True, False, True)


def test_a_result_inside_another_page_has_its_statements_figure_tables_and_settings_once() -> None:
    frame = pd.DataFrame({"word": ["a"], "mean": [0.5]})
    contents = Contents(
        title="Check",
        answers=(Statement("answer", "An answer."),),
        parts=(StatementList("Problems", (Statement("problem", "A problem."),)),),
        tables={"shown": ResultTable(frame, "Rows", "Rows"), "data": ResultTable(frame, "Data", "Data", on_page=False)},
        settings={"Draws": "100", "Seed": "1"},
    )
    section = embedded(SimpleNamespace(contents=contents), "check", "A check", ["Headline."])
    kinds = [type(block).__name__ for block in section.blocks]
    assert kinds == ["Paragraph", "Heading", "Bullets", "Heading", "Table", "Paragraph"]
    assert section.blocks[-1] == Paragraph("Settings: draws 100; seed 1.")
    assert (section.slug, section.title, section.headlines) == ("check", "A check", ["Headline."])
