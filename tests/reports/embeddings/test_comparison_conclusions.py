"""Conclusions from a comparison of embeddings: statements with the numbers of its frames."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.statements import Conclusions, Statement, rows_of
from bayesbias.errors import LostWordsWarning
from bayesbias.reports.embeddings.comparison import EmbeddingComparison, compare_embeddings
from bayesbias.reports.embeddings.comparison_conclusions import reading_text
from tests.reports.embedding_tables import MEANS, QUICK, before_table, changed_table, compared

GAPS = ["not settled", "narrower", "wider", "baseline only", "other only", "reversed", "neither"]


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    return compared(rope=0.02)


def conclusions_on(after: pd.DataFrame) -> Conclusions:
    comparison = compare_embeddings({"old": before_table(), "new": after}, "hierarchical", **QUICK)
    return comparison.conclusions.embeddings["new"]


def of_kind(report: Conclusions, kind: str) -> list[Statement]:
    return [statement for statement in (report.verdict, *report.shown) if statement.kind == kind]


def test_each_connection_and_gap_has_a_statement_with_its_row(comparison: EmbeddingComparison) -> None:
    conclusions = comparison.conclusions.embeddings["new"]
    assert [statement.numbers for statement in of_kind(conclusions, "difference")] == rows_of(comparison.differences)
    gaps = comparison.gaps[comparison.gaps["protected_word"] == ""]
    assert [statement.numbers for statement in of_kind(conclusions, "gap")] == rows_of(gaps)
    assert conclusions.verdict.numbers["contrast"] == "associated - different"
    assert conclusions.about.numbers["pairs"] == 256


def test_words_are_named_by_how_they_differ(comparison: EmbeddingComparison) -> None:
    statements = of_kind(comparison.conclusions.embeddings["new"], "words")
    assert [statement.numbers["what"] for statement in statements][:3] == [
        "gap associated - different",
        "gap associated - human",
        "gap associated - neutral",
    ]
    differences = comparison.differences_by_word
    farther = differences[(differences["connection"] == "associated") & (differences["hdi_low"] > 0)]
    assert statements[3].numbers["farther"] == farther["protected_word"].tolist() != []
    for statement in statements:
        named = [word for value, words in statement.numbers.items() if value != "what" for word in words]
        assert sorted(named) == sorted(differences["protected_word"].unique())
    gap = comparison.gaps[comparison.gaps["contrast"] == "associated - human"]
    for value in set(statements[1].numbers) - {"what"}:
        assert (
            statements[1].numbers[value]
            == gap.loc[(gap["reading"] == value) & (gap["protected_word"] != ""), "protected_word"].tolist()
        )


def test_numbers_in_the_text_are_those_of_the_frames(comparison: EmbeddingComparison) -> None:
    text = " ".join(str(comparison.conclusions).split())
    first = comparison.gaps.iloc[0]
    assert text.split(") ", 1)[1].startswith("Gap of associated minus different words: 'new' minus 'old' is ")
    assert f"is {first['mean']:+.3f}, interval {first['hdi_low']:+.3f} to {first['hdi_high']:+.3f}" in text
    assert not re.search(r"\b(before|after)\b", text), "neither embedding need be made from the other"
    shown = {float(number) for number in re.findall(r"[+-]\d\.\d{3}", text)}
    numbers = pd.concat([comparison.differences, comparison.gaps]).select_dtypes("number").to_numpy().ravel()
    assert shown
    assert shown <= {round(float(number), 3) for number in numbers if np.isfinite(number)}
    assert "Associated attribute words are farther in 'new' on average" in text
    assert "too small to matter (in the rope)" in text
    assert max(map(len, str(comparison.conclusions).splitlines())) <= 100


def test_the_text_the_notebook_and_json_are_renderings_of_the_fields(comparison: EmbeddingComparison) -> None:
    conclusions = comparison.conclusions
    fields = json.loads(json.dumps(conclusions.to_dict(), allow_nan=True))
    assert fields["embeddings"]["new"] == conclusions.embeddings["new"].to_dict()
    assert [entry["kind"] for entry in fields["reading"]] == ["adding up", *GAPS]
    titles = [part.title.split(" (")[0] for part in conclusions.parts if part.title not in ("", "Beware")]
    assert titles == ["How they differ", "In detail", "What was compared", "How to read it", "What it does not show"]
    words = [entry.text.split(": ")[0] for entry in conclusions.reading[1:]]
    assert words[:3] == GAPS[:3]
    texts = [entry.text for entry in conclusions.reading[1:]]
    for value in ("baseline only", "other only", "neither"):
        assert texts[GAPS.index(value)].endswith(f"Tables call this '{value}'.")
    assert words[3] == reading_text("baseline only", "'old'", "'new'") == "settled in 'old' only"
    assert conclusions._repr_html_().count("<h4>") == sum(bool(part.title) for part in conclusions.parts)
    assert repr(conclusions) == "ComparisonConclusions('new'; 0 doubts)"


def test_neutral_words_that_differ_are_a_doubt() -> None:
    conclusions = conclusions_on(changed_table(before_table(), means={**MEANS, "neutral": 0.2}))
    (doubt,) = conclusions.doubts
    assert doubt.kind == "controls differ"
    assert doubt.numbers["neutral"]["mean"] == pytest.approx(0.2, abs=0.02)
    assert of_kind(conclusions, "controls") == []
    assert re.search(r"eutral words \(\+0\.\d+\) ", doubt.text)
    assert "Beware" in {part.title for part in conclusions.parts}


@pytest.mark.parametrize(
    ("connections", "phrase"),
    [
        (["associated", "different"], "Without control words"),
        (["human", "neutral"], "There are only control words"),
        (list(MEANS), "Control words have the same"),
    ],
)
def test_what_control_words_say(connections: list[str], phrase: str) -> None:
    table = before_table()
    table = table[table["connection"].isin(connections)].reset_index(drop=True)
    after = changed_table(table)
    if len(connections) == 4:
        still = table["connection"].isin(["human", "neutral"])
        after.loc[still, "cosine_distance"] = table.loc[still, "cosine_distance"]
    report = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    (statement,) = of_kind(report.conclusions.embeddings["new"], "controls")
    assert statement.text.startswith(phrase)


def test_fits_that_did_not_converge_are_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bayesbias.reports.embeddings.comparison.fit_attribute", lambda fitted, name: ["R-hat is high."]
    )
    report = compared()
    expected = [
        "The fit of 'old': R-hat is high.",
        "The fit of 'new': R-hat is high.",
        "The fit of the differences of 'new': R-hat is high.",
    ]
    assert report.facts["convergence_problems"] == expected
    assert report.conclusions.doubts == tuple(Statement("convergence", text) for text in expected)
    assert str(report).startswith("DO NOT REPORT THESE NUMBERS YET")


def test_words_that_were_equalized_are_a_doubt() -> None:
    """Two words with the very same distances after, as hard debiasing makes them."""
    table = before_table()
    after = changed_table(table)
    first = after["protected_word"] == "w0"
    after.loc[after["protected_word"] == "w1", "cosine_distance"] = after.loc[first, "cosine_distance"].to_numpy()
    report = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    assert report.facts["equalized"] == {"new": ("w0", "w1")}
    doubts = {doubt.kind: doubt for doubt in report.conclusions.embeddings["new"].doubts}
    assert doubts["equalized words"].numbers == {"words": ("w0", "w1")}
    assert "2 protected words (w0, w1)" in doubts["equalized words"].text
    assert "0 by construction" not in doubts["equalized words"].text, "only their difference is"
    same = compare_embeddings({"old": after, "new": changed_table(after)}, "hierarchical", **QUICK)
    assert same.facts["equalized"] == {"new": ()}


def test_attribute_words_that_were_equalized_make_gaps_of_0() -> None:
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    with pytest.warns(LostWordsWarning):
        hard = bb.debias.HardDebias().fit(vectors, "gender_bolukbasi").transform(vectors)
    male, female = ["man", "boy", "he", "son", "father"], ["woman", "girl", "she", "daughter", "mother"]
    study = {"science": ["science", "physics", "experiment"], "arts": ["poetry", "art", "dance"]}
    study |= {"male": male, "female": female}
    tables = {name: bb.distance_table(source, study) for name, source in (("old", vectors), ("new", hard))}
    report = compare_embeddings(tables, "hierarchical", **QUICK)
    assert set(report.facts["equalized_attributes"]["new"]) == {*male, *female}
    assert report.facts["equalized"] == {"new": ()}
    doubts = {doubt.kind: doubt.text for doubt in report.conclusions.embeddings["new"].doubts}
    assert "0 by construction" in doubts["equalized attribute words"]


def test_rounded_distances_are_not_taken_for_equalized_words() -> None:
    rng = np.random.default_rng(1)
    table = before_table()
    tables = {
        name: table.assign(cosine_distance=(0.9 + 0.02 * rng.standard_normal(len(table))).round(2))
        for name in ("old", "new")
    }
    report = compare_embeddings(tables, "hierarchical", **QUICK)
    assert report.facts["equalized"] == report.facts["equalized_attributes"] == {"new": ()}


def test_control_words_that_alone_differ_are_no_shift_of_words_in_general() -> None:
    before = before_table()
    moved = before["connection"].isin(["human", "neutral"])
    noise = 0.01 * np.random.default_rng(1).standard_normal(len(before))
    after = before.assign(cosine_distance=before["cosine_distance"] + np.where(moved, 0.1 + noise, 0.0))
    (statement,) = of_kind(conclusions_on(after), "controls differ") or [
        doubt for doubt in conclusions_on(after).doubts if doubt.kind == "controls differ"
    ]
    assert "although no distance to other words does" in statement.text


def test_one_group_is_not_said_to_have_others() -> None:
    table = before_table(("he", "him", "his")).assign(protected_group="male")
    comparison = compare_embeddings({"old": table, "new": changed_table(table)}, "hierarchical", **QUICK)
    text = str(comparison.conclusions)
    assert "he other attribute words" in text
    assert "other groups" not in text
