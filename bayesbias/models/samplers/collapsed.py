"""Draws from the crossed models: everything but the scales is integrated out.

A row with protected word i, connection g and attribute word j is

    y = m[i, g] + b[j] + noise,   m[i, g] ~ N(mu[g], tau[g]),   mu[g] ~ N(m0, s0),   b[j] ~ N(0, omega[list of j])

Given theta = (tau, sigma, omega) all locations are jointly Normal. The b_j go first. With w = 1 / sigma^2, c the
cell (i, g) of a row, and u_j[c] the number of rows of attribute j in cell c,

    s_j = sum_c w u_j[c],   kappa_j = omega^2 / (1 + omega^2 s_j),
    log p(y | m, theta) = sum over rows log N(y | m, sigma) - 1/2 sum_j log(1 + omega^2 s_j)
                          + 1/2 sum_j kappa_j (sum over rows of j of w (y - m))^2.

Attribute words with the same u_j share one term, so that a table has a handful of patterns p instead of hundreds of
attribute words. The remaining density is quadratic in (m, mu): a precision that is diagonal in m, plus one row for each
mu, minus one rank for each pattern. Woodbury's identity reduces its determinant and inverse to those of a matrix with
one row per pattern. Importance sampling draws theta, and the locations come from their Normal conditionals.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.base.machine import check_memory
from bayesbias.errors import ModelError
from bayesbias.models.data import ModelData, list_kinds
from bayesbias.models.numerics.contrast_estimate import MOST_PATTERNS, AttributePatterns, find_patterns
from bayesbias.models.numerics.diagnostics import SamplerFailedError, singular_fails
from bayesbias.models.numerics.proposals import (
    KHAT_MAX,
    Mixture,
    efficiency_of,
    fit_proposal,
    importance_report,
    pareto_weights,
    poor_weights,
    resample,
)
from bayesbias.models.samplers.exact import log_prior
from bayesbias.models.spec import ModelSpec

_LIMITS = (-12.0, 3.0)
_START = np.log(0.08)
# Starts for two modes, which compete if the prior of connection_mean is far from the data: either protected words
# differ much, or attribute words do.
_APART = (np.log(0.8), np.log(0.02))
# The smallest number of effective points, or half of the draws if that is less.
_LEAST_EFFECTIVE = 400
CLIP = (-40.0, 8.0)
_MOST_POINTS, _MOST_NUMBERS = 1000, 1 << 19  # in a block


class Reduced:
    """The terms of the model for each theta with attribute effects and word means integrated out. First axis: points.

    By connection: `weight`, `connection_precision` of mu, `connection_linear`. By cell: `cell_weight`, `between`,
    `variance` of m given mu and b = 0, `linear` term h of m. By pattern: `inflation` omega^2 s_j, `kappa`, `cell_mean`
    (w-weighted sum of the cell means that it uses), `residual`, `pattern_linear`, its `coupling` to mu, and the `core`
    K^-1 - V' A^-1 V.
    """

    def __init__(self, patterns: AttributePatterns, theta: np.ndarray, prior_sd: float) -> None:
        p, count, kinds = patterns, patterns.connections, len(patterns.members)
        tau, sigma = np.exp(theta[:, :count]), np.exp(theta[:, count : 2 * count])
        omega2 = np.exp(2 * theta[:, 2 * count :])[:, p.list_of]
        self.weight, self.between = 1 / sigma**2, (1 / tau**2)[:, p.connection]
        self.cell_weight = w = self.weight[:, p.connection]
        self.variance = 1 / (p.rows * w + self.between)
        passed = self.between * self.variance
        self.connection_precision = 1 / prior_sd**2 + (passed * p.rows * w) @ p.is_connection
        self.inflation = omega2 * (self.weight @ p.usage_by_connection.T)
        self.kappa = omega2 / (1 + self.inflation)
        self.cell_mean = (w * p.mean) @ p.usage
        self.residual = self.weight @ p.residual_sum.T
        self.linear = w * (p.rows * p.mean - (self.kappa * (self.residual + p.members * self.cell_mean)) @ p.usage.T)
        self.coupling = ((passed * w) @ p.usage_cells).reshape(-1, kinds, count)
        over = self.coupling / self.connection_precision[:, None, :]
        self.core = -((w**2 * self.variance) @ p.usage_pairs).reshape(-1, kinds, kinds)
        self.core -= over @ self.coupling.transpose(0, 2, 1)
        self.core[:, np.arange(kinds), np.arange(kinds)] += 1 / (p.members * self.kappa)
        self.connection_linear = (passed * self.linear) @ p.is_connection
        self.pattern_linear = (w * self.variance * self.linear) @ p.usage
        self.pattern_linear += (over @ self.connection_linear[..., None])[..., 0]


def _factor(core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Cholesky factor of each matrix, and whether it is positive definite after rounding."""
    try:
        return np.linalg.cholesky(core), np.ones(len(core), dtype=bool)
    except np.linalg.LinAlgError:
        smallest, *_, largest = (
            np.moveaxis(np.linalg.eigvalsh(core), -1, 0) if core.shape[-1] > 1 else (core[:, 0, 0],) * 2
        )
        definite = np.isfinite(smallest) & (smallest > 1e-13 * largest)
        safe = np.where(definite[:, None, None], core, np.eye(core.shape[-1]))
        return np.linalg.cholesky(safe), definite


