"""Effects of covariates against plain least squares and an independent two-way bootstrap."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.base.statements import rows_of
from bayesbias.errors import ArgumentError, LostWordsWarning, NotEnoughMemoryError, ReportError
from bayesbias.models.covariates import read_covariates, without_unrated
from bayesbias.reports.covariates.slopes import (
    design_of,
    slopes_of_population,
)
from tests.models.dependent_words import SAMPLE, forms, tables_of, without_links
from tests.reports.covariates.made import SLOPE, made_fit, made_table


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    return made_fit()


@pytest.fixture(scope="module")
def effect(fitted: xr.DataTree) -> bb.reports.CovariateEffect:
    return bb.covariate_effect(fitted)


def row(effect: bb.reports.CovariateEffect, quantity: str, scope: str) -> dict[str, Any]:
    (estimate,) = (row for row in rows_of(effect.effects) if (row["quantity"], row["scope"]) == (quantity, scope))
    return estimate


def plain_leans(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    means = table.groupby(["protected_word", "attribute_group"])["cosine_distance"].mean().unstack()
    share = table.groupby("protected_word")["share"].first()
    return (means["near"] - means["far"]).to_numpy(), share.loc[means.index].to_numpy()


def test_observed_values_and_plain_interval_are_those_of_scipy(effect: bb.reports.CovariateEffect) -> None:
    leans, share = plain_leans(made_table())
    line = stats.linregress(share, leans)
    slope = row(effect, "slope", "population")
    assert slope["observed"] == pytest.approx(line.slope)
    reach = stats.t.ppf(0.945, len(leans) - 2) * line.stderr
    assert (slope["least_squares_low"], slope["least_squares_high"]) == pytest.approx(
        (line.slope - reach, line.slope + reach)
    )
    assert row(effect, "correlation", "these_words")["observed"] == pytest.approx(line.rvalue)
    residual = leans - line.intercept - line.slope * share
    assert row(effect, "residual sd", "population")["observed"] == pytest.approx(np.sqrt(residual @ residual / 7))


def test_the_slope_is_not_shrunk(effect: bb.reports.CovariateEffect) -> None:
    slope = row(effect, "slope", "these_words")
    assert abs(slope["mean"] - slope["observed"]) < 4 * slope["sd"] / np.sqrt(1000)


def test_the_error_of_these_words_is_that_of_attribute_words(effect: bb.reports.CovariateEffect) -> None:
    """The standard error of the difference of two lists' slopes; the posterior is Student's t, which is wider."""
    table = made_table()
    wide = table.pivot(index="protected_word", columns=["attribute_group", "attribute_word"], values="cosine_distance")
    share = table.groupby("protected_word")["share"].first().loc[wide.index]
    slopes = {
        name: [stats.linregress(share, wide[name, word]).slope for word in wide[name]] for name in ("near", "far")
    }
    error = np.sqrt(sum(np.var(values, ddof=1) / len(values) for values in slopes.values()))
    assert 0.9 < row(effect, "slope", "these_words")["sd"] / error < 2.0


def test_the_population_is_as_wide_as_a_two_way_bootstrap() -> None:
    """Words alone and attribute words alone are drawn with replacement, less the pairs that both count (Owen 2007)."""
    table = made_table(words=40, attributes=25, noise=0.03)
    fit = bb.fit(table, covariates="share", draws=250, random_seed=1, progress=False)
    slope = row(bb.covariate_effect(fit), "slope", "population")
    wide = table.pivot(index="protected_word", columns=["attribute_group", "attribute_word"], values="cosine_distance")
    share = table.groupby("protected_word")["share"].first().loc[wide.index].to_numpy()
    near, far, rng = wide["near"].to_numpy(), wide["far"].to_numpy(), np.random.default_rng(2)

    def drawn_slope(words: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
        leans = near[np.ix_(words, first)].mean(axis=1) - far[np.ix_(words, second)].mean(axis=1)
        return float(stats.linregress(share[words], leans).slope)

    everyone, lists = np.arange(40), np.arange(25)
    by_words = [drawn_slope(rng.integers(0, 40, 40), lists, lists) for _ in range(600)]
    by_lists = [drawn_slope(everyone, rng.integers(0, 25, 25), rng.integers(0, 25, 25)) for _ in range(600)]
    deviations = share - share.mean()
    pairs = 0.0
    for distances in (near, far):
        errors = distances - distances.mean(axis=1, keepdims=True)
        errors = errors - errors.mean(axis=0)
        pairs += np.square(errors * deviations[:, None]).sum() / (25 * deviations @ deviations) ** 2
    assert slope["sd"] == pytest.approx(np.sqrt(np.var(by_words) + np.var(by_lists) - pairs), rel=0.15)
    assert slope["hdi_low"] < SLOPE < slope["hdi_high"]


def test_lists_in_the_other_order_have_the_other_sign(fitted: xr.DataTree, effect: bb.reports.CovariateEffect) -> None:
    other = bb.covariate_effect(fitted, ("far", "near"))
    assert (effect.contrast, other.contrast) == ("near - far", "far - near")
    assert row(other, "slope", "these_words")["mean"] == pytest.approx(-row(effect, "slope", "these_words")["mean"])
    assert "lie nearer to near words" in str(effect)
    assert "lie nearer to near words" in str(other)


def test_the_same_seed_gives_the_same_numbers(fitted: xr.DataTree, effect: bb.reports.CovariateEffect) -> None:
    pd.testing.assert_frame_equal(bb.covariate_effect(fitted).effects, effect.effects)


def test_names_with_underscores_are_spaces_in_sentences() -> None:
    table = made_table().rename(columns={"share": "share_of_men"})
    fit = bb.fit(table, covariates="share_of_men", draws=250, random_seed=1, progress=False)
    effect = bb.covariate_effect(fit)
    assert "'share of men'" in str(effect)
    assert "share_of_men" not in f"{effect}{effect.contents.title}{effect.contents.about}{effect.contents.estimate}"
    assert set(effect.effects["covariate"]) == {"share_of_men", ""}


def test_several_covariates_within_groups() -> None:
    rng = np.random.default_rng(5)
    table = made_table(words=12)
    words = table["protected_word"].unique()
    table["protected_group"] = np.where(table["protected_word"].isin(words[:6]), "one", "two")
    frame = pd.DataFrame({"word": words, "share": np.linspace(0, 1, 12) ** 2, "noise": rng.standard_normal(12)})
    fit = bb.fit(table, covariates=frame, draws=250, random_seed=1, progress=False)
    effect = bb.covariate_effect(fit, within_groups=True)
    leans, _ = plain_leans(table)
    order = [list(words).index(word) for word in sorted(words)]
    design = np.column_stack([np.arange(12) < 6, np.arange(12) >= 6, frame[["share", "noise"]]])[order].astype(float)
    written = np.linalg.lstsq(design, leans, rcond=None)[0][2:]
    slopes = effect.effects[(effect.effects["quantity"] == "slope") & (effect.effects["scope"] == "these_words")]
    np.testing.assert_allclose(slopes["observed"], written)
    assert (np.abs(slopes["mean"] - slopes["observed"]) < 4 * slopes["sd"] / np.sqrt(1000)).all()
    # No covariate is privileged, and sentences say what each slope holds fixed.
    assert effect.contents.title.endswith("follow 'share' and 'noise'?")
    assert [figure.options["covariate"] for figure in effect.contents.figures.values()] == ["share", "noise"]
    text = " ".join(str(effect).split())
    assert "For one unit of 'share', with 'noise' held fixed and within groups, the lean changes by" in text
    assert effect.contents.estimate.count("held fixed") == 2
    for name, (_, line) in zip(("share", "noise"), effect.line.groupby("covariate", sort=False), strict=True):
        (axes,) = bb.plots.plot_covariate(effect, name).axes
        assert axes.get_xlabel() == name
        drawn = next(drawn for drawn in axes.get_lines() if len(drawn.get_xdata()) == len(line))
        np.testing.assert_array_equal(drawn.get_xdata(), line["covariate_value"])


def test_mistakes_are_named(fitted: xr.DataTree) -> None:
    with pytest.raises(ReportError, match="did you mean 'near'"):
        bb.covariate_effect(fitted, ("nar", "far"))
    with pytest.raises(ReportError, match="twice"):
        bb.covariate_effect(fitted, ("near", "near"))
    with pytest.raises(ReportError, match="two attribute lists"):
        bb.covariate_effect(fitted, ("near",))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="hdi_prob"):
        bb.covariate_effect(fitted, hdi_prob=2)
    bare = bb.fit(made_table(), draws=100, chains=1, random_seed=1, progress=False)
    with pytest.raises(ReportError, match="covariates=frame"):
        bb.covariate_effect(bare)


def test_the_only_word_with_a_covariate_is_taken_to_vary_as_the_others_do() -> None:
    """It has no residual of its own. Leans without a relation, from a truth that is no model's."""
    inside, rng = [], np.random.default_rng(1)
    for _ in range(60):
        leans = rng.standard_normal(12) * 0.05
        design = design_of(np.eye(12)[:, :1], np.zeros(12, dtype=int))
        draws = np.tile(leans, (1000, 1))
        slopes = slopes_of_population(
            draws @ design.coefficients.T, draws @ design.residuals.T, design, np.random.default_rng(1)
        )
        low, high = np.quantile(slopes[:, 0], [0.055, 0.945])
        inside.append(low < 0 < high)
    assert 0.79 < np.mean(inside) < 0.98
    one = {f"<b>w{n}": float(n == 4) for n in range(9)}
    fit = bb.fit(made_table(), covariates={"one": one}, random_seed=1, progress=False)
    effect = bb.covariate_effect(fit)
    slope = row(effect, "slope", "population")
    assert slope["hdi_high"] - slope["hdi_low"] > 0.9 * (slope["least_squares_high"] - slope["least_squares_low"])
    (doubt,) = (doubt for doubt in effect.doubts if doubt.kind == "leverage")
    assert doubt.numbers["words"] == ["<b>w4"]


