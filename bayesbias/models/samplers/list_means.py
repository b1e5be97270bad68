"""Draws of the mean distances of lists: a few hyperparameters by importance sampling, all else given them.

`list_model.py` has the model and its closed form. Whole tables of Normal attribute words are drawn independently; where
pairs are lost, or attribute words are Student t, in sweeps (`list_sweeps.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from bayesbias.errors import FitError
from bayesbias.models.attribute_sample import AttributeSample, attribute_sample
from bayesbias.models.data import ModelData
from bayesbias.models.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.priors import Prior
from bayesbias.models.samplers.connection_moments import ConnectionMoments, connection_moments
from bayesbias.models.samplers.importance import ImportanceDraws, LogDensity, fit_proposal, resample
from bayesbias.models.samplers.list_blocks import (
    LEAN,
    blocks_of,
    completed_distances,
    draw_given,
    metropolis,
    metropolis_root,
    named_hyperparameters,
    table_statistics,
)
from bayesbias.models.samplers.list_model import Coordinates, coordinates_of, lean_posterior
from bayesbias.models.samplers.list_sweeps import draw_in_sweeps
from bayesbias.models.samplers.population import draw_effect_covariance, draw_population, plain_effects, word_means
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis

# With more protected words the covariance of their distances is not kept, which would take gigabytes.
MOST_WORDS_WITH_COVARIANCE = 60
# With more, lost pairs are not drawn, nor Student t attribute words fitted, which need it in each sweep.
MOST_WORDS_IN_SWEEPS = 120
_FEW_WORDS = 100
_LIMITS = (-12.0, 6.0)
_START = {
    **{"attribute_sd": 0.05, "group_attribute_sd": 0.03, "target_weight": 5.0},
    **{"sigma": 0.05, "residual_weight": 1.0, "list_effect": 0.3, "slope_sd": 0.5, "list_scale": 1.0},
}
# Points that are weighted: as many as this, and fewer where each takes long.
_POINTS, _FEWEST_POINTS, _CUBES = 2000, 100, 2e10
_LEAST_EFFECTIVE = 200
# The tails are long: where little is known of a kind of lists they are those of the priors.
_PROPOSAL_FREEDOM = 4.0
# Points with weights worse than this are moved by so many Metropolis steps each, which leave the posterior as it is and
# take away what the weights got wrong; weights without a mean (k-hat above 1) are refused all the same.
_KHAT_TO_MOVE, _MOVES, _KHAT_MOVED = 0.4, 20, 1.0


def why_not_conjugate(spec: ModelSpec) -> str | None:
    """Return the term of a model that `sample_list_means` does not fit, or None."""
    if spec.multivariate:
        return None
    return f"attribute_effects = {spec.switches['attribute_effects']!r}: only 'covariance' is drawn from its conjugates"


@dataclass(frozen=True, eq=False)
class ListMeanDraws:
    """Draws of the posterior by name, each of shape (draws, ...), and what the sampler says of its own error."""

    posterior: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]


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
    """Draw the mean distances of lists to protected words, and of words like these, from their posterior.

    Parameters
    ----------
    sample
        The table.
    connections
        Names of the connections, in the order of `sample.connection_weights`.
    draws
        Number of draws.
    seed
        Of the generators. Each block of hyperparameters has its own, so that those of stereotype lists do not depend
        on what else the table holds.
    likelihood
        ``"normal"`` or ``"student_t"``: that of attribute words.
    priors
        Priors of the hyperparameters.
    covariances
        Whether the covariances of distances are among the draws.

    Returns
    -------
    ListMeanDraws
        `connection_mean` (draws, connections) of words like these, `word_mean` (draws, words, connections) and
        `list_mean` (draws, lists, words) of these words, `word_covariance`, `residual_covariance` (draws, kinds,
        words, words) of attribute words, and the hyperparameters.

    Raises
    ------
    SamplerFailedError
        If the importance weights cannot be trusted.
    FitError
        If a table with lost pairs, or Student t attribute words, has too many protected words.

    Examples
    --------
    >>> from bayesbias.models.attribute_sample import attribute_sample
    >>> from bayesbias.models.data import model_data
    >>> data = model_data(table)
    >>> priors = bb.load_model("multivariate").priors
    >>> found = sample_list_means(attribute_sample(data), data.connections, draws=2000, seed=1, priors=priors)
    >>> gap = found.posterior["word_mean"][..., 0] - found.posterior["word_mean"][..., 1]
    >>> observed = table.groupby("connection", observed=True)["cosine_distance"].mean()
    >>> round(float(gap.mean()), 3), round(float(observed["associated"] - observed["different"]), 3)
    (-0.014, -0.014)
    """
    gone = np.isnan(sample.distances)
    words = sample.distances.shape[1]
    in_sweeps = likelihood == "student_t" or bool(gone.any())
    if in_sweeps and words > MOST_WORDS_IN_SWEEPS:
        why = f"{gone.sum():,} lost pairs" if gone.any() else "Student t attribute words"
        raise FitError(
            f"{words} protected words with {why}: this model takes at most {MOST_WORDS_IN_SWEEPS} then. Leave "
            "out the attribute words whose pairs were lost, or use the model 'crossed_per_list'."
        )
    completed = completed_distances(sample)
    keep = covariances and words <= MOST_WORDS_WITH_COVARIANCE
    # Covariances in all directions, or in those alone along which the distances vary.
    axes = coordinates_of(np.zeros((words, words)) if in_sweeps or keep else completed, sample.group_of)
    blocks = blocks_of(sample, priors, axes)
    stats = table_statistics(sample, completed[None], np.ones((1, len(completed))), axes)
    # The matrices of few words are small: with more threads, linear algebra takes longer.
    with singular_fails(), threadpool_limits(1 if words <= _FEW_WORDS else None, "blas"):
        found = [
            _importance(partial(of, stats=stats), names, axes, draws, np.random.default_rng([seed, at]))
            for at, (names, of) in enumerate(zip(blocks.names, blocks.log_densities, strict=True))
        ]
        if in_sweeps:
            starts = [block.points for block in found]
            lists, hyper = draw_in_sweeps(
                sample, likelihood, priors, completed, blocks, axes, starts, draws, seed, covariances=keep
            )
            return ListMeanDraws(with_population(lists, sample, priors, connections, seed) | hyper, {})
        points = [block.points for block in found]
        drawn = draw_given(points, stats, sample, axes, seed, draws=draws, covariances=keep)
    posterior = with_population(drawn.lists, sample, priors, connections, seed)
    posterior |= named_hyperparameters([np.resize(block, (draws, block.shape[1])) for block in points], sample, axes)
    if drawn.rest is not None:
        posterior["residual_covariance"] = drawn.covariances
    return ListMeanDraws(posterior, _error(found))


def connection_moments_of(
    sample: AttributeSample, connections: tuple[str, ...], *, draws: int, seed: int, priors: Mapping[str, Prior]
) -> ConnectionMoments | None:
    """Return the moments of the connection means of a whole table of Normal attribute words, for refits in loops.

    They need no single words' means, and so none of the regression. None where the means of groups do not suffice.
    """
    axes = coordinates_of(sample.distances, sample.group_of)
    blocks = blocks_of(sample, priors, axes)
    stats = table_statistics(sample, sample.distances[None], np.ones((1, len(sample.distances))), axes)
    kinds, rng = range(len(sample.kinds)), np.random.default_rng([seed, 100])
    lean = np.empty((draws, len(kinds), len(axes.sizes), len(axes.sizes)))
    with singular_fails():
        for kind, names, of in zip(kinds, blocks.names, blocks.log_densities, strict=False):
            found = _importance(partial(of, stats=stats), names, axes, draws, np.random.default_rng([seed, kind]))
            repeats = -(-draws // len(found.points))
            roots = lean_posterior(found.points, kind, stats, axes).roots(rng, repeats)[:draws]
            lean[:, kind] = roots @ np.swapaxes(roots, 1, 2)
    between = _effect_covariance(sample, sample.distances, priors, connections, draws, seed)
    basis = effects_basis(connections)
    return connection_moments(sample, stats, axes, lean, basis @ between @ basis.T)


def _effect_covariance(
    sample: AttributeSample,
    completed: np.ndarray,
    priors: Mapping[str, Prior],
    connections: tuple[str, ...],
    draws: int,
    seed: int,
) -> np.ndarray:
    """Draw the covariance of the effects of words like these, shape (draws, effects, effects)."""
    half_t, plain = priors["effect_sd"].parameters, plain_effects(sample, completed, connections)
    rng = np.random.default_rng([seed, 101])
    return draw_effect_covariance(plain, (half_t["nu"], half_t["sigma"]), draws, rng)


def _importance(
    log_density: LogDensity, names: tuple[str, ...], axes: Coordinates, draws: int, rng: np.random.Generator
) -> ImportanceDraws:
    """Return points of a block of hyperparameters."""
    size = len(axes.sizes) if names[0] == LEAN[0] else axes.within.shape[1] + 20
    count = int(np.clip(_CUBES / (8 * size**3), _FEWEST_POINTS, min(_POINTS, max(draws, 500))))
    start = np.log([_START[name] for name in names])
    proposal = fit_proposal(log_density, (start,), limits=_LIMITS, nu=_PROPOSAL_FREEDOM)
    found = resample(log_density, proposal, draws=count, rng=rng)
    if found.khat > _KHAT_TO_MOVE:
        step = metropolis_root(found.points)
        points = found.points
        for _ in range(_MOVES):
            points = metropolis(points, log_density, step, rng)
        found = replace(found, points=points)
    if not found.khat <= _KHAT_MOVED:
        raise SamplerFailedError(
            f"the importance weights of {', '.join(dict.fromkeys(names))} have a Pareto k-hat of {found.khat:.2f}, "
            f"above {_KHAT_MOVED:g}"
        )
    if found.effective < min(_LEAST_EFFECTIVE, count):
        raise SamplerFailedError(f"only {found.effective:.0f} of {found.tried:,} weighted points count")
    return found


def with_population(
    lists: np.ndarray, sample: AttributeSample, priors: Mapping[str, Prior], connections: tuple[str, ...], seed: int
) -> dict[str, np.ndarray]:
    """Return means of lists (draws, lists, words), of words and of words like these, by name."""
    means, basis = word_means(lists, sample.connection_weights), effects_basis(connections)
    between = _effect_covariance(sample, completed_distances(sample), priors, connections, len(lists), seed)
    measured, rng = sample.connection_weights.any(axis=2), np.random.default_rng([seed, 102])
    population = draw_population(means, measured, sample.group_of, basis, between, rng)
    covariance = basis @ between @ basis.T
    return {
        "connection_mean": population,
        "word_sd": np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)),
        "effect_sd": np.sqrt(np.diagonal(between, axis1=1, axis2=2)),
        "word_covariance": covariance,
        "word_mean": means,
        "list_mean": lists,
    }


def _error(found: list[ImportanceDraws]) -> dict[str, np.ndarray]:
    """Return what the weights say of their error, the worst of all blocks."""
    return {
        "importance_efficiency": np.asarray(min(block.efficiency for block in found)),
        "importance_ess": np.asarray(min(block.effective for block in found)),
        "pareto_khat": np.asarray(max(block.khat for block in found)),
        "points_weighted": np.asarray(sum(block.tried for block in found)),
    }
