"""What `validation/changes_over_seeds` keeps: text and guide show the table, and intervals hold the truth."""

import json
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "changes_over_seeds"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("changes_over_seeds", "changes_over_seeds")


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    return pd.read_csv(KEPT / "cells.csv")


def test_readme_and_guide_show_the_table(script: ModuleType, cells: pd.DataFrame) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert script.markdown(cells) in text
    guide = (VALIDATION.parent / "docs" / "guide" / "which_embedding.md").read_text(encoding="utf-8")
    for row in (
        cells.groupby("interval", sort=False)[["words_like_these", "these_words"]].agg(["min", "max"]).itertuples()
    ):
        ranges = [f"{low:.2f} to {high:.2f}" for low, high in (row[1:3], row[3:5])]
        assert f"| {row[0]} | {ranges[0]} | {ranges[1]} |" in guide


def numbers_of_the_table(cells: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    yield f"{run['samples']} studies in each row: a coverage has an error of " + (
        f"{binomial_error(HDI_PROB, run['samples']):.3f}"
    )
    at = cells.set_index(["seed_sd", "change", "interval"])
    both, alone = (at.loc[0.003, 0.03, name] for name in ("over seeds and words", "over seeds alone"))
    yield f"contains the change of words like these in {alone['words_like_these']:.2f}"
    yield f"is {both['width'] / alone['width']:.1f} times as wide"


def test_the_text_says_the_numbers_of_the_table_and_no_others(cells: pd.DataFrame) -> None:
    assert unexplained(prose(KEPT / "README.md"), numbers_of_the_table(cells)) == []


@pytest.mark.parametrize("samples", [12, pytest.param(200, marks=pytest.mark.truth)])
def test_intervals_hold_planted_changes(script: ModuleType, samples: int) -> None:
    """At the probability that they name; those of one seed, which know nothing of other seeds, do so less often."""
    rows = pd.DataFrame(script.run(script.CELLS[0], samples)).set_index("interval")
    error = np.sqrt(HDI_PROB * (1 - HDI_PROB) / samples)
    assert rows.loc["over seeds and words", "words_like_these"].mean() == pytest.approx(HDI_PROB, abs=3 * error)
    assert rows.loc["over seeds alone", "these_words"].mean() == pytest.approx(HDI_PROB, abs=3 * error)
    assert rows.loc["one seed", "words_like_these"].mean() < HDI_PROB - 3 * error
