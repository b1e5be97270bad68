"""Doubts about the data and the draws of a fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.lost_words import WordList
from bayesbias.errors import LostWordsWarning
from bayesbias.models.data import model_data
from bayesbias.reports.posterior.doubts import data_doubts, data_facts, same_distances, sizes_text
from tests.models.tables import small
from tests.reports.made import made_fit


@pytest.fixture(scope="module")
def normal_fit() -> xr.DataTree:
    return made_fit()


def test_doubts_about_data_and_draws_come_first(normal_fit: xr.DataTree) -> None:
    fit = normal_fit.copy(deep=True)
    assert bb.conclusions(fit).doubts == data_doubts(fit)
    assert [doubt.kind for doubt in data_doubts(fit)] == ["one word a group"]
    fit["constant_data"]["attribute_index"][1] = fit["constant_data"]["attribute_index"][0]
    fit.attrs["table"] = '{"edited": true, "lost_words": [], "duplicates": {"same_vectors": 3}}'
    fit.attrs["convergence_problems"] = '["The chains disagree. Run longer."]'
    report = bb.conclusions(fit)
    kinds = ["convergence", "repeated pairs", "same vectors", "edited table", "one word a group"]
    assert [doubt.kind for doubt in report.doubts] == kinds
    assert [doubt.numbers.get("rows") for doubt in report.doubts] == [None, 1, 3, None, None]
    assert report.doubts[1:] == data_doubts(fit)
    assert report.doubts[0].text.endswith("the sampler did not converge. The chains disagree. Run longer.")
    assert str(report).startswith("DOUBTS\n\n- DO NOT REPORT THESE NUMBERS YET")
    assert [doubt.kind for doubt in data_doubts(made_fit(("he",), draws=20))] == ["one word"]


@pytest.mark.parametrize(("rows", "lists"), [(3, None), (2, ["x", "y"])])
def test_lists_of_two_words_are_short(rows: int, lists: list[str] | None) -> None:
    fit = bb.fit(small(4, rows), draws=50, chains=1, random_seed=1, progress=False)
    doubts = {doubt.kind: doubt.numbers for doubt in data_doubts(fit)}
    assert doubts.get("short list", {}).get("lists") == lists


def test_words_that_share_a_vector_are_tied() -> None:
    """p0 and p1 have the same distances: of 4 words, one direction is the same for every attribute word."""
    table = small(4, 6)
    first, second = (table["protected_word"] == name for name in ("p0", "p1"))
    table.loc[second, "cosine_distance"] = table.loc[first, "cosine_distance"].to_numpy()
    fit, before = (bb.fit(rows, draws=50, chains=1, random_seed=1, progress=False) for rows in (table, small(4, 6)))
    assert [doubt.numbers for doubt in data_doubts(fit) if doubt.kind == "tied words"] == [{"directions": 1}]
    assert data_doubts(before) == ()


def test_distances_below_the_error_that_the_model_assumes_are_narrow() -> None:
    table = small(4, 6)
    narrow = table.assign(cosine_distance=0.7 + 0.001 * table["cosine_distance"])
    kinds = [
        [doubt.kind for doubt in data_doubts(bb.fit(rows, model, draws=50, random_seed=1, progress=False))]
        for rows, model in ((narrow, "multivariate"), (narrow, "crossed_per_list"), (table, "multivariate"))
    ]
    assert kinds == [["narrow distances"], [], []]
    (doubt,) = data_doubts(bb.fit(narrow, draws=50, random_seed=1, progress=False))
    by_list = narrow.groupby(["protected_word", "attribute_group"], observed=True)["cosine_distance"]
    squares = ((narrow["cosine_distance"] - by_list.transform("mean")) ** 2).sum()
    assert doubt.numbers["sd"] == pytest.approx((squares / (len(narrow) - by_list.ngroups)) ** 0.5)


def copied(table: pd.DataFrame, column: str, word: str, name: str) -> pd.DataFrame:
    """Return the table with a word that repeats another one's distances up to rounding."""
    rows = table[table[column] == word].copy()
    rows[column] = name
    rows["cosine_distance"] += np.random.default_rng(1).uniform(-2e-7, 2e-7, len(rows))
    return pd.concat([table, rows], ignore_index=True)


