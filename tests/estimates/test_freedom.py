"""Degrees of freedom of sums of errors."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.estimates.freedom import student_scales, welch_freedom


def test_they_are_those_of_scipys_t_test_of_unequal_variances() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.normal(0, sd, size) for sd, size in ((1.0, 5), (3.0, 9))]
    variances = np.array([[stats.sem(sample) ** 2] for sample in samples])
    expected = stats.ttest_ind(*samples, equal_var=False).df
    assert welch_freedom(variances, [[4.0], [8.0]]) == pytest.approx(expected)


def test_lists_of_several_sizes_have_freedom_between_that_of_one_and_of_all() -> None:
    variances = np.array([[1.0, 1e6, 0.0, 0.0], [1.0, 1.0, 2.0, 0.0]])
    freedom = welch_freedom(variances, np.array([[3.0], [9.0]]))
    np.testing.assert_allclose(freedom, [4 / (1 / 3 + 1 / 9), 3, 9, 3], rtol=1e-5)


def test_scaled_normal_draws_are_students_t() -> None:
    rng = np.random.default_rng(1)
    freedom = np.array([3.0, 20.0])
    draws = rng.standard_normal((200_000, 2)) * student_scales(rng.random(200_000), freedom)
    levels = np.array([0.055, 0.25, 0.75, 0.945])
    np.testing.assert_allclose(np.quantile(draws, levels, axis=0), stats.t(freedom).ppf(levels[:, None]), atol=0.03)
