"""One row of numbers a quantity: against plain NumPy on draws whose distribution is known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesbias.errors import ArgumentError, ReportError
from bayesbias.estimates.intervals import DIAGNOSTICS, MOMENTS, check_baseline, estimates, independent_draws
from tests.refusals import refusals

DRAWS = xr.DataArray(
    np.random.default_rng(1).normal([0.1, 0.5], [0.01, 0.2], (4, 5000, 2)),
    dims=("chain", "draw", "word"),
    coords={"word": ["he", "she"]},
)


def test_rows_are_those_of_the_draws() -> None:
    frame = estimates(DRAWS, hdi_prob=0.5)
    assert list(frame) == ["word", *MOMENTS, *DIAGNOSTICS]
    assert list(frame["word"]) == ["he", "she"]
    flat = DRAWS.to_numpy().reshape(-1, 2)
    np.testing.assert_allclose(frame["mean"], flat.mean(axis=0))
    np.testing.assert_allclose(frame["sd"], flat.std(axis=0, ddof=1))
    inside = (flat > frame["hdi_low"].to_numpy()) & (flat < frame["hdi_high"].to_numpy())
    np.testing.assert_allclose(inside.mean(axis=0), 0.5, atol=0.001)
    # The shortest interval of a Normal distribution is its middle one, 2 x 0.6745 sds wide, up to Monte Carlo error.
    np.testing.assert_allclose(frame["hdi_high"] - frame["hdi_low"], 1.349 * flat.std(axis=0), rtol=0.05)
    np.testing.assert_allclose(frame["r_hat"], 1, atol=0.01)
    assert (frame["ess_bulk"] > 15_000).all()


def test_independent_draws_have_no_chains_that_could_disagree() -> None:
    chains, independent = estimates(DRAWS), estimates(DRAWS, independent=1234.0)
    assert list(independent) == [name for name in chains if name != "r_hat"]
    assert (independent[["ess_bulk", "ess_tail"]] == 1234.0).all(axis=None)
    pd.testing.assert_frame_equal(independent[list(MOMENTS)], chains[list(MOMENTS)])


def test_quantities_without_dims_have_one_row() -> None:
    frame = estimates(DRAWS.sel(word="he", drop=True))
    assert frame.shape == (1, len([*MOMENTS, *DIAGNOSTICS]))
    assert frame["mean"].item() == pytest.approx(float(DRAWS.sel(word="he").mean()))


def test_draws_are_worth_what_their_weights_are_worth() -> None:
    stats = xr.Dataset({"importance_ess": 123.0})
    assert independent_draws(xr.DataTree.from_dict({"/sample_stats": stats})) == 123.0
    drawn = {"/sample_stats": xr.Dataset(), "/posterior": DRAWS.to_dataset(name="word_mean")}
    assert independent_draws(xr.DataTree.from_dict(drawn)) is None
    exact = {**drawn, "/sample_stats": xr.Dataset({"edge_mass": 0.0})}
    assert independent_draws(xr.DataTree.from_dict(exact)) == DRAWS.sizes["chain"] * DRAWS.sizes["draw"]


test_refusals = refusals(
    (lambda: estimates(DRAWS, hdi_prob=89), ArgumentError, "hdi_prob=89"),
    (lambda: check_baseline("netral", ("associated", "neutral"), "table"), ReportError, r"'netral'.*'neutral'"),
    (lambda: check_baseline("associated", ("associated",), "fit"), ReportError, "nothing"),
)
