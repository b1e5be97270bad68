"""Statistics of pairs: against plain loops, SciPy, and the jackknife."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from bayesbias.asymmetry.ratios.pair_statistics import (
    dyadic_variance,
    reliability_influences,
    spearman_influences,
    word_codes,
)


def test_variances_of_dyads_are_sums_over_all_pairs_that_share_a_word() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 12, (2, 60))
    second = np.where(first == second, second + 12, second)
    level = rng.standard_normal(24)
    errors = level[first] + level[second] + rng.standard_normal(60) / 2
    total = sum(
        errors[i] * errors[j] for i in range(60) for j in range(60) if {first[i], second[i]} & {first[j], second[j]}
    )
    own = {}
    for i in range(60):
        key = frozenset((first[i], second[i]))
        own[key] = own.get(key, 0) + errors[i]
    least = sum(value**2 for value in own.values())
    assert dyadic_variance(errors, first, second) == pytest.approx(max(total, least))
    assert total > least, "the other case"


def test_spearman_and_its_influences_are_those_of_scipy_and_the_jackknife() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(120)
    y = 0.5 * x + rng.standard_normal(120)
    value, influences = spearman_influences(x, y)
    assert value == pytest.approx(spearmanr(x, y).statistic)
    left = np.array([spearmanr(np.delete(x, at), np.delete(y, at)).statistic for at in range(120)])
    jackknife = (len(x) - 1) * (left.mean() - left)
    assert np.corrcoef(jackknife, influences)[0, 1] > 0.999
    assert influences.std() == pytest.approx(jackknife.std(), rel=0.05)


def test_ties_have_their_mean_rank() -> None:
    x, y = np.array([1.0, 1, 2, 3, 3, 3]), np.array([2.0, 1, 1, 3, 5, 4])
    assert spearman_influences(x, y)[0] == pytest.approx(spearmanr(x, y).statistic)
    value, influences = spearman_influences(np.ones(6), y)
    assert value == 0
    assert not influences.any()


def test_reliability_and_its_influences() -> None:
    rng = np.random.default_rng(3)
    true, errors = rng.standard_normal(200_000), rng.uniform(0.3, 0.9, 200_000)
    means = (true + errors * rng.standard_normal(200_000)) / (1 + errors**2)
    sds = errors / np.sqrt(1 + errors**2)
    value, influences = reliability_influences(means, sds)
    assert value == pytest.approx(np.corrcoef(means, true)[0, 1] ** 2, abs=0.005)
    some = np.arange(150)
    left = [reliability_influences(np.delete(means[some], at), np.delete(sds[some], at))[0] for at in some]
    jackknife = (len(some) - 1) * (np.mean(left) - np.array(left))
    assert np.corrcoef(jackknife, reliability_influences(means[some], sds[some])[1])[0, 1] > 0.999
    assert influences.mean() == pytest.approx(0, abs=1e-9)


def test_codes_are_shared_by_both_sides() -> None:
    first, second = word_codes(["b", "a"], ["a", "c"])
    assert (first[1], second[0]) == (second[0], first[1])
    assert len({*first.tolist(), *second.tolist()}) == 3
