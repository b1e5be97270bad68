"""What lists are worth, and what conclusions, sizes and sensitivity say of it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.reports.posterior.effective_words import clusters_of, dependence_statements, worth_text
from bayesbias.tables.schema import Provenance
from bayesbias.tables.word_worths import KEY


@pytest.fixture(scope="module")
def kin() -> pd.DataFrame:
    """WEAT 8 in Google News: five of the eight male words are relatives."""
    return bb.read_table(bb.bundled("data", "tables", "weat8_google_news.csv.gz"))


def without_record(table: pd.DataFrame) -> pd.DataFrame:
    copy = table.copy()
    copy.attrs["bayesbias"] = Provenance({name: fact for name, fact in table.attrs["bayesbias"].items() if name != KEY})
    return copy


def kinds(table: pd.DataFrame) -> dict[str, Any]:
    fit = bb.fit(table, draws=100, random_seed=1, progress=False)
    return {statement.kind: statement for statement in bb.conclusions(fit).limits}


def test_relatives_count_nearly_as_one(kin: pd.DataFrame) -> None:
    lists = bb.effective_words(kin).set_index("list")
    assert lists.loc["male", "words"] == 8
    assert 2 < lists.loc["male", "effective_words"] < 4
    assert {"father", "uncle", "grandfather", "son", "brother"} <= set(
        lists.loc["male", "nearly_one"].replace(";", ",").split(", ")
    )
    assert lists.loc["science", "effective_words"] == 8
    assert not lists.loc[["human", "neutral"], "topic"].any()


def test_conclusions_say_what_lists_are_worth(kin: pd.DataFrame) -> None:
    limits = kinds(kin)
    assert [record["list"] for record in limits["dependent words"].numbers["lists"]] == ["male", "female"]
    assert "male: 8 words, worth about 2." in limits["dependent words"].text
    assert set(limits["topic"].numbers["lists"]) == {"science", "arts", "male", "female"}
    assert not {"dependence from distances", "unknown dependence"} & set(limits)


def test_a_table_without_a_record_says_where_dependence_comes_from(kin: pd.DataFrame) -> None:
    table = without_record(kin)
    assert set(bb.effective_words(table)["measured"]) == {"distances"}
    assert "dependence from distances" in kinds(table)
    few = table[table["protected_word"].isin(["science", "technology", "poetry"])]
    few = few[~few["attribute_group"].isin(["human", "neutral"])]
    records = bb.effective_words(few).query("role == 'attribute'").to_dict("records")
    assert [statement.kind for statement in dependence_statements(records, multivariate=True)] == ["unknown dependence"]


def test_lists_that_are_worth_their_words_are_not_mentioned() -> None:
    record = {"role": "attribute", "list": "x", "words": 8, "effective_words": 7.9, "nearly_one": "", "topic": False}
    record["measured"] = "vectors of 1,200 random words"
    assert list(dependence_statements([record], multivariate=True)) == []
    assert worth_text(record) == "x: 8 words, worth about 7.9 independent ones"
    assert worth_text(record | {"effective_words": 7.99}) == "x: 8 words"
    lost = record | {"words": 0, "effective_words": float("nan"), "nearly_one": float("nan")}
    assert worth_text(lost) == "x: 0 words"


def test_many_clusters_are_named_in_part() -> None:
    record = {"list": "x", "words": 12, "effective_words": 4.0, "nearly_one": "a, b; c, d; e, f; g, h; i, j"}
    assert worth_text(record) == (
        "x: 12 words, worth about 4.0 independent ones (groups that count nearly as one word: a, b; c, d; e, f and 2 "
        "more groups)"
    )


def test_sensitivity_leaves_out_clusters(kin: pd.DataFrame) -> None:
    lists = kin[kin["connection"].isin(["associated", "different"])].reset_index(drop=True)
    changes = bb.sensitivity(lists, leave_out="attribute_word", draws=100, random_seed=1, progress=False)
    data = model_data(lists)
    clusters = clusters_of(data, "attribute")
    labels = {", ".join(map(str, data.attribute_words[places])) for places in clusters}
    frame = changes.shifts
    assert labels <= set(frame["left_out"])
    relatives = next(label for label in labels if "father" in label)
    shifts = frame[frame["contrast"] == "associated - different"].set_index("left_out")["shift_in_sd"].abs()
    assert shifts[relatives] > max(shifts[word] for word in relatives.split(", "))
    assert "each cluster of words that count nearly as one" in changes.statements[0].text


def test_intervals_are_those_of_the_independent_words(kin: pd.DataFrame) -> None:
    widths = []
    for dependent in (True, False):
        table = kin.copy()
        if not dependent:
            facts = {**kin.attrs["bayesbias"], KEY: {"measured": "nothing", "lists": []}}
            table.attrs["bayesbias"] = Provenance(facts)
        row = bb.contrasts(bb.fit(table, random_seed=1, progress=False), scope="these_words").iloc[0]
        widths.append(row["hdi_high"] - row["hdi_low"])
        assert row["mean"] == pytest.approx(row["observed"], abs=0.002)
    # 2.6 and 3.2 of 8 words: the standard error alone grows by the root of 2.8, and Student's t adds to it.
    assert widths[0] / widths[1] > 1.6


def test_sizes_of_studies_count_what_words_are_worth(kin: pd.DataFrame) -> None:
    fit = bb.fit(kin, draws=200, random_seed=1, progress=False)
    sizes = bb.required_words(fit, width=0.05, sizes=[(8, 8)], samples=8, random_seed=1, progress=False)
    effects = next(statement for statement in sizes.statements if statement.kind == "effective words")
    lists = bb.effective_words(kin).set_index("list").loc[["male", "female"]]
    assert effects.numbers["design_effect"] == pytest.approx(np.mean(lists["words"] / lists["effective_words"]))


def test_check_words_says_what_lists_are_worth() -> None:
    check = bb.check_words(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    lists = check.lists.set_index("list")
    table = bb.distance_table(
        bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), bb.load_study("weat7").without_controls()
    )
    worth = bb.effective_words(table).set_index("list")["effective_words"]
    for name in worth.index:
        assert lists.loc[name, "effective_words"] == pytest.approx(worth[name], abs=1e-3)
    assert "worth about" in str(check)
    few = bb.check_words({word: np.ones(2) for word in ("math", "male")}, "weat7")
    assert few.lists["effective_words"].isna().all()