def test_sides_are_those_of_the_lists_whatever_their_names() -> None:
    table = made_table().replace({"near": "ne - ar"})
    effect = bb.covariate_effect(bb.fit(table, covariates="share", draws=250, random_seed=1, progress=False))
    assert effect.sides == ("ne - ar", "far")
    assert "nearer to ne - ar words, relative to far words" in str(effect).replace("\n", " ").replace("  ", " ")


def test_an_sd_is_never_borderline_and_a_paper_has_five_columns(
    effect: bb.reports.CovariateEffect, tmp_path: Path
) -> None:
    is_sd = effect.effects["quantity"] == "residual sd"
    assert effect.effects.loc[is_sd, "borderline"].isna().all()
    assert effect.effects.loc[~is_sd, "borderline"].notna().all()
    written = bb.write(effect, tmp_path / "effect.tex").read_text(encoding="utf-8")
    assert "Quantity & Scope & Estimate & Interval & P(this sign)" in written
    assert written.count("\\begin{tabular}") + written.count("\\begin{longtable}") == 2  # effects and words
    with pytest.raises(ReportError, match=r"write the result itself, such as bb\.write"):
        bb.write(effect.effects, tmp_path / "effects.tex")


def test_tables_of_a_fit_with_covariates_say_where_its_slopes_are(fitted: xr.DataTree) -> None:
    (doubt,) = (doubt for doubt in bb.reports.paper_table(fitted).doubts if doubt.kind == "covariates")
    assert "('share')" in doubt.text
    methods = bb.methods(bb.models.fits.without_covariances(fitted))
    assert "The lean of a word is its mean distance to near words minus its mean distance to far words" in methods
    assert "Different words are those that the hypothesis does not associate with" in methods
    assert "No covariance" not in methods


