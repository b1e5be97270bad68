"""Draws of the multivariate model: hyperparameters by importance sampling, all else exactly, or in sweeps.

`marginal_likelihood.py` has the model and its closed form. Whole tables of Normal attribute words are drawn
independently; tables with lost pairs, and Student t attribute words, in sweeps (`draw_in_sweeps`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesbias.base.machine import threadpool_limits
from bayesbias.base.number_text import counted
from bayesbias.errors import FitError
from bayesbias.estimates.intervals import draw_on_grid
from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import (
    AttributeSample,
    attribute_sample,
    effects_basis,
    group_shares,
)
from bayesbias.models.multivariate.marginal_likelihood import (
    LARGEST_ARRAY,
    LEAN,
    Block,
    Coordinates,
    InverseWishart,
    LeanStatistics,
    ListStatistics,
    Regression,
    blocks_of,
    completed_distances,
    coordinates_of,
    lean_posterior,
    list_statistics,
    metropolis,
    metropolis_root,
    named_hyperparameters,
    regression_posterior,
    residual_precisions,
    statistics_of,
)
from bayesbias.models.multivariate.population import (
    draw_effect_covariances,
    draw_population,
    observed_effects,
    word_means,
)
from bayesbias.models.numerics.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.numerics.proposals import (
    ImportanceDraws,
    Mixture,
    fit_proposal,
    importance_report,
    poor_weights,
    resample,
)
from bayesbias.models.priors import Prior
from bayesbias.models.scales import DISTANCE_ERROR
from bayesbias.models.spec import ModelSpec

# Factor for tables where a word has no pair with a list: its mean there moves slowly.
_MORE_SWEEPS = 10
# The largest covariances that are kept, in numbers a draw: more would take gigabytes.
MOST_COVARIANCE_NUMBERS = 3 * 60**2
# The most protected words for sweeps, each of which needs the covariance.
MOST_WORDS_IN_SWEEPS = 120
_FEW_WORDS = 100
_LIMITS = (-12.0, 6.0)
_START = {
    **{"attribute_sd": 0.05, "group_attribute_sd": 0.03, "covariate_attribute_sd": 0.03, "target_weight": 5.0},
    **{"sigma": 0.05, "residual_weight": 1.0, "list_effect": 0.3, "slope_sd": 0.5, "list_scale": 1.0},
}
_LEAST_EFFECTIVE = 200
# The tails are long: for a kind of lists with little data they are those of the priors.
_PROPOSAL_FREEDOM = 4.0


def draw_lean_roots(
    points: np.ndarray, kind: int, stats: LeanStatistics, axes: Coordinates, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """Return roots of draws of Sigma_L of the lists of a kind, shape (draws, lists, G, G); points are taken in turn."""
    repeats = -(-draws // len(points))
    roots = [lean_posterior(points, place, stats, axes).roots(rng, repeats)[:draws] for place in stats.lists_of(kind)]
    return np.stack(roots, axis=1)


def draw_lists(
    points: list[np.ndarray], stats: ListStatistics, axes: Coordinates, seed: int, *, draws: int, covariances: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Draw the means of lists (draws, L, J) and, if wanted, the covariances of their attribute words (draws, L, J, J).

    `points` are those of each block of hyperparameters, taken in turn until there are enough draws. The means of groups
    and single words have generators of their own, so that the first do not depend on the number of draws of the second:
    control words leave the means of stereotype lists unchanged, draw by draw.
    """
    between, within = np.random.default_rng([seed, 100]), np.random.default_rng([seed, 101])
    (lists_count, kinds), free = stats.kinds.shape, axes.free
    centre = np.broadcast_to(stats.centre, (draws, *stats.centre.shape[1:]))
    xi = np.empty((draws, lists_count, free))
    lean = np.empty((draws, lists_count, free, free))
    for kind in range(kinds):
        roots, members = draw_lean_roots(points[kind], kind, stats, axes, between, draws), stats.lists_of(kind)
        lean[:, members] = roots @ np.swapaxes(roots, 2, 3)
        noise = (roots @ between.standard_normal((draws, len(members), free, 1)))[..., 0]
        xi[:, members] = centre[:, members] + noise / np.sqrt(stats.weight[:, members, None])
    lists, image, residual = xi @ axes.between.T, axes.between[None], None
    if axes.contrasts:
        theta, residual = _draw_regression(points[kinds], stats, axes, within, draws=draws, keep_residual=covariances)
        of_lists, slopes = theta[:, 1 : 1 + lists_count], theta[:, 1 + lists_count :]
        lists += theta[:, :1] + of_lists
        lists += (xi - stats.origin[:, None]) @ slopes
        # The change in distances to words for one unit of x.
        image = image + np.swapaxes(slopes, 1, 2)
    if not covariances:
        return lists, None
    spread = image[:, None] @ lean @ np.swapaxes(image, 1, 2)[:, None]
    if residual is not None:
        precision = np.resize(residual_precisions(points[kinds], kinds), (draws, kinds)) @ stats.kinds.T
        spread += residual[:, None] / precision[:, :, None, None]
    return lists, spread


