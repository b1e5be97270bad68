""""""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.reliability import mean_squares as room
from bayesbias.reliability.mean_squares import (
    CRONBACH_ALPHA,
    ICC_2_1,
    ICC_3_1,
    MeanSquares,
    far_share,
    is_doubted,
    mean_squares,
    reliability_posterior,
    shape_doubts,
)

GOLDEN = json.loads(Path(__file__).with_name("golden_pingouin.json").read_text(encoding="utf-8"))
NAMES = ("icc_2_1", "icc_3_1", "cronbach_alpha")


def golden_scores():
    return np.array(GOLDEN["scores"]) * GOLDEN["unit"]


def plain(scores):
    """Work the paper's equations 1 to 3 out for one matrix, sum by sum."""
    n, k = scores.shape
    grand, rows, columns = scores.mean(), scores.mean(axis=1), scores.mean(axis=0)
    msr = k * sum((row - grand) ** 2 for row in rows) / (n - 1)
    msc = n * sum((column - grand) ** 2 for column in columns) / (k - 1)
    sse = sum((scores[i, j] - rows[i] - columns[j] + grand) ** 2 for i in range(n) for j in range(k))
    mse = sse / ((n - 1) * (k - 1))
    variances = sum(scores[:, j].var(ddof=1) for j in range(k))
    return {
        "icc_2_1": (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse)),
        "icc_3_1": (msr - mse) / (msr + (k - 1) * mse),
        "cronbach_alpha": k / (k - 1) * (1 - variances / scores.sum(axis=1).var(ddof=1)),
    }


@pytest.mark.parametrize("name", NAMES)
def test_equals_pingouin(name):
    """50 words of 23 base pairs and 8 seeds; the version and the command are in the file."""
    assert GOLDEN["pingouin"]
    estimates = getattr(bb.reliability, name)(golden_scores())
    np.testing.assert_allclose(estimates, GOLDEN[name], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (40, 3)])
def test_equals_the_equations(name, shape):
    scores = np.random.default_rng(1).normal(size=shape) + np.arange(shape[0])[:, None]
    assert getattr(bb.reliability, name)(scores) == pytest.approx(plain(scores)[name], abs=1e-12)


def test_leading_axes_and_any_layout(monkeypatch):
    import dask.array

    scores = golden_scores().reshape(2, 25, 23, 8)
    whole = bb.reliability.icc_2_1(scores)
    assert whole.shape == (2, 25)
    np.testing.assert_array_equal(whole.ravel(), bb.reliability.icc_2_1(golden_scores()))
    strided = np.ascontiguousarray(np.moveaxis(scores, 1, 3))  # words last
    lazy = dask.array.from_array(scores, chunks=(1, 7, 23, 8))
    monkeypatch.setattr(room, "_BLOCK", 1000)
    for other in (np.moveaxis(strided, 3, 1), lazy, scores.astype(">f8")):
        np.testing.assert_allclose(bb.reliability.icc_2_1(other), whole, rtol=0, atol=1e-14)


def test_seeds_that_agree_give_1_and_that_oppose_give_the_least():
    rows = np.random.default_rng(2).normal(size=(23, 1))
    same = rows + np.zeros((1, 5)) + 1e6  # far from 0, so that rounding is not small
    for name in NAMES:
        assert getattr(bb.reliability, name)(same) == pytest.approx(1, abs=1e-12)
    opposed = np.concatenate([rows, -rows], axis=1)
    assert bb.reliability.icc_3_1(opposed + 0.001 * rows) == pytest.approx(-1, abs=1e-4)


def test_columns_that_only_shift_lower_agreement_and_not_consistency():
    rows = np.arange(6.0)[:, None]
    shifted = rows + np.array([0.0, 1.0, 5.0])
    assert bb.reliability.icc_3_1(shifted) == 1
    assert bb.reliability.icc_2_1(shifted) == pytest.approx(plain(shifted)["icc_2_1"])
    assert bb.reliability.icc_2_1(shifted) < 0.5


