"""The figure of contrasts over seeds: one line a seed and one over all."""

import xarray as xr

import bayesbias as bb


def test_lines_and_labels(short_fit: xr.DataTree) -> None:
    comparison = bb.compare_trainings({1: short_fit, 2: short_fit}, level="word", random_seed=1)
    axes = bb.plots.plot_trainings(comparison).axes[0]
    rows = min(len(comparison.contrasts), 40)
    assert len(axes.get_yticklabels()) == rows
    assert len(axes.lines) == 1 + 2 * 3 * rows
