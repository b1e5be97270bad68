"""P-values of the literature: the permutation test of WEAT, and t-tests of averages over words and of distances."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import check_count, check_flag, resolve_seed
from bayesbias.base.number_text import counted
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, setting, warn_user
from bayesbias.tables.schema import FrameLike, as_frame, check_cosine_table

MOST_PARTITIONS = 1_000_000
"""Largest number of partitions that are enumerated; beyond it, a sample is drawn."""

_TIE = 1e-7  # relative to the sum of absolute values: smaller differences between sums are rounding of float32
_BLOCK = 1 << 17  # numbers per block, which fit into a core's cache
_PAIR = ["protected_word", "attribute_word"]


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
    from bayesbias.base.machine import threadpool_limits

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


class TTest(NamedTuple):
    """Result of a two-sided t-test; each number has the leading axes of the values tested.

    Parameters
    ----------
    difference
        Difference between the means, or between the mean and the value tested against.
    low, high
        Ends of its 95 % confidence interval.
    t, df, p_value
        Statistic, degrees of freedom and two-sided p-value.
    """

    difference: Floats
    low: Floats
    high: Floats
    t: Floats
    df: Floats
    p_value: Floats


def t_test(x: Floats, y: Floats | None = None, *, paired: bool = False, against: float = 0.0, where: str = "") -> TTest:
    """Return a t-test of means over the last axis: Welch's test of two samples, or a test of one or of paired samples.

    Manzini et al. (2019) test averages, and their code pairs them; Dobrzeniecka and Urbaniak (2024), section on
    pre-averaging, test single distances and show that averaging first manufactures confidence. Both treat distances as
    independent, which they are not, since they share words.

    Raises `MeasureError` if a sample has fewer than two values, a missing or an infinite one, or no variation, or if
    paired samples differ in shape.

    >>> x, y = np.array([0.9, 1.1, 0.8, 1.0, 0.7, 0.9]), np.array([1.2, 1.0, 1.1, 1.3, 1.0, 1.2])
    >>> test = t_test(x, y)
    >>> round(float(test.difference), 3), round(float(test.p_value), 3)
    (-0.233, 0.012)
    """
    from scipy.special import stdtr, stdtrit

    scale = max(float(np.abs(values).max(initial=0.0)) for values in ((x,) if y is None else (x, y)))
    if paired:
        if y is None or x.shape != y.shape:
            shapes = f"{x.shape} and {None if y is None else y.shape}"
            raise MeasureError(f"Paired samples have the shapes {shapes}. Give samples of the same shape.")
        x, y = x - y, None
    samples = [x] if y is None else [x, y]
    if any(values.shape[-1] < 2 for values in samples):
        sizes = " and ".join(str(values.shape[-1]) for values in samples)
        raise MeasureError(f"Found {sizes} values{where}, but a t-test needs at least 2 in each group. Add words.")
    if not all(np.isfinite(values).all() for values in samples):
        raise MeasureError("A value is missing or infinite. Compute the distances again from whole vectors.")
    variances = [values.var(axis=-1, ddof=1) for values in samples]
    if not np.all(np.sqrt(sum(variances)) > ROUNDING * scale):
        raise MeasureError(f"All values are equal{where}, so there is no t-test of them. Add words.")
    difference = x.mean(axis=-1) - (0.0 if y is None else y.mean(axis=-1)) - against
    # The formula of Welch gives one sample its size less one.
    squares = [variance / values.shape[-1] for variance, values in zip(variances, samples, strict=True)]
    error = np.sqrt(sum(squares))
    df = error**4 / sum(square**2 / (values.shape[-1] - 1) for square, values in zip(squares, samples, strict=True))
    margin, statistic = stdtrit(df, 0.975) * error, difference / error
    ends = difference - margin, difference + margin
    return TTest(*map(np.asarray, (difference, *ends, statistic, df, 2 * stdtr(df, -np.abs(statistic)))))


def t_tests(table: FrameLike, *, targets: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return t-tests of whether two protected groups differ in their distances to each attribute list.

    Parameters
    ----------
    table
        Distance table (see `distance_table`).
    targets
        Names of the two protected groups. Default: the table's groups, if it has exactly two.

    Returns
    -------
    pandas.DataFrame
        Two rows for each attribute group and control list: `values` is ``"preaveraged"`` (one average per protected
        word) or ``"raw"`` (each distance). `difference` is the first group's mean distance minus the second's, `low`
        and `high` are the ends of its 95 % confidence interval, `t`, `df` and `p_value` come from Welch's two-sided
        test, and `n_x` and `n_y` are the numbers of values.

    Raises
    ------
    MeasureError
        If the two groups are not determined, or a group has fewer than two values.

    References
    ----------
    Dobrzeniecka and Urbaniak (2024), section on pre-averaging: their two t-tests are the raw ones to A and to B.

    Examples
    --------
    >>> t_tests(table)[["attribute_group", "values", "difference", "p_value", "n_x"]].head(4).round(4)
      attribute_group       values  difference  p_value  n_x
    0            male  preaveraged      0.0478   0.0138    8
    1            male          raw      0.0478   0.0000   64
    2          female  preaveraged      0.0760   0.0036    8
    3          female          raw      0.0760   0.0000   64
    """
    table = as_frame(table)
    check_cosine_table(table, "A t test")
    first, second = _two_groups(table, targets)
    rows = []
    for attribute_group, part in table.groupby("attribute_group", sort=False, observed=True):
        x, y = (part[part["protected_group"] == group] for group in (first, second))
        for values, by in (("preaveraged", ["protected_word"]), ("raw", [])):
            of_x, of_y = _distances(x, by), _distances(y, by)
            test = t_test(of_x, of_y, where=f" ({first!r} and {second!r} to {attribute_group!r})")
            rows.append(
                {"attribute_group": attribute_group, "values": values} | _row(test, n_x=len(of_x), n_y=len(of_y))
            )
    return pd.DataFrame(rows)


