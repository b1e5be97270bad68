"""What is said of a comparison of embeddings."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesbias.reports.embeddings.comparison import EmbeddingComparison, compare_embeddings
from tests.reports.embedding_tables import MEANS, QUICK, before_table, changed_table, compared


@pytest.fixture(scope="module")
def comparison() -> EmbeddingComparison:
    return compared()


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
    assert re.search(r"Beware: .*neutral words \(\+0\.\d+\) moved on average too, so what changed is not only", text)
    assert "Hard debiasing, for one, removes a direction from every word" in text
    assert "no reason to move" not in text


def test_words_and_numbers_are_explained(comparison: EmbeddingComparison) -> None:
    """Each word for what becomes of a gap has its line, below the gaps and above the limits."""
    text = " ".join(comparison.conclusions.split())
    places = [text.index(title) for title in ("FOR WHICH WORDS?", "HOW TO READ IT", "WHAT IT DOES NOT SHOW")]
    assert places == sorted(places)
    reading = text[places[1] : places[2]]
    for word in ("not settled", "narrowed", "closed", "widened", "reversed", "opened", "shifted"):
        assert reading.count(f"- {word}: ") == 1
    assert "Before and after need not add up to the change" in reading
    assert "The change is the number to trust." in reading


def test_fits_that_did_not_converge_are_said(comparison: EmbeddingComparison, monkeypatch: pytest.MonkeyPatch) -> None:
    assert comparison.facts["convergence_problems"] == []
    monkeypatch.setattr("bayesbias.reports.embeddings.comparison.fit_fact", lambda fitted, name: ["R-hat is high."])
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
