"""What `validation/groups` keeps: the text shows the table, and the script runs."""

import json
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "groups"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("groups", "groups")


@pytest.fixture(scope="module")
def spreads_script() -> ModuleType:
    return load_script("groups", "spreads")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(KEPT / "groups.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def spreads() -> pd.DataFrame:
    return pd.read_csv(KEPT / "spreads.csv")


def test_readme_shows_the_tables(
    script: ModuleType, table: pd.DataFrame, spreads_script: ModuleType, spreads: pd.DataFrame
) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert script.markdown(table) in text
    assert spreads_script.markdown(spreads) in text


def test_a_third_group_leaves_the_claims_of_the_table(table: pd.DataFrame) -> None:
    claims = table.pivot_table(index=["vectors", "model"], columns="third", values="claims")
    rows = claims.drop(columns="averaged in")
    assert (rows.sub(rows[""], axis=0).abs() < 3 * binomial_error(1 - HDI_PROB, 200)).all(axis=None)
    of_rows = rows.drop(index="multivariate", level="model")
    assert of_rows.eq(of_rows[""], axis=0).all(axis=None)
    assert (claims["averaged in"].dropna() > 1 - HDI_PROB + 3 * binomial_error(1 - HDI_PROB, 200)).all()


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType) -> None:
    for third in ("none", "both"):
        rows = script.run_cell(script.Cell("glove", third), EMBEDDINGS, 6, ["multivariate", "hierarchical"])
        shifts = rows.groupby("model")["shift"].apply(lambda shift: shift.abs().max())
        assert shifts["multivariate"] < 0.05
        assert shifts["hierarchical"] == 0
    averaged = script.run_cell(script.Cell("glove", "averaged in"), EMBEDDINGS, 6, ["multivariate"])
    assert averaged["shift"].abs().mean() > 1


def test_tables_without_a_third_group_are_part_of_those_with_one(script: ModuleType) -> None:
    vectors = np.random.default_rng(1).standard_normal((80, 5))
    whole = script.Vocabulary(vectors, np.arange(30), np.arange(30, 60), np.arange(60, 80))
    without, none, both = (
        script.sampled_table(whole, third, np.random.default_rng(2)) for third in ("", "none", "both")
    )
    for beside in (none, both):
        pd.testing.assert_frame_equal(beside[beside["protected_group"] != "z"], without)
    assert set(none.query("protected_group == 'z'")["connection"]) == {"different"}
    assert set(both.query("protected_group == 'z'")["connection"]) == {"associated"}


def numbers(script: ModuleType, table: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    yield f"{run['samples']} tables"
    yield f"{script.WORDS} words, and two lists of {script.ATTRIBUTES}"
    yield f"the {100 * script.NEAREST:.0f} % of the words"
    yield f"an error of {binomial_error(1 - HDI_PROB, run['samples']):.2f}"
    yield "leave out 0, nominal 0.11"
    multivariate = table[table["model"] == "multivariate"].set_index(["vectors", "third"])
    for third in ("", "none", "both", "averaged in"):
        claims = multivariate.xs(third, level="third")["claims"]
        yield f"{claims['google_news']:.2f} and {claims['glove']:.2f}"
    named = table[table["third"].isin(["none", "both"])]
    yield f"at most {named['largest_shift_in_sd'].max():.2f} posterior sds"
    ratios = named[named["model"] == "multivariate"]["sd_ratio"]
    yield f"{ratios.min():.2f} to {ratios.max():.2f} times"
    former = table[table["third"] == "averaged in"]["largest_shift_in_sd"]
    yield f"up to {former.max():.1f} posterior sds"
    # Of the table of 2026-11-26 before, which the history of the repository has.
    yield "without a third group it claimed 0.07 and 0.07"


def numbers_of_spreads(script: ModuleType, table: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "spreads.json").read_text(encoding="utf-8"))
    yield f"the {script.NEIGHBOURS} nearest neighbours"
    yield f"two lists of {script.ATTRIBUTES} opinion words"
    yield f"{run['samples']} tables in each of {len(table)} cells"
    yield f"a coverage of a cell has an error of {binomial_error(HDI_PROB, run['samples']):.2f}"
    unequal = table[table["scattered"] < table["alike"]]
    equal = table.drop(unequal.index)
    few = table[table["scattered"] == 3]
    yield f"is in {table['coverage'].mean():.2f} of the intervals on average"
    yield f"{table['coverage'].min():.2f} in the lowest cell"
    yield (
        f"{unequal['coverage'].mean():.2f} where few scattered words stand beside many alike ones, "
        f"{equal['coverage'].mean():.2f} where groups have the same size"
    )
    yield f"With {few['scattered'].iloc[0]} scattered words beside {few['alike'].iloc[0]} alike ones"
    yield "{:.2f} and {:.2f} (Google News and GloVe)".format(*few.set_index("vectors")["coverage"])
    ratios = table["scattered_sd"] / table["alike_sd"]
    yield f"{ratios.min():.1f} to {ratios.max():.1f} times as far"


def test_the_text_says_the_numbers_of_the_tables_and_no_others(
    script: ModuleType, table: pd.DataFrame, spreads_script: ModuleType, spreads: pd.DataFrame
) -> None:
    computed = [*numbers(script, table), *numbers_of_spreads(spreads_script, spreads)]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_spreads_in_short(spreads_script: ModuleType) -> None:
    rows = spreads_script.run_cell(spreads_script.Cell("glove", 3, 40), EMBEDDINGS, 12)
    summary = spreads_script.summarise(rows)
    assert summary["scattered_sd"] > 1.2 * summary["alike_sd"]
    assert summary["coverage"] > 0.6
