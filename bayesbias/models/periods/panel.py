"""Means by period when words lack periods: least squares with an effect of each word and of each period.

A word counts only in the periods that have it. Changes between periods come from the words that both have, so that a
list does not seem to move because its words differ.
"""

import numpy as np

# Relative to the largest eigenvalue. The one that is 0, of equal effects, is off by more than NumPy allows for.
_SINGULAR = 1e-9


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
