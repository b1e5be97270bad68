"""What `validation/nulls` keeps: the paper's slip against Student's distribution, and the table that its text shows."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.reports.measures.null_simulation import rate
from tests.reports.measures.test_null_simulation import PAPER, student_share
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "nulls"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("nulls", "make_nulls")


def test_slip_of_the_paper_gives_its_38_percent(script: ModuleType) -> None:
    """The mean of a group taken as its first word's value: 0.389 by Student's distribution."""
    share, error = rate(np.abs(script.effect_sizes(slip=True)) >= PAPER)
    exact = student_share(PAPER, 16, np.sqrt(2), 1)
    assert abs(exact - 0.38) < 0.01
    assert abs(share - exact) < 3 * error
    assert script.exact_share(PAPER, slip=True) == pytest.approx(exact)


def test_script_without_the_slip_agrees(script: ModuleType) -> None:
    share, error = rate(np.abs(script.effect_sizes(slip=False)) >= PAPER)
    assert abs(share - student_share(PAPER, 16, np.sqrt(2 / 8), 1)) < 3 * error


def test_readme_shows_the_table_of_false_claims() -> None:
    """Every rate of the CSV file stands in the README, in its place, and in bold where it is too high."""
    table = pd.read_csv(KEPT / "false_claims.csv")
    lines = (KEPT / "README.md").read_text(encoding="utf-8").splitlines()
    shown = [line.strip("| ").split(" | ") for line in lines if line.startswith("| associated - ")]
    names = {"WEAT": "weat", "t-test, pre-averaged": "t_test_preaveraged", "t-test, raw pairs": "t_test_raw"}
    scenarios = [part for _, part in table.groupby(["attribute_sd", "word_sd"], sort=False)]
    assert len(shown) * len(scenarios) == len(table)
    for contrast, method, rule, nominal, *rates in shown:
        for part, text in zip(scenarios, rates, strict=True):
            key = (part["contrast"] == contrast) & (part["method"] == names.get(method, method.strip("`")))
            row = part[key & (part["rule"] == rule)].iloc[0]
            assert float(nominal) == 100 * row["nominal"]
            assert text.strip("*") == f"{100 * row['rate']:.1f}"
            assert text.startswith("**") == (row["rate"] - 3 * row["mc_se"] > row["nominal"])
