"""The posterior of contrasts without NUTS, for analyses that fit a model many times.

Models without attribute effects are drawn exactly. For crossed models the posterior of a contrast is a mixture
of Normals over weighted points of the scales, and no location is drawn.

If a sampler's own diagnostic fails, every function here raises `SamplerFailedError`, and its caller decides: to take
NUTS (`sensitivity`), or to leave that data set out and count it (`false_positive_rates`, `required_words`).
"""

from dataclasses import replace

import numpy as np

from bayesbias.base.checks import SEED_LIMIT
from bayesbias.models.data import ModelData, compared_part, subset
from bayesbias.models.multivariate.refits import MultivariateRefits, list_contrasts
from bayesbias.models.numerics.contrast_estimate import Contrast, ContrastEstimate, draws_contrasts, mixture_contrasts
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.numerics.proposals import KHAT_MAX, Mixture, poor_weights
from bayesbias.models.samplers.collapsed import (
    Collapsed,
    ConnectionMeanPosterior,
    collapse,
    connection_mean_posterior,
    propose,
    sample_collapsed,
)
from bayesbias.models.samplers.exact import sample_exact
from bayesbias.models.samplers.registry import sampler_for
from bayesbias.models.spec import ModelSpec
from bayesbias.models.units import model_in_distances, rows_in_distances

# Below this efficiency of the shared weights, a refit finds its own points.
_EFFICIENT = 0.3
# Draws that one weighted point replaces: the locations are integrated out.
_DRAWS_A_POINT = 2


def quick_contrasts(
    data: ModelData, spec: ModelSpec, *, baseline: str = "associated", draws: int, points: int, rng: np.random.Generator
) -> dict[str, Contrast]:
    """Return each contrast of a baseline with another connection, by names such as ``"associated - human"``.

    `sampler_for` the model must not be ``"nuts"``. An exact posterior has `draws` draws, a crossed one `points`
    weighted points, and a multivariate one the number in `list_contrasts`. Poor weights of a crossed posterior are
    improved in rounds and drawn from (`draws` draws), as in `fit`, before a `SamplerFailedError` is raised.

    >>> from bayesbias.models.data import model_data
    >>> rng = np.random.default_rng(1)
    >>> contrasts = quick_contrasts(model_data(table), bb.load_model("crossed"), draws=2000, points=500, rng=rng)
    >>> estimate = contrasts["associated - different"](0.89)
    >>> round(estimate.mean, 3), estimate.reading
    (-0.014, 'not settled')
    """
    sampler = sampler_for(spec)
    if not spec.multivariate:
        data = compared_part(data)
    if sampler == "exact":
        means = sample_exact(data, spec, draws=draws, rng=rng)[0]["connection_mean"]
    elif sampler == "conjugate":
        return list_contrasts(data, spec, baseline, draws=draws, seed=int(rng.integers(SEED_LIMIT)))
    else:
        collapsed = collapse(data, spec)
        weighted = connection_mean_posterior(collapsed, draws=points, rng=rng)
        if weighted.khat <= KHAT_MAX:
            return _from_points(weighted, data.connections, baseline)
        means = sample_collapsed(collapsed, draws=draws, rng=rng)[0]["connection_mean"]
    return draws_contrasts(means, data.connections, baseline)


def _from_points(weighted: ConnectionMeanPosterior, connections: tuple[str, ...], baseline: str) -> dict[str, Contrast]:
    if not weighted.khat <= KHAT_MAX:
        raise SamplerFailedError(poor_weights(weighted.khat, KHAT_MAX))
    return mixture_contrasts(weighted.weights, weighted.mean, weighted.covariance, connections, baseline)


