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
    cells = pd.read_csv(KEPT / name)
    parts = [cells]
    if name == "cells.csv":
        parts = [cells[~script.unequal(cells)], cells[script.unequal(cells)]]
    for part in parts:
        for line in script.markdown(part).splitlines():
            assert line in text


def test_gaps_weigh_the_other_lists_alike(script: ModuleType) -> None:
    means = np.array([[0.9, 1.0, 1.2], [0.8, 0.7, 1.0]])
    np.testing.assert_allclose(script.gaps(means, np.array([0, 2])), [0.9 - 1.1, 1.0 - 0.75])


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_script_in_short(script: ModuleType, tmp_path: Path) -> None:
    cell = script.Cell("glove", "pc2", 0.5, 2, 3, 4, 0)
    rows = script.run_cell(cell, EMBEDDINGS, EMBEDDINGS.parent / "wordlists", 12, ["multivariate"])
    table = script.summarise(rows).set_index(["method", "level"])
    assert set(table.index) == {
        *(("plain_t", level) for level in ("these_words", "word")),
        *(("multivariate", level) for level in script.LEVELS),
    }
    these = table.loc[("multivariate", "these_words")]
    assert these["coverage"] > 0.6
    assert these["plain_outside"] == 0
    assert these["error_over_plain"] == pytest.approx(1, abs=0.1)


def test_what_the_text_says_of_the_worst_cells(script: ModuleType) -> None:
    cells = pd.read_csv(KEPT / "cells.csv")
    table = cells[~script.unequal(cells)]
    keys = ["vectors", "axis", "noise", "groups", "words", "attributes", "controls", "gap"]
    by_method = {
        name: part.set_index(["level", *keys]).sort_index() for name, part in table.groupby("method", sort=False)
    }
    own, plain = by_method["multivariate"], by_method["plain_t"]
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert f"({own.loc['word', 'error_over_plain'].max():.2f} in the worst cell)" in text
    behind = (plain.loc["these_words", "claims"] - own.loc["these_words", "claims"]).max()
    assert f"{100 * behind:.0f} points below in the worst cell" in text
    bias = own["bias_in_sd"].abs()
    assert f"at most {bias.max():.2f} posterior sds in a cell, {bias.loc['these_words'].mean():.2f} on average" in text
    of_15 = own.loc["population"].query("words == 15")["sd_over_error"].mean()
    assert f"With 15 words per group the ratio is {of_15:.2f}." in text
    guide = " ".join((VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8").split())
    coverage = (100 * own["coverage"].groupby("level").mean()).round().astype(int)
    assert f"{coverage['these_words']} % of its intervals of these words contain the truth" in guide
    assert f"{coverage['word']} % of those of single words, and {coverage['population']} % of those of words" in guide


def test_what_the_text_says_of_unequal_lists(script: ModuleType) -> None:
    cells = pd.read_csv(KEPT / "cells.csv")
    these = cells[script.unequal(cells) & (cells["level"] == "these_words")]
    text = " ".join((KEPT / "README.md").read_text(encoding="utf-8").split())
    both = (these["first"] > 0) & (these["spread"] > 1)
    own = these["method"] == "multivariate"
    assert f"hold the truth in {these[own & ~both]['coverage'].min():.2f} of the cases and more" in text
    by_spread = these[both].pivot_table(index="spread", columns="method", values="coverage")
    two, three = by_spread.loc[2.0], by_spread.loc[3.0]
    assert f"in {two['multivariate']:.2f} ({two['plain_t']:.2f} with `plain_t`)" in text
    assert f"in {three['multivariate']:.2f} ({three['plain_t']:.2f})" in text
