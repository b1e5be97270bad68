r"""Statistics of pairs of words, with standard errors for pairs that share words; arrays in, arrays out.

Two pairs that share a word are not independent: a salient word shifts all of its pairs in one direction. The variance
of a statistic is the sum of the products of the influences of all pairs that have a word in common, as for dyads
(Aronow, Samii and Assenova 2015), but at least that of independent pairs. Pairs of words that depend on each other,
such as synonyms, count likewise, as far as the words correlate.
"""

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats

Codes = NDArray[np.integer]


def dyadic_variance(influences: Floats, first: Codes, second: Codes, correlations: Floats | None = None) -> float:
    """Return the variance of a sum of influences of pairs (first, second) of words.

    Parameters
    ----------
    influences : array, shape (pairs,)
        Influences of the pairs, which sum to about 0.
    first, second : arrays of int, shape (pairs,)
        Codes of the words of each pair.
    correlations : array, shape (words, words)
        Correlations of dependent words; None if words are independent.

    Examples
    --------
    >>> errors = np.array([0.5, 0.5, -1.0])
    >>> dyadic_variance(errors, np.array([0, 2, 4]), np.array([1, 3, 5]))
    1.5
    >>> dyadic_variance(errors, np.array([0, 0, 4]), np.array([1, 3, 5]))
    2.0
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    dyads = np.unique(np.stack([low, high]), axis=1, return_inverse=True)[1].reshape(-1)
    of_dyads = np.bincount(dyads, influences)
    words = int(max(first.max(), second.max())) + 1
    of_words = np.bincount(first, influences, words) + np.bincount(second, influences, words)
    independent = float(of_dyads @ of_dyads)
    squares = float(of_words @ of_words)
    if correlations is not None:
        squares = max(float(of_words @ correlations @ of_words), squares)
    return max(squares - independent, independent)


def effective_words(first: Codes, second: Codes) -> float:
    """Return Kish's effective number of words, given the words of each pair.

    >>> effective_words(np.array([0, 2]), np.array([1, 3]))
    4.0
    >>> round(effective_words(np.array([0, 0, 0]), np.array([1, 2, 3])), 6)
    3.0
    """
    pairs = np.bincount(np.concatenate([first, second])).astype(np.float64)
    return float(pairs.sum() ** 2 / (pairs @ pairs))


def spearman_influences(x: Floats, y: Floats) -> tuple[float, Floats]:
    """Return Spearman's correlation of two columns, and each pair's influence on it (Croux and Dehon 2010).

    >>> value, influences = spearman_influences(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(value, 3), bool(abs(influences.sum()) < 1e-12)
    (0.8, True)
    """
    u, v = shares_below(x) - 0.5, shares_below(y) - 0.5
    spread = np.sqrt(np.mean(u**2) * np.mean(v**2))
    if spread == 0:
        return 0.0, np.zeros(len(x))
    # Influence by the pair's own ranks, and by its effect on the ranks of others.
    raw = u * v + mean_above(x, v) + mean_above(y, u)
    value = float(np.mean(u * v) / spread)
    return value, (raw - raw.mean()) / spread


def shares_below(values: Floats) -> Floats:
    """Return the share of smaller values for each value; ties count half.

    >>> shares_below(np.array([3.0, 1.0, 3.0, 2.0]))
    array([0.75 , 0.125, 0.75 , 0.375])
    """
    ordered = np.sort(values)
    low, high = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    shares: Floats = (low + high) / (2 * len(values))
    return shares


def mean_above(values: Floats, weights: Floats) -> Floats:
    """Return for each value the sum of the weights of greater values, ties half, over the number of values."""
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    low, high = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    above: Floats = (sums[-1] - (sums[low] + sums[high]) / 2) / len(values)
    return above


def reliability_influences(values: Floats, errors: Floats) -> tuple[float, Floats]:
    """Return the reliability of posterior means, and each pair's influence on it.

    It is their variance over that of the true values, which is the sum of theirs and of the mean squared error.

    >>> value, _ = reliability_influences(np.array([-2.0, 0.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    >>> round(value, 3)
    0.727
    """
    squares = (values - values.mean()) ** 2
    variance, noise = float(squares.mean()), float(np.mean(errors**2))
    if variance == 0:
        return 0.0, np.zeros(len(values))
    influences = (noise * (squares - variance) - variance * (errors**2 - noise)) / (variance + noise) ** 2
    return variance / (variance + noise), influences


def word_codes(first: list[str], second: list[str]) -> tuple[Codes, Codes]:
    """Return the words of pairs as codes.

    >>> [codes.tolist() for codes in word_codes(["a", "b"], ["b", "c"])]
    [[0, 1], [1, 2]]
    """
    codes = {word: code for code, word in enumerate(dict.fromkeys([*first, *second]))}
    one, other = (np.array([codes[word] for word in side], dtype=np.intp) for side in (first, second))
    return one, other
