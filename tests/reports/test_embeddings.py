"""Comparing embeddings: the change of each pair, its posterior, and what is said of it."""

import re
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import DuplicatesWarning, LostWordsWarning, ModelError, ReportError, TableError
from bayesbias.reports.embeddings import EmbeddingComparison, compare_embeddings

MEANS = {"associated": 0.10, "different": 0.03, "human": 0.0, "neutral": 0.0}
WORDS = tuple(f"w{number}" for number in range(12))
QUICK: dict[str, Any] = {"draws": 500, "chains": 2, "random_seed": 1}


def before_table(words: tuple[str, ...] = WORDS, attributes: int = 8, *, seed: int = 0) -> pd.DataFrame:
    """Rows of every word with every attribute, whose effects are large beside any change."""
    rng = np.random.default_rng(seed)
    effects = {name: rng.normal(0, 0.1, attributes) for name in MEANS}
    return pd.DataFrame(
        {
            "protected_word": word,
            "protected_group": f"group {place % 2}",
            "attribute_word": f"{connection}{number}",
            "attribute_group": connection,
            "connection": connection,
            "cosine_distance": 0.8 + effects[connection][number] + rng.normal(0, 0.05),
        }
        for place, word in enumerate(words)
        for connection in MEANS
        for number in range(attributes)
    )


def changed_table(
    table: pd.DataFrame,
    *,
    means: dict[str, float] = MEANS,
    word_sd: float = 0.02,
    attribute_sd: float = 0.0,
    sigma: float = 0.03,
    seed: int = 1,
) -> pd.DataFrame:
    """The same rows, each changed by a mean of its connection, an effect of each of its words, and noise."""
    rng = np.random.default_rng(seed)
    cells = {key: rng.normal(0, word_sd) for key in zip(table["protected_word"], table["connection"], strict=True)}
    effects = {word: rng.normal(0, attribute_sd) for word in table["attribute_word"].unique()}
    change = [
        means[connection] + cells[word, connection] + effects[attribute] + rng.normal(0, sigma)
        for word, connection, attribute in zip(
            table["protected_word"], table["connection"], table["attribute_word"], strict=True
        )
    ]
    return table.assign(cosine_distance=table["cosine_distance"] + change)


def compared(model: str = "hierarchical", **settings: Any) -> EmbeddingComparison:
    table = before_table()
    return compare_embeddings({"old": table, "new": changed_table(table)}, model, **{**QUICK, **settings})


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    return compared()


