"""Draws of the mean distances of lists: a few hyperparameters by importance sampling, all else given them.

`list_model.py` has the model and its closed form. Whole tables of Normal attribute words are drawn independently;
tables with lost pairs, and Student t attribute words, in sweeps (`list_sweeps.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bayesbias.base.machine.threads import threadpool_limits
from bayesbias.base.number_text import counted
from bayesbias.errors import FitError
from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample, group_shares
from bayesbias.models.multivariate.list_blocks import (
    LEAN,
    Block,
    blocks_of,
    completed_distances,
    metropolis,
    metropolis_root,
    named_hyperparameters,
)
from bayesbias.models.multivariate.list_draws import draw_lists
from bayesbias.models.multivariate.list_model import Coordinates, ListStatistics, coordinates_of, list_statistics
from bayesbias.models.multivariate.list_sweeps import draw_in_sweeps
from bayesbias.models.multivariate.population import draw_effect_covariances, draw_population, plain_effects, word_means
from bayesbias.models.numerics.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.numerics.importance import (
    ImportanceDraws,
    Mixture,
    fit_proposal,
    importance_report,
    poor_weights,
    resample,
)
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis

# The largest covariances that are kept, in numbers a draw: more would take gigabytes.
MOST_COVARIANCE_NUMBERS = 3 * 60**2
# The most protected words for sweeps, each of which needs the covariance.
MOST_WORDS_IN_SWEEPS = 120
_FEW_WORDS = 100
_LIMITS = (-12.0, 6.0)
_START = {
    **{"attribute_sd": 0.05, "group_attribute_sd": 0.03, "target_weight": 5.0},
    **{"sigma": 0.05, "residual_weight": 1.0, "list_effect": 0.3, "slope_sd": 0.5, "list_scale": 1.0},
}
# Number of weighted points, and the smallest one where each takes long.
_POINTS, _FEWEST_POINTS, _CUBES = 2000, 100, 2e10
_LEAST_EFFECTIVE = 200
# The tails are long: for a kind of lists with little data they are those of the priors.
_PROPOSAL_FREEDOM = 4.0
# Points with worse weights are moved by so many Metropolis steps each, which leave the posterior unchanged and correct
# the weights' errors; weights without a mean (k-hat above 1) are refused.
KHAT_TO_MOVE, MOVES, _KHAT_MOVED = 0.4, 20, 1.0


def why_not_conjugate(spec: ModelSpec) -> str | None:
    """Return the term of a model that `sample_list_means` does not fit, or None."""
    if spec.multivariate:
        return None
    return f"attribute_effects = {spec.switches['attribute_effects']!r}: only 'covariance' is drawn from its conjugates"


@dataclass(frozen=True, eq=False)
class ListMeanDraws:
    """Draws of the posterior by name, each of shape (draws, ...), and the sampler's report on its own error."""

    posterior: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]


def keeps_covariances(sample: AttributeSample) -> bool:
    """Return whether the draws of a fit hold the covariance of the distances to the protected words, one for each list.

    They do for up to 51 protected words with four lists, and 46 with five.
    """
    return bool(len(sample.lists) * sample.distances.shape[1] ** 2 <= MOST_COVARIANCE_NUMBERS)


def sample_multivariate(
    data: ModelData, spec: ModelSpec, *, draws: int, seed: int, covariances: bool = True
) -> ListMeanDraws:
    """Return `sample_list_means` for a table and a multivariate model."""
    return sample_list_means(
        attribute_sample(data),
        data.connections,
        draws=draws,
        seed=seed,
        likelihood=spec.switches["likelihood"],
        priors=spec.priors,
        covariances=covariances,
    )