def log_marginal(
    patterns: AttributePatterns, theta: np.ndarray, prior_sd: float, *, reduced: Reduced | None = None
) -> np.ndarray:
    """Return log p(distances | theta), shape (points,), with all locations integrated out, up to a constant.

    `theta` (points, 2 * connections + lists) holds logarithms of word_sd and sigma of each connection, then of each
    attribute_sd; `prior_sd` is that of a connection mean; `reduced` are its terms, if computed.
    """
    p, count = patterns, patterns.connections
    r = Reduced(p, theta, prior_sd) if reduced is None else reduced
    factor, definite = _factor(r.core)
    whitened = np.linalg.solve(factor, r.pattern_linear[..., None])[..., 0]
    explained = (
        (r.linear**2 * r.variance).sum(axis=-1)
        + (r.connection_linear**2 / r.connection_precision).sum(axis=-1)
        + (whitened**2).sum(axis=-1)
    )
    log_determinant = (
        np.log(r.connection_precision).sum(axis=-1)
        - np.log(r.variance).sum(axis=-1)
        + np.log(p.members * r.kappa).sum(axis=-1)
        + 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    )
    weight_products = (r.weight[:, :, None] * r.weight[:, None, :]).reshape(len(theta), -1)
    products = weight_products @ p.residual_products.reshape(len(p.members), -1).T
    per_pattern = products + 2 * r.residual * r.cell_mean + p.members * r.cell_mean**2
    squares = (
        r.weight @ p.within + (r.cell_weight * p.rows * p.mean**2).sum(axis=-1) - (r.kappa * per_pattern).sum(axis=-1)
    )
    value: np.ndarray = (
        -theta[:, count : 2 * count] @ p.totals
        - p.words * theta[:, :count].sum(axis=-1)
        - 0.5 * (p.members * np.log1p(r.inflation)).sum(axis=-1)
        - 0.5 * squares
        + 0.5 * explained
        - 0.5 * log_determinant
    )
    # Rounding fails only at extreme scales, to which no prior gives mass.
    return np.where(definite & np.isfinite(value), value, -np.inf)


