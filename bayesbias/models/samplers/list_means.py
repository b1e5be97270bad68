"""Draws of the mean distances of lists: a few hyperparameters by importance sampling, all else given them.

The successor of the multivariate model, whose word effects pull a contrast away from the data where something is
associated (`validation/real_gaps`). It is not among the models of `fit` yet.

`list_model.py` has the model and its closed form. Whole tables of Normal attribute words are drawn independently.
Where pairs are lost, or attribute words are Student t, the table is completed in sweeps: hyperparameters by Metropolis
steps, means and covariances given them, then lost pairs and the weights of attribute words given all else. Many chains
run side by side, each from a point of the posterior of a table that was completed by its averages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bayesbias.errors import FitError
from bayesbias.models.attribute_sample import AttributeSample
from bayesbias.models.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.priors import Prior, parse_prior
from bayesbias.models.samplers.completion import draw_freedom, draw_weights, fill_lost_pairs, lost_pairs
from bayesbias.models.samplers.importance import ImportanceDraws, LogDensity, fit_proposal, resample
from bayesbias.models.samplers.list_model import (
    Coordinates,
    ListDraws,
    ListStatistics,
    coordinates_of,
    draw_lists,
    lean_log_density,
    list_statistics,
    regression_log_density,
)
from bayesbias.models.samplers.population import draw_population, word_means

LEAN = ("attribute_sd", "group_attribute_sd", "target_weight")
REGRESSION = ("sigma", "residual_weight", "list_effect", "slope_sd")
# Prior of each hyperparameter, those without a unit marked *; the means of lists have a flat one.
PRIORS = {
    name: parse_prior(prior)
    for name, prior in {
        "attribute_sd": "Exponential(10)",  # omega: attribute words are nearer to every protected word
        "group_attribute_sd": "Exponential(10)",  # psi: they lean to a protected group
        "target_weight": "LogNormal(1.6, 1)",  # * how far their covariance keeps to these two, in attribute words
        "sigma": "Exponential(10)",  # sd of what is left in the distances of single words
        "residual_weight": "LogNormal(0, 1.5)",  # * how far its covariance keeps to sigma, in protected words
        "list_effect": "LogNormal(-1.2, 1)",  # * variance of words' own means of a list, over that of what is left
        "slope_sd": "LogNormal(-0.7, 1)",  # * sd of how far single words follow their group, 1 being fully
        "list_scale": "LogNormal(0, 0.5)",  # * sd of what is left for a kind of list, over that for the last kind
        "effect_sd": "HalfStudentT(2, 0.1)",  # sd of level, gap and effects on controls of words like these
        "nu": "Gamma(2, 0.1)",  # * degrees of freedom of Student t attribute words
    }.items()
}
# With more protected words the covariance of their distances is not kept; nor are lost pairs drawn, or Student t
# attribute words fitted, which need it in each sweep.
MOST_WORDS_WITH_COVARIANCE = 120
_LIMITS = (-12.0, 6.0)
_START = {
    **{"attribute_sd": 0.05, "group_attribute_sd": 0.03, "target_weight": 5.0},
    **{"sigma": 0.05, "residual_weight": 1.0, "list_effect": 0.3, "slope_sd": 0.5, "list_scale": 1.0},
}
# Points that are weighted: as many as this, and fewer where each takes long.
_POINTS, _FEWEST_POINTS, _CUBES = 2000, 250, 2e10
_LEAST_EFFECTIVE = 200
# The tails are long: where little is known of a kind of lists they are those of the priors.
_PROPOSAL_FREEDOM = 4.0
# Points with weights worse than this are moved by so many Metropolis steps each, which leave the posterior as it is and
# take away what the weights got wrong; weights without a mean (k-hat above 1) are refused all the same.
_KHAT_TO_MOVE, _MOVES, _KHAT_MOVED = 0.4, 20, 1.0
# Of tables that are completed in sweeps: draws a chain, warm-up, sweeps a draw, Metropolis steps a sweep.
_CHAIN_DRAWS, _WARM_UP, _STEPS = 50, 60, 4
_SWEEPS_A_DRAW = {"normal": 2, "student_t": 5}


# Logarithms of hyperparameters beyond this have no posterior to speak of, and the log density is this low there.
_FAR, _NOTHING = 14.0, -1e6
BlockDensity = Callable[..., np.ndarray]
"""Points (points, coordinates) and statistics of the table -> log density (points,), up to a constant."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The hyperparameters in independent blocks: one for each kind of lists, and one for the regression of words.

    `names` holds the names of the parameters of each block, `log_densities` their unnormalised posteriors given
    statistics of the table: (points, statistics) -> (points,).
    """

    names: tuple[tuple[str, ...], ...]
    log_densities: tuple[BlockDensity, ...]


def blocks_of(sample: AttributeSample, priors: Mapping[str, Prior], axes: Coordinates) -> Blocks:
    """Return the blocks of a table, with their priors."""
    lean: tuple[str, ...] = LEAN if len(axes.sizes) > 1 else (LEAN[0], LEAN[2])

    def prior(names: tuple[str, ...], points: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            values = [priors[name].log_density(np.exp(points[:, at])) for at, name in enumerate(names)]
        return np.asarray(np.sum(values, axis=0) + points.sum(axis=1))  # of the logarithms

    def of_block(names: tuple[str, ...], likelihood: BlockDensity) -> BlockDensity:
        def log_density(points: np.ndarray, stats: ListStatistics) -> np.ndarray:
            near = np.clip(points, -_FAR, _FAR)
            with np.errstate(all="ignore"):
                value = prior(names, near) + likelihood(near, stats)
            inside = np.isfinite(value) & (np.abs(points) < _FAR).all(axis=1)
            return np.where(inside, value, _NOTHING)

        return log_density

    def of_kind(kind: int) -> BlockDensity:
        return of_block(lean, lambda points, stats: lean_log_density(points, kind, stats, axes))

    names: list[tuple[str, ...]] = [lean] * len(sample.kinds)
    densities = [of_kind(kind) for kind in range(len(sample.kinds))]
    if axes.contrasts:
        regression = (*REGRESSION, *["list_scale"] * (len(sample.kinds) - 1))
        names.append(regression)
        densities.append(of_block(regression, lambda points, stats: regression_log_density(points, stats, axes)))
    return Blocks(tuple(names), tuple(densities))


@dataclass(frozen=True, eq=False)
class ListMeanDraws:
    """Draws of the posterior by name, each of shape (draws, ...), and what the sampler says of its own error."""

    posterior: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]


def sample_list_means(
    sample: AttributeSample,
    connections: tuple[str, ...],
    *,
    draws: int,
    seed: int,
    likelihood: str = "normal",
    priors: Mapping[str, Prior] = PRIORS,
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
    >>> found = sample_list_means(attribute_sample(data), data.connections, draws=2000, seed=1)
    >>> gap = found.posterior["word_mean"][..., 0] - found.posterior["word_mean"][..., 1]
    >>> observed = table.groupby("connection", observed=True)["cosine_distance"].mean()
    >>> round(float(gap.mean()), 3), round(float(observed["associated"] - observed["different"]), 3)
    (-0.014, -0.014)
    """
    gone = np.isnan(sample.distances)
    words = sample.distances.shape[1]
    in_sweeps = likelihood == "student_t" or bool(gone.any())
    if in_sweeps and words > MOST_WORDS_WITH_COVARIANCE:
        why = f"{gone.sum():,} lost pairs" if gone.any() else "Student t attribute words"
        raise FitError(
            f"{words} protected words with {why}: this model takes at most {MOST_WORDS_WITH_COVARIANCE} then. Leave "
            "out the attribute words whose pairs were lost, or use the model 'crossed_per_list'."
        )
    completed = _completed(sample)
    axes = coordinates_of(np.zeros((words, words)) if in_sweeps else completed, sample.group_of)
    blocks = blocks_of(sample, priors, axes)
    stats = _statistics(sample, completed[None], np.ones((1, len(completed))), axes)
    with singular_fails():
        found = [
            _importance(partial(of, stats=stats), names, axes, draws, np.random.default_rng([seed, at]))
            for at, (names, of) in enumerate(zip(blocks.names, blocks.log_densities, strict=True))
        ]
        if in_sweeps:
            lists, hyper = _in_sweeps(
                sample, likelihood, priors, completed, blocks, axes, found, draws=draws, seed=seed
            )
            return ListMeanDraws(with_population(lists, sample, priors, connections, seed) | hyper, {})
        points = [np.resize(block.points, (draws, block.points.shape[1])) for block in found]
        drawn = _draw(points, stats, sample, axes, seed, covariances=covariances)
    posterior = with_population(drawn.lists, sample, priors, connections, seed) | _named(points, sample, axes)
    if drawn.rest is not None:
        kinds = range(len(sample.kinds))
        posterior["residual_covariance"] = np.stack([drawn.covariance(kind) for kind in kinds], axis=1)
    return ListMeanDraws(posterior, _error(found))


