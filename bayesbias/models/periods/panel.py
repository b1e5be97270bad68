"""Means by period when words lack periods: least squares with an effect of each word and of each period.

A word counts only in the periods that have it. Changes between periods come from the words that both have, so that a
list does not seem to move because its words differ.
"""

from dataclasses import dataclass

import numpy as np

from bayesbias.estimates.dependence import LEAST_FREEDOM
from bayesbias.estimates.intervals import draw_nodes
from bayesbias.models.multivariate.marginal_likelihood import InverseWishart

# Relative to the largest eigenvalue. The one that is 0, of equal effects, is off by more than NumPy allows for.
_SINGULAR = 1e-9
_TUNE = 200


def is_connected(present: np.ndarray) -> bool:
    """Return whether words (rows) link all periods (columns), directly or through other periods.

    >>> is_connected(np.array([[True, True, False], [False, True, True]]))
    True
    >>> is_connected(np.array([[True, False], [False, True]]))
    False
    """
    reached = np.zeros(present.shape[1], dtype=bool)
    reached[0] = True
    for _ in range(present.shape[1]):
        reached = reached | present[(present & reached).any(axis=1)].any(axis=0)
    return bool(reached.all())


def sole_links(present: np.ndarray) -> np.ndarray:
    """Return the places of words (rows) without which the others do not link all periods (columns).

    >>> sole_links(np.array([[True, True, False], [True, True, True], [False, False, True]]))
    array([1])
    """
    words = np.arange(len(present))
    return np.flatnonzero([not is_connected(present[words != word]) for word in words])


def effect_weights(present: np.ndarray) -> np.ndarray:
    """Return the weights of values (words, periods) in the effects of periods, shape (periods, words, periods).

    The effects sum to 0. They solve the normal equations of value = word + period over the values that are present.
    """
    words, periods = present.shape
    member = present.astype(float)
    share = member / member.sum(axis=1, keepdims=True).clip(1)
    normal = np.diag(member.sum(axis=0)) - member.T @ share
    right = -member.T[:, :, None] * share
    right[np.arange(periods), :, np.arange(periods)] += member.T
    inverse = np.linalg.pinv(normal, rcond=_SINGULAR, hermitian=True)
    return np.asarray((inverse @ right.reshape(periods, -1)).reshape(periods, words, periods))


def mean_weights(present: np.ndarray) -> np.ndarray:
    """Return the weights of values (words, periods) in the mean of each period, shape (periods, words, periods).

    With all values present they are one over the number of words. Words without any period have none.

    >>> values = np.array([[1.0, 2.0], [5.0, 6.0], [9.0, np.nan]])
    >>> weights = mean_weights(np.isfinite(values))
    >>> np.einsum("tis,is->t", weights, np.nan_to_num(values)).round(6)  # both words rose by 1
    array([5., 6.])
    """
    effects = effect_weights(present)
    counts = present.sum(axis=1)
    words = int((counts > 0).sum())
    share = present / counts.clip(1)[:, None]
    level = (share - np.tensordot(share.sum(axis=0), effects, axes=1)) / words
    return np.asarray(effects + level)


