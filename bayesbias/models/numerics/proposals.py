"""Independent draws from densities of a few numbers: rejection on a grid, and importance sampling around modes."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


GridLogDensity = Callable[..., np.ndarray]
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
KHAT_MAX = 0.7
_NU = 8.0
_SMALLEST_CURVATURE = 0.05
# Weights poorer than this are improved, in at most so many rounds.
_KHAT_GOOD = 0.6
_EFFICIENT = 0.2
_MOST_ROUNDS = 3
# Scale of a component fitted to weighted points, relative to theirs.
_WIDER = 1.3
# Fewer weights do not show the shape of their tail.
_FEWEST_IN_TAIL = 5


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
    log_density: GridLogDensity, box: Sequence[tuple[float, float]], *, draws: int, rng: np.random.Generator
) -> GridDraws:
    """Draw from a density of one or two numbers; the caller must check that the draws are `good`.

    The proposal is constant in each cell of a grid, and at least as high as the density there. A point from it is
    accepted with probability density / proposal (von Neumann's rejection). Accepted points are independent draws from
    the density itself: the grid affects how many points are tried, not where they fall. A density of two numbers on a
    thin curved ridge, which a grid cannot follow, is straightened first: the second number is counted from its best
    value given the first.

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
    log_density: GridLogDensity, box: Sequence[tuple[float, float]], *, draws: int, rng: np.random.Generator
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
    log_density: GridLogDensity, edges: list[np.ndarray], bound: np.ndarray, *, draws: int, rng: np.random.Generator
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


def _support(log_density: GridLogDensity, box: Sequence[tuple[float, float]]) -> list[np.ndarray]:
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


def _best_given(
    log_density: GridLogDensity, first: np.ndarray, span: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
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
    log_density: GridLogDensity, box: Sequence[tuple[float, float]]
) -> tuple[GridLogDensity, "CubicSpline", list[tuple[float, float]]]:
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


def _adapt(log_density: GridLogDensity, edges: list[np.ndarray]) -> list[np.ndarray]:
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


# Distances from the mode at which density and proposal are compared, in standard deviations along an axis.
_PROBES = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0])
# Of two modes, the lower counts if its density is above exp(-this) of the other's, and if they are this many standard
# deviations apart.
_LOWEST_MODE, _APART = 15.0, 3.0

LogDensity = Callable[[np.ndarray], np.ndarray]
"""Points, shape (points, coordinates) -> log density, shape (points,), up to a constant."""


@dataclass(frozen=True, eq=False)
class SplitStudent:
    """A split Student t distribution with `nu` degrees of freedom.

    Each part of the proposal for importance sampling (Geweke 1989) follows the skewness of the density: Student in
    every direction, with one scale to the left of the mode and one to the right along each axis of the inverse
    Hessian's Cholesky factor, wide enough that the density falls no more slowly along the axes. Weights are judged by
    the Pareto k-hat of Vehtari, Simpson, Gelman, Yao and Gabry (2024): up to 0.7 they can be trusted.

    `mode` (coordinates,); `factor` (coordinates, coordinates) is the lower Cholesky factor of the scale matrix; `left`
    and `right` (coordinates,) are scales on the two sides of the mode, along each column of `factor`.
    """

    mode: np.ndarray
    factor: np.ndarray
    left: np.ndarray
    right: np.ndarray
    nu: float = _NU

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws, shape (count, coordinates)."""
        z = rng.standard_normal((count, len(self.mode)))
        z *= np.where(z < 0, self.left, self.right)
        z /= np.sqrt(rng.chisquare(self.nu, count) / self.nu)[:, None]
        drawn: np.ndarray = self.mode + z @ self.factor.T
        return drawn

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Return the normalised log density at points, shape (points,)."""
        size = len(self.mode)
        u = np.linalg.solve(self.factor, (points - self.mode).T).T
        scale = np.where(u < 0, self.left, self.right)
        constant = gammaln((self.nu + size) / 2) - gammaln(self.nu / 2) - size / 2 * np.log(self.nu * np.pi)
        constant -= np.log(np.diag(self.factor)).sum()
        with np.errstate(over="ignore"):  # what overflows has no density
            kernel = (self.nu + size) / 2 * np.log1p(np.square(u / scale).sum(axis=-1) / self.nu)
        density: np.ndarray = constant - np.log(scale).sum(axis=-1) - kernel
        return density


