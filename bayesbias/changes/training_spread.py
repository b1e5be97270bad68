"""How contrasts spread over trainings: a hierarchical model of seeds, of word lists, and of samples of documents."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.estimates.frames import frame_of_draws
from bayesbias.estimates.intervals import common_mean, draw_nodes

if TYPE_CHECKING:
    import pandas as pd

SD_PRIOR = 0.1
"""Scale of the half-Normal that bounds standard deviations between trainings, in units of cosine distance."""
_GRID = 2_000
_GRID_OF_TWO = 160
_DRAWS = 20_000
_AT_ONCE = 50  # contrasts whose draws are in memory at once


def _log_prior(nodes: Floats, known_variance: Floats | float) -> Floats:
    """Return the logarithm of the prior mass of standard deviations on a grid, beside a known variance.

    It is Jeffreys' prior of the sd, with which the mean of few trainings has the interval of Student's t; that of a
    uniform prior is wider. A half-Normal bounds it.
    """
    jeffreys = nodes / (nodes**2 + known_variance)
    return np.asarray(np.log(np.gradient(nodes) * jeffreys) - 0.5 * (nodes / SD_PRIOR) ** 2)


def seed_sd_draws(means: Floats, errors: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws of the mean over seeds and of the standard deviation between them, each (draws, quantities).

    `means` and `errors`, of shape (seeds, quantities), are estimates and their Monte Carlo standard errors.

    >>> rng = np.random.default_rng(1)
    >>> mean, sd = seed_sd_draws(np.array([[0.1], [0.1], [0.3], [0.3]]), np.zeros((4, 1)), 4_000, rng)
    >>> float(round(mean.mean(), 2)), float(round(sd.mean(), 1))
    (0.2, 0.1)
    """
    # The grid is denser near 0, where most of the posterior mass lies with few seeds.
    nodes = 5 * SD_PRIOR * np.linspace(0, 1, _GRID + 1)[1:] ** 2
    tau, mean = np.empty((2, draws, means.shape[1]))
    for column in range(means.shape[1]):
        variances = nodes[:, None] ** 2 + errors[:, column] ** 2
        centre, precision, log_density = common_mean(means[:, column], variances)
        log_density = log_density + _log_prior(nodes, np.square(errors[:, column]).mean())
        chosen = draw_nodes(log_density, rng, draws)
        tau[:, column] = nodes[chosen]
        mean[:, column] = rng.normal(centre[chosen], 1 / np.sqrt(precision[chosen]))
    return mean, tau


def both_sd_draws(
    means: Floats, errors: Floats, resampled: tuple[Floats, Floats], draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return draws of the mean over seeds, and of the standard deviations between seeds and between document samples.

    `means` and `errors`, of shape (seeds, quantities), are estimates of trainings on all documents and their Monte
    Carlo standard errors; `resampled` holds those of trainings on resampled documents, each with a seed of its own, of
    shape (resamples, quantities). Each kind has a mean of its own, because drawn documents repeat. The three arrays
    have the shape (draws, quantities).

    >>> seeds, resamples = np.array([[0.1], [0.12], [0.11]]), np.array([[0.0], [0.2], [0.1], [0.3], [0.2], [0.1]])
    >>> rng = np.random.default_rng(1)
    >>> draws = both_sd_draws(seeds, 0 * seeds, (resamples, 0 * resamples), 4_000, rng)
    >>> [float(values.mean().round(2)) for values in draws]
    [0.11, 0.02, 0.1]
    """
    nodes = 5 * SD_PRIOR * np.linspace(0, 1, _GRID_OF_TWO + 1)[1:] ** 2
    other_means, other_errors = resampled
    mean, seed_sd, document_sd = np.empty((3, draws, means.shape[1]))
    for column in range(means.shape[1]):
        of_seeds = nodes[:, None] ** 2 + errors[:, column] ** 2
        centre, precision, seed_density = common_mean(means[:, column], of_seeds)
        of_both = (nodes[:, None] ** 2 + nodes**2)[..., None] + other_errors[:, column] ** 2
        both_density = common_mean(other_means[:, column], of_both)[2]
        of_seeds_and_errors = nodes[:, None] ** 2 + np.square(other_errors[:, column]).mean()
        seed_density = seed_density + _log_prior(nodes, np.square(errors[:, column]).mean())
        log_density = seed_density[:, None] + both_density + _log_prior(nodes, of_seeds_and_errors)
        chosen = draw_nodes(log_density.ravel(), rng, draws)
        rows, columns = np.divmod(chosen, _GRID_OF_TWO)
        seed_sd[:, column], document_sd[:, column] = nodes[rows], nodes[columns]
        mean[:, column] = rng.normal(centre[rows], 1 / np.sqrt(precision[rows]))
    return mean, seed_sd, document_sd


def estimates_over_trainings(
    draws: list[Floats],
    errors: Floats,
    resampled: tuple[Floats, Floats] | None,
    hdi_prob: float,
    seed: int,
) -> "pd.DataFrame":
    """Return estimates of each contrast over seeds, and its spread from word lists, seeds and documents.

    `resampled` holds the posterior means of trainings on resampled documents, and their Monte Carlo standard errors.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)

    def summary(values: Floats) -> "pd.DataFrame":
        return frame_of_draws(values, {}, hdi_prob)

    parts = []
    for start in range(0, errors.shape[1], _AT_ONCE):
        block = [seed_draws[:, start : start + _AT_ONCE] for seed_draws in draws]
        means = np.stack([seed_draws.mean(axis=0) for seed_draws in block])
        lists_sd = np.sqrt(np.mean([seed_draws.var(axis=0, ddof=1) for seed_draws in block], axis=0))
        columns = slice(start, start + _AT_ONCE)
        if resampled is None:
            mean, tau = seed_sd_draws(means, errors[:, columns], _DRAWS, rng)
            omega = np.zeros_like(tau)
        else:
            of_samples = (resampled[0][:, columns], resampled[1][:, columns])
            mean, tau, omega = both_sd_draws(means, errors[:, columns], of_samples, _DRAWS, rng)
        # The error from the words is drawn from the posterior of one of the seeds at a time.
        counts = np.bincount(rng.integers(len(block), size=_DRAWS), minlength=len(block))
        chosen = [rng.integers(len(seed_draws), size=count) for seed_draws, count in zip(block, counts, strict=True)]
        lists_error = np.concatenate(
            [seed_draws[rows] - seed_draws.mean(axis=0) for seed_draws, rows in zip(block, chosen, strict=True)]
        )
        part = summary(mean + lists_error)
        next_seed = summary(mean + lists_error + tau * rng.standard_normal(tau.shape))
        part["next_low"], part["next_high"] = next_seed["hdi_low"], next_seed["hdi_high"]
        part["lists_sd"] = lists_sd
        variance = tau**2 + omega**2 + lists_sd**2
        spreads = {"seed_sd": tau, "seed_share": tau**2 / variance}
        if resampled is not None:
            documents = summary(mean + lists_error + omega * rng.standard_normal(omega.shape))
            part["documents_low"], part["documents_high"] = documents["hdi_low"], documents["hdi_high"]
            spreads |= {"document_sd": omega, "document_share": omega**2 / variance}
        for name, values in spreads.items():
            part[[name, f"{name}_low", f"{name}_high"]] = summary(values)[["mean", "hdi_low", "hdi_high"]]
        parts.append(part)
    return pd.concat(parts)
