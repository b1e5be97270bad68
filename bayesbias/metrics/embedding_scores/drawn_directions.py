"""Posteriors of means along a direction that is itself drawn, over items and directions jointly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.metrics.embedding_scores.statistics import DRAWS, Quantity

_WEIGHTS = 4_000_000  # weights per block of draws
_ITEMS = 5_000  # items per block of products with directions


@dataclass(frozen=True, eq=False)
class DrawnDirections:
    """Items in the low-dimensional space that all draws of a direction span.

    Parameters
    ----------
    coordinates
        Coordinates of the items, float32, of shape (items, dimensions of the space).
    draws
        Draws of the direction, float32, of shape (draws, dimensions of the space).
    """

    coordinates: NDArray[np.float32]
    draws: NDArray[np.float32]

    def of_items(self, rows: NDArray[np.integer]) -> "DrawnDirections":
        """Return the same draws with some of the items."""
        return DrawnDirections(self.coordinates[rows], self.draws)


def posterior_along(quantity: Quantity, along: DrawnDirections, random: np.random.Generator) -> Floats:
    """Return draws of a mean, each at one draw of weights and of the direction.

    The weights are those of `posterior`, so that the same seed gives the same weights to the same items before and
    after a change.
    """
    count = len(along.coordinates)
    step = max(1, _WEIGHTS // count)
    blocks = []
    for start in range(0, DRAWS, step):
        draws = slice(start, min(start + step, DRAWS))
        weights = random.standard_exponential((draws.stop - start, count))
        blocks.append(_means(along, draws, weights, quantity.power))
    return np.concatenate(blocks)


def _means(along: DrawnDirections, draws: slice, weights: Floats, power: float) -> Floats:
    """Return the weighted mean along each direction, one per row of weights."""
    totals = np.zeros(len(weights))
    for start in range(0, weights.shape[1], _ITEMS):
        items = slice(start, start + _ITEMS)
        values = along.draws[draws] @ along.coordinates[items].T
        if power:
            values = np.abs(values) ** power
        totals += np.einsum("ij,ij->i", weights[:, items], values)
    means: Floats = totals / weights.sum(axis=1)
    return means
