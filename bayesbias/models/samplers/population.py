"""Words like these: what the means of these protected words say of the population that they are a sample of.

Within its group, a word's effects (level, gap, human, neutral) are a sample: Normal(mean of the group's population, S),
and a population's mean is that of these words plus Normal(0, S / J_g). The vectors of these words are known, and given
them no attribute word says more about their population: so this does not change the means of these words.

The sds of S are those of the plain effects beyond what attribute words make of them by chance: within groups they are
Normal(0, sd^2 I + V), with V their covariance from one sample of attribute words to the next, and a half-t prior of sd.
Correlations are those of the drawn effects, with Huang and Wand's (2013) prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bayesbias.models.samplers.list_model import InverseWishart
from bayesbias.models.word_effects import effects_basis

_SWEEPS = 25
_SDS = np.exp(np.linspace(np.log(1e-4), np.log(3.0), 400))


@dataclass(frozen=True, eq=False)
class PlainEffects:
    """Effects of these words from plain means of lists, and how these covary over samples of attribute words.

    Their shapes are (effects, words) and (effects, words, words).
    """

    effects: np.ndarray
    covariances: np.ndarray


def plain_effects(
    lists: np.ndarray, covariances: np.ndarray, connection_weights: np.ndarray, connections: Sequence[str]
) -> PlainEffects:
    """Return the plain effects from plain means of lists (lists, words) and their covariances (lists, words, words)."""
    weights = np.einsum("ec,jcl->ejl", np.linalg.inv(effects_basis(connections)), connection_weights)
    effects = np.einsum("ejl,lj->ej", weights, lists)
    return PlainEffects(effects, np.einsum("ejl,ekl,ljk->ejk", weights, weights, covariances, optimize=True))


def word_means(lists: np.ndarray, connection_weights: np.ndarray) -> np.ndarray:
    """Return the mean distance of each word for each connection, shape (draws, words, connections).

    `lists` (draws, lists, words) are means of lists, `connection_weights` as in an `AttributeSample`; the mean for a
    connection that a word lacks is 0.
    """
    return np.asarray(np.einsum("dlj,jcl->djc", lists, connection_weights, optimize=True))


def draw_population(
    means: np.ndarray,
    measured: np.ndarray,
    group_of: np.ndarray,
    connections: Sequence[str],
    half_t: tuple[float, float],
    plain: PlainEffects,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw the mean distances of words like these, and the covariance of words around them.

    Parameters
    ----------
    means
        Mean distances of these words, shape (draws, words, connections). Those that are not measured are drawn, given
        the others of their word, in place.
    measured
        Which words have which connections, shape (words, connections).
    group_of
        Group of each word.
    connections
        Names of the connections.
    half_t
        Degrees of freedom and scale of the prior of the sds of level, gap and effects on controls.
    plain
        The plain effects of these words, which say how much words differ.
    rng
        Source of the draws.

    Returns
    -------
    tuple
        Means of the population, shape (draws, connections), each group weighing the same; covariances, shape
        (draws, connections, connections); and sds of the effects, shape (draws, effects).
    """
    basis = effects_basis(connections)
    inverse = np.linalg.inv(basis)
    member = np.eye(group_of.max() + 1)[group_of]
    whole = measured.all(axis=1)
    groups = member[whole].sum(axis=0)
    inside = means[:, whole] - (member[whole] / np.maximum(groups, 1) @ (member[whole].T @ means[:, whole]))
    scatter = inverse @ (np.swapaxes(inside, 1, 2) @ inside) @ inverse.T
    between = _draw_covariance(scatter, int(whole.sum() - (groups > 0).sum()), half_t, rng)
    effect_sd = _draw_effect_sds(plain, whole, member, half_t, len(means), rng)
    ratio = effect_sd / np.sqrt(np.diagonal(between, axis1=1, axis2=2))
    between = between * ratio[:, :, None] * ratio[:, None, :]
    covariance = basis @ between @ basis.T
    have = (member.T @ measured) > 0
    sizes = (member.T @ measured).clip(1)
    of_groups = np.einsum("gj,djc->dgc", member.T, means * measured) / sizes
    lower = np.linalg.cholesky(between)
    noise = rng.standard_normal((len(means), len(have), len(basis)))
    noise = noise @ np.swapaxes(lower, 1, 2) @ basis.T / np.sqrt(member.sum(axis=0))[:, None]
    weights = have / have.sum(axis=0)
    population = ((of_groups + noise) * weights).sum(axis=1)
    _draw_unmeasured(means, measured, population, covariance, rng)
    return population, covariance, effect_sd


