"""Draws of the multivariate model in sweeps, for tables with lost pairs and for Student t attribute words.

Each sweep draws hyperparameters by Metropolis steps, means and covariances given them, then lost pairs and the weights
of attribute words given all else. Many chains run side by side, each from a point of the posterior of a table that was
completed by averages.
"""

from functools import partial

import numpy as np

from bayesbias.errors import FitError
from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.completion import draw_freedom, draw_weights, fill_lost_pairs, lost_pairs
from bayesbias.models.multivariate.list_blocks import (
    Block,
    completed_distances,
    metropolis,
    metropolis_root,
    named_hyperparameters,
)
from bayesbias.models.multivariate.list_draws import draw_lists
from bayesbias.models.multivariate.list_model import Coordinates, list_statistics
from bayesbias.models.priors import Prior

# Draws a chain, warm-up sweeps, Metropolis steps a sweep; and sweeps a draw.
_CHAIN_DRAWS, _WARM_UP, _STEPS = 50, 60, 8
_SWEEPS_A_DRAW, _SWEEPS_A_STUDENT_T_DRAW = 2, 5
# Factor for tables where a word has no pair with a list: its mean there moves slowly.
_MORE_SWEEPS = 10


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
