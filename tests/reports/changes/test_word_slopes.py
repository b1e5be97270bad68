"""Slopes of words' gaps by period, against plain least squares, single fits and known truths."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.reports.covariates.slopes import design_of, robust_freedom
from tests.reports.covariates.made import made_table

WORDS = [f"<b>w{place}" for place in range(9)]
QUICK: dict[str, Any] = {"draws": 500, "random_seed": 1, "progress": False}
SHARES = dict(zip(WORDS, (np.linspace(0, 1, 9) ** 2).tolist(), strict=True))


def tables(*, halved: bool = True) -> dict[int, pd.DataFrame]:
    """Return the table of covariates in 1990, and one whose leans are half as large in 2000."""
    first = made_table().drop(columns="share")
    second = made_table(seed=2 if halved else 1).drop(columns="share")
    if halved:
        near = second["attribute_group"] == "near"
        means = second.groupby(["protected_word", near])["cosine_distance"].mean().unstack()
        lean = second["protected_word"].map(means[True] - means[False])
        second["cosine_distance"] -= np.where(near, 0.25, -0.25) * lean
    return {1990: first, 2000: second}


def plain_slope(table: pd.DataFrame, values: dict[str, float]) -> float:
    means = table.groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    return float(np.polyfit([values[word] for word in means.index], means["near"] - means["far"], 1)[0])


@pytest.fixture(scope="module")
def moved() -> bb.reports.Changes:
    return bb.trend(tables(), word_covariates={"share": SHARES}, **QUICK)


def test_observed_slopes_are_plain_least_squares(moved: bb.reports.Changes) -> None:
    first, second = (plain_slope(table, SHARES) for table in tables().values())
    assert moved.slopes["observed"].tolist() == pytest.approx([first, second, second - first])
    assert moved.slopes["period"].tolist() == ["1990", "2000", "1990 to 2000"]
    assert moved.slopes["quantity"].tolist() == ["slope", "slope", "change"]
    np.testing.assert_array_equal(moved.slopes["mean"], moved.slopes["observed"])
    assert moved.slopes["settled"].tolist() == (moved.slopes["hdi_high"] < 0).tolist()
    assert moved.slopes["settled"].iloc[0]
    assert moved.facts["word_covariates"] == ["share"]


def test_few_words_have_the_degrees_of_freedom_of_their_slope() -> None:
    """With many attribute words, the interval is nearly that of HC2 with the freedom of Bell and McCaffrey."""
    two = {year: made_table(words=6, attributes=40, seed=seed) for year, seed in ((1990, 1), (2000, 2))}
    shares = dict(zip(two[1990]["protected_word"], two[1990]["share"], strict=True))
    bare = {year: table.drop(columns="share") for year, table in two.items()}
    rows = bb.trend(bare, word_covariates={"share": shares}, **QUICK).slopes
    design = design_of(np.array(list(shares.values()))[:, None], np.zeros(6, dtype=int))
    half = stats.t(robust_freedom(design)).ppf(0.945).item()
    for row, table in zip(rows.to_dict("records"), two.values(), strict=False):
        means = table.groupby(["attribute_group", "protected_word"])["cosine_distance"].mean()
        residuals = design.residuals @ (means["near"] - means["far"])[list(shares)].to_numpy()
        error = float(np.sqrt(design.weights @ residuals**2).item())
        assert row["hdi_high"] - row["hdi_low"] == pytest.approx(2 * half * error, rel=0.25)


def test_words_like_these_have_no_narrower_slopes_than_these_words_with_two_attribute_words() -> None:
    for seed in (1, 2, 3):
        table = made_table(attributes=2, noise=0.005, seed=seed).drop(columns="share")
        two = {1990: table, 2000: made_table(attributes=2, noise=0.005, seed=seed + 10).drop(columns="share")}
        widths = [
            bb.trend(two, word_covariates={"share": SHARES}, scope=scope, random_seed=1, progress=False)
            .slopes[["hdi_low", "hdi_high"]]
            .diff(axis=1)["hdi_high"]
            for scope in ("population", "these_words")
        ]
        assert (widths[0] > 0.97 * widths[1]).all()


def test_a_period_has_about_the_interval_of_a_fit_of_its_own(moved: bb.reports.Changes) -> None:
    alone = bb.covariate_effect(
        bb.fit(tables()[1990], covariates={"share": SHARES}, random_seed=1, progress=False)
    ).effects.iloc[0]
    own = moved.slopes.iloc[0]
    assert own["mean"] == pytest.approx(alone["mean"], abs=0.2 * alone["sd"])
    assert 0.6 < (own["hdi_high"] - own["hdi_low"]) / (alone["hdi_high"] - alone["hdi_low"]) < 1.7


def test_a_change_is_paired() -> None:
    """The very same distances have no change, however uncertain each slope is."""
    first = tables()[1990]
    same = bb.trend({1: first, 2: first.copy()}, word_covariates={"share": SHARES}, **QUICK)
    change = same.slopes.iloc[-1]
    assert change["sd"] < 1e-5 < 1e-3 < same.slopes["sd"].iloc[0]


def test_numbers_may_differ_by_period_and_units_scale_slopes(moved: bb.reports.Changes, tmp_path: Path) -> None:
    rows = [(word, year, 100 * share) for year in (1990, 2000) for word, share in SHARES.items()]
    rows += [("other", 1990, 1.0), ("other", 1990, 2.0)]  # which no table has
    frame = pd.DataFrame(rows, columns=["word", "period", "percent"])
    scaled = bb.trend(tables(), word_covariates=frame, **QUICK)
    np.testing.assert_allclose(100 * scaled.slopes["mean"], moved.slopes["mean"])
    frame.to_csv(tmp_path / "shares.csv", index=False)
    of_file = bb.trend(tables(), word_covariates=tmp_path / "shares.csv", **QUICK)
    pd.testing.assert_frame_equal(of_file.slopes, scaled.slopes)
    later = frame.assign(percent=np.where(frame["period"] == 2000, 2, 1) * frame["percent"])
    doubled = bb.trend(tables(), word_covariates=later, **QUICK).slopes
    assert doubled["mean"].iloc[1] == pytest.approx(scaled.slopes["mean"].iloc[1] / 2)


def test_a_change_is_that_of_words_which_both_periods_have() -> None:
    whole = tables(halved=False)
    lacking = {1990: whole[1990], 2000: whole[2000][whole[2000]["protected_word"] != "<b>w8"]}
    slopes = bb.trend(lacking, word_covariates={"share": SHARES}, **QUICK).slopes
    assert slopes["observed"].iloc[0] != pytest.approx(slopes["observed"].iloc[1])
    assert slopes["observed"].iloc[2] == pytest.approx(0, abs=1e-12)


def test_these_words_have_the_error_of_attribute_words_alone(moved: bb.reports.Changes) -> None:
    these = bb.trend(tables(), word_covariates={"share": SHARES}, scope="these_words", **QUICK).slopes
    assert (these["sd"] < moved.slopes["sd"]).all()


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ({"share": dict.fromkeys(WORDS, 1.0)}, "word_covariates of 1990 .*\n.*'share' has one value"),
        ({"share": {word: share for word, share in SHARES.items() if word != "<b>w3"}}, "no number for <b>w3"),
        (pd.DataFrame({"word": WORDS, "period": 1990, "x": range(9)}), "lacks the periods '2000'"),
        (pd.DataFrame({"word": WORDS}), "no column of numbers"),
        (pd.DataFrame({"word": [*WORDS, WORDS[0]], "x": range(10)}), "more than once: <b>w0"),
    ],
)
def test_mistakes_are_named(covariates: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        bb.trend(tables(), word_covariates=covariates, progress=False)  # type: ignore[arg-type]


def test_too_few_words_in_a_period() -> None:
    few = {year: table[table["protected_word"].isin(WORDS[:3])] for year, table in tables().items()}
    with pytest.raises(ReportError, match="3 protected words: too few"):
        bb.trend(few, word_covariates={"share": SHARES}, progress=False)