def fill_words(values: np.ndarray) -> np.ndarray:
    """Return values (periods, samples, words), missing ones replaced by word effect plus period effect.

    Samples are attribute words, of which some lack whole periods: those stay missing. The effects are those of one
    sample: distances to one attribute word.

    >>> values = np.array([[[1.0, 5.0]], [[2.0, np.nan]]])
    >>> fill_words(values)[1].tolist()
    [[2.0, 6.0]]
    """
    filled = values.copy()
    present = np.isfinite(values)
    has_period = present.any(axis=2)
    patterns, pattern_of = np.unique(has_period.T, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        samples = np.flatnonzero(pattern_of.reshape(-1) == place)
        block = values[np.ix_(pattern, samples)]
        is_present = np.isfinite(block[:, 0]).T
        if is_present.all():
            continue
        numbers = np.where(is_present.T[:, None], block, 0.0)
        periods = np.einsum("tis,sai->ta", effect_weights(is_present), numbers)
        counts = is_present.sum(axis=1)
        words = (numbers - periods[:, :, None] * is_present.T[:, None]).sum(axis=0) / counts.clip(1)
        words[:, counts == 0] = words[:, counts > 0].mean(axis=1, keepdims=True)
        fitted = periods[:, :, None] + words
        filled[np.ix_(pattern, samples)] = np.where(is_present.T[:, None], block, fitted)
    return filled


# Degrees of freedom and scales of the half-t priors of sds. That of levels is `effect_sd` of the default model; words
# differ less in their changes, and with few words and many periods a wider prior would widen the population's changes.
FREEDOM, LEVEL_SCALE, CHANGE_SCALE = 2.0, 0.1, 0.01
# Nodes of t z_g and of t, and the scale of the prior of t.
_FACTORS, _RATIOS, _RATIO_SCALE = np.linspace(-2.5, 2.5, 101), np.linspace(0.1, 1.5, 15), 0.5


@dataclass(frozen=True, eq=False)
class WordVariation:
    """Draws of S_g, `covariance` (draws, groups, periods, periods), and of `deviations` (draws, periods, words)."""

    covariance: np.ndarray
    deviations: np.ndarray


@dataclass(frozen=True, eq=False)
class ProtectedWords:
    """Whether words have periods, `present` (words, periods); their groups from 0, `group_of` (words,).

    `effects` (groups,) are the design effects of groups.
    """

    present: np.ndarray
    group_of: np.ndarray
    effects: np.ndarray


def time_coordinates(times: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of functions of time, in columns: level, slope, curvature, and so on.

    >>> time_coordinates(np.array([1900.0, 1910.0])).round(3).tolist()
    [[0.707, -0.707], [0.707, 0.707]]
    """
    span = (times - times.mean()) / max(np.ptp(times) / 2, 1e-9)
    basis = np.linalg.qr(np.polynomial.legendre.legvander(span, len(times) - 1))[0]
    return np.asarray(basis * np.where(basis[-1] < 0, -1.0, 1.0))


def draw_word_variation(
    contrasts: np.ndarray,
    protected: ProtectedWords,
    sampling: np.ndarray,
    times: np.ndarray,
    *,
    draws: int,
    chains: int,
    seed: int,
) -> WordVariation:
    """Return draws of S_g and of the deviations of single words.

    A word's contrasts by period are y_i = delta_i + e_i, both around the contrasts of its group: delta_i ~ Normal(0,
    S_g) is how words differ, and e_i ~ Normal(0, V) the chance of the attribute words, with V from their residuals. S_g
    is exp(2 t z_g) S, z_g ~ Normal(0, 1) and t half-Normal, so that groups are pooled as far as they spread alike. S
    (periods, periods) has the prior of Huang and Wand (2013): sds are half-t, correlations uniform, in orthonormal
    coordinates of time (level, slope, curvature, ...), so that words that differ much in level may change alike. A word
    that lacks periods counts with those that it has. The J words of a group with the design effect d are worth J / d
    words: their squares have the weight 1 / d, and J / d - 1 degrees of freedom. All is drawn by Gibbs sampling.

    - `contrasts`: contrasts around those of the word's group, shape (periods, words); not read where a word lacks a
      period.
    - `sampling`: V, shape (periods, periods).
    - `times`: times of the periods, increasing.
    - `draws`, `chains`: total number of draws, a multiple of the number of chains; and number of chains.
    """
    present, group_of, effects = protected.present, protected.group_of, protected.effects
    rng = np.random.default_rng([seed, 1000])
    basis = time_coordinates(times)
    # Everything is in coordinates of time; the error of distances keeps V positive definite.
    noise = basis.T @ sampling @ basis + 1e-12 * np.eye(len(basis))
    size, words = len(basis), len(group_of)
    sizes = np.bincount(group_of)
    freedom = np.where(sizes > 1, np.maximum(sizes / effects - 1, LEAST_FREEDOM), 0.0)
    member = np.eye(len(sizes))[group_of] / sizes[group_of][:, None]
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    blocks = [(np.flatnonzero(pattern_of.reshape(-1) == place), basis[has]) for place, has in enumerate(patterns)]
    common = np.tile(np.eye(size) * max(float(np.var(contrasts[present.T])), 1e-6), (chains, 1, 1))
    scales, factors = np.ones((chains, size)), np.zeros((chains, len(sizes)))
    prior_scales = np.r_[LEVEL_SCALE * np.sqrt(size), np.full(size - 1, CHANGE_SCALE)]
    count = draws // chains
    drawn_covariances = np.empty((chains, count, len(sizes), size, size))
    drawn_deviations = np.empty((chains, count, words, size))
    deviations = np.empty((chains, words, size))
    for step in range(-_TUNE, count):
        covariance = np.exp(2 * factors)[:, :, None, None] * common[:, None]
        for (members, rows), has in zip(blocks, patterns, strict=True):
            total = rows @ (covariance + noise) @ rows.T
            gain = np.swapaxes(np.linalg.solve(total, rows @ covariance), 2, 3)
            left = covariance - gain @ rows @ covariance
            values, vectors = np.linalg.eigh((left + np.swapaxes(left, 2, 3)) / 2)
            root = vectors * np.sqrt(np.maximum(values, 0))[:, :, None]
            free_noise = rng.standard_normal((chains, len(members), size, 1))
            means = gain[:, group_of[members]] @ contrasts[has][:, members].T[:, :, None]
            deviations[:, members] = (means + root[:, group_of[members]] @ free_noise)[..., 0]
        centred = deviations - np.einsum("jg,cjs->cgs", member, deviations)[:, group_of]
        weighted = centred * np.sqrt(np.exp(-2 * factors) / effects)[:, group_of, None]
        prior = 2 * FREEDOM / scales
        scale = np.swapaxes(weighted, 1, 2) @ weighted + prior[:, :, None] * np.eye(size)
        roots = InverseWishart(np.full(chains, FREEDOM + size - 1 + freedom.sum()), scale).roots(rng)
        common, inverse = roots @ np.swapaxes(roots, 1, 2), np.linalg.inv(roots)
        rate = FREEDOM * np.square(inverse).sum(axis=1) + 1 / prior_scales**2  # the diagonal of the precision
        scales = rate / rng.standard_gamma((FREEDOM + size) / 2, rate.shape)
        if len(sizes) > 1:
            squares = np.square(centred @ np.swapaxes(inverse, 1, 2)).sum(axis=2) @ np.eye(len(sizes))[group_of]
            factors = _draw_factors(factors, squares / effects, freedom * size, rng)
        if step >= 0:
            of_groups = np.exp(2 * factors)[:, :, None, None] * common[:, None]
            drawn_covariances[:, step] = basis @ of_groups @ basis.T
            drawn_deviations[:, step] = centred
    flat = drawn_deviations.reshape(-1, words, size) @ basis.T
    return WordVariation(drawn_covariances.reshape(-1, len(sizes), size, size), np.swapaxes(flat, 1, 2))


def _draw_factors(
    factors: np.ndarray, squares: np.ndarray, freedom: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw t given t z_g, then t z_g given t, all of shape (chains, groups).

    `squares` are sums of squares of groups' deviations in units of S, with `freedom` (groups,) degrees of freedom.
    """
    log = -factors.shape[1] * np.log(_RATIOS) - 0.5 * (_RATIOS / _RATIO_SCALE) ** 2
    log = log - 0.5 * np.square(factors).sum(axis=1, keepdims=True) / _RATIOS**2
    ratio = _RATIOS[draw_nodes(log, rng)][:, None, None]
    log = -freedom[:, None] * _FACTORS - 0.5 * squares[:, :, None] * np.exp(-2 * _FACTORS)
    node = draw_nodes(log - 0.5 * (_FACTORS / ratio) ** 2, rng)
    return np.asarray(_FACTORS[node] + (_FACTORS[1] - _FACTORS[0]) * (rng.random(node.shape) - 0.5))
