"""Comparisons of embeddings: the change of each pair, its posterior, and the conclusions."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, ModelError
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.embeddings.comparison import EmbeddingComparison, _joint_samples, compare_embeddings
from tests import third_group
from tests.cells import pets
from tests.reports.embedding_tables import MEANS, QUICK, WORDS, before_table, changed_table, compared


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    return compared()


def by_connection(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index("connection")


def test_group_changes_are_those_of_the_t_interval_in_the_balanced_case() -> None:
    """With many words and as many rows each, the mean of the word means has a t distribution (one-way ANOVA)."""
    table = before_table(tuple(f"w{number}" for number in range(20)))
    after = changed_table(table)
    change = by_connection(
        compare_embeddings(
            {"old": table, "new": after}, "hierarchical", draws=2000, chains=2, random_seed=1
        ).differences
    )
    difference = (after["cosine_distance"] - table["cosine_distance"]).groupby(
        [table["connection"], table["protected_word"]]
    )
    for connection in MEANS:
        word_means = difference.mean()[connection].to_numpy()
        error = word_means.std(ddof=1) / np.sqrt(20)
        row = change.loc[connection]
        assert row["mean"] == pytest.approx(word_means.mean(), abs=0.08 * error)
        assert row["sd"] == pytest.approx(error * stats.t(19).std(), rel=0.06)
        low, high = stats.t(19, word_means.mean(), error).interval(0.89)
        assert row["hdi_low"] == pytest.approx(low, abs=0.2 * error)
        assert row["hdi_high"] == pytest.approx(high, abs=0.2 * error)


def test_plain_numbers_beside_the_estimates(comparison: EmbeddingComparison) -> None:
    table = before_table()
    after = changed_table(table)
    difference = after["cosine_distance"] - table["cosine_distance"]
    change = by_connection(comparison.differences)
    for connection in MEANS:
        rows = table["connection"] == connection
        row = change.loc[connection]
        assert row["pairs"] == rows.sum() == 64
        assert row["average_baseline"] == pytest.approx(table.loc[rows, "cosine_distance"].mean())
        assert row["average_other"] == pytest.approx(after.loc[rows, "cosine_distance"].mean())
        assert row["spread"] == pytest.approx(difference[rows].std())
        assert row["mean"] == pytest.approx(row["average_other"] - row["average_baseline"], abs=0.005)
    words = comparison.differences_by_word
    assert (words["pairs"] == 8).all()
    assert len(words) == 32
    assert (words["mean"] - (words["average_other"] - words["average_baseline"])).abs().max() < 0.02
    assert words["protected_group"].unique().tolist() == ["group 0", "group 1"]


def test_directions_and_gaps_follow_the_truth(comparison: EmbeddingComparison) -> None:
    change = by_connection(comparison.differences)
    assert (change.loc[["associated", "different"], "direction"] == "farther").all()
    assert (change.loc[["associated", "different"], "hdi_low"] > 0).all()
    gaps = comparison.gaps[comparison.gaps["protected_word"] == ""].set_index("contrast")
    assert gaps.loc["associated - different", "mean"] == pytest.approx(0.07, abs=0.025)
    assert gaps.loc["associated - neutral", "mean"] == pytest.approx(0.10, abs=0.025)
    # The gap of the means of each table moves as much as the model of the changes says.
    assert np.allclose(gaps["other_gap"] - gaps["baseline_gap"], gaps["mean"], atol=0.01)
    assert len(comparison.gaps) == 3 * 9


def test_attribute_effects_of_the_change_are_modelled() -> None:
    """Where attribute words have changes of their own, a model without them is too sure."""
    table = before_table(tuple(f"w{number}" for number in range(12)))
    tables = {"old": table, "new": changed_table(table, attribute_sd=0.08)}
    plain = by_connection(compare_embeddings(tables, "hierarchical", **QUICK).differences)
    crossed = by_connection(compare_embeddings(tables, "crossed", **QUICK).differences)
    assert (crossed["sd"] > 1.8 * plain["sd"]).all()
    truth = pd.Series(MEANS)
    assert ((crossed["mean"] - truth[crossed.index]).abs() < 3 * crossed["sd"]).all()


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "words"), [(5, 5), pytest.param(60, 8, marks=pytest.mark.truth)])
def test_coverage_of_known_changes(tables: int, words: int) -> None:
    """Of tables with 4 connections, 89 % intervals hold the true mean change about as often (binomial, 0.999)."""
    hits: list[bool] = []
    for seed in range(tables):
        table = before_table(WORDS[:words], seed=seed)
        after = changed_table(table, attribute_sd=0.04, seed=1000 + seed)
        differences = compare_embeddings({"old": table, "new": after}, "crossed", **QUICK).differences
        truth = differences["connection"].map(MEANS)
        hits += list((differences["hdi_low"] <= truth) & (truth <= differences["hdi_high"]))
    low, high = stats.binom(len(hits), 0.89).interval(0.999)
    assert low <= sum(hits) <= high


def test_the_change_is_a_fit_of_the_differences_by_the_sampler_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def recorded(rows: pd.DataFrame, spec: ModelSpec, **settings: Any) -> xr.DataTree:
        calls.append((settings["sampler"], str(spec.priors["connection_mean"])))
        return bb.fit(rows, spec, **{**settings, "sampler": "auto"})

    monkeypatch.setattr("bayesbias.reports.embeddings.comparison.fit", recorded)
    table = before_table(WORDS[:5], 6)
    after = changed_table(table, attribute_sd=0.05)
    tables = {"old": table, "new": after}
    comparison = compare_embeddings(tables, "crossed", sampler="nutpie", draws=1000, chains=2, random_seed=1)
    assert calls == [*[("nutpie", "Normal(mu=1, sigma=0.3)")] * 2, ("nutpie", "Normal(mu=0, sigma=0.3)")]
    differences = table.assign(cosine_distance=after["cosine_distance"] - table["cosine_distance"])
    differences.attrs = {"bayesbias": {"simulated": True}}  # so that they may be negative
    fitted = bb.fit(differences, "crossed", priors={"connection_mean": "Normal(0, 0.3)"}, draws=1000, random_seed=2)
    expected = bb.summary(fitted)
    for ours, name in ((comparison.differences, "connection_mean"), (comparison.differences_by_word, "word_mean")):
        keys = ["connection"] if name == "connection_mean" else ["protected_word", "connection"]
        merged = ours.merge(expected[expected["parameter"] == name], on=keys, suffixes=("", "_other"))
        assert len(merged) == len(ours)
        error = np.hypot(
            merged["sd"] / np.sqrt(merged["ess_bulk"]), merged["sd_other"] / np.sqrt(merged["ess_bulk_other"])
        )
        assert ((merged["mean"] - merged["mean_other"]).abs() / error).max() < 4.5
        assert (merged["sd"] / merged["sd_other"]).between(0.8, 1.25).all()


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")  # the comparison uses the ESS that it got
def test_the_same_posterior_from_nuts() -> None:
    table = before_table()
    tables = {"old": table, "new": changed_table(table, attribute_sd=0.05)}
    collapsed = compare_embeddings(tables, "crossed", draws=2000, chains=2, random_seed=1)
    nuts = compare_embeddings(tables, "crossed", sampler="nutpie", draws=2000, chains=2, random_seed=2)
    for one, other in (
        (collapsed.differences, nuts.differences),
        (collapsed.differences_by_word, nuts.differences_by_word),
    ):
        error = np.hypot(one["sd"] / np.sqrt(one["ess_bulk"]), other["sd"] / np.sqrt(other["ess_bulk"]))
        assert ((one["mean"] - other["mean"]).abs() / error).max() < 4.5
        # The relative error of an sd of Normal draws, whose tails make it up to twice as large here.
        of_sd = np.sqrt(0.5 / one["ess_tail"].clip(1) + 0.5 / other["ess_tail"].clip(1))
        assert (np.log(one["sd"] / other["sd"]).abs() / of_sd).max() < 6


def test_the_prior_of_the_change_is_centred_at_zero_and_can_be_changed(comparison: EmbeddingComparison) -> None:
    model = bb.models.fit_attribute(comparison.difference_fits["new"], "model")
    assert model["priors"]["connection_mean"] == "Normal(mu=0, sigma=0.3)" == comparison.facts["difference_prior"]
    source = "differences of cosine distances, 'new' minus 'old'"
    assert bb.models.fit_attribute(comparison.difference_fits["new"], "table") == {
        "quantity": "change of cosine distance",
        "source": source,
    }
    assert (
        bb.models.fit_attribute(comparison.fits["new"], "model")["priors"]["connection_mean"]
        == "Normal(mu=1, sigma=0.3)"
    )
    tight = compared(difference_prior="Normal(0, 0.001)")
    assert tight.differences["mean"].abs().max() < 0.01
    with pytest.raises(ModelError, match="about zero"):
        compared(difference_prior="about zero")


def test_the_same_seed_gives_the_same_numbers(comparison: EmbeddingComparison) -> None:
    again = compared()
    pd.testing.assert_frame_equal(again.differences, comparison.differences)
    pd.testing.assert_frame_equal(again.gaps, comparison.gaps)
    assert again.conclusions.to_dict() == comparison.conclusions.to_dict()
    assert not compared(random_seed=2).differences["mean"].equals(comparison.differences["mean"])


def test_swapping_the_tables_turns_the_sign(comparison: EmbeddingComparison) -> None:
    table = before_table()
    back = compare_embeddings({"new": changed_table(table), "old": table}, "hierarchical", **QUICK)
    assert np.allclose(back.differences["mean"], -comparison.differences["mean"], atol=0.003)


def test_side_by_side_is_the_summary_of_each_fit(comparison: EmbeddingComparison) -> None:
    for name in ("old", "new"):
        expected = bb.summary(comparison.fits[name], level="overall").query("parameter == 'connection_mean'")
        side = comparison.side_by_side
        overall = side[(side["embedding"] == name) & (side["protected_word"] == "")]
        assert overall["mean"].tolist() == expected["mean"].tolist()
    with pytest.raises(FrozenInstanceError):
        comparison.baseline = "x"  # type: ignore[misc]


def test_a_rope(comparison: EmbeddingComparison) -> None:
    assert "probability_in_rope" not in comparison.differences
    wide = compared(rope=0.06)
    change = by_connection(wide.differences)["probability_in_rope"]
    assert change["neutral"] > 0.99
    assert change["associated"] < 0.01
    limits = [{limit.kind for limit in report.conclusions.limits} for report in (comparison, wide)]
    assert limits[0] - limits[1] == {"size"}


def test_three_embeddings() -> None:
    table = before_table()
    tables = {
        "a": table,
        "b": changed_table(table),
        "c": changed_table(table, means=dict.fromkeys(MEANS, -0.1), seed=2),
    }
    comparison = compare_embeddings(tables, "hierarchical", **QUICK)
    assert (comparison.baseline, comparison.names) == ("a", ("b", "c"))
    assert comparison.differences["embedding"].tolist() == ["b"] * 4 + ["c"] * 4
    assert (comparison.differences.loc[comparison.differences["embedding"] == "c", "direction"] == "nearer").all()
    assert comparison.side_by_side["embedding"].unique().tolist() == ["a", "b", "c"]
    assert set(comparison.difference_fits) == {"b", "c"}
    assert list(comparison.conclusions.embeddings) == ["b", "c"]


def test_printed_it_is_its_conclusions(comparison: EmbeddingComparison) -> None:
    assert str(comparison) == str(comparison.conclusions)
    assert comparison._repr_html_() == comparison.conclusions._repr_html_()
    assert repr(comparison) == "EmbeddingComparison('old' with 'new', 256 word pairs)"


def test_identical_tables_give_a_plain_answer() -> None:
    table = before_table()
    same = compare_embeddings({"old": table, "new": table.copy()}, "hierarchical", **QUICK)
    conclusions = same.conclusions.embeddings["new"]
    assert conclusions.verdict.kind == "equal"
    assert conclusions.doubts == conclusions.shown == same.conclusions.reading == same.conclusions.limits == ()
    assert same.difference_fits == {}
    for frame in (same.differences, same.differences_by_word, same.gaps):
        assert (frame["direction"] == "equal").all()
        assert (frame[["mean", "hdi_low", "hdi_high"]] == 0).all().all()
    assert (same.gaps["reading"] == "equal").all()


def test_one_connection_that_did_not_change() -> None:
    """Its changes have no spread that a model could learn; the others are estimated as ever."""
    table = before_table()
    after = changed_table(table)
    still = table["connection"] == "neutral"
    after.loc[still, "cosine_distance"] = table.loc[still, "cosine_distance"] + 1e-9
    comparison = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    change = by_connection(comparison.differences)
    assert change.loc["neutral", ["direction", "mean"]].tolist() == ["equal", 0.0]
    assert change.loc["associated", "direction"] == "farther"
    gaps = comparison.gaps[comparison.gaps["protected_word"] == ""].set_index("contrast")
    moved = change.loc["associated"]
    assert gaps.loc["associated - neutral", "mean"] == pytest.approx(moved["mean"], abs=0.1 * moved["sd"])
    (neutral,) = [s for s in comparison.conclusions.embeddings["new"].shown if s.numbers.get("connection") == "neutral"]
    assert "64 pairs" in neutral.text
    assert neutral.numbers["direction"] == "equal"


def test_bad_settings() -> None:
    with pytest.raises(ArgumentError, match="hdi_prob"):
        compared(hdi_prob=89)
    with pytest.raises(ArgumentError, match="rope"):
        compared(rope=-1)
    with pytest.raises(ArgumentError, match="random_seed"):
        compared(random_seed=True)
    with pytest.raises(ModelError, match="'hierarchicl'"):
        compared("hierarchicl")


def test_a_table_without_associated_words() -> None:
    table = before_table()
    table = table[table["connection"].isin(["human", "neutral"])].reset_index(drop=True)
    comparison = compare_embeddings({"old": table, "new": changed_table(table)}, "hierarchical", **QUICK)
    assert len(comparison.gaps) == 0
    assert comparison.differences["connection"].tolist() == ["human", "neutral"]
    conclusions = comparison.conclusions.embeddings["new"]
    assert conclusions.doubts == ()
    assert [statement.kind for statement in (conclusions.verdict, *conclusions.shown)] == [
        "difference",
        "difference",
        "controls",
        "words",
        "words",
    ]
    assert comparison.conclusions.reading == ()


def test_no_column_of_words_is_gone_through_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million rows each time took seconds."""
    longest, iterate = 0, pd.Series.__iter__

    def counted(series: "pd.Series[Any]") -> Any:
        nonlocal longest
        if series.dtype.kind not in "iufb":
            longest = max(longest, len(series))
        return iterate(series)

    table = before_table()
    changed = changed_table(table)[:-5]
    monkeypatch.setattr(pd.Series, "__iter__", counted)
    assert len(list(table["protected_word"])) == longest == len(table)
    longest = 0
    with pytest.warns(LostWordsWarning):
        compare_embeddings({"old": table, "new": changed}, "hierarchical", **QUICK)
    assert longest < len(table) / 2


