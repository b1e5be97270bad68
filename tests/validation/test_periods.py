"""What `validation/periods` keeps: the text shows the table, and the script runs."""

from types import ModuleType

import pandas as pd
import pytest

from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "periods"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("periods", "periods")


def test_readme_shows_the_table(script: ModuleType) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(pd.read_csv(KEPT / "cells.csv")).splitlines():
        assert line in text


@pytest.mark.slow
def test_script_in_short(script: ModuleType) -> None:
    """With the bundled vectors; the truth of a planted drift is inside most intervals."""
    cell = script.Cell("bundled", 3, 6, 6, 0.5, 0.3, 0.3, lost=0.1)
    table = script.summarise(script.run_cell(cell, VALIDATION, 8)).set_index(["method", "level", "quantity"])
    assert set(table.index) == {
        ("periods", level, quantity)
        for level in ("population", "these_words", "word")
        for quantity in script.QUANTITIES
    }
    assert table["coverage"].mean() > 0.75
    assert table.loc[("periods", "these_words", "change"), "truth"] != 0
