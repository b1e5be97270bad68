"""Independent draws from a density of one or two numbers, by rejection from a proposal on a grid.

The proposal is constant in each cell of a grid, and at least as high as the density there. A point from it is accepted
with probability density / proposal (von Neumann's rejection). Accepted points are independent draws from the density
itself: the grid affects how many points are tried, not where they fall. A density of two numbers on a thin curved
ridge, which a grid cannot follow, is straightened first: the second number is counted from its best value given the
first.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

LogDensity = Callable[..., np.ndarray]
"""One array a coordinate (broadcasting against each other) -> log density, up to a constant."""

# The grid ends where the density is exp(-DEPTH) of its maximum.
DEPTH = 30.0
_CELLS = {1: 128, 2: 48}
# A cell's bound is the highest density at its corners and its middle, raised by this much.
_SLACK = 0.05
_MOST_TRIED = 200
# The furthest that a search may leave its box.
_BEYOND = 150.0
# Draws are good if less than this share of the mass may lie beyond the grid, and log(density / bound) is below this.
EDGE_MASS_MAX = 1e-4
EXCESS_MAX = 0.01


class ImproperDensityError(ValueError):
    """The density does not fall towards an edge of the widest box, so that it has no finite mass."""


@dataclass(frozen=True, eq=False)
class GridDraws:
    """Independent draws from a density, `points` of shape (draws, coordinates), and a report on their error.

    `acceptance` is the share of the tried points that was accepted; `edge_mass` the largest share of the mass beyond
    the grid, if the density falls there by a factor e a unit; `excess` the largest log(density / proposal) seen: the
    proposal was too low somewhere if it is above 0.
    """

    points: np.ndarray
    acceptance: float
    edge_mass: float
    excess: float

    @property
    def good(self) -> bool:
        """Whether the grid covers the density, and the proposal lies above it."""
        return self.edge_mass < EDGE_MASS_MAX and self.excess < EXCESS_MAX


def sample_density(
    log_density: LogDensity, box: Sequence[tuple[float, float]], *, draws: int, rng: np.random.Generator
) -> GridDraws:
    """Draw from a density of one or two numbers; the caller must check that the draws are `good`.

    `log_density` takes one array a coordinate; `box` is the lowest and highest value of each coordinate in the first
    search. Raises `ImproperDensityError` if the density does not fall to exp(-30) of its maximum in or around the box.
    """
    drawn = _sample(log_density, box, draws=draws, rng=rng)
    if len(box) == 2 and (drawn is None or not drawn.good):
        straight, ridge, around = _straightened(log_density, box)
        again = _sample(straight, around, draws=draws, rng=rng)
        if again is not None:
            again.points[:, 1] += ridge(again.points[:, 0])
            drawn = again
    if drawn is None:
        raise ImproperDensityError("hardly any point is accepted: the density is not smooth enough for the grid")
    return drawn


def _sample(
    log_density: LogDensity, box: Sequence[tuple[float, float]], *, draws: int, rng: np.random.Generator
) -> GridDraws | None:
    """Return draws, or None if hardly any point is accepted."""
    edges = _adapt(log_density, _support(log_density, box))
    corners = log_density(*_mesh(edges))
    middles = log_density(*_mesh([(edge[1:] + edge[:-1]) / 2 for edge in edges]))
    bound = np.maximum(_cell_max(corners), middles) + _SLACK
    drawn = _reject(log_density, edges, bound, draws=draws, rng=rng)
    if drawn is not None and drawn[2] >= EXCESS_MAX:
        bound += drawn[2] + _SLACK
        drawn = _reject(log_density, edges, bound, draws=draws, rng=rng)
    if drawn is None:
        return None
    points, acceptance, excess = drawn
    return GridDraws(points, acceptance, _edge_mass(corners, edges, bound), excess)


def _reject(
    log_density: LogDensity, edges: list[np.ndarray], bound: np.ndarray, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float, float] | None:
    """Return points, the share of the tried ones that was accepted, and the largest log(density / bound)."""
    mass = np.exp(bound - bound.max()) * _areas(edges)
    total = mass.sum()
    cumulative = np.cumsum(mass.ravel()) / total

    batches: list[np.ndarray] = []
    have, tried, excess = 0, 0, -np.inf
    while have < draws:
        attempt = int((draws - have) * 1.35) + 64
        # Cells in rising order are found faster; accepted points are put in random order at the end.
        cell = np.minimum(np.searchsorted(cumulative, np.sort(rng.random(attempt))), mass.size - 1)
        index = np.unravel_index(cell, mass.shape)
        point = [
            edge[cells] + rng.random(attempt) * (edge[cells + 1] - edge[cells])
            for edge, cells in zip(edges, index, strict=True)
        ]
        ratio = log_density(*point) - bound[index]
        excess = max(excess, float(ratio.max()))
        accepted = np.stack(point, axis=-1)[-rng.standard_exponential(attempt) < ratio]
        batches.append(accepted)
        have += len(accepted)
        tried += attempt
        if tried > _MOST_TRIED * max(draws, 100):
            return None
    points = rng.permutation(np.concatenate(batches))[:draws]
    return points, have / tried, excess


def _support(log_density: LogDensity, box: Sequence[tuple[float, float]]) -> list[np.ndarray]:
    """Return even edges over the region where the density is above exp(-DEPTH) of its maximum.

    The search narrows the box to that region, and widens it again on every side on which the density is still high: a
    coarse grid may miss a part at first. Raises `ImproperDensityError` if the density is still high far outside.
    """
    cells = _CELLS[len(box)] // 2
    ends = [(float(low), float(high)) for low, high in box]
    limits = [(low - _BEYOND, high + _BEYOND) for low, high in ends]
    for _ in range(60):
        edges = [np.linspace(low, high, cells + 1) for low, high in ends]
        values = log_density(*_mesh(edges))
        inside = values >= values.max() - DEPTH
        moved, settled = [], True
        for axis, (edge, limit) in enumerate(zip(edges, limits, strict=True)):
            span = np.flatnonzero(inside.any(axis=_others(axis, values.ndim)))
            width, step = edge[-1] - edge[0], edge[1] - edge[0]
            low = edge[span[0]] - (width if span[0] == 0 else step)
            high = edge[span[-1]] + (width if span[-1] == cells else step)
            low, high = max(low, limit[0]), min(high, limit[1])
            for open_side, end, towards in ((span[0] == 0, edge[0], limit[0]), (span[-1] == cells, edge[-1], limit[1])):
                if open_side and end == towards:
                    raise ImproperDensityError(f"the density does not fall towards {towards:g} in coordinate {axis}")
            settled &= span[0] > 0 and span[-1] < cells and high - low > 0.5 * width
            moved.append((low, high))
        ends = moved
        if settled:
            break
    return [np.linspace(low, high, 2 * cells + 1) for low, high in ends]


def _best_given(log_density: LogDensity, first: np.ndarray, span: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each value of the first coordinate, the best second one within a span, and the density there."""
    rows = np.arange(len(first))
    places = np.broadcast_to(np.linspace(*span, 200), (len(first), 200))
    while True:
        values = log_density(first[:, None], places)
        best = values.argmax(axis=1)
        step = places[0, 1] - places[0, 0]
        if step < 1e-7:
            return places[rows, best], values[rows, best]
        places = places[rows, best][:, None] + np.linspace(-step, step, 21)