def _draw_regression(
    points: np.ndarray,
    stats: ListStatistics,
    axes: Coordinates,
    rng: np.random.Generator,
    *,
    draws: int,
    keep_residual: bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return draws of (alpha, eta, B) in the space of words, shape (draws, 1 + L + G, J), and of N E N' if it is kept.

    Without E, the coefficients are drawn from their matrix t distribution, which needs roots of the scale alone.
    """
    rows, repeats = 1 + len(stats.counts) + axes.free, -(-draws // len(points))
    theta = np.empty((repeats, len(points), rows, axes.words))
    residual = np.empty((repeats, len(points), axes.words, axes.words)) if keep_residual else None
    for part in np.array_split(np.arange(len(points)), -(-len(points) * axes.words**2 // LARGEST_ARRAY)):
        posterior = regression_posterior(points[part], statistics_of(stats, part), axes)
        if residual is not None:
            theta[:, part], residual[:, part] = _draw_with_covariance(posterior, axes, rng, repeats)
        else:
            theta[:, part] = _draw_without_covariance(posterior, axes, rng, repeats)
    flat = theta.reshape(-1, rows, axes.words)[:draws]
    return flat, None if residual is None else residual.reshape(-1, axes.words, axes.words)[:draws]


def _draw_with_covariance(
    posterior: Regression, axes: Coordinates, rng: np.random.Generator, repeats: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients, shape (repeats, points, rows, J), and N E N', with no unseen directions."""
    points, rows, seen = posterior.mean.shape
    upper = np.swapaxes(np.linalg.cholesky(posterior.matrix), 1, 2)
    roots = posterior.residual.roots(rng, repeats).reshape(repeats, points, seen, seen)
    noise = np.linalg.solve(upper, rng.standard_normal((repeats, points, rows, seen))) @ np.swapaxes(roots, 2, 3)
    in_words = axes.within @ roots
    return (posterior.mean + noise) @ axes.within.T, in_words @ np.swapaxes(in_words, 2, 3)


def _draw_without_covariance(
    posterior: Regression, axes: Coordinates, rng: np.random.Generator, repeats: int
) -> np.ndarray:
    """Return coefficients, shape (repeats, points, rows, J).

    They are matrix t: matrix^-1/2 Omega^-1/2 Z scale^1/2, with Omega ~ Wishart(freedom - p + rows, I).
    """
    points, rows, seen = posterior.mean.shape
    upper = np.swapaxes(np.linalg.cholesky(posterior.matrix), 1, 2)
    freedom = posterior.residual.freedom - axes.contrasts + rows
    wishart = InverseWishart(freedom, np.broadcast_to(np.eye(rows), (points, rows, rows))).roots(rng, repeats)
    left = np.linalg.solve(upper, wishart.reshape(repeats, points, rows, rows))
    roots = np.swapaxes(np.linalg.cholesky(posterior.residual.scale), 1, 2)
    theta = (posterior.mean + left @ (rng.standard_normal((repeats, points, rows, seen)) @ roots)) @ axes.within.T
    if axes.unseen:
        free = rng.standard_normal((repeats, points, rows, axes.words))
        for basis in (axes.between, axes.within):
            free -= (free @ basis) @ basis.T
        theta += left @ (free * np.sqrt(posterior.unseen_scale)[:, None, None])
    return np.asarray(theta)


_FREEDOMS = np.exp(np.linspace(np.log(0.5), np.log(500), 160))


def lost_pairs(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of distances (attribute words, protected words) that have NaN, and its columns, padded with -1.

    >>> lost_pairs(np.array([[1.0, np.nan], [1.0, 1.0]]))
    (array([0]), array([[1]]))
    """
    attribute = np.flatnonzero(np.isnan(distances).any(axis=1))
    gone = np.isnan(distances[attribute])
    places = np.argsort(~gone, axis=1, kind="stable")[:, : int(gone.sum(axis=1).max(initial=0))]
    return attribute, np.where(np.take_along_axis(gone, places, axis=1), places, -1)


def fill_lost_pairs(
    distances: np.ndarray,
    lost: tuple[np.ndarray, np.ndarray],
    mean: np.ndarray,
    precision: np.ndarray,
    list_of: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Draw the distances that `lost_pairs` names, given the others of their attribute word, into `distances`.

    Arrays have a leading axis of copies, one a chain.

    `mean` (copies, attribute words, words) and `precision` (copies, lists, words, words) are those of attribute words.
    With precision P, the lost distances given the observed are Normal with precision P_LL and mean
    m_L - P_LL^-1 P_LO r_O.
    """
    words, protected = lost
    if not len(words):
        return
    real = protected >= 0
    places = np.where(real, protected, 0)
    row, column = np.nonzero(real)
    place = places[row, column]
    residual = distances[:, words] - mean[:, words]
    residual[:, row, place] = 0.0
    of_word = precision[:, list_of[words]]
    pull = np.einsum("cwij,cwj->cwi", of_word, residual, optimize=True)
    pull = np.take_along_axis(pull, places[None], axis=2) * real
    rows = np.arange(len(words))[:, None, None]
    block = of_word[:, rows, places[:, :, None], places[:, None, :]]
    block = np.where(real[:, :, None] & real[:, None, :], block, np.eye(places.shape[1]))
    lower = np.linalg.cholesky(block)
    noise = rng.standard_normal(pull.shape) / np.sqrt(weights[:, words, None])
    drawn = np.linalg.solve(np.swapaxes(lower, 2, 3), noise[..., None])
    drawn = (drawn - np.linalg.solve(block, pull[..., None]))[..., 0]
    distances[:, words[row], place] = mean[:, words[row], place] + drawn[:, row, column]


def draw_weights(
    distances: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    list_of: np.ndarray,
    freedom: np.ndarray,
    shares: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the precision weight of each attribute word, of a Student t with `freedom` (copies,).

    `shares` (attribute words,) are what the words are worth beside independent ones.
    """
    residual = distances - mean
    square = np.empty(residual.shape[:2])
    for place in range(precision.shape[1]):
        of_list = list_of == place
        part = residual[:, of_list]
        square[:, of_list] = ((part @ precision[:, place]) * part).sum(axis=2)
        square[:, of_list] += DISTANCE_ERROR**2 * np.trace(precision[:, place], axis1=1, axis2=2)[:, None]
    rate = (freedom[:, None] + shares * square) / 2
    return np.asarray(rng.standard_gamma((freedom[:, None] + shares * residual.shape[2]) / 2, square.shape) / rate)


def draw_freedom(weights: np.ndarray, prior: Prior, rng: np.random.Generator) -> np.ndarray:
    """Draw the degrees of freedom given the weights (copies, attribute words)."""
    half = _FREEDOMS / 2
    total = (np.log(weights) - weights).sum(axis=1, keepdims=True)
    log = weights.shape[1] * (half * np.log(half) - gammaln(half)) + half * total
    log = log + prior.log_density(_FREEDOMS) + np.log(_FREEDOMS)
    return draw_on_grid(_FREEDOMS, log, rng)


# Draws a chain, warm-up sweeps, Metropolis steps a sweep; and sweeps a draw.
_CHAIN_DRAWS, _WARM_UP, _STEPS = 50, 60, 8
_SWEEPS_A_DRAW, _SWEEPS_A_STUDENT_T_DRAW = 2, 5


def draw_in_sweeps(
    sample: AttributeSample,
    axes: Coordinates,
    blocks: list[Block],
    starts: list[np.ndarray],
    *,
    nu: Prior | None,
    draws: int,
    seed: int,
    covariances: bool,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return means of lists, and all other draws by name, from many chains side by side.

    Each sweep draws hyperparameters by Metropolis steps, means and covariances given them, then lost pairs and the
    weights of attribute words given all else. Many chains run side by side, each from a point of the posterior of a
    table that was completed by averages.

    `starts` are points of each block of hyperparameters for the completed table; `nu` is the prior of the degrees of
    freedom of Student t attribute words, None for Normal ones; `covariances` is whether the covariances of distances
    are among the draws.
    """
    rng = np.random.default_rng([seed, 103])
    chains = -(-draws // _CHAIN_DRAWS)
    points = [np.resize(block, (chains, block.shape[1])) for block in starts]
    steps = [metropolis_root(block) for block in starts]
    distances = np.repeat(completed_distances(sample)[None], chains, axis=0)
    weights, freedom = np.ones(distances.shape[:2]), np.full(chains, 10.0)
    lost, list_of, shares = lost_pairs(sample.distances), sample.list_of, sample.word_shares
    states: list[dict[str, np.ndarray]] = []
    every = _SWEEPS_A_STUDENT_T_DRAW if nu else _SWEEPS_A_DRAW
    every *= _MORE_SWEEPS if _lacks_pairs(sample) else 1
    for sweep in range(_WARM_UP + _CHAIN_DRAWS * every):
        stats = list_statistics(sample, distances, weights, axes)
        points = [
            metropolis(at_block, partial(block.log_density, stats=stats), step, rng, _STEPS)
            for at_block, block, step in zip(points, blocks, steps, strict=True)
        ]
        seed_of_sweep = int(rng.integers(2**32))
        lists, covariance = draw_lists(points, stats, axes, seed_of_sweep, draws=chains, covariances=True)
        assert covariance is not None
        mean, precision = lists[:, list_of], np.linalg.inv(covariance)
        fill_lost_pairs(distances, lost, mean, precision, list_of, weights * shares, rng)
        if nu:
            weights = draw_weights(distances, mean, precision, list_of, freedom, shares, rng)
            freedom = draw_freedom(weights, nu, rng)
        if sweep >= _WARM_UP and (sweep - _WARM_UP) % every == every - 1:
            state = {"list_mean": lists} | named_hyperparameters(points, sample, axes)
            if covariances:
                state["residual_covariance"] = covariance
            states.append(state | ({"nu": freedom, "attribute_weight": weights} if nu else {}))
    # Chain after chain, each in its own order.
    hyper = {name: np.stack([state[name] for state in states], axis=1) for name in states[0]}
    hyper = {name: values.reshape(-1, *values.shape[2:])[:draws] for name, values in hyper.items()}
    return hyper.pop("list_mean"), hyper


def _lacks_pairs(sample: AttributeSample) -> bool:
    """Return whether a word has no pair with some list; raise `FitError` if a whole group has none."""
    lists = np.eye(len(sample.lists))[sample.list_of]
    groups = np.eye(sample.pattern_of.max() + 1)[sample.pattern_of]
    pairs = lists.T @ np.isfinite(sample.distances)
    if (of_groups := pairs @ groups == 0).any():
        place, pattern = np.argwhere(of_groups)[0]
        raise FitError(
            f"The list {sample.lists[place]!r} has no pair with any word of protected group "
            f"{sample.group_of[sample.pattern_of == pattern][0] + 1} (by name, or of its words with the same "
            "connections), and this model has a mean for each. Leave the list out, or use the model 'crossed_per_list'."
        )
    return bool((pairs == 0).any())


# Number of weighted points, and the smallest one where each takes long.
_POINTS, _FEWEST_POINTS, _CUBES = 2000, 100, 2e10
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
    >>> contrast = drawn.posterior["word_mean"][..., 0] - drawn.posterior["word_mean"][..., 1]
    >>> observed = table.groupby("connection", observed=True)["cosine_distance"].mean()
    >>> round(float(contrast.mean()), 3), round(float(observed["associated"] - observed["different"]), 3)
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

    `earlier` is as in `observed_effects` and `draw_effect_covariances`.
    """
    half_t = priors["effect_sd"].parameters
    observed = observed_effects(sample, completed_distances(sample), connections, earlier)
    rng = np.random.default_rng([seed, 101])
    return draw_effect_covariances(observed, (half_t["nu"], half_t["sigma"]), draws, rng, earlier)


def weighted_points(
    block: Block,
    stats: LeanStatistics,
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
