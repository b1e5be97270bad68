"""Statistics of items (words, pairs, questions, splits) and draws of their posteriors and of their changes.

The items are a sample of those that could have been used. Their weights are drawn by the Bayesian bootstrap (Rubin
1981); a statistic at a draw of weights is a draw from its posterior. A change is the difference of two statistics at
the *same* weights, so that what makes an item hard in both embeddings cancels.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.errors import MeasureError

DRAWS = 2000
"""Number of draws of weights; the error of an interval's ends is about a twentieth of its half-width."""
_BLOCK = 200_000  # weights per block, which fit into a processor's cache
_ALONG_WEIGHTS = 4_000_000  # weights per block of draws along directions
_ALONG_ITEMS = 5_000  # items per block of products with directions


@dataclass(frozen=True)
class Quantity:
    """A number that is computed from items.

    Parameters
    ----------
    name
        Name in results.
    statistic
        Name in `STATISTICS`, ``"share"`` or ``"split_mean"``.
    columns
        Columns of the items that the statistic takes, in order.
    parts
        Parts of the items that it uses. None: all.
    crossed
        Columns whose labels items share; the labels are then drawn, not the items.
    test_over_train
        Number of items for testing over number for training, for a mean over splits.
    power
        Exponent p of a mean of abs(w . g) ** p along drawn directions g. 0: the mean of w . g.
    """

    name: str
    statistic: str
    columns: tuple[str, ...]
    parts: tuple[str, ...] | None = None
    crossed: tuple[str, ...] = ()
    test_over_train: float = 0.0
    power: float = 0.0


@dataclass(frozen=True, eq=False)
class DrawnDirections:
    """Items in the low-dimensional space that all draws of a direction span.

    - `coordinates`: coordinates of the items, float32, of shape (items, dimensions of the space).
    - `draws`: draws of the direction, float32, of shape (draws, dimensions of the space).
    """

    coordinates: NDArray[np.float32]
    draws: NDArray[np.float32]

    def of_items(self, rows: NDArray[np.integer]) -> "DrawnDirections":
        """Return the same draws with some of the items."""
        return DrawnDirections(self.coordinates[rows], self.draws)


