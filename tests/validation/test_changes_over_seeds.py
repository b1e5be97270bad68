"""`validation/changes_over_seeds`: intervals of changes over seeds hold planted changes."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.checks import HDI_PROB
from tests.validation.scripts import load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("changes_over_seeds", "changes_over_seeds")


@pytest.mark.parametrize("samples", [12, pytest.param(200, marks=pytest.mark.truth)])
def test_intervals_hold_planted_changes(script: ModuleType, samples: int) -> None:
    """At the probability that they name; those of one seed, which know nothing of other seeds, do so less often."""
    rows = pd.DataFrame(script.run(script.CELLS[0], samples)).set_index("interval")
    error = np.sqrt(HDI_PROB * (1 - HDI_PROB) / samples)
    assert rows.loc["over seeds and words", "words_like_these"].mean() == pytest.approx(HDI_PROB, abs=3 * error)
    assert rows.loc["over seeds alone", "these_words"].mean() == pytest.approx(HDI_PROB, abs=3 * error)
    assert rows.loc["one seed", "words_like_these"].mean() < HDI_PROB - 3 * error
