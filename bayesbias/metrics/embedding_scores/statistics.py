"""Statistics of items - words, pairs, questions, splits - and draws of their posterior, alone and of a change.

The items are a sample of those that one could have asked about. Their weights are drawn from the Bayesian bootstrap
(Rubin 1981), and a statistic at each draw of weights is a draw from its posterior. A change is the difference of two
statistics at the *same* weights: what makes an item hard in both embeddings cancels.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats
from bayesbias.errors import MeasureError

DRAWS = 2000
"""Draws of weights: the ends of an interval are then off by about a twentieth of its half-width."""
_BLOCK = 200_000  # weights that are held at a time: few enough for a processor's own memory


@dataclass(frozen=True)
class Quantity:
    """One number that is made of items.

    Parameters
    ----------
    name
        As results call it.
    statistic
        A name in `STATISTICS`, ``"share"`` or ``"split_mean"``.
    columns
        The columns of the items that it takes, in this order.
    parts
        The parts of the items that it is about; None: all.
    crossed
        Columns whose labels items share, so that it is the labels that are drawn, not the items.
    test_over_train
        Of a mean over splits: how many items a split tests on, over how many it learns from.
    power
        Of a mean along directions that are drawn: that of abs(w . g) ** power; 0: that of w . g.
    """

    name: str
    statistic: str
    columns: tuple[str, ...]
    parts: tuple[str, ...] | None = None
    crossed: tuple[str, ...] = ()
    test_over_train: float = 0.0
    power: float = 0.0


def mean(columns: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of the one column at each row of weights."""
    means: Floats = weights @ columns[0] / weights.sum(axis=1)
    return means


def weighted_mean(columns: Floats, weights: Floats) -> Floats:
    """Return the mean of the first column, weighted by the second and by each row of weights."""
    values, own = columns
    means: Floats = weights @ (values * own) / (weights @ own)
    return means


def spearman(columns: Floats, weights: Floats) -> Floats:
    """Return Spearman's rank correlation of two columns at each row of weights.

    A rank is the weight of what is smaller and half the weight of what is equal, so that whole weights give the
    correlation of items that are repeated so many times.

    >>> spearman(np.array([[1.0, 2.0, 3.0], [10.0, 30.0, 20.0]]), np.ones((1, 3))).round(3)
    array([0.5])
    """
    if any(np.ptp(column) == 0 for column in columns):
        raise MeasureError(
            f"There is no rank correlation: all {columns.shape[1]} items have the same value. Give more that differ."
        )
    by_item = np.ascontiguousarray(weights.T)  # a row an item, so that sorting items moves whole rows
    first, second = (_ranks(column, by_item) for column in columns)
    shares = by_item / by_item.sum(axis=0)
    means = [np.einsum("ij,ij->j", shares, ranks) for ranks in (first, second)]
    variances = [
        np.einsum("ij,ij,ij->j", shares, ranks, ranks) - mean**2
        for ranks, mean in zip((first, second), means, strict=True)
    ]
    covariance = np.einsum("ij,ij,ij->j", shares, first, second) - means[0] * means[1]
    correlation: Floats = np.clip(covariance / np.sqrt(variances[0] * variances[1]), -1.0, 1.0)
    return correlation


def v_measure(columns: Floats, weights: Floats) -> Floats:
    """Return the v-measure of classes (first column, 0 or 1) and clusters (second) at each row of weights.

    The harmonic mean of homogeneity and completeness, which is the mutual information over the mean entropy (Rosenberg
    and Hirschberg 2007); 0 where classes and clusters are both of one kind.

    >>> v_measure(np.array([[0, 0, 1, 1], [1, 1, 0, 0]]), np.ones((1, 4))).round(3)
    array([1.])
    """
    codes = (2 * columns[0] + columns[1]).astype(int)
    joint = weights @ np.eye(4)[codes]
    table = (joint / joint.sum(axis=1, keepdims=True)).reshape(-1, 2, 2)
    classes, clusters = _entropy(table.sum(axis=2)), _entropy(table.sum(axis=1))
    information = classes + clusters - _entropy(table.reshape(-1, 4))
    entropies = (classes + clusters) / 2
    shares: Floats = np.divide(information, entropies, out=np.zeros_like(entropies), where=entropies > 0)
    return np.clip(shares, 0.0, 1.0)


STATISTICS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "mean": mean,
    "weighted_mean": weighted_mean,
    "spearman": spearman,
    "v_measure": v_measure,
}


