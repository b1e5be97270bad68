"""Files that are read: errors that say what was found."""

from pathlib import Path

import pytest

from bayesbias.base.files.inputs import input_file, parse_toml
from bayesbias.errors import InputFileError, StudyError


def test_inputs(tmp_path: Path) -> None:
    (tmp_path / "table.csv").touch()
    assert input_file(tmp_path / "table.csv") == tmp_path / "table.csv"
    with pytest.raises(InputFileError, match=r"tabel\.csv.*'table\.csv'"):
        input_file(tmp_path / "tabel.csv")
    with pytest.raises(InputFileError, match="folder"):
        input_file(tmp_path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('a = 1\nx = [männer, "b"]', "männer"),
        ('männer = ["a"]', "männer"),
        ("[größe]\nx = 1", "größe"),
        ("x = [man, boy]", "man"),
        ('x = [\n  "a",\n  señora,\n]', "señora"),
        ('x = ["größe", klein]  # schön', "klein"),
    ],
)
def test_words_without_quotes_are_named(text: str, word: str) -> None:
    with pytest.raises(StudyError, match=f'"{word}"'):
        parse_toml(text, "s.toml", StudyError)


@pytest.mark.parametrize("text", ['x = "abc', 'x = ["größe", "b"\ny = 1', "x = 1 1", "x = [1, 2"])
def test_other_faults_of_toml_are_not_said_to_lack_quotes(text: str) -> None:
    with pytest.raises(StudyError, match=r"repeated key\.$"):
        parse_toml(text, "s.toml", StudyError)