def draw_locations(
    patterns: AttributePatterns, theta: np.ndarray, prior_sd: float, *, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw connection means, word means and attribute effects from their Normal conditional given theta.

    Shapes: (points, connections), (points, cells) and (points, attributes); means are counted from the prior mean.
    """
    p, points = patterns, len(theta)
    r = Reduced(p, theta, prior_sd)
    # Covariance = A^-1 + A^-1 V core^-1 V' A^-1: a draw for each of the two terms, and the mean.
    lower = np.linalg.cholesky(r.core)
    upper = np.swapaxes(lower, -1, -2)
    mean_part = np.linalg.solve(r.core, r.pattern_linear[..., None])[..., 0]
    noise_part = np.linalg.solve(upper, rng.standard_normal((points, len(p.members), 1)))[..., 0]
    pattern_part = mean_part + noise_part
    mu = (r.connection_linear + (pattern_part[:, None, :] @ r.coupling)[:, 0, :]) / r.connection_precision
    mu += rng.standard_normal(mu.shape) / np.sqrt(r.connection_precision)
    along = r.linear + r.cell_weight * (pattern_part @ p.usage.T) + r.between * mu[:, p.connection]
    word = r.variance * along + np.sqrt(r.variance) * rng.standard_normal(along.shape)

    shift = (r.cell_weight * (p.mean - word)) @ p.usage
    kappa = r.kappa[:, p.pattern]
    effect = kappa * (r.weight @ p.residual.T + shift[:, p.pattern])
    effect += np.sqrt(kappa) * rng.standard_normal(effect.shape)
    return mu, word, effect


def why_not_collapsed(spec: ModelSpec) -> str | None:
    """Return the term of a model that the collapsed sampler does not fit, or None."""
    if spec.switches["attribute_effects"] == "none":
        return "attribute_effects = 'none': there are no effects to integrate out"
    if spec.switches["pooling"] != "partial":
        return f"pooling = {spec.switches['pooling']!r}: with attribute effects only 'partial' is collapsed"
    if spec.priors["connection_mean"].distribution != "Normal":
        return f"connection_mean = {spec.priors['connection_mean']}: only a Normal prior integrates out"
    return None


@dataclass(frozen=True, eq=False)
class Collapsed:
    """The density of theta for one table, by its sufficient statistics, and one model with `lists` attribute_sd."""

    patterns: AttributePatterns
    spec: ModelSpec
    lists: int

    @property
    def prior(self) -> dict[str, float]:
        """The prior of a connection mean: `mu`, from which `patterns` counts distances, and `sigma`."""
        return self.spec.priors["connection_mean"].parameters

    def log_density(self, theta: np.ndarray, *, reduced: Reduced | None = None) -> np.ndarray:
        """Return the log posterior density of theta, the logarithms of all scales, up to a constant."""
        if reduced is None and len(blocks := theta_blocks(theta, self.points_at_once)) > 1:
            return np.concatenate([self.log_density(block) for block in blocks])
        theta = np.clip(theta, *CLIP)
        count, priors = self.patterns.connections, self.spec.priors
        value = log_marginal(self.patterns, theta, self.prior["sigma"], reduced=reduced)
        value += log_prior(priors["word_sd"], theta[:, :count]).sum(axis=-1)
        value += log_prior(priors["sigma"], theta[:, count : 2 * count]).sum(axis=-1)
        value += log_prior(priors["attribute_sd"], theta[:, 2 * count :]).sum(axis=-1)
        return value

    @property
    def points_at_once(self) -> int:
        """Points of a block whose terms, by cell and by pair of patterns, take little memory."""
        terms = max(len(self.patterns.mean), len(self.patterns.members) ** 2)
        return max(1, min(_MOST_POINTS, _MOST_NUMBERS // terms))

    @property
    def scales(self) -> int:
        """Number of coordinates of theta."""
        return 2 * self.patterns.connections + self.lists

    def starts(self) -> list[np.ndarray]:
        """Return the starts of searches for a mode: even scales, mainly words that differ, mainly attribute words."""
        sizes = self.patterns.connections, self.patterns.connections, self.lists
        pairs = ((_START, _START), _APART, _APART[::-1])
        return [np.repeat([word_sd, _START, attribute_sd], sizes) for word_sd, attribute_sd in pairs]


def collapse(data: ModelData, spec: ModelSpec) -> Collapsed:
    """Return the density of theta for a table and a model.

    Raises a `ModelError`, which names the term, if the model is not a crossed one, and a `SamplerFailedError` if
    the missing rows form too many patterns to gain anything. Raises `NotEnoughMemoryError` if these do not fit.
    """
    if reason := why_not_collapsed(spec):
        raise ModelError(f"The collapsed sampler does not fit the model {spec.name!r}: {reason}. Use sampler='auto'.")
    patterns = find_patterns(data, spec)
    if len(patterns.members) > MOST_PATTERNS:
        raise SamplerFailedError(
            f"the attribute words have {len(patterns.members):,} different patterns of missing rows, and more than "
            f"{MOST_PATTERNS} cannot be collapsed"
        )
    pairs = len(patterns.mean) * len(patterns.members) * (len(patterns.members) + len(data.connections))
    what = f"The {len(patterns.members)} patterns of rows of {len(data.protected_words):,} protected words"
    check_memory(8 * pairs, what, "Take fewer protected words.")
    per_list = spec.switches["attribute_effects"] == "per_list"
    return Collapsed(patterns, spec, len(list_kinds(data)) if per_list else 1)


def sample_collapsed(
    collapsed: Collapsed, *, draws: int, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return draws of all parameters, and a report on their error.

    The posterior has `connection_mean`, `word_sd`, `sigma` of shape (draws, connections), `word_mean` (draws, protected
    words, connections), `attribute_sd` (draws,) or (draws, lists) and `attribute_effect` (draws, attribute words); the
    error has `importance_efficiency`, `pareto_khat`, `importance_ess` and `points_weighted`. Raises
    `SamplerFailedError` if the Pareto k-hat is above 0.7, or too few points have weight.
    """
    from bayesbias.base.machine import threadpool_limits

    p, count = collapsed.patterns, collapsed.patterns.connections
    # Threads cost more than they save with small matrices.
    with threadpool_limits(1, "blas"), singular_fails():
        drawn = resample(collapsed.log_density, propose(collapsed), draws=draws, rng=rng)
    if not drawn.khat <= KHAT_MAX:
        raise SamplerFailedError(poor_weights(drawn.khat, KHAT_MAX))
    if drawn.effective < min(_LEAST_EFFECTIVE, draws / 2):
        raise SamplerFailedError(f"the importance weights leave only {drawn.effective:.0f} effective points")
    theta = np.clip(drawn.points, *CLIP)
    blocks = theta_blocks(theta, collapsed.points_at_once)
    parts = [draw_locations(p, block, collapsed.prior["sigma"], rng=rng) for block in blocks]
    mu, word, effect = (np.concatenate(part) for part in zip(*parts, strict=True))
    scales = np.exp(theta)
    attribute_sd = scales[:, 2 * count :]
    posterior = {
        "connection_mean": mu + collapsed.prior["mu"],
        "word_sd": scales[:, :count],
        "sigma": scales[:, count : 2 * count],
        "word_mean": (word + collapsed.prior["mu"]).reshape(-1, p.words, count),
        "attribute_sd": attribute_sd[:, 0] if collapsed.spec.switches["attribute_effects"] == "one" else attribute_sd,
        "attribute_effect": effect,
    }
    return posterior, importance_report([drawn])


def theta_blocks(theta: np.ndarray, points: int) -> list[np.ndarray]:
    """Return theta in blocks of fewer than twice so many points."""
    return np.array_split(theta, max(1, len(theta) // points))


@singular_fails()
def propose(collapsed: Collapsed) -> Mixture:
    """Return a proposal for theta, with a part for each mode found."""
    return fit_proposal(collapsed.log_density, collapsed.starts(), limits=_LIMITS)


@dataclass(frozen=True, eq=False)
class ConnectionMeanPosterior:
    """The posterior of the connection means as a mixture of Normals, one for each weighted theta.

    `weights` (points,) are smoothed importance weights and sum to 1. `mean` (points, connections), in units of cosine
    distance, and `covariance` (points, connections, connections) are conditional on theta; `efficiency` and `khat` are
    those of the importance weights.
    """

    weights: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    efficiency: float
    khat: float


@singular_fails()
def connection_mean_posterior(
    collapsed: Collapsed, proposal: Mixture | None = None, *, draws: int, rng: np.random.Generator
) -> ConnectionMeanPosterior:
    """Return the posterior of the connection means alone, several times faster than `sample_collapsed`.

    `draws` points theta are weighted. The same proposal and the same state of `rng` give the same points, so that two
    posteriors from them differ by their weights and conditionals and not by chance. The caller must judge `khat`; a
    singular matrix in the proposal or the posterior is a `SamplerFailedError`.
    """
    proposal = propose(collapsed) if proposal is None else proposal
    points = proposal.draw(draws, rng)
    parts = []
    for block in theta_blocks(np.clip(points, *CLIP), collapsed.points_at_once):
        reduced = Reduced(collapsed.patterns, block, collapsed.prior["sigma"])
        parts.append((collapsed.log_density(block, reduced=reduced), *_conditional_means(reduced)))
    log_weights, mean, covariance = (np.concatenate(part) for part in zip(*parts, strict=True))
    log_weights -= proposal.log_density(points)
    weights, khat = pareto_weights(log_weights)
    return ConnectionMeanPosterior(
        weights=weights,
        mean=mean + collapsed.prior["mu"],
        covariance=covariance,
        efficiency=efficiency_of(log_weights),
        khat=khat,
    )


def _conditional_means(r: Reduced) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (counted from the prior mean) and covariance of mu given theta, for each point."""
    through = np.linalg.solve(r.core, r.coupling) / r.connection_precision[:, None, :]
    along = np.swapaxes(r.coupling, 1, 2) / r.connection_precision[:, :, None]
    mean = r.connection_linear / r.connection_precision + (r.pattern_linear[:, None, :] @ through)[:, 0, :]
    covariance = along @ through
    diagonal = np.arange(r.connection_precision.shape[1])
    covariance[:, diagonal, diagonal] += 1 / r.connection_precision
    return mean, covariance
