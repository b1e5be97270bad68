"""One row of numbers a quantity: against plain NumPy on draws whose distribution is known."""

import numpy as np
import pytest
import xarray as xr

from bayesbias.errors import ArgumentError, ReportError
from bayesbias.estimates import ESTIMATE_COLUMNS, check_baseline, estimates, most_effective

DRAWS = xr.DataArray(
    np.random.default_rng(1).normal([0.1, 0.5], [0.01, 0.2], (4, 5000, 2)),
    dims=("chain", "draw", "word"),
    coords={"word": ["he", "she"]},
)


def test_rows_are_those_of_the_draws() -> None:
    frame = estimates(DRAWS, hdi_prob=0.5)
    assert list(frame) == ["word", *ESTIMATE_COLUMNS]
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


def test_quantities_without_dims_have_one_row() -> None:
    frame = estimates(DRAWS.sel(word="he", drop=True))
    assert frame.shape == (1, len(ESTIMATE_COLUMNS))
    assert frame["mean"].item() == pytest.approx(float(DRAWS.sel(word="he").mean()))


def test_draws_are_not_worth_more_than_their_weights() -> None:
    frame = estimates(DRAWS, most=123.0)
    assert (frame[["ess_bulk", "ess_tail"]] == 123.0).all(axis=None)
    stats = xr.Dataset({"importance_ess": 123.0})
    assert most_effective(xr.DataTree.from_dict({"/sample_stats": stats})) == 123.0
    assert most_effective(xr.DataTree.from_dict({"/sample_stats": xr.Dataset()})) == np.inf


def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(ArgumentError, match="hdi_prob=89"):
        estimates(DRAWS, hdi_prob=89)
    with pytest.raises(ReportError, match="did you mean 'neutral'"):
        check_baseline("netral", ("associated", "neutral"), "table")
    with pytest.raises(ReportError, match="nothing to compare"):
        check_baseline("associated", ("associated",), "fit")