def value_of(quantity: Quantity, columns: Floats) -> float:
    """Return a quantity of items, whose columns have the shape (columns, items)."""
    if quantity.statistic in ("share", "split_mean"):
        return float(columns[0].mean())
    return float(STATISTICS[quantity.statistic](columns, np.ones((1, columns.shape[1])))[0])


def posterior(
    quantity: Quantity,
    before: Floats,
    after: Floats | None,
    random: np.random.Generator,
    *,
    labels: NDArray[np.integer] | None = None,
) -> Floats:
    """Return draws of a quantity or, where `after` is given, of its change from one set of columns to the other.

    Parameters
    ----------
    quantity
        What is drawn.
    before, after
        Of shape (columns, items), the same items in both.
    random
        Where chance comes from.
    labels
        Numbers of the labels that items share, of shape (crossed columns, items).
    """
    if quantity.statistic == "split_mean":
        drawn = _split_mean(before[0] if after is None else after[0] - before[0], quantity.test_over_train, random)
        return np.clip(drawn, 0.0 if after is None else -1.0, 1.0)
    if quantity.statistic == "share":
        return _share(before[0], None if after is None else after[0], random, labels)
    statistic = STATISTICS[quantity.statistic]
    found = []
    for weights in _weights(before.shape[1], random, labels):
        drawn = statistic(before, weights)
        found.append(drawn if after is None else statistic(after, weights) - drawn)
    return np.concatenate(found)


def shortest_interval(draws: ArrayLike, probability: float) -> tuple[float, float]:
    """Return the shortest interval that holds a share of draws: the highest posterior density interval.

    >>> shortest_interval([0.0, 1.0, 2.0, 2.5, 9.0], 0.5)
    (1.0, 2.5)
    """
    ordered = np.sort(np.asarray(draws, dtype=np.float64))
    inside = max(int(probability * len(ordered)), 1)
    start = int(np.argmin(ordered[inside:] - ordered[: len(ordered) - inside]))
    return float(ordered[start]), float(ordered[start + inside])


def _weights(count: int, random: np.random.Generator, labels: NDArray[np.integer] | None) -> Iterator[Floats]:
    """Yield weights of items, some draws at a time: exponential, or the product of those of their labels."""
    step = max(1, _BLOCK // count)
    for start in range(0, DRAWS, step):
        rows = min(step, DRAWS - start)
        if labels is None:
            yield random.standard_exponential((rows, count))
            continue
        of_labels = random.standard_exponential((rows, int(labels.max()) + 1))
        weights = of_labels[:, labels[0]]
        for more in labels[1:]:
            weights *= of_labels[:, more]
        yield weights


def _share(
    before: Floats, after: Floats | None, random: np.random.Generator, labels: NDArray[np.integer] | None
) -> Floats:
    """Return draws of a share, or of its change, with Jeffreys' prior, without which 0 of 5 would be 0 for sure.

    The outcomes (before, after) are four cells with 1/4 of an item in each before any is seen, so that either share
    alone is Beta(1/2, 1/2).
    """
    cells = 2 if after is None else 4
    codes = (before if after is None else 2 * before + after).astype(int)
    prior = random.standard_gamma(1 / cells, (DRAWS, cells))
    if labels is None:
        counts = np.bincount(codes, minlength=cells)
        masses = random.standard_gamma(counts, (DRAWS, cells))
    else:
        kinds = np.eye(cells)[codes]
        masses = np.concatenate([weights @ kinds for weights in _weights(len(codes), random, labels)])
    masses = masses + prior
    shares = masses / masses.sum(axis=1, keepdims=True)
    drawn: Floats = shares[:, 1] if after is None else shares[:, 1] - shares[:, 2]
    return drawn


def _split_mean(values: Floats, test_over_train: float, random: np.random.Generator) -> Floats:
    """Return draws of a mean over splits that overlap: t with the variance of Nadeau and Bengio (2003).

    The mean of J splits has the variance (1 / J + test / train) times that of a split.
    """
    splits = len(values)
    error = np.sqrt((1 / splits + test_over_train) * values.var(ddof=1))
    drawn: Floats = values.mean() + error * random.standard_t(splits - 1, DRAWS)
    return drawn


def _ranks(values: Floats, weights: Floats) -> Floats:
    """Return ranks of items under weights, which have a row an item, as the ranks have."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    of_ties = np.add.reduceat(weights[order], starts, axis=0)
    middles = np.cumsum(of_ties, axis=0) - of_ties / 2
    ranks = np.empty_like(weights)
    ranks[order] = np.repeat(middles, np.diff(starts, append=len(values)), axis=0)
    return ranks


def _entropy(shares: Floats) -> Floats:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Floats = -(shares * logs).sum(axis=1)
    return entropy