def _draw_effect_sds(
    plain: PlainEffects,
    whole: np.ndarray,
    member: np.ndarray,
    half_t: tuple[float, float],
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the sd of each effect among the words of a group, shape (draws, effects), on a grid and inside its cells."""
    scaled = member[whole] / np.sqrt(np.maximum(member[whole].sum(axis=0), 1))
    present = scaled[:, scaled.any(axis=0)]
    contrasts = np.linalg.qr(present, mode="complete")[0][:, present.shape[1] :]
    log_prior = stats.t(half_t[0], 0, half_t[1]).logpdf(_SDS) + np.log(_SDS)
    step, found = np.log(_SDS[1] / _SDS[0]), np.empty((draws, len(plain.effects)))
    for effect, (values, covariance) in enumerate(zip(plain.effects, plain.covariances, strict=True)):
        spread, axes = np.linalg.eigh(contrasts.T @ covariance[np.ix_(whole, whole)] @ contrasts)
        square = np.square(axes.T @ (contrasts.T @ values[whole]))
        variance = np.maximum(spread, 0) + _SDS[:, None] ** 2
        log = log_prior - 0.5 * (np.log(variance) + square / variance).sum(axis=1)
        cumulative = np.cumsum(np.exp(log - log.max()))
        cell = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1])
        found[:, effect] = _SDS[np.minimum(cell, len(_SDS) - 1)] * np.exp(step * (rng.random(draws) - 0.5))
    return found


def _draw_covariance(
    scatter: np.ndarray, freedom: int, half_t: tuple[float, float], rng: np.random.Generator
) -> np.ndarray:
    """Draw S given products of effects (draws, size, size) of that freedom, by sweeps for all draws at once."""
    (nu, scale), (draws, size, _) = half_t, scatter.shape
    places = np.arange(size)
    auxiliary = np.full((draws, size), scale**2)
    between = np.empty_like(scatter)
    for _ in range(_SWEEPS):
        prior = np.zeros_like(scatter)
        prior[:, places, places] = 2 * nu / auxiliary
        roots = InverseWishart(np.full(draws, nu + size - 1.0 + freedom), scatter + prior).roots(rng)
        between = roots @ np.swapaxes(roots, 1, 2)
        precision = np.diagonal(np.linalg.inv(between), axis1=1, axis2=2)
        rate = 1 / scale**2 + nu * precision
        auxiliary = rate / rng.standard_gamma((nu + size) / 2, (draws, size))
    return between


def _draw_unmeasured(
    means: np.ndarray, measured: np.ndarray, population: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> None:
    """Draw the means of words for connections that they lack, given those that they have, into `means`."""
    for word in np.flatnonzero(~measured.all(axis=1)):
        here, gone = np.flatnonzero(measured[word]), np.flatnonzero(~measured[word])
        cross = covariance[:, gone[:, None], here]
        gain = cross @ np.linalg.inv(covariance[:, here[:, None], here])
        left = covariance[:, gone[:, None], gone] - gain @ np.swapaxes(cross, 1, 2)
        values, vectors = np.linalg.eigh(left)
        noise = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        centre = population[:, gone] + (gain @ (means[:, word, here] - population[:, here])[..., None])[..., 0]
        means[:, word, gone] = centre + (noise @ rng.standard_normal((len(means), len(gone), 1)))[..., 0]