def test_bad_input():
    scores = golden_scores()[:4]
    for constant in (0.0, 0.1, 1e9 + 0.1):
        with pytest.raises(MeasureError, match=r" 1 of the 5 matrices.*constant"):
            bb.reliability.icc_2_1(np.concatenate([scores, np.full((1, 23, 8), constant)]))
    columns = np.tile(np.arange(8.0), (23, 1))  # rows do not differ
    assert bb.reliability.icc_2_1(columns) == 0
    for name in ("icc_3_1", "cronbach_alpha"):
        with pytest.raises(MeasureError, match=" 1 of the 1 "):
            getattr(bb.reliability, name)(columns)
    with pytest.raises(MeasureError, match=r"23 rows and 1 column\."):
        bb.reliability.icc_2_1(scores[:, :, :1])
    with pytest.raises(MeasureError, match="1 row and 8 columns"):
        bb.reliability.icc_2_1(scores[:, :1])
    with pytest.raises(MeasureError, match="NaN"):
        bb.reliability.icc_2_1(np.where(scores == scores[0, 0, 0], np.nan, scores))
    with pytest.raises(MeasureError, match="shape"):
        bb.reliability.icc_2_1(np.empty((0, 3, 3)))
    for wrong in (object(), "scores", [[1, 2], [3]], [1.0, 2.0]):
        with pytest.raises(MeasureError):
            bb.reliability.icc_2_1(wrong)


def test_kurtosis_of_the_rows():
    """Against SciPy's, which is biased as this one is."""
    from scipy.stats import kurtosis

    scores = golden_scores()
    np.testing.assert_allclose(room.mean_squares(scores).row_kurtosis, kurtosis(scores.mean(axis=2), axis=1))


def test_spread_is_that_of_leaving_out_each_row():
    """Against the equations without one row at a time; heavy-tailed scores, and columns of unequal scale."""
    rng = np.random.default_rng(6)
    heavy = rng.standard_t(4, size=(12, 1)) + rng.normal(size=(12, 4))
    unequal = (rng.normal(size=(12, 1)) + rng.normal(size=(12, 3))) * [1.0, 4.0, 8.0]
    for scores in (heavy, unequal):
        n, k = scores.shape

        alphas = [plain(np.delete(scores, row, axis=0))["cronbach_alpha"] for row in range(n)]
        logs = -np.log(1 - np.array(alphas))  # alpha is 1 - error / rows
        variance = (n - 1) / n * np.sum((logs - np.mean(logs)) ** 2) * (1 + 1 / n)
        expected = np.sqrt(variance / (2 / (n - 1) + 2 / ((n - 1) * (k - 1))))
        assert room.mean_squares(scores).spread_ratio == pytest.approx(expected, rel=1e-9)


def test_spread_of_rows_that_say_nothing():
    rows = np.arange(6.0)[:, None]
    assert room.mean_squares(rows + np.zeros((1, 3))).spread_ratio == 1
    assert room.mean_squares(np.array([[1.0, 2], [3, 5]])).spread_ratio == 1
    one_row = np.tile([1.0, 2.0, 3.0], (6, 1))
    one_row[0] = [9.0, 2.0, -4.0]  # all differences are of one row
    assert room.mean_squares(one_row).spread_ratio == pytest.approx(np.sqrt(6 * (25 / 36 + 5 / 900)))


def squares_of(n, k, rows, columns, error):
    """Mean squares of scores whose rows are as the Normal model has them: a `spread_ratio` of 1."""
    arrays = [np.atleast_1d(np.asarray(part, dtype=float)) for part in (rows, columns, error)]
    return MeanSquares(*arrays, np.zeros_like(arrays[0]), np.ones_like(arrays[0]), n, k)


@pytest.mark.parametrize(("reliability", "c"), [(ICC_3_1, 7), (CRONBACH_ALPHA, 0)])
def test_without_columns_it_is_the_f_distribution(reliability, c):
    """The interval holds 89 % by SciPy's F distribution, and its ends are equally dense on Fisher's z scale."""
    n, k, ratio = 23, 8, np.array([0.8, 1.5, 6.0, 300.0])
    summary = reliability_posterior(squares_of(n, k, ratio, np.ones(4), np.ones(4)), reliability, hdi_prob=0.89)
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
        name: part[0]
        for name, part in reliability_posterior(squares_of(n, k, rows, columns, 1), ICC_2_1, hdi_prob=0.89).items()
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
    together = reliability_posterior(squares, ICC_2_1, hdi_prob=0.89)
    alone = reliability_posterior(squares.taken(slice(600, 601)), ICC_2_1, hdi_prob=0.89)
    for name, values in alone.items():
        assert values[0] == pytest.approx(together[name][600], abs=1e-12)


def test_a_wider_interval_holds_the_narrower():
    squares = squares_of(23, 8, 5, 1, 1)
    ends = [reliability_posterior(squares, ICC_2_1, hdi_prob=prob) for prob in (0.5, 0.89, 0.99)]
    lows, highs = ([float(end[name][0]) for end in ends] for name in ("hdi_low", "hdi_high"))
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


