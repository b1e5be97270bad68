"""Word lists from text files and CSV."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.errors import InputFileError, StudyError
from bayesbias.metrics.intrinsic.quality import read_words


def written(tmp_path: Path, text: str, name: str = "own.csv") -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    return tmp_path / name


@pytest.mark.parametrize(
    "text",
    [
        "nurse\nclerk\nnew york\n",
        "word\nnurse\nclerk\nnew york\n",
        "nurse, clerk, new york\n",
        "nurse, clerk\nnew york\n",
        "Word,Share\nnurse,0.9\nclerk,0.5\nnew york,0.1\n",
        "word;list\nnurse;a\nclerk;b\nnew york;b\n",
        "a\tb\nnurse\tnew york\nclerk\t\n",
    ],
)
def test_words_of_every_layout(text: str, tmp_path: Path) -> None:
    assert sorted(read_words(written(tmp_path, text))) == ["clerk", "new york", "nurse"]


def test_a_column_is_a_list(tmp_path: Path) -> None:
    path = written(tmp_path, "word,group\nhe,male\nshe,female\nher,female\n")
    assert read_word_lists(path) == {"male": ["he"], "female": ["she", "her"]}
    with pytest.raises(InputFileError, match="two columns of one name"):
        read_word_lists(written(tmp_path, "a,a\nb,c\n"))


def test_a_study_is_columns_too(tmp_path: Path) -> None:
    study = bb.load_study(written(tmp_path, "math,arts,male,female\nalgebra,poetry,he,she\ngeometry,dance,him,\n"))
    assert (study.name, study.associated) == ("own", (("math", "male"), ("arts", "female")))
    assert study.attributes == {"male": ("he", "him"), "female": ("she",)}
    with pytest.raises(StudyError, match=r"has 2 word lists.*two groups of protected words"):
        bb.load_study(written(tmp_path, "math,arts\nalgebra,poetry\n"))


@pytest.mark.parametrize(
    "text",
    [
        "occupation,share\nnurse,0.9\nclerk,0.5\n",
        "nurse,0.9\nclerk,0.5\n",  # no names
        "Beruf;Anteil\nnurse;0,9\nclerk;0,5\n",
        "nurse;0,9\nclerk;0,5\n",
        "nurse;90 %;1.012,5\nclerk;50 %;12\n",
        "Women in 2015,,\noccupation,share,people\nnurse,.9,1\nclerk,,\nteacher,0.7,3e4\n",
    ],
)
def test_covariates_are_no_word_lists(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    for read in (read_words, bb.load_study):
        with pytest.raises(
            InputFileError, match=r"rows are words and numbers.*covariates=\.\.\..*one word a line.*a column"
        ):
            read(path)


def test_words_beside_numbers_are_a_list_but_no_study(tmp_path: Path) -> None:
    path = written(tmp_path, "word,share\nnurse,0.9\nclerk,0.5\n")
    assert read_words(path) == ["nurse", "clerk"]
    with pytest.raises(InputFileError, match="rows are words and numbers"):
        bb.load_study(path)
    numbered = written(tmp_path, "word,group\nhe,1\nshe,2\n")
    assert read_word_lists(numbered, numbers=False) == {"1": ["he"], "2": ["she"]}
