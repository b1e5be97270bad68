"""What `validation/gate` keeps: the text shows the tables, and the numbers of the text are theirs."""

from pathlib import Path

import pandas as pd
import pytest

from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "gate"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"
TEXT = (KEPT / "README.md").read_text(encoding="utf-8")


def test_the_text_shows_the_tables() -> None:
    rows, worse = (pd.read_csv(KEPT / name) for name in ("gate.csv", "worse.csv"))
    assert load_script("gate", "gate").markdown(rows) in TEXT
    outside, inside = rows[rows["inside"] == -0.01], rows[rows["inside"] == 0.01]
    assert f"{outside['passes'].mean():.3f} of the tables pass wrongly" in TEXT
    assert f"{inside['fails'].mean():.3f} fail wrongly" in TEXT
    assert f"{max(outside['passes'].max(), inside['fails'].max()):.3f} at most" in TEXT
    called_worse = worse["probability_worse"] >= 0.89
    assert f"{len(worse):,} pairs of tables with the same truth {called_worse.mean():.3f}" in TEXT
    assert f"at most {called_worse.groupby(worse['cell']).mean().max():.2f} in a cell" in TEXT


def test_errors_are_below_those_of_an_exact_interval() -> None:
    rows = pd.read_csv(KEPT / "gate.csv")
    assert rows.loc[rows["inside"] < 0, "passes"].max() <= 0.055
    assert rows.loc[rows["inside"] > 0, "fails"].max() <= 0.055


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_script_in_short() -> None:
    lists: Path = EMBEDDINGS.parent / "wordlists"
    rows, worse = load_script("gate", "gate").run_cell(18, EMBEDDINGS, lists, 12)
    by_distance = rows.set_index("inside")
    assert by_distance.loc[4, "passes"] > 0.6
    assert by_distance.loc[by_distance.index > 0, "fails"].max() < 0.35
    assert len(worse) == 6
