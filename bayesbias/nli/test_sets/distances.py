"""`distance`: how far apart a model's mean answers for two groups are, with a permutation test."""

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

_TIE = 1e-12  # distances that differ by less are equal up to rounding
_BLOCK = 1 << 15  # partitions in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistance(Described):
    """Distance of the mean answers for two groups.

    Parameters
    ----------
    groups
        Names of the groups.
    distance
        d of the paper's tables: the Euclidean distance of the two groups' mean probabilities.
    equation_2
        Result of the paper's equation 2 as printed: d / 4 for groups of equal size.
    means
        Mean probabilities, one row per group.
    p_value, mcse
        Share of the partitions of the words whose distance is at least d, and its Monte Carlo standard error (0 if all
        partitions were counted).
    partitions, exact
        Number of partitions counted, and whether these are all.
    random_seed
        Seed of the partitions.
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
    """Return the distance of the mean answers for two groups, with a permutation test over partitions of the words.

    Parameters
    ----------
    scores
        From `bb.nli.score`. Leave out words to compare the others; the paper compares nouns and pronouns separately.
    groups
        The two groups. Optional if there are only two.
    samples
        Number of partitions to draw if there are more than a million; otherwise all are counted.
    random_seed
        Seed of the partitions. If None, a seed is drawn and recorded in the result.

    Raises
    ------
    MeasureError
        If the two groups are not specified, or a word lacks a premise.

    Notes
    -----
    The paper's tables contain the distance of the means; its equation 2 divides the difference of the sums by twice the
    number of pairs of both groups, which gives a fourth of it. The p-value counts partitions with a distance of at
    least d, including the observed one; the paper counts those with a larger distance. The words are the units: the
    thousands of pairs of a word do not make the p-value small.

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
    distances: Floats = np.linalg.norm(first.mean(axis=-2) - second.mean(axis=-2), axis=-1)
    return distances


def permutation_test(first: Floats, second: Floats, *, samples: int, seed: int) -> tuple[float, float, int, bool]:
    """Return the p-value, its Monte Carlo standard error, the number of partitions, and whether these are all.

    With one word per group there is only one partition, apart from the names of the groups, and the p-value is 1.

    >>> permutation_test(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]]), samples=100, seed=1)
    (0.333..., 0.0, 6, True)
    """
    if 0 in (len(first), len(second)):
        raise MeasureError("A group has no words. Give two groups of words.")
    values = np.concatenate([first, second])
    size, total = len(first), len(values)
    values = values - values.mean(axis=0)
    # The difference of the means is the centred sum of the first group times this.
    scale = total / (size * (total - size))
    least = float(np.linalg.norm(values[:size].sum(axis=0))) * scale
    tolerance = _TIE * max(1.0, float(np.abs(values).max()))
    number = comb(total, size)
    exact = number <= MOST_PARTITIONS
    # With groups of equal size, a partition and its complement have the same distance: half of them are enough.
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
