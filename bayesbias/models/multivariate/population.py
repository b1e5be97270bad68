"""Words like these: the population whose sample the protected words are.

Within its group, a word's effects (level, gap, human, neutral) are a sample: Normal(mean of the group's population, S).
The population's mean is the mean of these words plus Normal(0, S / J_g). The vectors of these words are known, so that
attribute words carry no further information on the population, and the means of these words do not depend on it.

S is learnt from the variation of plain effects beyond the chance variation of attribute words. Within groups plain
effects are Normal(0, sd^2 I + V), with V their covariance over samples of attribute words, and a half-t prior of sd.
Correlations are those of the plain effects, with an inverse-Wishart prior under which each of them is uniform. Control
words change neither V nor sd of the effects on associated and different words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bayesbias.models.multivariate.attribute_sample import AttributeSample
from bayesbias.models.multivariate.completion import draw_on_grid
from bayesbias.models.multivariate.list_model import InverseWishart
from bayesbias.models.word_effects import effects_basis

_SDS = np.exp(np.linspace(np.log(1e-4), np.log(3.0), 400))


@dataclass(frozen=True, eq=False)
class PlainEffects:
    """Effects of these words from plain means of lists, as contrasts of words within groups.

    `effects` has shape (effects, contrasts); `covariances` (effects, contrasts, contrasts) are theirs over samples of
    attribute words.
    """

    effects: np.ndarray
    covariances: np.ndarray


def word_means(lists: np.ndarray, connection_weights: np.ndarray) -> np.ndarray:
    """Return the mean distance of each word for each connection, shape (draws, words, connections).

    `lists` (draws, lists, words) are means of lists, `connection_weights` as in an `AttributeSample`. The mean is 0 for
    a connection that a word lacks.
    """
    return np.asarray(np.einsum("dlj,jcl->djc", lists, connection_weights, optimize=True))


def plain_effects(sample: AttributeSample, distances: np.ndarray, connections: Sequence[str]) -> PlainEffects:
    """Return the plain effects of the words that have all connections, from distances without gaps."""
    whole = sample.connection_weights.any(axis=2).all(axis=1)
    within = group_contrasts(sample.pattern_of[whole])
    columns = distances[:, whole] @ within
    means = np.stack([columns[sample.list_of == place].mean(axis=0) for place in range(len(sample.lists))])
    residual, kind_of = columns - means[sample.list_of], sample.list_kind[sample.list_of]
    lists = np.bincount(sample.list_kind)
    covariances = [shrunk_covariance(residual[kind_of == kind], count) for kind, count in enumerate(lists.tolist())]
    of_means = np.stack(covariances)[sample.list_kind] / np.bincount(sample.list_of)[:, None, None]
    basis = np.linalg.inv(effects_basis(connections))
    weights = np.einsum("ec,jcl->ejl", basis, sample.connection_weights[whole])
    # The weights of a contrast: words of one group have the same lists, except for lost pairs.
    weights = np.einsum("jp,ejl->epl", within**2, weights)
    effects = np.einsum("epl,lp->ep", weights, means)
    return PlainEffects(effects, np.einsum("epl,eql,lpq->epq", weights, weights, of_means, optimize=True))


def group_contrasts(group_of: np.ndarray) -> np.ndarray:
    """Return orthonormal contrasts of words, each of words of one group, shape (words, words - groups).

    >>> group_contrasts(np.array([0, 1, 1])).round(3)
    array([[ 0.   ],
           [-0.707],
           [ 0.707]])
    """
    blocks = []
    for group in np.unique(group_of):
        members = np.flatnonzero(group_of == group)
        block = np.zeros((len(group_of), len(members) - 1))
        block[members] = np.linalg.qr(np.ones((len(members), 1)), mode="complete")[0][:, 1:]
        blocks.append(block)
    return np.concatenate([np.zeros((len(group_of), 0)), *blocks], axis=1)


def shrunk_covariance(residual: np.ndarray, lost: int) -> np.ndarray:
    """Return the covariance of residuals, shape (rows, size), after `lost` degrees of freedom went to means.

    It is shrunk toward equal variances without correlations (Chen, Wiesel, Eldar and Hero 2010, OAS), so that it has
    an inverse for any number of rows.
    """
    rows, size = max(len(residual) - lost, 1), residual.shape[1]
    covariance = residual.T @ residual / rows
    total, square = np.trace(covariance), np.sum(covariance**2)
    spread = (rows + 1 - 2 / max(size, 1)) * (square - total**2 / max(size, 1))
    share = min(((1 - 2 / max(size, 1)) * square + total**2) / spread, 1.0) if spread > 0 else 1.0
    return np.asarray((1 - share) * covariance + share * total / max(size, 1) * np.eye(size))


def draw_effect_covariance(
    plain: PlainEffects, half_t: tuple[float, float], draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw S, shape (draws, effects, effects); `half_t` holds degrees of freedom and scale of the prior of its sds."""
    size = len(plain.effects)
    log_prior = stats.t(half_t[0], 0, half_t[1]).logpdf(_SDS) + np.log(_SDS)
    sds = np.empty((draws, size))
    for effect, (values, covariance) in enumerate(zip(plain.effects, plain.covariances, strict=True)):
        spread, axes = np.linalg.eigh(covariance)
        variance = np.maximum(spread, 0) + _SDS[:, None] ** 2
        log = log_prior - 0.5 * (np.log(variance) + np.square(axes.T @ values) / variance).sum(axis=1)
        sds[:, effect] = draw_on_grid(_SDS, log[None], draws, rng)
    scatter = plain.effects @ plain.effects.T + sds[:, :, None] ** 2 * np.eye(size)
    freedom = np.full(draws, 1.0 + size + plain.effects.shape[1])
    roots = InverseWishart(freedom, scatter).roots(rng)
    between = roots @ np.swapaxes(roots, 1, 2)
    ratio = sds / np.sqrt(np.diagonal(between, axis1=1, axis2=2))
    return np.asarray(between * ratio[:, :, None] * ratio[:, None, :])