class QuickRefits:
    """Fits of one table without some of its rows, or with other priors, that differ by these and not by chance.

    Crossed models are weighted at the same points in every refit, half as many as `draws`; a refit whose weights are
    poor there finds its own points. Multivariate models are refitted with the same seed (`MultivariateRefits`). Models
    without attribute effects are drawn with the same seed, and a connection that loses no row is drawn once. Contrasts
    are `baseline` minus each other connection, as in `quick_contrasts`. Priors and estimates are in the unit of the
    table; the scale of its numbers is that of all rows.
    """

    def __init__(self, data: ModelData, baseline: str, *, draws: int, seed: int) -> None:
        self._data, self._scale = rows_in_distances(data), data.scale
        self._baseline, self._draws, self._seed = baseline, draws, seed
        self._proposal: tuple[Mixture, int] | None = None
        self._drawn_once: dict[tuple[int, str], np.ndarray] = {}
        self._lists: MultivariateRefits | None = None

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, ContrastEstimate]:
        """Return the estimate of each contrast that the kept rows have; errors are those of `quick_contrasts`.

        `keep` is an array of bool of shape (rows,); `hdi_prob` is the probability inside the interval.
        """
        estimates = self._in_distances(keep, model_in_distances(spec, self._scale), hdi_prob)
        return {name: estimate.times(self._scale.unit) for name, estimate in estimates.items()}

    def _in_distances(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, ContrastEstimate]:
        """Return the estimates in the unit of cosine distances."""
        if sampler_for(spec) == "conjugate":
            if self._lists is None:
                self._lists = MultivariateRefits(self._data, spec, self._baseline, draws=self._draws, seed=self._seed)
            return self._lists.estimates(keep, spec, hdi_prob)
        data = subset(self._data, keep)
        if sampler_for(spec) == "exact":
            contrasts = draws_contrasts(self._exact(data, keep, spec), data.connections, self._baseline)
            return {name: contrast(hdi_prob) for name, contrast in contrasts.items()}
        weighted, shared = self._weighted(collapse(data, spec))
        contrasts = _from_points(weighted, data.connections, self._baseline)
        estimates = {name: contrast(hdi_prob) for name, contrast in contrasts.items()}
        # Points that are not shared have no partner in another refit.
        return estimates if shared else {name: replace(one, influence=None) for name, one in estimates.items()}

    def _weighted(self, collapsed: Collapsed) -> tuple[ConnectionMeanPosterior, bool]:
        """Return the connection means at weighted points, and whether all refits share the points."""
        if self._proposal is None:
            self._proposal = propose(collapsed), collapsed.scales
        proposal, scales = self._proposal
        if collapsed.scales != scales:
            return self._at_points(collapsed, None), False
        shared = self._at_points(collapsed, proposal)
        if shared.khat <= KHAT_MAX and shared.efficiency >= _EFFICIENT:
            return shared, True
        separate = self._at_points(collapsed, None)
        better = not shared.khat <= KHAT_MAX or separate.efficiency > shared.efficiency
        return (separate, False) if better else (shared, True)

    def _at_points(self, collapsed: Collapsed, proposal: Mixture | None) -> ConnectionMeanPosterior:
        count = self._draws // _DRAWS_A_POINT
        return connection_mean_posterior(collapsed, proposal, draws=count, rng=np.random.default_rng(self._seed))

    def _exact(self, data: ModelData, keep: np.ndarray, spec: ModelSpec) -> np.ndarray:
        """Return draws of the connection means, shape (draws, connections)."""
        positions = [self._data.connections.index(name) for name in data.connections]
        return np.stack([self._one_connection(position, keep, spec) for position in positions], axis=-1)

    def _one_connection(self, position: int, keep: np.ndarray, spec: ModelSpec) -> np.ndarray:
        """Return draws of one connection's mean: with separate scales, connections are independent."""
        connection_rows = self._data.connection == position
        rows, key = keep & connection_rows, (position, spec.digest)
        whole = bool(rows.sum() == connection_rows.sum())
        if whole and key in self._drawn_once:
            return self._drawn_once[key]
        rng = np.random.default_rng([self._seed, position])
        drawn = sample_exact(subset(self._data, rows), spec, draws=self._draws, rng=rng)[0]["connection_mean"][:, 0]
        if whole:
            self._drawn_once[key] = drawn
        return drawn
