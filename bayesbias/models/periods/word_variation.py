"""Variation of protected words' gaps around those of their group over periods, and the deviations of single words.

A word's gaps by period are d_i = delta_i + e_i, both around the gaps of its group: delta_i ~ Normal(0, S) is how words
differ, and e_i ~ Normal(0, V) the chance of the attribute words, with V from their residuals. S (periods, periods) has
the prior of Huang and Wand (2013): sds are half-t, correlations uniform, in orthonormal coordinates of time (level,
slope, curvature, ...), so that words that differ much in level may change alike. A word that lacks periods counts with
those that it has. S is drawn by Gibbs sampling.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.models.multivariate.list_model import InverseWishart

# Degrees of freedom and scales of the half-t priors of sds. That of levels is `effect_sd` of the default model; words
# differ less in their changes, and with few words and many periods a wider prior would widen the population's changes.
FREEDOM, LEVEL_SCALE, CHANGE_SCALE = 2.0, 0.1, 0.01
_TUNE = 200


@dataclass(frozen=True, eq=False)
class WordVariation:
    """Draws, chain after chain: `covariance` (draws, periods, periods) is S; `deviations` (draws, periods, words)."""

    covariance: np.ndarray
    deviations: np.ndarray


def time_coordinates(times: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of functions of time, in columns: level, slope, curvature, and so on.

    >>> time_coordinates(np.array([1900.0, 1910.0])).round(3).tolist()
    [[0.707, -0.707], [0.707, 0.707]]
    """
    span = (times - times.mean()) / max(np.ptp(times) / 2, 1e-9)
    basis = np.linalg.qr(np.polynomial.legendre.legvander(span, len(times) - 1))[0]
    return np.asarray(basis * np.where(basis[-1] < 0, -1.0, 1.0))


def draw_word_variation(
    gaps: np.ndarray,
    present: np.ndarray,
    group_of: np.ndarray,
    sampling: np.ndarray,
    times: np.ndarray,
    *,
    draws: int,
    chains: int,
    seed: int,
) -> WordVariation:
    """Return draws of S and of the deviations of single words.

    Parameters
    ----------
    gaps
        Gaps around those of the word's group, shape (periods, words); not read where a word lacks a period.
    present
        Whether a word has a period, shape (words, periods).
    group_of
        Group of each word, from 0.
    sampling
        V, shape (periods, periods).
    times
        Times of the periods, increasing.
    draws, chains
        Total number of draws, a multiple of the number of chains; and number of chains.
    seed
        Seed.
    """
    rng = np.random.default_rng([seed, 1000])
    basis = time_coordinates(times)
    # Everything is in coordinates of time; the error of distances keeps V positive definite.
    noise = basis.T @ sampling @ basis + 1e-12 * np.eye(len(basis))
    size, words = len(basis), len(group_of)
    sizes = np.bincount(group_of)
    free = words - len(sizes)
    member = np.eye(len(sizes))[group_of] / sizes[group_of][:, None]
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    blocks = [(np.flatnonzero(pattern_of.reshape(-1) == place), basis[has]) for place, has in enumerate(patterns)]
    covariance = np.tile(np.eye(size) * max(float(np.var(gaps[present.T])), 1e-6), (chains, 1, 1))
    scales = np.ones((chains, size))
    prior_scales = np.r_[LEVEL_SCALE * np.sqrt(size), np.full(size - 1, CHANGE_SCALE)]
    count = draws // chains
    drawn_covariances, drawn_deviations = np.empty((chains, count, size, size)), np.empty((chains, count, words, size))
    deviations = np.empty((chains, words, size))
    for step in range(-_TUNE, count):
        for (members, rows), has in zip(blocks, patterns, strict=True):
            total = rows @ (covariance + noise) @ rows.T
            gain = np.swapaxes(np.linalg.solve(total, rows @ covariance), 1, 2)
            left = covariance - gain @ rows @ covariance
            values, vectors = np.linalg.eigh((left + np.swapaxes(left, 1, 2)) / 2)
            root = vectors * np.sqrt(np.maximum(values, 0))[:, None]
            free_noise = rng.standard_normal((chains, len(members), size))
            deviations[:, members] = gaps[has][:, members].T @ np.swapaxes(gain, 1, 2) + free_noise @ np.swapaxes(
                root, 1, 2
            )
        means = np.einsum("jg,cjs->cgs", member, deviations)
        centred = deviations - means[:, group_of]
        prior = 2 * FREEDOM / scales
        scale = np.swapaxes(centred, 1, 2) @ centred + prior[:, :, None] * np.eye(size)
        roots = InverseWishart(np.full(chains, FREEDOM + size - 1 + free), scale).roots(rng)
        covariance = roots @ np.swapaxes(roots, 1, 2)
        precision = np.square(np.linalg.inv(roots)).sum(axis=1)  # the diagonal of the inverse
        rate = FREEDOM * precision + 1 / prior_scales**2
        scales = rate / rng.standard_gamma((FREEDOM + size) / 2, rate.shape)
        if step >= 0:
            drawn_covariances[:, step] = basis @ covariance @ basis.T
            drawn_deviations[:, step] = centred
    flat = drawn_deviations.reshape(-1, words, size) @ basis.T
    return WordVariation(drawn_covariances.reshape(-1, size, size), np.swapaxes(flat, 1, 2))
