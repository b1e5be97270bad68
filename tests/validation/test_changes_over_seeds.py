"""`validation/changes_over_seeds`: intervals of changes over seeds hold planted changes; the text shows the table."""

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


def test_readme_shows_the_table(script: ModuleType, cells: pd.DataFrame) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(cells).splitlines():
        assert line in text


def numbers_of_the_table(cells: pd.DataFrame) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    error = binomial_error(HDI_PROB, run["samples"])
    yield f"Each cell has {run['samples']} studies: a coverage has an error of {error:.2f}"
    names = ("over seeds and words", "over seeds alone", "one seed")
    both, alone, one = (cells[cells["interval"] == name] for name in names)
    for rows, truth in ((both, "words_like_these"), (alone, "these_words")):
        yield f"in {rows[truth].min():.2f} to {rows[truth].max():.2f} of the studies"
    yield f"{(HDI_PROB - alone['these_words'].min()) / error:.1f} errors below 89 %"
    most = cells["word_sd"].max()
    (missed,) = alone.loc[alone["word_sd"] == most, "words_like_these"]
    yield f"(word sd {most:g}), that of words like these in {missed:.2f}"
    apart = one[one["seed_sd"] == one["seed_sd"].max()]
    low, high = apart["words_like_these"].min(), apart["words_like_these"].max()
    yield f"(seed sd {one['seed_sd'].max():g}), it contains the change of words like these in {low:.2f} to {high:.2f}"


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
