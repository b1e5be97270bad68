import numpy as np
import pytest
from scipy import stats

from bayesbias.reliability.mean_squares import CRONBACH_ALPHA, ICC_2_1, ICC_3_1, MeanSquares, mean_squares
from bayesbias.reliability.variance_components import posterior


def squares_of(n, k, rows, columns, error):
    """Mean squares of scores whose rows are as the Normal model has them: a `spread_ratio` of 1."""
    arrays = [np.atleast_1d(np.asarray(part, dtype=float)) for part in (rows, columns, error)]
    return MeanSquares(*arrays, np.zeros_like(arrays[0]), np.ones_like(arrays[0]), n, k)


@pytest.mark.parametrize(("reliability", "c"), [(ICC_3_1, 7), (CRONBACH_ALPHA, 0)])
def test_without_columns_it_is_the_f_distribution(reliability, c):
    """The interval holds 89 % by SciPy's F distribution, and its ends are equally dense on Fisher's z scale."""
    n, k, ratio = 23, 8, np.array([0.8, 1.5, 6.0, 300.0])
    summary = posterior(squares_of(n, k, ratio, np.ones(4), np.ones(4)), reliability, hdi_prob=0.89)
    ends = [(1 + c * summary[name]) / (1 - summary[name]) / ratio for name in ("hdi_low", "hdi_high")]
    law = stats.f((n - 1) * (k - 1), n - 1)
    np.testing.assert_allclose(law.cdf(ends[1]) - law.cdf(ends[0]), 0.89, atol=0.001)
    low, high = (end * law.pdf(end) for end in ends)
    np.testing.assert_allclose(low, high, rtol=0.05)
    mean = [law.expect(lambda x, r=r: (r * x - 1) / (r * x + c)) for r in ratio]
    np.testing.assert_allclose(summary["mean"], mean, atol=0.002)


@pytest.mark.parametrize(("n", "k"), [(23, 3), (23, 8), (200, 8)])
@pytest.mark.parametrize(("rows", "columns"), [(1.2, 0.7), (4.0, 6.0), (60.0, 2.0)])
def test_agreement_is_that_of_a_plain_simulation(n, k, rows, columns):
    """Draws of the three components from their inverse chi-squares, by NumPy's generator and the paper's equation."""
    draws, rng = 400_000, np.random.default_rng(3)
    msr = rows * (n - 1) / rng.chisquare(n - 1, draws)
    msc = columns * (k - 1) / rng.chisquare(k, draws)
    mse = (n - 1) * (k - 1) / rng.chisquare((n - 1) * (k - 1), draws)
    icc = (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))
    summary = {
        name: part[0] for name, part in posterior(squares_of(n, k, rows, columns, 1), ICC_2_1, hdi_prob=0.89).items()
    }
    assert summary["mean"] == pytest.approx(icc.mean(), abs=0.02 * icc.std())
    assert summary["sd"] == pytest.approx(icc.std(), rel=0.02)
    assert np.mean((icc >= summary["hdi_low"]) & (icc <= summary["hdi_high"])) == pytest.approx(0.89, abs=0.005)
    z = np.sort(np.log((1 + (k - 1 - k / n) * icc) / (1 - icc)))
    span = int(0.89 * draws)
    shortest = np.min(z[span:] - z[:-span])
    ends = [np.log((1 + (k - 1 - k / n) * summary[end]) / (1 - summary[end])) for end in ("hdi_low", "hdi_high")]
    assert ends[1] - ends[0] == pytest.approx(shortest, rel=0.03)


def test_one_word_does_not_depend_on_the_others():
    scores = np.random.default_rng(4).normal(size=(700, 23, 4)) + np.random.default_rng(5).normal(size=(700, 23, 1))
    squares = mean_squares(scores)
    together = posterior(squares, ICC_2_1, hdi_prob=0.89)
    alone = posterior(squares.taken(slice(600, 601)), ICC_2_1, hdi_prob=0.89)
    for name, values in alone.items():
        assert values[0] == pytest.approx(together[name][600], abs=1e-12)


def test_a_wider_interval_holds_the_narrower():
    squares = squares_of(23, 8, 5, 1, 1)
    ends = [posterior(squares, ICC_2_1, hdi_prob=prob) for prob in (0.5, 0.89, 0.99)]
    lows, highs = ([float(end[name][0]) for end in ends] for name in ("hdi_low", "hdi_high"))
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


def test_seeds_that_agree_wholly_leave_nothing_open():
    for reliability in (ICC_2_1, ICC_3_1, CRONBACH_ALPHA):
        summary = posterior(squares_of(23, 8, [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]), reliability, hdi_prob=0.89)
        np.testing.assert_allclose([summary["mean"], summary["hdi_low"], summary["hdi_high"]], 1.0)
        np.testing.assert_allclose(summary["sd"], 0.0)
    rows_alike = posterior(squares_of(23, 8, 0.0, 1.0, 1.0), ICC_3_1, hdi_prob=0.89)
    assert rows_alike["mean"][0] == rows_alike["hdi_high"][0] == pytest.approx(-1 / 7)


def test_alpha_of_tiny_matrices_has_a_median_where_it_has_no_mean() -> None:
    """1 over a chi-square with d degrees of freedom has a mean for d > 2 and a variance for d > 4."""
    for rows, freedom in ((2, 1), (3, 2), (4, 3), (5, 4), (9, 8)):
        squares = squares_of(rows, 2, 3.0, 1.0, 1.0)
        summary = posterior(squares, CRONBACH_ALPHA, hdi_prob=0.89)
        ratio = stats.f(freedom, rows - 1)  # of the expected mean squares of rows and error, over their estimate
        plain = 1 - 1 / (3 * (ratio.ppf((np.arange(2**18) + 0.5) / 2**18)))
        if freedom not in (3, 4):  # whose variance is infinite, so that a sum over points is inaccurate
            point = np.median(plain) if freedom <= 2 else plain.mean()
            assert summary["mean"][0] == pytest.approx(point, rel=0.05), rows
        assert summary["hdi_low"][0] < summary["mean"][0] < summary["hdi_high"][0]
        assert np.isfinite(summary["sd"][0]) == (freedom > 4), rows
        assert np.isfinite(posterior(squares, ICC_3_1, hdi_prob=0.89)["sd"][0])
