"""Trends, with a planted drift whose truth is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.changes.engine import covariates_by_period
from bayesbias.changes.result import Changes
from bayesbias.errors import ArgumentError, InputFileError, LostWordsError, LostWordsWarning, ReportError
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.reports.covariates.slopes import design_of, robust_freedom
from tests import third_group
from tests.models.dependent_words import forms, tables_of, without_links
from tests.models.periods.made import made_tables
from tests.reports.covariates.made import made_table

FOLDER = bb.bundled("data", "vectors", "planted_drift")
ALL_WORDS = "protected_group == '' and protected_word == ''"


def moved_tables(**settings: object) -> Changes:
    return bb.trend(made_tables(change=0.03), draws=100, random_seed=1, progress=False, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def planted() -> Changes:
    return bb.trend(FOLDER, "weat6", draws=200, random_seed=1, progress=False)


def test_the_planted_drift_is_inside_the_intervals(planted: Changes) -> None:
    truth = pd.read_csv(FOLDER / "truth.csv", dtype={"period": str}).set_index("period")["contrast"]
    changes = planted.changes.query(f"contrast == 'associated - different' and {ALL_WORDS}")
    true = truth.loc[changes["second"]].to_numpy() - truth.loc[changes["first"]].to_numpy()
    inside = (changes["hdi_low"] <= true) & (true <= changes["hdi_high"])
    assert inside.mean() >= 0.8
    last = changes.iloc[3]
    assert (last["first"], last["second"], last["reading"]) == ("1950", "1990", "smaller")
    assert last["mean"] == pytest.approx(truth["1990"] - truth["1950"], abs=0.015)


def test_the_line_is_that_of_the_planted_drift(planted: Changes) -> None:
    row = planted.lines.iloc[0]
    assert row["parameter"] == "line, first to last period"
    assert row["hdi_low"] <= 0.0573 <= row["hdi_high"]
    assert row["settled"]
    assert not planted.lines.iloc[1]["settled"]


def test_lacking_words_are_named(planted: Changes) -> None:
    lacking = planted.lacking.query("role == 'protected'")
    assert lacking[["word", "list", "conditions", "lacks"]].values.tolist() == [
        ["Donna", "female_names", 4, "1960"],
        ["Lisa", "female_names", 4, "1950"],
    ]
    text = str(planted)
    assert "Lisa (not in 1950)" in " ".join(text.split())
    lisa = planted.changes.query("protected_word == 'Lisa' and contrast == 'associated - different'").iloc[0]
    assert (lisa["first"], lisa["second"]) == ("1960", "1990")


def test_plain_differences_are_observed(planted: Changes) -> None:
    with pytest.warns(LostWordsWarning):
        tables = {
            period: bb.distance_table(bb.load_embedding(FOLDER / f"{period}.npz"), "weat6", max_lost=1)
            for period in ("1970", "1990")
        }
    contrasts = {}
    for period, table in tables.items():
        means = table.groupby(["protected_group", "connection"], observed=True)["cosine_distance"].mean().unstack()
        contrasts[period] = (means["associated"] - means["different"]).mean()
    observed = planted.contrasts.query(f"contrast == 'associated - different' and {ALL_WORDS}")
    by_period = observed.set_index("condition")["observed"]
    assert {name: by_period[name] for name in contrasts} == pytest.approx(contrasts)


def test_scopes_and_draws() -> None:
    population, these = moved_tables(), moved_tables(scope="these_words")
    assert population.draws["population"].dims == ("chain", "draw", "contrast", "condition")
    np.testing.assert_array_equal(population.draws["these_words"], these.draws["these_words"])
    overall = these.changes.query(ALL_WORDS)
    np.testing.assert_array_equal(overall["mean"], overall["observed"])
    moved = these.draws["these_words"].diff("condition").median(("chain", "draw"))
    steps = overall[(overall["first"] == "1900") & (overall["second"] == "1910")].set_index("contrast")["mean"]
    np.testing.assert_allclose(
        moved[:, 0].to_numpy(), steps.loc[moved["contrast"].values], atol=0.2 * overall["sd"].max()
    )
    assert (population.changes.query(ALL_WORDS)["sd"] >= overall["sd"]).all()


def test_same_seed_same_numbers() -> None:
    pd.testing.assert_frame_equal(moved_tables().changes, moved_tables().changes)


def test_two_embeddings_have_a_change_and_no_line() -> None:
    tables = made_tables(periods=2, change=0.05)
    moved = bb.trend(
        {"original": tables["1910"], "debiased": tables["1900"]}, draws=100, random_seed=1, rope=0.01, progress=False
    )
    assert moved.lines.empty
    row = moved.changes.iloc[0]
    assert (row["first"], row["second"]) == ("original", "debiased")
    assert 0 <= row["probability_in_rope"] < 0.5
    assert row["mean"] == pytest.approx(0.05, abs=0.03)


def test_equal_tables_are_equal() -> None:
    table = made_tables()["1900"]
    moved = bb.trend({"one": table, "two": table}, draws=100, random_seed=1, scope="these_words", progress=False)
    assert set(moved.changes["reading"]) == {"no change"}
    assert moved.changes["mean"].abs().max() < 1e-12


def test_one_table_in_five_periods_does_not_move() -> None:
    table = made_tables(attributes=78)["1900"]
    moved = bb.trend({str(year): table for year in range(5)}, draws=100, random_seed=1, progress=False)
    assert moved.changes["observed"].abs().max() < 1e-12
    assert moved.changes["mean"].abs().max() < 1e-6
    assert not moved.lines["settled"].any()
    assert moved.neighbours.empty


@pytest.mark.parametrize("walk", [False, True])
def test_covariates_have_slopes(walk: bool) -> None:
    tables = made_tables(periods=6)
    share = dict(zip(tables, (0.1, 0.5, 0.2, 0.6, 0.1, 0.5), strict=True))
    shifted = {
        period: table.assign(
            cosine_distance=table["cosine_distance"] - 0.3 * share[period] * (table["connection"] == "associated")
        )
        for period, table in tables.items()
    }
    moved = bb.trend(shifted, covariates={"share": share}, walk=walk, draws=200, random_seed=1, progress=False)
    slope = moved.lines.set_index("parameter").loc["share"]
    assert slope["hdi_low"] <= -0.3 <= slope["hdi_high"]
    assert slope["settled"]
    assert ("line, first to last period" in set(moved.lines["parameter"])) is not walk
    assert "share" in moved.facts["covariates"]


def test_unusable_settings_are_refused() -> None:
    shares = {"one": {1900: 1, 1910: 2, 1920: 4}}
    with pytest.raises(ReportError, match="too few"):
        moved_tables(covariates=shares)
    straight = {"one": dict(zip(("1900", "1910", "1920", "1930"), range(4), strict=True))}
    with pytest.raises(ReportError, match="line in time"):
        bb.trend(made_tables(periods=4), covariates=straight, progress=False)
    with pytest.raises(ArgumentError, match="scope"):
        moved_tables(scope="words")
    with pytest.raises(ReportError, match="'assoc'"):
        moved_tables(baseline="assoc")


def test_words_that_one_period_has_have_no_change() -> None:
    tables = made_tables(words=4)
    for period in ("1910", "1920"):
        tables[period] = tables[period].query("protected_word != 'w0'")
    moved = bb.trend(tables, draws=100, random_seed=1, progress=False)
    assert "w0" not in set(moved.changes["protected_word"])
    assert moved.lacking.query("word == 'w0'")["lacks"].tolist() == ["1910, 1920"]


def test_methods_name_the_numbers(planted: Changes) -> None:
    text = planted.parts[-1].statements[0].text
    assert all(part in text for part in ("16 protected words", "5 periods", "seed 1", "89%", "a line"))


def test_without_words_that_have_both_kinds_there_is_no_contrast() -> None:
    tables = {
        name: table[table["attribute_group"] == "list0"].reset_index(drop=True) for name, table in made_tables().items()
    }
    with pytest.raises(ReportError, match="associated"):
        bb.trend(tables, draws=100, random_seed=1, progress=False)


def test_the_mean_of_a_line_through_three_periods_is_inside_its_interval() -> None:
    """With one degree of freedom, the error of periods has no mean."""
    for seed in range(6):
        lines = bb.trend(made_tables(seed=seed), draws=100, random_seed=seed, progress=False).lines
        assert ((lines["hdi_low"] <= lines["mean"]) & (lines["mean"] <= lines["hdi_high"])).all()


@pytest.mark.parametrize("third", ["none", "both"])
def test_a_group_without_a_side_is_in_no_contrast_and_is_named(third: str) -> None:
    def moved(name: str) -> dict[str, pd.DataFrame]:
        table = third_group.table(name)
        rng = np.random.default_rng(1)
        noise = pd.Series({word: rng.normal(0, 0.02) for word in sorted(third_group.study().words)})
        later = table.drop(columns="cosine_similarity")
        later["cosine_distance"] += later["attribute_word"].astype(str).map(noise).astype(float)
        return {"1900": table, "1990": later}

    without, beside = (bb.trend(moved(name), draws=100, random_seed=1, progress=False) for name in ("", third))
    keys = ["contrast", "first", "second", "protected_group", "protected_word"]
    changes, other = (found.changes.set_index(keys).sort_index() for found in (without, beside))
    assert other.index.equals(changes.index)
    np.testing.assert_allclose(other["observed"], changes["observed"])
    np.testing.assert_allclose(other["sd"], changes["sd"], rtol=0.3)
    assert beside.facts["groups_not_compared"] == third_group.LACKING[third]
    assert third_group.LACKING[third]["people"] in str(beside)


def test_words_that_depend_on_each_other_widen_all_levels() -> None:
    """Real vectors: attribute words and protected words are forms of few words."""
    rng = np.random.default_rng(1)
    made = tables_of(forms(6, 4, rng), forms(4, 4, rng), rng, periods=3)
    settings = {"random_seed": 1, "progress": False, "draws": 500}
    dependent, independent = (
        bb.trend(tables, **settings).changes
        for tables in (made, {year: without_links(table) for year, table in made.items()})
    )
    np.testing.assert_allclose(dependent["mean"], independent["mean"], atol=0.005)
    widths = (dependent["hdi_high"] - dependent["hdi_low"]) / (independent["hdi_high"] - independent["hdi_low"])
    assert (widths > 1.15).mean() > 0.9
    assert widths.mean() > 1.2


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
def moved() -> bb.changes.Changes:
    return bb.trend(tables(), word_covariates={"share": SHARES}, **QUICK)


def test_observed_slopes_are_plain_least_squares(moved: bb.changes.Changes) -> None:
    first, second = (plain_slope(table, SHARES) for table in tables().values())
    assert moved.slopes["observed"].tolist() == pytest.approx([first, second, second - first])
    assert moved.slopes["period"].tolist() == ["1990", "2000", "1990 to 2000"]
    assert moved.slopes["quantity"].tolist() == ["slope", "slope", "change"]
    np.testing.assert_allclose(moved.slopes["mean"], moved.slopes["observed"], rtol=0.02)
    without_zero = (moved.slopes["hdi_high"] < 0) | (moved.slopes["hdi_low"] > 0)
    assert moved.slopes["settled"].tolist() == without_zero.tolist()
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


def test_a_period_has_the_slope_and_the_verdict_of_covariate_effect() -> None:
    """Also where an end of the interval is near 0: the share is mixed with noise until the slope is borderline."""
    rng, verdicts = np.random.default_rng(1), set()
    noise = dict(zip(SHARES, rng.standard_normal(len(SHARES)), strict=True))
    for weight in (0.0, 0.25, 0.28, 0.3, 0.33, 1.0):
        mixed = {word: share + weight * noise[word] for word, share in SHARES.items()}
        in_trend = bb.trend(tables(), word_covariates={"share": mixed}, **QUICK).slopes
        for table, row in zip(tables().values(), in_trend.to_dict("records"), strict=False):
            fit = bb.fit(table, covariates={"share": mixed}, random_seed=1, progress=False)
            effect = bb.covariate_effect(fit)
            alone = effect.effects.iloc[0]
            names = ["observed", "mean", "sd", "hdi_low", "hdi_high", "low_se", "high_se", "borderline"]
            assert [row[name] for name in names] == alone[names].tolist()
            assert row["settled"] == str(effect).startswith("With a larger 'share'")
            verdicts.add("borderline" if row["borderline"] else row["settled"])
    assert verdicts >= {True, False}


def test_words_without_a_number_are_left_out_of_all_periods(tmp_path: Path) -> None:
    rows = "".join(f"{word};{100 * share:g}%\n" for word, share in SHARES.items() if word != "<b>w3")
    (tmp_path / "shares.csv").write_text(f"Job;Share\n{rows}")
    given = {"word_covariates": tmp_path / "shares.csv", "word_column": "Job", **QUICK}
    with pytest.raises(
        ArgumentError,
        match=r"no number for 1 of 9 .*: <b>w3\. Add them, or .* \(drop_unrated=True\)",
    ):
        bb.trend(tables(), **given)
    with pytest.warns(LostWordsWarning, match="Left out 1 protected word of 9 without a number: <b>w3"):
        moved = bb.trend(tables(), drop_unrated=True, **given)
    assert moved.facts["protected_words"] == 8
    assert moved.facts["percent_covariates"] == ["Share"]
    assert moved.slopes["unit"].unique().tolist() == ["one percentage point"]
    assert "without a number in the covariates were left out of all periods: <b>w3." in " ".join(str(moved).split())
    assert moved.lacking[["word", "conditions", "reason"]].to_numpy().tolist() == [["<b>w3", 0, NO_NUMBER]]


def test_a_word_counts_in_the_periods_that_have_a_number_for_it() -> None:
    rows = [(word, year, share) for year in (1990, 2000) for word, share in SHARES.items()]
    frame = pd.DataFrame(rows, columns=["word", "period", "share"])
    frame.loc[(frame["word"] == "<b>w3") & (frame["period"] == 2000), "share"] = np.nan
    with pytest.raises(ArgumentError, match=r"(?s)of 2000 has .* no number for 1 of 9 .*: <b>w3\. Add them"):
        bb.trend(tables(), word_covariates=frame, **QUICK)
    with pytest.warns(LostWordsWarning, match=r"of 9 without a number: <b>w3 \(in 2000\)\.$"):
        moved = bb.trend(tables(), word_covariates=frame, drop_unrated=True, **QUICK)
    whole = bb.trend(tables(), word_covariates={"share": SHARES}, **QUICK)
    assert moved.facts["protected_words"] == 9
    assert moved.slopes["mean"].iloc[0] == whole.slopes["mean"].iloc[0] != moved.slopes["mean"].iloc[1]
    assert moved.lacking[["word", "lacks", "reason"]].to_numpy().tolist() == [["<b>w3", "2000", NO_NUMBER]]
    assert "<b>w3 (without a number in 2000)" in " ".join(str(moved).split())


def test_a_change_is_paired() -> None:
    """The very same distances have no change, however uncertain each slope is."""
    first = tables()[1990]
    same = bb.trend({1: first, 2: first.copy()}, word_covariates={"share": SHARES}, **QUICK)
    change = same.slopes.iloc[-1]
    assert change["sd"] < 1e-5 < 1e-3 < same.slopes["sd"].iloc[0]


def test_numbers_may_differ_by_period_and_units_scale_slopes(moved: bb.changes.Changes, tmp_path: Path) -> None:
    rows = [(word, year, 100 * share) for year in (1990, 2000) for word, share in SHARES.items()]
    rows += [("other", 1990, 1.0), ("other", 1990, 2.0)]  # which no table has
    frame = pd.DataFrame(rows, columns=["word", "period", "percent"])
    scaled = bb.trend(tables(), word_covariates=frame, **QUICK)
    np.testing.assert_allclose(100 * scaled.slopes["mean"], moved.slopes["mean"], rtol=0.01)
    frame.to_csv(tmp_path / "shares.csv", index=False)
    of_file = bb.trend(tables(), word_covariates=tmp_path / "shares.csv", **QUICK)
    pd.testing.assert_frame_equal(of_file.slopes, scaled.slopes)
    later = frame.assign(percent=np.where(frame["period"] == 2000, 2, 1) * frame["percent"])
    doubled = bb.trend(tables(), word_covariates=later, **QUICK).slopes
    assert doubled["mean"].iloc[1] == pytest.approx(scaled.slopes["mean"].iloc[1] / 2, rel=0.01)


def test_the_column_of_periods_may_have_another_name(moved: bb.changes.Changes, tmp_path: Path) -> None:
    rows = [(word, year, share) for year in (1990, 2000) for word, share in SHARES.items()]
    frame = pd.DataFrame(rows, columns=["word", "Jahr", "share"])
    frame.to_csv(tmp_path / "shares.csv", index=False)
    for given in (frame, tmp_path / "shares.csv"):
        with pytest.raises(ArgumentError, match=r"(?s)more than once: .* periods: period_column='Jahr'"):
            bb.trend(tables(), word_covariates=given, **QUICK)
    named = bb.trend(tables(), word_covariates=tmp_path / "shares.csv", period_column="Jahr", **QUICK)
    pd.testing.assert_frame_equal(named.slopes, moved.slopes)
    pd.DataFrame({"Jahr": [1990, 2000], "x": [0.1, 0.4]}).to_csv(tmp_path / "years.csv", index=False)
    with pytest.raises(InputFileError, match="If the periods are in 'Jahr', give period_column='Jahr'"):
        covariates_by_period(tmp_path / "years.csv", ("1990", "2000"))
    by_period = covariates_by_period(tmp_path / "years.csv", ("1990", "2000"), "Jahr")
    assert by_period["x"].tolist() == [0.1, 0.4]
    with pytest.raises(InputFileError, match="has no column 'Jaar' \\(did you mean 'Jahr'"):
        covariates_by_period(tmp_path / "years.csv", ("1990", "2000"), "Jaar")


def test_a_period_that_lost_too_many_words_is_refused_as_in_a_table() -> None:
    period = bb.load_embedding(FOLDER / "1960.npz")
    rows = [row for row, word in enumerate(period.words) if word not in ("Amy", "Joan", "Lisa", "Sarah")]
    few = bb.Embedding([period.words[row] for row in rows], period.vectors[rows], name="1960")
    with pytest.raises(LostWordsError) as of_table:
        bb.distance_table(few, "weat6")
    with pytest.raises(LostWordsError) as of_trend:
        bb.trend({"1960": few, "1990": FOLDER / "1990.npz"}, "weat6", **QUICK)
    assert str(of_trend.value) == str(of_table.value)
    assert "max_lost=" in str(of_trend.value)


def test_numbers_of_words_stand_beside_slopes_and_their_change() -> None:
    whole = tables()
    lacking = {1990: whole[1990], 2000: whole[2000][whole[2000]["protected_word"] != "<b>w8"]}
    result = bb.trend(lacking, word_covariates={"share": SHARES}, **QUICK)
    assert result.slopes["words"].tolist() == [9, 8, 8]
    contents = result.contents
    assert "From 9 and 8 words, 8 in both" in contents.estimate
    assert "words" in contents.tables["slopes_by_period"].columns
    text = " ".join(str(result).split())
    assert (
        "The change uses the 8 words that both periods have, and each slope all words of its period (9 and 8)" in text
    )
    effect = bb.covariate_effect(bb.fit(whole[1990], covariates={"share": SHARES}, random_seed=1, progress=False))
    assert set(effect.effects["words"]) == {9}
    assert "from 9 words" in effect.contents.estimate


def test_a_change_is_that_of_words_which_both_periods_have() -> None:
    whole = tables(halved=False)
    lacking = {1990: whole[1990], 2000: whole[2000][whole[2000]["protected_word"] != "<b>w8"]}
    slopes = bb.trend(lacking, word_covariates={"share": SHARES}, **QUICK).slopes
    assert slopes["observed"].iloc[0] != pytest.approx(slopes["observed"].iloc[1])
    assert slopes["observed"].iloc[2] == pytest.approx(0, abs=1e-12)


def test_these_words_have_the_error_of_attribute_words_alone(moved: bb.changes.Changes) -> None:
    these = bb.trend(tables(), word_covariates={"share": SHARES}, scope="these_words", **QUICK).slopes
    assert (these["sd"] < moved.slopes["sd"]).all()


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ({"share": dict.fromkeys(WORDS, 1.0)}, "word_covariates of 1990 .*\n.*'share' has one value"),
        (
            {"share": {word: share for word, share in SHARES.items() if word != "<b>w3"}},
            "no number for 1 of 9 .*: <b>w3",
        ),
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