def test_seeds_that_agree_wholly_leave_nothing_open():
    for reliability in (ICC_2_1, ICC_3_1, CRONBACH_ALPHA):
        summary = reliability_posterior(
            squares_of(23, 8, [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]), reliability, hdi_prob=0.89
        )
        np.testing.assert_allclose([summary["mean"], summary["hdi_low"], summary["hdi_high"]], 1.0)
        np.testing.assert_allclose(summary["sd"], 0.0)
    rows_alike = reliability_posterior(squares_of(23, 8, 0.0, 1.0, 1.0), ICC_3_1, hdi_prob=0.89)
    assert rows_alike["mean"][0] == rows_alike["hdi_high"][0] == pytest.approx(-1 / 7)


def test_alpha_of_tiny_matrices_has_a_median_where_it_has_no_mean() -> None:
    """1 over a chi-square with d degrees of freedom has a mean for d > 2 and a variance for d > 4."""
    for rows, freedom in ((2, 1), (3, 2), (4, 3), (5, 4), (9, 8)):
        squares = squares_of(rows, 2, 3.0, 1.0, 1.0)
        summary = reliability_posterior(squares, CRONBACH_ALPHA, hdi_prob=0.89)
        ratio = stats.f(freedom, rows - 1)  # of the expected mean squares of rows and error, over their estimate
        plain = 1 - 1 / (3 * (ratio.ppf((np.arange(2**18) + 0.5) / 2**18)))
        if freedom not in (3, 4):  # whose variance is infinite, so that a sum over points is inaccurate
            point = np.median(plain) if freedom <= 2 else plain.mean()
            assert summary["mean"][0] == pytest.approx(point, rel=0.05), rows
        assert summary["hdi_low"][0] < summary["mean"][0] < summary["hdi_high"][0]
        assert np.isfinite(summary["sd"][0]) == (freedom > 4), rows
        assert np.isfinite(reliability_posterior(squares, ICC_3_1, hdi_prob=0.89)["sd"][0])


def frame_of(kurtoses: dict[str, list[float]], rows: int = 23) -> pd.DataFrame:
    parts = [pd.DataFrame({"rule": rule, "row_kurtosis": values, "rows": rows}) for rule, values in kurtoses.items()]
    return pd.concat(parts, ignore_index=True)


def test_only_rules_with_too_many_far_words_are_doubted() -> None:
    frame = frame_of({"ripa": [0.0] * 15 + [2.0] * 5, "nbm": [0.0] * 16 + [2.0] * 4, "few": [2.0] * 19})
    (doubt,) = shape_doubts(frame, ["rule"], "Over seeds")
    assert doubt.kind == "far rows"
    assert doubt.numbers["shares"] == {"ripa": 0.25}
    assert "ripa: 25" in doubt.text
    assert shape_doubts(frame.query("rule == 'nbm'"), ["rule"], "Over seeds") == []


def test_with_few_rows_fewer_far_words_are_enough() -> None:
    frame = frame_of({"nbm": [0.0] * 17 + [2.0] * 3}, rows=8)
    assert shape_doubts(frame, ["rule"], "Over seeds")[0].numbers["shares"] == {"nbm": 0.15}
    assert shape_doubts(frame.assign(rows=7), ["rule"], "Over seeds") == []  # too few to judge
    assert shape_doubts(frame.assign(rows=12), ["rule"], "Over seeds") == []
    assert shape_doubts(frame.iloc[:0], ["rule"], "Over seeds") == []


def test_rows_that_were_made_extreme_are_found_and_normal_ones_are_not() -> None:
    """Base pairs of their own for each word, of which one in 20 has 5 times the standard deviation."""
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((200, 23, 1))
    extreme = normal * np.where(rng.random(normal.shape) < 0.05, 5, 1)
    for rows, doubted in ((normal, False), (extreme, True)):
        scores = xr.DataArray(
            (rows + rng.standard_normal((200, 23, 8)) / 3)[np.newaxis],
            dims=("rule", "target_word", "base_pair", "seed"),
            coords={
                "rule": ["ripa"],
                "target_word": [f"w{number}" for number in range(200)],
                "base_pair": [f"p{number}" for number in range(23)],
                "seed": range(8),
            },
        )
        frame = bb.reliability.test_retest(scores)
        assert is_doubted(far_share(frame["row_kurtosis"]), 23) is doubted
        assert bool(shape_doubts(frame, ["rule"], "Over seeds")) is doubted