@dataclass(frozen=True, eq=False)
class Mixture:
    """A proposal: split Student t distributions with equal shares."""

    parts: tuple[SplitStudent, ...]

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws, shape (count, coordinates)."""
        sizes = [len(share) for share in np.array_split(np.arange(count), len(self.parts))]
        return np.concatenate([part.draw(size, rng) for part, size in zip(self.parts, sizes, strict=True)])

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Return the log density at points, shape (points,)."""
        densities = np.stack([part.log_density(points) for part in self.parts])
        return np.asarray(logsumexp(densities, axis=0) - np.log(len(self.parts)))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points drawn from a proposal, shape (points, coordinates), and its log density there, shape (points,)."""

    proposal: Mixture
    points: np.ndarray
    log_density: np.ndarray

    @classmethod
    def drawn(cls, proposal: Mixture, count: int, rng: np.random.Generator) -> "Candidates":
        """Return so many points of a proposal."""
        points = proposal.draw(count, rng)
        return cls(proposal, points, proposal.log_density(points))

    def log_weights(self, log_density: LogDensity) -> np.ndarray:
        """Return the log weights of the points for a density, in blocks that fit in memory."""
        blocks = np.array_split(self.points, max(1, len(self.points) // 2000))
        return np.asarray(np.concatenate([log_density(block) for block in blocks]) - self.log_density)


@dataclass(frozen=True, eq=False)
class ImportanceDraws:
    """Draws resampled from weighted ones, and a report on their error.

    `points`, of shape (draws, coordinates), may hold a point more than once. `effective` is the effective sample size
    of the weights (Kish), `efficiency` its share of their number `tried`; `khat` is the Pareto k-hat of the weights.
    `proposal` is the one that the weighted points were drawn from.
    """

    points: np.ndarray
    efficiency: float
    effective: float
    khat: float
    tried: int
    proposal: Mixture


def fit_proposal(
    log_density: LogDensity, starts: Sequence[np.ndarray], *, limits: tuple[float, float], nu: float = _NU
) -> Mixture:
    """Return a proposal with a part for each mode that is found from the starts of the searches.

    `limits` are the lowest and highest value of every coordinate in these searches. `nu` are the degrees of freedom of
    each part: few for a density with long tails.
    """
    modes = [_mode(log_density, start, limits) for start in starts]
    heights = log_density(np.array(modes))
    order = np.argsort(-heights, kind="stable")
    parts: list[SplitStudent] = []
    for index in order[heights[order] > heights.max() - _LOWEST_MODE]:
        # Searches end at slightly different points, and more so where the density is flat.
        apart = [np.abs(np.linalg.solve(part.factor, modes[index] - part.mode)).max() for part in parts]
        if all(distance > _APART for distance in apart):
            parts.append(_around(log_density, modes[index], nu))
    return Mixture(tuple(parts))


def _mode(log_density: LogDensity, start: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    size = len(start)

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        step = 1e-5
        around = np.vstack([point, point + step * np.eye(size), point - step * np.eye(size)])
        values = log_density(around)
        return -values[0], -(values[1 : size + 1] - values[size + 1 :]) / (2 * step)

    mode: np.ndarray = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[limits] * size).x
    return mode


def _around(log_density: LogDensity, mode: np.ndarray, nu: float) -> SplitStudent:
    """Return the split Student t around a mode."""
    size = len(mode)
    curvature, axes = np.linalg.eigh(_hessian(log_density, mode))
    covariance = axes @ np.diag(1 / np.maximum(curvature, _SMALLEST_CURVATURE)) @ axes.T
    factor = np.linalg.cholesky(covariance)

    top = log_density(mode[None])[0]
    probes = [mode + side * _PROBES[:, None] * factor[:, axis] for axis in range(size) for side in (-1, 1)]
    fallen = np.maximum(top - log_density(np.concatenate(probes)), 1e-9).reshape(size, 2, -1)
    # A Normal of scale q falls by distance^2 / (2 q^2): the widest q that any probe requires.
    scales = np.clip((_PROBES / np.sqrt(2 * fallen)).max(axis=-1), 0.5, 8.0)
    return SplitStudent(mode, factor, scales[:, 0], scales[:, 1], nu)


def resample(log_density: LogDensity, proposal: Mixture, *, draws: int, rng: np.random.Generator) -> ImportanceDraws:
    """Weight draws of a proposal and resample them.

    Four points are weighted for each draw. If their weights are poor, components with the weighted mean and spread of
    the points are added to the proposal, and new points are weighted (population Monte Carlo; Cappe, Guillin, Marin and
    Robert 2004), a few times at most. The log weights are smoothed (PSIS), and points are resampled systematically, so
    that each is taken at most once more than its weight implies.
    """
    candidates = Candidates.drawn(proposal, 4 * draws, rng)
    log_weights = candidates.log_weights(log_density)
    smoothed, khat = pareto_smooth(log_weights)
    tried = len(candidates.points)
    for _ in range(_MOST_ROUNDS):
        if khat <= _KHAT_GOOD and efficiency_of(log_weights) >= _EFFICIENT:
            break
        proposal = Mixture((*proposal.parts, _fitted_to(candidates.points, smoothed, proposal.parts[0].nu)))
        candidates = Candidates.drawn(proposal, 8 * draws, rng)
        log_weights = candidates.log_weights(log_density)
        smoothed, khat = pareto_smooth(log_weights)
        tried += len(candidates.points)
    return _chosen(candidates, log_weights, smoothed, khat, draws, tried, rng)


def resample_from(
    candidates: Candidates, log_density: np.ndarray, *, draws: int, rng: np.random.Generator
) -> ImportanceDraws:
    """Resample points that were drawn before, given the log density there; poor weights are not improved."""
    log_weights = log_density - candidates.log_density
    smoothed, khat = pareto_smooth(log_weights)
    return _chosen(candidates, log_weights, smoothed, khat, draws, len(candidates.points), rng)


def _chosen(
    candidates: Candidates,
    log_weights: np.ndarray,
    smoothed: np.ndarray,
    khat: float,
    draws: int,
    tried: int,
    rng: np.random.Generator,
) -> ImportanceDraws:
    """Return points resampled systematically by their smoothed weights."""
    points, efficiency = candidates.points, efficiency_of(log_weights)
    cumulative = np.cumsum(np.exp(smoothed - smoothed.max()))
    target = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    chosen = np.minimum(np.searchsorted(cumulative, target), len(points) - 1)
    effective = efficiency * len(points)
    return ImportanceDraws(points[rng.permutation(chosen)], efficiency, effective, khat, tried, candidates.proposal)


def _fitted_to(points: np.ndarray, log_weights: np.ndarray, nu: float) -> SplitStudent:
    """Return a Student t with the weighted mean and covariance of points, slightly wider."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ points
    centered = points - mean
    covariance = (centered * weights[:, None]).T @ centered
    ridge = 1e-6 * np.trace(covariance) / len(mean)
    factor = np.linalg.cholesky(covariance + ridge * np.eye(len(mean)))
    return SplitStudent(mean, factor, np.full(len(mean), _WIDER), np.full(len(mean), _WIDER), nu)


