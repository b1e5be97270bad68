"""The hyperparameters of the multivariate model in independent blocks, and Metropolis steps of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_model import (
    Coordinates,
    ListStatistics,
    lean_log_density,
    regression_log_density,
)
from bayesbias.models.numerics.importance import LogDensity
from bayesbias.models.priors import Prior

LEAN = ("attribute_sd", "group_attribute_sd", "target_weight")
REGRESSION = ("sigma", "residual_weight", "list_effect", "slope_sd")
# Beyond this, logarithms of hyperparameters have no appreciable posterior, and the log density is set this low.
_FAR, _NOTHING = 14.0, -1e6


@dataclass(frozen=True, eq=False)
class Block:
    """Hyperparameters that are independent of all others: their names, their priors, and their likelihood."""

    names: tuple[str, ...]
    priors: Mapping[str, Prior]
    likelihood: Callable[..., np.ndarray]

    def log_density(self, points: np.ndarray, stats: ListStatistics) -> np.ndarray:
        """Return the unnormalised log posterior of logarithms (points, names), given the statistics of a table."""
        near = np.clip(points, -_FAR, _FAR)
        with np.errstate(all="ignore"):
            columns = zip(self.names, near.T, strict=True)
            prior = [self.priors[name].log_density(np.exp(column)) for name, column in columns]
            value = np.sum(prior, axis=0) + near.sum(axis=1) + self.likelihood(near, stats=stats)
        inside = np.isfinite(value) & (np.abs(points) < _FAR).all(axis=1)
        return np.where(inside, value, _NOTHING)


def _lean_names(axes: Coordinates) -> tuple[str, ...]:
    return LEAN if axes.free > 1 else (LEAN[0], LEAN[2])


def blocks_of(sample: AttributeSample, priors: Mapping[str, Prior], axes: Coordinates) -> list[Block]:
    """Return a block for each kind of lists, and one for the regression of words."""
    names, kinds = _lean_names(axes), range(len(sample.kinds))
    blocks = [Block(names, priors, partial(lean_log_density, kind=kind, axes=axes)) for kind in kinds]
    if axes.contrasts:
        of_words = (*REGRESSION, *["list_scale"] * (len(kinds) - 1))
        blocks.append(Block(of_words, priors, partial(regression_log_density, axes=axes)))
    return blocks


def completed_distances(sample: AttributeSample) -> np.ndarray:
    """Return the distances with lost ones replaced by the sum of the effects of list, word and attribute word."""
    distances = sample.distances.copy()
    lost = np.isnan(distances)
    if not lost.any():
        return distances
    distances[lost] = np.nanmean(distances)
    for _ in range(20):
        of_word = distances.mean(axis=1, keepdims=True)
        residual = distances - of_word
        of_list = np.stack([residual[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
        distances[lost] = (of_word + of_list[sample.list_of])[lost]
    return distances


def named_hyperparameters(
    points: list[np.ndarray], sample: AttributeSample, axes: Coordinates
) -> dict[str, np.ndarray]:
    """Return hyperparameters by name, from points of each block."""
    kinds = len(sample.kinds)
    lean = np.exp(np.stack(points[:kinds], axis=1))
    named = {name: lean[..., column] for column, name in enumerate(_lean_names(axes))}
    if axes.contrasts:
        named |= {name: np.exp(points[kinds][:, column]) for column, name in enumerate(REGRESSION)}
        if kinds > 1:
            named["list_scale"] = np.exp(points[kinds][:, 4:])
    return named


def hyperparameter_points(
    named: Mapping[str, np.ndarray], sample: AttributeSample, axes: Coordinates
) -> list[np.ndarray]:
    """Return points of each block from hyperparameters by name: the inverse of `named_hyperparameters`."""
    lean = np.log(np.stack([named[name] for name in _lean_names(axes)], axis=-1))
    points = [lean[:, kind] for kind in range(len(sample.kinds))]
    if axes.contrasts:
        scales = [named["list_scale"]] if len(sample.kinds) > 1 else []
        points.append(np.log(np.column_stack([*(named[name] for name in REGRESSION), *scales])))
    return points


def metropolis_root(points: np.ndarray) -> np.ndarray:
    """Return the root of the covariance of Metropolis steps for a posterior with these draws."""
    size = points.shape[1]
    return np.asarray(2.4 / np.sqrt(size) * np.linalg.cholesky(np.cov(points.T) + 1e-9 * np.eye(size)))


def metropolis(
    points: np.ndarray, log_density: LogDensity, step: np.ndarray, rng: np.random.Generator, steps: int = 1
) -> np.ndarray:
    """Return points after so many Metropolis steps each."""
    density = log_density(points)
    for _ in range(steps):
        proposed = points + rng.standard_normal(points.shape) @ step.T
        of_proposed = log_density(proposed)
        accept = np.log(rng.random(len(points))) < of_proposed - density
        points, density = np.where(accept[:, None], proposed, points), np.where(accept, of_proposed, density)
    return points
