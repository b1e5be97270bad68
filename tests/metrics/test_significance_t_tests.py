"""The t-tests against the textbook's formulas and SciPy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias import metrics
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.significance import t_test
from tests.metrics.made import PETS, vectors


def test_welch_is_that_of_the_textbook() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 3)), rng.normal(0.3, 2, size=(5, 2))
    test = t_test(x.ravel(), y.ravel())
    variance = [values.var(ddof=1) / values.size for values in (x, y)]
    t = (x.mean() - y.mean()) / np.sqrt(sum(variance))
    df = sum(variance) ** 2 / (variance[0] ** 2 / 11 + variance[1] ** 2 / 9)
    half = stats.t.ppf(0.975, df) * np.sqrt(sum(variance))
    assert test.t == pytest.approx(t)
    assert test.df == pytest.approx(df)
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(t), df))
    assert (test.low, test.high) == pytest.approx((x.mean() - y.mean() - half, x.mean() - y.mean() + half))


def test_one_sample_and_paired() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.9, 0.1, size=12), rng.normal(1, 0.1, size=12)
    one = t_test(x, against=1.0)
    assert one.p_value == pytest.approx(stats.ttest_1samp(x, 1.0).pvalue)
    assert one.difference == pytest.approx(x.mean() - 1)
    assert one.low < one.difference < one.high
    paired = t_test(x, y, paired=True)
    assert paired.p_value == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert t_test(x, y, against=-0.1).difference == pytest.approx(x.mean() - y.mean() + 0.1)
    assert t_test(x, y, against=-0.1).p_value == pytest.approx(stats.ttest_ind(x + 0.1, y, equal_var=False).pvalue)


def test_kernels_keep_leading_axes() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 30, 4)), rng.normal(size=(2, 30, 5))
    test = t_test(x, y)
    assert all(np.shape(numbers) == (2, 30) for numbers in test)
    assert test.p_value[1, 7] == pytest.approx(t_test(x[1, 7], y[1, 7]).p_value)
    assert test.low[1, 7] == pytest.approx(t_test(x[1, 7], y[1, 7]).low)


def test_false_claims_are_5_percent_where_values_are_independent() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 0.08, size=(2, 4000, 8))
    assert (t_test(x, y).p_value < 0.05).mean() == pytest.approx(0.05, abs=0.014)  # 4 sd


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (np.ones(1), None, {}, "Found 1 .* 2 "),
        (np.ones(4), None, {}, "equal"),
        (np.ones(4), np.ones(4), {"paired": True}, "equal"),
        (np.ones(4), np.ones(3), {"paired": True}, r"\(4,\) and \(3,\)"),
        (np.ones(4), None, {"paired": True}, r"\(4,\) and None"),
        (np.full(4, np.nan), None, {}, "infinite"),
    ],
)
def test_bad_values(x: np.ndarray, y: np.ndarray | None, options: dict[str, bool], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        t_test(x, y, **options)


def test_tests_of_a_table() -> None:
    table = bb.distance_table(vectors(), PETS)
    frame = metrics.t_tests(table).set_index(["attribute_group", "values"])
    assert frame.index.tolist() == [(g, v) for g in ("quiet", "loud", "neutral") for v in ("preaveraged", "raw")]
    distances = table[table["attribute_group"] == "loud"].pivot(
        index="protected_word", columns="attribute_word", values="cosine_distance"
    )
    x, y = (distances.loc[list(PETS.protected[group])].to_numpy() for group in ("cats", "dogs"))
    raw = stats.ttest_ind(x.ravel(), y.ravel(), equal_var=False)
    assert frame.loc[("loud", "raw"), "p_value"] == pytest.approx(raw.pvalue)
    assert frame.loc[("loud", "preaveraged"), "p_value"] == pytest.approx(
        stats.ttest_ind(x.mean(axis=1), y.mean(axis=1), equal_var=False).pvalue
    )
    assert frame.loc[("loud", "raw"), ["n_x", "n_y"]].tolist() == [9, 9]
    turned = metrics.t_tests(table, targets=("dogs", "cats"))
    np.testing.assert_allclose(turned["difference"], -frame["difference"])


@pytest.mark.parametrize(
    ("targets", "message"),
    [(("cats", "dog"), "did you mean 'dogs'"), (("cats", "cats"), "targets="), ("cats", "targets=")],
)
def test_bad_targets(targets: tuple[str, str], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        metrics.t_tests(bb.distance_table(vectors(), PETS), targets=targets)


def test_three_groups_must_be_named(table: pd.DataFrame) -> None:
    with pytest.raises(MeasureError, match=" 1 protected group"):
        metrics.t_tests(table[table["protected_group"] == "math"])


def test_mac_against_1_and_after_debiasing() -> None:
    before, after = (bb.distance_table(vectors(seed=seed), PETS) for seed in (0, 1))
    values = [metrics.mac(vectors(seed=seed), PETS).scores["score"] for seed in (0, 1)]
    alone = metrics.mac_t_tests(before).set_index("values")
    assert alone.loc["preaveraged", "mean"] == pytest.approx(metrics.mac(vectors(), PETS).mac)
    assert alone.loc["preaveraged", "p_value"] == pytest.approx(stats.ttest_1samp(values[0], 1).pvalue)
    paired = metrics.mac_t_tests(before, after).set_index("values")
    assert paired["n"].tolist() == [12, 30]
    assert paired.loc["preaveraged", "p_value"] == pytest.approx(stats.ttest_rel(*values).pvalue)
    assert paired.loc["preaveraged", "difference"] == pytest.approx(values[0].mean() - values[1].mean())
    # The order of rows does not matter: pairs are matched by their words.
    shuffled = metrics.mac_t_tests(before, after.sample(frac=1, random_state=0)).set_index("values")
    pd.testing.assert_frame_equal(shuffled, paired)


def test_tables_that_share_only_some_pairs() -> None:
    before, after = (bb.distance_table(vectors(seed=seed), PETS) for seed in (0, 1))
    part = after[after["protected_word"] != "cat"]
    with pytest.warns(LostWordsWarning, match="5 pairs .*: cat - "):
        frame = metrics.mac_t_tests(before, part)
    assert frame["n"].tolist() == [10, 25]
    other = after.assign(protected_word="x" + after["protected_word"])
    with pytest.raises(MeasureError, match="in common"):
        metrics.mac_t_tests(before, other)
    with pytest.raises(MeasureError, match="control words"):
        metrics.mac_t_tests(before[before["connection"] == "neutral"])


@pytest.mark.shared
def test_the_religion_table_of_reddit(shared: Path) -> None:
    tables = shared / "data" / "published" / "tables"
    before, after = (bb.read_table(tables / f"religion_reddit_{kind}_pair.csv.gz") for kind in ("original", "debiased"))
    frame = metrics.mac_t_tests(before, after).set_index("values")
    # Manzini et al. report MAC 0.859 and, after hard debiasing, 0.934 with p = 3e-07 on nearly these words.
    assert frame.loc["preaveraged", "mean"] == pytest.approx(0.859, abs=0.005)
    assert frame.loc["preaveraged", "mean"] - frame.loc["preaveraged", "difference"] == pytest.approx(0.934, abs=0.02)
    assert 1e-8 < frame.loc["preaveraged", "p_value"] < 1e-5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_differences_that_are_rounding_have_no_test(dtype: type) -> None:
    pairs = np.random.default_rng(1).standard_normal((2, 12, 50)).astype(dtype)
    stacks = pairs, pairs * dtype(1.7)
    cosines = [np.sum(a * b, axis=-1) for a, b in stacks]
    lengths = [np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1) for a, b in stacks]
    one, other = (1 - cosine / length for cosine, length in zip(cosines, lengths, strict=True))
    with pytest.raises(MeasureError, match="equal"):
        t_test(one, other, paired=True)
