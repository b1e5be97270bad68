"""One multivariate posterior, reweighted to what it would be without an attribute word, or drawn anew."""

from collections.abc import Callable

import numpy as np

from bayesbias.estimates import contrast_name
from bayesbias.models.contrast_estimate import Estimate, weighted_estimate
from bayesbias.models.data import ModelData, list_names, subset
from bayesbias.models.likelihood import log_mean, psis_weights
from bayesbias.models.samplers.importance import KHAT_MAX
from bayesbias.models.samplers.multivariate import attribute_sample, sample_multivariate, sweeps_a_draw
from bayesbias.models.spec import ModelSpec
from bayesbias.models.vector_likelihood import vector_densities_of

_CHAINS, _TUNE = 2, 500
Draw = Callable[[ModelData, ModelSpec, float], dict[str, Estimate]]
"""Data, model, probability inside the interval -> estimates of a posterior drawn anew."""


def density_without(data: ModelData, word: int, spec: ModelSpec, *, draws: int, seed: int) -> float:
    """Return log p(all rows of an attribute word | all other rows) from draws of a posterior without them.

    NaN if nothing else tells what its connections, its kind of list or its protected words are.
    """
    rest = subset(data, data.attribute != word)
    known = rest.connections == data.connections and len(rest.protected_words) == len(data.protected_words)
    if not known or list_names(rest) != list_names(data):
        return float("nan")
    drawn = _sweeps(rest, spec, draws, seed)
    order = [rest.protected_words.tolist().index(name) for name in data.protected_words.tolist()]
    drawn["word_mean"] = drawn["word_mean"][:, order]
    drawn["residual_covariance"] = drawn["residual_covariance"][:, order][:, :, order]
    return float(log_mean(vector_densities_of(drawn, data).of_words(word, word + 1))[0])


def _sweeps(data: ModelData, spec: ModelSpec, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Return draws of two chains, one after the other, each of shape (draws, ...), by name."""
    found = sample_multivariate(
        attribute_sample(data),
        spec,
        draws=-(-draws // _CHAINS),
        tune=_TUNE,
        chains=_CHAINS,
        seed=seed,
        thin=sweeps_a_draw(len(data.protected_words)),
    )
    return {name: values.reshape(-1, *values.shape[2:]) for name, values in found.items()}


class ReweightedSweeps:
    """The contrasts of a table without some of its rows: one attribute word by weights, anything else drawn anew.

    A posterior without an attribute word is the whole one, weighted by one over the word's density at each draw
    (Gelfand, Dey and Chang 1992), the weights smoothed and judged by Pareto's k-hat.
    """

    def __init__(self, data: ModelData, spec: ModelSpec, baseline: str, *, draws: int, seed: int, anew: Draw) -> None:
        self._data, self._spec, self._anew = data, spec, anew
        drawn = _sweeps(data, spec, draws, seed)
        self._densities = vector_densities_of(drawn, data)
        self._first, self._block = 0, np.empty((0, self._densities.draws))
        base = data.connections.index(baseline)
        self._contrasts = {
            contrast_name(baseline, other): drawn["connection_mean"][:, base] - drawn["connection_mean"][:, place]
            for place, other in enumerate(data.connections)
            if place != base
        }

    def _of_word(self, word: int) -> np.ndarray:
        """Return log p(all rows of an attribute word) at each draw; blocks of words are computed together."""
        if not self._first <= word < self._first + len(self._block):
            self._first, last = next(block for block in self._densities.word_blocks() if word < block[1])
            self._block = self._densities.of_words(self._first, last)
        return np.asarray(self._block[word - self._first])

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, Estimate]:
        """Return the estimate of each contrast that the kept rows, an array of bool, have."""
        left_out = np.unique(self._data.attribute[~keep])
        whole = not np.isin(self._data.attribute[keep], left_out).any()
        if spec.digest == self._spec.digest and whole and len(left_out) <= 1:
            weights = np.full(self._densities.draws, 1 / self._densities.draws)
            khat = -np.inf
            if len(left_out):
                weights, khat = psis_weights(-self._of_word(int(left_out[0])))
            if khat <= KHAT_MAX:
                return {name: weighted_estimate(weights, draws, hdi_prob) for name, draws in self._contrasts.items()}
        return self._anew(subset(self._data, keep), spec, hdi_prob)