def by_connection(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index("connection")


def test_group_changes_are_those_of_the_t_interval_in_the_balanced_case() -> None:
    """With many words and as many rows each, the mean of the word means has a t distribution (one-way ANOVA)."""
    table = before_table(tuple(f"w{number}" for number in range(40)))
    after = changed_table(table)
    change = by_connection(
        compare_embeddings({"old": table, "new": after}, "hierarchical", draws=2000, chains=2, random_seed=1).change
    )
    difference = (after["cosine_distance"] - table["cosine_distance"]).groupby(
        [table["connection"], table["protected_word"]]
    )
    for connection in MEANS:
        word_means = difference.mean()[connection].to_numpy()
        error = word_means.std(ddof=1) / np.sqrt(40)
        found = change.loc[connection]
        assert found["mean"] == pytest.approx(word_means.mean(), abs=0.05 * error)
        assert found["sd"] == pytest.approx(error * stats.t(39).std(), rel=0.06)
        low, high = stats.t(39, word_means.mean(), error).interval(0.89)
        assert found["hdi_low"] == pytest.approx(low, abs=0.2 * error)
        assert found["hdi_high"] == pytest.approx(high, abs=0.2 * error)


def test_plain_numbers_beside_the_estimates(comparison: EmbeddingComparison) -> None:
    table = before_table()
    after = changed_table(table)
    difference = after["cosine_distance"] - table["cosine_distance"]
    change = by_connection(comparison.change)
    for connection in MEANS:
        rows = table["connection"] == connection
        found = change.loc[connection]
        assert found["pairs"] == rows.sum() == 96
        assert found["average_before"] == pytest.approx(table.loc[rows, "cosine_distance"].mean())
        assert found["average_after"] == pytest.approx(after.loc[rows, "cosine_distance"].mean())
        assert found["spread"] == pytest.approx(difference[rows].std())
        assert found["mean"] == pytest.approx(found["average_after"] - found["average_before"], abs=0.005)
    words = comparison.change_by_word
    assert (words["pairs"] == 8).all()
    assert len(words) == 48
    assert (words["mean"] - (words["average_after"] - words["average_before"])).abs().max() < 0.02
    assert words["protected_group"].unique().tolist() == ["group 0", "group 1"]


def test_directions_and_gaps_follow_the_truth(comparison: EmbeddingComparison) -> None:
    change = by_connection(comparison.change)
    assert (change.loc[["associated", "different"], "direction"] == "farther").all()
    assert (change.loc[["associated", "different"], "hdi_low"] > 0).all()
    gaps = comparison.contrasts[comparison.contrasts["protected_word"] == ""].set_index("contrast")
    assert gaps.loc["associated - different", "mean"] == pytest.approx(0.07, abs=0.025)
    assert gaps.loc["associated - neutral", "mean"] == pytest.approx(0.10, abs=0.025)
    # The gap of the means of each table moves as much as the model of the changes says.
    assert np.allclose(gaps["after"] - gaps["before"], gaps["mean"], atol=0.01)
    assert len(comparison.contrasts) == 3 * 13


def test_attribute_effects_of_the_change_are_modelled() -> None:
    """Where attribute words have changes of their own, a model without them is too sure."""
    table = before_table()
    tables = {"old": table, "new": changed_table(table, attribute_sd=0.08)}
    plain = by_connection(compare_embeddings(tables, "hierarchical", **QUICK).change)
    crossed = by_connection(compare_embeddings(tables, "crossed", **QUICK).change)
    assert (crossed["sd"] > 1.8 * plain["sd"]).all()
    truth = pd.Series(MEANS)
    assert ((crossed["mean"] - truth[crossed.index]).abs() < 3 * crossed["sd"]).all()


@pytest.mark.slow
def test_coverage_of_known_changes() -> None:
    """Of 20 tables with 4 connections, 89 % intervals hold the true mean change about as often (binomial, 0.999)."""
    hits: list[bool] = []
    for seed in range(20):
        table = before_table(WORDS[:8], seed=seed)
        after = changed_table(table, attribute_sd=0.04, seed=1000 + seed)
        found = compare_embeddings({"old": table, "new": after}, "crossed", **QUICK).change
        truth = found["connection"].map(MEANS)
        hits += list((found["hdi_low"] <= truth) & (truth <= found["hdi_high"]))
    low, high = stats.binom(len(hits), 0.89).interval(0.999)
    assert low <= sum(hits) <= high


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")  # the comparison uses the ESS that it got
def test_the_same_posterior_from_nuts() -> None:
    table = before_table()
    tables = {"old": table, "new": changed_table(table, attribute_sd=0.05)}
    collapsed = compare_embeddings(tables, "crossed", draws=2000, chains=2, random_seed=1)
    nuts = compare_embeddings(tables, "crossed", sampler="nutpie", draws=2000, chains=2, random_seed=2)
    for one, other in ((collapsed.change, nuts.change), (collapsed.change_by_word, nuts.change_by_word)):
        error = np.hypot(one["sd"] / np.sqrt(one["ess_bulk"]), other["sd"] / np.sqrt(other["ess_bulk"]))
        assert ((one["mean"] - other["mean"]).abs() / error).max() < 4.5
        assert ((one["sd"] / other["sd"]).between(0.85, 1.18)).all()


def test_the_prior_of_the_change_is_centred_at_zero_and_can_be_changed(comparison: EmbeddingComparison) -> None:
    model = bb.fit_fact(comparison.change_fits["new"], "model")
    assert model["priors"]["group_mean"] == "Normal(mu=0, sigma=0.3)" == comparison.facts["change_prior"]
    source = "changes of cosine distances from 'old' to 'new'"
    assert bb.fit_fact(comparison.change_fits["new"], "table") == {"source": source}
    assert bb.fit_fact(comparison.fits["new"], "model")["priors"]["group_mean"] == "Normal(mu=1, sigma=0.3)"
    tight = compared(change_prior="Normal(0, 0.001)")
    assert tight.change["mean"].abs().max() < 0.01
    with pytest.raises(ModelError, match="is not a prior"):
        compared(change_prior="about zero")


def test_the_same_seed_gives_the_same_numbers(comparison: EmbeddingComparison) -> None:
    again = compared()
    pd.testing.assert_frame_equal(again.change, comparison.change)
    pd.testing.assert_frame_equal(again.contrasts, comparison.contrasts)
    assert again.conclusions == comparison.conclusions
    assert not compared(random_seed=2).change["mean"].equals(comparison.change["mean"])


def test_swapping_the_tables_turns_the_sign(comparison: EmbeddingComparison) -> None:
    table = before_table()
    back = compare_embeddings({"new": changed_table(table), "old": table}, "hierarchical", **QUICK)
    assert np.allclose(back.change["mean"], -comparison.change["mean"], atol=0.003)


def test_side_by_side_is_the_summary_of_each_fit(comparison: EmbeddingComparison) -> None:
    for name in ("old", "new"):
        expected = bb.summary(comparison.fits[name], level="group").query("parameter == 'group_mean'")
        side = comparison.side_by_side
        found = side[(side["embedding"] == name) & (side["protected_word"] == "")]
        assert found["mean"].tolist() == expected["mean"].tolist()
    with pytest.raises(FrozenInstanceError):
        comparison.baseline = "x"  # type: ignore[misc]


def test_a_rope(comparison: EmbeddingComparison) -> None:
    assert "probability_in_rope" not in comparison.change
    wide = compared(rope=0.06)
    change = by_connection(wide.change)["probability_in_rope"]
    assert change["neutral"] > 0.99
    assert change["associated"] < 0.01
    assert "too small to matter (in the rope)" in " ".join(wide.conclusions.split())


def test_three_embeddings() -> None:
    table = before_table()
    tables = {
        "a": table,
        "b": changed_table(table),
        "c": changed_table(table, means=dict.fromkeys(MEANS, -0.1), seed=2),
    }
    found = compare_embeddings(tables, "hierarchical", **QUICK)
    assert (found.baseline, found.names) == ("a", ("b", "c"))
    assert found.change["embedding"].tolist() == ["b"] * 4 + ["c"] * 4
    assert (found.change.loc[found.change["embedding"] == "c", "direction"] == "nearer").all()
    assert found.side_by_side["embedding"].unique().tolist() == ["a", "b", "c"]
    assert set(found.change_fits) == {"b", "c"}
    assert found.conclusions.count("FROM 'a' TO") == 2


def test_conclusions_say_only_what_the_frames_say(comparison: EmbeddingComparison) -> None:
    text = " ".join(comparison.conclusions.split())
    assert "Associated attribute words are farther than before on average" in text
    assert "Before" in text
    shown = {float(number) for number in re.findall(r"[+-]\d\.\d{3}", text)}
    numbers = pd.concat([comparison.change, comparison.contrasts]).select_dtypes("number").to_numpy().ravel()
    assert shown
    assert shown <= {round(float(number), 3) for number in numbers if np.isfinite(number)}
    assert max(map(len, comparison.conclusions.splitlines())) <= 100


def test_neutral_words_that_moved_are_said() -> None:
    table = before_table()
    after = changed_table(table, means={**MEANS, "neutral": 0.2})
    text = " ".join(compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK).conclusions.split())
    assert re.search(r"Beware: .*neutral words \(\+0\.\d+\) moved on average too", text)