def draw_population(
    means: np.ndarray,
    measured: np.ndarray,
    group_of: np.ndarray,
    shares: np.ndarray,
    basis: np.ndarray,
    between: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the mean distances of words like these, shape (draws, connections).

    `means` (draws, words, connections) are those of these words; unmeasured ones are drawn in place, given the measured
    ones of their word. `measured` (words, connections) holds which words have which connections, `shares` (groups,
    connections) are the weights of groups (`group_shares`), `basis` is that of `effects_basis`, `between` (draws,
    effects, effects) is S.
    """
    member = np.eye(group_of.max() + 1)[group_of]
    of_groups = np.einsum("gj,djc->dgc", member.T, means * measured) / (member.T @ measured).clip(1)
    noise = rng.standard_normal((len(means), len(shares), len(basis)))
    noise = noise @ np.swapaxes(np.linalg.cholesky(between), 1, 2) @ basis.T / np.sqrt(member.sum(axis=0))[:, None]
    population = np.asarray(((of_groups + noise) * shares).sum(axis=1))
    _draw_unmeasured(means, measured, population, basis @ between @ basis.T, rng)
    return population


def _draw_unmeasured(
    means: np.ndarray, measured: np.ndarray, population: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> None:
    """Draw the means of words for connections that they lack, given those that they have, in place."""
    for word in np.flatnonzero(~measured.all(axis=1)):
        have, lack = np.flatnonzero(measured[word]), np.flatnonzero(~measured[word])
        cross = covariance[:, lack[:, None], have]
        gain = cross @ np.linalg.inv(covariance[:, have[:, None], have])
        left = covariance[:, lack[:, None], lack] - gain @ np.swapaxes(cross, 1, 2)
        values, vectors = np.linalg.eigh(left)
        noise = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        centre = population[:, lack] + (gain @ (means[:, word, have] - population[:, have])[..., None])[..., 0]
        means[:, word, lack] = centre + (noise @ rng.standard_normal((len(means), len(lack), 1)))[..., 0]
