"""The posterior of contrasts without NUTS, for whatever fits a model many times.

Which sampler fits a model is known here and nowhere else. Models without attribute effects are drawn exactly. Of
crossed Normal models no location is drawn: the posterior of a contrast is a mixture of Normals over weighted points of
the scales.

Where a sampler's own diagnostic fails, every function here raises `SamplerFailedError`, and its caller decides: to take
NUTS (`sensitivity`), or to leave that data set out and count it (`false_positive_rates`, `required_words`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bayesbias.base.checks import SEED_LIMIT
from bayesbias.estimates.intervals import contrast_name
from bayesbias.models.data import ModelData, subset
from bayesbias.models.multivariate.list_means import why_not_conjugate
from bayesbias.models.multivariate.list_refits import ListRefits, list_contrasts
from bayesbias.models.numerics.contrast_estimate import Estimate, draws_estimate, mixture_estimate
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.numerics.importance import KHAT_MAX, Proposal
from bayesbias.models.samplers.collapsed import Collapsed, collapse, propose, sample_collapsed, why_not_collapsed
from bayesbias.models.samplers.connection_means import ConnectionMeanPosterior, connection_mean_posterior
from bayesbias.models.samplers.exact import sample_exact, why_not_exact
from bayesbias.models.spec import ModelSpec

# The fast samplers, the fastest first: each says which term of a model it does not fit, or None.
SAMPLERS: dict[str, Callable[[ModelSpec], str | None]] = {
    "exact": why_not_exact,
    "collapsed": why_not_collapsed,
    "conjugate": why_not_conjugate,
}
Contrast = Callable[[float], Estimate]
"""Probability inside the interval -> the estimate of one contrast."""

# With less efficient weights a refit finds its own points.
_EFFICIENT = 0.3
# With the locations integrated out, a point says more than a draw.
_DRAWS_A_POINT = 2


def sampler_for(spec: ModelSpec) -> str:
    """Return the fastest sampler that fits a model: ``"exact"``, ``"collapsed"``, ``"conjugate"`` or ``"nuts"``.

    Examples
    --------
    >>> [sampler_for(bb.load_model(name)) for name in ("hierarchical", "crossed", "multivariate", "robust")]
    ['exact', 'collapsed', 'conjugate', 'nuts']
    """
    return next((name for name, why_not in SAMPLERS.items() if why_not(spec) is None), "nuts")


def quick_contrasts(
    data: ModelData,
    spec: ModelSpec,
    *,
    baseline: str = "associated",
    draws: int,
    points: int,
    rng: np.random.Generator,
) -> dict[str, Contrast]:
    """Return each contrast of a baseline with another connection, by names such as ``"associated - human"``.

    `sampler_for` the model must not be ``"nuts"``. An exact posterior has `draws` draws, a crossed one `points`
    weighted points, and a multivariate one as many as `list_contrasts` says. Where the weights of a crossed one are
    poor, they are improved in rounds and drawn from (`draws` draws), as `fit` does, before a `SamplerFailedError`.

    >>> from bayesbias.models.data import model_data
    >>> rng = np.random.default_rng(1)
    >>> found = quick_contrasts(model_data(table), bb.load_model("crossed"), draws=2000, points=500, rng=rng)
    >>> estimate = found["associated - different"](0.89)
    >>> round(estimate.mean, 3), estimate.conclusion
    (-0.014, 'not settled')
    """
    sampler = sampler_for(spec)
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
    return _from_draws(means, data.connections, baseline)


def _from_draws(means: np.ndarray, connections: tuple[str, ...], baseline: str) -> dict[str, Contrast]:
    return {
        contrast: partial(draws_estimate, means[:, base] - means[:, other])
        for contrast, base, other in _contrasts(connections, baseline)
    }


def _from_points(weighted: ConnectionMeanPosterior, connections: tuple[str, ...], baseline: str) -> dict[str, Contrast]:
    if not weighted.khat <= KHAT_MAX:
        raise SamplerFailedError(f"the importance weights have a Pareto k-hat of {weighted.khat:.2f}, above {KHAT_MAX}")
    mean, covariance = weighted.mean, weighted.covariance
    found: dict[str, Contrast] = {}
    for contrast, base, other in _contrasts(connections, baseline):
        variance = covariance[:, base, base] + covariance[:, other, other] - 2 * covariance[:, base, other]
        found[contrast] = partial(mixture_estimate, weighted.weights, mean[:, base] - mean[:, other], np.sqrt(variance))
    return found


def _contrasts(connections: tuple[str, ...], baseline: str) -> list[tuple[str, int, int]]:
    """Return name and places of each contrast with the baseline."""
    base = connections.index(baseline)
    return [(contrast_name(baseline, name), base, place) for place, name in enumerate(connections) if place != base]


class QuickRefits:
    """Fits of one table without some of its rows, or with other priors, that differ by these and not by chance.

    Crossed models are weighted at the same points in every refit, half as many as `draws`; where their weights are poor
    there, a refit finds points of its own. Multivariate models
    are refitted with the same seed (`ListRefits`). Models without attribute effects are drawn with the same seed, and a
    connection that loses no row is drawn once. Contrasts are `baseline` minus each other connection, as in
    `quick_contrasts`.
    """

    def __init__(self, data: ModelData, baseline: str, *, draws: int, seed: int) -> None:
        self._data, self._baseline, self._draws, self._seed = data, baseline, draws, seed
        self._proposal: tuple[Proposal, int] | None = None
        self._drawn_once: dict[tuple[int, str], np.ndarray] = {}
        self._lists: ListRefits | None = None

    def estimates(self, keep: np.ndarray, spec: ModelSpec, hdi_prob: float) -> dict[str, Estimate]:
        """Return the estimate of each contrast that the kept rows have; fails as `quick_contrasts` does.

        `keep` is an array of bool of shape (rows,); `hdi_prob` is the probability inside the interval.
        """
        if sampler_for(spec) == "conjugate":
            return self._of_lists(spec).estimates(keep, spec, hdi_prob)
        data, shared = subset(self._data, keep), True
        if sampler_for(spec) == "exact":
            found = _from_draws(self._exact(data, keep, spec), data.connections, self._baseline)
        else:
            weighted, shared = self._weighted(collapse(data, spec))
            found = _from_points(weighted, data.connections, self._baseline)
        estimates = {name: contrast(hdi_prob) for name, contrast in found.items()}
        # Points of its own have no partner among those of another refit.
        return estimates if shared else {name: replace(one, influence=None) for name, one in estimates.items()}

    def _of_lists(self, spec: ModelSpec) -> ListRefits:
        if self._lists is None:
            self._lists = ListRefits(self._data, spec, self._baseline, draws=self._draws, seed=self._seed)
        return self._lists

    def _weighted(self, collapsed: Collapsed) -> tuple[ConnectionMeanPosterior, bool]:
        """Return the connection means at weighted points, and whether all refits share these."""
        if self._proposal is None:
            self._proposal = propose(collapsed), collapsed.scales
        proposal, scales = self._proposal
        if collapsed.scales != scales:
            return self._at_points(collapsed, None), False
        shared = self._at_points(collapsed, proposal)
        if shared.khat <= KHAT_MAX and shared.efficiency >= _EFFICIENT:
            return shared, True
        own = self._at_points(collapsed, None)
        better = not shared.khat <= KHAT_MAX or own.efficiency > shared.efficiency
        return (own, False) if better else (shared, True)

    def _at_points(self, collapsed: Collapsed, proposal: Proposal | None) -> ConnectionMeanPosterior:
        count = self._draws // _DRAWS_A_POINT
        return connection_mean_posterior(collapsed, proposal, draws=count, rng=np.random.default_rng(self._seed))

    def _exact(self, data: ModelData, keep: np.ndarray, spec: ModelSpec) -> np.ndarray:
        """Return draws of the connection means, shape (draws, connections)."""
        if spec.switches["scale"] == "common":
            rng = np.random.default_rng(self._seed)
            return sample_exact(data, spec, draws=self._draws, rng=rng)[0]["connection_mean"]
        places = [self._data.connections.index(name) for name in data.connections]
        return np.stack([self._one_connection(place, keep, spec) for place in places], axis=-1)

    def _one_connection(self, place: int, keep: np.ndarray, spec: ModelSpec) -> np.ndarray:
        """Return draws of one connection's mean: with scales of their own, connections are independent."""
        own = self._data.connection == place
        rows, key = keep & own, (place, spec.digest)
        whole = bool(rows.sum() == own.sum())
        if whole and key in self._drawn_once:
            return self._drawn_once[key]
        rng = np.random.default_rng([self._seed, place])
        drawn = sample_exact(subset(self._data, rows), spec, draws=self._draws, rng=rng)[0]["connection_mean"][:, 0]
        if whole:
            self._drawn_once[key] = drawn
        return drawn