def test_fits_that_did_not_converge_are_said(comparison: EmbeddingComparison, monkeypatch: pytest.MonkeyPatch) -> None:
    assert comparison.facts["convergence_problems"] == []
    monkeypatch.setattr("bayesbias.reports.embeddings.fit_fact", lambda fitted, name: ["R-hat is high."])
    found = compared()
    assert found.facts["convergence_problems"] == [
        "The fit of 'old': R-hat is high.",
        "The fit of 'new': R-hat is high.",
        "The fit of the changes to 'new': R-hat is high.",
    ]
    assert found.conclusions.startswith("DO NOT REPORT THESE NUMBERS YET")


def test_words_that_were_equalized_are_said() -> None:
    """Two words with the very same distances after, as hard debiasing makes them."""
    table = before_table()
    after = changed_table(table)
    first = after["protected_word"] == "w0"
    after.loc[after["protected_word"] == "w1", "cosine_distance"] = after.loc[first, "cosine_distance"].to_numpy()
    found = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    assert found.facts["equalized"] == {"new": ("w0", "w1")}
    assert "2 protected words (w0, w1) are exactly as near" in " ".join(found.conclusions.split())
    same = compare_embeddings({"old": after, "new": changed_table(after)}, "hierarchical", **QUICK)
    assert same.facts["equalized"] == {"new": ()}


