"""The contrasts of multivariate posteriors, for analyses that fit the model many times."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesbias.models.data import ModelData, subset
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    effects_basis,
    group_shares,
    without_attribute_words,
)
from bayesbias.models.multivariate.marginal_likelihood import (
    Block,
    Coordinates,
    LeanStatistics,
    Terms,
    blocks_of,
    coordinates_of,
    lean_statistics,
)
from bayesbias.models.multivariate.posterior_draws import (
    draw_lean_roots,
    effect_covariances,
    keeps_covariances,
    sample_multivariate,
    weighted_points,
)
from bayesbias.models.multivariate.predictive_density import vector_densities_of
from bayesbias.models.numerics.contrast_estimate import (
    Contrast,
    ContrastEstimate,
    contrast_positions,
    draws_contrasts,
    mixture_contrasts,
    weighted_estimate,
)
from bayesbias.models.numerics.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.numerics.proposals import KHAT_MAX, Candidates, ImportanceDraws, pareto_weights, resample_from
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec, prior_name

# Fewer effective points of the shared ones are too few.
_LEAST_EFFECTIVE = 200

Earlier = dict[tuple[Any, ...], Any]
"""Draws of earlier refits, by the draws, seed and data that determine them."""

# Draws that one component of a mixture replaces: given the covariances, the posterior of a contrast is Normal.
_DRAWS_A_MIXTURE = 4


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

    Without one attribute word, only the hyperparameters of the kind of its list change: the points of the first refit
    are weighted again, if their weights are good.
    """
    if sample.pattern_of.max() > sample.group_of.max():
        return None
    earlier = {} if earlier is None else earlier
    covariates = b"" if sample.covariates is None else sample.covariates.tobytes()
    of_words = "axes", sample.pattern_of.tobytes(), covariates
    if of_words not in earlier:  # of the contrasts of words, only the number matters here
        words = len(sample.pattern_of)
        earlier[of_words] = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    axes = earlier[of_words]
    x = sample.distances[None] @ axes.between
    stats, groups = lean_statistics(sample, x, np.ones((1, len(sample.distances)))), len(axes.sizes)
    of_groups = sample.connection_weights[np.unique(sample.group_of, return_index=True)[1]]
    share = group_shares(sample)
    weights = np.einsum("gcl,gc,g->clg", of_groups, share, 1 / np.sqrt(axes.sizes))
    size = weights / np.sqrt(stats.weight[0])[:, None]
    covariance = np.zeros((draws, len(connections), len(connections)))
    for kind, block in enumerate(blocks_of(sample, priors, axes)[: len(sample.kinds)]):
        key, places = _statistics_key(kind, block, stats, axes), stats.lists_of(kind)
        if key not in earlier:
            shared = "shared", sample.kinds[kind], block.names
            drawn = _block_points(block, stats, axes, draws, [seed, kind], earlier.get(shared))
            if shared not in earlier:
                count, generator = 4 * len(drawn.points), np.random.default_rng([seed, kind])
                earlier[shared] = Candidates.drawn(drawn.proposal, count, generator), {}
            earlier[key] = drawn.points
        if (of_kind := (*key, size[:, places].tobytes())) not in earlier:
            rng = np.random.default_rng([seed, 100, kind])
            roots = draw_lean_roots(earlier[key], kind, stats, axes, rng, draws)
            # Covariates, which are 0 on average, have no part in the means.
            of_lists = np.einsum("clg,dlgr->dclr", size[:, places], roots[:, :, :groups])
            of_lists = of_lists.reshape(draws, len(connections), -1)
            earlier[of_kind] = of_lists @ np.swapaxes(of_lists, 1, 2)
        covariance += earlier[of_kind]
    between, basis = effect_covariances(sample, priors, connections, draws, seed, earlier), effects_basis(connections)
    mean = np.einsum("clg,lg->c", weights, stats.centre[0, :, :groups])
    of_words_like_these = np.einsum("gc,ge,g->gce", share, share, 1 / sample.group_worths)
    return mean, covariance + (of_words_like_these * (basis @ between @ basis.T)).sum(axis=1)