def pareto_smooth(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Return Pareto-smoothed log weights, shape (draws,), and their k-hat."""
    smoothed, khat = pareto_smoothed(log_weights[None])
    return smoothed[0], float(khat[0])


def pareto_smoothed(log_weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Pareto-smoothed log weights of independent draws, and their k-hat, for each row of weights (rows, draws).

    The weights do not sum to 1. If the tail does not have the shape of a Pareto distribution, k-hat is not finite and
    the weights are those of plain importance sampling. Equal to ArviZ's ``psislw``, but computed for all rows at once.

    Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling; Zhang and Stephens (2009) for
    the fit of the Pareto distribution.
    """
    draws, size = log_weights.shape[1], tail_size(log_weights.shape[1])
    weight = log_weights - log_weights.max(axis=1, keepdims=True)
    place = np.argpartition(weight, draws - size - 1, axis=1)[:, draws - size - 1 :]
    cutoff = np.take_along_axis(weight, place[:, :1], axis=1)
    place = place[:, 1:]
    tail = np.take_along_axis(weight, place, axis=1)
    order = np.argsort(tail, axis=1)
    smooth, khat = smoothed_tail(np.take_along_axis(tail, order, axis=1), cutoff)
    np.put_along_axis(weight, np.take_along_axis(place, order, axis=1), smooth, axis=1)
    return weight, khat


def tail_size(draws: int, relative_efficiency: float = 1.0) -> int:
    """Return how many of the largest weights are smoothed; `relative_efficiency` is effective draws over all draws."""
    many = draws * relative_efficiency > 225
    return int(3 * np.sqrt(draws / relative_efficiency)) if many else draws // 5


def smoothed_tail(tail: np.ndarray, cutoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smoothed tails of log weights, and their k-hat; see `pareto_smoothed`.

    `tail` (rows, size) is sorted, with 0 at most, `cutoff` (rows, 1) is the largest log weight below it.
    """
    size = tail.shape[1]
    if size < _FEWEST_IN_TAIL:
        return tail, np.full(len(tail), np.inf)
    limit = np.exp(cutoff)
    khat, sigma = _fit_pareto(np.exp(tail) - limit)
    with np.errstate(invalid="ignore", divide="ignore"):
        k = np.where(khat == 0, 1e-12, khat)[:, None]
        quantile = np.expm1(-k * np.log1p(-np.arange(0.5, size) / size)) / k
        smooth = np.minimum(np.log(limit + sigma[:, None] * quantile), tail[:, -1:])
    return np.where(np.isfinite(khat)[:, None], smooth, tail), khat


def _fit_pareto(excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return k and sigma of a generalised Pareto distribution, k a little shrunk to 0.5; excess: (rows, size), sorted.

    NaN where the lowest quarter of a tail is constant.
    """
    size = excess.shape[1]
    grid = 30 + int(size**0.5)
    quartile = excess[:, int(size / 4 + 0.5) - 1]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        b = (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile[:, None]) + 1 / excess[:, -1:]
        if len(excess) < grid:  # the shorter loop
            k = np.stack([np.log1p(-np.outer(*row)).mean(axis=1) for row in zip(b, excess, strict=True)])
        else:
            k = np.stack([np.log1p(-b[:, [i]] * excess).mean(axis=1) for i in range(grid)], axis=1)
        profile = size * (np.log(-b / k) - k - 1)
        weight = np.exp(profile - profile.max(axis=1, keepdims=True))
        best = (b * weight).sum(axis=1) / weight.sum(axis=1)
        shape = np.log1p(-best[:, None] * excess).mean(axis=1)
        sigma = -shape / best
    alike = quartile <= excess[:, 0]
    return np.where(alike, np.nan, (size * shape + 5) / (size + 10)), sigma


def pareto_weights(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Return Pareto-smoothed weights, which sum to 1, and their k-hat."""
    with np.errstate(all="ignore"):
        smoothed, khat = pareto_smooth(log_weights)
    weights = np.exp(smoothed - smoothed.max())
    return weights / weights.sum(), khat


def importance_report(blocks: Sequence[ImportanceDraws]) -> dict[str, np.ndarray]:
    """Return a sampler's report on its own error: the worst of all blocks of parameters."""
    return {
        "importance_efficiency": np.array(min(block.efficiency for block in blocks)),
        "importance_ess": np.array(min(block.effective for block in blocks)),
        "pareto_khat": np.array(max(block.khat for block in blocks)),
        "points_weighted": np.array(sum(block.tried for block in blocks)),
    }


def poor_weights(khat: float, limit: float, of_what: str = "") -> str:
    """Return what is wrong with weights whose k-hat is above a limit."""
    return f"the importance weights{of_what} have a Pareto k-hat of {khat:.2f}, above {limit:g}"


def efficiency_of(log_weights: np.ndarray) -> float:
    """Return the effective sample size of weights over their number (Kish)."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / np.square(weights).sum() / len(weights))


def _hessian(log_density: LogDensity, mode: np.ndarray) -> np.ndarray:
    """Return minus the second derivatives of the log density, by central differences."""
    size, step = len(mode), 2e-3
    unit = step * np.eye(size)
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    around = np.array([mode + a * unit[i] + b * unit[j] for i, j in pairs for a, b in signs])
    values = log_density(around).reshape(-1, 4)
    hessian = np.empty((size, size))
    for (i, j), (pp, pm, mp, mm) in zip(pairs, values, strict=True):
        hessian[i, j] = hessian[j, i] = -(pp - pm - mp + mm) / (4 * step * step)
    return hessian