def test_identical_tables_give_a_plain_answer() -> None:
    table = before_table()
    found = compare_embeddings({"old": table, "new": table.copy()}, "hierarchical", **QUICK)
    assert "Nothing changed" in found.conclusions
    assert found.change_fits == {}
    for frame in (found.change, found.change_by_word, found.contrasts):
        assert (frame["direction"] == "unchanged").all()
        assert (frame[["mean", "hdi_low", "hdi_high"]] == 0).all().all()
    assert (found.contrasts["gap"] == "unchanged").all()


def test_one_connection_that_did_not_change() -> None:
    """Its changes have no spread that a model could learn; the others are told as ever."""
    table = before_table()
    after = changed_table(table)
    still = table["connection"] == "neutral"
    after.loc[still, "cosine_distance"] = table.loc[still, "cosine_distance"] + 1e-9
    found = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    change = by_connection(found.change)
    assert change.loc["neutral", ["direction", "mean"]].tolist() == ["unchanged", 0.0]
    assert change.loc["associated", "direction"] == "farther"
    gaps = found.contrasts[found.contrasts["protected_word"] == ""].set_index("contrast")
    assert gaps.loc["associated - neutral", "mean"] == pytest.approx(change.loc["associated", "mean"], abs=1e-12)
    assert "Neutral words: no distance changed (96 pairs)" in " ".join(found.conclusions.split())


def test_tables_that_share_no_pairs() -> None:
    table = before_table()
    other = table.assign(protected_word=table["protected_word"].str.upper())
    with pytest.raises(TableError, match="share no pair of words: 'old' begins with 'w0' and 'associated0'"):
        compare_embeddings({"old": table, "new": other}, **QUICK)


def test_tables_that_differ_in_part_go_on_with_the_common_pairs() -> None:
    table = before_table()
    after = changed_table(table)[(table["protected_word"] != "w0")]
    after = after.drop(index=after.index[[-1]])
    message = r"about the 351 that all have; left out are 33 of 'old' \(among them all with 'w0'\)"
    with pytest.warns(LostWordsWarning, match=message):
        found = compare_embeddings({"old": table, "new": after.sample(frac=1, random_state=1)}, "hierarchical", **QUICK)
    assert found.facts["left_out"] == {"old": 33, "new": 0}
    assert "w0" not in set(found.side_by_side["protected_word"])
    assert found.change["pairs"].tolist() == [88, 88, 88, 87]
    assert "Pairs left out" in found.conclusions
    # In another order of rows, each pair still meets itself.
    assert np.allclose(found.change["mean"], found.change["average_after"] - found.change["average_before"], atol=0.005)