def test_a_borderline_slope_says_so(effect: bb.reports.CovariateEffect) -> None:
    frame = effect.effects.assign(borderline=True)
    assert str(replace(effect, effects=frame)).startswith("It is borderline whether")


def test_three_words_are_too_few() -> None:
    """One degree of freedom is left, and Student's t with one has no mean."""
    with pytest.raises(ReportError, match="3 protected words"):
        bb.covariate_effect(made_fit(words=3))


def test_words_that_are_forms_of_each_other_widen_slopes_of_words_like_these() -> None:
    """Real vectors: forms of a word have the same value of the covariate, as jobs and their plurals have."""
    rng = np.random.default_rng(3)
    (table,) = tables_of(SAMPLE[:40], forms(8, 4, rng, 0.4)).values()
    values = pd.DataFrame({"word": table["protected_word"].unique(), "share": np.repeat(rng.standard_normal(8), 4)})
    variances, residual_sds = [], []
    for made_of in (table, without_links(table)):
        fit = bb.fit(made_of, covariates=values, draws=1000, random_seed=1, progress=False)
        rows = bb.covariate_effect(fit).effects.set_index(["quantity", "scope"])["sd"]
        # Both scopes have the error of the attribute words; the choice of the protected words is what the first adds.
        variances.append(rows["slope", "population"] ** 2 - rows["slope", "these_words"] ** 2)
        residual_sds.append(rows["residual sd", "population"])
    assert variances[0] > 2 * variances[1]  # 16 words are worth 4.9
    assert residual_sds[0] > 1.05 * residual_sds[1]


