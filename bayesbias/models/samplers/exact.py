"""Independent draws from the models without attribute effects, without tuning or chains.

Within connection g, with n_i rows of mean ybar_i for protected word i and within-word sum of squares SS::

    y ~ Normal(m_i, sigma),    m_i ~ Normal(mu, tau),    mu ~ Normal(m0, s0)

(n_i, ybar_i, SS) are sufficient: after one pass over the rows their number does not matter. Given the two
scales, ``ybar_i | mu ~ Normal(mu, sqrt(tau^2 + sigma^2 / n_i))``: with w_i one over that variance and
r_i = ybar_i - m0, mu and all m_i integrate out to

    log p(y | tau, sigma) = - (N - J) log sigma - SS / (2 sigma^2) + 1/2 sum_i log w_i - 1/2 log(1 + s0^2 sum_i w_i)
                            - 1/2 sum_i w_i r_i^2 + 1/2 (sum_i w_i r_i)^2 / (1 / s0^2 + sum_i w_i)

a density of (log tau, log sigma) for each connection. `sample_density` draws from it without error; mu and every m_i
then come from their Normal conditionals.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from bayesbias.errors import FitError, ModelError
from bayesbias.models.data import ModelData
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.numerics.proposals import (
    GridDraws,
    GridLogDensity,
    ImproperDensityError,
    sample_density,
)
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.codes import blocks

# Scales of cosine distances that are likely to matter: log of 4e-18 to 20.
_LOG_SCALES = (-40.0, 3.0)


@dataclass(frozen=True, eq=False)
class SufficientStatistics:
    """Sufficient statistics of a table: shapes (protected words, connections), and (connections,) for `within`."""

    count: np.ndarray
    mean: np.ndarray
    within: np.ndarray


def cell_statistics(data: ModelData) -> SufficientStatistics:
    """Return number and mean of each cell's rows, and each connection's sum of squares around the cell means."""
    count = data.pair_counts
    total, within = np.zeros(count.size), np.zeros(count.shape[1])
    for rows in blocks(len(data.distance)):
        total += np.bincount(data.cells(rows), data.distance[rows], count.size)
    mean = total / np.maximum(count.ravel(), 1)
    for rows in blocks(len(data.distance)):
        residual = data.distance[rows] - mean[data.cells(rows)]
        within += np.bincount(data.connection[rows], residual * residual, len(within))
    return SufficientStatistics(count, mean.reshape(count.shape), within)


def why_not_exact(spec: ModelSpec) -> str | None:
    """Return the term of a model that the exact sampler cannot integrate out, or None."""
    if spec.switches["attribute_effects"] != "none":
        return f"attribute_effects = {spec.switches['attribute_effects']!r}: attribute words tie the rows together"
    if spec.priors["connection_mean"].distribution != "Normal":
        return f"connection_mean = {spec.priors['connection_mean']}: only a Normal prior integrates out"
    return None


def sample_exact(
    data: ModelData, spec: ModelSpec, *, draws: int, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return independent draws of all parameters, and a report on their error.

    `why_not_exact` must return None. The posterior has `connection_mean`, `word_sd` (with partial pooling) and `sigma`
    of shape (draws, connections), and `word_mean` of shape (draws, protected words, connections); the error has
    `grid_acceptance`, `edge_mass` and `envelope_excess` of each connection (see `GridDraws`). Raises `FitError` if the
    data leave a scale without a proper posterior, `SamplerFailedError` if the grid does not cover the posterior.
    """
    if reason := why_not_exact(spec):
        raise ModelError(f"The exact sampler does not fit the model {spec.name!r}: {reason}. Use sampler='auto'.")
    cells = cell_statistics(data)
    tau, sigma, error = _scales(cells, data.connections, spec, draws=draws, rng=rng)
    connection_mean, word_mean = _locations(cells, spec, tau, sigma, rng=rng)
    scales = {"sigma": sigma} | ({"word_sd": tau} if _pools(spec) else {})
    return {"connection_mean": connection_mean, "word_mean": word_mean} | scales, error


