"""The contrasts of multivariate posteriors, for analyses that fit the model many times."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from bayesbias.models.data import ModelData, subset
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.connection_moments import Earlier, connection_moments
from bayesbias.models.multivariate.list_means import keeps_covariances, sample_multivariate
from bayesbias.models.multivariate.vector_likelihood import vector_densities_of
from bayesbias.models.numerics.contrast_estimate import (
    Contrast,
    Estimate,
    contrast_positions,
    draws_contrasts,
    mixture_contrasts,
    weighted_estimate,
)
from bayesbias.models.numerics.importance import KHAT_MAX, pareto_weights
from bayesbias.models.spec import ModelSpec

# Draws that one component of a mixture replaces: given the covariances, the posterior of a contrast is Normal.
_DRAWS_A_MIXTURE = 4


def list_contrasts(
    data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int, earlier: Earlier | None = None
) -> dict[str, Contrast]:
    """Return the contrasts of a baseline with the other connections, by name.

    For a whole table of Normal attribute words they are mixtures of Normals over a quarter as many draws of the
    covariances, otherwise draws. `earlier` is what other refits drew (`connection_moments`).
    """
    moments = None
    if not _in_sweeps(data, spec):
        count, sample = max(draws // _DRAWS_A_MIXTURE, 500), attribute_sample(data)
        moments = connection_moments(
            sample, data.connections, draws=count, seed=seed, priors=spec.priors, earlier=earlier
        )
    if moments is None:
        drawn = sample_multivariate(data, spec, draws=draws, seed=seed, covariances=False)
        means = drawn.posterior["connection_mean"]
        return draws_contrasts(means, data.connections, baseline)
    mean, covariance = moments
    equal = np.full(len(covariance), 1 / len(covariance))
    return mixture_contrasts(equal, np.tile(mean, (len(equal), 1)), covariance, data.connections, baseline)


def _in_sweeps(data: ModelData, spec: ModelSpec) -> bool:
    """Return whether a table is fitted in sweeps: pairs were lost, or attribute words are Student t."""
    lost = len(data.distance) < len(data.attribute_words) * len(data.protected_words)
    return lost or spec.switches["likelihood"] != "normal"


class ListRefits:
    """The contrasts of a table without some of its rows, all with the same seed.

    A posterior that is fitted in sweeps is not fitted again when one attribute word is left out: its draws are weighted
    by one over the word's density (Gelfand, Dey and Chang 1992); the weights are smoothed and judged by Pareto's
    k-hat. All other refits are drawn again, with what they share with earlier ones (`connection_moments`).
    """

    def __init__(self, data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int) -> None:
        self._data, self._spec, self._baseline, self._draws, self._seed = data, spec, baseline, draws, seed
        self._earlier: Earlier = {}
        self._weighs = _in_sweeps(data, spec) and keeps_covariances(attribute_sample(data))

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, Estimate]:
        """Return the estimate of each contrast that the kept rows, an array of bool, have."""
        left_out = np.unique(self._data.attribute[~keep])
        one_word = len(left_out) <= 1 and not np.isin(self._data.attribute[keep], left_out).any()
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

    @cached_property
    def _whole(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draws of each contrast, and at each draw the log density of all rows of each attribute word."""
        drawn = sample_multivariate(self._data, self._spec, draws=self._draws, seed=self._seed).posterior
        densities = vector_densities_of(drawn, self._data, attribute_sample(self._data))
        positions = contrast_positions(self._data.connections, self._baseline)
        means = drawn["connection_mean"]
        contrasts = {name: means[:, base] - means[:, other] for name, base, other in positions}
        return contrasts, np.concatenate([densities.of_words(*block) for block in densities.word_blocks()])