def mac_t_tests(table: FrameLike, after: FrameLike | None = None) -> pd.DataFrame:
    """Return t-tests of MAC against 1, the distance of unrelated words, or against MAC after debiasing.

    Parameters
    ----------
    table
        Distance table. Its control words are left out, as in MAC.
    after
        Table of the same study in the debiased embedding, for a paired test in which repeated pairs count once.

    Returns
    -------
    pandas.DataFrame
        One row for ``"preaveraged"`` values (one per protected word and attribute group; their mean is MAC) and one for
        ``"raw"`` values: `mean`, the mean in `table`; `difference`, the mean minus 1 or minus the mean in `after`, with
        the ends of its 95 % confidence interval, `low` and `high`; `t`, `df` and the two-sided `p_value`; and `n`, the
        number of values.

    Raises
    ------
    MeasureError
        If there are fewer than two values, or the tables have no pair of words in common.

    Warns
    -----
    LostWordsWarning
        If some pairs are in only one of the tables; the test uses the others.

    References
    ----------
    Manzini et al. (2019): their code pairs the preaveraged values before and after debiasing
    (``scipy.stats.ttest_rel``).

    Examples
    --------
    >>> mac_t_tests(table)[["values", "mean", "difference", "n"]].round(4)
            values    mean  difference    n
    0  preaveraged  0.9328     -0.0672   32
    1          raw  0.9328     -0.0672  256
    """
    table = as_frame(table)
    after = as_frame(after)
    check_cosine_table(table, "A t test")
    before = _without_controls(table)
    if after is not None:
        before, after = _common_pairs(before, _without_controls(after))
    rows = []
    for values, by in (("preaveraged", ["protected_word", "attribute_group"]), ("raw", [])):
        x = _distances(before, by)
        test = t_test(x, against=1.0) if after is None else t_test(x, _distances(after, by), paired=True)
        rows.append({"values": values, "mean": float(x.mean())} | _row(test, n=len(x)))
    return pd.DataFrame(rows)


def _distances(table: pd.DataFrame, by: Sequence[str]) -> Floats:
    """Return the single distances, or their averages by the columns `by`."""
    distances = table["cosine_distance"]
    if by:
        distances = table.groupby(list(by), sort=False, observed=True)["cosine_distance"].mean()
    return distances.to_numpy(dtype=np.float64)


def _row(test: TTest, **counts: int) -> dict[str, float]:
    return {name: float(value) for name, value in test._asdict().items()} | counts


def _without_controls(table: pd.DataFrame) -> pd.DataFrame:
    attribute_rows = table[~table["connection"].isin(["human", "neutral"])]
    if attribute_rows.empty:
        raise MeasureError("The table has only control words, which MAC leaves out. Give a table with attribute words.")
    return attribute_rows


def _two_groups(table: pd.DataFrame, targets: tuple[str, str] | None) -> tuple[str, str]:
    groups = [str(group) for group in table["protected_group"].unique()]
    if targets is None:
        if len(groups) != 2:
            raise MeasureError(
                f"The table has {counted(len(groups), 'protected group')} ({name_some(groups)}), but the test "
                "compares 2. Name them: " + setting("targets") + "."
            )
        return groups[0], groups[1]
    if isinstance(targets, str) or len(targets) != 2 or targets[0] == targets[1]:
        raise MeasureError(f"targets={targets!r}: name two different protected groups, out of {name_some(groups, 20)}.")
    for name in targets:
        if name not in groups:
            hint = did_you_mean(str(name), groups)
            raise MeasureError(f"targets={targets!r}: the table has no {name!r}{hint}; it has {name_some(groups, 20)}.")
    return targets


def _common_pairs(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the pairs in both tables, with the words, groups and order of the first."""
    once = [frame.drop_duplicates(_PAIR) for frame in (before, after)]
    merged = once[0].merge(
        once[1][[*_PAIR, "cosine_distance"]], on=_PAIR, how="outer", suffixes=("", "_after"), indicator=True
    )
    both = merged["_merge"] == "both"
    if not both.any():
        raise MeasureError("The two tables have no pair of words in common. Give tables of the same study.")
    if not both.all():
        only = merged.loc[~both, _PAIR].astype(str).agg(" - ".join, axis=1)
        warn_user(
            f"{counted(len(only), 'pair of words is', 'pairs of words are')} in only one of the two tables: "
            f"{name_some(only, 3)}. The test uses the {counted(int(both.sum()), 'pair')} in both.",
            LostWordsWarning,
        )
    common = merged[both]
    return common, common.assign(cosine_distance=common["cosine_distance_after"])
