"""One multivariate posterior, reweighted to what it would be without an attribute word, or drawn anew."""

import numpy as np

from bayesbias.estimates import contrast_name
from bayesbias.models.attribute_sample import attribute_sample
from bayesbias.models.contrast_estimate import Estimate, draws_estimate, weighted_estimate
from bayesbias.models.data import ModelData, subset
from bayesbias.models.likelihood import psis_weights
from bayesbias.models.samplers.importance import KHAT_MAX
from bayesbias.models.samplers.list_means import MOST_WORDS_WITH_COVARIANCE, sample_list_means
from bayesbias.models.spec import ModelSpec
from bayesbias.models.vector_likelihood import VectorDensities, vector_densities_of


def draw_list_means(
    data: ModelData, spec: ModelSpec, *, draws: int, seed: int, covariances: bool = False
) -> dict[str, np.ndarray]:
    """Return draws of a multivariate posterior by name, each of shape (draws, ...)."""
    return sample_list_means(
        attribute_sample(data),
        data.connections,
        draws=draws,
        seed=seed,
        likelihood=spec.switches["likelihood"],
        priors=spec.priors,
        covariances=covariances,
    ).posterior


class ListRefits:
    """The contrasts of a table without some of its rows: one attribute word by weights, anything else drawn anew.

    A posterior without an attribute word is the whole one, weighted by one over the word's density at each draw
    (Gelfand, Dey and Chang 1992), the weights smoothed and judged by Pareto's k-hat. What is drawn anew has the seed of
    the whole, and as many draws.
    """

    def __init__(self, data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int) -> None:
        self._data, self._spec, self._baseline, self._draws, self._seed = data, spec, baseline, draws, seed
        keep = len(data.protected_words) <= MOST_WORDS_WITH_COVARIANCE
        drawn = draw_list_means(data, spec, draws=draws, seed=seed, covariances=keep)
        self._densities: VectorDensities | None = (
            vector_densities_of(drawn, data, attribute_sample(data)) if keep else None
        )
        self._first, self._block = 0, np.empty((0, draws))
        self._contrasts = self._contrasts_of(drawn["connection_mean"], data)

    def _contrasts_of(self, means: np.ndarray, data: ModelData) -> dict[str, np.ndarray]:
        base = data.connections.index(self._baseline)
        return {
            contrast_name(self._baseline, other): means[:, base] - means[:, place]
            for place, other in enumerate(data.connections)
            if place != base
        }

    def _of_word(self, densities: VectorDensities, word: int) -> np.ndarray:
        """Return log p(all rows of an attribute word) at each draw; blocks of words are computed together."""
        if not self._first <= word < self._first + len(self._block):
            self._first, last = next(block for block in densities.word_blocks() if word < block[1])
            self._block = densities.of_words(self._first, last)
        return np.asarray(self._block[word - self._first])

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, Estimate]:
        """Return the estimate of each contrast that the kept rows, an array of bool, have."""
        left_out = np.unique(self._data.attribute[~keep])
        whole = not np.isin(self._data.attribute[keep], left_out).any()
        if spec.digest == self._spec.digest and whole and len(left_out) <= 1:
            weights, khat = np.full(self._draws, 1 / self._draws), -np.inf
            if len(left_out):
                khat = np.inf
                if self._densities is not None:
                    weights, khat = psis_weights(-self._of_word(self._densities, int(left_out[0])))
            if khat <= KHAT_MAX:
                return {name: weighted_estimate(weights, draws, hdi_prob) for name, draws in self._contrasts.items()}
        data = subset(self._data, keep)
        drawn = draw_list_means(data, spec, draws=self._draws, seed=self._seed)
        contrasts = self._contrasts_of(drawn["connection_mean"], data)
        return {name: draws_estimate(draws, hdi_prob) for name, draws in contrasts.items()}
