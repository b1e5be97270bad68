"""Files that are read: errors that say what was found."""

import os
import time
import tomllib
from pathlib import Path

import pytest

from bayesbias.base.files.inputs import check_links, input_file, parse_toml, text_files
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


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_a_corpus_has_no_file_from_elsewhere(tmp_path: Path) -> None:
    folder, diary = tmp_path / "corpus", tmp_path / "diary.txt"
    (folder / "part").mkdir(parents=True)
    diary.write_text("private")
    (folder / "part" / "b.txt").write_text("public")
    (folder / "a.txt").symlink_to("part/b.txt")
    assert text_files(folder) == [folder / "a.txt", folder / "part" / "b.txt"]
    assert text_files(diary) == [diary]
    for link, target in (("c.txt", diary), ("part/c", tmp_path), ("part/c.md", "../../diary.txt")):
        (folder / link).symlink_to(target)
        with pytest.raises(InputFileError, match=r"is a link to .* outside of the folder"):
            text_files(folder)
        check_links(folder, tmp_path)
        (folder / link).unlink()