def _completed(sample: AttributeSample) -> np.ndarray:
    """Return the distances with the lost ones as the sum of the effects of their list and word and attribute word."""
    distances = sample.distances.copy()
    gone = np.isnan(distances)
    if not gone.any():
        return distances
    distances[gone] = np.nanmean(distances)
    for _ in range(20):
        of_word = distances.mean(axis=1, keepdims=True)
        rest = distances - of_word
        of_list = np.stack([rest[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
        distances[gone] = (of_word + of_list[sample.list_of])[gone]
    return distances


def _statistics(
    sample: AttributeSample, distances: np.ndarray, weights: np.ndarray, axes: Coordinates
) -> ListStatistics:
    return list_statistics(distances, weights, sample.list_of, sample.list_kind, axes)


def _importance(
    log_density: LogDensity, names: tuple[str, ...], axes: Coordinates, draws: int, rng: np.random.Generator
) -> ImportanceDraws:
    """Return points of a block of hyperparameters."""
    size = len(axes.sizes) if names[0] == LEAN[0] else axes.within.shape[1] + 20
    count = int(np.clip(_CUBES / (8 * size**3), _FEWEST_POINTS, min(_POINTS, max(draws, _FEWEST_POINTS))))
    start = np.log([_START[name] for name in names])
    proposal = fit_proposal(log_density, (start,), limits=_LIMITS, nu=_PROPOSAL_FREEDOM)
    found = resample(log_density, proposal, draws=count, rng=rng)
    if found.khat > _KHAT_TO_MOVE:
        step = _step_of(found.points)
        points = found.points
        for _ in range(_MOVES):
            points = _metropolis(points, log_density, step, rng)
        found = replace(found, points=points)
    if not found.khat <= _KHAT_MOVED:
        raise SamplerFailedError(
            f"the importance weights of {', '.join(dict.fromkeys(names))} have a Pareto k-hat of {found.khat:.2f}, "
            f"above {_KHAT_MOVED:g}"
        )
    if found.effective < _LEAST_EFFECTIVE:
        raise SamplerFailedError(f"only {found.effective:.0f} of {found.tried:,} weighted points count")
    return found


def _draw(
    points: list[np.ndarray],
    stats: ListStatistics,
    sample: AttributeSample,
    axes: Coordinates,
    seed: int,
    *,
    covariances: bool,
) -> ListDraws:
    """Draw the means of lists and the covariances given points of each block."""
    kinds, draws = len(sample.kinds), len(points[0])
    regression = points[kinds] if axes.contrasts else np.zeros((draws, 4 + kinds - 1))
    rngs = np.random.default_rng([seed, 100]), np.random.default_rng([seed, 101])
    keep = covariances and axes.words <= MOST_WORDS_WITH_COVARIANCE
    return draw_lists(points[:kinds], regression, stats, axes, rngs, keep_rest=keep)


def _named(points: list[np.ndarray], sample: AttributeSample, axes: Coordinates) -> dict[str, np.ndarray]:
    """Return hyperparameters by name, from points of each block."""
    kinds = len(sample.kinds)
    names = LEAN if len(axes.sizes) > 1 else (LEAN[0], LEAN[2])
    named = {
        name: np.exp(np.stack([block[:, at] for block in points[:kinds]], axis=1)) for at, name in enumerate(names)
    }
    if axes.contrasts:
        named |= {name: np.exp(points[kinds][:, at]) for at, name in enumerate(REGRESSION)}
        scales = np.exp(points[kinds][:, 4:])
        named["list_scale"] = np.concatenate([scales, np.ones((len(scales), 1))], axis=1)
    return named


def with_population(
    lists: np.ndarray, sample: AttributeSample, priors: Mapping[str, Prior], connections: tuple[str, ...], seed: int
) -> dict[str, np.ndarray]:
    """Return means of lists (draws, lists, words), of words and of words like these, by name."""
    half_t = tuple(priors["effect_sd"].parameters.values())
    measured = sample.connection_weights.sum(axis=2) > 0
    means = word_means(lists, sample.connection_weights)
    rng = np.random.default_rng([seed, 102])
    population, covariance = draw_population(means, measured, sample.group_of, connections, half_t, rng)  # type: ignore[arg-type]
    return {
        "connection_mean": population,
        "word_sd": np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)),
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


def _in_sweeps(
    sample: AttributeSample,
    likelihood: str,
    priors: Mapping[str, Prior],
    completed: np.ndarray,
    blocks: Blocks,
    axes: Coordinates,
    found: list[ImportanceDraws],
    *,
    draws: int,
    seed: int,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return means of lists and all else for lost pairs or Student t attribute words, by many chains side by side."""
    rng = np.random.default_rng([seed, 103])
    chains = -(-draws // _CHAIN_DRAWS)
    points = [np.resize(block.points, (chains, block.points.shape[1])) for block in found]
    steps = [_step_of(block.points) for block in found]
    distances = np.repeat(completed[None], chains, axis=0)
    weights, freedom = np.ones(distances.shape[:2]), np.full(chains, 10.0)
    lost, kind_of = lost_pairs(sample.distances), sample.list_kind[sample.list_of]
    kept: list[dict[str, np.ndarray]] = []
    every = _SWEEPS_A_DRAW[likelihood]
    for sweep in range(_WARM_UP + _CHAIN_DRAWS * every):
        stats = _statistics(sample, distances, weights, axes)
        for _ in range(_STEPS):
            points = [
                _metropolis(block, partial(of, stats=stats), step, rng)
                for block, of, step in zip(points, blocks.log_densities, steps, strict=True)
            ]
        drawn = _draw(points, stats, sample, axes, int(rng.integers(2**32)), covariances=True)
        mean = drawn.lists[:, sample.list_of]
        covariance = np.stack([drawn.covariance(kind) for kind in range(len(sample.kinds))], axis=1)
        precision = np.linalg.inv(covariance)
        fill_lost_pairs(distances, lost, mean, precision, kind_of, weights, rng)
        if likelihood == "student_t":
            weights = draw_weights(distances, mean, precision, kind_of, freedom, rng)
            freedom = draw_freedom(weights, priors["nu"], rng)
        if sweep >= _WARM_UP and (sweep - _WARM_UP) % every == every - 1:
            state = {"list_mean": drawn.lists, "residual_covariance": covariance} | _named(points, sample, axes)
            kept.append(state | ({"nu": freedom, "attribute_weight": weights} if likelihood == "student_t" else {}))
    # Chain after chain, each in its own order, as many as there are draws.
    hyper = {name: np.stack([state[name] for state in kept], axis=1) for name in kept[0]}
    hyper = {name: values.reshape(-1, *values.shape[2:])[:draws] for name, values in hyper.items()}
    return hyper.pop("list_mean"), hyper


def _step_of(points: np.ndarray) -> np.ndarray:
    """Return the root of the covariance of Metropolis steps for a posterior with these draws."""
    size = points.shape[1]
    return np.asarray(2.4 / np.sqrt(size) * np.linalg.cholesky(np.cov(points.T) + 1e-9 * np.eye(size)))


def _metropolis(points: np.ndarray, log_density: LogDensity, step: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return points after one Metropolis step each."""
    proposed = points + rng.standard_normal(points.shape) @ step.T
    accept = np.log(rng.random(len(points))) < log_density(proposed) - log_density(points)
    return np.where(accept[:, None], proposed, points)
