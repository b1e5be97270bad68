"""The posterior of one contrast as an estimate, from weighted Normals or from draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.estimates.intervals import shortest_interval


@dataclass(frozen=True, eq=False)
class Estimate:
    """The posterior of one contrast.

    `mean`, `sd`, `low` and `high` are moments and highest posterior density interval, in units of cosine distance;
    `below` is the probability that the contrast is negative, `influence` the weighted deviation of each importance
    point from `mean` (None for draws), `standard_error` the Monte Carlo standard error of `mean`, and `end_error` about
    that of `low` and `high`.
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
    def conclusion(self) -> str:
        """What the interval settles."""
        return "nearer" if self.high < 0 else "farther" if self.low > 0 else "not settled"

    def numbers(self) -> dict[str, Any]:
        """Return what a report shows of it."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "hdi_low": self.low,
            "hdi_high": self.high,
            "probability_of_direction": max(self.below, 1 - self.below),
            "conclusion": self.conclusion,
        }


@dataclass(frozen=True)
class Interval:
    """A highest posterior density interval and the Monte Carlo standard errors of its ends."""

    low: float
    high: float
    low_se: float
    high_se: float


# Parts of the draws, in their order, whose differences show the Monte Carlo error.
BATCHES = 20
# Where the distribution function of a mixture is computed, and to how many points it is interpolated.
_NODES, _FINE = 97, 6_001
# Where a shortest interval may begin: so many places are tried, and as many near the best.
_STARTS = 302


def draws_interval(draws: np.ndarray, hdi_prob: float) -> Interval:
    """Return the interval of draws, shape (draws,); the errors of its ends are those of 20 parts of the draws.

    Ends of shortest intervals come nearer with the cube root of the number of draws, and not with its square root
    (Kim and Pollard 1990).
    """
    parts = np.array_split(draws, min(BATCHES, len(draws) // 5))
    ends = np.array([shortest_interval(part, hdi_prob) for part in parts])
    errors = ends.std(axis=0, ddof=1) / len(parts) ** (1 / 3) if len(parts) > 1 else np.full(2, np.inf)
    return Interval(*shortest_interval(draws, hdi_prob), *map(float, errors))


def mixture_estimate(weights: np.ndarray, mean: np.ndarray, sd: np.ndarray, hdi_prob: float) -> Estimate:
    """Return moments and highest posterior density interval of a mixture of Normals, without drawing from it.

    All arrays have shape (components,); weights sum to 1.

    >>> found = mixture_estimate(np.ones(1), np.zeros(1), np.ones(1), 0.95)
    >>> round(found.low, 2), round(found.high, 2), round(found.below, 3)
    (-1.96, 1.96, 0.5)
    """
    from scipy.special import ndtr

    center = float(weights @ mean)
    spread = float(np.sqrt(weights @ (sd**2 + (mean - center) ** 2)))
    nodes = np.linspace(center - 6 * spread, center + 6 * spread, _NODES)
    precision = 1 / sd
    cumulative = weights @ ndtr(nodes * precision[:, None] - (mean * precision)[:, None])
    low, high = _shortest(nodes, cumulative, hdi_prob)
    influence = weights * (mean - center)
    return Estimate(
        mean=center,
        sd=spread,
        low=low,
        high=high,
        below=float(weights @ ndtr(-mean / sd)),
        influence=influence,
        standard_error=(error := float(np.sqrt(np.square(influence).sum()))),
        # That of the mean, and of the width: the ends follow the sds of the components.
        end_error=float(np.hypot(error, np.sqrt(np.square(weights * (sd**2 - spread**2)).sum()) / spread)),
    )


def weighted_estimate(weights: np.ndarray, draws: np.ndarray, hdi_prob: float) -> Estimate:
    """Return moments and highest posterior density interval of weighted draws; weights, shape (draws,), sum to 1.

    >>> found = weighted_estimate(np.full(1001, 1 / 1001), np.linspace(-1, 1, 1001), 0.5)
    >>> round(found.high - found.low, 2), round(found.below, 2)
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
    return Estimate(
        mean=mean,
        sd=float(np.sqrt(weights @ (draws - mean) ** 2)),
        low=low,
        high=high,
        below=float(weights @ (draws < 0)),
        influence=influence,
        standard_error=float(np.sqrt(np.square(influence).sum())),
        end_error=_end_error((high - low), hdi_prob, 1 / float(np.square(weights).sum())),
    )


def draws_estimate(draws: np.ndarray, hdi_prob: float, *, effective: float | None = None) -> Estimate:
    """Return moments and highest posterior density interval of draws, shape (draws,)."""
    low, high = shortest_interval(draws, hdi_prob)
    sd = float(draws.std(ddof=1))
    return Estimate(
        mean=float(draws.mean()),
        sd=sd,
        low=low,
        high=high,
        below=float((draws < 0).mean()),
        influence=None,
        standard_error=sd / float(np.sqrt(len(draws) if effective is None else effective)),
        end_error=_end_error(high - low, hdi_prob, len(draws) if effective is None else effective),
    )


def _end_error(width: float, hdi_prob: float, effective: float) -> float:
    """Return the standard error of a quantile of Normal draws where an interval of that width ends."""
    from scipy.stats import norm

    tail = (1 - hdi_prob) / 2
    end = float(norm.isf(tail))
    return float(np.sqrt(tail * (1 - tail) / effective) / norm.pdf(end) * width / (2 * end))


def _shortest(nodes: np.ndarray, below: np.ndarray, prob: float) -> tuple[float, float]:
    """Return the shortest interval of that probability, given a distribution function at some nodes."""
    from scipy.interpolate import CubicSpline

    values, spare = np.linspace(nodes[0], nodes[-1], _FINE), 1 - prob
    cumulative = np.maximum.accumulate(CubicSpline(nodes, below)(values))
    low, high = 0.0, spare
    for _ in range(2):  # near the best of a coarse grid, a fine one
        starts = np.linspace(low, high, _STARTS)[1:-1]
        ends = np.interp(np.stack([starts, starts + prob]), cumulative, values)
        best = int(np.argmin(ends[1] - ends[0]))
        step = starts[1] - starts[0]
        low, high = max(starts[best] - 2 * step, 0.0), min(starts[best] + 2 * step, spare)
    return float(ends[0, best]), float(ends[1, best])


def changes_conclusion(found: Estimate, full: Estimate) -> bool:
    """Return whether an end of the interval moved to the other side of 0, by more than twice its Monte Carlo error."""
    error = 2 * float(np.hypot(found.end_error, full.end_error))
    ends = ((found.low, full.low), (found.high, full.high))
    return found.conclusion != full.conclusion and any(a * b <= 0 and abs(a - b) > error for a, b in ends)


def shift_error(found: Estimate, full: Estimate) -> float:
    """Return the Monte Carlo standard error of the difference of two means."""
    if found.influence is not None and full.influence is not None:
        return float(np.sqrt(np.square(found.influence - full.influence).sum()))
    if found.mean == full.mean:
        return 0.0
    return float(np.hypot(found.standard_error, full.standard_error))
