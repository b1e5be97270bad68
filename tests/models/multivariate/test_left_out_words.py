"""Densities of left-out words in closed form, against draws of fits of the table without them."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.models.densities import densities
from bayesbias.models.multivariate.left_out_words import left_out_words
from tests.models.test_list_tables import TABLES

# Standard errors of the draws whose densities are averaged.
ERRORS = 4.0


def with_an_odd_word(name: str) -> pd.DataFrame:
    """Return a table whose first attribute word is far nearer to the first group than all others are."""
    rows = TABLES[name].reset_index(drop=True)
    odd = (rows["attribute_word"] == rows["attribute_word"].iloc[0]) & (
        rows["protected_group"] == rows["protected_group"].iloc[0]
    )
    return rows.assign(cosine_distance=(rows["cosine_distance"] - 0.5 * odd).clip(lower=0.0))


def fit_of(rows: pd.DataFrame, seed: int, draws: int) -> xr.DataTree:
    return bb.fit(rows, draws=draws, random_seed=seed, progress=False)


@pytest.mark.parametrize("name", ["two groups", "three groups", "two lists a group", "no controls"])
def test_the_density_of_a_word_is_that_of_a_fit_without_it(name: str) -> None:
    rows = with_an_odd_word(name)
    data = model_data(rows)
    words = left_out_words(fit_of(rows, 1, 1000), data)
    assert words is not None
    moved = []
    for word in (0, len(data.attribute_words) - 1):
        log_density, khat = words.log_density(word)
        assert khat < 0.7
        refit = fit_of(rows[rows["attribute_word"] != data.attribute_words[word]], 2, 4000)
        of_draws = densities(refit, data, effects=False).of_words(word, word + 1)[0]
        weight = np.exp(of_draws - of_draws.max())
        error = weight.std() / weight.mean() / np.sqrt(len(weight))
        assert error < 0.1
        assert abs(log_density - np.log(weight.mean()) - of_draws.max()) < ERRORS * np.hypot(error, 0.03)
        moved.append(of_draws.mean() - densities(fit_of(rows, 3, 500), data).of_words(word, word + 1).mean())
    # The odd word matters: the fit with it expects it, that without it does not.
    assert moved[0] < min(-2.0, moved[1])


def test_a_word_that_is_alone_in_its_list_has_none() -> None:
    rows = TABLES["a list of one word"]
    data = model_data(rows)
    words = left_out_words(fit_of(rows, 1, 100), data)
    assert words is not None
    alone = int(np.flatnonzero(np.bincount(words.sample.list_of)[words.sample.list_of] == 1)[0])
    assert np.isnan(words.log_density(alone)).all()
    assert np.isfinite(words.log_density(alone + 1)).all()


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_other_models_and_lost_pairs_have_none() -> None:
    rows = TABLES["two groups"].reset_index(drop=True)
    other = bb.fit(rows, "crossed_per_list", draws=100, random_seed=1, progress=False)
    assert left_out_words(other, model_data(rows)) is None
    lost = rows.iloc[1:].reset_index(drop=True)
    assert left_out_words(fit_of(lost, 1, 50), model_data(lost)) is None
