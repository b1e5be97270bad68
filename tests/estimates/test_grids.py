"""Draws of nodes have the frequencies of their densities."""

import numpy as np

from bayesbias.estimates.grids import draw_nodes, draw_on_grid


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
