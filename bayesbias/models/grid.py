"""Independent draws from a density of one number or two: a grid proposes, the density itself decides.

A proposal that is constant in each cell of a grid, and at least as high as the density there, is sampled; a
point is kept with probability density / proposal (von Neumann's rejection). What is kept is an independent
draw from the density itself: the grid decides how many points are tried, not where they fall.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LogDensity = Callable[..., np.ndarray]
"""One array a coordinate (broadcasting against each other) -> log density, up to a constant."""

# The grid ends where the density is exp(-DEPTH) of its highest value.
DEPTH = 30.0
_CELLS = {1: 128, 2: 48}
# A cell's bound is the highest density at its corners and its middle, raised by this much.
_SLACK = 0.05
_MOST_TRIED = 200


class ImproperDensityError(ValueError):
    """The density does not fall towards an edge of the widest box: it has no finite mass, or all of it there."""


@dataclass(frozen=True, eq=False)
class GridDraws:
    """Draws from a density, and what is known of their error.

    Parameters
    ----------
    points : array, shape (draws, coordinates)
        Independent draws.
    acceptance : float
        Share of the tried points that was kept.
    edge_mass : float
        Share of the mass that may lie beyond the grid, if the density falls there by a factor e a unit.
    excess : float
        Largest log(density / proposal) seen; above 0 the proposal was too low somewhere, by that much.
    """

    points: np.ndarray
    acceptance: float
    edge_mass: float
    excess: float


def sample_density(
    log_density: LogDensity, box: Sequence[tuple[float, float]], *, draws: int, rng: np.random.Generator
) -> GridDraws:
    """Draw from a density of one or two numbers.

    Parameters
    ----------
    log_density
        Takes one array a coordinate.
    box
        Lowest and highest value of each coordinate that could matter at all.
    draws
        How many.
    rng
        Source of randomness.

    Returns
    -------
    GridDraws

    Raises
    ------
    ImproperDensityError
        If the density does not fall to exp(-30) of its highest value inside the box.
    """
    edges = _adapt(log_density, support(log_density, box))
    corners = log_density(*_mesh(edges))
    middles = log_density(*_mesh([(edge[1:] + edge[:-1]) / 2 for edge in edges]))
    bound = np.maximum(_cell_max(corners), middles) + _SLACK
    mass = np.exp(bound - bound.max()) * _areas(edges)
    total = mass.sum()
    cumulative = np.cumsum(mass.ravel()) / total

    kept: list[np.ndarray] = []
    have, tried, excess = 0, 0, -np.inf
    while have < draws:
        attempt = int((draws - have) * 1.35) + 64
        # Cells in rising order are found faster; what is kept is put in random order at the end.
        cell = np.minimum(np.searchsorted(cumulative, np.sort(rng.random(attempt))), mass.size - 1)
        index = np.unravel_index(cell, mass.shape)
        point = [
            edge[at] + rng.random(attempt) * (edge[at + 1] - edge[at]) for edge, at in zip(edges, index, strict=True)
        ]
        ratio = log_density(*point) - bound[index]
        excess = max(excess, float(ratio.max()))
        accepted = np.stack(point, axis=-1)[-rng.standard_exponential(attempt) < ratio]
        kept.append(accepted)
        have += len(accepted)
        tried += attempt
        if tried > _MOST_TRIED * max(draws, 100):
            raise ImproperDensityError("hardly any point is kept: the density is not smooth enough for the grid")
    points = rng.permutation(np.concatenate(kept))[:draws]
    return GridDraws(points, have / tried, _edge_mass(corners, edges, mass, bound), excess)


def support(log_density: LogDensity, box: Sequence[tuple[float, float]]) -> list[np.ndarray]:
    """Return even edges over the part of the box where the density is above exp(-DEPTH) of its highest value."""
    cells = _CELLS[len(box)] // 2
    edges = [np.linspace(low, high, cells + 1) for low, high in box]
    for _ in range(16):
        values = log_density(*_mesh(edges))
        inside = values >= values.max() - DEPTH
        spans = [np.flatnonzero(inside.any(axis=_others(axis, values.ndim))) for axis in range(values.ndim)]
        narrowed = [
            (edge[max(span[0] - 1, 0)], edge[min(span[-1] + 1, cells)]) for edge, span in zip(edges, spans, strict=True)
        ]
        settled = all(new[1] - new[0] > 0.5 * (old[-1] - old[0]) for new, old in zip(narrowed, edges, strict=True))
        edges = [np.linspace(low, high, cells + 1) for low, high in narrowed]
        if settled:
            break
    _raise_if_open(log_density, edges, box)
    return [np.linspace(edge[0], edge[-1], 2 * cells + 1) for edge in edges]


def _raise_if_open(log_density: LogDensity, edges: list[np.ndarray], box: Sequence[tuple[float, float]]) -> None:
    """Raise if the part that matters reaches the end of the box."""
    reached = [
        (axis, side, limit)
        for axis, (edge, limits) in enumerate(zip(edges, box, strict=True))
        for side, limit in zip((0, -1), limits, strict=True)
        if edge[side] == limit
    ]
    values = log_density(*_mesh(edges)) if reached else None
    for axis, side, limit in reached:
        if values is not None and np.take(values, side, axis=axis).max() > values.max() - DEPTH / 2:
            raise ImproperDensityError(f"the density does not fall towards {limit:g} in coordinate {axis}")


def _adapt(log_density: LogDensity, edges: list[np.ndarray]) -> list[np.ndarray]:
    """Move the edges to where the mass is: three quarters of the cells by mass, one quarter by width."""
    for _ in range(3):
        corners = log_density(*_mesh(edges))
        mass = np.exp(_cell_max(corners) - corners.max()) * _areas(edges)
        moved = []
        for axis, edge in enumerate(edges):
            along = mass.sum(axis=_others(axis, mass.ndim))
            share = 0.75 * along / along.sum() + 0.25 * np.diff(edge) / (edge[-1] - edge[0])
            moved.append(np.interp(np.linspace(0, 1, len(edge)), np.append(0, np.cumsum(share)), edge))
        edges = moved
    return edges


def _mesh(coordinates: Sequence[np.ndarray]) -> list[np.ndarray]:
    return list(np.meshgrid(*coordinates, indexing="ij", sparse=True))


def _others(axis: int, ndim: int) -> tuple[int, ...]:
    return tuple(other for other in range(ndim) if other != axis)


def _areas(edges: Sequence[np.ndarray]) -> np.ndarray:
    area = np.ones(())
    for edge in edges:
        area = area[..., None] * np.diff(edge)
    return area


def _cell_max(corners: np.ndarray) -> np.ndarray:
    """Return the highest corner of each cell."""
    for axis in range(corners.ndim):
        lower = np.take(corners, range(corners.shape[axis] - 1), axis=axis)
        upper = np.take(corners, range(1, corners.shape[axis]), axis=axis)
        corners = np.maximum(lower, upper)
    return corners


def _edge_mass(corners: np.ndarray, edges: Sequence[np.ndarray], mass: np.ndarray, bound: np.ndarray) -> float:
    """Return the density on the grid's outer faces, times a depth of one unit, as a share of the whole mass."""
    beyond = 0.0
    for axis in range(len(edges)):
        widths = _areas([edge for other, edge in enumerate(edges) if other != axis])
        for side in (0, -1):
            face = np.take(corners, side, axis=axis)
            beyond += float((np.exp(_cell_max(face) - bound.max()) * widths).sum())
    return beyond / float(mass.sum())
