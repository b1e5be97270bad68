"""Permutation p-values against enumeration by itertools and against the hypergeometric distribution."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from bayesbias.errors import ArgumentError, MeasureError
from bayesbias.metrics.significance import p_value


def brute_force(x: np.ndarray, y: np.ndarray) -> float:
    """Share of all partitions whose difference of means is at least the observed one, by a loop in Python."""
    values = np.concatenate([x, y])
    observed = x.mean() - y.mean()
    counts = []
    for chosen in combinations(range(len(values)), len(x)):
        others = [index for index in range(len(values)) if index not in chosen]
        counts.append(values[list(chosen)].mean() - values[others].mean() >= observed - 1e-12)
    return float(np.mean(counts))


@pytest.mark.parametrize("sizes", [(1, 1), (4, 4), (5, 5), (2, 6), (6, 2), (1, 5), (3, 4)])
@pytest.mark.parametrize("shift", [-0.5, 0.0, 1.0])
def test_exact_p_value_is_that_of_enumeration(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.normal(shift, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    test = p_value(x, y)
    assert test.p_value == pytest.approx(brute_force(x, y), abs=1e-12)
    assert test.exact
    assert test.mcse == 0


def test_ties_count_as_at_least_as_large() -> None:
    # 0.1 + 0.2 is not 0.3 in floating point: a plain >= would lose ties.
    x, y = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.0, 0.0])
    assert p_value(x, y).p_value == pytest.approx(brute_force(x, y), abs=1e-12)
    assert p_value(x + 7.0, y + 7.0).p_value == pytest.approx(brute_force(x, y), abs=1e-12)
    assert p_value([0.1, 0.1], [0.1, 0.1]).p_value == 1


@pytest.mark.parametrize("size", [8, 11])
def test_exact_p_value_of_counts_is_hypergeometric(size: int) -> None:
    x, y = np.zeros(size), np.zeros(size)
    x[:6], y[:2] = 1, 1
    test = p_value(x, y)
    assert test.exact
    assert test.p_value == pytest.approx(hypergeom.sf(5, 2 * size, 8, size), rel=1e-12)


def test_sampled_p_value_is_right_within_its_error_and_repeats() -> None:
    x, y = np.zeros(30), np.zeros(30)
    x[:12], y[:6] = 1, 1
    test = p_value(x, y, samples=40_000, random_seed=3)
    expected = hypergeom.sf(11, 60, 18, 30)
    assert not test.exact
    assert test.partitions == 40_000
    assert test.mcse == pytest.approx(np.sqrt(expected * (1 - expected) / 40_000), rel=0.05)
    assert abs(test.p_value - expected) < 4 * test.mcse
    assert test == p_value(x, y, samples=40_000, random_seed=3)
    assert test != p_value(x, y, samples=40_000, random_seed=4)


def test_sampled_p_value_is_never_zero() -> None:
    test = p_value(np.arange(50.0) + 100, np.arange(50.0), samples=99, random_seed=0)
    assert test.p_value == pytest.approx(1 / 100)
    assert test.mcse > 0


@pytest.mark.parametrize("sizes", [(8, 8), (3, 5), (5, 3), (13, 13)])
def test_many_at_once_are_as_one_by_one(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(3, 40, sizes[0])), rng.normal(size=(3, 40, sizes[1]))
    test = p_value(x, y, samples=500, random_seed=2)
    assert test.p_value.shape == test.mcse.shape == (3, 40)
    for position in ((0, 0), (1, 7), (2, 39)):
        assert test.p_value[position] == p_value(x[position], y[position], samples=500, random_seed=2).p_value


def test_p_values_are_uniform_under_exchangeability() -> None:
    rng = np.random.default_rng(0)
    test = p_value(rng.normal(size=(4000, 5)), rng.normal(size=(4000, 5))).p_value
    # Of 252 partitions, exactly 12 have a p-value of 12/252 or less: a binomial count, within 4 sd.
    share = 12 / 252
    assert abs((test <= share + 1e-9).mean() - share) < 4 * np.sqrt(share * (1 - share) / 4000)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, np.nan], [1.0, 2.0], "infinite"),
        ([], [1.0], r"shapes \(0,\) and \(1,\)"),
        (1.0, [1.0], r"shapes \(\) and \(1,\)"),
        ([[1.0, 2.0]], [1.0, 2.0], r"\(1, 2\) and \(2,\)"),
    ],
)
def test_bad_values(x: object, y: object, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        p_value(x, y)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [2, 20])  # counted, and drawn at random
def test_bad_options(size: int) -> None:
    for options in ({"random_seed": -1}, {"random_seed": 0.5}, {"random_seed": True}, {"samples": 0}, {"samples": "x"}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            p_value(np.arange(float(size)), np.arange(float(size)), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3), (2, 6)])
def test_both_sides_are_counted_over_all_partitions(sizes: tuple[int, int]) -> None:
    first, total = sizes[0], sum(sizes)
    values = np.random.default_rng(3).normal(size=total).round(1)
    differences = []
    for chosen in combinations(range(total), first):
        inside = np.isin(np.arange(total), chosen)
        differences.append(values[inside].mean() - values[~inside].mean())
    observed = values[:first].mean() - values[first:].mean()
    expected = np.mean(np.abs(differences) >= abs(observed) - 1e-9)
    assert p_value(values[:first], values[first:], two_sided=True).p_value == pytest.approx(expected)
    assert p_value(values[first:], values[:first], two_sided=True).p_value == pytest.approx(expected)


def test_drawn_partitions_count_both_sides() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal([[0.4], [0.0]], 1.0, size=(2, 13))  # 10 million partitions
    drawn = p_value(x, y, two_sided=True, samples=20_000, random_seed=1)
    assert (drawn.exact, drawn.partitions) == (False, 20_000)
    shuffled = rng.permuted(np.tile(np.concatenate([x, y]), (20_000, 1)), axis=1)
    differences = shuffled[:, :13].mean(axis=1) - shuffled[:, 13:].mean(axis=1)
    share = np.mean(np.abs(differences) >= abs(x.mean() - y.mean()))
    assert drawn.p_value == pytest.approx(share, abs=4 * np.sqrt(2) * float(drawn.mcse))


def test_sums_that_differ_by_the_rounding_of_float32_are_ties() -> None:
    """Of 8 and 8 words, one has an association: it is in X in half of the partitions."""
    noise = 4e-9 * np.random.default_rng(1).standard_normal(16)
    noise[0] += 0.24
    assert p_value(noise[:8], noise[8:]).p_value == 0.5
