"""The posterior of a contrast as an estimate, from weighted Normals or from draws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from bayesbias.estimates.intervals import contrast_name, shortest_interval, shortest_intervals, shortest_quantiles
from bayesbias.models.data import ModelData, attribute_lists
from bayesbias.models.spec import ModelSpec

# Consecutive batches of draws, whose differences show the Monte Carlo error.
BATCHES = 20
# With more patterns, as from rows missing at random, collapsing gains nothing.
MOST_PATTERNS = 60


@dataclass(frozen=True, eq=False)
class ContrastEstimate:
    """The posterior of one contrast.

    `mean`, `sd`, `low` and `high` are the moments and the ends of the highest posterior density interval. `below` is
    the probability of a negative contrast, `influence` the weighted deviation of each importance point from `mean`
    (None for draws), `standard_error` the Monte Carlo standard error of `mean`, and `end_error` that of `low` and
    `high`, approximately.
    """

    mean: float
    sd: float
    low: float
    high: float
    below: float
    influence: np.ndarray | None
    standard_error: float
    end_error: float

    @property
    def reading(self) -> str:
        """Whether the interval lies below 0 (nearer), above 0 (farther), or includes it (not settled)."""
        return "nearer" if self.high < 0 else "farther" if self.low > 0 else "not settled"

    def times(self, unit: float) -> "ContrastEstimate":
        """Return the estimate in another unit, of which one of this estimate is `unit`."""
        scaled = {name: getattr(self, name) * unit for name in ("mean", "sd", "low", "high")}
        errors = {name: getattr(self, name) * unit for name in ("standard_error", "end_error")}
        return replace(self, **scaled, **errors, influence=None if self.influence is None else self.influence * unit)

    def numbers(self) -> dict[str, Any]:
        """Return the columns that reports show."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "hdi_low": self.low,
            "hdi_high": self.high,
            "probability_of_direction": max(self.below, 1 - self.below),
            "reading": self.reading,
        }


@dataclass(frozen=True)
class Interval:
    """A highest posterior density interval and the Monte Carlo standard errors of its ends."""

    low: float
    high: float
    low_se: float
    high_se: float


Contrast = Callable[[float], ContrastEstimate]
"""Probability inside the interval -> the estimate of one contrast."""

# Nodes of the distribution function of a mixture, in its sds around its mean, and points to which it is interpolated.
_STEPS, _FINE = np.linspace(-6, 6, 97), np.linspace(-6, 6, 6_001)


