"""Statistics at whole weights against SciPy and scikit-learn on repeated items; intervals against exact posteriors.

Means along drawn directions: against plain means, powers, and the spread of a Dirichlet.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import v_measure_score

from bayesbias.errors import MeasureError
from bayesbias.estimates.intervals import shortest_interval
from bayesbias.metrics.quantities import (
    DRAWS,
    DrawnDirections,
    Quantity,
    posterior_along,
    quantity_posterior,
    spearman,
    v_measure,
    value_of,
    weighted_mean,
)

RANDOM = np.random.default_rng(5)
COUNTS = RANDOM.integers(0, 4, size=(6, 40))
SHARE = Quantity("right", "share", ("right",))


def test_spearman_of_whole_weights_is_that_of_repeated_pairs() -> None:
    columns = np.stack([RANDOM.integers(0, 12, 40), RANDOM.normal(size=40).round(1)]).astype(float)
    expected = [stats.spearmanr(*np.repeat(columns, counts, axis=1)).statistic for counts in COUNTS]
    np.testing.assert_allclose(spearman(columns, COUNTS.astype(float)), expected, atol=1e-12)


def test_v_measure_of_whole_weights_is_scikit_learns() -> None:
    columns = RANDOM.integers(0, 2, size=(2, 40)).astype(float)
    expected = [v_measure_score(*np.repeat(columns, counts, axis=1)) for counts in COUNTS]
    np.testing.assert_allclose(v_measure(columns, COUNTS.astype(float)), expected, atol=1e-12)


def test_weighted_mean_is_numpys() -> None:
    values, item_weights = RANDOM.normal(size=(2, 40)) ** 2
    expected = [np.average(values, weights=item_weights * counts) for counts in COUNTS]
    np.testing.assert_allclose(
        weighted_mean(np.stack([values, item_weights]), COUNTS.astype(float)), expected, rtol=1e-12
    )


def test_a_rank_correlation_of_equal_items_is_an_error() -> None:
    with pytest.raises(MeasureError, match=" 4 items"):
        value_of(Quantity("spearman", "spearman", ("a", "b")), np.array([[1.0, 2, 3, 4], [5.0, 5, 5, 5]]))


def test_the_shortest_interval_is_arviz_s() -> None:
    import arviz as az

    draws = RANDOM.gamma(2.0, size=1500)
    np.testing.assert_allclose(shortest_interval(draws, 0.89), az.hdi(draws, prob=0.89), atol=1e-12)


@pytest.mark.parametrize("right", [0, 3, 20])
def test_draws_of_a_share_are_a_beta_posterior_with_jeffreys_prior(right: int) -> None:
    columns = np.repeat([1.0, 0.0], [right, 20 - right])[np.newaxis]
    draws = quantity_posterior(SHARE, columns, None, np.random.default_rng(2))
    assert stats.kstest(draws, stats.beta(right + 0.5, 20 - right + 0.5).cdf).pvalue > 1e-3


def test_draws_of_the_change_of_a_share_have_the_moments_of_a_dirichlet() -> None:
    cells = np.array([30, 12, 3, 55])  # wrong twice, mended, spoilt, right twice
    before, after = np.repeat([0.0, 0, 1, 1], cells)[np.newaxis], np.repeat([0.0, 1, 0, 1], cells)[np.newaxis]
    draws = quantity_posterior(SHARE, before, after, np.random.default_rng(3))
    exact = stats.dirichlet(cells + 0.25)
    contrast = np.array([0, 1, -1, 0])
    variance = contrast @ exact.cov() @ contrast
    assert abs(draws.mean() - exact.mean() @ contrast) < 4 * np.sqrt(variance / DRAWS)
    assert draws.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / DRAWS))


def test_a_share_of_which_labels_are_drawn_varies_as_its_labels_do() -> None:
    """20 labels, each with 30 items that are all right or all wrong, are 20 items and not 600."""
    columns = np.repeat([1.0, 0.0], [300, 300])[np.newaxis]
    labels = np.repeat(np.arange(20), 30)[np.newaxis]
    draws = quantity_posterior(SHARE, columns, None, np.random.default_rng(3), labels=labels)
    assert draws.std() == pytest.approx(stats.beta(10, 10).std(), rel=0.1)
    alone = quantity_posterior(SHARE, columns, None, np.random.default_rng(3))
    assert alone.std() == pytest.approx(stats.beta(300, 300).std(), rel=0.1)


def test_the_interval_of_a_share_of_crossed_items_covers_the_truth_and_that_of_coins_does_not() -> None:
    """22 x 20 tuples as SemBias has them, whose definitions and stereotypes differ; 120 data sets."""
    random = np.random.default_rng(0)
    truth = stats.norm.cdf(0.8 / np.sqrt(1 + 1 + 0.25))
    labels = np.stack([np.repeat(np.arange(22), 20), 22 + np.tile(np.arange(20), 22)])
    covered = {"labels": 0, "coins": 0}
    for seed in range(120):
        latent = 0.8 + random.normal(size=(22, 1)) + 0.5 * random.normal(size=(1, 20)) + random.normal(size=(22, 20))
        right = (latent > 0).astype(float).reshape(1, -1)
        for name, shared in (("labels", labels), ("coins", None)):
            draws = quantity_posterior(SHARE, right, None, np.random.default_rng(seed), labels=shared)
            low, high = shortest_interval(draws, 0.89)
            covered[name] += low < truth < high
    # 89% with three Monte Carlo standard errors, and three points for 20 labels.
    assert abs(covered["labels"] / 120 - 0.89) < 3 * np.sqrt(0.89 * 0.11 / 120) + 0.03
    assert covered["coins"] / 120 < 0.6


def test_draws_of_a_mean_over_splits_have_the_corrected_variance() -> None:
    """Nadeau and Bengio (2003): (1 / J + test / train) s^2, a t distribution with J - 1 degrees of freedom."""
    values = np.array([0.71, 0.74, 0.69, 0.72, 0.75])
    split = Quantity("accuracy", "split_mean", ("a",), test_over_train=4.0)
    draws = quantity_posterior(split, values[np.newaxis], None, np.random.default_rng(4))
    expected = stats.t(4, values.mean(), values.std(ddof=1) * np.sqrt(1 / 5 + 4))
    inside = draws[(draws > 0) & (draws < 1)]
    assert stats.kstest(inside, expected.cdf).pvalue > 1e-3
    change = quantity_posterior(split, values[np.newaxis], values[np.newaxis] - 0.1, np.random.default_rng(4))
    np.testing.assert_allclose(change, -0.1)


def test_an_interval_of_a_mean_has_the_width_of_its_standard_error() -> None:
    values = RANDOM.normal(2.0, 3.0, size=800)
    low, high = shortest_interval(
        quantity_posterior(Quantity("mean", "mean", ("a",)), values[np.newaxis], None, np.random.default_rng(1)), 0.89
    )
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.945) * values.std() / np.sqrt(800), rel=0.08)


def drawn(coordinates: list[list[float]], directions: np.ndarray) -> DrawnDirections:
    return DrawnDirections(np.array(coordinates, dtype=np.float32), directions.astype(np.float32))


def test_equal_items_have_the_value_of_each_drawn_direction() -> None:
    """Weights are without effect on equal items: only the direction varies."""
    angles = np.linspace(0, np.pi, DRAWS)
    along = drawn([[3.0, 4.0]] * 5, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    projections = 3 * np.cos(angles) + 4 * np.sin(angles)
    for power, expected in ((0.0, projections), (1.0, np.abs(projections)), (2.0, projections**2)):
        quantity = Quantity("bias", "mean", ("bias",), power=power)
        means = posterior_along(quantity, along, np.random.default_rng(1))
        np.testing.assert_allclose(means, expected, atol=1e-4)


def test_one_direction_leaves_the_spread_of_the_bayesian_bootstrap() -> None:
    """Weights are Dirichlet(1, ..., 1): the variance of a mean of n values is their variance / (n + 1) (Rubin 1981)."""
    values = np.arange(9.0)
    along = drawn([[value] for value in values], np.ones((DRAWS, 1)))
    means = posterior_along(Quantity("bias", "mean", ("bias",)), along, np.random.default_rng(1))
    sd = np.sqrt(values.var() / 10)
    assert means.mean() == pytest.approx(4.0, abs=4 * sd / np.sqrt(DRAWS))
    assert means.std() == pytest.approx(sd, rel=4 / np.sqrt(2 * DRAWS))


def test_some_of_the_items() -> None:
    along = drawn([[1.0], [7.0], [7.0]], np.ones((DRAWS, 1)))
    chosen = along.of_items(np.array([1, 2]))
    means = posterior_along(Quantity("bias", "mean", ("bias",)), chosen, np.random.default_rng(1))
    np.testing.assert_allclose(means, 7.0, atol=1e-5)