def test_attribute_words_with_the_same_distances_are_named() -> None:
    table = copied(copied(small(4, 6), "attribute_word", "x1", "copy"), "attribute_word", "x1", "again")
    fit = bb.fit(table, draws=50, chains=1, random_seed=1, progress=False)
    (doubt,) = [doubt for doubt in data_doubts(fit) if doubt.kind == "same distances"]
    assert doubt.numbers == {"words": [["x1", "copy", "again"]], "side": "attribute"}
    assert "x1 = copy = again" in doubt.text


def test_protected_words_with_the_same_distances_are_named() -> None:
    ((doubt, _),) = same_distances(model_data(copied(small(4, 6), "protected_word", "p0", "copy")))
    assert doubt.numbers == {"words": [["p0", "copy"]], "side": "protected"}


@pytest.mark.parametrize("table", [small(4, 6), small(5, 6, missing=0.2), small(1, 6)])
def test_other_words_raise_no_doubt(table: pd.DataFrame) -> None:
    assert same_distances(model_data(table)) == []


def test_equal_words_of_other_lists_or_groups_and_single_distances_are_none() -> None:
    """After equalizing, he and she are as near to neutral words; of one distance, equality says nothing."""
    table = small(4, 6)
    other_list, other_group = table["attribute_word"] == "x1", table["protected_word"] == "p0"
    moved = table[other_list].assign(attribute_word="copy", attribute_group="y")
    moved["connection"] = moved["connection"].map({"associated": "different", "different": "associated"})
    turned = table[other_group].assign(protected_word="copy", protected_group="group z")
    one = small(1, 4)
    one.loc[one["attribute_word"].isin(["x0", "x1"]), "cosine_distance"] = 0.9
    for rows in (pd.concat([table, moved]), pd.concat([table, turned]), one):
        assert same_distances(model_data(rows.reset_index(drop=True))) == []


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.DuplicatesWarning", "ignore::bayesbias.errors.LostWordsWarning")
def test_repeats_narrow_the_intervals_of_their_words_and_not_all_others(shared: Path) -> None:
    """What the warning and the doubt say of repeated pairs: the race tables in Reddit, before and after debiasing."""
    narrower: dict[bool, list[bool]] = {True: [], False: []}  # by dropping; with repeats, and without
    for name in ("original", "debiased"):
        path = shared / f"data/published/tables/race_reddit_{name}_pair.csv.gz"
        cell = ["protected_word", "connection"]
        widths = {}
        for policy in ("keep", "drop"):
            fitted = bb.fit(bb.read_table(path, duplicates=policy), model="hierarchical", random_seed=1)
            rows = bb.summary(fitted).query("protected_word != ''").set_index(cell)
            widths[policy] = rows["hdi_high"] - rows["hdi_low"]
        kept = bb.read_table(path, duplicates="keep")
        repeated = kept.duplicated(["protected_word", "attribute_word"]).groupby(
            [kept[key].astype(str) for key in cell]
        )
        for key, share in repeated.mean().items():
            narrower[share > 0].append(widths["drop"][key] < widths["keep"][key])
    assert len(narrower[True]) == 48
    assert sum(narrower[True]) <= 2
    assert len(narrower[False]) == 32
    assert sum(narrower[False]) > 10


def one_flower() -> xr.DataTree:
    """WEAT 1 in vectors that have one flower, whose table was made with `max_lost`."""
    study = bb.load_study("weat1")
    rng = np.random.default_rng(1)
    lost = {*study.protected["flowers"][1:], *study.protected["insects"][22:]}
    vectors = {word: rng.normal(size=20) for word in study.words if word not in lost}
    with pytest.warns(LostWordsWarning, match="24 of the 25 of 'flowers'"):
        table = bb.distance_table(vectors, study, max_lost=1.0)
    return bb.fit(table, draws=100, random_seed=1, progress=False)