def test_gaps_come_from_whole_vectors_where_these_are_whole() -> None:
    """Without one pair, or with lists of one word, the gaps are those of the model of differences."""
    tables = {
        name: bb.distance_table(pets.embedding(seed), pets.study())
        for name, seed in (("old", 1), ("new", 2), ("newer", 3))
    }
    settings: dict[str, Any] = {"draws": 200, "chains": 2, "random_seed": 1, "progress": False}
    joint = compare_embeddings(tables, **settings)
    assert joint.facts["difference_model"] == joint.facts["difference_prior"] == ""
    assert joint.difference_fits == {}
    assert "paired changes as in `trend`" in " ".join(str(joint).split())
    plain = joint.differences["average_other"] - joint.differences["average_baseline"]
    assert (joint.differences["mean"] - plain).abs().max() < 5 * joint.differences["sd"].max() / np.sqrt(400)
    words = joint.differences_by_word
    assert (words["mean"] - words["average_other"] + words["average_baseline"]).abs().max() < 3 * words["sd"].max()
    with pytest.raises(ArgumentError, match="'multivariate' has no prior of differences"):
        compare_embeddings(tables, difference_prior="Normal(0, 1)", **settings)
    for name, rows in joint.gaps.groupby("embedding"):
        moved = bb.trend({"old": tables["old"], name: tables[str(name)]}, draws=400, random_seed=1, progress=False)
        change, expected = rows[rows["protected_word"] == ""].iloc[0], moved.changes.iloc[0]
        assert change["mean"] == pytest.approx(expected["mean"], abs=5 * expected["sd"] / np.sqrt(400))
    lost = tables["old"][["protected_word", "attribute_word"]].iloc[0]
    holed = {
        name: tables[name][(tables[name][["protected_word", "attribute_word"]] != lost).any(axis=1)]
        for name in ("old", "new")
    }
    paired = compare_embeddings(holed, **{**settings, "draws": 1000})
    assert paired.facts["difference_model"] == "crossed_per_list"
    assert len(paired.gaps)
    assert "paired changes" not in str(paired)
    by_list = ["protected_word", "attribute_group"]
    one_word = {name: table.groupby(by_list, observed=True).head(1) for name, table in tables.items()}
    assert _joint_samples(one_word) == {}


