"""Properties of words: the bundled ones against WordNet's own browser, and files that are none."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.errors import InputFileError, ReportError
from bayesbias.reliability.word_properties import load_word_properties, properties_of


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