def _block_points(
    block: Block,
    stats: LeanStatistics,
    axes: Coordinates,
    draws: int,
    seed: list[int],
    shared: tuple[Candidates, dict[tuple[bytes, bytes], Terms]] | None,
) -> ImportanceDraws:
    """Return points of a block: the shared ones, weighted; where they fail, and without them, points of its own.

    With the shared points come the terms of their density that earlier refits computed, by the sizes of the groups.
    """
    if shared is None:
        return weighted_points(block, stats, axes, draws, np.random.default_rng(seed))
    candidates, terms = shared
    of_axes = terms.setdefault((axes.levels.tobytes(), axes.spreads.tobytes()), {})
    log_density, rng = block.log_density(candidates.points, stats, terms=of_axes), np.random.default_rng(seed)
    drawn = resample_from(candidates, log_density, draws=len(candidates.points) // 4, rng=rng)
    if drawn.khat <= KHAT_MAX and drawn.effective >= _LEAST_EFFECTIVE:
        return drawn
    with suppress(SamplerFailedError):
        return weighted_points(block, stats, axes, draws, np.random.default_rng(seed), candidates.proposal)
    return weighted_points(block, stats, axes, draws, np.random.default_rng(seed))


def _statistics_key(kind: int, block: Block, stats: LeanStatistics, axes: Coordinates) -> tuple[Any, ...]:
    """Return all that the points of a kind depend on, up to rounding."""
    places = stats.lists_of(kind)
    numbers = (stats.scatter[0, places], stats.weight[0, places], stats.counts[places], axes.levels, axes.spreads)
    priors = (str(block.priors[prior_name(name)]) for name in block.names)
    return kind, *priors, *(np.round(values, 12).tobytes() for values in numbers)


def list_contrasts(
    data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int, earlier: Earlier | None = None
) -> dict[str, Contrast]:
    """Return the contrasts of a baseline with the other connections, by name.

    For a whole table of Normal attribute words they are mixtures of Normals over a quarter as many draws of the
    covariances, otherwise draws. `earlier` is what other refits drew (`connection_moments`).
    """
    if not _in_sweeps(data, spec):
        sample, names = attribute_sample(data), data.connections
        contrasts = _contrasts_of(sample, names, spec, baseline, draws=draws, seed=seed, earlier=earlier)
        if contrasts is not None:
            return contrasts
    drawn = sample_multivariate(data, spec, draws=draws, seed=seed, covariances=False)
    return draws_contrasts(drawn.posterior["connection_mean"], data.connections, baseline)


def _contrasts_of(
    sample: AttributeSample,
    connections: tuple[str, ...],
    spec: ModelSpec,
    baseline: str,
    *,
    draws: int,
    seed: int,
    earlier: Earlier | None,
) -> dict[str, Contrast] | None:
    """Return the contrasts of a whole table of Normal attribute words; None if `connection_moments` has none."""
    count = max(draws // _DRAWS_A_MIXTURE, 500)
    moments = connection_moments(sample, connections, draws=count, seed=seed, priors=spec.priors, earlier=earlier)
    if moments is None:
        return None
    mean, covariance = moments
    equal = np.full(len(covariance), 1 / len(covariance))
    return mixture_contrasts(equal, np.tile(mean, (len(equal), 1)), covariance, connections, baseline)


def _in_sweeps(data: ModelData, spec: ModelSpec) -> bool:
    """Return whether a table is fitted in sweeps: pairs were lost, or attribute words are Student t."""
    lost = len(data.distance) < len(data.attribute_words) * len(data.protected_words)
    return lost or spec.switches["likelihood"] != "normal"


class MultivariateRefits:
    """The contrasts of a table without some of its rows, all with the same seed.

    A posterior that is fitted in sweeps is not fitted again when one attribute word is left out: its draws are weighted
    by one over the word's density (Gelfand, Dey and Chang 1992); the weights are smoothed and judged by Pareto's
    k-hat. All other refits are drawn again, with what they share with earlier ones (`connection_moments`).
    """

    def __init__(self, data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int) -> None:
        self._data, self._spec, self._baseline, self._draws, self._seed = data, spec, baseline, draws, seed
        self._earlier: Earlier = {}
        self._weighs = _in_sweeps(data, spec) and keeps_covariances(attribute_sample(data))

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, ContrastEstimate]:
        """Return the estimate of each contrast that the kept rows, an array of bool, have."""
        rows_left = np.bincount(self._data.attribute[keep], minlength=len(self._data.attribute_words))
        if (sample := self._without_words(rows_left, spec)) is not None:
            options: dict[str, Any] = {"draws": self._draws, "seed": self._seed, "earlier": self._earlier}
            if of_words := _contrasts_of(sample, self._data.connections, spec, self._baseline, **options):
                return {name: estimate(hdi_prob) for name, estimate in of_words.items()}
        left_out = np.unique(self._data.attribute[~keep])
        one_word = len(left_out) <= 1 and not rows_left[left_out].any()
        if self._weighs and one_word and spec.digest == self._spec.digest:
            contrasts, log_density = self._whole
            weights, khat = np.full(self._draws, 1 / self._draws), -np.inf
            if len(left_out):
                # A word's likelihood has the power of its share.
                share = attribute_sample(self._data).word_shares[left_out[0]]
                weights, khat = pareto_weights(-share * log_density[left_out[0]])
            if khat <= KHAT_MAX:
                return {name: weighted_estimate(weights, draws, hdi_prob) for name, draws in contrasts.items()}
        data = subset(self._data, keep)
        refitted = list_contrasts(data, spec, self._baseline, draws=self._draws, seed=self._seed, earlier=self._earlier)
        estimates = {name: estimate(hdi_prob) for name, estimate in refitted.items()}
        # The whole fit has draws of its own: its Monte Carlo error is not that of these.
        return {name: replace(one, influence=None) for name, one in estimates.items()} if self._weighs else estimates

    def _without_words(self, rows_left: np.ndarray, spec: ModelSpec) -> AttributeSample | None:
        """Return the sample of attribute words, given how many rows each has left; None if it needs the rows."""
        data, keep = self._data, rows_left > 0
        if _in_sweeps(data, spec) or not (rows_left[keep] == len(data.protected_words)).all():
            return None
        recorded = data.attribute_groups is not None and None not in (data.protected_links, data.attribute_links)
        if not keep.all() and not (recorded and self._lists_differ):
            return None
        return without_attribute_words(self._sample, keep)

    @cached_property
    def _sample(self) -> AttributeSample:
        return attribute_sample(self._data)

    @cached_property
    def _lists_differ(self) -> bool:
        """Whether each list has a name of its own."""
        names = self._data.attribute_groups
        return names is not None and len(set(names.tolist())) == len(self._sample.lists)

    @cached_property
    def _whole(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draws of each contrast, and at each draw the log density of all rows of each attribute word."""
        drawn = sample_multivariate(self._data, self._spec, draws=self._draws, seed=self._seed).posterior
        densities = vector_densities_of(drawn, self._data, attribute_sample(self._data))
        positions = contrast_positions(self._data.connections, self._baseline)
        means = drawn["connection_mean"]
        contrasts = {name: means[:, base] - means[:, other] for name, base, other in positions}
        log_density = np.empty((len(self._data.attribute_words), densities.draws))
        for words in densities.blocks():
            log_density[words] = densities.of_words(words)
        return contrasts, log_density
