"""What `validation/factors` keeps: the text shows the table, and the script runs."""

import json
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "factors"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("factors", "factors")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(KEPT / "factors.csv")


def test_readme_shows_the_table(script: ModuleType, table: pd.DataFrame) -> None:
    assert script.markdown(table) in (KEPT / "README.md").read_text(encoding="utf-8")


def numbers(table: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    yield f"of {run['protected_population'] + run['attribute_population']} real words"
    yield f"two lists of {run['attribute_words']} attribute words"
    yield f"by up to {run['shift']:g} of the length"
    yield "Cells** have 8 words each, or 3, 8, 8 and 20"
    yield "three ages (20, 30 and 70)"
    yield f"{run['samples']} samples in each row, and {2 * run['samples']} where nothing is planted"
    yield f"(nominal {1 - HDI_PROB:.2f})"
    yield "false claims where the truth is 0"
    yield "that leave out 0"
    null = table["truth"].abs() < 5e-4
    coverage, these = table["coverage"].mean(), table["coverage_these"].mean()
    yield f"in {coverage:.2f} of the intervals for words like these and in {these:.2f} of those for these words"
    yield f"in {table.loc[null, 'coverage'].mean():.2f} where nothing"
    yield f"and in {table.loc[~null, 'coverage'].mean():.2f} where something"
    yield f"{table['coverage'].min():.2f} in the lowest row"
    yield f"an error of {binomial_error(HDI_PROB, run['samples']):.2f}"
    yield f"over {run['unfitted']:,} samples of words"
    of_sizes = table.groupby("sizes")[["width_ratio", "coverage"]].mean()
    equal, unequal = of_sizes.loc["equal"], of_sizes.loc["unequal"]
    yield f"{equal['width_ratio']:.2f} times what it should be"
    yield f"and {unequal['width_ratio']:.2f} times where they have not"
    yield "With cells of 3, 8, 8 and 20 words"
    yield f"coverage is {unequal['coverage']:.2f} there, and {equal['coverage']:.2f} with equal cells"
    yield f"Where the truth is 0, {table.loc[null, 'settled'].mean():.2f} of the intervals"
    yield f"at most {(table['mean'] - table['truth']).abs().max():.3f} on average"
    planted = table[~null]
    of_interactions = planted["source"].str.contains(" x ")
    main, crossed = planted.loc[~of_interactions, "settled"], planted.loc[of_interactions, "settled"]
    yield f"{main.min():.2f} to {main.max():.2f} of the main effects and trends"
    yield f"{crossed.min():.2f} to {crossed.max():.2f} of the interactions"


def test_every_number_of_the_text_is_computed(table: pd.DataFrame) -> None:
    assert unexplained(prose(KEPT / "README.md"), numbers(table)) == []


def test_coverage_is_nominal_or_above_within_its_error(table: pd.DataFrame) -> None:
    """Rows share their words, so that their errors are not independent."""
    for column in ("coverage", "coverage_these"):
        assert (table[column] > HDI_PROB - 3 * binomial_error(HDI_PROB, 50)).all()
    assert table["coverage"].mean() > HDI_PROB - 3 * binomial_error(HDI_PROB, 100)
    assert table["width_ratio"].between(0.9, 1.1).all()


def test_the_truth_is_that_of_whole_populations(script: ModuleType) -> None:
    whole = script.vocabulary()
    leans = whole.leans(0.0)
    by_hand = 1 - whole.protected @ whole.near.T, 1 - whole.protected @ whole.far.T
    assert leans == pytest.approx(by_hand[0].mean(axis=1) - by_hand[1].mean(axis=1))
    assert whole.leans(1.0).mean() < leans.mean()  # nearer to the first list
    assert np.linalg.norm(whole.component) == pytest.approx(1)


@pytest.mark.slow
def test_script_in_short(script: ModuleType) -> None:
    whole = script.vocabulary()
    planted = next(one for one in script.SCENARIOS if one.name == "one main effect")
    rows = pd.DataFrame([row for number in range(3) for row in script.run_sample(planted, whole, number)])
    frame = script.summarise(rows).set_index("source")
    assert frame.loc["first", "truth"] < -0.05
    assert frame.loc["first", "settled"] == 1
    assert frame["coverage"].mean() > 0.5
    trend = next(one for one in script.SCENARIOS if one.trends)
    row = pd.DataFrame(script.run_sample(trend, whole, 0)).set_index("source").loc["trend"]
    assert np.sign(row["mean"]) == np.sign(row["truth"])
