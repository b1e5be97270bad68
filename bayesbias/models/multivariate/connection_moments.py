"""Moments of the connection means given the covariances, for refits that need little Monte Carlo error."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from bayesbias.models.multivariate.attribute_sample import AttributeSample, group_shares
from bayesbias.models.multivariate.list_blocks import Block, blocks_of
from bayesbias.models.multivariate.list_draws import draw_lean_roots
from bayesbias.models.multivariate.list_means import effect_covariances, weighted_points
from bayesbias.models.multivariate.list_model import Coordinates, ListStatistics, coordinates_of, list_statistics
from bayesbias.models.numerics.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.numerics.importance import ImportanceDraws, Mixture
from bayesbias.models.priors import Prior
from bayesbias.models.word_effects import effects_basis

Earlier = dict[tuple[Any, ...], Any]
"""What earlier refits with the same draws and seed drew, by what it follows from."""


@singular_fails()
def connection_moments(
    sample: AttributeSample,
    connections: tuple[str, ...],
    *,
    draws: int,
    seed: int,
    priors: Mapping[str, Prior],
    earlier: Earlier | None = None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the mean (C,) and the covariance (draws, C, C) of the connection means, given draws of the covariances.

    The table must be whole, and its attribute words Normal. A connection's mean is the weighted sum of its lists' means
    to whole groups, sum_L g_L' xi_L. Given Sigma_L it has the mean of the plain averages and the variance
    sum_L g_L' Sigma_L g_L / n_L; words like these add S / J_g for each group. Single words' means, and so the
    regression, are not needed. None if words of a group have different lists: their means depend on more terms.

    Without one attribute word, only the hyperparameters of the kind of its list are drawn again, from the proposal of
    the first refit, if their weights are good there.
    """
    if sample.pattern_of.max() > sample.group_of.max():
        return None
    axes = coordinates_of(sample.distances, sample.pattern_of, sample.covariates)
    stats = list_statistics(sample, sample.distances[None], np.ones((1, len(sample.distances))), axes)
    rng, groups = np.random.default_rng([seed, 100]), len(axes.sizes)
    lean = np.empty((draws, len(sample.lists), axes.free, axes.free))
    earlier = {} if earlier is None else earlier
    for kind, block in enumerate(blocks_of(sample, priors, axes)[: len(sample.kinds)]):
        key = _statistics_key(kind, block, stats, axes)
        if key not in earlier:
            proposal = "proposal", sample.kinds[kind], block.names
            drawn = _shared_points(block, stats, axes, draws, [seed, kind], earlier.get(proposal))
            earlier.setdefault(proposal, drawn.proposal)
            earlier[key] = drawn.points
        roots = draw_lean_roots(earlier[key], kind, stats, axes, rng, draws)
        lean[:, stats.lists_of(kind)] = roots @ np.swapaxes(roots, 2, 3)
    between, basis = effect_covariances(sample, priors, connections, draws, seed, earlier), effects_basis(connections)
    of_groups = sample.connection_weights[np.unique(sample.group_of, return_index=True)[1]]
    share = group_shares(sample)
    weights = np.einsum("gcl,gc,g->clg", of_groups, share, 1 / np.sqrt(axes.sizes))
    # Covariates, which are 0 on average, have no part in them.
    lean = lean[..., :groups, :groups]
    mean = np.einsum("clg,lg->c", weights, stats.centre[0, :, :groups])
    size = weights / np.sqrt(stats.weight[0])[:, None]
    of_attributes = np.einsum("clg,dlgh,elh->dce", size, lean, size, optimize=True)
    of_words = np.einsum("gc,ge,g->gce", share, share, 1 / sample.group_worths)
    return mean, of_attributes + (of_words * (basis @ between @ basis.T)).sum(axis=1)


def _shared_points(
    block: Block, stats: ListStatistics, axes: Coordinates, draws: int, seed: list[int], proposal: Mixture | None
) -> ImportanceDraws:
    """Return weighted points from a proposal; where they fail, and without one, from the block's own."""
    if proposal is not None:
        with suppress(SamplerFailedError):
            return weighted_points(block, stats, axes, draws, np.random.default_rng(seed), proposal)
    return weighted_points(block, stats, axes, draws, np.random.default_rng(seed))


def _statistics_key(kind: int, block: Block, stats: ListStatistics, axes: Coordinates) -> tuple[Any, ...]:
    """Return all that the points of a kind depend on, up to rounding."""
    places = stats.lists_of(kind)
    numbers = (stats.scatter[0, places], stats.weight[0, places], stats.counts[places], axes.levels, axes.spreads)
    priors = (str(block.priors[name]) for name in block.names)
    return kind, *priors, *(np.round(values, 12).tobytes() for values in numbers)
