"""One row of numbers a quantity: against plain NumPy on draws whose distribution is known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from bayesbias.errors import ArgumentError, ReportError
from bayesbias.estimates.intervals import (
    DIAGNOSTICS,
    MOMENTS,
    check_baseline,
    draw_nodes,
    draw_on_grid,
    estimates,
    independent_draws,
    student_scales,
    welch_freedom,
)
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


def test_nodes_are_drawn_as_often_as_their_densities_say() -> None:
    shares = np.array([0.5, 0.0, 0.3, 0.2])
    with np.errstate(divide="ignore"):
        log_density = np.log(shares) + 700  # up to a constant
    of_one_row = draw_nodes(log_density, np.random.default_rng(1), 40_000)
    of_each_row = draw_nodes(np.tile(log_density, (40_000, 1)), np.random.default_rng(2))
    for nodes in (of_one_row, of_each_row):
        assert np.abs(np.bincount(nodes, minlength=4) / 40_000 - shares).max() < 4 * 0.5 / 200


def test_numbers_fill_the_cells_of_a_geometric_grid() -> None:
    grid = np.array([1.0, 2.0, 4.0])
    log_density = np.broadcast_to(np.array([0.0, 0.0, -1e3]), (20_000, 3))
    logs = np.log2(draw_on_grid(grid, log_density, np.random.default_rng(3)))
    assert logs.min() > -0.5
    assert logs.max() < 1.5
    assert abs(logs.mean() - 0.5) < 4 * np.sqrt(1 / 3 / 20_000)


def test_they_are_those_of_scipys_t_test_of_unequal_variances() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.normal(0, sd, size) for sd, size in ((1.0, 5), (3.0, 9))]
    variances = np.array([[stats.sem(sample) ** 2] for sample in samples])
    expected = stats.ttest_ind(*samples, equal_var=False).df
    assert welch_freedom(variances, [[4.0], [8.0]]) == pytest.approx(expected)


def test_lists_of_several_sizes_have_freedom_between_that_of_one_and_of_all() -> None:
    variances = np.array([[1.0, 1e6, 0.0, 0.0], [1.0, 1.0, 2.0, 0.0]])
    freedom = welch_freedom(variances, np.array([[3.0], [9.0]]))
    np.testing.assert_allclose(freedom, [4 / (1 / 3 + 1 / 9), 3, 9, 3], rtol=1e-5)


def test_scaled_normal_draws_are_students_t() -> None:
    rng = np.random.default_rng(1)
    freedom = np.array([3.0, 20.0])
    draws = rng.standard_normal((200_000, 2)) * student_scales(rng.random(200_000), freedom)
    levels = np.array([0.055, 0.25, 0.75, 0.945])
    np.testing.assert_allclose(np.quantile(draws, levels, axis=0), stats.t(freedom).ppf(levels[:, None]), atol=0.03)
