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


def test_readme_says_the_numbers_of_the_tables_in_its_text() -> None:
    text = " ".join((KEPT / "README.md").read_text(encoding="utf-8").split())
    slip = pd.read_csv(KEPT / "slip.csv").set_index("group_mean")
    assert f"the share is {100 * slip.loc['first word', 'exact']:.1f} %" in text
    assert f"The correct share is **{100 * slip.loc['mean', 'exact']:.1f} %**" in text
    for group_mean, title, digits in (("mean", "its mean", 4), ("first word", "(the slip)", 3)):
        row = slip.loc[group_mean]
        shown = f"{row['share']:.{digits}f} ± {row['mc_se']:.{digits}f} | {row['exact']:.{digits}f}"
        assert f"{title} | {shown} |" in text
    first = slip.loc["first word"]
    assert abs(0.38 - first["exact"]) < 2 * np.sqrt(0.38 * 0.62 / 10_000)  # as the text says of the paper's share
    table = pd.read_csv(KEPT / "false_claims.csv")
    assert f"Monte Carlo standard error is at most {100 * table['mc_se'].max():.1f}" in text
    assert f"at most {100 * table.loc[table['rate'] < 0.07, 'mc_se'].max():.1f} for shares below 7" in text
    assert table["not_fitted"].eq(0).all()
    neutral = table[table["contrast"] == "associated - neutral"]
    dependent = neutral[neutral["method"].isin(["t_test_preaveraged", "t_test_raw", "hierarchical"])]
    with_effects = 100 * dependent.loc[dependent["attribute_sd"] > 0, "rate"]
    assert f"in {with_effects.min():.0f} to {with_effects.max():.0f} % of the data sets" in text
    most = {
        (method, nominal): 100 * part["rate"].max()
        for (method, nominal), part in neutral.groupby(["method", "nominal"])
        if method.startswith("crossed")
    }
    by_prob = [
        " and ".join(f"{most[method, at]:.1f}" for method in ("crossed_per_list", "crossed")) for at in (0.11, 0.05)
    ]
    assert f"at most {by_prob[0]} % of the 89 % intervals, {by_prob[1]} % of the 95 % ones" in text
