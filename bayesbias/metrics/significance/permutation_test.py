"""The permutation test of a difference between two groups of values.

Functions take and return arrays with any leading axes: one study, or thousands of simulated ones at once.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, check_flag, resolve_seed
from bayesbias.errors import MeasureError

MOST_PARTITIONS = 1_000_000
"""Largest number of partitions that are enumerated; beyond it, a sample is drawn."""

_TIE = 1e-7  # relative to the sum of absolute values: smaller differences between sums are rounding of float32
_BLOCK = 1 << 17  # numbers per block, which fit into a core's cache


class PermutationTest(NamedTuple):
    """Result of a permutation test; `p_value` and `mcse` have the leading axes of the values tested.

    Parameters
    ----------
    p_value
        Share of the partitions whose statistic is at least the observed one (one-sided), or at least as far from 0.
    mcse
        Monte Carlo standard error of the p-value: 0 if all partitions were counted.
    partitions
        Number of partitions counted.
    exact
        Whether all partitions were counted.
    """

    p_value: Floats
    mcse: Floats
    partitions: int
    exact: bool


def p_value(
    s_x: ArrayLike,
    s_y: ArrayLike,
    *,
    two_sided: bool = False,
    samples: int = 100_000,
    random_seed: int | None = None,
) -> PermutationTest:
    """Return the permutation p-value of a difference between two groups of values.

    It is the share of all partitions of the values into groups of these sizes whose statistic is at least the observed
    one (`two_sided`: whose difference of means is at least as far from 0, which does not depend on the order of the
    groups). The observed partition counts, and sums that differ only by rounding are equal. For fixed sizes, the
    difference of sums and the difference of means give the same p-value.

    The values have shapes (..., n_x) and (..., n_y) with the same leading axes. If there are more than a million
    partitions, `samples` of them are drawn, the same for all leading axes, and the p-value is
    (1 + count) / (1 + samples), which is never 0. `samples` and `random_seed` are checked even if nothing is drawn.

    Caliskan, Bryson and Narayanan (2017), Science 356, supplement: the one-sided P-value of the permutation test (there
    with ``>``; here with ``>=``, so that it is never 0). Phipson and Smyth (2010), Statistical Applications in Genetics
    and Molecular Biology 9(1), for (1 + count) / (1 + samples).

    Of the 6 partitions of 1, 2, 3, 4 into pairs, only the observed one has a sum of 7.

    >>> p_value([3.0, 4.0], [1.0, 2.0])
    PermutationTest(p_value=np.float64(0.166...), mcse=np.float64(0.0), partitions=6, exact=True)
    """
    seed = resolve_seed(random_seed)
    check_count("samples", samples)
    check_flag("two_sided", two_sided)
    x, y = np.asarray(s_x, dtype=np.float64), np.asarray(s_y, dtype=np.float64)
    if x.ndim == 0 or y.ndim == 0 or 0 in (x.shape[-1], y.shape[-1]) or x.shape[:-1] != y.shape[:-1]:
        raise MeasureError(
            f"The two groups have the shapes {x.shape} and {y.shape}. Give (..., words) each, with at least one word "
            "and the same leading axes."
        )
    # Enumerating the smaller group takes fewer indices; changing the sign keeps the direction of the test.
    values = np.concatenate([x, y] if x.shape[-1] <= y.shape[-1] else [-y, -x], axis=-1)
    if not np.isfinite(values).all():
        raise MeasureError("A value is missing or infinite. Compute the associations again from whole vectors.")
    size, total = min(x.shape[-1], y.shape[-1]), values.shape[-1]
    flat = values.reshape(-1, total)
    tolerance = _TIE * np.abs(flat).sum(axis=1)
    centred = flat - flat.mean(axis=1, keepdims=True)
    observed = centred[:, :size].sum(axis=1)
    least = (np.abs(observed) if two_sided else observed) - tolerance
    number = comb(total, size)
    if exact := number <= MOST_PARTITIONS:
        # A partition into equal halves and its complement have opposite sums: half of them are enough.
        halved = 2 * size == total
        members = group_members(size, total, halved=halved)
        counts = _counts(centred, least, members, both_signs=halved, two_sided=two_sided)
        p, mcse = counts / number, np.zeros(len(flat))
    else:
        number, counts = samples, np.zeros(len(flat), dtype=np.int64)
        for drawn in drawn_members(size, total, samples, seed):
            counts += _counts(centred, least, drawn, both_signs=False, two_sided=two_sided)
        p = (1 + counts) / (1 + samples)
        mcse = np.sqrt(p * (1 - p) / samples)
    shape = values.shape[:-1]
    return PermutationTest(p.reshape(shape)[()], mcse.reshape(shape)[()], number, exact)


def both_p_values(s_x: ArrayLike, s_y: ArrayLike, *, samples: int, random_seed: int) -> tuple[dict[str, float], str]:
    """Return the one- and two-sided p-values of two groups as statistics of a measure, and a phrase on their counting.

    >>> both_p_values([3.0, 4.0], [1.0, 2.0], samples=100, random_seed=1)[0]["p_value_two_sided"]
    0.333...
    """
    statistics: dict[str, float] = {}
    for name, two_sided in (("p_value", False), ("p_value_two_sided", True)):
        test = p_value(s_x, s_y, two_sided=two_sided, samples=samples, random_seed=random_seed)
        statistics |= {name: float(test.p_value), f"{name}_mcse": float(test.mcse)}
    counting = (
        "all partitions counted" if test.exact else f"of {test.partitions:,} random partitions, seed {random_seed}"
    )
    return statistics | {"partitions": float(test.partitions)}, f"p_value one-sided, >=, {counting}"


@lru_cache(maxsize=8)
def group_members(size: int, total: int, *, halved: bool) -> NDArray[np.int32]:
    """Return the members of every group of `size` out of `total`; if `halved`, only of groups with the first member."""
    groups = combinations(range(1, total), size - 1) if halved else combinations(range(total), size)
    count, width = (comb(total - 1, size - 1), size - 1) if halved else (comb(total, size), size)
    flat = np.fromiter(chain.from_iterable(groups), dtype=np.int32, count=count * width)
    members = flat.reshape(count, width)
    if halved:
        members = np.concatenate([np.zeros((count, 1), dtype=np.int32), members], axis=1)
    members.flags.writeable = False
    return members


def drawn_members(size: int, total: int, samples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """Yield the members of randomly drawn groups in blocks, of shape (groups, size)."""
    rng = np.random.default_rng(seed)
    rows = max(1, _BLOCK // total)
    for start in range(0, samples, rows):
        keys = rng.random((min(rows, samples - start), total))
        members: NDArray[np.integer[Any]] = np.argpartition(keys, size - 1, axis=1)[:, :size]
        yield members


def _counts(
    values: Floats, least: Floats, members: NDArray[np.integer[Any]], *, both_signs: bool, two_sided: bool
) -> NDArray[np.integer[Any]]:
    """Return the number of groups whose sum is at least `least` (`two_sided`: as far from 0), for each row of values.

    With `both_signs`, the complement of each group, which has the opposite sum, is counted too.
    """
    from bayesbias.base.machine.threads import threadpool_limits

    total = values.shape[1]
    counts = np.zeros(len(values), dtype=np.int64)
    columns = max(1, _BLOCK // total)
    # The blocks are so small that threads would mostly wait for each other.
    with threadpool_limits(1, "blas") if len(values) > 1 else nullcontext():
        for start in range(0, len(members), columns):
            block = members[start : start + columns]
            chosen = np.zeros((len(block), total))
            np.put_along_axis(chosen, block.astype(np.intp), 1.0, axis=1)
            rows = max(1, _BLOCK // len(block))
            for first in range(0, len(values), rows):
                part = slice(first, first + rows)
                sums = values[part] @ chosen.T
                if two_sided:
                    np.abs(sums, out=sums)
                counts[part] += np.count_nonzero(sums >= least[part, None], axis=1)
                if both_signs:
                    opposite = sums >= least[part, None] if two_sided else sums <= -least[part, None]
                    counts[part] += np.count_nonzero(opposite, axis=1)
    return counts
