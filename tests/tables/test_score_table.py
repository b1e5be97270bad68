"""Scores that people bring: ratings, counts of choices, and what is wrong with them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, TableError
from tests.tables.test_study_pairs import STUDY

ROWS = pd.DataFrame(
    [(p, a, 10 * len(p) + len(a)) for p in ("cat", "tom", "dog") for a in ("purr", "nap", "bark")],
    columns=["protected_word", "attribute_word", "reaction_time"],
)


def made(frame: Any = ROWS, **settings: Any) -> pd.DataFrame:
    return bb.score_table(frame, STUDY, **{"value": "reaction_time", "unit": "ms", "lower": "nearer", **settings})


def test_numbers_of_pairs_are_a_table() -> None:
    table = made(source="a lexical decision task")
    assert table["score"].tolist() == [float(10 * 3 + len(word)) for word in table["attribute_word"]]
    facts = table.attrs["bayesbias"]
    assert (facts["measure"]["name"], facts["measure"]["unit"]) == ("reaction time", "ms")
    assert facts["embedding"] == {"name": "a lexical decision task"}
    pd.testing.assert_frame_equal(made(polars.from_pandas(ROWS)), made())
    again = made(ROWS.iloc[::-1])
    assert again.attrs["bayesbias"]["hash"] == made().attrs["bayesbias"]["hash"]


def test_similarities_change_their_sign(tmp_path: Any) -> None:
    table = made(lower="farther")
    assert (table["score"] == -made()["score"]).all()
    assert table.attrs["bayesbias"]["measure"]["name"] == "minus reaction time"
    read = bb.read_table(bb.write_table(table, tmp_path / "scores.csv"))
    pd.testing.assert_frame_equal(read, table)


def test_counts_are_empirical_logits_with_their_errors() -> None:
    counts = ROWS.assign(chosen=[0, 1, 2, 3, 4, 5, 6, 7, 8], trials=8)
    table = made(counts, value="chosen", unit="", trials="trials", lower="farther")
    chosen = np.arange(9)
    np.testing.assert_allclose(table["score"], -np.log((chosen + 0.5) / (8 - chosen + 0.5)))
    np.testing.assert_allclose(table["score_sd"], np.sqrt(1 / (chosen + 0.5) + 1 / (8 - chosen + 0.5)))
    with pytest.raises(TableError, match="'cat' with 'purr' has 9 of 8"):
        made(counts.assign(chosen=9), value="chosen", trials="trials")


def test_missing_cells_are_lost_pairs_and_words_without_any_are_lost() -> None:
    gap = ROWS.assign(reaction_time=ROWS["reaction_time"].where(ROWS.index != 1).astype(float))
    assert len(made(gap)) == len(ROWS) - 1
    with pytest.warns(LostWordsWarning, match="'quiet' \\(nap\\)"):
        made(ROWS[ROWS["attribute_word"] != "nap"], max_lost=0.5)
    with pytest.raises(LostWordsError, match="list 'loud'"):
        made(ROWS[ROWS["attribute_word"] != "bark"])


@pytest.mark.parametrize(
    ("frame", "settings", "error", "message"),
    [
        (pd.concat([ROWS, ROWS.head(1)]), {}, TableError, "1 row repeats a pair, such as 'cat' with 'purr'"),
        (ROWS.rename(columns={"attribute_word": "attribute"}), {}, TableError, "no column 'attribute_word'"),
        (ROWS.assign(reaction_time="slow"), {}, TableError, "is 'slow', no finite number"),
        (ROWS.assign(reaction_time=np.inf), {}, TableError, "no finite number"),
        (ROWS, {"lower": "smaller"}, ArgumentError, "lower='smaller'"),
        (ROWS, {"value": " "}, ArgumentError, "value=' '"),
        (ROWS, {"unit": "x" * 201}, ArgumentError, "a unit of more than 200 letters"),
    ],
)
def test_faults_are_named(frame: pd.DataFrame, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        made(frame, **settings)


def test_control_words_are_left_out_unless_asked_for() -> None:
    study = replace(STUDY, human=["person"], neutral=["table"])
    others = [("cat", "person", 1.0), ("tom", "person", 2.0), ("dog", "person", 3.0), ("dog", "table", 4.0)]
    rows = pd.concat([ROWS, pd.DataFrame(others, columns=ROWS.columns)])
    of_pairs = {"value": "reaction_time", "lower": "nearer"}
    assert set(bb.score_table(rows, study, **of_pairs)["connection"]) == {"associated", "different"}
    whole = bb.score_table(rows, study, controls=True, **of_pairs)
    assert (whole["connection"].isin(["human", "neutral"])).sum() == len(others)


def test_the_direction_of_a_score_must_be_said() -> None:
    with pytest.raises(TypeError, match="lower"):
        bb.score_table(ROWS, STUDY, value="reaction_time")  # type: ignore[call-arg]
