"""What `validation/real_gaps` keeps: the text shows the tables, and the script runs."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "real_gaps"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("real_gaps", "real_gaps")


@pytest.mark.parametrize("name", ["cells.csv", "others.csv"])
def test_readme_shows_the_tables(script: ModuleType, name: str) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for line in script.markdown(pd.read_csv(KEPT / name)).splitlines():
        assert line in text


def test_gaps_weigh_the_other_lists_alike(script: ModuleType) -> None:
    means = np.array([[0.9, 1.0, 1.2], [0.8, 0.7, 1.0]])
    np.testing.assert_allclose(script.gaps(means, np.array([0, 2])), [0.9 - 1.1, 1.0 - 0.75])


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("glove", "pc2", 0.5, 2, 3, 4, 0)
    rows = script.run_cell(cell, EMBEDDINGS, 12, ["list_means"])
    table = script.summarise(rows).set_index(["method", "level"])
    assert set(table.index) == {
        *(("plain_t", level) for level in ("these_words", "word")),
        *(("list_means", level) for level in script.LEVELS),
    }
    these = table.loc[("list_means", "these_words")]
    assert these["coverage"] > 0.6
    assert these["plain_outside"] == 0
    assert these["error_over_plain"] == pytest.approx(1, abs=0.1)
