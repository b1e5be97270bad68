"""Means along directions that are drawn themselves: their spread and that of the items, jointly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.metrics.embedding_scores.statistics import DRAWS, Quantity

_WEIGHTS = 4_000_000  # weights that are held at a time
_ITEMS = 5_000  # items whose products with directions are held at a time


@dataclass(frozen=True, eq=False)
class DrawnDirections:
    """Items in the space that all draws of a direction span, which has few dimensions.

    Parameters
    ----------
    coordinates
        Of the items, float32, of shape (items, dimensions of the space).
    draws
        Of the direction, float32, of shape (draws, dimensions of the space).
    """

    coordinates: NDArray[np.float32]
    draws: NDArray[np.float32]

    def of(self, rows: NDArray[np.integer]) -> "DrawnDirections":
        """Return some of the items."""
        return DrawnDirections(self.coordinates[rows], self.draws)


def posterior_along(
    quantity: Quantity, before: DrawnDirections, after: DrawnDirections | None, random: np.random.Generator
) -> Floats:
    """Return draws of a mean or, where `after` is given, of its change: each of one draw of weights and one direction.

    The weights are those of `posterior`; a change is that at the same weights and at the same draw of pairs.
    """
    count = len(before.coordinates)
    step = max(1, _WEIGHTS // count)
    found = []
    for start in range(0, DRAWS, step):
        draws = slice(start, min(start + step, DRAWS))
        weights = random.standard_exponential((draws.stop - start, count))
        first = _means(before, draws, weights, quantity.power)
        found.append(first if after is None else _means(after, draws, weights, quantity.power) - first)
    return np.concatenate(found)


def _means(along: DrawnDirections, draws: slice, weights: Floats, power: float) -> Floats:
    """Return the weighted mean along each direction, one a row of weights."""
    totals = np.zeros(len(weights))
    for start in range(0, weights.shape[1], _ITEMS):
        items = slice(start, start + _ITEMS)
        values = along.draws[draws] @ along.coordinates[items].T
        if power:
            values = np.abs(values) ** power
        totals += np.einsum("ij,ij->i", weights[:, items], values)
    means: Floats = totals / weights.sum(axis=1)
    return means
