"""The hyperparameters of the multivariate model in independent blocks, and all other draws given them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.list_draws import ListDraws, draw_lists
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
BlockDensity = Callable[..., np.ndarray]
"""Points (points, coordinates) and statistics of the table -> log density (points,), up to a constant."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The independent blocks of hyperparameters: one for each kind of lists, and one for the regression of words.

    `names` are the parameters of each block, `log_densities` their unnormalised posteriors.
    """

    names: tuple[tuple[str, ...], ...]
    log_densities: tuple[BlockDensity, ...]


def _lean_names(axes: Coordinates) -> tuple[str, ...]:
    return LEAN if len(axes.sizes) > 1 else (LEAN[0], LEAN[2])


def blocks_of(sample: AttributeSample, priors: Mapping[str, Prior], axes: Coordinates) -> Blocks:
    """Return the blocks of a table, with their priors."""

    def of_block(names: tuple[str, ...], likelihood: BlockDensity) -> BlockDensity:
        def log_density(points: np.ndarray, stats: ListStatistics) -> np.ndarray:
            near = np.clip(points, -_FAR, _FAR)
            with np.errstate(all="ignore"):
                prior = [priors[name].log_density(np.exp(column)) for name, column in zip(names, near.T, strict=True)]
                value = np.sum(prior, axis=0) + near.sum(axis=1) + likelihood(near, stats)
            inside = np.isfinite(value) & (np.abs(points) < _FAR).all(axis=1)
            return np.where(inside, value, _NOTHING)

        return log_density

    def of_kind(kind: int) -> BlockDensity:
        return of_block(names[kind], lambda points, stats: lean_log_density(points, kind, stats, axes))

    names = [_lean_names(axes)] * len(sample.kinds)
    densities = [of_kind(kind) for kind in range(len(sample.kinds))]
    if axes.contrasts:
        names.append((*REGRESSION, *["list_scale"] * (len(sample.kinds) - 1)))
        densities.append(of_block(names[-1], lambda points, stats: regression_log_density(points, stats, axes)))
    return Blocks(tuple(names), tuple(densities))


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


def draw_given(
    points: list[np.ndarray],
    stats: ListStatistics,
    sample: AttributeSample,
    axes: Coordinates,
    seed: int,
    *,
    draws: int,
    covariances: bool,
) -> ListDraws:
    """Draw the means of lists and the covariances given points of each block, which are taken in turn."""
    kinds = len(sample.kinds)
    regression = points[kinds] if axes.contrasts else np.zeros((1, 4 + kinds - 1))
    rngs = np.random.default_rng([seed, 100]), np.random.default_rng([seed, 101])
    return draw_lists(points[:kinds], regression, stats, axes, rngs, draws=draws, keep_residual=covariances)


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


def metropolis_root(points: np.ndarray) -> np.ndarray:
    """Return the root of the covariance of Metropolis steps for a posterior with these draws."""
    size = points.shape[1]
    return np.asarray(2.4 / np.sqrt(size) * np.linalg.cholesky(np.cov(points.T) + 1e-9 * np.eye(size)))


def metropolis(points: np.ndarray, log_density: LogDensity, step: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return points after one Metropolis step each."""
    proposed = points + rng.standard_normal(points.shape) @ step.T
    accept = np.log(rng.random(len(points))) < log_density(proposed) - log_density(points)
    return np.where(accept[:, None], proposed, points)