def _straightened(
    log_density: LogDensity, box: Sequence[tuple[float, float]]
) -> tuple[LogDensity, "CubicSpline", list[tuple[float, float]]]:
    """Return the density with its second coordinate counted from its ridge, the ridge, and where to search."""
    from scipy.interpolate import CubicSpline

    (low, high), span = box

    def profile(first: np.ndarray) -> np.ndarray:
        return _best_given(log_density, first, span)[1]

    nodes = _support(profile, [(low, high)])[0]
    nodes = np.linspace(nodes[0], nodes[-1], 500)
    ridge = CubicSpline(nodes, _best_given(log_density, nodes, span)[0])

    def straight(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return log_density(first, second + ridge(np.clip(first, nodes[0], nodes[-1])))

    return straight, ridge, [(nodes[0], nodes[-1]), (-1.0, 1.0)]


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
    """Return the area of each cell."""
    return np.asarray(functools.reduce(np.multiply.outer, map(np.diff, edges), np.ones(())))


def _cell_max(corners: np.ndarray) -> np.ndarray:
    """Return the highest corner of each cell."""
    cells = np.lib.stride_tricks.sliding_window_view(corners, (2,) * corners.ndim)
    return np.asarray(cells.max(axis=tuple(range(corners.ndim, 2 * corners.ndim))))


def _edge_mass(corners: np.ndarray, edges: Sequence[np.ndarray], bound: np.ndarray) -> float:
    """Return the density on the grid's outer faces, times a depth of one unit, as a share of the whole mass."""
    beyond = 0.0
    for axis in range(len(edges)):
        widths = _areas([edge for other, edge in enumerate(edges) if other != axis])
        for side in (0, -1):
            face = np.take(corners, side, axis=axis)
            beyond += float((np.exp(_cell_max(face) - bound.max()) * widths).sum())
    return min(1.0, beyond / float((np.exp(bound - bound.max()) * _areas(edges)).sum()))
