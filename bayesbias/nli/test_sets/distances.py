"""How far a model's answers for two groups lie apart, and whether a random split of the words would do the same."""

from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import MeasureError
from bayesbias.metrics.significance.permutation_test import MOST_PARTITIONS, drawn_members, group_members
from bayesbias.nli.test_sets.scores import LABELS, crossed, two_groups

_TIE = 1e-12  # distances that differ by less are equal but for rounding
_BLOCK = 1 << 15  # partitions that are held at once


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistance(Described):
    """How far the mean answers for two groups lie apart.

    Parameters
    ----------
    groups
        Their names.
    distance
        d of the paper's tables: the Euclidean distance of the two groups' mean probabilities.
    equation_2
        The number that the paper's equation 2 gives as it is printed: d / 4 for groups of equal size.
    means
        The mean probabilities: a row a group.
    p_value, mcse
        Share of the partitions of the words whose distance is at least d, and its Monte Carlo standard error (0 where
        all were counted).
    partitions, exact
        How many were counted, and whether these are all.
    random_seed
        Of the partitions.
    """

    groups: tuple[str, str]
    distance: float
    equation_2: float
    means: "pd.DataFrame"
    p_value: float
    mcse: float
    partitions: int
    exact: bool
    random_seed: int

    @property
    def _facts(self) -> Facts:
        how = "all" if self.exact else "random"
        return {
            "groups": " and ".join(self.groups),
            "distance": f"{self.distance:.4f}",
            "p_value": f"{self.p_value:.4f}",
            "partitions": f"{self.partitions:,} ({how})",
        }


def distance(
    scores: pd.DataFrame,
    *,
    groups: tuple[str, str] | None = None,
    samples: int = 10_000,
    random_seed: int | None = None,
) -> GroupDistance:
    """Return how far the mean answers for two groups lie apart, with a permutation test over partitions of the words.

    Parameters
    ----------
    scores
        From `bb.nli.score`. Leave out rows to compare some words: the paper compares nouns and pronouns apart.
    groups
        The two groups; may be left out where there are two.
    samples
        How many partitions are drawn where there are more than a million; else all are counted.
    random_seed
        Seed of the partitions. If it is left out, one is drawn and kept in the result.

    Raises
    ------
    MeasureError
        If the groups are not determined, or not every word has every premise.

    Notes
    -----
    The paper's tables hold the distance of the means; its equation 2 divides the difference of the sums by twice the
    number of pairs of both groups, which gives a fourth of it. The p-value counts partitions with a distance of at
    least d, itself included; the paper those with a larger one. The words are the units: that a word has thousands of
    pairs does not make a p-value small.

    References
    ----------
    Dawkins (2021), equation 2, tables 1, 2 and 4.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> def model(premises, hypotheses):
    ...     entailed = np.array([0.9 if text.startswith("He ") else 0.1 for text in hypotheses])
    ...     return np.column_stack([1 - entailed, entailed, np.zeros(len(entailed))])
    >>> bb.nli.distance(bb.nli.score(pairs, model), random_seed=1)
    GroupDistance(groups='male and female', distance='0.2828', p_value='1.0000', partitions='70 (all)')
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    table = crossed(scores)
    first, second = two_groups(table.groups, groups)
    of_words = table.probabilities.mean(axis=1)
    sides = [of_words[[group == name for group in table.groups]] for name in (first, second)]
    value = float(distance_of_means(*sides))
    counts = [len(side) for side in sides]
    sums = np.linalg.norm(sides[0].sum(axis=0) - sides[1].sum(axis=0))
    p_value, mcse, partitions, exact = permutation_test(*sides, samples=samples, seed=seed)
    return GroupDistance(
        groups=(first, second),
        distance=value,
        equation_2=float(sums / (2 * sum(counts))),
        means=pd.DataFrame([side.mean(axis=0) for side in sides], index=[first, second], columns=list(LABELS)),
        p_value=p_value,
        mcse=mcse,
        partitions=partitions,
        exact=exact,
        random_seed=seed,
    )


def distance_of_means(first: Floats, second: Floats) -> Floats:
    """Return the Euclidean distance of the means of two groups of words, of shape (words, labels) each.

    >>> float(distance_of_means(np.array([[1.0, 0, 0], [0, 1, 0]]), np.array([[0.5, 0.5, 0]])))
    0.0
    """
    found: Floats = np.linalg.norm(first.mean(axis=-2) - second.mean(axis=-2), axis=-1)
    return found


def permutation_test(first: Floats, second: Floats, *, samples: int, seed: int) -> tuple[float, float, int, bool]:
    """Return p-value, its Monte Carlo standard error, the number of partitions, and whether they are all there are.

    Of one word a group there is one partition but for the names of the groups, and the p-value is 1.

    >>> permutation_test(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]]), samples=100, seed=1)
    (0.333..., 0.0, 6, True)
    """
    if 0 in (len(first), len(second)):
        raise MeasureError("A group has no words. Give two groups of words.")
    values = np.concatenate([first, second])
    size, total = len(first), len(values)
    values = values - values.mean(axis=0)
    # The means' difference is the first group's sum, centred, times this.
    scale = total / (size * (total - size))
    least = float(np.linalg.norm(values[:size].sum(axis=0))) * scale
    tolerance = _TIE * max(1.0, float(np.abs(values).max()))
    number = comb(total, size)
    exact = number <= MOST_PARTITIONS
    # The complement of a half has the same distance: half of the partitions are enough.
    halved = 2 * size == total
    blocks = [group_members(size, total, halved=halved)] if exact else drawn_members(size, total, samples, seed)
    counted = reached = 0
    for members in blocks:
        for start in range(0, len(members), _BLOCK):
            part = members[start : start + _BLOCK]
            sums = values[part].sum(axis=1)
            reached += int(np.count_nonzero(np.linalg.norm(sums, axis=1) * scale >= least - tolerance))
            counted += len(part)
    if exact:
        return reached / counted, 0.0, number, True
    p = (1 + reached) / (1 + counted)
    return p, float(np.sqrt(p * (1 - p) / counted)), counted, False