def draws_interval(draws: np.ndarray, hdi_prob: float) -> Interval:
    """Return the interval of draws, shape (draws,); the errors of its ends come from 20 batches of the draws.

    Ends of shortest intervals converge with the cube root of the number of draws, not with its square root
    (Kim and Pollard 1990).
    """
    count = min(BATCHES, max(1, len(draws) // 5))
    size, longer = divmod(len(draws), count)
    first = longer * (size + 1)
    equal_batches = draws[:first].reshape(longer, size + 1), draws[first:].reshape(-1, size)
    ends = np.concatenate([shortest_intervals(batches, hdi_prob) for batches in equal_batches if len(batches)])
    errors = ends.std(axis=0, ddof=1) / count ** (1 / 3) if count > 1 else np.full(2, np.inf)
    return Interval(*shortest_interval(draws, hdi_prob), *map(float, errors))


def mixture_estimate(weights: np.ndarray, mean: np.ndarray, sd: np.ndarray, hdi_prob: float) -> ContrastEstimate:
    """Return the estimate of a mixture of Normals, without drawing from it.

    All arrays have shape (components,); weights sum to 1.

    >>> standard = mixture_estimate(np.ones(1), np.zeros(1), np.ones(1), 0.95)
    >>> round(standard.low, 2), round(standard.high, 2), round(standard.below, 3)
    (-1.96, 1.96, 0.5)
    """
    from scipy.special import ndtr

    center = float(weights @ mean)
    spread = float(np.sqrt(weights @ (sd**2 + (mean - center) ** 2)))
    if (mean == mean[0]).all():  # symmetric: the interval lies around the mean
        half = _half_width(weights, sd, hdi_prob)
        low, high = center - half, center + half
    else:
        nodes = center + spread * _STEPS
        precision = 1 / sd
        cumulative = weights @ ndtr(nodes * precision[:, None] - (mean * precision)[:, None])
        low, high = (center + spread * end for end in _shortest(cumulative, hdi_prob))
    influence = weights * (mean - center)
    return ContrastEstimate(
        mean=center,
        sd=spread,
        low=low,
        high=high,
        below=float(weights @ ndtr(-mean / sd)),
        influence=influence,
        standard_error=(error := _root_of_squares(influence)),
        # The errors of the mean and of the width: the ends follow the sds of the components.
        end_error=float(np.hypot(error, _root_of_squares(weights * (sd**2 - spread**2)) / spread)),
    )


def weighted_estimate(weights: np.ndarray, draws: np.ndarray, hdi_prob: float) -> ContrastEstimate:
    """Return the estimate of weighted draws; weights, shape (draws,), sum to 1.

    >>> uniform = weighted_estimate(np.full(1001, 1 / 1001), np.linspace(-1, 1, 1001), 0.5)
    >>> round(uniform.high - uniform.low, 2), round(uniform.below, 2)
    (1.0, 0.5)
    """
    order = np.argsort(draws)
    ordered, cumulative = draws[order], np.cumsum(weights[order])
    starts = np.concatenate([[0.0], cumulative[:-1]])
    ends = np.searchsorted(cumulative, starts + hdi_prob - 1e-12)
    possible = np.flatnonzero(ends < len(draws))
    first = possible[np.argmin(ordered[ends[possible]] - ordered[possible])]
    low, high = float(ordered[first]), float(ordered[ends[first]])
    mean = float(weights @ draws)
    influence = weights * (draws - mean)
    return ContrastEstimate(
        mean=mean,
        sd=float(np.sqrt(weights @ (draws - mean) ** 2)),
        low=low,
        high=high,
        below=float(weights @ (draws < 0)),
        influence=influence,
        standard_error=_root_of_squares(influence),
        end_error=_end_error(high - low, hdi_prob, 1 / float(np.square(weights).sum())),
    )


def draws_estimate(draws: np.ndarray, hdi_prob: float, *, effective: float | None = None) -> ContrastEstimate:
    """Return the estimate of draws, shape (draws,), worth `effective` independent ones (by default all)."""
    worth = len(draws) if effective is None else effective
    low, high = shortest_interval(draws, hdi_prob)
    sd = float(draws.std(ddof=1))
    return ContrastEstimate(
        mean=float(draws.mean()),
        sd=sd,
        low=low,
        high=high,
        below=float((draws < 0).mean()),
        influence=None,
        standard_error=sd / float(np.sqrt(worth)),
        end_error=_end_error(high - low, hdi_prob, worth),
    )


def draws_contrasts(means: np.ndarray, connections: Sequence[str], baseline: str) -> dict[str, Contrast]:
    """Return each contrast of a baseline with another connection, by name, from draws (draws, connections)."""
    return {
        name: partial(draws_estimate, means[:, base] - means[:, other])
        for name, base, other in contrast_positions(connections, baseline)
    }


def mixture_contrasts(
    weights: np.ndarray, mean: np.ndarray, covariance: np.ndarray, connections: Sequence[str], baseline: str
) -> dict[str, Contrast]:
    """Return each contrast of a baseline with another connection, by name, from weighted Normals.

    `weights` (components,) sum to 1; `mean` (components, connections), `covariance` (components, connections,
    connections).
    """
    contrasts: dict[str, Contrast] = {}
    for name, base, other in contrast_positions(connections, baseline):
        variance = covariance[:, base, base] + covariance[:, other, other] - 2 * covariance[:, base, other]
        contrasts[name] = partial(mixture_estimate, weights, mean[:, base] - mean[:, other], np.sqrt(variance))
    return contrasts


def contrast_positions(connections: Sequence[str], baseline: str) -> Iterator[tuple[str, int, int]]:
    """Yield each contrast of a baseline with another connection: its name, and the positions of the two."""
    base = connections.index(baseline)
    for position, connection in enumerate(connections):
        if position != base:
            yield contrast_name(baseline, connection), base, position


def _root_of_squares(errors: np.ndarray) -> float:
    return float(np.sqrt(np.square(errors).sum()))


def _end_error(width: float, hdi_prob: float, effective: float) -> float:
    """Return the standard error of the end of an interval of this width, as a quantile of Normal draws."""
    from scipy.special import ndtri

    tail = (1 - hdi_prob) / 2
    end = -float(ndtri(tail))
    density = np.exp(-0.5 * end**2) / np.sqrt(2 * np.pi)
    return float(np.sqrt(tail * (1 - tail) / effective) / density * width / (2 * end))


def _half_width(weights: np.ndarray, sd: np.ndarray, prob: float) -> float:
    """Return half the width of the central interval of this probability, of Normals with one mean."""
    from scipy.special import ndtr, ndtri

    target = (1 + prob) / 2
    half = float(ndtri(target) * np.sqrt(weights @ sd**2))
    for _ in range(50):  # Newton: the distribution function is concave there, so that all steps but the first rise
        z = half / sd
        density = float(weights @ (np.exp(-0.5 * z**2) / sd)) / float(np.sqrt(2 * np.pi))
        step = (target - float(weights @ ndtr(z))) / density
        half = max(half + step, 0.0)
        if abs(step) <= 1e-12 * half:
            break
    return half


def _shortest(below: np.ndarray, prob: float) -> tuple[float, float]:
    """Return the shortest interval of this probability, given a distribution function at `_STEPS`."""
    cumulative = np.maximum.accumulate(_spline() @ below)
    return shortest_quantiles(partial(np.interp, xp=cumulative, fp=_FINE), prob)


@cache
def _spline() -> np.ndarray:
    """Return the matrix that takes values at `_STEPS` to those of their cubic spline at `_FINE`."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(_STEPS, np.eye(len(_STEPS)))(_FINE))


def changes_reading(refit: ContrastEstimate, full: ContrastEstimate) -> bool:
    """Return whether an end of the interval moved to the other side of 0, by more than twice its Monte Carlo error."""
    error = 2 * float(np.hypot(refit.end_error, full.end_error))
    ends = ((refit.low, full.low), (refit.high, full.high))
    return refit.reading != full.reading and any(a * b <= 0 and abs(a - b) > error for a, b in ends)


def shift_error(refit: ContrastEstimate, full: ContrastEstimate) -> float:
    """Return the Monte Carlo standard error of the difference of two means."""
    if refit.influence is not None and full.influence is not None:
        return _root_of_squares(refit.influence - full.influence)
    if refit.mean == full.mean:
        return 0.0
    return float(np.hypot(refit.standard_error, full.standard_error))


@dataclass(frozen=True, eq=False)
class AttributePatterns:
    """A table's sufficient statistics for the crossed models. Distances are counted from the prior mean m0.

    A cell is protected word * connections + connection. `rows` and `mean` (cells,) are number and mean of its rows,
    `within` (connections,) the sum of squares around the cell means. Attribute words with the same rows in every cell
    form a pattern: `pattern` (attributes,) is that of each, `usage` (cells, patterns) the rows of one attribute word,
    `members` (patterns,) the number of attribute words, `list_of` (patterns,) the position of its attribute_sd.
    `residual` (attributes, connections) is each attribute word's sum of distances minus cell means, by connection.
    """

    words: int
    connections: int
    rows: np.ndarray
    mean: np.ndarray
    within: np.ndarray
    usage: np.ndarray
    members: np.ndarray
    pattern: np.ndarray
    list_of: np.ndarray
    residual: np.ndarray

    @cached_property
    def connection(self) -> np.ndarray:
        """Connection of each cell."""
        return np.tile(np.arange(self.connections), self.words)

    @cached_property
    def is_connection(self) -> np.ndarray:
        """1.0 where a cell has a connection, 0.0 elsewhere: shape (cells, connections)."""
        return np.asarray(np.eye(self.connections)[self.connection])

    @cached_property
    def totals(self) -> np.ndarray:
        """Rows of each connection."""
        return np.asarray(self.rows @ self.is_connection)

    @cached_property
    def usage_by_connection(self) -> np.ndarray:
        """Rows of one attribute of each pattern: shape (patterns, connections)."""
        return np.asarray(self.usage.T @ self.is_connection)

    @cached_property
    def usage_pairs(self) -> np.ndarray:
        """Products of the usage of two patterns: shape (cells, patterns * patterns)."""
        return np.asarray(np.einsum("cp,cq->cpq", self.usage, self.usage).reshape(len(self.usage), -1))

    @cached_property
    def usage_cells(self) -> np.ndarray:
        """Usage, split by connection: shape (cells, patterns * connections)."""
        return np.asarray(np.einsum("cp,cg->cpg", self.usage, self.is_connection).reshape(len(self.usage), -1))

    @cached_property
    def residual_sum(self) -> np.ndarray:
        """Sum of `residual` over a pattern's attributes: shape (patterns, connections)."""
        total = np.zeros((len(self.members), self.connections))
        np.add.at(total, self.pattern, self.residual)
        return total

    @cached_property
    def residual_products(self) -> np.ndarray:
        """Sum of outer products of `residual`: shape (patterns, connections, connections)."""
        total = np.zeros((len(self.members), self.connections, self.connections))
        np.add.at(total, self.pattern, self.residual[:, :, None] * self.residual[:, None, :])
        return total


def find_patterns(data: ModelData, spec: ModelSpec) -> AttributePatterns:
    """Return the sufficient statistics of a table for the crossed models."""
    words, connections = len(data.protected_words), len(data.connections)
    cells, attributes = words * connections, len(data.attribute_words)
    cell = data.protected.astype(np.int64) * connections + data.connection
    distance = data.distance - spec.priors["connection_mean"].parameters["mu"]
    rows = np.bincount(cell, minlength=cells)
    mean = np.bincount(cell, distance, cells) / np.maximum(rows, 1)
    residual = distance - mean[cell]
    by_attribute = data.attribute.astype(np.int64) * connections + data.connection
    per_list = spec.switches["attribute_effects"] == "per_list"
    lists = attribute_lists(data) if per_list else np.zeros(attributes, dtype=np.int64)

    # Attribute words with the same cells have the same sum of random 64-bit numbers, one per cell; others do not.
    rng = np.random.default_rng(20261120)
    keys = np.zeros((3, attributes), dtype=np.uint64)
    keys[2] = lists
    for key in keys[:2]:
        np.add.at(key, data.attribute, rng.integers(0, 2**63, cells, dtype=np.uint64)[cell])
    _, first, pattern = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    pattern = pattern.reshape(-1)
    usage = np.zeros((cells, len(first)))
    if len(first) <= MOST_PATTERNS:
        of_first = np.isin(data.attribute, first)
        np.add.at(usage, (cell[of_first], pattern[data.attribute[of_first]]), 1.0)
    return AttributePatterns(
        words=words,
        connections=connections,
        rows=rows.astype(float),
        mean=mean,
        within=np.bincount(data.connection, residual * residual, connections),
        usage=usage,
        members=np.bincount(pattern, minlength=len(first)).astype(float),
        pattern=pattern,
        list_of=lists[first],
        residual=np.bincount(by_attribute, residual, attributes * connections).reshape(attributes, connections),
    )
