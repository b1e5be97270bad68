"""Tables of results as blocks of pages."""

import pandas as pd

from bayesbias.base.results import ResultTable
from bayesbias.delivery.page.blocks import MOST_ROWS
from bayesbias.delivery.page.sections import table_block


def test_a_table_shows_its_values_in_the_formats_of_the_glossary() -> None:
    frame = pd.DataFrame({"word": ["he", "she"], "mean": [0.1, -0.2], "hdi_low": [0.0, None], "hdi_high": [0.2, None]})
    block = table_block(ResultTable(frame.assign(note=""), "Section", "Caption", differences=True))
    assert block.header == ("Word", "Mean", "Interval")
    assert block.rows == (("he", "+0.100", "0.000 to +0.200"), ("she", "-0.200", "none"))
    assert block.texts == (True, False, False)


def test_a_long_table_is_cut_and_says_so() -> None:
    frame = pd.DataFrame({"pairs": range(MOST_ROWS + 1)})
    block = table_block(ResultTable(frame, "Section", "Caption", headings={"pairs": "Number"}))
    assert len(block.rows) == MOST_ROWS
    assert (str(MOST_ROWS) in block.caption, f"{MOST_ROWS + 1}" in block.caption) == (True, True)
    assert block.header == ("Number",)
