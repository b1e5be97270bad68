"""What is said of a comparison of embeddings: statements with the numbers of its frames."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.statements import Conclusions, Statement, rows_of
from bayesbias.reports.embeddings.comparison import EmbeddingComparison, compare_embeddings
from bayesbias.reports.embeddings.comparison_conclusions import reading_text
from tests.reports.embedding_tables import MEANS, QUICK, before_table, changed_table, compared

GAPS = ["not settled", "narrower", "wider", "baseline only", "other only", "reversed", "neither"]


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    return compared(rope=0.02)


def said_of(after: pd.DataFrame) -> Conclusions:
    found = compare_embeddings({"old": before_table(), "new": after}, "hierarchical", **QUICK)
    return found.conclusions.embeddings["new"]


def of_kind(said: Conclusions, kind: str) -> list[Statement]:
    return [each for each in (said.verdict, *said.shown) if each.kind == kind]


def test_each_connection_and_gap_has_a_statement_with_its_row(comparison: EmbeddingComparison) -> None:
    said = comparison.conclusions.embeddings["new"]
    assert [each.numbers for each in of_kind(said, "difference")] == rows_of(comparison.differences)
    gaps = comparison.gaps[comparison.gaps["protected_word"] == ""]
    assert [each.numbers for each in of_kind(said, "gap")] == rows_of(gaps)
    assert said.verdict.numbers["contrast"] == "associated - different"
    assert said.about.numbers["pairs"] == 256


def test_words_are_named_by_how_they_differ(comparison: EmbeddingComparison) -> None:
    said = of_kind(comparison.conclusions.embeddings["new"], "words")
    assert [each.numbers["what"] for each in said][:3] == [
        "gap associated - different",
        "gap associated - human",
        "gap associated - neutral",
    ]
    differences = comparison.differences_by_word
    farther = differences[(differences["connection"] == "associated") & (differences["hdi_low"] > 0)]
    assert said[3].numbers["farther"] == farther["protected_word"].tolist() != []
    for each in said:
        named = [word for value, words in each.numbers.items() if value != "what" for word in words]
        assert sorted(named) == sorted(differences["protected_word"].unique())
    gap = comparison.gaps[comparison.gaps["contrast"] == "associated - human"]
    for value in set(said[1].numbers) - {"what"}:
        assert (
            said[1].numbers[value]
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
    said = comparison.conclusions
    fields = json.loads(json.dumps(said.to_dict(), allow_nan=True))
    assert fields["embeddings"]["new"] == said.embeddings["new"].to_dict()
    assert [each["kind"] for each in fields["reading"]] == ["adding up", *GAPS]
    titles = [part.title.split(" (")[0] for part in said.parts if part.title not in ("", "Beware")]
    assert titles == ["How they differ", "In detail", "What was compared", "How to read it", "What it does not show"]
    words = [each.text.split(": ")[0] for each in said.reading[1:]]
    assert words[:3] == GAPS[:3]
    assert words[3] == reading_text("baseline only", "'old'", "'new'") == "settled in 'old' only"
    assert said._repr_html_().count("<h4>") == sum(bool(part.title) for part in said.parts)
    assert repr(said) == "ComparisonConclusions('new'; 0 doubts)"


def test_neutral_words_that_differ_are_a_doubt() -> None:
    said = said_of(changed_table(before_table(), means={**MEANS, "neutral": 0.2}))
    (doubt,) = said.doubts
    assert doubt.kind == "controls differ"
    assert doubt.numbers["neutral"]["mean"] == pytest.approx(0.2, abs=0.02)
    assert of_kind(said, "controls") == []
    assert re.search(r"eutral words \(\+0\.\d+\) differ on average too, so what differs is not only", doubt.text)
    assert "Beware" in {part.title for part in said.parts}


@pytest.mark.parametrize(
    ("kept", "phrase"),
    [
        (["associated", "different"], "Without control words"),
        (["human", "neutral"], "There are only control words"),
        (list(MEANS), "Control words have the same distances"),
    ],
)
def test_what_control_words_say(kept: list[str], phrase: str) -> None:
    table = before_table()
    table = table[table["connection"].isin(kept)].reset_index(drop=True)
    after = changed_table(table)
    if len(kept) == 4:
        still = table["connection"].isin(["human", "neutral"])
        after.loc[still, "cosine_distance"] = table.loc[still, "cosine_distance"]
    found = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    (said,) = of_kind(found.conclusions.embeddings["new"], "controls")
    assert said.text.startswith(phrase)


def test_fits_that_did_not_converge_are_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bayesbias.reports.embeddings.comparison.fit_attribute", lambda fitted, name: ["R-hat is high."]
    )
    found = compared()
    expected = [
        "The fit of 'old': R-hat is high.",
        "The fit of 'new': R-hat is high.",
        "The fit of the differences of 'new': R-hat is high.",
    ]
    assert found.facts["convergence_problems"] == expected
    assert found.conclusions.doubts == tuple(Statement("convergence", text) for text in expected)
    assert str(found).startswith("DO NOT REPORT THESE NUMBERS YET")


def test_words_that_were_equalized_are_a_doubt() -> None:
    """Two words with the very same distances after, as hard debiasing makes them."""
    table = before_table()
    after = changed_table(table)
    first = after["protected_word"] == "w0"
    after.loc[after["protected_word"] == "w1", "cosine_distance"] = after.loc[first, "cosine_distance"].to_numpy()
    found = compare_embeddings({"old": table, "new": after}, "hierarchical", **QUICK)
    assert found.facts["equalized"] == {"new": ("w0", "w1")}
    (doubt,) = [each for each in found.conclusions.embeddings["new"].doubts if each.kind == "equalized words"]
    assert doubt.numbers == {"words": ("w0", "w1")}
    assert "2 protected words (w0, w1) are exactly as near" in doubt.text
    same = compare_embeddings({"old": after, "new": changed_table(after)}, "hierarchical", **QUICK)
    assert same.facts["equalized"] == {"new": ()}