def test_tables_without_words_on_both_sides_are_compared_by_distances_alone() -> None:
    study = bb.Study(
        name="one list",
        protected={"cats": pets.WORDS[:3], "dogs": pets.WORDS[3:6]},
        attributes={"quiet": pets.WORDS[6:9]},
        associated=[("cats", "quiet")],
        human="none",
        neutral="none",
    )
    tables = {name: bb.distance_table(pets.embedding(seed), study) for name, seed in (("old", 1), ("new", 2))}
    compared = compare_embeddings(tables, draws=200, chains=2, random_seed=1, progress=False)
    assert compared.gaps.empty
    assert len(compared.differences) == 2


@pytest.mark.parametrize("third", ["none", "both"])
@pytest.mark.parametrize("model", ["multivariate", "crossed"])
def test_a_group_without_a_side_is_in_no_difference_and_is_named(model: str, third: str) -> None:
    def compared(name: str) -> EmbeddingComparison:
        table = third_group.table(name)
        rng = np.random.default_rng(1)
        words = [*dict.fromkeys(third_group.table("")["attribute_word"].astype(str))]
        noise = pd.Series({word: rng.normal(0, 0.02) for word in words})
        other = table.drop(columns="cosine_similarity")
        other["cosine_distance"] += other["attribute_word"].astype(str).map(noise).astype(float)
        other["cosine_distance"] += 0.01 * np.sin(np.arange(len(other)) % 7)
        return bb.compare_embeddings({"one": table, "other": other}, model, draws=200, random_seed=1, progress=False)

    beside = compared(third)
    assert "people" not in set(beside.differences_by_word["protected_group"])
    assert set(beside.gaps["protected_word"]) - {""} <= set(third_group.table("")["protected_word"].astype(str))
    assert any(
        statement.kind == "group without contrast" and "people" in statement.text
        for statement in beside.conclusions.limits
    )
    plain = beside.differences.set_index("connection")["average_baseline"]
    rows = third_group.table("").astype({"connection": str, "protected_group": str})
    of_two = rows.groupby(["connection", "protected_group"])["cosine_distance"].mean().groupby(level=0).mean()
    np.testing.assert_allclose(plain[of_two.index], of_two)
