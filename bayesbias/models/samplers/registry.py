"""The samplers of our own: which models each fits, how it draws, what it costs, and how it is described."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.posterior_draws import sample_multivariate, why_not_conjugate
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.samplers.collapsed import collapse, sample_collapsed, why_not_collapsed
from bayesbias.models.samplers.exact import sample_exact, why_not_exact
from bayesbias.models.spec import ModelSpec

Drawn = tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]
"""Draws of the posterior, of shape (draws, ...), and the sampler's report on its own error."""


@dataclass(frozen=True)
class Sampler:
    """A sampler that needs no chains.

    `why_not` returns the term of a model that it cannot fit, or None. `draw` takes data, model, number of draws and
    seed. `method` completes the sentence "We drew from the posterior by". `seconds` is what 4,000 draws of a usual
    table take at least on a slow core, and `quick_draws` the number of draws with which one of many tables is judged.
    """

    why_not: Callable[[ModelSpec], str | None]
    draw: Callable[[ModelData, ModelSpec, int, int], Drawn]
    method: str
    seconds: float
    quick_draws: int


def _exact(data: ModelData, spec: ModelSpec, draws: int, seed: int) -> Drawn:
    return sample_exact(data, spec, draws=draws, rng=np.random.default_rng(seed))


def _collapsed(data: ModelData, spec: ModelSpec, draws: int, seed: int) -> Drawn:
    return sample_collapsed(collapse(data, spec), draws=draws, rng=np.random.default_rng(seed))


def _conjugate(data: ModelData, spec: ModelSpec, draws: int, seed: int) -> Drawn:
    if reason := why_not_conjugate(spec):
        raise SamplerFailedError(reason)
    drawn = sample_multivariate(data, spec, draws=draws, seed=seed)
    return drawn.posterior, drawn.stats


# That of the default model, which the others do not fit, and then the fastest first.
SAMPLERS: dict[str, Sampler] = {
    "conjugate": Sampler(
        why_not_conjugate,
        _conjugate,
        "importance sampling of the hyperparameters, given which the posterior has a closed form",
        1.5,
        2000,
    ),
    "exact": Sampler(why_not_exact, _exact, "exact draws given a grid of the scales", 0.3, 4000),
    "collapsed": Sampler(
        why_not_collapsed,
        _collapsed,
        "importance sampling of the scales, with all means and effects integrated out",
        1.0,
        4000,
    ),
}


def sampler_for(spec: ModelSpec) -> str:
    """Return the fastest sampler that fits a model: ``"exact"``, ``"collapsed"``, ``"conjugate"`` or ``"nuts"``.

    >>> [sampler_for(bb.load_model(name)) for name in ("hierarchical", "crossed", "multivariate")]
    ['exact', 'collapsed', 'conjugate']
    >>> sampler_for(bb.load_model("hierarchical", priors={"connection_mean": "StudentT(4, 1, 0.3)"}))
    'nuts'
    """
    return next((name for name, sampler in SAMPLERS.items() if sampler.why_not(spec) is None), "nuts")