def test_few_evenly_spaced_values_are_not_told_to_be_ranks() -> None:
    even = {f"<b>w{n}": float(n) for n in range(5)}
    few = bb.fit(made_table(words=5), covariates={"x": even}, random_seed=1, progress=False)
    (text,) = (doubt.text for doubt in bb.covariate_effect(few).doubts if doubt.kind == "leverage")
    assert "take more words" in text
    assert "ranks" not in text


def test_an_outlying_word_is_named() -> None:
    table = made_table()
    table["share"] = np.where(table["protected_word"] == "<b>w3", 50.0, table["share"])
    fit = bb.fit(table, covariates="share", draws=100, random_seed=1, progress=False)
    doubts = bb.covariate_effect(fit).doubts
    assert "leverage" in [doubt.kind for doubt in doubts]


def test_a_word_that_turns_the_slope_is_named_as_text() -> None:
    table = made_table(noise=0.0)
    first = table["protected_word"] == "<b>w8"
    near = table["attribute_group"] == "near"
    turned = table["cosine_distance"] + np.where(first & near, 0.6, 0.0)
    fit = bb.fit(table.assign(cosine_distance=turned), covariates="share", draws=250, random_seed=1, progress=False)
    statements = {doubt.kind: doubt for doubt in bb.covariate_effect(fit).doubts}
    assert statements["influence"].numbers["word"] == "<b>w8"
    assert "Without '<b>w8'," in statements["influence"].text


def test_a_word_that_turns_the_slope_need_not_be_the_most_influential() -> None:
    """One word pulls the slope up further than the other pulls it down; only without the first, its sign is another."""
    design = design_of(np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 6.0, -6.0])[:, None], np.zeros(7, dtype=int))
    leans = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.75])
    slope = float((design.coefficients @ leans)[0])
    shifts = (design.coefficients * (design.residuals @ leans) / design.unexplained)[0]
    turning = int(np.argmax(shifts * np.sign(slope)))
    others = np.delete(np.arange(7), turning)
    without = np.polyfit(np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 6.0, -6.0])[others], leans[others], 1)[0]
    assert without == pytest.approx(slope - shifts[turning])
    assert np.sign(without) != np.sign(slope)


def test_of_two_influential_words_the_one_that_turns_the_slope_is_named() -> None:
    """Without w2 the slope moves further, away from 0; without w4 it turns."""
    rng = np.random.default_rng(9)
    words = [f"w{place}" for place in range(10)]
    covariate, axis = rng.normal(size=10), np.eye(30)[0]
    pairs = zip(words, covariate, strict=True)
    vectors = {word: rng.normal(size=30) * 0.3 + 0.05 * value * axis for word, value in pairs}
    lists = {name: [f"{name}{place}" for place in range(6)] for name in "ab"}
    for name, side in (("a", axis), ("b", -axis)):
        for word in lists[name]:
            vectors[word] = rng.normal(size=30) * 0.2 + side
    table = bb.distance_table(vectors, {"p": words, **lists})
    values = {"x": dict(zip(words, covariate, strict=True))}
    fit = bb.fit(table, covariates=values, random_seed=1, progress=False, draws=500)
    (doubt,) = (doubt for doubt in bb.covariate_effect(fit).doubts if doubt.kind == "influence")
    assert doubt.numbers["word"] == "w4"


