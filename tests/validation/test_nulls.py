"""What `validation/nulls` keeps: the paper's slip against Student's distribution, and the table that its text shows."""

import json
import re
from collections.abc import Iterator
from inspect import signature
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.reports.measures.false_positive_rates import false_positive_rates
from bayesbias.reports.measures.null_simulation import rate
from tests.reports.measures.test_null_simulation import PAPER, student_share
from tests.validation.numbers import prose, unexplained
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


def test_quantiles_are_the_inverse_of_shares_and_those_of_the_samples(script: ModuleType) -> None:
    for slip in (False, True):
        end = script.exact_quantile(0.975, slip=slip)
        assert script.exact_share(end, slip=slip) == pytest.approx(0.05)
        share, error = rate(np.abs(script.effect_sizes(slip=slip)) >= end)
        assert abs(share - 0.05) < 3 * error


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


def numbers_of_tables() -> Iterator[str]:
    slip = pd.read_csv(KEPT / "slip.csv").set_index("group_mean")
    whole_text = (KEPT / "README.md").read_text(encoding="utf-8")
    yield f"the share is {100 * slip.loc['first word', 'exact']:.1f} %"
    yield f"effect size of 1.267? {100 * slip.loc['mean', 'exact']:.1f} %, not 38 %"
    yield f"The correct share is **{100 * slip.loc['mean', 'exact']:.1f} %**"
    for group_mean, title, digits in (("mean", "its mean", 4), ("first word", "(the slip)", 3)):
        row = slip.loc[group_mean]
        shown = f"{row['share']:.{digits}f} ± {row['mc_se']:.{digits}f} | {row['exact']:.{digits}f}"
        assert f"{title} | {shown} |" in whole_text
    first = slip.loc["first word"]
    assert abs(0.38 - first["exact"]) < 2 * np.sqrt(0.38 * 0.62 / 10_000)  # as the text says of the paper's share
    table = pd.read_csv(KEPT / "false_claims.csv")
    yield f"Monte Carlo standard error is at most {100 * table['mc_se'].max():.1f}"
    yield f"at most {100 * table.loc[table['rate'] < 0.07, 'mc_se'].max():.1f} for shares below 7"
    assert table["not_fitted"].eq(0).all()
    neutral = table[table["contrast"] == "associated - neutral"]
    dependent = neutral[neutral["method"].isin(["t_test_preaveraged", "t_test_raw", "hierarchical"])]
    with_effects = 100 * dependent.loc[dependent["attribute_sd"] > 0, "rate"]
    yield f"in {with_effects.min():.0f} to {with_effects.max():.0f} % of the data sets"
    most = {
        (method, nominal): 100 * part["rate"].max()
        for (method, nominal), part in neutral.groupby(["method", "nominal"])
        if method.startswith("crossed")
    }
    by_prob = [
        " and ".join(f"{most[method, at]:.1f}" for method in ("crossed_per_list", "crossed")) for at in (0.11, 0.05)
    ]
    yield f"at most {by_prob[0]} % of the 89 % intervals, {by_prob[1]} % of the 95 % ones"


def numbers_of_settings(script: ModuleType) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    effects, defaults = script.SCENARIOS["attribute and protected"], signature(false_positive_rates).parameters
    sizes = {name: defaults[name].default for name in ("protected", "attributes", "neutral", "sd")}
    assert sizes["protected"] == sizes["attributes"] == (8, 8)
    yield f"one sample whose WEAT effect size is {script.PAPER['effect_size']}"
    yield "report that around 38 % of 10,000 such samples"
    yield 'The paper\'s "around 38 %" agrees with that within two standard errors of a run of 10,000'
    ends, shares = (
        [function(value, slip=slip) for slip in (True, False)]
        for function, value in ((script.exact_quantile, 0.975), (script.exact_share, 1.81))
    )
    assert shares[1] < 0.00001
    assert [round(end, 1) for end in ends[:1]] == [2.7]  # what the slides print
    yield f"95 % of the scores that they print is ±{ends[0]:.1f}, and {100 * shares[0]:.0f} % of the absolute values"
    yield "are above 1.81"
    yield f"±{ends[0]:.2f} and {100 * shares[0]:.1f} % with the slip, ±{ends[1]:.2f} and less than 0.001 % without"
    yield "8 + 8 protected by 8 + 8 attribute words, every similarity from Normal(0, 0.08)"
    # The correlation of 16 values has 14 degrees of freedom: the first test above simulates it.
    yield "of the 16 words are independent"
    yield "r sqrt(14 / (1 - r^2)) follows Student's distribution with 14 degrees of freedom"
    yield "Standard deviation with n - 1;"
    yield "effect size of 1.27 with 8 + 8 words"
    yield "is below 0.05 as often as it should be"
    yield "t-tests of MAC against 1"
    yield '"not 1"'
    yield f"The same {run['data_sets']:,} data sets"
    yield (
        f"Each has 8 + 8 protected words, 8 + 8 attribute words, of which a group's own words are associated and the "
        f"others different, and {sizes['neutral']} neutral words; all distances have the same mean, sd "
        f"{sizes['sd']}."
    )
    yield f"*Attribute effects* of {effects['attribute_sd']} and"
    yield f"by chance) of {effects['word_sd']} are"
    yield from (
        "connection means excludes 0",
        "in 11 % of cases on average over the prior",
        "the 95 % interval is given",
    )
    yield from ("comparison with p < 0.05", "here word effects of 0, the rate")
    yield f"If the 16 stereotypes happen to be nearer to everything than the {sizes['neutral']} neutral"


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    computed = [*numbers_of_tables(), *numbers_of_settings(script)]
    numbered_list = re.sub(r"(?<= )[1-4]\. (?=\*\*|The perm)", "", prose(KEPT / "README.md"))
    assert unexplained(numbered_list, computed) == []