def log_marginal(cells: SufficientStatistics, g: int, spec: ModelSpec) -> GridLogDensity:
    """Return the function log p(distances of connection g | tau, sigma), up to a constant: locations integrated out.

    It takes tau (ignored without pooling) and sigma, arrays that broadcast against each other.
    """
    prior, has_rows = spec.priors["connection_mean"].parameters, cells.count[:, g] > 0
    count, shift = cells.count[has_rows, g], cells.mean[has_rows, g] - prior["mu"]
    # Words with the same number of rows have the same weight: (rows, number of words, their mean, squares around it).
    kinds, kind, words = np.unique(count, return_inverse=True, return_counts=True)
    means = np.bincount(kind, shift) / words
    squares = np.bincount(kind, np.square(shift - means[kind]))
    partial, prior_variance = _pools(spec), prior["sigma"] ** 2
    residuals = count.sum() - len(count)

    def log_density(tau: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        variance, noise = _word_variance(spec, tau), np.square(sigma)
        total = -0.5 * (residuals * np.log(noise) + cells.within[g] / noise)
        precision: np.ndarray | None = None
        center: np.ndarray | float = 0.0
        for rows, number, mean, around in zip(kinds, words, means, squares, strict=True):
            weight = 1 / (variance + noise / rows)
            total = total + 0.5 * (number * np.log(weight) - around * weight)
            added = number * weight
            if not partial:
                total -= 0.5 * added * mean**2
            elif precision is None:
                precision, center = added, mean
            else:
                # Counting from the current mean cancels no large numbers where both scales are small.
                share = added / (precision + added)
                total -= 0.5 * precision * share * np.square(mean - center)
                center = center + share * (mean - center)
                precision = precision + added
        if precision is not None:
            shrink = 1 + prior_variance * precision
            total -= 0.5 * (precision * np.square(center) / shrink + np.log(shrink))
        return np.asarray(total)

    return log_density


def _pools(spec: ModelSpec) -> bool:
    return spec.switches["pooling"] == "partial"


def _word_variance(spec: ModelSpec, tau: np.ndarray) -> np.ndarray:
    """Return the variance of the word means: tau squared, or without pooling that of the prior."""
    if _pools(spec):
        return np.square(tau)
    return np.full(np.shape(tau), spec.priors["connection_mean"].parameters["sigma"] ** 2)


def _scales(
    cells: SufficientStatistics, connections: tuple[str, ...], spec: ModelSpec, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    partial, reports = _pools(spec), []
    for g, connection in enumerate(connections):
        marginal = log_marginal(cells, g, spec)

        def density(*logs: np.ndarray, marginal: GridLogDensity = marginal) -> np.ndarray:
            s = logs[-1]
            value = marginal(np.exp(logs[0]), np.exp(s)) + log_prior(spec.priors["sigma"], s)
            return np.asarray(value + log_prior(spec.priors["word_sd"], logs[0]) if partial else value)

        try:
            box = [_LOG_SCALES] * (2 if partial else 1)
            reports.append(_checked(sample_density(density, box, draws=draws, rng=rng)))
        except ImproperDensityError as error:
            raise _not_drawn(cells, g, connection, error) from error
    tau, sigma = (np.exp(np.stack([drawn.points[:, end] for drawn in reports], axis=-1)) for end in (0, -1))
    return tau, sigma, _error(reports)


def _checked(drawn: GridDraws) -> GridDraws:
    """Return the draws if the grid covers the posterior."""
    if not drawn.good:
        raise SamplerFailedError(
            f"the exact sampler's grid does not cover the posterior of the scales ({drawn.edge_mass:.1e} of its mass "
            f"may lie beyond, and the density exceeds its bound by {100 * np.expm1(max(drawn.excess, 0)):.1f} %)"
        )
    return drawn


def _not_drawn(cells: SufficientStatistics, g: int, connection: str, error: ImproperDensityError) -> Exception:
    """Return a `FitError` if equal distances are the cause, and a `SamplerFailedError` if the priors are."""
    if cells.within[g] > 1e-24 * cells.count[:, g].sum():
        what = f"the priors leave the scales of the connection {connection!r} without bounds ({error})"
        return SamplerFailedError(what)
    return FitError(
        f"The distances of the connection {connection!r} do not determine their standard deviation: {error}. This "
        "happens if all distances are equal, as in a table made by hand; check the table."
    )


def log_prior(prior: Prior, log_scale: np.ndarray) -> np.ndarray:
    """Return the log density of a scale's logarithm, given the prior of the scale."""
    return np.asarray(prior.log_density(np.exp(log_scale)) + log_scale)


def _locations(
    cells: SufficientStatistics, spec: ModelSpec, tau: np.ndarray, sigma: np.ndarray, *, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw connection means, then word means, from their Normal conditionals."""
    prior, partial = spec.priors["connection_mean"].parameters, _pools(spec)
    center, spread = prior["mu"], prior["sigma"]
    draws, (words, count) = len(sigma), cells.count.shape
    connection_mean, word_mean = np.empty((draws, count)), np.empty((draws, words, count))
    parts = np.array_split(np.arange(draws), max(1, draws * words // 2**17))
    blocks_of_draws = [slice(part[0], part[-1] + 1) for part in parts]
    for g, block in itertools.product(range(count), blocks_of_draws):
        kinds, kind = np.unique(cells.count[:, g], return_inverse=True)
        variance = _word_variance(spec, tau[block, g])[:, None]
        noise = np.square(sigma[block, g])[:, None]
        # One over the variance of a mean of so many rows, and 0 for a word without rows.
        shrunk = kinds / (kinds * variance + noise)
        mean = cells.mean[:, g]
        if partial:
            total = np.bincount(kind, mean)
            precision = 1 / spread**2 + shrunk @ np.bincount(kind)
            best = (center / spread**2 + shrunk @ total) / precision
            connection_mean[block, g] = best + rng.standard_normal(len(precision)) / np.sqrt(precision)
            base = connection_mean[block, g][:, None]
        else:
            base = np.full((len(noise), 1), center)
        pull = variance * shrunk
        sd = np.sqrt(variance * noise / (kinds * variance + noise))
        drawn = rng.standard_normal((len(noise), words))
        # If every word has the same number of rows, one column serves all.
        columns = kind if len(kinds) > 1 else slice(None)
        drawn *= sd[:, columns]
        drawn += (base * (1 - pull))[:, columns]
        drawn += pull[:, columns] * mean
        word_mean[block, :, g] = drawn
        if not partial:
            connection_mean[block, g] = drawn[:, cells.count[:, g] > 0].mean(axis=-1)
    return connection_mean, word_mean


def _error(reports: list[GridDraws]) -> dict[str, np.ndarray]:
    return {
        "grid_acceptance": np.array([report.acceptance for report in reports]),
        "edge_mass": np.array([report.edge_mass for report in reports]),
        "envelope_excess": np.array([report.excess for report in reports]),
    }
