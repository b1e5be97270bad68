"""Numbers of other measures beside cosine distances, in whose unit the priors of the bundled models are written.

A measure without bounds has no natural unit: surprisals in nats and in bits, reaction times in seconds and in
milliseconds, are the same numbers. So a table times c has the posterior times c. For this, the bundled priors are
moved to the table's unit. The sd of the numbers around the mean of their attribute word and protected group stands for
0.05 of cosine distance, which it is in the bundled tables (0.03 to 0.06), and their mean for a cosine distance of 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import CONSTANT
from bayesbias.models.spec import NO_UNIT

if TYPE_CHECKING:
    import xarray as xr

DISTANCE_ERROR = 1e-3
"""The error within which cosine distances are known; other numbers have one of that many units of their scale."""
_USUAL_SD, _USUAL_SD_OF_ALL = 0.05, 0.07
# Parameters that are means; all other parameters with a unit are sds, effects or, squared, covariances.
MEANS = ("connection_mean", "word_mean", "list_mean")
_SQUARES = ("word_covariance", "residual_covariance")


@dataclass(frozen=True)
class Scale:
    """The numbers of a table beside cosine distances: `origin` stands for a distance of 1, `unit` for a step of 1."""

    origin: float = 1.0
    unit: float = 1.0

    def from_distances(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers in the unit of cosine distances in the unit of the table."""
        return numbers if self == COSINE else np.asarray(self.origin + (numbers - 1.0) * self.unit)

    def to_distances(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of the table in the unit of cosine distances."""
        return numbers if self == COSINE else np.asarray(1.0 + (numbers - self.origin) / self.unit)

    def draws(self, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return draws of parameters by name in the unit of the table, from those in that of cosine distances."""
        return {name: self._of_parameter(name, values) for name, values in draws.items()}

    def dataset(self, posterior: "xr.Dataset") -> "xr.Dataset":
        """Return a posterior in the unit of the table, from one in that of cosine distances."""
        if self == COSINE:
            return posterior
        scaled = self.draws({str(name): values.to_numpy() for name, values in posterior.data_vars.items()})
        return posterior.assign({name: posterior[name].copy(data=values) for name, values in scaled.items()})

    def _of_parameter(self, name: str, values: np.ndarray) -> np.ndarray:
        if name in MEANS:
            return self.from_distances(values)
        if self == COSINE or name in (*NO_UNIT, "attribute_weight"):
            return values
        return values * self.unit ** (2 if name in _SQUARES else 1)

    @property
    def inverse(self) -> "Scale":
        """The scale that leads back: numbers of the table in the unit of cosine distances."""
        return Scale(1.0 - (self.origin - 1.0) / self.unit, 1.0 / self.unit)


COSINE = Scale()
"""The scale of cosine distances themselves."""


def scale_of(numbers: np.ndarray, groups: np.ndarray, attributes: np.ndarray) -> Scale:
    """Return the scale of the numbers of a table without bounds.

    `groups` and `attributes` (rows,) are the protected group and the attribute word of each number, as positions.

    >>> scale_of(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]))
    Scale(origin=4.0, unit=28.284271247461902)
    """
    cell = groups.astype(np.int64) * (int(attributes.max()) + 1) + attributes
    counts = np.bincount(cell)
    deviations = numbers - (np.bincount(cell, numbers) / np.maximum(counts, 1))[cell]
    freedom, spread = len(numbers) - np.count_nonzero(counts), np.square(deviations).sum()
    origin = float(numbers.mean())
    if freedom and spread / freedom > (CONSTANT * np.abs(numbers).max()) ** 2:
        return Scale(origin, float(np.sqrt(spread / freedom)) / _USUAL_SD)
    return Scale(origin, float(numbers.std()) / _USUAL_SD_OF_ALL)