def sample_list_means(
    sample: AttributeSample,
    connections: tuple[str, ...],
    *,
    draws: int,
    seed: int,
    likelihood: str = "normal",
    priors: Mapping[str, Prior],
    covariances: bool = True,
) -> ListMeanDraws:
    """Return draws of the mean distances of lists to protected words, and of words like these.

    `connections` are the names for `sample.connection_weights`, `likelihood` (``"normal"`` or ``"student_t"``) is that
    of attribute words, `priors` are those of the hyperparameters; `covariances` is whether the covariances of distances
    are among the draws. Each block of hyperparameters has its own generator from `seed`, so that those of stereotype
    lists do not depend on other lists in the table.

    The posterior has `connection_mean` (draws, connections) of words like these, `word_mean` (draws, words,
    connections) and `list_mean` (draws, lists, words) of these words, `word_covariance`, `residual_covariance` (draws,
    lists, words, words) of attribute words, and the hyperparameters. Raises `SamplerFailedError` if the importance
    weights cannot be trusted, `FitError` if a table with lost pairs, or Student t attribute words, has too many
    protected words.

    >>> from bayesbias.models.multivariate.attribute_sample import attribute_sample
    >>> from bayesbias.models.data import model_data
    >>> data = model_data(table)
    >>> priors = bb.load_model("multivariate").priors
    >>> drawn = sample_list_means(attribute_sample(data), data.connections, draws=2000, seed=1, priors=priors)
    >>> gap = drawn.posterior["word_mean"][..., 0] - drawn.posterior["word_mean"][..., 1]
    >>> observed = table.groupby("connection", observed=True)["cosine_distance"].mean()
    >>> round(float(gap.mean()), 3), round(float(observed["associated"] - observed["different"]), 3)
    (-0.014, -0.014)
    """
    lost = np.isnan(sample.distances)
    words = sample.distances.shape[1]
    in_sweeps = likelihood == "student_t" or bool(lost.any())
    if in_sweeps and words > MOST_WORDS_IN_SWEEPS:
        why = counted(lost.sum(), "lost pair") if lost.any() else "Student t attribute words"
        raise FitError(
            f"{counted(words, 'protected word')} with {why}: this model then takes at most {MOST_WORDS_IN_SWEEPS}. "
            "Leave out the attribute words with lost pairs, or use the model 'crossed_per_list'."
        )
    completed = completed_distances(sample)
    keep = covariances and keeps_covariances(sample)
    # Covariances need all directions, means only those along which the distances vary.
    varying = np.zeros((words, words)) if in_sweeps or keep else completed
    axes = coordinates_of(varying, sample.pattern_of, sample.covariates)
    blocks = blocks_of(sample, priors, axes)
    stats = list_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
    # Threads cost more than they save with the small matrices of few words.
    with singular_fails(), threadpool_limits(1 if words <= _FEW_WORDS else None, "blas"):
        weighted = [
            weighted_points(block, stats, axes, draws, np.random.default_rng([seed, place]))
            for place, block in enumerate(blocks)
        ]
        points = [block.points for block in weighted]
        if in_sweeps:
            nu = priors["nu"] if likelihood == "student_t" else None
            lists, hyper = draw_in_sweeps(sample, axes, blocks, points, nu=nu, draws=draws, seed=seed, covariances=keep)
            return ListMeanDraws(with_population(lists, sample, priors, connections, seed) | hyper, {})
        lists, residual_covariance = draw_lists(points, stats, axes, seed, draws=draws, covariances=keep)
    posterior = with_population(lists, sample, priors, connections, seed)
    posterior |= named_hyperparameters([np.resize(block, (draws, block.shape[1])) for block in points], sample, axes)
    if residual_covariance is not None:
        posterior["residual_covariance"] = residual_covariance
    return ListMeanDraws(posterior, importance_report(weighted))


def effect_covariances(
    sample: AttributeSample,
    priors: Mapping[str, Prior],
    connections: tuple[str, ...],
    draws: int,
    seed: int,
    earlier: dict[tuple[Any, ...], Any] | None = None,
) -> np.ndarray:
    """Draw the covariances of the effects of words like these, shape (draws, groups, effects, effects).

    `earlier` is as in `draw_effect_covariances`.
    """
    half_t, plain = priors["effect_sd"].parameters, plain_effects(sample, completed_distances(sample), connections)
    rng = np.random.default_rng([seed, 101])
    return draw_effect_covariances(plain, (half_t["nu"], half_t["sigma"]), draws, rng, earlier)


def weighted_points(
    block: Block,
    stats: ListStatistics,
    axes: Coordinates,
    draws: int,
    rng: np.random.Generator,
    proposal: Mixture | None = None,
) -> ImportanceDraws:
    """Return weighted points of a block of hyperparameters, drawn from a proposal; None: one around the mode."""
    log_density = partial(block.log_density, stats=stats)
    size = axes.free if block.names[0] == LEAN[0] else axes.within.shape[1] + 20
    count = int(np.clip(_CUBES / (8 * size**3), _FEWEST_POINTS, min(_POINTS, max(draws, 500))))
    if proposal is None:
        start = np.log([_START[name] for name in block.names])
        proposal = fit_proposal(log_density, (start,), limits=_LIMITS, nu=_PROPOSAL_FREEDOM)
    drawn = resample(log_density, proposal, draws=count, rng=rng)
    if drawn.khat > KHAT_TO_MOVE:
        step = metropolis_root(drawn.points)
        drawn = replace(drawn, points=metropolis(drawn.points, log_density, step, rng, MOVES))
    if not drawn.khat <= _KHAT_MOVED:
        names = ", ".join(dict.fromkeys(block.names))
        raise SamplerFailedError(poor_weights(drawn.khat, _KHAT_MOVED, f" of {names}"))
    if drawn.effective < min(_LEAST_EFFECTIVE, count):
        raise SamplerFailedError(f"only {drawn.effective:.0f} of {drawn.tried:,} weighted points count")
    return drawn


def with_population(
    lists: np.ndarray, sample: AttributeSample, priors: Mapping[str, Prior], connections: tuple[str, ...], seed: int
) -> dict[str, np.ndarray]:
    """Return means of lists (draws, lists, words), of these words and of words like these, by name."""
    means, basis = word_means(lists, sample.connection_weights), effects_basis(connections)
    between = effect_covariances(sample, priors, connections, len(lists), seed)
    measured, rng = sample.connection_weights.any(axis=2), np.random.default_rng([seed, 102])
    population = draw_population(
        means, measured, sample.group_of, group_shares(sample), basis, between, sample.group_worths, rng
    )
    # What is reported is the average over the groups that are compared.
    compared = np.unique(sample.group_of[sample.compared])
    between = between[:, compared].mean(axis=1)
    covariance = basis @ between @ basis.T
    return {
        "connection_mean": population,
        "word_sd": np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)),
        "effect_sd": np.sqrt(np.diagonal(between, axis1=1, axis2=2)),
        "word_covariance": covariance,
        "word_mean": means,
        "list_mean": lists,
    }
