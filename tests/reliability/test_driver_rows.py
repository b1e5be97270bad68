"""Rows of a regression: names that are checked, words that are complete, and a design matrix written by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import InputFileError, ReportError
from bayesbias.reliability.driver_rows import (
    checked_columns,
    checked_drops,
    complete_words,
    design,
    load_word_properties,
    numbers,
    parts_of,
    properties_of,
)


def cells(words: int = 11) -> pd.DataFrame:
    frame = pd.MultiIndex.from_product([[f"w{i}" for i in range(words)], ["a", "b"]]).to_frame(index=False)
    frame.columns = pd.Index(["word", "rule"])
    return frame.assign(
        size=np.arange(len(frame), dtype=float), pos=np.where(np.arange(len(frame)) % 4 < 2, "noun", "verb"), y=0.5
    )


def test_factors_and_interactions_are_columns() -> None:
    assert checked_columns(cells(), ["size", "rule", "size:rule"], "y", []) == ["size", "rule", "size:rule"]
    assert parts_of("size:rule") == ["size", "rule"]


@pytest.mark.parametrize(
    ("factors", "groupings", "facts"),
    [
        ([], [], "'stability'"),
        (["sise"], [], "'sise'.*'size'"),
        (["size", "size"], [], "'size'"),
        (["size", "rule:size"], [], r"'rule:size'.*\['rule'\]"),
        (["size", "size:size"], [], "'size:size'"),
        (["size"], ["y2"], "'y2'"),
    ],
)
def test_what_is_no_column_is_named(factors: list[str], groupings: list[str], facts: str) -> None:
    with pytest.raises(ReportError, match=facts):
        checked_columns(cells(), factors, "y", groupings)


def test_joint_drops_are_of_two_factors_or_more() -> None:
    assert checked_drops(None, ["a"]) == {}
    assert checked_drops({"both": ["a", "b"]}, ["a", "b"]) == {"both": ["a", "b"]}
    for wrong in ({"both": ["a"]}, {"both": ["a", "c"]}, {"a": ["a", "b"]}, {"both": ["a", "a"]}):
        with pytest.raises(ReportError, match=f"'{next(iter(wrong))}'"):
            checked_drops(wrong, ["a", "b"])


def test_words_that_lack_a_cell_are_left_out() -> None:
    whole = cells()
    frame, most, left_out = complete_words(whole.drop(3).sample(frac=1, random_state=1), ["rule", "pos"], [])
    assert (most, left_out, len(frame)) == (2, ["w1"], 20)
    assert frame["word"].tolist() == [word for word in sorted(set(whole["word"]) - {"w1"}) for _ in "ab"]
    with pytest.raises(ReportError, match="'w0'"):
        complete_words(pd.concat([whole, whole.head(1)]), ["rule"], [])
    with pytest.raises(ReportError, match=r" 9 .* 2 .* 10 "):
        complete_words(cells(9), ["rule"], [])


def test_the_design_by_hand() -> None:
    frame = pd.DataFrame({"word": list("abcd"), "x": [1.0, 3.0, 1.0, 3.0], "kind": ["n", "n", "v", "v"]})
    columns, X = design(frame, ["x", "kind", "x:kind"])
    assert columns == [("intercept", ""), ("x", ""), ("kind", "v"), ("x:kind", "v")]
    assert X.tolist() == [[1, -1, 0, 0], [1, 1, 0, 0], [1, -1, 1, -1], [1, 1, 1, 1]]
    with pytest.raises(ReportError, match="'x2'"):
        design(frame.assign(x2=2 * frame["x"]), ["x", "x2"])


@pytest.mark.parametrize(("values", "facts"), [(["a", "b"], "'x'"), ([1.0, np.nan], "'x'.* 1 .*v"), ([2, 2], "'x'")])
def test_a_column_that_is_no_number_is_named(values: list[object], facts: str) -> None:
    with pytest.raises(ReportError, match=facts):
        numbers(pd.DataFrame({"word": ["u", "v"], "x": values}), "x")


def test_bundled_senses_are_those_of_wordnet() -> None:
    """Numbers of senses in WordNet's own browser: of run 16 as a noun and 41 as a verb, of bank 10 and 8."""
    frame = load_word_properties().set_index("word")
    expected = {"dog": 8, "bank": 18, "run": 57, "went": 30, "children": 4, "teacher": 2}
    assert frame.loc[list(expected), "senses"].tolist() == list(expected.values())
    assert frame.loc[["dog", "went", "quickly", "beautiful"], "part_of_speech"].tolist() == [
        *("noun", "verb", "adverb", "adjective")
    ]
    assert "she" not in frame.index


def test_properties_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"'wordnt'.*'wordnet'"):
        load_word_properties("wordnt")
    for name, text in {"none": "senses\n3\n", "twice": "word,senses\na,1\na,2\n", "alone": "word\na\n"}.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        with pytest.raises(InputFileError, match=path.name):
            load_word_properties(path)
    with pytest.raises(InputFileError, match=r"gone\.csv"):
        load_word_properties(tmp_path / "gone.csv")


def test_properties_are_in_the_order_of_the_words_and_senses_are_logarithms() -> None:
    frame = pd.DataFrame({"word": ["a", "b"], "senses": [1, 8], "kind": ["x", "y"]})
    columns = properties_of(["b", "none", "a"], frame)
    assert list(columns) == ["log_senses", "kind"]
    assert columns["log_senses"].tolist() == pytest.approx([np.log(8), np.nan, 0], nan_ok=True)
    with pytest.raises(ReportError, match="'word'"):
        properties_of(["a"], frame.drop(columns="word"))
    with pytest.raises(ReportError, match=r"1 .* 0 "):
        properties_of(["a"], frame.assign(senses=[0, 8]))
