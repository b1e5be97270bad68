"""Draws of nodes of a grid, given log densities at the nodes."""

import numpy as np

from bayesbias.base.arrays import Floats


def draw_nodes(log_density: Floats, rng: np.random.Generator, draws: int | None = None) -> np.ndarray:
    """Draw positions of nodes by inversion of their distribution function.

    Parameters
    ----------
    log_density : array, shape (..., nodes)
        Log densities at the nodes, each row up to a constant. All nodes weigh the same: add the logarithms of their
        widths where these differ.
    draws
        Number of draws from a single row, shape (nodes,). By default, one draw of each row.

    Returns
    -------
    Positions, shape (draws,) or that of `log_density` without its last axis.

    Examples
    --------
    >>> nodes = draw_nodes(np.log([0.2, 0.8]), np.random.default_rng(1), 10_000)
    >>> float(nodes.mean().round(1))
    0.8
    >>> draw_nodes(np.array([[0.0, -1000.0], [-1000.0, 0.0]]), np.random.default_rng(1))
    array([0, 1])
    """
    cumulative = np.exp(log_density - log_density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    last = cumulative.shape[-1] - 1
    if draws is not None:
        return np.asarray(np.searchsorted(cumulative, rng.random(draws) * cumulative[-1]).clip(max=last))
    target = rng.random(log_density.shape[:-1])[..., None] * cumulative[..., -1:]
    return np.asarray(np.minimum((cumulative < target).sum(axis=-1), last))


def draw_on_grid(grid: Floats, log_density: Floats, rng: np.random.Generator) -> Floats:
    """Draw a number for each row of log densities at the nodes of a geometric grid, evenly inside the nodes' cells.

    The densities are those of the logarithms of the numbers.
    """
    nodes = draw_nodes(log_density, rng)
    values: Floats = grid[nodes] * np.exp(np.log(grid[1] / grid[0]) * (rng.random(nodes.shape) - 0.5))
    return values
