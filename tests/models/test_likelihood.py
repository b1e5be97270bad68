"""Log densities against SciPy's, and importance weights against ArviZ's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.densities import densities
from bayesbias.models.likelihood import psis_loo
from tests.models.tables import crossed_table


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return crossed_table(0.06)


@pytest.mark.parametrize("draws", [100, 4000])
@pytest.mark.parametrize("efficiency", [1.0, 0.6])
def test_psis_is_arvizs(draws: int, efficiency: float) -> None:
    from arviz_stats.base.array import array_stats

    rng = np.random.default_rng(2)
    spread = rng.uniform(0.1, 2, (60, 1))
    log_density = -spread * rng.standard_normal((60, draws)) ** 2 + spread * rng.standard_normal((60, draws))
    elpd, khat = psis_loo(log_density, relative_efficiency=efficiency)
    theirs = array_stats.loo(log_density, chain_axis=None, r_eff=efficiency)
    np.testing.assert_allclose(elpd, theirs[0], rtol=1e-9)
    np.testing.assert_allclose(khat, theirs[1], atol=1e-9)


def test_duplicates_that_were_kept(small: pd.DataFrame) -> None:
    data = model_data(small)
    twice = replace(
        data,
        **{name: np.tile(getattr(data, name), 2) for name in ("distance", "protected", "connection", "attribute")},
    )
    fitted = bb.fit(small, "hierarchical", draws=10, random_seed=1)
    once, both = (densities(fitted, rows).of_words(range(24)) for rows in (data, twice))
    np.testing.assert_allclose(both, 2 * once)
