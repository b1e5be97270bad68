"""The density of a left-out attribute word in closed form: the multivariate model without it is not fitted again.

Given the hyperparameters, p(word | all other words) is the ratio of two marginal likelihoods (`list_model.py`), and the
posterior without the word is that with it, weighted by another ratio. Means and covariances are integrated out of both,
so that the weights of hyperparameters are good where those of all parameters are not.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.models.data import ModelData, subset
from bayesbias.models.likelihood import log_mean
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.multivariate.list_blocks import hyperparameter_points
from bayesbias.models.multivariate.list_model import (
    Coordinates,
    ListStatistics,
    coordinates_of,
    lean_log_density,
    list_statistics,
    regression_log_density,
)
from bayesbias.models.numerics.importance import pareto_weights

if TYPE_CHECKING:
    import xarray as xr

# Points of hyperparameters that are weighted: an average over them, with all else integrated out, has little error.
_POINTS = 1000


@dataclass(frozen=True, eq=False)
class LeftOutWords:
    """The words of a whole table with Normal attribute words, and draws of its hyperparameters.

    `points` has those of each block (`blocks_of`), `axes` are coordinates of the protected words.
    """

    data: ModelData
    sample: AttributeSample
    axes: Coordinates
    points: list[np.ndarray]

    def log_density(self, word: int) -> tuple[float, float]:
        """Return log p(rows of an attribute word | all other rows), and the k-hat of the weights behind it.

        Both are NaN if the word is the only one of its list.
        """
        if (self.sample.list_of == self.sample.list_of[word]).sum() == 1:
            return np.nan, np.nan
        reduced = attribute_sample(subset(self.data, self.data.attribute != word))
        shares = np.insert(reduced.word_shares, word, 0.0)
        place = self.sample.list_of[word]
        kind = int(self.sample.list_kind[place])
        without = self._statistics(shares)
        shares[word] = 1.0
        beside = self._statistics(shares)
        of_others = self._log_marginal(without, kind)
        of_word = self._log_marginal(beside, kind) - of_others
        # The constants of one more word: of its coordinates, and of the mean of its list.
        of_word -= 0.5 * len(self.data.protected_words) * np.log(np.pi)
        of_word -= 0.5 * self.axes.free * np.log(beside.weight[0, place] / without.weight[0, place])
        weights, khat = pareto_weights(of_others - self._whole[kind])
        with np.errstate(divide="ignore"):
            return float(log_mean(np.log(weights) + of_word) + np.log(len(weights))), khat

    @cached_property
    def _whole(self) -> list[np.ndarray]:
        """Log marginal likelihood of the words of each kind, as they were fitted."""
        stats = self._statistics(self.sample.word_shares)
        return [self._log_marginal(stats, kind) for kind in range(len(self.sample.kinds))]

    def _statistics(self, shares: np.ndarray) -> ListStatistics:
        weights = np.ones((1, len(shares)))
        return list_statistics(self.sample, self.sample.distances[None], weights, self.axes, shares)

    def _log_marginal(self, stats: ListStatistics, kind: int) -> np.ndarray:
        """Return log p(coordinates of a kind of words, and contrasts of all | points), shape (points,)."""
        value = lean_log_density(self.points[kind], kind, stats, self.axes)
        if self.axes.contrasts:
            value = value + regression_log_density(self.points[-1], stats, self.axes)
        return value


def left_out_words(fit: "xr.DataTree", data: ModelData) -> LeftOutWords | None:
    """Return the words of a multivariate fit; None for another model, with lost pairs, and if words are Student t."""
    posterior = fit["posterior"].to_dataset()
    if "list_mean" not in posterior or "nu" in posterior:
        return None
    sample = attribute_sample(data)
    if np.isnan(sample.distances).any():
        return None
    words = len(data.protected_words)
    axes = coordinates_of(np.zeros((words, words)), sample.pattern_of, sample.covariates)
    drawn = posterior.stack(sample=("chain", "draw"), create_index=False)
    step = max(1, drawn.sizes["sample"] // _POINTS)
    named = {
        str(name): values.transpose("sample", ...).to_numpy()[::step]
        for name, values in drawn.data_vars.items()
        if "protected_word" not in values.dims
    }
    return LeftOutWords(data, sample, axes, hyperparameter_points(named, sample, axes))
