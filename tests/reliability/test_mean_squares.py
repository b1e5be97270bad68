import json
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.reliability import mean_squares as room

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