def mean(columns: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of the only column for each row of weights."""
    means: Floats = weights @ columns[0] / weights.sum(axis=1)
    return means


def weighted_mean(columns: Floats, weights: Floats) -> Floats:
    """Return the mean of the first column, weighted by the second column and by each row of weights."""
    values, item_weights = columns
    means: Floats = weights @ (values * item_weights) / (weights @ item_weights)
    return means


def spearman(columns: Floats, weights: Floats) -> Floats:
    """Return Spearman's rank correlation of two columns for each row of weights.

    The rank of an item is the weight of smaller items plus half the weight of equal ones, so that integer weights give
    the correlation of items repeated so many times.

    >>> spearman(np.array([[1.0, 2.0, 3.0], [10.0, 30.0, 20.0]]), np.ones((1, 3))).round(3)
    array([0.5])
    """
    if any(np.ptp(column) == 0 for column in columns):
        raise MeasureError(
            f"All {columns.shape[1]} items have the same value, so the rank correlation is not defined. Add items."
        )
    by_item = np.ascontiguousarray(weights.T)  # one row per item, so that sorting items moves whole rows
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
    """Return the v-measure of classes (first column, 0 or 1) and clusters (second column) for each row of weights.

    It is the harmonic mean of homogeneity and completeness, or the mutual information over the mean entropy (Rosenberg
    and Hirschberg 2007); 0 if there is only one class and one cluster.

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
    """Return the value of a quantity from the items' columns, of shape (columns, items)."""
    if quantity.statistic in ("share", "split_mean"):
        return float(columns[0].mean())
    return float(STATISTICS[quantity.statistic](columns, np.ones((1, columns.shape[1])))[0])


def quantity_posterior(
    quantity: Quantity,
    before: Floats,
    after: Floats | None,
    random: np.random.Generator,
    *,
    labels: NDArray[np.integer] | None = None,
) -> Floats:
    """Return draws of a quantity or, if `after` is given, of its change from one set of columns to the other.

    - `before`, `after`: columns of shape (columns, items), with the same items in both.
    - `labels`: numbers of the labels that items share, of shape (crossed columns, items).
    """
    if quantity.statistic == "split_mean":
        drawn = _split_mean(before[0] if after is None else after[0] - before[0], quantity.test_over_train, random)
        return np.clip(drawn, 0.0 if after is None else -1.0, 1.0)
    if quantity.statistic == "share":
        return _share(before[0], None if after is None else after[0], random, labels)
    statistic = STATISTICS[quantity.statistic]
    blocks = []
    for weights in _weights(before.shape[1], random, labels):
        drawn = statistic(before, weights)
        blocks.append(drawn if after is None else statistic(after, weights) - drawn)
    draws = np.concatenate(blocks)
    if after is None or quantity.statistic != "spearman" or np.array_equal(before, after):
        return draws
    # Ranks change in steps: where no two items changed places, the bootstrap alone would be certain of no change.
    step = rank_step(before.shape[1])
    return draws + random.uniform(-step, step, len(draws))


def posterior_along(quantity: Quantity, along: DrawnDirections, random: np.random.Generator) -> Floats:
    """Return draws of a mean, each at one draw of weights and of the direction.

    The weights are those of `quantity_posterior`, so that the same seed gives the same weights to the same items before
    and after a change.
    """
    count = len(along.coordinates)
    step = max(1, _ALONG_WEIGHTS // count)
    blocks = []
    for start in range(0, DRAWS, step):
        draws = slice(start, min(start + step, DRAWS))
        weights = random.standard_exponential((draws.stop - start, count))
        blocks.append(_means_along(along, draws, weights, quantity.power))
    return np.concatenate(blocks)


def rank_step(count: int) -> float:
    """Return how far Spearman's correlation of some items moves if two neighbours change places, on average.

    Neighbours change places by one rank in one ranking, and lie (count + 1) / 3 ranks apart in the other.

    >>> round(rank_step(22), 4)
    0.0087
    """
    return 4 / (count * (count - 1))


def _weights(count: int, random: np.random.Generator, labels: NDArray[np.integer] | None) -> Iterator[Floats]:
    """Yield blocks of draws of items' weights: exponential, or the products of their labels' exponential weights."""
    step = max(1, _BLOCK // count)
    for start in range(0, DRAWS, step):
        rows = min(step, DRAWS - start)
        if labels is None:
            yield random.standard_exponential((rows, count))
            continue
        label_weights = random.standard_exponential((rows, int(labels.max()) + 1))
        weights = label_weights[:, labels[0]]
        for other_labels in labels[1:]:
            weights *= label_weights[:, other_labels]
        yield weights


def _means_along(along: DrawnDirections, draws: slice, weights: Floats, power: float) -> Floats:
    totals = np.zeros(len(weights))
    for start in range(0, weights.shape[1], _ALONG_ITEMS):
        items = slice(start, start + _ALONG_ITEMS)
        values = along.draws[draws] @ along.coordinates[items].T
        if power:
            values = np.abs(values) ** power
        totals += np.einsum("ij,ij->i", weights[:, items], values)
    means: Floats = totals / weights.sum(axis=1)
    return means


def _share(
    before: Floats, after: Floats | None, random: np.random.Generator, labels: NDArray[np.integer] | None
) -> Floats:
    """Return draws of a share, or of its change, with Jeffreys' prior, so that 0 of 5 is not certain to be 0.

    The four outcomes (before, after) have a prior weight of 1/4 each, so that each share alone has a
    Beta(1/2, 1/2) prior.
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
    """Return draws of a mean over overlapping splits from a t distribution (Nadeau and Bengio 2003).

    The variance of the mean of J splits is (1 / J + test / train) times the variance between splits.
    """
    splits = len(values)
    error = np.sqrt((1 / splits + test_over_train) * values.var(ddof=1))
    drawn: Floats = values.mean() + error * random.standard_t(splits - 1, DRAWS)
    return drawn


def _ranks(values: Floats, weights: Floats) -> Floats:
    """Return weighted ranks of items; weights and ranks have one row per item."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    tie_weights = np.add.reduceat(weights[order], starts, axis=0)
    middles = np.cumsum(tie_weights, axis=0) - tie_weights / 2
    ranks = np.empty_like(weights)
    ranks[order] = np.repeat(middles, np.diff(starts, append=len(values)), axis=0)
    return ranks


def _entropy(shares: Floats) -> Floats:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Floats = -(shares * logs).sum(axis=1)
    return entropy
