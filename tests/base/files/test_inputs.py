"""Files that are read: errors that say what was found."""

import time
import tomllib
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


DOTS = "a." * 99


@pytest.mark.parametrize(
    "text",
    [
        "a." * 20_000 + "a = 1",
        " . ".join(['"a"'] * 20_000) + " = 1",
        "[" + ".".join(["a"] * 20_000) + "]",
        "x = {" + "a." * 20_000 + "a = 1}",
        f'x = """\n{DOTS}\n"""\n' + "a." * 20_000 + "a = 1",
    ],
)
def test_keys_of_many_parts_are_refused_at_once(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(StudyError, match=r"s\.toml has a key with more than 30 dots"):
        parse_toml(text, "s.toml", StudyError)
    assert time.monotonic() - start < 2  # tomllib takes more than 20 seconds


@pytest.mark.parametrize(
    "text",
    [
        "a." * 30 + "a = 1",
        f'x = "{DOTS}"',
        f"x = '{DOTS}'",
        f'x = """\n"{DOTS}" ""a"" \\""" # {DOTS}\n"""',
        f"x = '''\n{DOTS}' ''a'' \\'''",
        f'x = "\\"{DOTS}\\\\"',
        f'"{DOTS}" = 1',
        f"x = 1 # {DOTS}",
        f"# \"\"\" {DOTS}\nx = 'a'  # it's {DOTS}",
        f"x = [{', '.join(['0.5'] * 99)}]",
        f"x = [{', '.join(['{a.b = 0.5}'] * 99)}]",
        "\n".join(f"[a.b{place}]\nx.y = 0.5" for place in range(99)),
        'x = """a"""""\ny = "a.b"\n',
    ],
)
def test_dots_elsewhere_do_not_count(text: str) -> None:
    assert parse_toml(text, "s.toml", StudyError) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text", ['"""\n' + '\\"""\n' * 100_000, '"' * 300_001, "'" * 300_001, "x = '''\n" + "''\n" * 100_000, "a" * 300_000]
)
def test_texts_without_an_end_take_linear_time(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(StudyError):
        parse_toml(text, "s.toml", StudyError)
    assert time.monotonic() - start < 5
