"""The axis of pairs: against plain loops, SciPy's t, enumerated orders, and planted axes."""

import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from bayesbias.estimates.dependence import LinkedWords
from bayesbias.metrics.directions.pair_axis import ChanceDifferences, MeanOverPairs, PairAxis, combined
from tests.models.dependent_words import SAMPLE


def planted(pairs: int, common: float, seed: int, dims: int = 40) -> PairAxis:
    """Return pairs whose differences share a direction with weight `common`."""
    rng = np.random.default_rng(seed)
    rows = common * np.eye(dims)[0] + rng.normal(size=(pairs, dims)) / np.sqrt(dims)
    return PairAxis(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_projections_are_means_with_students_interval() -> None:
    axis, words = planted(7, 0.5, 1), np.random.default_rng(2).normal(size=(4, 40))
    estimate = axis.projections(words)
    low, high = estimate.interval(0.89)
    directions = estimate.probability_of_direction()
    for place, word in enumerate(words):
        scores = [word @ difference / np.linalg.norm(word) for difference in axis.differences]
        assert directions[place] == pytest.approx(1 - stats.ttest_1samp(scores, 0).pvalue / 2)
        ends = stats.ttest_1samp(scores, 0).confidence_interval(0.89)
        assert (low[place], high[place]) == pytest.approx((ends.low, ends.high))


def test_agreement_is_the_mean_of_different_pairs_with_the_jackknifes_error() -> None:
    axis = planted(6, 0.7, 3)
    cosines = axis.differences @ axis.differences.T

    def mean_without(left_out: int | None) -> float:
        rows = [row for row in range(6) if row != left_out]
        return float(np.mean([cosines[a, b] for a, b in combinations(rows, 2)]))

    estimate = axis.agreement()
    without = np.array([mean_without(row) for row in range(6)])
    assert estimate.values[0] == pytest.approx(mean_without(None))
    assert estimate.errors[0] == pytest.approx(np.sqrt(5 / 6 * np.square(without - without.mean()).sum()))
    for row, value in enumerate(axis.pair_agreement().values):
        assert value == pytest.approx(np.mean([cosines[row, other] for other in range(6) if other != row]))


def test_shares_add_up_and_follow_the_axis() -> None:
    axis = planted(5, 0.6, 4)
    assert axis.shares().sum() == pytest.approx(1)
    odd = PairAxis(np.vstack([axis.differences, np.eye(40)[[7]]]))
    assert odd.shares().argmin() == 5


def test_the_sign_test_counts_all_orders() -> None:
    axis = planted(6, 0.5, 5)
    lengths = [np.square(np.array(signs) @ axis.differences).sum() for signs in product([1, -1], repeat=6)]
    observed = np.square(axis.differences.sum(axis=0)).sum()
    assert axis.sign_test(1) == pytest.approx(np.mean(np.array(lengths) >= observed - 1e-12))


def test_the_sign_test_needs_no_memory_for_all_pairs_of_pairs() -> None:
    axis = planted(3000, 0.1, 5)
    tracemalloc.start()
    assert axis.sign_test(1, samples=10) == 0.1
    assert tracemalloc.get_traced_memory()[1] < 3000**2
    tracemalloc.stop()
    assert planted(4, 5.0, 1).sign_test(1) == 1 / 8
    many = planted(20, 2.0, 1)
    assert many.sign_test(1) == many.sign_test(1) == 1e-4


def test_random_pairs_are_said_to_agree_as_often_as_stated() -> None:
    passed = [planted(7, 0.0, seed).sign_test(0) <= 0.11 for seed in range(400)]
    assert np.mean(passed) == pytest.approx(0.11, abs=3.5 * np.sqrt(0.11 * 0.89 / 400))


def test_cosines_are_those_of_the_planted_axis_and_not_smaller() -> None:
    """The plain cosine with the mean of few pairs is too small, by what single pairs have beside the axis."""
    word = np.eye(40)[[0]]
    estimates = [planted(8, 0.5, seed).cosines(word).values[0] for seed in range(200)]
    plain = [axis.mean[0] / np.linalg.norm(axis.mean) for axis in (planted(8, 0.5, seed) for seed in range(200))]
    assert np.mean(estimates) == pytest.approx(1, abs=0.03)
    assert np.mean(plain) < 0.87


def test_errors_of_cosines_are_those_of_new_pairs() -> None:
    words = np.array([[0.5, *np.full(39, 0.1)]])
    other = planted(9, 0.6, 1000)
    axis_of_words = PairAxis(np.repeat(words / np.linalg.norm(words), 3, axis=0))
    axes = [planted(12, 0.6, seed) for seed in range(150)]
    for estimates in ([axis.cosines(words) for axis in axes], [axis.cosine_with(axis_of_words) for axis in axes]):
        spread = np.std([estimate.values[0] for estimate in estimates])
        assert np.sqrt(np.mean([estimate.errors[0] ** 2 for estimate in estimates])) == pytest.approx(spread, rel=0.25)
    twins = other.cosine_with(other)
    assert twins.values[0] > 1  # the pairs are the same, which two samples are not


def test_pairs_that_do_not_agree_have_no_cosines() -> None:
    opposite = PairAxis(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    assert np.isnan(opposite.length)
    assert np.isnan(opposite.cosines([[1.0, 0.0]]).values).all()


def test_errors_of_independent_samples_add_up() -> None:
    parts = [
        MeanOverPairs(np.zeros(2), np.array([3.0, 0.0]), 5.0),
        MeanOverPairs(np.zeros(2), np.array([4.0, 0.0]), 9.0),
    ]
    joint = combined(np.zeros(2), parts)
    assert joint.errors.tolist() == [5.0, 0.0]
    assert joint.freedom[0] == pytest.approx(25**2 / (81 / 5 + 256 / 9))  # Satterthwaite (1946)
    assert joint.freedom[1] == 5.0


def near_copies(copies: int, seed: int) -> tuple[np.ndarray, np.ndarray, ChanceDifferences]:
    """Return the vectors of six random pairs of real words, each with forms of it, and what chance links."""
    rng, chance = np.random.default_rng(seed), ChanceDifferences.from_reference(SAMPLE)
    first, second = SAMPLE[rng.choice(len(SAMPLE), 12, replace=False)].reshape(2, 6, 1, -1)
    forms = [side + 0.02 * rng.normal(size=(6, copies, side.shape[-1])) for side in (first, second)]
    return forms[0].reshape(-1, SAMPLE.shape[1]), forms[1].reshape(-1, SAMPLE.shape[1]), chance


def test_near_copies_are_worth_fewer_pairs() -> None:
    axis = PairAxis.from_vectors(*near_copies(3, 1))
    assert axis.effect > 1.8
    clusters = [set(copies) for copies in axis.near_copies]
    assert all(any(set(range(head, head + 3)) <= copies for copies in clusters) for head in range(0, 18, 3))
    alone = PairAxis(axis.differences)
    words = SAMPLE[:5]
    for estimate, plain in (
        (axis.projections(words), alone.projections(words)),
        (axis.agreement(), alone.agreement()),
    ):
        np.testing.assert_allclose(estimate.values, plain.values)
        np.testing.assert_allclose(estimate.errors, plain.errors * np.sqrt(axis.effect * 17 / (18 - axis.effect)))
        assert estimate.freedom == pytest.approx(18 / axis.effect - 1)


def test_projections_on_axes_of_near_copies_are_claimed_about_as_often_as_promised() -> None:
    """Random pairs have no axis: the truth is 0 for each word, and 89 % intervals should leave out 11 % of them."""
    claims = []
    for seed in range(150):
        axis = PairAxis.from_vectors(*near_copies(3, seed))
        words = SAMPLE[np.random.default_rng(1000 + seed).choice(len(SAMPLE), 40)]
        ends = [made.projections(words).interval(0.89) for made in (axis, PairAxis(axis.differences))]
        claims.append([np.mean((low > 0) | (high < 0)) for low, high in ends])
    dependent, plain = np.mean(claims, axis=0)
    assert dependent < 0.2
    assert plain > dependent + 0.1


def test_random_pairs_are_independent() -> None:
    effects = []
    for seed in range(40):
        first, second, chance = near_copies(1, seed)
        effects.append(PairAxis.from_vectors(first, second, chance).effect)
    assert np.mean(effects) < 1.1


def test_near_copies_are_reversed_together() -> None:
    axis = PairAxis.from_vectors(*near_copies(3, 1))
    units = 18 - sum(len(copies) - 1 for copies in axis.near_copies)
    assert units <= 12
    same = PairAxis(np.eye(40)[[0]] + 0.01 * np.eye(40)[1:7])
    linked = PairAxis(same.differences, LinkedWords(np.array([[0, 1], [2, 3], [4, 5]]), np.full(3, 0.9), np.zeros(6)))
    assert same.sign_test(1) == 2.0**-5
    assert linked.sign_test(1) == 2.0**-2
