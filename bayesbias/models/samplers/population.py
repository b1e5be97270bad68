"""Words like these: what the means of these protected words say of the population that they are a sample of.

Within its group, a word's effects (level, gap, human, neutral) are a sample: Normal(mean of the group's population, S),
with Huang and Wand's (2013) prior for S, whose sds are half-t and whose correlations are free. Given the means of these
words, S is drawn from their differences within groups, and a population's mean is theirs plus Normal(0, S / J_g). The
vectors of these words are known, and given them no attribute word says more about their population: so this
does not change the means of these words.
"""

from collections.abc import Sequence

import numpy as np

from bayesbias.models.samplers.list_model import InverseWishart

_SWEEPS = 25
_BOTH = ("associated", "different")


def effects_basis(connections: Sequence[str]) -> np.ndarray:
    """Return what effects make of connections, shape (connections, effects): associated = level + gap / 2.

    >>> effects_basis(("associated", "different", "human"))
    array([[ 1. ,  0.5,  0. ],
           [ 1. , -0.5,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    matrix = np.eye(len(connections))
    if tuple(connections[:2]) == _BOTH:
        matrix[:2, :2] = [[1, 0.5], [1, -0.5]]
    return matrix


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
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
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
    rng
        Source of the draws.

    Returns
    -------
    tuple
        Means of the population, shape (draws, connections), each group weighing the same; and covariances, shape
        (draws, connections, connections).
    """
    basis = effects_basis(connections)
    inverse = np.linalg.inv(basis)
    member = np.eye(group_of.max() + 1)[group_of]
    whole = measured.all(axis=1)
    groups = member[whole].sum(axis=0)
    inside = means[:, whole] - (member[whole] / np.maximum(groups, 1) @ (member[whole].T @ means[:, whole]))
    scatter = inverse @ (np.swapaxes(inside, 1, 2) @ inside) @ inverse.T
    between = _draw_covariance(scatter, int(whole.sum() - (groups > 0).sum()), half_t, rng)
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
    return population, covariance


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