def test_a_group_that_lost_nearly_all_words_precedes_the_answer_and_sizes_stand_below_the_question() -> None:
    fit = one_flower()
    contents = bb.report(fit, quick=True).contents
    (alert,) = contents.alerts
    assert alert.kind == "many lost words"
    assert alert.numbers == {"lists": {"flowers": [24, 25]}}, "3 of 25 insects are no doubt"
    assert "use another embedding" in alert.text
    sizes = "1 of 25 words of flowers, 22 of 25 of insects, 25 of pleasant, 25 of unpleasant"
    assert f"{sizes}; 27 of 100 words lost" in contents.about
    (small,) = (doubt for doubt in contents.doubts if doubt.kind == "small group")
    assert small.numbers == {"groups": ["flowers"]}
    assert "24 of the 25 of 'flowers'" in bb.conclusions(fit).about.text
    assert alert in bb.conclusions(fit).doubts


def test_lost_words_stand_in_the_table_of_a_paper_and_in_the_methods(tmp_path: Path) -> None:
    fit = one_flower()
    paper = bb.reports.paper_table(fit, level="word")
    rows = paper.contents.tables["contrasts"].frame
    used = rows[rows["protected_word"] == ""].set_index("protected_group")["words_used"]
    assert used.drop_duplicates().to_dict() == {"All words": "23 of 50", "flowers": "1 of 25", "insects": "22 of 25"}
    assert set(rows.loc[rows["protected_word"] != "", "words_used"]) == {""}
    text = bb.write(paper, tmp_path / "table.tex").read_text(encoding="utf-8")
    assert "the vectors lack more than 20\\% of the words of flowers (24 of 25)" in text
    assert "flowers has fewer than 3 words" in text
    data = bb.methods(fit).split("\n\n")[0]
    doubts = data_doubts(fit)
    assert len(doubts) >= 2
    for doubt, fact in zip(doubts, data_facts(fit), strict=True):
        advice = doubt.text.removeprefix(fact.text).strip()
        shown = "were lost, so those that are left may" if fact.kind == "many lost words" else fact.text
        assert shown in data
        assert advice
        assert advice not in data, "a methods section states facts"
        assert doubt in paper.doubts
        assert doubt.text in " ".join(str(paper).split())
    assert paper.doubts == doubts


def test_a_study_without_lost_words_says_so(short_fit: xr.DataTree) -> None:
    contents = bb.report(short_fit, quick=True).contents
    sizes = "8 words of math, 8 of arts, 8 of male, 8 of female"
    assert f"{sizes}; no word of the lists lost, 7 of 19 human words lost" in contents.about
    assert contents.alerts == ()
    assert sizes_text([WordList(str(place), 4, ["a"]) for place in range(7)]) == (
        "7 groups and lists of 3 words; 7 of 28 words lost"
    )


def test_lost_control_words_are_not_called_no_word_lost() -> None:
    neutral = WordList("neutral", 226, ["a"] * 71, limited=False)
    assert sizes_text([WordList("math", 8, []), neutral]) == (
        "8 words of math; no word of the lists lost, 71 of 226 neutral words lost"
    )
    assert sizes_text([WordList("math", 8, ["sums"]), neutral]).endswith(
        "1 of 8 words lost, 71 of 226 neutral words lost"
    )


def test_the_advice_on_few_and_extreme_words_mends_the_doubt() -> None:
    """Another scope would hide the doubt: the advice is more words, and what the intervals are about."""
    (doubt,) = data_doubts(made_fit())
    assert "those of groups are about these single words" in doubt.text
    assert doubt.text.endswith("Add words: 3 or more to a group.")
    table = small(8, 6)
    far = (table["protected_word"] == "p0") & (table["connection"] == "associated")
    table.loc[far, "cosine_distance"] += 0.9
    fit = bb.fit(table.assign(protected_group="all"), draws=50, chains=1, random_seed=1, progress=False)
    (extreme,) = [doubt for doubt in data_doubts(fit) if doubt.kind == "extreme words"]
    assert extreme.numbers["words"] == ["p0"]
    assert "add words of the same kind, and compare the results without it" in extreme.text
    assert "scope" not in doubt.text + extreme.text