def test_duplicates_are_dropped_with_a_warning() -> None:
    table = before_table()
    after = changed_table(table)
    with pytest.warns(DuplicatesWarning, match="Dropped 10 of 394 rows"):
        found = compare_embeddings({"old": pd.concat([table, table.head(10)]), "new": after}, "hierarchical", **QUICK)
    assert found.facts["pairs"] == 384


def test_a_pair_with_two_connections() -> None:
    table = before_table()
    after = changed_table(table)
    after.loc[3, "connection"] = "different"
    with pytest.raises(
        TableError, match=r"1 pairs have different .* 'w0' and 'associated3' \(associated and different"
    ):
        compare_embeddings({"old": table, "new": after}, **QUICK)


def test_changes_that_are_all_the_same() -> None:
    table = before_table()
    after = table.assign(cosine_distance=table["cosine_distance"] + 0.1)
    with pytest.raises(ReportError, match=r"All 96 distances of the connection 'associated' change by 0\.1 in 'new'"):
        compare_embeddings({"old": table, "new": after}, **QUICK)


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ({}, ReportError, "at least two tables"),
        ({"old": before_table()}, ReportError, "at least two tables"),
        ([before_table(), before_table()], ReportError, "at least two tables by name"),
        ({"old": before_table(), " ": before_table()}, ReportError, "not a name"),
        ({"old": before_table(), "new": [1, 2]}, TableError, "'new' is not a pandas DataFrame"),
        ({"old": before_table(), "new": before_table().drop(columns="connection")}, TableError, "Table 'new': .*"),
    ],
)
def test_bad_tables(tables: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare_embeddings(tables, **QUICK)


def test_bad_settings() -> None:
    with pytest.raises(ReportError, match="hdi_prob"):
        compared(hdi_prob=89)
    with pytest.raises(ReportError, match="rope"):
        compared(rope=-1)
    with pytest.raises(ModelError, match="no model"):
        compared("hierarchicl")


def test_a_table_without_associated_words() -> None:
    table = before_table()
    table = table[table["connection"].isin(["human", "neutral"])].reset_index(drop=True)
    found = compare_embeddings({"old": table, "new": changed_table(table)}, "hierarchical", **QUICK)
    assert len(found.contrasts) == 0
    assert found.change["connection"].tolist() == ["human", "neutral"]
    assert "GAPS" not in found.conclusions


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.DuplicatesWarning", "ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("study", ["gender", "race", "religion"])
def test_published_pairs(study: str, shared: Path) -> None:
    """The authors' debiasing of Reddit vectors: hard, with equalized words."""
    folder = shared / "data" / "published" / "tables"
    before, after = (bb.read_table(folder / f"{study}_reddit_{kind}_pair.csv.gz") for kind in ("original", "debiased"))
    found = compare_embeddings({"original": before, "debiased": after}, random_seed=1)
    change = by_connection(found.change)
    # Plain averages of the pairs, and what the model makes of them.
    for connection, row in change.iterrows():
        rows = [table.loc[table["connection"] == connection, "cosine_distance"].mean() for table in (before, after)]
        assert row["average_before"] == pytest.approx(rows[0])
        assert row["average_after"] == pytest.approx(rows[1])
        assert row["mean"] == pytest.approx(rows[1] - rows[0], abs=0.2 * row["sd"])
    assert change.loc["associated", "hdi_low"] > 0
    assert set(found.facts["equalized"]["debiased"]) == set(before["protected_word"])
    gaps = found.contrasts[found.contrasts["protected_word"] == ""].set_index("contrast")
    assert gaps.loc["associated - different", "gap"] == {"gender": "not settled"}.get(study, "shifted")
    assert gaps.loc["associated - neutral", "hdi_low"] > 0
