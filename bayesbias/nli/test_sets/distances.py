"""`distance`: how far apart a model's mean answers for groups are, with a permutation test."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, nan

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, resolve_seed
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import MeasureError
from bayesbias.metrics.significance.permutation_test import MOST_PARTITIONS, drawn_members, group_members
from bayesbias.nli.test_sets.scores import LABELS, crossed, several_groups

_TIE = 1e-12  # distances that differ by less are equal up to rounding
_BLOCK = 1 << 15  # partitions in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistance(Described):
    """Distance of the mean answers for groups.

    Parameters
    ----------
    groups
        Names of the groups.
    distance
        d of the paper's tables: the Euclidean distance of the two groups' mean probabilities. For more groups, the mean
        of the distances of all pairs of groups.
    equation_2
        Result of the paper's equation 2 as printed: d / 4 for groups of equal size. NaN for more than two groups.
    means
        Mean probabilities, one row per group.
    pairs
        Distance of every two groups: `first`, `second`, `distance`, and its own `p_value`, which is not corrected for
        the number of pairs.
    p_value, mcse
        Share of the partitions of the words whose distance is at least d, and its Monte Carlo standard error (0 if all
        partitions were counted).
    partitions, exact
        Number of partitions counted, and whether these are all.
    random_seed
        Seed of the partitions.
    """

    groups: tuple[str, ...]
    distance: float
    equation_2: float
    means: "pd.DataFrame"
    pairs: "pd.DataFrame"
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
    groups: Sequence[str] | None = None,
    samples: int = 10_000,
    random_seed: int | None = None,
) -> GroupDistance:
    """Return the distance of the mean answers for groups, with a permutation test over partitions of the words.

    Parameters
    ----------
    scores
        From `bb.nli.score`. Leave out words to compare the others; the paper compares nouns and pronouns separately.
    groups
        The groups, two or more, such as three genders. By default all.
    samples
        Number of partitions to draw if there are more than a million, or more than two groups; otherwise all are
        counted.
    random_seed
        Seed of the partitions. If None, a seed is drawn and recorded in the result.

    Raises
    ------
    MeasureError
        If there are fewer than two groups, one has no words, or a word lacks a premise.

    Notes
    -----
    The paper's tables contain the distance of the means; its equation 2 divides the difference of the sums by twice the
    number of pairs of both groups, which gives a fourth of it. The p-value counts partitions with a distance of at
    least d, including the observed one; the paper counts those with a larger distance. The words are the units: the
    thousands of pairs of a word do not make the p-value small. The paper has two groups; for several, the measure here
    is the mean distance of all pairs of groups, which is d for two.

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
    names = several_groups(table.groups, groups)
    of_words = table.probabilities.mean(axis=1)
    sides = [of_words[[group == name for group in table.groups]] for name in names]
    tests = {pair: permutation_test(*(sides[n] for n in pair), samples=samples, seed=seed) for pair in _pairs(names)}
    rows = [
        (names[i], names[j], float(distance_of_means(sides[i], sides[j])), tested[0])
        for (i, j), tested in tests.items()
    ]
    pairs = pd.DataFrame(rows, columns=["first", "second", "distance", "p_value"])
    sums = np.linalg.norm(sides[0].sum(axis=0) - sides[1].sum(axis=0))
    p_value, mcse, partitions, exact = (
        tests[0, 1] if len(names) == 2 else permutation_test_of_groups(sides, samples=samples, seed=seed)
    )
    return GroupDistance(
        groups=names,
        distance=float(pairs["distance"].mean()),
        equation_2=float(sums / (2 * sum(map(len, sides)))) if len(names) == 2 else nan,
        means=pd.DataFrame([side.mean(axis=0) for side in sides], index=list(names), columns=list(LABELS)),
        pairs=pairs,
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


def _pairs(groups: Sequence[object]) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups)), 2))


def permutation_test_of_groups(groups: Sequence[Floats], *, samples: int, seed: int) -> tuple[float, float, int, bool]:
    """Return the same as `permutation_test` for the mean distance of all pairs of groups, over random partitions.

    >>> groups = [np.array([[1.0], [1.1]]), np.array([[5.0], [5.1]]), np.array([[9.0], [9.1]])]
    >>> p_value, mcse, partitions, exact = permutation_test_of_groups(groups, samples=2000, seed=1)
    >>> round(p_value, 2), partitions, exact  # 6 of the 90 partitions are these pairs
    (0.07, 2000, False)
    """
    values = np.concatenate(groups)
    ends = np.cumsum([len(group) for group in groups])

    def statistic(permuted: Floats) -> Floats:
        sides = np.split(permuted, ends[:-1], axis=-2)
        distances: Floats = np.mean([distance_of_means(sides[i], sides[j]) for i, j in _pairs(groups)], axis=0)
        return distances

    least = float(statistic(values)) - _TIE * max(1.0, float(np.abs(values).max()))
    random = np.random.default_rng(seed)
    step = max(1, _BLOCK // len(values))
    reached = 0
    for start in range(0, samples, step):
        rows = np.tile(np.arange(len(values)), (min(step, samples - start), 1))
        reached += int(np.count_nonzero(statistic(values[random.permuted(rows, axis=1)]) >= least))
    p = (1 + reached) / (1 + samples)
    return p, float(np.sqrt(p * (1 - p) / samples)), samples, False


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