def test_the_page_says_the_unit_the_lists_and_the_words_that_were_left_out(tmp_path: Path) -> None:
    table = made_table().drop(columns="share")
    words = table["protected_word"].unique()
    rows = "".join(f"{word};{10 * place**2 / 9:.2f}%\n".replace(".", ",") for place, word in enumerate(words[:-1]))
    (tmp_path / "own.csv").write_text(f"word;share\n{rows}")
    numbers = read_covariates(tmp_path / "own.csv")
    with pytest.warns(LostWordsWarning, match="Left out 1 protected word of 9"):
        rated = without_unrated({"": table}, {"": numbers.set_index("word")})[""]
    fit = bb.fit(rated, covariates=numbers, draws=250, random_seed=1, progress=False)
    effect = bb.covariate_effect(fit)
    text = " ".join(str(effect).split())
    assert "For one percentage point of 'share', the lean changes by -0.00" in text
    assert "for exactly these 8. Over the whole range, from 0% to 54.4%, that is -0." in text
    assert "'share' is written in percent, so a slope is for one percentage point" in text
    assert "Lean: mean distance to near words minus mean distance to far words." in text
    assert effect.contents.estimate.startswith("Slope for one percentage point of 'share': -0.00")
    assert "'share' runs from 0% to 54.4%" in effect.contents.about
    (lost,) = (doubt for doubt in effect.contents.doubts if doubt.kind == "lost words")
    assert lost.text.startswith("1 protected word without a number was left out: <b>w8.")
    assert effect.effects["unit"].tolist()[:2] == ["one percentage point"] * 2
    shares = dict(zip(numbers["word"], numbers["share"] / 100, strict=True))
    whole = bb.covariate_effect(bb.fit(rated, covariates={"share": shares}, draws=250, random_seed=1, progress=False))
    whole_text = " ".join(str(whole).split())
    assert "'share' is a difference of 1 in its numbers, which run from 0 to 0.544. If they are shares" in whole_text
    (axes,) = bb.plots.plot_covariate(effect).axes
    assert axes.get_xlabel() == "share (%)"
    assert axes.get_ylabel().startswith("Lean: ")
    written = bb.write_fit(fit, tmp_path / "fit.nc")
    assert bb.covariate_effect(bb.read_fit(written)).percent == ("share",)


def test_the_folder_keeps_all_draws_but_the_covariances(effect: bb.reports.CovariateEffect, tmp_path: Path) -> None:
    bb.write(effect, tmp_path / "out")
    stored = bb.read_fit(tmp_path / "out" / "fit.nc")
    assert set(effect.fit.children) - set(stored.children) == {"covariances"}
    pd.testing.assert_frame_equal(bb.covariate_effect(stored).effects, effect.effects)
    for report in (bb.summary, bb.contrasts, bb.conclusions, bb.methods):
        report(stored)
    with pytest.raises(NotEnoughMemoryError, match="a covariate effect does not keep it"):
        bb.check_posterior(stored, random_seed=1, progress=False)
    bb.write_fit(effect.fit, tmp_path / "whole.nc")
    assert (tmp_path / "out" / "fit.nc").stat().st_size < (tmp_path / "whole.nc").stat().st_size / 2


def test_a_percentage_is_marked_in_its_heading_also_under_the_name_of_another_column(fitted: xr.DataTree) -> None:
    effect = bb.covariate_effect(fitted)
    columns = {"share": "mean (covariate)"}
    effects, line = (frame.replace({"covariate": {"share": "mean"}}) for frame in (effect.effects, effect.line))
    renamed = replace(effect, effects=effects, words=effect.words.rename(columns=columns), line=line, percent=("mean",))
    assert renamed.contents.tables["words"].headings["mean (covariate)"] == "mean (covariate) (%)"
